"""`ragauge run`: ask a system the questions of a set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.api.options import EvaluateOptions, RunOptions
from ragauge.cli import options
from ragauge.cli.output import (
    kept_on_interrupt,
    prints_apart,
    progress_line,
    same_command,
    show,
    show_command,
    show_json,
    warn,
)
from ragauge.errors import Interrupted, UsageError
from ragauge.text.messages import command

if TYPE_CHECKING:
    from ragauge.api.results.scorecard import Scorecard
    from ragauge.api.run import SystemRun

PASSAGES, JUDGING = "Which passages the answers rest on", "Judging, with --evaluate"
System = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM", help="module:name of a Python function or class, a URL, or a file of recorded responses."
    ),
]
EvalSet = Annotated[str, typer.Argument(metavar="SET", help="The questions: a file or folder, or a stored set's name.")]
Settings = Annotated[
    str, typer.Option("--system-config", help="YAML with the system's settings, in a section `system`; see the docs.")
]
Name = Annotated[str, typer.Option("--name", help="What to call the run; the system's name by default.")]
Repeat = Annotated[int, typer.Option("--repeat", min=1, help="Ask every question so many times.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Questions under way, at most.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds for one attempt at a question.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask this many questions, drawn at random.")]
Oracle = Annotated[
    bool, typer.Option("--oracle", rich_help_panel=PASSAGES, help="The labelled ones; their texts come from --corpus.")
]
ClosedBook = Annotated[bool, typer.Option("--closed-book", rich_help_panel=PASSAGES, help="None at all.")]
ContextFrom = Annotated[
    str, typer.Option("--context-from", metavar="RUN", rich_help_panel=PASSAGES, help="Those of a stored run.")
]
Corpus = Annotated[
    str, typer.Option("--corpus", rich_help_panel=PASSAGES, help="Documents' texts: .jsonl, .csv, a folder of text.")
]
Evaluate = Annotated[bool, typer.Option("--evaluate", help="Evaluate the run when it is complete.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start another run where an unfinished one could go on.")]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Ask again what failed in the newest such run.")]
Metrics = Annotated[
    str, typer.Option("-m", "--metrics", rich_help_panel=JUDGING, help="Metrics or presets, comma-separated.")
]
Judge = Annotated[
    str, typer.Option("--judge", rich_help_panel=JUDGING, help="local, none, openai:MODEL, hybrid:openai:MODEL.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", rich_help_panel=JUDGING, help="US dollars that the judge may spend; a hard stop."),
]


def run(
    system: System,
    eval_set: EvalSet,
    name: Name = "",
    columns: options.Columns = None,
    segments: options.Segments = "",
    settings: Settings = "",
    repeat: Repeat = 1,
    concurrency: Concurrency = 4,
    timeout: Timeout = 60.0,
    limit: Limit = None,
    keep: options.Filter = "",
    oracle: Oracle = False,
    closed_book: ClosedBook = False,
    context_from: ContextFrom = "",
    corpus: Corpus = "",
    evaluate: Evaluate = False,
    metrics: Metrics = "",
    judge: Judge = "local",
    max_cost: MaxCost = None,
    store: options.Store = "",
    fresh: Fresh = False,
    retry_failed: Retry = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask a system every question of a set, and keep what it returns. The same command goes on where one stopped."""
    from ragauge.api.run import run_system
    from ragauge.api.threads import finish

    wanted = RunOptions(
        system, eval_set, name=name, settings=settings or None, repeat=repeat, concurrency=concurrency, timeout=timeout,
        limit=limit, filter=options.conditions(keep), variant=_variant(oracle, closed_book, context_from),
        context_from=context_from or None, corpus=corpus or None, fresh=fresh, retry_failed=retry_failed,
        store=store or None, warn=warn, columns=options.mapping(columns), segments=segments,
    )  # fmt: skip
    check = _judging(metrics, judge, max_cost) if evaluate else None
    kept = kept_on_interrupt("Every response so far is kept.")
    with kept, prints_apart(), progress_line(quiet, "answered") as progress:
        found = finish(lambda: run_system(replace(wanted, progress=progress)))
    card = None
    if check is not None:
        with kept_on_interrupt(), progress_line(quiet) as progress:
            card = finish(lambda: _evaluated(found, check, progress))
    _shown(found, card, as_json)
    if found.counts.failed and not found.counts.answered + found.counts.unanswered:
        raise typer.Exit(1)
    if card is not None and (stopped := card.card.took.get("stopped")):
        raise Interrupted(stopped, resume=same_command())


def _variant(oracle: bool, closed_book: bool, context_from: str) -> str:
    named = [
        (variant, option)
        for given, variant, option in (
            (oracle, "oracle", "--oracle"), (closed_book, "closed_book", "--closed-book"),
            (context_from, "replayed", "--context-from"),
        )
        if given
    ]  # fmt: skip
    if len(named) > 1:
        raise UsageError(f"{' and '.join(option for _, option in named)} exclude each other: give one.")
    return named[0][0] if named else "own"


def _judging(metrics: str, judge: str, max_cost: float | None) -> EvaluateOptions:
    """What to find out; names are checked before the first question is asked."""
    from ragauge.api.evaluate import planner

    wanted = EvaluateOptions("latest", metrics=metrics, judge=judge, warn=warn, max_cost=max_cost)
    planner(wanted)
    return wanted


async def _evaluated(found: SystemRun, wanted: EvaluateOptions, progress: Any) -> Scorecard:
    from ragauge.api.evaluate import evaluated

    return await evaluated(replace(wanted, source=found, progress=progress))


def _shown(found: SystemRun, card: Scorecard | None, as_json: bool) -> None:
    from ragauge.reporting.run_counts import next_command, run_json, run_text

    if as_json:
        told = run_json(found.run, found.counts, found.asked, found.again, found.seconds)
        show_json(told if card is None else {"run": told, "evaluation": card.to_dict()})
        return
    if card is not None:
        show(card.to_terminal())
    show(run_text(found.run, found.counts, found.asked, found.again))
    again = same_command(but="--fresh", also="--retry-failed")
    if found.counts.failed and not found.counts.answered + found.counts.unanswered:
        show_command(f"No question was answered. Mend the system, then: {again}")
        return
    report = command("report", found.run.run_id, "-o", "report.html")
    show_command(f"Go on with: {next_command(found.run) if card is None else report}")
    if found.counts.failed:
        show_command(f"Ask the failed ones again: {again}")
