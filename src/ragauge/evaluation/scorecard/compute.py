"""The scorecard, put together from tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragauge.core.messages import as_sentence
from ragauge.core.response import Run
from ragauge.diagnosis.causes.attribution import find_row
from ragauge.diagnosis.findings.concentration import ANSWERABLE
from ragauge.diagnosis.findings.diagnosis_builder import SegmentView, component_of, diagnose
from ragauge.diagnosis.findings.findings import before_labels, with_lost_evidence, with_run_name
from ragauge.diagnosis.findings.patterns import PATTERNS
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import describe, parse, questions
from ragauge.scores.arrays import Columns, ResponseIndex, ScoreColumns, by_example
from ragauge.scores.failures import FailedResponses
from ragauge.scores.id_match import IdMatch
from ragauge.scores.indicators import Against
from ragauge.scores.judge_usage import lacking, origins
from ragauge.scores.known_items import SEGMENT, count_known_items, known_item_caution
from ragauge.scores.pass_status import KnownScores
from ragauge.scores.quality import Quality
from ragauge.scores.results.scorecard import ExampleView, Finding, JudgeNote, ScorecardData, Summary
from ragauge.scores.segments import BySegment, SegmentCells, Segments
from ragauge.scores.summarize import NO_ERRORS, summary
from ragauge.scores.verdicts import ResponseVerdicts
from ragauge.stats.judge_error import JudgeMeanError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEW = 30  # examples below which every interval is wide
MOST_FAILED = 0.02  # share of failed scores that a gate lets pass
MOST_UNCERTAIN = 0.25
MOST_LACKING = 0.20  # share of examples without an input from which it is worth a warning
# what to know of a run whose passages were handed to it
NOT_FOUND = (
    "as asked: metrics and causes of retrieval say nothing of the system's own. What is lost to retrieval stands in "
    "the report of the run on own retrieval."
)
HANDED = {
    "closed_book": f"Answered without passages, {NOT_FOUND}",
    "oracle": f"Answered from labelled passages, {NOT_FOUND}",
}
OF_ANSWERABLE = frozenset(name for pattern in PATTERNS if pattern.answerable for name in pattern.when)


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
        examples = None if responses is None else by_example(responses)
        for reader in readers:
            reader.read(metric, responses, examples)


class Tables:
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
        mine = segments.only(index.query_ids)
        shown = mine.tidy()
        self.summaries: tuple[Summary, ...] = ()
        self.quality, self.known = Quality(index), KnownScores(index)
        self.segments = _labelled(shown, mine)
        self.named = mine.named(shown.columns)
        self.known_items = _known_items(mine)
        self.level, self.errors = level, errors
        self._cells = SegmentCells(index.query_ids, shown, level, errors)
        self._kept = _not_unanswerable(index, mine)
        self._answerable: list[Summary] = []

    def read(self, metric: Metric, responses: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores."""
        error = self.errors.get(str(metric))
        self.summaries = (*self.summaries, summary(metric, examples, self.level, error))
        self.quality.read(metric, responses)
        self.known.read(metric, responses)
        self._cells.read(metric, examples)
        if self._kept is not None and str(metric) in OF_ANSWERABLE:
            kept = None if examples is None else examples.take(self._kept[examples.query].nonzero()[0])
            self._answerable.append(summary(metric, kept, self.level, error))

    @property
    def in_segments(self) -> BySegment:
        """Column -> value -> summaries, the worst value first."""
        return self._cells.found(self.summaries)

    @property
    def answerable(self) -> tuple[Summary, ...] | None:
        """What patterns look at, over the examples that are not labelled unanswerable; None where none is."""
        return None if self._kept is None else tuple(self._answerable)


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """What was evaluated.

    Attributes:
        run: whose responses.
        metrics: in the order asked.
        n: examples evaluated, an example of several repeats once.
        pending: examples not yet evaluated.
        warnings: of the caller; the scorecard's own come after them.
        took: facts of the evaluation.
    """

    run: Run
    metrics: Sequence[Metric]
    n: int
    pending: int = 0
    warnings: Sequence[str] = ()
    took: Mapping[str, Any] = field(default_factory=dict)


