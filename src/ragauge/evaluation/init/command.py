"""`ragauge init`: from a project to its first evaluation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.messages import format_command
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    redirect_prints,
    report_interrupt,
    show,
    show_command,
    show_json,
    show_progress,
    warn,
)
from ragauge.verbs.evaluate_options import InitOptions

if TYPE_CHECKING:
    from ragauge.evaluation.init.project import InitResult
    from ragauge.evaluation.scorecard.result import Scorecard

FIRST_QUESTIONS = 20  # questions of the first evaluation
Evaluate = Annotated[
    bool,
    typer.Option("--evaluate/--no-evaluate", help=f"Run and evaluate {FIRST_QUESTIONS} questions right away."),
    options.PlacedBefore("store"),
]


@options.spread_options
def init(
    command_options: InitOptions, evaluate: Evaluate = True, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Find the system in a project; write ragauge.yaml, an adapter, a first eval set and a CI workflow; evaluate."""
    from ragauge.evaluation.init.project import begin_project

    _enter_folder(command_options.folder)  # modules are found from the project, and the store lies in it
    init_result = begin_project(replace(command_options, folder=Path()))
    if not as_json:
        _print_result(init_result, command_options.system)
    card = _run_first_evaluation(init_result, command_options.store, quiet) if evaluate else None
    if as_json:
        show_json({**init_result.to_dict(), "scorecard": card.to_dict() if card is not None else None})
    elif card is not None:
        show(card.to_terminal())
    if not as_json:
        _show_next(init_result, ran=card is not None)


def _enter_folder(folder: Path) -> None:
    """Makes a folder the working directory."""
    import os

    from ragauge.core.errors import UsageError

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder. Run ragauge init in the folder of your project.")
    try:
        os.chdir(folder)
    except OSError as error:
        problem = f"{folder}: cannot open this folder: {error.strerror or error}."
        raise UsageError(f"{problem} Run ragauge init in a folder that you may read and write.") from None


def _run_first_evaluation(init_result: InitResult, store: str | None, quiet: bool) -> Scorecard | None:
    """The first evaluation; None where the system could not be asked, which is said."""
    from ragauge.core.errors import RagaugeError
    from ragauge.evaluation.evaluate.verb import evaluate_source
    from ragauge.evaluation.run.verb import run_system
    from ragauge.verbs.coroutines import run_coroutine
    from ragauge.verbs.evaluate_options import EvaluateOptions, RunOptions

    running = RunOptions(
        init_result.target,
        init_result.eval_set,
        store=store,
        limit=FIRST_QUESTIONS,
        warn=warn,
        columns=init_result.asked.columns,
        segments=init_result.asked.segments,
    )
    try:
        with report_interrupt():
            with redirect_prints(), show_progress(quiet, "asked") as progress:
                run = run_coroutine(lambda: run_system(replace(running, progress=progress)))
            with show_progress(quiet) as progress:
                return run_coroutine(lambda: evaluate_source(EvaluateOptions(run.run, store=store, progress=progress)))
    except RagaugeError as error:
        if error.exit_code == 130:  # Ctrl-C
            raise
        warn(f"the first evaluation failed: {error}")
        return None


def _print_result(init_result: InitResult, system_name: str) -> None:
    show(f"uses {', '.join(init_result.frameworks)}" if init_result.frameworks else "no known framework")
    if system_name:
        show(f"system: {system_name}")
    elif init_result.found:
        others = f"; also {', '.join(init_result.found[1:4])}" if len(init_result.found) > 1 else ""
        show(f"system: {init_result.found[0]}{others}")
    else:
        other = "an example" if init_result.example else f"{init_result.target}, from the documents of this project,"
        show(f"system: none found; {other} is used instead")
        show("to use yours, a function that takes a question: ragauge init --system module:function")
    show(f"questions: {init_result.eval_set}" + (" (generated, to be replaced)" if init_result.made_up else ""))
    for file in init_result.written:
        backup_note = f"; the old file is now {file.backup}" if file.backup else ""
        show(f"{'kept ' if file.kept else 'wrote'} {file.path}  {file.what}{backup_note}")
    for note in init_result.notes:
        show(f"note: {note}")
    if not init_result.is_git_root:
        show(
            "no workflow and no .gitignore: this is not the top-level folder of a git repository. To get them: "
            "git init, then ragauge init again"
        )


def _find_baseline_name() -> tuple[str, tuple[str, ...]]:
    """The baseline that `ragauge baseline set` sets here, and what it has to be told for that."""
    from ragauge.comparison.baselines.verb import DEFAULT_BASELINE, find_default_name
    from ragauge.core.errors import UsageError

    try:
        return find_default_name(), ()
    except UsageError:  # git is on no branch
        return DEFAULT_BASELINE, ("--name", DEFAULT_BASELINE)


def _show_next(init_result: InitResult, *, ran: bool) -> None:
    if ran and init_result.example:
        show(
            "Next: use your own system and questions: ragauge init --force --system module:function "
            "--set questions.jsonl (ragauge docs systems, ragauge docs data)"
        )
    elif ran and init_result.made_up:
        show(f"Next: write your users' questions into {init_result.eval_set} (ragauge docs data), then:")
        show_command(init_result.command)
    elif ran:
        name, more = _find_baseline_name()
        show("Next: view it, make it the baseline, change something, run again, and compare:")
        # the first evaluation asked only some of them
        first = [init_result.command] if init_result.n > FIRST_QUESTIONS else []
        keep, gate = (
            format_command("baseline", "set", "latest", *more),
            format_command("gate", "latest", "--baseline", name),
        )
        for line in (format_command("report", "latest", "-o", "report.html"), *first, keep, init_result.command, gate):
            show_command(f"  {line}")
    else:
        show(f"Next: ragauge doctor --system {init_result.target}, then {init_result.command}")
