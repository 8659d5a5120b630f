"""`ragauge study`: settings tried one against another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.messages import plural
from ragauge.studies.options import OpenStudyOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show as shown
from ragauge.verbs.command_output import show_json

if TYPE_CHECKING:
    from ragauge.studies.result import StudyResult

app = typer.Typer(help="Settings tried one against another, such as chunkers.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A stored study.")]


@app.command("list")
def list_studies(store: options.Store = "", as_json: options.Json = False) -> None:
    """List the stored studies, newest first."""
    from ragauge.rendering.writers.terminal import terminal
    from ragauge.studies.tables import sections
    from ragauge.studies.verb import studies

    rows = studies(store=store or None)
    show_json(rows) if as_json else shown(terminal(sections(rows)))


@app.command()
def delete(name: Name, store: options.Store = "", yes: options.Yes = False) -> None:
    """Delete a study with the runs of its trials."""
    from ragauge.studies.verb import delete_study

    if not yes:
        typer.confirm(f"Delete the study {name} with all of its runs?", abort=True, err=True)
    trials = delete_study(name, store=store or None)
    typer.echo(f"deleted {name} ({plural(trials, 'trial')})", err=True)


@app.command()
@options.grouped
def show(wanted: OpenStudyOptions, as_json: options.Json = False) -> None:
    """Show a study: its trials, which may be the best, which to take."""
    from ragauge.studies.verb import open_study

    found = open_study(**vars(wanted))
    show_json(found.to_dict()) if as_json else shown(found.to_terminal())


@app.command()
@options.grouped
def report(
    wanted: OpenStudyOptions,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A file: .html, .md or .json."), options.Before("metric")
    ],
) -> None:
    """Write a study's report."""
    from ragauge.studies.verb import open_study

    tell(f"wrote {open_study(**vars(wanted)).save(output)}")


@app.command()
@options.grouped
def export(
    wanted: OpenStudyOptions,
    output: Annotated[Path, typer.Option("-o", "--output", help="A file: .csv or .json."), options.Before("metric")],
) -> None:
    """Write a study's trials, a row each: parameters, measurements, means."""
    from ragauge.studies.verb import open_study

    tell(f"wrote {open_study(**vars(wanted)).save(output)}")


def tell(line: str) -> None:
    """What is done while a study is made, to stderr."""
    typer.echo(line, err=True)


def show_study(found: StudyResult, outputs: Sequence[Path] | None, *, as_json: bool) -> None:
    """Writes and prints a study that was just made; exit code 1 where no trial is complete."""
    for path in outputs or ():
        tell(f"wrote {found.save(path)}")
    show_json(found.to_dict()) if as_json else shown(found.to_terminal())
    if not found.figures.complete:
        raise typer.Exit(1)
