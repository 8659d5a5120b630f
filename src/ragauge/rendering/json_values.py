"""What JSON outputs say beyond the fields of results: the functions that `json_forms` names, and their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.rendering.words import make_safe

if TYPE_CHECKING:
    from ragauge.evaluation.overview.run_counts import RunCounts
    from ragauge.gating.result import Check, Gated
    from ragauge.scores.judge_check import CheckedJudge, Differs, JudgeCheck
    from ragauge.scores.results.comparison import MetricChange, RunComparison
    from ragauge.scores.results.experiments import CauseTally, Confirmed, ExperimentOutcome
    from ragauge.scores.results.explanation import ExampleExplained
    from ragauge.scores.results.history_rows import HistoryRow
    from ragauge.scores.results.judge_usage import JudgeUse
    from ragauge.scores.results.scorecard import ExampleView, ScorecardData
    from ragauge.scores.results.summary import Summary
    from ragauge.stats.judge_error import JudgeMeanError
    from ragauge.stats.label_gap import LabelGap

CONFIDENCE_LEVEL = 0.95
SCHEMA_VERSION = 2


class SegmentSize(NamedTuple):
    """The examples of one value of a segment, and whether they are too few to be looked at alone."""

    n: int
    too_few: bool


def schema_version(_: object) -> int:
    """Of this JSON: it changes when a key changes its meaning or goes."""
    return SCHEMA_VERSION


def segment_sizes(card: ScorecardData) -> dict[str, dict[str, SegmentSize]]:
    """Column, value: its examples."""
    from ragauge.scores.segments import MIN_SEGMENT_EXAMPLES

    return {
        column: {value: SegmentSize(n, n < MIN_SEGMENT_EXAMPLES) for value, n in values.items()}
        for column, values in card.named.items()
    }


def judge_errors(card: ScorecardData) -> dict[str, JudgeMeanError]:
    """How far the judge's means lie from people's, by metric; of those that were computed."""
    errors = card.judge.errors
    return {summary.metric: errors[summary.metric] for summary in card.summaries if summary.metric in errors}


def calls(card: ScorecardData) -> int:
    """Calls that judging the run took, over all its evaluations."""
    return card.use.paid.calls if card.use is not None else 0


def cost(card: ScorecardData) -> float | None:
    """US dollars that they cost; null where a price is not known."""
    return card.use.paid.known_cost if card.use is not None else 0.0


def bounds(summary: Summary) -> tuple[float | None, float | None] | None:
    """Where the mean may lie, were the failed scores known."""
    return (summary.low, summary.high) if summary.failed else None


def hybrid(use: JudgeUse) -> JudgeUse | None:
    """What the two halves of a hybrid judge decided; None for any other."""
    return use if use.verdicts is not None else None


class LabelledError(NamedTuple):
    """How far a judge's mean lies from people's by labels of the user's own; difference = people less the judge."""

    labels: int = 0
    examples: int | None = None
    files: int | None = None
    checked: str | None = None
    people_mean: float | None = None
    judge_mean: float | None = None
    difference: float | None = None
    difference_ci: tuple[float, float] | None = None


def labelled(error: JudgeMeanError) -> LabelledError:
    """What labels of the user's own say of a judge's mean."""
    labels = error.labels
    if labels is None:
        return LabelledError()
    shift, interval = compute_shift(labels)
    return LabelledError(
        labels.labels, labels.examples, labels.files, error.checked, labels.people, labels.judge, shift, interval
    )


class FailedQuestion(NamedTuple):
    """A question that failed, and how."""

    query_id: str
    error: str


def such_as(counts: RunCounts) -> dict[str, FailedQuestion]:
    """Kind of failure: one that failed so."""
    return {kind: FailedQuestion(*question) for kind, question in counts.such_as.items()}


def tokens(counts: RunCounts) -> Mapping[str, float]:
    """Kind of token: how many, over the responses that recorded them."""
    return {} if counts.spending is None else counts.spending.tokens


def tested(confirmed: Confirmed) -> list[CauseTally]:
    """The causes with an experiment."""
    return [tally for tally in confirmed.causes if tally.made]


class GradedAnswer(NamedTuple):
    """An answer, how good it is, and what is wrong with it."""

    answer: str
    grade: str | None
    sign: str


def graded_before(outcome: ExperimentOutcome) -> GradedAnswer:
    """The answer that failed."""
    return _build_graded_answer(outcome.experiment.answer, *outcome.experiment.before)


def graded_after(outcome: ExperimentOutcome) -> GradedAnswer:
    """The answer from changed passages."""
    return _build_graded_answer(outcome.answer, *outcome.after)


def _build_graded_answer(answer: str, grade: int | None, sign: str) -> GradedAnswer:
    return GradedAnswer(answer, None if grade is None else ("wrong", "partly right", "right")[grade], sign)


def before_id(row: HistoryRow) -> str:
    """Id of the run before over the same set; empty for the first."""
    return "" if row.before is None else row.before.run_id


def comparison_sentence(comparison: RunComparison) -> str:
    """What changed, in a sentence."""
    from ragauge.comparison.tables.words import describe_comparison

    return describe_comparison(comparison)


