"""`ragauge runs log` and `note`: a row for every evaluated run."""

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
    """A row for every evaluated run: when, what changed, how good, at what cost, and a note.

    A run whose scores mean something else than those of the row below (another judge, another version of the set)
    says so.
    """
    from ragauge.comparison.history import verb as history

    validate_outputs(outputs, history.EvaluationLog)
    evaluation_log = history.log(**vars(command_options))
    for path in outputs or ():
        typer.echo(f"wrote {evaluation_log.save(path)} ({len(evaluation_log):,} rows)", err=True)
    if as_json:
        show_json(evaluation_log.to_dict())
    elif not outputs:
        show(evaluation_log.to_terminal())


def write_note(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    text: Annotated[str, typer.Argument(help="The note; an empty note removes it.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Write a note about a run into the log, in place of an earlier one."""
    from ragauge.comparison.history.verb import note

    saved = note(run, text, store=store or None)
    if as_json:
        show_json(saved)
        return
    name = f"{saved['name']} ({saved['run_id']})"
    show(f"note on {name}: {saved['note']}" if saved["note"] else f"removed the note on {name}")
