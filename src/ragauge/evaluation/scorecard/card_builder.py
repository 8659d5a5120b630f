"""From what is stored to the scorecard, part by part.

Two passes read the store, and everything that a report says is computed in one of them: `run_gatherers` shows every
response with its example and evidence to all gatherers, `read_metrics` the scores of one metric after another to all
readers. Both keep numbers only, so that memory hardly grows with the number of examples. A comparison with a baseline
reads scores alone, once more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ragauge.comparison.baselines.baseline import RunPair
from ragauge.comparison.gaps.gap_queries import compute_card_gaps
from ragauge.comparison.history.verb import SetFamily, build_report_history, find_set_family
from ragauge.core.messages import format_count
from ragauge.core.response import Run
from ragauge.diagnosis.confirm.experiment_results import load_experiments
from ragauge.diagnosis.examples.example_filters import load_example_index
from ragauge.evaluation.scorecard.card_parts import ComparisonPart, HistoryPart, PartCache, SegmentsPart
from ragauge.evaluation.scorecard.completeness import find_complete
from ragauge.evaluation.scorecard.failed_share import compute_corrected_failures
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.scores.results.scorecard import ScorecardData as Card
from ragauge.scores.results.scorecard import Summary
from ragauge.verbs.columns import (
    StoredColumns,
    describe_cut_passages,
    iter_visits,
    list_card_metrics,
    load_causes,
    load_failures,
    load_questions,
    load_verdicts,
)
from ragauge.verbs.example_views import ScoreTables, load_example_view

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts
    from ragauge.evaluation.overview.response_list import OverviewGatherer
    from ragauge.evaluation.scorecard.completeness import CardScope
    from ragauge.evaluation.scorecard.compute import EvaluatedRun, ScorecardTables
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.gather import ClaimCounter
    from ragauge.scores.id_match import IdGatherer, IdMatch
    from ragauge.scores.judge_usage import JudgeUseGatherer
    from ragauge.scores.results.overview import Overview
    from ragauge.scores.values import MetricValues
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.cards import Part
    from ragauge.store.store_access import Store

MAX_WORST_EXAMPLES = 20
T = TypeVar("T")


class _GatheredData(NamedTuple):
    """What the two passes gathered."""

    matches: tuple[IdGatherer, ...]
    claims: ClaimCounter
    use: JudgeUseGatherer
    beyond: OverviewGatherer
    tables: ScorecardTables
    values: MetricValues


class CardBuilder:
    """Puts a scorecard together. Each part is read where it is kept, else computed; what nobody reads is not computed.

    Args:
        store: where the run is.
        run: whose responses.
        metrics: in the order of the report.
        judge_id: who judged; None = nobody.
        scope: which of them.
        baseline: the run to compare it with; None = none.
    """

    def __init__(
        self,
        store: Store,
        run: Run,
        metrics: Sequence[Metric],
        judge_id: str | None,
        scope: CardScope,
        baseline: Run | None,
    ) -> None:
        self._store, self._run, self._metrics, self._judge_id = store, run, metrics, judge_id
        self._scope, self._keep, self._baseline = scope, scope.keep, baseline
        self._names = tuple(str(metric) for metric in metrics)
        # before anything else is read: what is written meanwhile makes the parts stale
        cache = PartCache(store, run, judge_id, baseline, ("report", "segments", "history"))
        self._cache = cache if self._is_whole else None

    def build_card(self) -> Scorecard:
        """The scorecard.

        Raises:
            UsageError: the baseline was measured otherwise, or has no example in common.
        """
        pair = self._pair
        card = self._report
        family = find_set_family(self._store, self._run)
        if self._cache is not None:
            self._cache.set_versions(family.versions)
        history = self._get("history", HistoryPart, lambda: self._compute_history(family))
        card = replace(card, history=history.history, took=dict(self._scope.took))
        if pair is not None:
            comparison = self._get("comparison", ComparisonPart, lambda: self._compute_comparison(pair))
            card = comparison.add_to(card)
        tables = ScoreTables(self._store.url, self._run.run_id, self._judge_id, self._names, self._numbers[0])
        return Scorecard(card, tables, None if self._cache is None else self._cache.kept_as)

    def _get(self, part: Part, kind: type[T], compute: Callable[[], T]) -> T:
        return compute() if self._cache is None else self._cache.get_or_compute(part, kind, compute)

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the scorecard is that of all metrics and responses, which is what is kept."""
        store, run_id = self._store, self._run.run_id
        if self._keep or list(self._names) != list_card_metrics(store, run_id, self._judge_id):
            return False
        numbers, n_complete = self._numbers
        is_all = not self._scope.whole or numbers == store.scores.evaluated(run_id, self._judge_id, self._names)
        return is_all and self._count_pending() == store.runs.count_responses(run_id) - n_complete

    @cached_property
    def _numbers(self) -> tuple[array[int], int]:
        """Numbers of the responses to show, and how many responses have a score of every metric."""
        store, run, judge_id = self._store, self._run, self._judge_id
        complete = find_complete(store, run, judge_id, self._names)
        numbers = complete if self._scope.whole else store.scores.evaluated(run.run_id, judge_id, self._names)
        if self._keep:
            matching = set(store.runs.load_order(run.run_id, self._keep).numbers)
            complete, numbers = (array("q", (n for n in some if n in matching)) for some in (complete, numbers))
        return numbers, len(complete)

    def _count_pending(self) -> int:
        total = self._scope.total
        if total is None:
            total = self._store.runs.count_responses(self._run.run_id)
        return max(0, total - self._numbers[1])

    @cached_property
    def _index(self) -> ResponseIndex:
        return self._store.runs.index(self._run.run_id, self._numbers[0])

    @cached_property
    def _failed(self) -> FailedResponses:
        return load_failures(self._store, self._run.run_id, self._judge_id, self._index)

    @cached_property
    def _pair(self) -> RunPair | None:
        return self._open_pair(self._baseline) if self._baseline is not None else None

    def _open_pair(self, base: Run | None) -> RunPair:
        return RunPair(self._store, self._run, base, self._metrics, self._judge_id, self._index, self._keep)

    def _open_columns(self) -> StoredColumns:
        return StoredColumns(self._store, self._run.run_id, self._judge_id, self._index, ahead=self._names).labelled()

    @cached_property
    def _gathered(self) -> _GatheredData:
        """The two passes."""
        from ragauge.engine.judge_error import find_judge_errors
        from ragauge.engine.judges import find_uncertain_band
        from ragauge.evaluation.overview.response_list import OverviewGatherer
        from ragauge.evaluation.scorecard.compute import ScorecardTables, read_metrics
        from ragauge.scores.gather import ClaimCounter, run_gatherers
        from ragauge.scores.id_match import IdGatherer
        from ragauge.scores.judge_usage import JudgeUseGatherer
        from ragauge.scores.segments import SegmentCollector
        from ragauge.scores.values import MetricValues

        store, judge_id, index = self._store, self._judge_id, self._index
        segments, claims = SegmentCollector(), ClaimCounter(find_uncertain_band(judge_id))
        matches = (IdGatherer("document"), IdGatherer("chunk"))
        use = JudgeUseGatherer(hybrid=(judge_id or "").startswith("hybrid:"))
        beyond, values = OverviewGatherer(), MetricValues(index)
        run_gatherers(iter_visits(store, judge_id, index), (segments, *matches, claims, use, beyond))
        errors = find_judge_errors(judge_id, store, (self._run.run_id,))
        tables = ScorecardTables(index, segments.segments(index.query_ids), errors=errors)
        read_metrics(self._open_columns(), self._metrics, (tables, values, *self._alone.readers))
        return _GatheredData(matches, claims, use, beyond, tables, values)

    @cached_property
    def _alone(self) -> RunPair:
        """The run without a baseline; beside a run on oracle passages, where there is one."""
        return self._open_pair(None)

    @cached_property
    def _evaluated(self) -> EvaluatedRun:
        from ragauge.evaluation.scorecard.compute import EvaluatedRun

        warnings = _list_warnings(self._store, self._run)
        return EvaluatedRun(self._run, self._metrics, len(self._index.query_ids), self._count_pending(), warnings)

    @cached_property
    def _matches(self) -> tuple[IdMatch, ...]:
        return tuple(match.found() for match in self._gathered.matches)

    @cached_property
    def _report(self) -> Card:
        """What the run says alone."""
        return self._get("report", Card, self._compute_report)

    def _compute_report(self) -> Card:
        from ragauge.diagnosis.findings.cause_texts import advise_labels
        from ragauge.evaluation.runs.costs import build_judge_use, load_judge_note
        from ragauge.evaluation.scorecard.compute import ExampleOutcomes, build_scorecard
        from ragauge.scores.judge_usage import find_commonest_reason
        from ragauge.scores.quality import pick_worst

        store, run, judge_id, index = self._store, self._run, self._judge_id, self._index
        gathered, failed = self._gathered, self._failed
        worst = pick_worst(failed, gathered.tables.quality.values(), MAX_WORST_EXAMPLES)
        use = build_judge_use(store, run, judge_id, gathered.use, self._metrics, index)
        verdicts = gathered.tables.known.verdicts(load_verdicts(store, run.run_id, judge_id, index), failed, judge_id)
        built = build_scorecard(
            self._evaluated,
            load_judge_note(store, run, judge_id, gathered.claims.claims, use, gathered.tables.errors),
            gathered.tables,
            ExampleOutcomes(verdicts, failed),
            worst=[
                load_example_view(store, run.run_id, *entry, judge_id, verdicts.find_verdict(*entry)) for entry in worst
            ],
            matches=self._matches,
            against=self._alone.against(),
        )
        if not self._keep:
            _save_summaries(store, run, judge_id, built.summaries, verdicts.count())
        if self._cache is not None:
            self._get("segments", SegmentsPart, self._build_segments_part)
            load_example_index(store, run.run_id, judge_id)  # so that the first list of its examples opens at once
        return replace(
            built,
            use=use if use is None or not use.lacking else replace(use, reason=find_commonest_reason(built.summaries)),
            gaps=compute_card_gaps(store, run, judge_id, self._metrics, self._keep),
            # the frame holds every text, so it is read where there are experiments
            confirmed=load_experiments(store, run, judge_id, load_causes(store, run.run_id, judge_id, index))
            if store.runs.list_confirming(run.run_id)
            else None,
            overview=self._build_overview(verdicts, built),
            label_first="" if store.draws.list_for_run(run.run_id) else advise_labels(built),
            failed_share=compute_corrected_failures(store, run.run_id, judge_id, verdicts),
        )

    def _build_overview(self, verdicts: ResponseVerdicts, card: Card) -> Overview:
        """What was gathered beyond means; the questions of listed responses that were not kept are read again."""
        from ragauge.evaluation.overview.response_list import choose_responses

        gathered, failed = self._gathered, self._failed
        selected = choose_responses(verdicts, failed, gathered.tables.quality.values())
        absent = [response.place for response in selected if response.place not in gathered.beyond.questions]
        questions = load_questions(self._store, self._index, absent)
        return gathered.beyond.overview(
            gathered.values, selected, questions, failed, gathered.tables.segments, card.segments, card.level
        )

    def _build_segments_part(self) -> SegmentsPart:
        from ragauge.evaluation.scorecard.compute import list_run_warnings

        tables, n_run_warnings = self._gathered.tables, len(list_run_warnings(self._evaluated))
        segments = tables.segments.columns.items()
        columns = {name: (column.values, tuple(column.codes.tolist())) for name, column in segments}
        return SegmentsPart(columns, self._matches, tables.answerable_summaries, n_run_warnings)

    def _compute_history(self, family: SetFamily) -> HistoryPart:
        return HistoryPart(build_report_history(self._store, self._run, self._judge_id, family))

    def _compute_comparison(self, pair: RunPair) -> ComparisonPart:
        """The run beside its baseline; of the run itself, scores are read again, and what the report knows is not."""
        from ragauge.diagnosis.findings.cause_texts import advise_labels
        from ragauge.evaluation.scorecard.compute import DiagnosisInputs, build_findings, read_metrics

        report, run = self._report, self._run
        kept = self._get("segments", SegmentsPart, self._build_segments_part)
        segments = kept.build_segments(self._index.query_ids)
        pair.set_segments(segments.to_frame())
        read_metrics(self._open_columns(), self._metrics, pair.readers)
        against = pair.against()
        inputs = DiagnosisInputs(report.summaries, segments, report.segments, kept.answerable, kept.matches)
        findings = build_findings(run, report.n, report.judge.judge_id, inputs, self._failed, against)
        n = kept.n_run_warnings
        compared = replace(report, baseline=against.baseline, findings=findings)
        return ComparisonPart(
            against.baseline,
            findings,
            (*report.warnings[:n], *pair.warnings, *report.warnings[n:]),
            "" if self._store.draws.list_for_run(run.run_id) else advise_labels(compared),
        )


