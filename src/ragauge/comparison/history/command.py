"""`ragauge log`: a row for every evaluated run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import check_outputs, show, show_json
from ragauge.verbs.options import LogOptions

app = typer.Typer(help="A row for every evaluated run: when, what changed, how good, at what cost, and a note.")


@app.callback(invoke_without_command=True)
@options.grouped
def log(
    context: typer.Context,
    wanted: LogOptions,
    outputs: Annotated[
        list[Path] | None, typer.Option("-o", "--output", help="Write it: .csv, .md, .json."), options.Before("store")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """A row for every evaluated run: when, what changed, how good, at what cost, and a note.

    A run whose scores mean something else than those of the row below (another judge, another version of the set)
    says so.
    """
    if context.invoked_subcommand is not None:
        options.refuse_front_options(context, "ragauge log note RUN TEXT --store …")
        return
    from ragauge.comparison.history import verb as history

    check_outputs(outputs, history.EvaluationLog)
    found = history.log(**vars(wanted))
    for path in outputs or ():
        typer.echo(f"wrote {found.save(path)} ({len(found):,} rows)", err=True)
    if as_json:
        show_json(found.to_dict())
    elif not outputs:
        show(found.to_terminal())


@app.command("note")
def write_note(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    text: Annotated[str, typer.Argument(help="The note; an empty one removes it.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Write a note about a run into the log, in place of an earlier one."""
    from ragauge.comparison.history.verb import note

    kept = note(run, text, store=store or None)
    if as_json:
        show_json(kept)
        return
    name = f"{kept['name']} ({kept['run_id']})"
    show(f"noted for {name}: {kept['note']}" if kept["note"] else f"no note about {name} any more")
