"""`ragauge metrics`: what can be measured."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.verbs.command_output import show, show_json


def metrics(
    name: Annotated[str, typer.Argument(help="One metric, to see its definition; all of them when left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List the metrics, or show how one is defined."""
    from ragauge.evaluation.metric_list import verb as catalogue

    if not name:
        catalogue.bring_own()
    if as_json:
        show_json(catalogue.one(name) if name else catalogue.listed())
    elif name:
        show(catalogue.page(name))
    else:
        show(catalogue.table())
