"""`ragauge report`: a stored evaluation as a file."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json
from ragauge.verbs.options import ReportOptions


@options.spread_options
def report(
    command_options: ReportOptions,
    outputs: Annotated[options.Outputs, options.PlacedBefore("judge")] = None,
    as_json: options.Json = False,
) -> None:
    """Write or print the report of an evaluated run. Nothing is judged again."""
    from ragauge.evaluation.runs.verb import open_run
    from ragauge.verbs import files

    for path in outputs or ():
        files.validate_report_path(path)
    card = open_run(command_options.run, store=command_options.store).scorecard(
        command_options.judge, baseline=command_options.baseline
    )
    for path in outputs or ():
        typer.echo(f"wrote {card.save(path)}", err=True)
    if as_json:
        show_json(card.to_dict())
    elif not outputs:
        show(card.to_terminal())
