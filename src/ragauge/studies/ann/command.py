"""`ragauge component ann`: what an index of vectors misses, and how fast it is; whether it still does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ragauge.studies.command import print_to_stderr, show_study
from ragauge.studies.options import AnnCheckOptions, AnnOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_result, validate_outputs

STUDY_COMMAND = "study"  # the command that is meant where the first word is none
HELP_SETTINGS = {"help_option_names": ["--help"]}


class StudyOrCheck(TyperGroup):
    """`component ann VECTORS …` makes a study; `component ann check STUDY …` is a command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a word the help of the study."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first word names; with any other word the study."""
        if args and args[0] != STUDY_COMMAND and args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "", self.commands[STUDY_COMMAND], args


app = typer.Typer(
    cls=StudyOrCheck,
    no_args_is_help=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    help="Measure the recall and speed of approximate vector indexes.",
)


@app.command(STUDY_COMMAND, context_settings=HELP_SETTINGS)
@options.spread_options
def ann(command_options: AnnOptions, outputs: options.StudyOutputs = None, as_json: options.Json = False) -> None:
    """Say what an approximate index of vectors misses, and how fast it is at what recall.

    Every setting is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.studies.ann import verb as api

    show_study(api.ann(**vars(replace(command_options, say=print_to_stderr))), outputs, as_json=as_json)


@app.command(context_settings=HELP_SETTINGS)
@options.spread_options
def check(
    command_options: AnnCheckOptions,
    outputs: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="Write the verdict to a file: .xml (JUnit), .md or .json."),
        options.PlacedBefore("store"),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Ask an index again over the vectors as they are now. Exit 0: pass, 3: fail, 4: not enough queries to tell.

    Fit for a schedule: the run is kept, and `ragauge runs` lists it.
    """
    from ragauge.gating.gate_result import GateResult
    from ragauge.studies.ann.verb import ann_check

    validate_outputs(outputs, GateResult)
    gate_result = ann_check(**vars(command_options))
    show_result(gate_result, outputs, as_json=as_json)
    raise typer.Exit(gate_result.exit_code)