def _save_summaries(
    store: Store, run: Run, judge_id: str | None, summaries: Sequence[Summary], counts: VerdictCounts
) -> None:
    """Keeps the summaries beside those of metrics that were computed before; all of them stand in the new order."""
    stored = {summary.metric: summary for summary in store.summaries.read(run.run_id, judge_id)}
    new = {summary.metric: summary for summary in summaries}
    merged = new if stored.keys() <= new.keys() else stored | new
    store.summaries.write(run.run_id, judge_id, list(merged.values()), counts=counts)


def _list_warnings(store: Store, run: Run) -> list[str]:
    from ragauge.core.label import UNKNOWN_KIND_NOTE, UNSUPPORTED_KIND_METRICS
    from ragauge.diagnosis.findings.cause_texts import build_draw_command
    from ragauge.engine.people import load_people_scores
    from ragauge.scores.estimation import MIN_LABELS

    absent, warnings = store.runs.count_absent(run.run_id), []
    for people in load_people_scores(store, run.run_id):
        if people.unclear:
            kinds = " and ".join(name for name in UNSUPPORTED_KIND_METRICS if name in people.values)
            left_out = (
                f"left out of {kinds}" if kinds else "neither is corrected. Import fixed labels with a later `at`"
            )
            total = format_count(len(people.labelled), "labeled answer")
            warnings.append(f"{len(people.unclear):,} of {total} say {UNKNOWN_KIND_NOTE}: {left_out}.")
        if len(people.labelled) >= MIN_LABELS:
            continue
        total = format_count(people.drawn, "drawn answer")
        size, lack = store.runs.count_responses(run.run_id), MIN_LABELS - people.drawn
        more = f" Draw more first: {build_draw_command(run.name, lack, people.question)}" if lack > 0 else ""
        if size < MIN_LABELS:
            more = f" The run has only {size:,}: its labels decide verdicts."
        warnings.append(
            f"{len(people.labelled):,} of {total} have a human label; with at least {MIN_LABELS}, labels correct the "
            f"means.{more}"
        )
    if cut := describe_cut_passages(store, run.run_id):
        warnings.append(cut)
    if absent:
        warnings.append(
            f"{format_count(absent, 'example has', 'examples have')} no response in the run: counted as no retrieval."
        )
    if run.state != "finished" and run.done < run.planned:
        warnings.append(f"The run is not complete: {run.done:,} of {run.planned:,} responses, a random sample of them.")
    return warnings
