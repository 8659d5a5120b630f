"""`ragauge init`: from a project to its first evaluation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.messages import command
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    kept_on_interrupt,
    prints_apart,
    progress_line,
    show,
    show_command,
    show_json,
    warn,
)
from ragauge.verbs.evaluate_options import InitOptions

if TYPE_CHECKING:
    from ragauge.evaluation.init.project import Begun
    from ragauge.evaluation.scorecard.result import Scorecard

FIRST = 20  # questions of the first evaluation
Evaluate = Annotated[
    bool, typer.Option("--evaluate/--no-evaluate", help=f"Run {FIRST} questions at once."), options.Before("store")
]


@options.grouped
def init(
    wanted: InitOptions, evaluate: Evaluate = True, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Find the system in a project, write ragauge.yaml, an adapter, a first eval set and a workflow, and evaluate."""
    from ragauge.evaluation.init.project import begin

    _enter(wanted.folder)  # modules are found from the project, and the store lies in it
    begun = begin(replace(wanted, folder=Path()))
    if not as_json:
        _show(begun, wanted.system)
    card = _first(begun, wanted.store, quiet) if evaluate else None
    if as_json:
        show_json({**begun.to_dict(), "scorecard": card.to_dict() if card is not None else None})
    elif card is not None:
        show(card.to_terminal())
    if not as_json:
        _show_next(begun, ran=card is not None)


def _enter(folder: Path) -> None:
    """Makes a folder the working directory."""
    import os

    from ragauge.core.errors import UsageError

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder. Run ragauge init in the folder of your project.")
    try:
        os.chdir(folder)
    except OSError as error:
        problem = f"{folder}: this folder cannot be entered: {error.strerror or error}."
        raise UsageError(f"{problem} Run ragauge init in a folder that you may read and write.") from None


def _first(begun: Begun, store: str | None, quiet: bool) -> Scorecard | None:
    """The first evaluation; None where the system could not be asked, which is said."""
    from ragauge.core.errors import RagaugeError
    from ragauge.evaluation.evaluate.verb import evaluated
    from ragauge.evaluation.run.verb import run_system
    from ragauge.verbs.coroutines import finish
    from ragauge.verbs.evaluate_options import EvaluateOptions, RunOptions

    running = RunOptions(
        begun.target,
        begun.eval_set,
        store=store,
        limit=FIRST,
        warn=warn,
        columns=begun.asked.columns,
        segments=begun.asked.segments,
    )
    try:
        with kept_on_interrupt():
            with prints_apart(), progress_line(quiet, "asked") as progress:
                run = finish(lambda: run_system(replace(running, progress=progress)))
            with progress_line(quiet) as progress:
                return finish(lambda: evaluated(EvaluateOptions(run.run, store=store, progress=progress)))
    except RagaugeError as error:
        if error.exit_code == 130:  # Ctrl-C
            raise
        warn(f"the first evaluation did not come about: {error}")
        return None


def _show(begun: Begun, named: str) -> None:
    show(f"uses {', '.join(begun.frameworks)}" if begun.frameworks else "no framework that is known here")
    if named:
        show(f"system: {named}")
    elif begun.found:
        others = f"; also {', '.join(begun.found[1:4])}" if len(begun.found) > 1 else ""
        show(f"system: {begun.found[0]}{others}")
    else:
        other = "an example" if begun.example else f"{begun.target}, from the documents of this project,"
        show(f"system: none found; {other} answers in its place")
        show("to name yours, a function that takes a question: ragauge init --system module:function")
    show(f"questions: {begun.eval_set}" + (", made up: replace them by real ones" if begun.made_up else ""))
    for file in begun.written:
        before = f"; the one before is now {file.backup}" if file.backup else ""
        show(f"{'kept ' if file.kept else 'wrote'} {file.path}  {file.what}{before}")
    for note in begun.notes:
        show(f"note: {note}")
    if not begun.in_git:
        show(
            "no workflow and no .gitignore: this is not the top folder of a git repository. To get them: git init, "
            "then ragauge init again"
        )


def _baseline() -> tuple[str, tuple[str, ...]]:
    """The baseline that `ragauge baseline set` sets here, and what it has to be told for that."""
    from ragauge.comparison.baselines.verb import USUAL, usual_name
    from ragauge.core.errors import UsageError

    try:
        return usual_name(), ()
    except UsageError:  # git is on no branch
        return USUAL, ("--name", USUAL)


def _show_next(begun: Begun, *, ran: bool) -> None:
    if ran and begun.example:
        show(
            "Next: the same with your own: ragauge init --force --system module:function --set questions.jsonl "
            "(ragauge docs systems, ragauge docs data)"
        )
    elif ran and begun.made_up:
        show(f"Next: write questions of your users into {begun.eval_set} (ragauge docs data), then:")
        show_command(begun.command)
    elif ran:
        name, more = _baseline()
        show("Next: look at it, keep it as the baseline, change something, ask again, and hold that run against it:")
        first = [begun.command] if begun.n > FIRST else []  # the first evaluation asked only some of them
        keep, gate = command("baseline", "set", "latest", *more), command("gate", "latest", "--baseline", name)
        for line in (command("report", "latest", "-o", "report.html"), *first, keep, begun.command, gate):
            show_command(f"  {line}")
    else:
        show(f"Next: ragauge doctor --system {begun.target}, then {begun.command}")
