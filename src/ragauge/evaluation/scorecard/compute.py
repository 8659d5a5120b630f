"""The scorecard, put together from tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragauge.core.messages import end_sentence
from ragauge.core.response import Run
from ragauge.diagnosis.causes.attribution import find_row
from ragauge.diagnosis.findings.cause_texts import ANSWERABLE_COLUMN
from ragauge.diagnosis.findings.diagnosis_builder import SegmentView, diagnose, find_main_component
from ragauge.diagnosis.findings.findings import fill_run_name, put_id_mismatch_first, put_lost_evidence_first
from ragauge.diagnosis.findings.pattern_matches import PATTERNS
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.scores.arrays import Columns, ResponseIndex, ScoreColumns, merge_repeats
from ragauge.scores.failures import FailedResponses
from ragauge.scores.id_match import IdMatch
from ragauge.scores.indicators import Against
from ragauge.scores.judge_usage import describe_lacking, describe_origins
from ragauge.scores.known_items import SEGMENT, count_known_items, warn_known_items
from ragauge.scores.pass_status import JudgedCoverage
from ragauge.scores.quality import QualityScores
from ragauge.scores.results.scorecard import ExampleView, Finding, JudgeNote, ScorecardData, Summary
from ragauge.scores.segments import BySegment, SegmentCells, Segments
from ragauge.scores.summarize import NO_ERRORS, summarize_metric
from ragauge.scores.verdicts import ResponseVerdicts
from ragauge.stats.judge_error import JudgeMeanError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEW_EXAMPLES = 30  # examples below which every interval is wide
MAX_FAILED_SHARE = 0.02  # share of failed scores that a gate lets pass
MAX_UNCERTAIN_SHARE = 0.25
MAX_LACKING_SHARE = 0.20  # share of examples without an input from which it is worth a warning
# what to know of a run whose passages were handed to it
NOT_RETRIEVED_NOTE = (
    "as requested: retrieval metrics and causes do not describe the system's own retrieval. For what retrieval "
    "loses, see the report of the run with own retrieval."
)
VARIANT_NOTES = {
    "closed_book": f"Answered without passages, {NOT_RETRIEVED_NOTE}",
    "oracle": f"Answered from labeled passages, {NOT_RETRIEVED_NOTE}",
}
ANSWERABLE_METRICS = frozenset(name for pattern in PATTERNS if pattern.answerable for name in pattern.when)


class MetricReader(Protocol):
    """Takes in the scores of one metric after another; a metric's scores are dropped when all readers have seen them.

    Whatever is computed from scores takes part in this one pass, since each metric is read from the store anew.
    """

    def read(self, metric: Metric, responses: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores: one entry a response, and one entry an example; None where it has none."""


def read_metrics(columns: ScoreColumns, metrics: Sequence[Metric], readers: Sequence[MetricReader]) -> None:
    """Shows the scores of every metric to every reader, one metric at a time."""
    for metric in metrics:
        responses = columns.column(str(metric))
        examples = None if responses is None else merge_repeats(responses)
        for reader in readers:
            reader.read(metric, responses, examples)


