"""`ragauge run`: ask a system the questions of a set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted, UsageError, without_password
from ragauge.core.messages import command
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    kept_on_interrupt,
    prints_apart,
    progress_line,
    same_command,
    show,
    show_command,
    show_json,
    warn,
)
from ragauge.verbs.evaluate_options import PASSAGES, EvaluateOptions, JudgingOptions, RunOptions

if TYPE_CHECKING:
    from ragauge.evaluation.run.verb import SystemRun
    from ragauge.evaluation.scorecard.result import Scorecard

Oracle = Annotated[
    bool,
    typer.Option("--oracle", rich_help_panel=PASSAGES, help="The labelled ones; their texts come from --corpus."),
    options.Before("context_from"),
]
ClosedBook = Annotated[
    bool, typer.Option("--closed-book", rich_help_panel=PASSAGES, help="None at all."), options.Before("context_from")
]
Evaluate = Annotated[
    bool, typer.Option("--evaluate", help="Evaluate the run when it is complete."), options.Before("store")
]


@options.grouped
def run(
    wanted: RunOptions,
    judging: JudgingOptions,
    oracle: Oracle = False,
    closed_book: ClosedBook = False,
    evaluate: Evaluate = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask a system every question of a set, and keep what it returns. The same command goes on where one stopped."""
    from ragauge.evaluation.run.verb import run_system
    from ragauge.verbs.coroutines import finish

    variant = _variant(oracle, closed_book, wanted.context_from)
    wanted = replace(wanted, variant=variant, warn=warn)
    check = _judged(judging) if evaluate else None
    kept = kept_on_interrupt("Every response so far is kept.")
    with kept, prints_apart(), progress_line(quiet, "answered") as progress:
        result = finish(lambda: run_system(replace(wanted, progress=progress)))
    card = None
    if check is not None:
        with kept_on_interrupt(resume=_evaluation(result, judging)), progress_line(quiet) as progress:
            card = finish(lambda: _evaluated(result, check, progress))
    _shown(result, card, as_json)
    if result.counts.failed and not result.counts.answered + result.counts.unanswered:
        raise typer.Exit(1)
    if card is not None and (stopped := card.card.took.get("stopped")):
        raise Interrupted(stopped, resume=_evaluation(result, judging))


def _variant(oracle: bool, closed_book: bool, context_from: str | None) -> str:
    named = [
        (variant, option)
        for given, variant, option in (
            (oracle, "oracle", "--oracle"),
            (closed_book, "closed_book", "--closed-book"),
            (context_from, "replayed", "--context-from"),
        )
        if given
    ]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(option for _, option in named)} exclude each other: give one.")
    return named[0][0] if named else "own"


def _judged(judging: JudgingOptions) -> EvaluateOptions:
    """What to find out; names are checked before the first question is asked."""
    from ragauge.evaluation.evaluate.verb import planner

    wanted = EvaluateOptions("latest", warn=warn, **vars(judging))
    planner(wanted)
    return wanted


def _evaluation(run: SystemRun, judging: JudgingOptions) -> str:
    """The command that goes on with the evaluation of a run whose questions were all asked."""
    given = {"--metrics": judging.metrics, "--judge": judging.judge, "--max-cost": judging.max_cost}
    words = (word for name, value in given.items() if value not in ("", None) for word in (name, f"{value}"))
    return without_password(command("evaluate", run.run.run_id, *words))


async def _evaluated(run: SystemRun, wanted: EvaluateOptions, progress: Any) -> Scorecard:
    from ragauge.evaluation.evaluate.verb import evaluated

    return await evaluated(replace(wanted, source=run, progress=progress))


def _shown(run: SystemRun, card: Scorecard | None, as_json: bool) -> None:
    from ragauge.evaluation.runs.run_counts import next_command, run_text

    if as_json:
        show_json(run if card is None else {"run": run, "evaluation": card.card})
        return
    if card is not None:
        show(card.to_terminal())
    show(run_text(run.run, run.counts, run.asked, run.again))
    again = same_command(also="--retry-failed")
    if run.counts.failed and not run.counts.answered + run.counts.unanswered:
        show_command(f"No question was answered. Mend the system, then: {again}")
        return
    report = command("report", run.run.run_id, "-o", "report.html")
    show_command(f"Go on with: {next_command(run.run) if card is None else report}")
    if run.counts.failed:
        show_command(f"Ask the failed ones again: {again}")
