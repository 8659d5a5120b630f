"""From what is stored to the scorecard.

Two passes read the store, and everything that a scorecard says is computed in one of them: `gather` shows every
response with its example and evidence to all gatherers, `read_metrics` the scores of one metric after another to all
readers. Both keep numbers only, so that memory hardly grows with the number of examples.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.analysis.scorecard import Summary
from ragauge.api.scorecard import Scorecard
from ragauge.api.shown import Shown, StoredColumns, causes_of, visits
from ragauge.api.views import view_of
from ragauge.data.run import Run
from ragauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from ragauge.metrics.base import Metric
    from ragauge.store.open import Store

MOST_WORST = 20


def stored_card(store: Store, run: Run, judge: str | None) -> Scorecard:
    """The scorecard of everything that was computed for a run by one judge.

    Raises:
        UsageError: the run has not been evaluated.
        UnknownName: no judge of this run has such an id.
    """
    from ragauge.metrics.catalogue import parse

    judges = store.scores.judges(run.run_id)
    matching = [found for found in judges if judge is None or found.startswith(judge)]
    if judge is not None and not matching:
        raise UnknownName("judge of this run", judge, judges)
    judge_id = matching[0] if matching else None
    names = store.scores.metrics(run.run_id, judge_id)
    if not names:
        raise UsageError(f"run {run.name} has not been evaluated. Do it with: ragauge evaluate {run.name}")
    return card_of(store, run, [parse(name) for name in names], judge_id)


def card_of(
    store: Store,
    run: Run,
    metrics: Sequence[Metric],
    judge_id: str | None,
    *,
    keep: Mapping[str, str] | None = None,
    total: int | None = None,
    whole: bool = False,
    took: Mapping[str, Any] | None = None,
) -> Scorecard:
    """The scorecard of some metrics.

    Args:
        store: where the run is.
        run: whose responses.
        metrics: in the order of the report.
        judge_id: who judged; None = nobody.
        keep: segment column or "tag" -> value; only examples that match.
        total: responses asked for; None = all of the run.
        whole: only responses that have a score of every metric, so that all means are over the same ones.
        took: facts of the evaluation, shown as they are.
    """
    from ragauge.analysis.card import Tables, build, read_metrics
    from ragauge.analysis.gather import UncertainShare, gather
    from ragauge.analysis.id_match import IdGatherer
    from ragauge.analysis.quality import pick_worst
    from ragauge.analysis.segments import SegmentRows
    from ragauge.engine.judges import middle_band, note_of

    numbers, done = _evaluated(store, run, metrics, judge_id, keep or {}, whole=whole)
    shown = Shown(store.url, run.run_id, judge_id, tuple(str(metric) for metric in metrics), numbers)
    index = store.runs.index(run.run_id, numbers)
    segments, match, uncertain = SegmentRows(), IdGatherer(), UncertainShare(middle_band(judge_id))
    gather(visits(store, judge_id, index), (segments, match, uncertain))
    tables = Tables(index, segments.frame(index.query_ids))
    read_metrics(StoredColumns(store, run.run_id, judge_id, index), metrics, (tables,))
    causes = causes_of(store, run.run_id, judge_id, index)
    worst = pick_worst(causes, tables.quality.frame(), MOST_WORST)
    built = build(
        run=run,
        judge_note=note_of(judge_id, uncertain.share),
        n=len(index.query_ids),
        pending=max(0, (store.runs.size(run.run_id) if total is None else total) - done),
        metrics=metrics,
        tables=tables,
        causes=causes,
        worst=[view_of(store, run.run_id, query_id, repeat, judge_id) for query_id, repeat in worst],
        warnings=_warnings(store, run),
        took=dict(took or {}),
        match=match.found(),
    )
    _keep_summaries(store, run, judge_id, () if keep else built.summaries)
    return Scorecard(built, shown)


def _evaluated(
    store: Store, run: Run, metrics: Sequence[Metric], judge_id: str | None, keep: Mapping[str, str], *, whole: bool
) -> tuple[array[int], int]:
    """Numbers of the responses to show, and how many responses have a score of every metric."""
    names = [str(metric) for metric in metrics]
    complete = store.scores.evaluated(run.run_id, judge_id, names, least=len(names))
    shown = complete if whole else store.scores.evaluated(run.run_id, judge_id, names)
    if keep:
        kept = {number for number, _ in store.runs.order(run.run_id, keep)}
        complete, shown = (array("q", (n for n in found if n in kept)) for found in (complete, shown))
    return shown, len(complete)


def _keep_summaries(store: Store, run: Run, judge_id: str | None, summaries: Sequence[Summary]) -> None:
    """Keeps the summaries beside those of metrics that were computed before."""
    known = {summary.metric: summary for summary in store.summaries.read(run.run_id, judge_id)}
    known |= {summary.metric: summary for summary in summaries}
    store.summaries.write(run.run_id, judge_id, list(known.values()))


def _warnings(store: Store, run: Run) -> list[str]:
    absent = store.runs.absent(run.run_id)
    if not absent:
        return []
    return [f"{absent:,} examples have no response in the run; they count as empty retrieval."]
