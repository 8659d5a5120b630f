"""`ragauge report`: a stored evaluation as a file."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.api.queries.options import ReportOptions
from ragauge.cli import options
from ragauge.cli.output import show, show_json


@options.grouped
def report(
    wanted: ReportOptions,
    outputs: Annotated[options.Outputs, options.Before("judge")] = None,
    as_json: options.Json = False,
) -> None:
    """Write or print the report of an evaluated run. Nothing is judged again."""
    from ragauge.api.results import files
    from ragauge.api.runs import open_run

    for path in outputs or ():
        files.check(path)
    card = open_run(wanted.run, store=wanted.store).scorecard(wanted.judge, baseline=wanted.baseline)
    for path in outputs or ():
        typer.echo(f"wrote {card.save(path)}", err=True)
    if as_json:
        show_json(card.to_dict())
    elif not outputs:
        show(card.to_terminal())
