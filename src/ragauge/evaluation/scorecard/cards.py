"""From what is stored to the scorecard.

Two passes read the store, and everything that a scorecard says is computed in one of them: `gather` shows every
response with its example and evidence to all gatherers, `read_metrics` the scores of one metric after another to all
readers. Both keep numbers only, so that memory hardly grows with the number of examples.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.comparison.baselines.baseline import RunPair
from ragauge.comparison.gaps.gap_queries import compute_card_gaps
from ragauge.comparison.history.verb import SetFamily, build_report_history, find_set_family
from ragauge.core.errors import UsageError
from ragauge.core.messages import format_command, format_count
from ragauge.core.response import Run
from ragauge.diagnosis.confirm.experiment_results import load_experiments
from ragauge.evaluation.runs.costs import describe_all_failed
from ragauge.evaluation.scorecard.card_cache import CardCache, read_cached_card
from ragauge.evaluation.scorecard.completeness import find_complete
from ragauge.evaluation.scorecard.failed_share import compute_corrected_failures
from ragauge.evaluation.scorecard.result import Scorecard
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
from ragauge.verbs.judge_lookup import resolve_judge_id

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts
    from ragauge.evaluation.overview.response_list import OverviewGatherer
    from ragauge.evaluation.scorecard.compute import ScorecardTables
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.gather import ClaimCounter
    from ragauge.scores.id_match import IdGatherer
    from ragauge.scores.judge_usage import JudgeUseGatherer
    from ragauge.scores.results.judge_usage import JudgeUse
    from ragauge.scores.results.overview import Overview
    from ragauge.scores.results.scorecard import ScorecardData as Card
    from ragauge.scores.values import MetricValues
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

MAX_WORST_EXAMPLES = 20


def load_card(store: Store, run: Run, judge: str | None, baseline: Run | None = None) -> Scorecard:
    """The scorecard of everything that was computed for a run by one judge.

    Raises:
        UsageError: the run has not been evaluated, or its baseline otherwise.
        UnknownName: no judge of this run has such an id.
    """
    from ragauge.metrics.catalogue import parse_metric

    if (cached := read_cached_card(store, run, resolve_judge(store, run, judge), baseline)) is not None:
        return cached
    judge_id = resolve_scored_judge(store, run, judge)
    metrics = [parse_metric(name) for name in list_card_metrics(store, run.run_id, judge_id)]
    return build_card(store, run, metrics, judge_id, baseline=baseline)


def resolve_scored_judge(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that is meant by its spec, its id or how that begins, or the last one; None = nobody judged.

    Raises:
        UnknownName: no judge of this run has such an id.
        UsageError: the run has not been evaluated.
    """
    judge_id = resolve_judge(store, run, judge)
    if not store.scores.has_any(run.run_id, judge_id):
        if problem := describe_all_failed(store, run):
            raise UsageError(f"run {run.name} has not been evaluated, and there is nothing to evaluate: {problem}")
        if under_way := describe_progress(store, run):
            raise UsageError(f"run {run.name} has no scores yet: {under_way}")
        if run.state != "finished" and run.done < run.planned:
            raise UsageError(
                f"run {run.name} has not been evaluated: {run.done:,} of {run.planned:,} questions are answered. "
                "Run the same `ragauge run` command to ask the remaining questions; then: "
                + format_command("evaluate", store.runs.word(run))
            )
        how = format_command("evaluate", store.runs.word(run))
        raise UsageError(f"run {run.name} has not been evaluated. Evaluate it with: {how}")
    return judge_id


def describe_progress(store: Store, run: Run) -> str:
    """How far a run is whose questions are asked, or that is evaluated, at this moment; "" where nothing is under way.

    As long as something is, nobody is advised to evaluate: it happens, or the answers are not there yet.
    """
    from ragauge.store.run_list import compute_stale_time

    if run.state == "running" and run.heartbeat >= compute_stale_time():
        return f"it is in flight, with {run.done:,} of {run.planned:,} questions answered. Wait until it has finished."
    moved = store.evaluations.read(run.run_id)
    if moved is None or moved.done >= moved.planned or moved.heartbeat < compute_stale_time():
        return ""
    return f"it is being evaluated, {moved.done:,} of {moved.planned:,} responses so far. Wait until it has finished."