class ScorecardTables:
    """What a scorecard says about scores, made one metric at a time.

    Args:
        index: the responses.
        segments: not tidied; there may be pending examples among them.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        summaries: one a metric, over all examples.
        quality: of every response.
        segments: the segments shown, with the labels of answerable even where too few differ to show them.
        named: column -> value -> its examples, of every named value however small.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.
        known: of which examples it is known whether they failed.
        known_items: how many examples are queries drawn from documents.
    """

    def __init__(
        self,
        index: ResponseIndex,
        segments: Segments,
        level: float = 0.95,
        errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:
        run_segments = segments.select_examples(index.query_ids)
        tidy_segments = run_segments.tidy_columns()
        self.summaries: tuple[Summary, ...] = ()
        self.quality, self.known = QualityScores(index), JudgedCoverage(index)
        self.segments = _add_answerable(tidy_segments, run_segments)
        self.named = run_segments.named(tidy_segments.columns)
        self.known_items = _count_known_items(run_segments)
        self.level, self.errors = level, errors
        self._cells = SegmentCells(index.query_ids, tidy_segments, level, errors)
        self._kept = _find_answerable(index, run_segments)
        self._answerable: list[Summary] = []

    def read(self, metric: Metric, responses: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores."""
        error = self.errors.get(str(metric))
        self.summaries = (*self.summaries, summarize_metric(metric, examples, self.level, error))
        self.quality.read(metric, responses)
        self.known.read(metric, responses)
        self._cells.read(metric, examples)
        if self._kept is not None and str(metric) in ANSWERABLE_METRICS:
            answerable_examples = None if examples is None else examples.take(self._kept[examples.query].nonzero()[0])
            self._answerable.append(summarize_metric(metric, answerable_examples, self.level, error))

    @property
    def in_segments(self) -> BySegment:
        """Column -> value -> summaries, the worst value first."""
        return self._cells.found(self.summaries)

    @property
    def answerable_summaries(self) -> tuple[Summary, ...] | None:
        """What patterns look at, over the examples that are not labelled unanswerable; None where none is."""
        return None if self._kept is None else tuple(self._answerable)


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """What was evaluated."""

    run: Run  #: whose responses.
    metrics: Sequence[Metric]  #: in the order asked.
    n: int  #: examples evaluated, an example of several repeats once.
    pending: int = 0  #: examples not yet evaluated.
    warnings: Sequence[str] = ()  #: of the caller; the scorecard's own come after them.
    took: Mapping[str, Any] = field(default_factory=dict)  #: facts of the evaluation.


class ExampleOutcomes(NamedTuple):
    """The verdicts on all responses, and why the failed ones failed."""

    verdicts: ResponseVerdicts
    failed: FailedResponses


class DiagnosisInputs(NamedTuple):
    """What the diagnosis of a run is made from, whatever the run is compared with."""

    summaries: tuple[Summary, ...]  #: one a metric, over all examples.
    segments: Segments  #: the segments shown, with the labels of answerable.
    in_segments: BySegment  #: column -> value -> summaries.
    answerable: tuple[Summary, ...] | None  #: over the examples that are not labelled unanswerable; None: none is.
    matches: Sequence[IdMatch]  #: of labelled with retrieved ids, of documents and of chunks.


def build_scorecard(
    evaluated: EvaluatedRun,
    judge_note: JudgeNote,
    tables: ScorecardTables,
    outcomes: ExampleOutcomes,
    *,
    worst: Sequence[ExampleView] = (),
    matches: Sequence[IdMatch] = (),
    against: Against | None = None,
) -> ScorecardData:
    """The scorecard of a run.

    Args:
        evaluated: the run, what was asked of it, and what is left to do.
        judge_note: who judged.
        tables: after they have read every metric.
        outcomes: of the responses.
        worst: the examples to look at first; `pick_worst` says which.
        matches: of labelled with retrieved ids, of documents and of chunks.
        against: what the run is held against, after it has read every metric; None = starting points alone.
    """
    run, metrics = evaluated.run, evaluated.metrics
    verdicts, failed = outcomes
    inputs = DiagnosisInputs(
        tables.summaries, tables.segments, tables.in_segments, tables.answerable_summaries, matches
    )
    failed_examples = failed.by_example()
    return ScorecardData(
        run,
        _add_judge_error(judge_note, metrics),
        evaluated.n,
        evaluated.pending,
        tables.summaries,
        inputs.in_segments,
        findings=build_findings(run, evaluated.n, judge_note.judge_id, inputs, failed, against),
        causes=dict(Counter(failed_examples.cause).most_common()),
        failed_examples=verdicts.failed,
        worst=tuple(worst),
        warnings=(
            *list_run_warnings(evaluated),
            *(() if run.variant in VARIANT_NOTES else warn_known_items(tables.known_items, evaluated.n)),
            *list_warnings(tables.summaries, judge_note, evaluated.n, _select_matches(run, matches)),
        ),
        definitions={str(metric): get_definition(metric) for metric in metrics},
        level=tables.level,
        took=dict(evaluated.took),
        baseline=against.baseline if against is not None else None,
        unclear=verdicts.counts("unclear"),
        not_judged=verdicts.counts("not_judged"),
        rule_version=verdicts.rule_version,
        failed_by=dict(Counter(failed_examples.shown_by).most_common()),
        labels_alone=tables.known.is_label_only,
        named=tables.named,
    )


def list_run_warnings(evaluated: EvaluatedRun) -> list[str]:
    """The warnings that stand first: passages that were handed to the run, and those of the caller."""
    variant_note = VARIANT_NOTES.get(evaluated.run.variant, "")
    return [*([variant_note] if variant_note else []), *evaluated.warnings]


def _select_matches(run: Run, matches: Sequence[IdMatch]) -> Sequence[IdMatch]:
    """None where the passages were handed to the run: whatever came was not found by the system."""
    return () if run.variant in VARIANT_NOTES else matches


def build_findings(
    run: Run, n: int, judge_id: str, inputs: DiagnosisInputs, failed: FailedResponses, against: Against | None
) -> tuple[Finding, ...]:
    """The diagnosis, with what stands before it: ids that do not meet, calls that failed, evidence that was lost.

    Args:
        run: whose.
        n: examples evaluated.
        judge_id: who judged; "" when nothing was asked.
        inputs: what it is made from.
        failed: the failed responses.
        against: what the run is compared with; None = starting points alone.
    """
    is_given, failed_examples = run.variant in VARIANT_NOTES, failed.by_example()
    diagnosed = [
        finding
        for finding in diagnose(
            inputs.summaries,
            failed,
            n,
            within=SegmentView(inputs.segments, inputs.in_segments),
            judge_id=judge_id,
            answerable=inputs.answerable,
            against=against,
        )
        if not (is_given and _is_about_retrieval(finding, failed_examples))
    ]
    findings = put_lost_evidence_first(
        fill_run_name(diagnosed, failed, run.name), None if is_given else against, failed_examples, judge_id
    )
    return put_id_mismatch_first(_select_matches(run, inputs.matches), failed_examples, findings)


def _add_judge_error(note: JudgeNote, metrics: Sequence[Metric]) -> JudgeNote:
    """The note with where the error comes from that intervals of this run include, and which metrics lack it."""
    if not note.judge_id:
        return note
    judged_metrics = [str(metric) for metric in metrics if list_questions([metric])]
    error_origin, unknown_errors = (
        describe_origins(note.errors, judged_metrics),
        describe_lacking(note.errors, judged_metrics),
    )
    limits = (*note.limits, unknown_errors) if unknown_errors else note.limits
    return replace(note, observed=f"{note.observed} {error_origin}".strip(), limits=limits)


def _is_about_retrieval(finding: Finding, failed: FailedResponses) -> bool:
    """Whether it speaks of what was retrieved alone, which is no news of a run whose passages were handed to it."""
    row = find_row(finding.cause)
    if row is not None:
        return row.at(find_main_component(failed.select_cause(finding.cause))).component in ("retrieval", "data")
    return bool(finding.readings) and all(
        parse_metric(reading.metric).measures == "retrieval" for reading in finding.readings
    )


def _add_answerable(tidy_segments: Segments, run_segments: Segments) -> Segments:
    """The segments shown, with the labels of answerable even where too few differ to show them."""
    if ANSWERABLE_COLUMN not in run_segments.columns:
        return tidy_segments
    others = {name: column for name, column in tidy_segments.columns.items() if name != ANSWERABLE_COLUMN}
    return Segments(tidy_segments.query_ids, {**others, ANSWERABLE_COLUMN: run_segments.columns[ANSWERABLE_COLUMN]})


def _find_answerable(index: ResponseIndex, segments: Segments) -> npt.NDArray[np.bool_] | None:
    """Which examples are not labelled unanswerable; None where none is."""
    import numpy as np

    labels = segments.align_columns(index.query_ids).get(ANSWERABLE_COLUMN)
    if labels is None:
        return None
    is_answerable = np.array([value != "no" for value in labels.values], dtype=bool)[labels.codes]
    return None if is_answerable.all() else is_answerable


def _count_known_items(segments: Segments) -> int:
    column = segments.columns.get(SEGMENT)
    return 0 if column is None else count_known_items(column)


BLIND_DIFFERENCE = 0.3  # label recall above judged recall by so much: the judge, not the retriever, misses evidence


def list_warnings(
    summaries: Sequence[Summary], judge: JudgeNote, n: int, matches: Sequence[IdMatch] = ()
) -> Iterator[str]:
    """What the reader must know before believing a number."""
    for match in matches:
        yield from match.warnings()
    if 0 < n < FEW_EXAMPLES:
        count_text = f"Only {n} example{'s' if n > 1 else ''}"
        yield f"{count_text}: every interval is wide, and small differences mean nothing. Aim for 100 or more."
    failed = [
        summary
        for summary in summaries
        if summary.failed > MAX_FAILED_SHARE * summary.n and not summary.is_inapplicable
    ]
    if failed:
        worst = max(failed, key=lambda summary: summary.failed / summary.n)
        reason = f" Most common reason: {end_sentence(worst.failure)}" if worst.failure else ""
        bounds_text = f", so its mean lies between {worst.low:.2f} and {worst.high:.2f}" if _is_bounded(worst) else ""
        yield (
            f"More than {MAX_FAILED_SHARE:.0%} of the examples failed on "
            f"{', '.join(summary.metric for summary in failed)}: "
            f"{worst.metric} on {worst.failed} of {worst.n}{bounds_text}.{reason}"
        )
    if judge.uncertain is not None and judge.uncertain > MAX_UNCERTAIN_SHARE:
        yield (
            f"The judge is unsure about {judge.uncertain:.0%} of the claims: treat scores based on them as a range. "
            "A model judge or your own labels would make them more precise."
        )
    yield from _warn_blind_judge(summaries)
    yield from _warn_lacking_inputs(summaries)


def _warn_blind_judge(summaries: Sequence[Summary]) -> Iterator[str]:
    """Where labels say that the evidence was handed on, and the judge does not find it."""
    label_recall = next(
        (summary for summary in summaries if summary.metric.partition("@")[0] == "recall" and summary.mean is not None),
        None,
    )
    judged_recall = next(
        (summary for summary in summaries if summary.metric == "context_recall" and summary.mean is not None), None
    )
    if label_recall is None or judged_recall is None or label_recall.mean is None or judged_recall.mean is None:
        return
    if label_recall.mean - judged_recall.mean >= BLIND_DIFFERENCE and judged_recall.scored >= label_recall.scored / 2:
        yield (
            f"The generator received the labeled documents ({label_recall.metric} {label_recall.mean:.2f}), but the "
            f"judge finds only {judged_recall.mean:.2f} of the reference claims there, so it cannot read much of them. "
            "Do not rely on context_recall and faithfulness here: use a model judge, or check this one with "
            "ragauge judge check FILE."
        )


def _is_bounded(metric_summary: Summary) -> bool:
    return metric_summary.low is not None and metric_summary.high is not None and metric_summary.kind != "amount"


def _warn_lacking_inputs(summaries: Sequence[Summary]) -> Iterator[str]:
    """Inputs that a good part of the examples lack, with the metrics that go without; most examples first."""
    without: dict[tuple[str, int, int], list[str]] = {}
    for reported in summaries:
        if reported.is_inapplicable:
            continue  # applies to no example: reports list it apart
        if reported.not_applicable > MAX_LACKING_SHARE * reported.n:
            reasons = (
                reason_text for reason_text, count in reported.reasons.items() if count <= reported.not_applicable
            )
            reason = next(reasons, "an input is missing")
            without.setdefault((reason, reported.not_applicable, reported.n), []).append(reported.metric)
    for (reason, count, n), metrics in sorted(without.items(), key=lambda item: -item[0][1]):
        yield f"{count} of {n} examples are excluded from {', '.join(metrics)}: {reason}."
