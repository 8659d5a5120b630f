"""`ragauge study`: settings tried one against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.core.messages import format_count
from ragauge.studies.options import OpenStudyOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show as shown
from ragauge.verbs.command_output import show_json

Name = Annotated[str, typer.Argument(help="A stored study.")]


def delete(name: Name, store: options.Store = "", yes: options.Yes = False) -> None:
    """Delete a study with the runs of its trials."""
    from ragauge.studies.verb import delete_study

    if not yes:
        typer.confirm(f"Delete the study {name} with all of its runs?", abort=True, err=True)
    trials = delete_study(name, store=store or None)
    typer.echo(f"deleted {name} ({format_count(trials, 'trial')})", err=True)


@options.spread_options
def show(command_options: OpenStudyOptions, as_json: options.Json = False) -> None:
    """Show a study: its trials, which may be the best, which to take."""
    from ragauge.studies.verb import open_study

    study_result = open_study(**vars(command_options))
    show_json(study_result.to_dict()) if as_json else shown(study_result.to_terminal())


@options.spread_options
def write_study(
    command_options: OpenStudyOptions,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Write a .html, .md, .json or .csv file."),
        options.PlacedBefore("metric"),
    ],
) -> None:
    """Write a study as the ending of the file says."""
    from ragauge.studies.verb import open_study

    print_to_stderr(f"wrote {open_study(**vars(command_options)).save(output)}")


def print_to_stderr(line: str) -> None:
    """What is done while a study is made, to stderr."""
    typer.echo(line, err=True)