def build_measure_command(store: Store, run: Run, metric: str) -> str:
    """The command that measures a metric on a run."""
    from ragauge.metrics.catalogue import format_typed_name, parse_metric
    from ragauge.metrics.own_class import ColumnMetric

    parsed = parse_metric(metric)
    if isinstance(parsed, ColumnMetric):
        return format_command("evaluate", "FILE", "--scores", parsed.declared.more["column"])
    return format_command("evaluate", store.runs.word(run), "-m", format_typed_name(parsed))


def build_unmeasured_error(store: Store, run: Run, metric: str, judge_id: str | None) -> UsageError:
    """That a run has no scores of a metric by this judge, with the command that measures it."""
    judge = f" by {judge_id}" if judge_id else ""
    if under_way := describe_progress(store, run):
        return UsageError(f"{metric} has no scores in {run.name}{judge} yet: {under_way}")
    again = build_measure_command(store, run, metric)
    return UsageError(f"{metric} was not measured in {run.name}{judge}. Measure it with: {again}")


def resolve_judge(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that is meant by its spec, its id or how that begins, or the last one; None = nobody judged.

    Raises:
        UnknownName: no judge of this run is meant.
        UsageError: several may be meant.
    """
    judges = store.scores.judges(run.run_id)
    if judge is None:
        return judges[0] if judges else None
    nobody = f"It has not been judged. Judge it with: {format_command('evaluate', run.name, '--judge', str(judge))}"
    return resolve_judge_id(store, judge, judges, "this run", nobody)


@dataclass(frozen=True, slots=True)
class CardScope:
    """Which responses of a run a scorecard is over."""

    #: segment column or "tag" -> value; only examples that match.
    keep: Mapping[str, str] = field(default_factory=dict)
    total: int | None = None  #: responses asked for; None = all of the run.
    whole: bool = False  #: only responses that have a score of every metric, so that all means are over the same ones.
    took: Mapping[str, Any] = field(default_factory=dict)  #: facts of their evaluation, shown as they are.


def build_card(
    store: Store,
    run: Run,
    metrics: Sequence[Metric],
    judge_id: str | None,
    scope: CardScope = CardScope(),
    baseline: Run | None = None,
) -> Scorecard:
    """The scorecard of some metrics.

    Args:
        store: where the run is.
        run: whose responses.
        metrics: in the order of the report.
        judge_id: who judged; None = nobody.
        scope: which of them.
        baseline: the run to hold it against.
    """
    from ragauge.diagnosis.findings.cause_texts import advise_labels
    from ragauge.evaluation.runs.costs import build_judge_use, load_judge_note
    from ragauge.evaluation.scorecard.compute import EvaluatedRun, ExampleOutcomes, build_scorecard
    from ragauge.scores.quality import pick_worst

    keep, family = scope.keep, find_set_family(store, run)
    keeper = CardCache(store, run, judge_id, baseline, family)
    numbers, n_scored = _select_numbers(store, run, metrics, judge_id, keep, whole=scope.whole)
    shown_scores = ScoreTables(store.url, run.run_id, judge_id, tuple(str(metric) for metric in metrics), numbers)
    index = store.runs.index(run.run_id, numbers)
    run_pair = RunPair(store, run, baseline, metrics, judge_id, index, keep)
    gathered = _gather_data(store, run, judge_id, metrics, index, run_pair)
    failed = load_failures(store, run.run_id, judge_id, index)
    worst = pick_worst(failed, gathered.tables.quality.values(), MAX_WORST_EXAMPLES)
    use = build_judge_use(store, run, judge_id, gathered.use, metrics, index)
    total = store.runs.count_responses(run.run_id) if scope.total is None else scope.total
    warnings = (*_list_warnings(store, run), *run_pair.warnings)
    evaluated = EvaluatedRun(run, metrics, len(index.query_ids), max(0, total - n_scored), warnings, scope.took)
    verdicts = gathered.tables.known.verdicts(load_verdicts(store, run.run_id, judge_id, index), failed, judge_id)
    built = build_scorecard(
        evaluated,
        load_judge_note(store, run, judge_id, gathered.claims.claims, use, gathered.tables.errors),
        gathered.tables,
        ExampleOutcomes(verdicts, failed),
        worst=[
            load_example_view(store, run.run_id, *entry, judge_id, verdicts.find_verdict(*entry)) for entry in worst
        ],
        matches=[entry.found() for entry in gathered.matches],
        against=run_pair.against(),
    )
    if not keep:
        _save_summaries(store, run, judge_id, built.summaries, verdicts.count())
    explained = replace(built, use=_add_reason(use, built))
    with_runs = _add_other_runs(store, explained, judge_id, (metrics, index, keep), family)
    labels = "" if store.draws.list_for_run(run.run_id) else advise_labels(built)
    card = replace(with_runs, overview=_build_overview(store, gathered, verdicts, failed, built), label_first=labels)
    card = replace(card, failed_share=compute_corrected_failures(store, run.run_id, judge_id, verdicts))
    if not keep:
        keeper.save_card(card, numbers)
    return Scorecard(card, shown_scores)


def _add_reason(use: JudgeUse | None, card: Card) -> JudgeUse | None:
    """What was asked of the judge, with the commonest reason why verdicts are missing."""
    from ragauge.scores.judge_usage import find_commonest_reason

    return use if use is None or not use.lacking else replace(use, reason=find_commonest_reason(card.summaries))


def _add_other_runs(
    store: Store,
    card: Card,
    judge_id: str | None,
    scope: tuple[Sequence[Metric], ResponseIndex, Mapping[str, str]],
    family: SetFamily,
) -> Card:
    """The card with what other runs say: those before it, those on other passages, and experiments."""
    metrics, index, keep = scope
    has_experiments = bool(store.runs.list_confirming(card.run.run_id))
    return replace(
        card,
        history=build_report_history(store, card.run, judge_id, family),
        gaps=compute_card_gaps(store, card.run, judge_id, metrics, keep),
        # the frame holds every text, so it is read where there are experiments
        confirmed=load_experiments(store, card.run, judge_id, load_causes(store, card.run.run_id, judge_id, index))
        if has_experiments
        else None,
    )


class _GatheredData(NamedTuple):
    """What the two passes gathered."""

    matches: tuple[IdGatherer, ...]
    claims: ClaimCounter
    use: JudgeUseGatherer
    beyond: OverviewGatherer
    tables: ScorecardTables
    values: MetricValues


def _gather_data(
    store: Store, run: Run, judge_id: str | None, metrics: Sequence[Metric], index: ResponseIndex, run_pair: RunPair
) -> _GatheredData:
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

    segments, claims = SegmentCollector(), ClaimCounter(find_uncertain_band(judge_id))
    matches = (IdGatherer("document"), IdGatherer("chunk"))
    use = JudgeUseGatherer(hybrid=(judge_id or "").startswith("hybrid:"))
    beyond, values = OverviewGatherer(), MetricValues(index)
    run_gatherers(iter_visits(store, judge_id, index), (segments, *matches, claims, use, beyond))
    tables = ScorecardTables(
        index, segments.segments(index.query_ids), errors=find_judge_errors(judge_id, store, (run.run_id,))
    )
    if run_pair.readers:
        run_pair.set_segments(tables.segments.to_frame())
    names = [str(metric) for metric in metrics]
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names).labelled()
    read_metrics(columns, metrics, (tables, values, *run_pair.readers))
    return _GatheredData(matches, claims, use, beyond, tables, values)


def _build_overview(
    store: Store, gathered: _GatheredData, verdicts: ResponseVerdicts, failed: FailedResponses, card: Card
) -> Overview:
    """What was gathered beyond means; the questions of listed responses that were not kept are read again."""
    from ragauge.evaluation.overview.response_list import choose_responses

    index, tables = gathered.values.index, gathered.tables
    selected = choose_responses(verdicts, failed, tables.quality.values())
    absent = [response.place for response in selected if response.place not in gathered.beyond.questions]
    questions = load_questions(store, index, absent)
    return gathered.beyond.overview(
        gathered.values, selected, questions, failed, tables.segments, card.segments, card.level
    )


def _select_numbers(
    store: Store, run: Run, metrics: Sequence[Metric], judge_id: str | None, keep: Mapping[str, str], *, whole: bool
) -> tuple[array[int], int]:
    """Numbers of the responses to show, and how many responses have a score of every metric."""
    names = [str(metric) for metric in metrics]
    complete = find_complete(store, run, judge_id, names)
    numbers = complete if whole else store.scores.evaluated(run.run_id, judge_id, names)
    if keep:
        matching = set(store.runs.load_order(run.run_id, keep).numbers)
        complete, numbers = (array("q", (n for n in candidates if n in matching)) for candidates in (complete, numbers))
    return numbers, len(complete)


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
