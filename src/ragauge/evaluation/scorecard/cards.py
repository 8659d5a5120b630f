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
from ragauge.comparison.gaps.gap_queries import gaps_beside
from ragauge.comparison.history.verb import SetFamily, family_of, history_until
from ragauge.core.errors import UsageError
from ragauge.core.messages import command, plural
from ragauge.core.response import Run
from ragauge.diagnosis.confirm.experiment_results import confirmed_of
from ragauge.evaluation.runs.costs import broken
from ragauge.evaluation.scorecard.card_cache import CardKeeper, kept_card
from ragauge.evaluation.scorecard.completeness import complete_numbers
from ragauge.evaluation.scorecard.failed_share import corrected_failures
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.scores.results.scorecard import Summary
from ragauge.verbs.columns import (
    StoredColumns,
    causes_of,
    failed_of,
    passages_cut,
    questions_at,
    stored_verdicts,
    visits,
)
from ragauge.verbs.example_views import ShownScores, view_of
from ragauge.verbs.judge_lookup import judge_named
from ragauge.verbs.summary_refresh import card_metrics

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts
    from ragauge.evaluation.overview.response_list import OverviewGatherer
    from ragauge.evaluation.scorecard.compute import Tables
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.gather import ClaimsSeen
    from ragauge.scores.id_match import IdGatherer
    from ragauge.scores.judge_usage import UseGatherer
    from ragauge.scores.results.judge_usage import JudgeUse
    from ragauge.scores.results.overview import Overview
    from ragauge.scores.results.scorecard import ScorecardData as Card
    from ragauge.scores.values import Values
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

MOST_WORST = 20


def stored_card(store: Store, run: Run, judge: str | None, baseline: Run | None = None) -> Scorecard:
    """The scorecard of everything that was computed for a run by one judge.

    Raises:
        UsageError: the run has not been evaluated, or its baseline otherwise.
        UnknownName: no judge of this run has such an id.
    """
    from ragauge.metrics.catalogue import parse

    if (kept := kept_card(store, run, asked_for(store, run, judge), baseline)) is not None:
        return kept
    judge_id = judged(store, run, judge)
    metrics = [parse(name) for name in card_metrics(store, run.run_id, judge_id)]
    return card_of(store, run, metrics, judge_id, baseline=baseline)


