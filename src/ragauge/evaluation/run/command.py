"""`ragauge run`: ask a system the questions of a set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted, UsageError, mask_secrets
from ragauge.core.messages import format_command
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    build_resume_command,
    redirect_prints,
    report_interrupt,
    show,
    show_command,
    show_json,
    show_progress,
    warn,
)
from ragauge.verbs.evaluate_options import PASSAGES_PANEL, EvaluateOptions, JudgingOptions, RunOptions

if TYPE_CHECKING:
    from ragauge.evaluation.run.verb import SystemRun
    from ragauge.evaluation.scorecard.result import Scorecard

Oracle = Annotated[
    bool,
    typer.Option("--oracle", rich_help_panel=PASSAGES_PANEL, help="Use the labeled passages; --corpus has their text."),
    options.PlacedBefore("context_from"),
]
ClosedBook = Annotated[
    bool,
    typer.Option("--closed-book", rich_help_panel=PASSAGES_PANEL, help="Use no passages."),
    options.PlacedBefore("context_from"),
]
Evaluate = Annotated[
    bool, typer.Option("--evaluate", help="Evaluate the run once it is complete."), options.PlacedBefore("store")
]


@options.spread_options
def run(
    command_options: RunOptions,
    judging: JudgingOptions,
    oracle: Oracle = False,
    closed_book: ClosedBook = False,
    evaluate: Evaluate = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Send every question of a set to a system and store the responses. Run the same command to resume."""
    from ragauge.evaluation.run.verb import run_system
    from ragauge.verbs.coroutines import run_coroutine

    variant = _resolve_variant(oracle, closed_book, command_options.context_from)
    command_options = replace(command_options, variant=variant, warn=warn)
    check = _validate_judging(judging) if evaluate else None
    interrupt_guard = report_interrupt("All responses so far are saved.")
    with interrupt_guard, redirect_prints(), show_progress(quiet, "answered") as progress:
        result = run_coroutine(lambda: run_system(replace(command_options, progress=progress)))
    card = None
    if check is not None:
        with report_interrupt(resume=_build_evaluate_command(result, judging)), show_progress(quiet) as progress:
            card = run_coroutine(lambda: _evaluate_run(result, check, progress))
    _print_run(result, card, as_json)
    if result.counts.failed and not result.counts.answered + result.counts.unanswered:
        raise typer.Exit(1)
    if card is not None and (stopped := card.card.took.get("stopped")):
        raise Interrupted(stopped, resume=_build_evaluate_command(result, judging))


def _resolve_variant(oracle: bool, closed_book: bool, context_from: str | None) -> str:
    given_variants = [
        (variant, option)
        for is_given, variant, option in (
            (oracle, "oracle", "--oracle"),
            (closed_book, "closed_book", "--closed-book"),
            (context_from, "replayed", "--context-from"),
        )
        if is_given
    ]
    if len(given_variants) > 1:
        raise UsageError(f"{' and '.join(option for _, option in given_variants)} exclude each other: give one.")
    return given_variants[0][0] if given_variants else "own"


def _validate_judging(judging: JudgingOptions) -> EvaluateOptions:
    """What to find out; names are checked before the first question is asked."""
    from ragauge.evaluation.evaluate.verb import build_planner

    evaluate_options = EvaluateOptions("latest", warn=warn, **vars(judging))
    build_planner(evaluate_options)
    return evaluate_options


def _build_evaluate_command(run: SystemRun, judging: JudgingOptions) -> str:
    """The command that goes on with the evaluation of a run whose questions were all asked."""
    option_values = {"--metrics": judging.metrics, "--judge": judging.judge, "--max-cost": judging.max_cost}
    words = (word for name, value in option_values.items() if value not in ("", None) for word in (name, f"{value}"))
    return mask_secrets(format_command("evaluate", run.run.run_id, *words))


async def _evaluate_run(run: SystemRun, evaluate_options: EvaluateOptions, progress: Any) -> Scorecard:
    from ragauge.evaluation.evaluate.verb import evaluate_source

    return await evaluate_source(replace(evaluate_options, source=run, progress=progress))


def _print_run(run: SystemRun, card: Scorecard | None, as_json: bool) -> None:
    from ragauge.evaluation.runs.run_counts import format_next_command, format_run

    if as_json:
        show_json(run if card is None else {"run": run, "evaluation": card.card})
        return
    if card is not None:
        show(card.to_terminal())
    show(format_run(run.run, run.counts, run.asked, run.again))
    again = build_resume_command(also="--retry-failed")
    if run.counts.failed and not run.counts.answered + run.counts.unanswered:
        show_command(f"No question was answered. Fix the system, then: {again}")
        return
    report = format_command("report", run.run.run_id, "-o", "report.html")
    show_command(f"Next: {format_next_command(run.run) if card is None else report}")
    if run.counts.failed:
        show_command(f"To retry the failed questions: {again}")