def changes_by_segment(comparison: RunComparison) -> dict[str, dict[str, dict[str, MetricChange]]]:
    """Column, value, metric."""
    segments: dict[str, dict[str, dict[str, MetricChange]]] = {}
    for segment_change in comparison.segments:
        segments.setdefault(segment_change.column, {}).setdefault(segment_change.value, {})[
            segment_change.change.metric
        ] = segment_change.change
    return segments


def gate_summary(outcome: Gated) -> str:
    """The verdict with what decided it, one line a check."""
    from ragauge.gating.tables.texts import format_summary

    return format_summary(outcome)


class UnpairedSizes(NamedTuple):
    """Examples of both runs, which max_drop holds against each other as two samples, and what that means."""

    n: int
    n_baseline: int
    said: str


def unpaired(outcome: Gated) -> UnpairedSizes | None:
    """The sizes of both samples; None where examples are paired."""
    from ragauge.gating.tables.phrases import describe_unpaired

    return None if outcome.sizes is None else UnpairedSizes(*outcome.sizes, describe_unpaired(outcome))


class SmallSegment(NamedTuple):
    """A segment that is too small for a check of its own."""

    column: str
    value: str
    n: int


def too_few(outcome: Gated) -> list[SmallSegment]:
    """The segments that are too small for a check of their own."""
    return [SmallSegment(*segment) for segment in outcome.few]


class SegmentName(NamedTuple):
    """One value of a segment column."""

    column: str
    value: str


def segment(check: Check) -> SegmentName | None:
    """Where; null is the whole run."""
    return None if check.segment is None else SegmentName(*check.segment)


def gate_reason(check: Check) -> str:
    """Why the verdict is what it is, in a sentence."""
    from ragauge.gating.tables.texts import explain_verdict

    return explain_verdict(check)


def paired(check: Check) -> bool | None:
    """Whether max_drop compares example by example; null for other rules."""
    return None if not check.is_difference else not check.unpaired


def cause_of(explained: ExampleExplained | ExampleView) -> dict[str, Any] | None:
    """Why it failed; null where nothing shows that it did."""
    return None if explained.cause is None else _encode_stored(explained.cause, "name")


def example_of(view: ExampleView) -> dict[str, Any]:
    """The question and its labels."""
    return _encode_stored(view.example, "query_id", "query")


def response_of(view: ExampleView) -> dict[str, Any]:
    """What the system returned."""
    return _encode_stored(view.response, "query_id")


def evidence_of(view: ExampleView) -> dict[str, Any]:
    """Question: what the judge found."""
    return {question: _encode_stored(evidence) for question, evidence in view.evidence.items()}


def untold_of(view: ExampleView) -> dict[str, Sequence[str]]:
    """Part of the example: what is not known of it."""
    from ragauge.diagnosis.examples.tables import FACT_MEANINGS, list_unknown

    return {subject: list(sentences) for subject in FACT_MEANINGS if (sentences := list_unknown(view, subject))}


def _encode_stored(value: Any, *names: str) -> dict[str, Any]:
    """A stored value as it is stored, without defaults, but for the fields named."""
    from ragauge.core.identity import to_json_value

    fields: dict[str, Any] = {name: getattr(value, name) for name in names} | to_json_value(value)
    return fields


class JudgeWithErrors(NamedTuple):
    """A judge against people, with how far its means lie from theirs."""

    checked: CheckedJudge
    error: Mapping[str, JudgeMeanError]


def judges(check: JudgeCheck) -> list[JudgeWithErrors]:
    """In the order asked for."""
    return [
        JudgeWithErrors(
            judge,
            {
                name: error
                for name, error in check.errors.get(judge.answers.judge_id, {}).items()
                if error.labels is not None
            },
        )
        for judge in check.judges
    ]


def compute_shift(labels: LabelGap) -> tuple[float, tuple[float, float]]:
    """People's mean less the judge's by labels alone, and the ends of its 95 % interval."""
    gap = labels.at(labels.judge)
    return gap.shift, (
        max(-1.0, gap.shift - gap.reach(CONFIDENCE_LEVEL)),
        min(1.0, gap.shift + gap.reach(CONFIDENCE_LEVEL)),
    )


def format_judge_name(judge: CheckedJudge) -> str:
    """What a judge is called in the tables: its spec, and how it was asked.

    The mode stands for itself, since the same model in another one is another judge.
    """
    answers = judge.answers
    return make_safe(
        f"{answers.name} ({answers.mode})" if answers.mode and "mode=" not in answers.name else answers.name
    )


class NamedPair(NamedTuple):
    """Two judges against each other."""

    judge: str
    base: str
    agreement: Any
    accuracy_gain: Any


def judge_pairs(check: JudgeCheck) -> list[NamedPair]:
    """Every two judges."""
    names = [format_judge_name(judge) for judge in check.judges]
    return [NamedPair(names[pair.new], names[pair.base], pair.agreement, pair.gain) for pair in check.pairs]


def without_verdict(judge: JudgeWithErrors) -> int:
    """Parts without a verdict."""
    return sum(judge.checked.without.values())


def part_text(differs: Differs) -> str:
    """The part of the answer that is labelled."""
    return differs.row.answer[differs.part.start : differs.part.end]


def window_text(differs: Differs) -> str:
    """The text of the passage that decided; "" for none."""
    window = differs.verdict.window
    return "" if window is None else differs.row.passages[window.passage - 1][window.start : window.end]
