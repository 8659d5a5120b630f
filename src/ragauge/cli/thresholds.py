"""`ragauge thresholds`: which level of a metric serves."""

from __future__ import annotations

from ragauge.api.queries.options import ThresholdsOptions
from ragauge.cli import options
from ragauge.cli.output import show_result


@options.grouped
def thresholds(wanted: ThresholdsOptions, as_json: options.Json = False) -> None:
    """Say from which level of a metric on answers turn out well often enough.

    With outcomes (solved, thumbs, click): how often, by level. Without: what the run reaches, which is no target.
    """
    from ragauge.api.thresholds import thresholds as find

    show_result(find(**vars(wanted)), as_json=as_json)
