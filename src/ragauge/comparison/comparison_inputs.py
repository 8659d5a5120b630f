"""What a comparison reads beside scores: the examples that flipped with their answers, and what to mind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.core.messages import format_command, format_count
from ragauge.core.response import Run

if TYPE_CHECKING:
    import polars as pl

    from ragauge.comparison.runs import FlipGatherer
    from ragauge.comparison.score_pairs import PairedScores
    from ragauge.core.response import Response
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.results.comparison import Flips, Matched, MetricChange, Side
    from ragauge.store.responses import StoredResponse
    from ragauge.store.store_access import Store

FEW_EXAMPLES = 30  # examples below which every interval is wide
MAX_FAILED_SHARE = 0.02  # share of pairs lost to failed scores, from which it is said
BATCH_SIZE_EXAMPLES = 200  # responses with their texts in memory
MAX_COMPARED_EXAMPLES = 200  # examples whose passages are compared where both runs retrieved for themselves


def load_flips(
    store: Store,
    pair: PairedScores,
    gathered: FlipGatherer,
    new_causes: pl.DataFrame,
    base_causes: pl.DataFrame,
    both: Collection[str],
) -> Flips:
    """The examples that flipped, those shown with question, both answers and both causes.

    Args:
        store: where the runs are.
        pair: the runs, joined.
        gathered: after it has read every metric.
        new_causes: cause frame of the new run, of the examples in both.
        base_causes: of the baseline.
        both: ids of the examples in both.
    """
    from ragauge.scores.results.comparison import Flip, Flips
    from ragauge.scores.summarize import select_failures

    new_failures, base_failures = select_failures(new_causes), select_failures(base_causes)
    sides = gathered.find_flips(set(new_failures["query_id"]), set(base_failures["query_id"]), both)
    ids = [pair.new.index.query_ids[flip.query] for flip in sides.chosen]
    new_responses, base_responses = _load_first(store, pair.new.index, ids), _load_first(store, pair.base.index, ids)
    new_sides, base_sides = _build_sides(new_failures, new_responses), _build_sides(base_failures, base_responses)
    flips = tuple(
        Flip(
            query_id,
            new_responses[query_id].example.query,
            flip.change,
            flip.scores,
            base_sides[query_id],
            new_sides[query_id],
        )
        for query_id, flip in zip(ids, sides.chosen, strict=True)
    )
    return Flips(sides.lost, sides.gained, sides.newly_failed, sides.mended, flips)


def _load_first(store: Store, index: ResponseIndex, ids: Sequence[str]) -> dict[str, StoredResponse]:
    """query_id -> its first response, of some examples."""
    import numpy as np

    numbers = {query_id: number for number, query_id in enumerate(index.query_ids)}
    _, first = np.unique(index.query, return_index=True)  # the place of the first response of each example
    ids_by_number = {int(index.number[first[numbers[query_id]]]): query_id for query_id in ids}
    return {ids_by_number[item.response_no]: item for item in store.runs.load(list(ids_by_number))}


def _build_sides(failed: pl.DataFrame, loaded: dict[str, StoredResponse]) -> dict[str, Side]:
    import polars as pl

    from ragauge.scores.results.comparison import Side

    rows = failed.filter(pl.col("query_id").is_in(list(loaded))).select("query_id", "cause", "decided_by")
    causes = {query_id: (cause, decided_by) for query_id, cause, decided_by in rows.iter_rows()}
    return {
        query_id: Side(query_id in causes, *causes.get(query_id, ("", "")), item.response.answer)
        for query_id, item in loaded.items()
    }


def list_warnings(
    store: Store,
    run: Run,
    base: Run,
    pair: PairedScores,
    requested: Sequence[Metric],
    changes: Sequence[MetricChange],
    matched: Matched,
) -> Iterator[str]:
    """What the reader must know before believing a number."""
    if run.run_id == base.run_id:
        yield f"The baseline {base.name} is this run itself, so every difference is 0."
    if pair.renamed:
        yield (
            f"{run.name} and {base.name} share no query_id but ask the same questions: examples are matched by "
            "question, and repeated questions in order."
        )
    elif "traffic" not in (run.kind, base.kind) and base.set_version != run.set_version:
        yield (
            f"{run.name} and {base.name} answered different versions of the eval set: examples are matched by "
            "query_id, even if they changed otherwise."
        )
    if run.variant != base.variant and not _is_replay(store, run, base):
        yield (
            f"{run.name} uses {_describe_passages(run)} and {base.name} uses {_describe_passages(base)}, so the "
            "difference is not "
            "due to the system alone."
        )
    if run.run_id != base.run_id:
        yield from _warn_passages(store, run, base, pair, changes)
    compared = set(pair.metrics)
    if skipped := [str(metric) for metric in requested if metric not in compared]:
        yield f"Not in both runs, so not compared: {', '.join(skipped)}."
    if matched.paired and matched.n:
        yield from _warn_few(matched.n, matched.clusters)
    if run.variant == base.variant == "own":
        yield from _warn_known_items(store, run, pair)
    if failed := find_failing_metrics(changes):
        worst = max(failed, key=lambda summary: summary.failed)
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        yield (
            f"Failed scores are left out: {worst.failed:,} of {worst.failed + worst.difference.n:,} examples for "
            f"{worst.metric}{more}."
        )


def _warn_known_items(store: Store, run: Run, pair: PairedScores) -> Iterator[str]:
    """What queries drawn from documents do not settle, of the examples of the new run that are compared."""
    from ragauge.scores.known_items import SEGMENT, count_known_items, warn_known_items

    segments = store.runs.segments(run.run_id)
    if SEGMENT in segments.columns:
        own_segments = segments.filter(segments["query_id"].is_in(list(pair.new.index.query_ids)))
        yield from warn_known_items(count_known_items(own_segments[SEGMENT]), len(own_segments))


def _warn_few(examples: int, clusters: int | None) -> Iterator[str]:
    """What so few examples, or clusters of them, can tell."""
    from ragauge.stats.sign_flips import MIN_FLIPPED

    few = examples if clusters is None else clusters
    if clusters is not None and few < MIN_FLIPPED <= examples:
        yield (
            f"The {examples:,} examples form {format_count(few, 'cluster')}, which count as "
            f"{format_count(few, 'observation')}: with fewer "
            f"than {MIN_FLIPPED}, no change can be distinguished from chance, however large. Add clusters, "
            "not examples of the same clusters."
        )
    elif few < FEW_EXAMPLES:
        noun = ("example",) if clusters is None else ("cluster of examples", "clusters of examples")
        yield (
            f"Only {format_count(few, *noun)} in both runs: intervals are wide, and only a large change can be seen."
        )


def find_failing_metrics(changes: Sequence[MetricChange]) -> list[MetricChange]:
    """The metrics of which so many scores failed that it has to be said."""
    return [change for change in changes if change.failed > MAX_FAILED_SHARE * (change.failed + change.difference.n)]


def _describe_passages(run: Run) -> str:
    words = {
        "own": "its own retrieval",
        "oracle": "gold passages",
        "closed_book": "no passages",
        "replayed": "replayed passages",
    }
    return words[run.variant]


def _is_replay(store: Store, run: Run, base: Run) -> bool:
    """Whether one run replays the other's passages, or both those of a third, over however many replays."""
    return "replayed" in (run.variant, base.variant) and _find_origin(store, run) == _find_origin(store, base)


