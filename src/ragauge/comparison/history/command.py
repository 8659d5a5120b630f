"""`ragauge runs log`: a row for every evaluated run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json, validate_outputs
from ragauge.verbs.options import LogOptions


@options.spread_options
def log(
    command_options: LogOptions,
    outputs: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="Write to a file: .csv, .md, .json."),
        options.PlacedBefore("store"),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Prints the log, or writes it to files."""
    from ragauge.comparison.history import verb as history

    validate_outputs(outputs, history.EvaluationLog)
    evaluation_log = history.log(**vars(command_options))
    for path in outputs or ():
        typer.echo(f"wrote {evaluation_log.save(path)} ({len(evaluation_log):,} rows)", err=True)
    if as_json:
        show_json(evaluation_log.to_dict())
    elif not outputs:
        show(evaluation_log.to_terminal())
