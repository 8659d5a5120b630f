"""`ragauge metrics`: what can be measured."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.verbs.command_output import show, show_json


def metrics(
    name: Annotated[str, typer.Argument(help="The metric to show; lists all metrics by default.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the metrics, or show the definition of one."""
    from ragauge.evaluation.metric_list import verb as catalogue

    if not name:
        catalogue.load_own_metrics()
    if as_json:
        show_json(catalogue.describe_metric(name) if name else catalogue.list_metrics())
    elif name:
        show(catalogue.build_page(name))
    else:
        show(catalogue.build_table())
