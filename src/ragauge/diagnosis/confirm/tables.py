"""Causes as they were inferred and as experiments confirmed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.core.messages import format_command, format_count, format_value
from ragauge.core.response import Run
from ragauge.rendering.sections import Phrase, ReportSection, ReportTable, Tone, build_columns
from ragauge.rendering.words import UNNAMED, between, make_safe, to_line
from ragauge.scores.results.experiments import CauseTally, Confirmed, ExperimentOutcome

TONES: Mapping[str, Tone] = {"confirmed": "good", "refuted": "bad", "undecided": "unsure"}
# how the verdict of an experiment is written
EXPERIMENT_VERDICTS: Mapping[str, str] = {"confirmed": "confirmed", "refuted": "refuted", "undecided": "inconclusive"}
MAX_EXAMPLES, MAX_ANSWER_CHARS = 12, 160
COLUMNS_NOTE = (
    "inferred: failed examples with this cause. experiments: examples answered again with changed passages to test "
    "the cause. share: confirmed experiments out of all, counting inconclusive ones "
    "as not confirmed; brackets: Wilson's 95 % interval."
)


def describe_experiments(confirmed: Confirmed | None, cause: str) -> str:
    """What experiments say of a cause: confirmed in 8 of 10 experiments, 0.80 [0.49, 0.94]; "" without one."""
    tally = confirmed.of(cause) if confirmed is not None else None
    if tally is None:
        return ""
    others = [
        f"{count:,} {name}" for name, count in (("refuted", tally.refuted), ("inconclusive", tally.undecided)) if count
    ]
    others_text = f" ({', '.join(others)})" if others else ""
    return (
        f"confirmed in {tally.confirmed:,} of {format_count(tally.made, 'experiment')}, "
        f"{format_confirmed_share(tally)}{others_text}"
    )


def format_confirmed_share(tally: CauseTally) -> str:
    """The confirmed share with its interval."""
    return f"{format_value(tally.share)} {between(tally.interval)}".strip()


def index_by_example(confirmed: Confirmed | None) -> dict[tuple[str, int], ExperimentOutcome]:
    """(query_id, repeat) -> what its experiment said."""
    made = confirmed.outcomes if confirmed is not None else ()
    return {(outcome.experiment.query_id, outcome.experiment.repeat): outcome for outcome in made}


def build_sections(
    run: Run,
    answers: Run | None,
    judge_id: str,
    causes: Sequence[CauseTally],
    outcomes: Sequence[ExperimentOutcome],
    n_asked: int,
) -> Iterator[ReportSection]:
    """A table of causes, and the examples with both answers, what the experiments contradict first."""
    about = f"{format_count(len(outcomes), 'experiment')}, {n_asked:,} answered now; judge {make_safe(judge_id)}"
    without = tuple(
        f"! {tally.cause or UNNAMED}: {format_count(count, 'example')} without an experiment: {make_safe(reason)}."
        for tally in causes
        for reason, count in tally.without.items()
    )
    yield ReportSection(make_safe(run.name), about, table=_build_table(causes), after=without)
    order = ("refuted", "undecided", "confirmed")
    ordered = sorted(outcomes, key=lambda outcome: order.index(outcome.verdict))
    yield from map(_build_example_section, ordered[:MAX_EXAMPLES])
    if len(ordered) > MAX_EXAMPLES:
        yield ReportSection(notes=(f"{len(ordered) - MAX_EXAMPLES:,} more experiments; --json lists them all.",))
    show_note = f"See a new answer in full: {format_command('show', answers.run_id, 'QUERY_ID')}" if answers else ""
    yield ReportSection(notes=(COLUMNS_NOTE, show_note) if show_note else (COLUMNS_NOTE,))


def _build_table(causes: Sequence[CauseTally]) -> ReportTable:
    headers = build_columns("cause", "in", numbers=("inferred", "experiments", *EXPERIMENT_VERDICTS.values(), "share"))
    rows = []
    for tally in causes:
        counts = (
            f"{count:,}" for count in (tally.inferred, tally.made, tally.confirmed, tally.refuted, tally.undecided)
        )
        rows.append((tally.cause or UNNAMED, tally.component, *counts, format_confirmed_share(tally)))
    return ReportTable(headers, tuple(rows))


def _build_example_section(outcome: ExperimentOutcome) -> ReportSection:
    made = outcome.experiment
    heading = (
        Phrase(f"{make_safe(made.query_id)}  ", "faint"),
        made.cause,
        Phrase(f" · {made.rule.name}: ", "plain"),
        Phrase(EXPERIMENT_VERDICTS[outcome.verdict], TONES[outcome.verdict]),
        Phrase(f", {to_line(outcome.why, MAX_ANSWER_CHARS)}", "plain"),
    )
    previous_line = (
        f"  before: {to_line(made.answer, MAX_ANSWER_CHARS) or '–'}  ({to_line(made.before.sign, MAX_ANSWER_CHARS)})"
    )
    return ReportSection(heading, lead=(previous_line, f"  after:  {to_line(outcome.answer, MAX_ANSWER_CHARS) or '–'}"))
