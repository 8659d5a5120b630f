"""Causes as they were inferred and as experiments confirmed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.analysis.results.confirmed import CauseTally, Confirmed, ExperimentOutcome
from ragauge.data.response import Run
from ragauge.reporting.sections import Phrase, ReportSection, ReportTable, Tone, columns
from ragauge.reporting.words import UNNAMED, between, line, safe
from ragauge.text.messages import command, number, plural

TONES: Mapping[str, Tone] = {"confirmed": "good", "refuted": "bad", "undecided": "unsure"}
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







def sections(
    run: Run,
    answers: Run | None,
    judge_id: str,
    causes: Sequence[CauseTally],
    outcomes: Sequence[ExperimentOutcome],
    asked: int,
) -> Iterator[ReportSection]:
    """A table of causes, and the examples with both answers, what the experiments contradict first."""
    told = f"{plural(len(outcomes), 'experiment')}, {asked:,} asked now; judge {safe(judge_id)}"
    without = tuple(
        f"! {one.cause or UNNAMED}: {plural(count, 'example')} without an experiment: {safe(why)}."
        for one in causes for why, count in one.without.items()
    )     # fmt: skip
    yield ReportSection(safe(run.name), told, table=_table(causes), after=without)
    order = ("refuted", "undecided", "confirmed")
    listed = sorted(outcomes, key=lambda one: order.index(one.verdict))
    yield from map(_example_section, listed[:MOST_EXAMPLES])
    if len(listed) > MOST_EXAMPLES:
        yield ReportSection(notes=(f"{len(listed) - MOST_EXAMPLES:,} more experiments: --json has them all.",))
    look = f"Look at a new answer in full: {command('show', answers.run_id, 'QUERY_ID')}" if answers else ""
    yield ReportSection(notes=(MEANING, look) if look else (MEANING,))


def _table(causes: Sequence[CauseTally]) -> ReportTable:
    heads = columns("cause", "in", numbers=("inferred", "experiments", "confirmed", "refuted", "undecided", "share"))
    rows = []
    for one in causes:
        counts = (f"{count:,}" for count in (one.inferred, one.made, one.confirmed, one.refuted, one.undecided))
        rows.append((one.cause or UNNAMED, one.component, *counts, confirmed_share(one)))
    return ReportTable(heads, tuple(rows))


def _example_section(one: ExperimentOutcome) -> ReportSection:
    made = one.experiment
    heading = (
        Phrase(f"{safe(made.query_id)}  ", "faint"), made.cause, Phrase(f" · {made.rule.name}: ", "plain"),
        Phrase(one.verdict, TONES[one.verdict]), Phrase(f", {line(one.why, MOST_ANSWER)}", "plain"),
    )     # fmt: skip
    before = f"  before: {line(made.answer, MOST_ANSWER) or '–'}  ({line(made.before.sign, MOST_ANSWER)})"
    return ReportSection(heading, lead=(before, f"  after:  {line(one.answer, MOST_ANSWER) or '–'}"))