def judged(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that is meant by its spec, its id or how that begins, or the last one; None = nobody judged.

    Raises:
        UnknownName: no judge of this run has such an id.
        UsageError: the run has not been evaluated.
    """
    judge_id = asked_for(store, run, judge)
    if not store.scores.any(run.run_id, judge_id):
        if said := broken(store, run):
            raise UsageError(f"run {run.name} has not been evaluated, and there is nothing to evaluate: {said}")
        if under_way := in_flight(store, run):
            raise UsageError(f"run {run.name} has no scores yet: {under_way}")
        if run.state != "finished" and run.done < run.planned:
            raise UsageError(
                f"run {run.name} has not been evaluated: {run.done:,} of {run.planned:,} questions are answered. "
                "Nothing asks the others now: give its `ragauge run` once more, which asks the rest alone; then: "
                + command("evaluate", store.runs.word(run))
            )
        how = command("evaluate", store.runs.word(run))
        raise UsageError(f"run {run.name} has not been evaluated. Do it with: {how}")
    return judge_id


def in_flight(store: Store, run: Run) -> str:
    """How far a run is whose questions are asked, or that is evaluated, at this moment; "" where nothing is under way.

    As long as something is, nobody is advised to evaluate: it happens, or the answers are not there yet.
    """
    from ragauge.store.run_list import still_since

    if run.state == "running" and run.heartbeat >= still_since():
        return f"it is in flight, {run.done:,} of {run.planned:,} questions are answered. Wait until all are."
    moved = store.evaluations.read(run.run_id)
    if moved is None or moved.done >= moved.planned or moved.heartbeat < still_since():
        return ""
    return f"it is being evaluated, {moved.done:,} of {moved.planned:,} responses so far. Wait until all are."


def measure_command(store: Store, run: Run, metric: str) -> str:
    """The command that measures a metric on a run."""
    from ragauge.metrics.catalogue import parse, typed_name
    from ragauge.metrics.own_class import ColumnMetric

    parsed = parse(metric)
    if isinstance(parsed, ColumnMetric):
        return command("evaluate", "FILE", "--scores", parsed.declared.more["column"])
    return command("evaluate", store.runs.word(run), "-m", typed_name(parsed))


def unmeasured(store: Store, run: Run, metric: str, judge_id: str | None) -> UsageError:
    """That a run has no scores of a metric by this judge, with the command that measures it."""
    judge = f" by {judge_id}" if judge_id else ""
    if under_way := in_flight(store, run):
        return UsageError(f"{metric} has no scores in {run.name}{judge} yet: {under_way}")
    again = measure_command(store, run, metric)
    return UsageError(f"{metric} was not measured in {run.name}{judge}. Measure it with: {again}")


def asked_for(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that is meant by its spec, its id or how that begins, or the last one; None = nobody judged.

    Raises:
        UnknownName: no judge of this run is meant.
        UsageError: several may be meant.
    """
    judges = store.scores.judges(run.run_id)
    if judge is None:
        return judges[0] if judges else None
    nobody = f"Nobody judged it. Do it with: {command('evaluate', run.name, '--judge', str(judge))}"
    return judge_named(store, judge, judges, "this run", nobody)


@dataclass(frozen=True, slots=True)
class CardScope:
    """Which responses of a run a scorecard is over.

    Attributes:
        keep: segment column or "tag" -> value; only examples that match.
        total: responses asked for; None = all of the run.
        whole: only responses that have a score of every metric, so that all means are over the same ones.
        took: facts of their evaluation, shown as they are.
    """

    keep: Mapping[str, str] = field(default_factory=dict)
    total: int | None = None
    whole: bool = False
    took: Mapping[str, Any] = field(default_factory=dict)


def card_of(
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
    from ragauge.diagnosis.findings.label_advice import advise_labels
    from ragauge.evaluation.runs.costs import note, use_of
    from ragauge.evaluation.scorecard.compute import EvaluatedRun, ExampleOutcomes, build
    from ragauge.scores.quality import pick_worst

    keep, family = scope.keep, family_of(store, run)
    keeper = CardKeeper(store, run, judge_id, baseline, family)
    numbers, done = _evaluated(store, run, metrics, judge_id, keep, whole=scope.whole)
    shown = ShownScores(store.url, run.run_id, judge_id, tuple(str(metric) for metric in metrics), numbers)
    index = store.runs.index(run.run_id, numbers)
    held = RunPair(store, run, baseline, metrics, judge_id, index, keep)
    found = _read(store, run, judge_id, metrics, index, held)
    failed = failed_of(store, run.run_id, judge_id, index)
    worst = pick_worst(failed, found.tables.quality.values(), MOST_WORST)
    use = use_of(store, run, judge_id, found.use, metrics, index)
    total = store.runs.size(run.run_id) if scope.total is None else scope.total
    warnings = (*_warnings(store, run), *held.warnings)
    evaluated = EvaluatedRun(run, metrics, len(index.query_ids), max(0, total - done), warnings, scope.took)
    verdicts = found.tables.known.verdicts(stored_verdicts(store, run.run_id, judge_id, index), failed, judge_id)
    built = build(
        evaluated,
        note(store, run, judge_id, found.claims.claims, use, found.tables.errors),
        found.tables,
        ExampleOutcomes(verdicts, failed),
        worst=[view_of(store, run.run_id, *one, judge_id, verdicts.of_response(*one)) for one in worst],
        matches=[one.found() for one in found.matches],
        against=held.against(),
    )
    if not keep:
        _keep_summaries(store, run, judge_id, built.summaries, verdicts.count())
    explained = replace(built, use=_with_reason(use, built))
    beside = _with_other_runs(store, explained, judge_id, (metrics, index, keep), family)
    labels = "" if store.draws.of_run(run.run_id) else advise_labels(built)
    card = replace(beside, overview=_overview(store, found, verdicts, failed, built), label_first=labels)
    card = replace(card, failed_share=corrected_failures(store, run.run_id, judge_id, verdicts))
    if not keep:
        keeper.keep(card, numbers)
    return Scorecard(card, shown)


def _with_reason(use: JudgeUse | None, card: Card) -> JudgeUse | None:
    """What was asked of the judge, with the commonest reason why verdicts are missing."""
    from ragauge.scores.judge_usage import commonest_reason

    return use if use is None or not use.lacking else replace(use, reason=commonest_reason(card.summaries))


def _with_other_runs(
    store: Store,
    card: Card,
    judge_id: str | None,
    scope: tuple[Sequence[Metric], ResponseIndex, Mapping[str, str]],
    family: SetFamily,
) -> Card:
    """The card with what other runs say: those before it, those on other passages, and experiments."""
    metrics, index, keep = scope
    tried = bool(store.runs.confirming(card.run.run_id))
    return replace(
        card,
        history=history_until(store, card.run, judge_id, family),
        gaps=gaps_beside(store, card.run, judge_id, metrics, keep),
        # the frame holds every text, so it is read where there are experiments
        confirmed=confirmed_of(store, card.run, judge_id, causes_of(store, card.run.run_id, judge_id, index))
        if tried
        else None,
    )


class _Gathered(NamedTuple):
    """What the two passes gathered."""

    matches: tuple[IdGatherer, ...]
    claims: ClaimsSeen
    use: UseGatherer
    beyond: OverviewGatherer
    tables: Tables
    values: Values


def _read(
    store: Store, run: Run, judge_id: str | None, metrics: Sequence[Metric], index: ResponseIndex, held: RunPair
) -> _Gathered:
    """The two passes."""
    from ragauge.engine.judge_error import judge_errors
    from ragauge.engine.judges import middle_band
    from ragauge.evaluation.overview.response_list import OverviewGatherer
    from ragauge.evaluation.scorecard.compute import Tables, read_metrics
    from ragauge.scores.gather import ClaimsSeen, gather
    from ragauge.scores.id_match import IdGatherer
    from ragauge.scores.judge_usage import UseGatherer
    from ragauge.scores.segments import SegmentRows
    from ragauge.scores.values import Values

    segments, claims = SegmentRows(), ClaimsSeen(middle_band(judge_id))
    matches = (IdGatherer("document"), IdGatherer("chunk"))
    use = UseGatherer(hybrid=(judge_id or "").startswith("hybrid:"))
    beyond, values = OverviewGatherer(), Values(index)
    gather(visits(store, judge_id, index), (segments, *matches, claims, use, beyond))
    tables = Tables(index, segments.segments(index.query_ids), errors=judge_errors(judge_id, store, (run.run_id,)))
    if held.readers:
        held.within(tables.segments.frame())
    names = [str(metric) for metric in metrics]
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names).labelled()
    read_metrics(columns, metrics, (tables, values, *held.readers))
    return _Gathered(matches, claims, use, beyond, tables, values)


def _overview(
    store: Store, found: _Gathered, verdicts: ResponseVerdicts, failed: FailedResponses, card: Card
) -> Overview:
    """What was gathered beyond means; the questions of listed responses that were not kept are read again."""
    from ragauge.evaluation.overview.response_list import choose

    index, tables = found.values.index, found.tables
    chosen = choose(verdicts, failed, tables.quality.values())
    absent = [one.place for one in chosen if one.place not in found.beyond.questions]
    questions = questions_at(store, index, absent)
    return found.beyond.overview(found.values, chosen, questions, failed, tables.segments, card.segments, card.level)


def _evaluated(
    store: Store, run: Run, metrics: Sequence[Metric], judge_id: str | None, keep: Mapping[str, str], *, whole: bool
) -> tuple[array[int], int]:
    """Numbers of the responses to show, and how many responses have a score of every metric."""
    names = [str(metric) for metric in metrics]
    complete = complete_numbers(store, run, judge_id, names)
    shown = complete if whole else store.scores.evaluated(run.run_id, judge_id, names)
    if keep:
        kept = set(store.runs.order(run.run_id, keep).numbers)
        complete, shown = (array("q", (n for n in found if n in kept)) for found in (complete, shown))
    return shown, len(complete)


def _keep_summaries(
    store: Store, run: Run, judge_id: str | None, summaries: Sequence[Summary], counts: VerdictCounts
) -> None:
    """Keeps the summaries beside those of metrics that were computed before; all of them stand in the new order."""
    known = {summary.metric: summary for summary in store.summaries.read(run.run_id, judge_id)}
    new = {summary.metric: summary for summary in summaries}
    kept = new if known.keys() <= new.keys() else known | new
    store.summaries.write(run.run_id, judge_id, list(kept.values()), counts=counts)


def _warnings(store: Store, run: Run) -> list[str]:
    from ragauge.core.label import BY_KIND, WHICH_NOT_SAID
    from ragauge.diagnosis.findings.label_advice import draw_command
    from ragauge.engine.people import people_scores
    from ragauge.scores.estimation import LEAST_LABELS

    absent, found = store.runs.absent(run.run_id), []
    for people in people_scores(store, run.run_id):
        if people.unclear:
            kinds = " and ".join(name for name in BY_KIND if name in people.values)
            left = f"left out of {kinds}" if kinds else "neither is corrected. Import fixed labels with a later `at`"
            of = plural(len(people.labelled), "labelled answer")
            found.append(f"Labels of {len(people.unclear):,} of {of} say {WHICH_NOT_SAID}: {left}.")
        if len(people.labelled) >= LEAST_LABELS:
            continue
        of = plural(people.drawn, "drawn answer")
        size, lack = store.runs.size(run.run_id), LEAST_LABELS - people.drawn
        more = f" Draw more first: {draw_command(run.name, lack, people.question)}" if lack > 0 else ""
        if size < LEAST_LABELS:
            more = f" The run has {size:,}: its labels decide verdicts."
        found.append(
            f"People labelled {len(people.labelled):,} of {of}; from {LEAST_LABELS} on, labels correct the means.{more}"
        )
    if cut := passages_cut(store, run.run_id):
        found.append(cut)
    if absent:
        found.append(f"{plural(absent, 'example has', 'examples have')} no response in the run: empty retrieval.")
    if run.state != "finished" and run.done < run.planned:
        found.append(f"The run is not complete: {run.done:,} of {run.planned:,} responses, a random sample of them.")
    return found