class ExampleOutcomes(NamedTuple):
    """The verdicts on all responses, and why the failed ones failed."""

    verdicts: ResponseVerdicts
    failed: FailedResponses


def build(
    evaluated: EvaluatedRun,
    judge_note: JudgeNote,
    tables: Tables,
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
    run, metrics, in_segments = evaluated.run, evaluated.metrics, tables.in_segments
    verdicts, failed = outcomes
    handed = HANDED.get(run.variant, "")
    matches = () if handed else matches  # whatever came was not found by the system
    of_examples = failed.by_example()
    counts, shown_by = Counter(of_examples.cause), Counter(of_examples.shown_by)
    diagnosed = [
        finding
        for finding in diagnose(
            tables.summaries,
            failed,
            evaluated.n,
            within=SegmentView(tables.segments, in_segments),
            judge_id=judge_note.judge_id,
            answerable=tables.answerable,
            against=against,
        )
        if not (handed and _of_retrieval(finding, of_examples))
    ]
    return ScorecardData(
        run,
        _with_error(judge_note, metrics),
        evaluated.n,
        evaluated.pending,
        tables.summaries,
        in_segments,
        findings=_findings(diagnosed, matches, failed, run, None if handed else against, judge_note.judge_id),
        causes=dict(counts.most_common()),
        failed_examples=verdicts.failed,
        worst=tuple(worst),
        warnings=(
            *([handed] if handed else []),
            *evaluated.warnings,
            *(() if handed else known_item_caution(tables.known_items, evaluated.n)),
            *warn(tables.summaries, judge_note, evaluated.n, matches),
        ),
        definitions={str(metric): describe(metric) for metric in metrics},
        level=tables.level,
        took=dict(evaluated.took),
        baseline=against.baseline if against is not None else None,
        unclear=verdicts.counts("unclear"),
        not_judged=verdicts.counts("not_judged"),
        rule_version=verdicts.rule_version,
        failed_by=dict(shown_by.most_common()),
        labels_alone=tables.known.labels_alone,
        named=tables.named,
    )


def _findings(
    diagnosed: Sequence[Finding],
    matches: Sequence[IdMatch],
    failed: FailedResponses,
    run: Run,
    against: Against | None,
    judge_id: str,
) -> tuple[Finding, ...]:
    """The diagnosis, with what stands before it: ids that do not meet, calls that failed, evidence that was lost."""
    of_examples = failed.by_example()
    findings = with_lost_evidence(with_run_name(diagnosed, failed, run.name), against, of_examples, judge_id)
    return before_labels(matches, of_examples, findings)


def _with_error(note: JudgeNote, metrics: Sequence[Metric]) -> JudgeNote:
    """The note with where the error comes from that intervals of this run include, and which metrics lack it."""
    if not note.judge_id:
        return note
    asked = [str(metric) for metric in metrics if questions([metric])]
    known, unknown = origins(note.errors, asked), lacking(note.errors, asked)
    limits = (*note.limits, unknown) if unknown else note.limits
    return replace(note, observed=f"{note.observed} {known}".strip(), limits=limits)


def _of_retrieval(finding: Finding, failed: FailedResponses) -> bool:
    """Whether it speaks of what was retrieved alone, which is no news of a run whose passages were handed to it."""
    row = find_row(finding.cause)
    if row is not None:
        return row.at(component_of(failed.of_cause(finding.cause))).component in ("retrieval", "data")
    return bool(finding.readings) and all(parse(reading.metric).measures == "retrieval" for reading in finding.readings)


def _labelled(shown: Segments, every: Segments) -> Segments:
    """The segments shown, with the labels of answerable even where too few differ to show them."""
    if ANSWERABLE not in every.columns:
        return shown
    others = {name: column for name, column in shown.columns.items() if name != ANSWERABLE}
    return Segments(shown.query_ids, {**others, ANSWERABLE: every.columns[ANSWERABLE]})


def _not_unanswerable(index: ResponseIndex, segments: Segments) -> npt.NDArray[np.bool_] | None:
    """Which examples are not labelled unanswerable; None where none is."""
    import numpy as np

    labels = segments.by_number(index.query_ids).get(ANSWERABLE)
    if labels is None:
        return None
    kept = np.array([value != "no" for value in labels.values], dtype=bool)[labels.codes]
    return None if kept.all() else kept


def _known_items(segments: Segments) -> int:
    column = segments.columns.get(SEGMENT)
    return 0 if column is None else count_known_items(column)


BLIND = 0.3  # label recall above judged recall by so much: the judge, not the retriever, misses evidence


def warn(summaries: Sequence[Summary], judge: JudgeNote, n: int, matches: Sequence[IdMatch] = ()) -> Iterator[str]:
    """What the reader must know before believing a number."""
    for match in matches:
        yield from match.warnings()
    if 0 < n < FEW:
        few = f"Only {n} example{'s' if n > 1 else ''}"
        yield f"{few}: every interval is wide, and small differences mean nothing. Aim for 100 or more."
    failed = [summary for summary in summaries if summary.failed > MOST_FAILED * summary.n and not summary.inapplicable]
    if failed:
        worst = max(failed, key=lambda summary: summary.failed / summary.n)
        why = f" Most often: {as_sentence(worst.failure)}" if worst.failure else ""
        bounds = f", so its mean lies between {worst.low:.2f} and {worst.high:.2f}" if _bounded(worst) else ""
        yield (
            f"More than {MOST_FAILED:.0%} of the examples failed on {', '.join(summary.metric for summary in failed)}: "
            f"{worst.metric} on {worst.failed} of {worst.n}{bounds}.{why}"
        )
    if judge.uncertain is not None and judge.uncertain > MOST_UNCERTAIN:
        yield (
            f"The judge is unsure about {judge.uncertain:.0%} of the claims: read scores built on them as a range. "
            "A model judge, or labels of your own, would sharpen them."
        )
    yield from _blind(summaries)
    yield from _lacking(summaries)


def _blind(summaries: Sequence[Summary]) -> Iterator[str]:
    """Where labels say that the evidence was handed on, and the judge does not find it."""
    labels = next(
        (summary for summary in summaries if summary.metric.partition("@")[0] == "recall" and summary.mean is not None),
        None,
    )
    judged = next(
        (summary for summary in summaries if summary.metric == "context_recall" and summary.mean is not None), None
    )
    if labels is None or judged is None or labels.mean is None or judged.mean is None:
        return
    if labels.mean - judged.mean >= BLIND and judged.scored >= labels.scored / 2:
        yield (
            f"The labelled documents were handed on ({labels.metric} {labels.mean:.2f}), but the judge finds only "
            f"{judged.mean:.2f} of the reference claims in them: it cannot read much of these passages. Do not go by "
            f"context_recall and faithfulness here before you have looked: ragauge judge check FILE, or a model judge."
        )


def _bounded(one: Summary) -> bool:
    return one.low is not None and one.high is not None and one.kind != "amount"


def _lacking(summaries: Sequence[Summary]) -> Iterator[str]:
    """Inputs that a good part of the examples lack, with the metrics that go without; most examples first."""
    without: dict[tuple[str, int, int], list[str]] = {}
    for reported in summaries:
        if reported.inapplicable:
            continue  # applies to no example: reports list it apart
        if reported.not_applicable > MOST_LACKING * reported.n:
            known = (why for why, count in reported.reasons.items() if count <= reported.not_applicable)
            reason = next(known, "an input is lacking")
            without.setdefault((reason, reported.not_applicable, reported.n), []).append(reported.metric)
    for (reason, count, n), metrics in sorted(without.items(), key=lambda item: -item[0][1]):
        yield f"{count} of {n} examples are left out of {', '.join(metrics)}: {reason}."