def _find_origin(store: Store, run: Run) -> str:
    """The id of the run that retrieved the passages, as far back as the store has it; its own where it retrieved."""
    visited = {run.run_id}
    while run.variant == "replayed" and (origin := str(run.config.get("context_from", ""))) not in {*visited, ""}:
        try:
            run = store.runs.find(origin)
        except UnknownName:  # deleted
            return origin
        visited.add(run.run_id)
    return run.run_id


def _warn_passages(
    store: Store, run: Run, base: Run, pair: PairedScores, changes: Sequence[MetricChange]
) -> Iterator[str]:
    """Whether the generators wrote from the same passages, where that matters."""
    from ragauge.scores.results.comparison import SAME, UNKNOWN

    base_ids = set(pair.base.index.query_ids)
    both = [query_id for query_id in pair.new.index.query_ids if query_id in base_ids]
    has_source = all("context_from" in side.config for side in (run, base) if side.variant == "replayed")
    if "replayed" in (run.variant, base.variant) and (not has_source or _is_replay(store, run, base)):
        differing = _count_differing(store, pair, both)
        if differing:
            yield (
                f"The passages of {differing:,} of {len(both):,} examples differ, although one run replays "
                "the other's passages, so generation is not the only change."
            )
        return
    moved = [
        change.metric for change in changes if change.measures == "generation" and change.verdict not in (SAME, UNKNOWN)
    ]
    if not moved or run.variant != base.variant:
        return
    some = both[:: -(-len(both) // MAX_COMPARED_EXAMPLES)] if both else []
    if differing := _count_differing(store, pair, some):
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        yield (
            f"{moved[0]}{more} changed, and so did the passages of {differing:,} of {len(some):,} examples checked, so "
            "the difference may not come from the generator. To compare only the generators: "
            f"{format_command('run', 'SYSTEM', 'SET', '--context-from', base.name)}"
        )


def _count_differing(store: Store, pair: PairedScores, ids: Sequence[str]) -> int:
    """In how many of these examples the generator saw other passages."""
    differing = 0
    for start in range(0, len(ids), BATCH_SIZE_EXAMPLES):
        batch = ids[start : start + BATCH_SIZE_EXAMPLES]
        new, base = (_load_first(store, side.index, batch) for side in (pair.new, pair.base))
        differing += sum(
            _list_seen_passages(new[number].response) != _list_seen_passages(base[number].response) for number in batch
        )
    return differing


def _list_seen_passages(response: Response) -> list[tuple[str, str | None]] | None:
    if response.passages is None:
        return None
    return [(passage.passage_id, passage.text) for passage in response.passages]
