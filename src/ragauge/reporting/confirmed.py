"""Causes as they were inferred and as experiments confirmed them, for people and machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.analysis.results.confirmed import CauseTally, Confirmed, ExperimentOutcome, Graded
from ragauge.data.run import Run
from ragauge.reporting.words import UNNAMED, between, line, safe
from ragauge.text.amounts import number
from ragauge.text.commands import command
from ragauge.text.plural import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

STYLES = {"confirmed": "green", "refuted": "bold red", "undecided": "yellow"}
GRADES = ("wrong", "partly right", "right")
MOST_EXAMPLES, MOST_ANSWER = 12, 160
MEANING = (
    "inferred: failed examples with this cause. experiments: answered again with the passages changed so that the "
    "answer shows whether the cause is right. share: confirmed among all experiments, what is undecided counting as "
    "not confirmed; brackets: Wilson's 95 % interval."
)


def experiments_say(found: Confirmed | None, cause: str) -> str:
    """What experiments say of a cause: confirmed in 8 of 10 experiments, 0.80 [0.49, 0.94]; "" without one."""
    one = found.of(cause) if found is not None else None
    if one is None:
        return ""
    rest = [f"{count:,} {name}" for name, count in (("refuted", one.refuted), ("undecided", one.undecided)) if count]
    beside = f" ({', '.join(rest)})" if rest else ""
    return f"confirmed in {one.confirmed:,} of {plural(one.made, 'experiment')}, {confirmed_share(one)}{beside}"


def confirmed_share(one: CauseTally) -> str:
    """The confirmed share with its interval."""
    return f"{number(one.share)} {between(one.interval)}".strip()


def by_example(found: Confirmed | None) -> dict[tuple[str, int], ExperimentOutcome]:
    """(query_id, repeat) -> what its experiment said."""
    made = found.outcomes if found is not None else ()
    return {(one.experiment.query_id, one.experiment.repeat): one for one in made}


def tallies_json(found: Confirmed | None) -> dict[str, Any] | None:
    """The causes of a scorecard, inferred and confirmed side by side; None without experiments."""
    if found is None:
        return None
    causes = {one.cause: _cause(one) for one in found.causes if one.made}
    return {"answers": found.answers, "experiments": len(found.outcomes), "causes": causes}


def confirmed_json(
    run: Run,
    answers: Run | None,
    judge_id: str,
    causes: Sequence[CauseTally],
    outcomes: Sequence[ExperimentOutcome],
    asked: int,
) -> dict[str, Any]:
    """Everything as JSON types."""
    return {
        "run": run.name, "run_id": run.run_id, "answers": None if answers is None else answers.run_id,
        "judge": judge_id, "asked": asked, "experiments": len(outcomes),
        "causes": {one.cause: _cause(one) for one in causes},
        "examples": [_example(one) for one in outcomes],
    }  # fmt: skip


def _cause(one: CauseTally) -> dict[str, Any]:
    found = one.interval
    return {
        "component": one.component, "inferred": one.inferred, "experiments": one.made, "confirmed": one.confirmed,
        "refuted": one.refuted, "undecided": one.undecided, "confirmed_share": one.share,
        "ci": None if found is None else [found.low, found.high], "without_experiment": dict(one.without),
    }  # fmt: skip


def _example(one: ExperimentOutcome) -> dict[str, Any]:
    made = one.experiment
    return {
        "query_id": made.query_id, "repeat": made.repeat, "cause": made.cause, "experiment": made.rule.name,
        "passages": [passage.passage_id for passage in made.passages], "verdict": one.verdict, "why": one.why,
        "before": {"answer": made.answer, "grade": _grade(made.before), "sign": made.before.sign},
        "after": {"answer": one.answer, "grade": _grade(one.after), "sign": one.after.sign},
    }  # fmt: skip


def _grade(found: Graded) -> str | None:
    return None if found.grade is None else GRADES[found.grade]


def confirmed_text(
    run: Run,
    answers: Run | None,
    judge_id: str,
    causes: Sequence[CauseTally],
    outcomes: Sequence[ExperimentOutcome],
    asked: int,
) -> RenderableType:
    """A table of causes, and the examples with both answers, what the experiments contradict first."""
    from rich.console import Group

    return Group(*_parts(run, answers, judge_id, causes, outcomes, asked))


def _parts(
    run: Run,
    answers: Run | None,
    judge_id: str,
    causes: Sequence[CauseTally],
    outcomes: Sequence[ExperimentOutcome],
    asked: int,
) -> Iterator[RenderableType]:
    from rich.text import Text

    told = f"  {plural(len(outcomes), 'experiment')}, {asked:,} asked now; judge {safe(judge_id)}"
    yield Text(safe(run.name), style="bold") + Text(told, style="dim")
    yield _table(causes)
    for one in causes:
        for why, count in one.without.items():
            yield Text(f"! {one.cause or UNNAMED}: {plural(count, 'example')} without an experiment: {safe(why)}.")
    order = ("refuted", "undecided", "confirmed")
    listed = sorted(outcomes, key=lambda one: order.index(one.verdict))
    for found in listed[:MOST_EXAMPLES]:
        yield Text("")
        yield from _lines(found)
    if len(listed) > MOST_EXAMPLES:
        yield Text(f"\n{len(listed) - MOST_EXAMPLES:,} more experiments: --json has them all.", style="dim")
    yield Text(f"\n{MEANING}", style="dim")
    if answers is not None:
        yield Text(f"Look at a new answer in full: {command('show', answers.run_id, 'QUERY_ID')}", style="dim")


def _table(causes: Sequence[CauseTally]) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cause")
    table.add_column("in")
    for name in ("inferred", "experiments", "confirmed", "refuted", "undecided", "share"):
        table.add_column(name, justify="right")
    for one in causes:
        counts = (f"{count:,}" for count in (one.inferred, one.made, one.confirmed, one.refuted, one.undecided))
        table.add_row(
            one.cause or UNNAMED, one.component, *counts, confirmed_share(one)
        )
    return table


def _lines(one: ExperimentOutcome) -> Iterator[RenderableType]:
    from rich.text import Text

    made = one.experiment
    head = Text(f"{safe(made.query_id)}  ", style="dim") + Text(made.cause, style="bold")
    head += Text(f" · {made.rule.name}: ") + Text(one.verdict, style=STYLES[one.verdict])
    yield head + Text(f", {line(one.why, MOST_ANSWER)}")
    yield Text(f"  before: {line(made.answer, MOST_ANSWER) or '–'}  ({line(made.before.sign, MOST_ANSWER)})")
    yield Text(f"  after:  {line(one.answer, MOST_ANSWER) or '–'}")
