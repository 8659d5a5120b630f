"""From what is stored to the scorecard."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragauge.analysis.scorecard import Summary
from ragauge.api.scorecard import Scorecard
from ragauge.api.views import view_of
from ragauge.data.example import Example
from ragauge.data.facts import AnswerFacts
from ragauge.data.response import Response
from ragauge.data.run import Run
from ragauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    import polars as pl

    from ragauge.analysis.segments import SegmentRows
    from ragauge.metrics.base import Metric
    from ragauge.store.open import Store

KEY = ["query_id", "repeat"]
MOST_WORST = 20
MOST_EVIDENCE = 5_000     # responses whose claims are looked at for the share of uncertain ones


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
    names = store.scores.frame(run.run_id, judge_id)["metric"].unique(maintain_order=True).to_list()
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
    from ragauge.analysis import card as cards
    from ragauge.analysis.segments import SegmentRows
    from ragauge.engine.judges import note_of

    asked: dict[str, str] = {}
    rows = SegmentRows()
    match = cards.id_match(_seen(store.runs.pairs(run.run_id), keep or {}, asked, rows))
    scores, causes = _tables(store, run, metrics, judge_id, asked if keep else None)
    complete = _complete(scores, len(metrics))
    scores, causes = (_of(complete, table) for table in (scores, causes)) if whole else (scores, causes)
    worst = cards.pick_worst(causes, scores, MOST_WORST)
    built = cards.build(
        run=run,
        judge_note=note_of(judge_id, _uncertain(store, run, judge_id)),
        n=scores["query_id"].n_unique(),
        pending=max(0, (store.runs.size(run.run_id) if total is None else total) - len(complete)),
        metrics=metrics,
        scores=scores,
        segments=rows.frame(),
        causes=causes,
        worst=[view_of(store, run.run_id, query_id, repeat, judge_id) for query_id, repeat in worst],
        warnings=_warnings(store, run),
        took=dict(took or {}),
        match=match,
    )
    _keep_summaries(store, run, judge_id, () if keep else built.summaries)
    return Scorecard(built, scores, _failures(asked, causes, scores), store.url)


def _complete(scores: pl.DataFrame, metrics: int) -> pl.DataFrame:
    """Responses that have a score of every metric."""
    import polars as pl

    return scores.group_by(KEY).len().filter(pl.col("len") >= metrics).select(KEY)


def _of(complete: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    return table.join(complete, on=KEY, how="semi", maintain_order="left")


def _keep_summaries(store: Store, run: Run, judge_id: str | None, summaries: Sequence[Summary]) -> None:
    """Keeps the summaries beside those of metrics that were computed before."""
    known = {summary.metric: summary for summary in store.summaries.read(run.run_id, judge_id)}
    known |= {summary.metric: summary for summary in summaries}
    store.summaries.write(run.run_id, judge_id, list(known.values()))


def _tables(
    store: Store, run: Run, metrics: Sequence[Metric], judge_id: str | None, among: Collection[str] | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of the metrics and causes, of the examples asked for; None = all."""
    import polars as pl

    scores = store.scores.frame(run.run_id, judge_id).filter(pl.col("metric").is_in([str(m) for m in metrics]))
    causes = store.causes.frame(run.run_id, judge_id)
    if among is None:
        return scores, causes
    wanted = pl.col("query_id").is_in(list(among))
    return scores.filter(wanted), causes.filter(wanted)


def _seen(
    pairs: Iterable[tuple[Example, Response]], keep: Mapping[str, str], asked: dict[str, str], rows: SegmentRows
) -> Iterator[tuple[Example, Response]]:
    """The pairs that match, one at a time; what reports need of their examples is kept."""
    for example, response in pairs:
        if _kept(example, keep):
            if example.query_id not in asked:
                asked[example.query_id] = example.query
                rows.add(example)
            yield example, response


def _kept(example: Example, keep: Mapping[str, str]) -> bool:
    return all(
        value in example.tags if column == "tag" else example.segments.get(column) == value
        for column, value in keep.items()
    )


def _uncertain(store: Store, run: Run, judge_id: str | None) -> float | None:
    """Share of claims in the judge's middle band, over the first few thousand responses."""
    from ragauge.engine.judges import middle_band

    band = middle_band(judge_id)
    if band is None or judge_id is None:
        return None
    seen = middle = 0
    for _, _, evidence in islice(store.evidence.of_run(run.run_id, judge_id), MOST_EVIDENCE):
        found = evidence.get("verify_answer")
        claims = found.facts.claims if found is not None and isinstance(found.facts, AnswerFacts) else ()
        known = [claim.p for claim in claims if claim.p is not None]
        seen += len(known)
        middle += sum(band[0] <= p <= band[1] for p in known)
    return middle / seen if seen else None


def _warnings(store: Store, run: Run) -> list[str]:
    absent = store.runs.absent(run.run_id)
    if not absent:
        return []
    return [f"{absent:,} examples have no response in the run; they count as empty retrieval."]


def _failures(asked: Mapping[str, str], causes: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The failed examples with their scores side by side."""
    import polars as pl

    text = pl.String
    named = pl.DataFrame(list(asked.items()), {"query_id": text, "query": text}, orient="row")
    wide = scores.pivot("metric", index=["query_id", "repeat"], values="value", aggregate_function="first")
    rows = causes.select("query_id", "repeat", "cause", "decided_by", "second")
    rows = rows.join(named, on="query_id", how="left", maintain_order="left")
    return rows.join(wide, on=["query_id", "repeat"], how="left", maintain_order="left")
