"""Causes as they were inferred and as experiments confirmed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.core.messages import command, number, plural
from ragauge.core.response import Run
from ragauge.rendering.sections import Phrase, ReportSection, ReportTable, Tone, columns
from ragauge.rendering.words import UNNAMED, between, line, safe
from ragauge.scores.results.experiments import CauseTally, Confirmed, ExperimentOutcome

TONES: Mapping[str, Tone] = {"confirmed": "good", "refuted": "bad", "undecided": "unsure"}
# how the verdict of an experiment is written
EXPERIMENT_VERDICTS: Mapping[str, str] = {"confirmed": "confirmed", "refuted": "refuted", "undecided": "inconclusive"}
MOST_EXAMPLES, MOST_ANSWER = 12, 160
MEANING = (
    "inferred: failed examples with this cause. experiments: answered again with the passages changed so that the "
    "answer shows whether the cause is right. share: confirmed among all experiments, what is inconclusive counting "
    "as not confirmed; brackets: Wilson's 95 % interval."
)


def experiments_say(confirmed: Confirmed | None, cause: str) -> str:
    """What experiments say of a cause: confirmed in 8 of 10 experiments, 0.80 [0.49, 0.94]; "" without one."""
    tally = confirmed.of(cause) if confirmed is not None else None
    if tally is None:
        return ""
    rest = [
        f"{count:,} {name}" for name, count in (("refuted", tally.refuted), ("inconclusive", tally.undecided)) if count
    ]
    beside = f" ({', '.join(rest)})" if rest else ""
    return f"confirmed in {tally.confirmed:,} of {plural(tally.made, 'experiment')}, {confirmed_share(tally)}{beside}"


def confirmed_share(tally: CauseTally) -> str:
    """The confirmed share with its interval."""
    return f"{number(tally.share)} {between(tally.interval)}".strip()


def by_example(confirmed: Confirmed | None) -> dict[tuple[str, int], ExperimentOutcome]:
    """(query_id, repeat) -> what its experiment said."""
    made = confirmed.outcomes if confirmed is not None else ()
    return {(outcome.experiment.query_id, outcome.experiment.repeat): outcome for outcome in made}


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
        f"! {tally.cause or UNNAMED}: {plural(count, 'example')} without an experiment: {safe(why)}."
        for tally in causes
        for why, count in tally.without.items()
    )
    yield ReportSection(safe(run.name), told, table=_table(causes), after=without)
    order = ("refuted", "undecided", "confirmed")
    listed = sorted(outcomes, key=lambda outcome: order.index(outcome.verdict))
    yield from map(_example_section, listed[:MOST_EXAMPLES])
    if len(listed) > MOST_EXAMPLES:
        yield ReportSection(notes=(f"{len(listed) - MOST_EXAMPLES:,} more experiments: --json has them all.",))
    look = f"Look at a new answer in full: {command('show', answers.run_id, 'QUERY_ID')}" if answers else ""
    yield ReportSection(notes=(MEANING, look) if look else (MEANING,))


def _table(causes: Sequence[CauseTally]) -> ReportTable:
    heads = columns("cause", "in", numbers=("inferred", "experiments", *EXPERIMENT_VERDICTS.values(), "share"))
    rows = []
    for tally in causes:
        counts = (
            f"{count:,}" for count in (tally.inferred, tally.made, tally.confirmed, tally.refuted, tally.undecided)
        )
        rows.append((tally.cause or UNNAMED, tally.component, *counts, confirmed_share(tally)))
    return ReportTable(heads, tuple(rows))


def _example_section(outcome: ExperimentOutcome) -> ReportSection:
    made = outcome.experiment
    heading = (
        Phrase(f"{safe(made.query_id)}  ", "faint"),
        made.cause,
        Phrase(f" · {made.rule.name}: ", "plain"),
        Phrase(EXPERIMENT_VERDICTS[outcome.verdict], TONES[outcome.verdict]),
        Phrase(f", {line(outcome.why, MOST_ANSWER)}", "plain"),
    )
    before = f"  before: {line(made.answer, MOST_ANSWER) or '–'}  ({line(made.before.sign, MOST_ANSWER)})"
    return ReportSection(heading, lead=(before, f"  after:  {line(outcome.answer, MOST_ANSWER) or '–'}"))
