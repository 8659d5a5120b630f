"""`ragauge thresholds`: which level of a metric serves."""

from __future__ import annotations

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_result
from ragauge.verbs.options import ThresholdsOptions


@options.spread_options
def thresholds(command_options: ThresholdsOptions, as_json: options.Json = False) -> None:
    """Say from which level of a metric on answers turn out well often enough.

    With outcomes (solved, thumbs, click): how often, by level. Without: what the run reaches, which is no target.
    """
    from ragauge.evaluation.thresholds.verb import thresholds as find

    show_result(find(**vars(command_options)), as_json=as_json)
