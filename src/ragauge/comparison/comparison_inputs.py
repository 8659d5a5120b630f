"""What a comparison reads beside scores: the examples that flipped with their answers, and what to mind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.core.messages import command, plural
from ragauge.core.response import Run

if TYPE_CHECKING:
    import polars as pl

    from ragauge.comparison.flips import FlipGatherer
    from ragauge.comparison.score_pairs import Paired
    from ragauge.core.response import Response
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.results.change import MetricChange
    from ragauge.scores.results.comparison import Flips, Matched, Side
    from ragauge.store.responses import Loaded
    from ragauge.store.store_access import Store

FEW = 30  # examples below which every interval is wide
MOST_FAILED = 0.02  # share of pairs lost to failed scores, from which it is said
AT_A_TIME = 200  # responses with their texts in memory
LOOKED_AT = 200  # examples whose passages are compared where both runs retrieved for themselves


def flips_of(
    store: Store,
    pair: Paired,
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
    from ragauge.scores.frames import failures
    from ragauge.scores.results.comparison import Flip, Flips

    now, before = failures(new_causes), failures(base_causes)
    sides = gathered.sides(set(now["query_id"]), set(before["query_id"]), both)
    ids = [pair.new.index.query_ids[flip.query] for flip in sides.chosen]
    here, there = _first(store, pair.new.index, ids), _first(store, pair.base.index, ids)
    new_sides, base_sides = _sides(now, here), _sides(before, there)
    shown = tuple(
        Flip(
            query_id, here[query_id].example.query, flip.change, flip.scores, base_sides[query_id], new_sides[query_id]
        )
        for query_id, flip in zip(ids, sides.chosen, strict=True)
    )
    return Flips(sides.lost, sides.gained, sides.newly_failed, sides.mended, shown)


def _first(store: Store, index: ResponseIndex, ids: Sequence[str]) -> dict[str, Loaded]:
    """query_id -> its first response, of some examples."""
    import numpy as np

    numbers = {query_id: number for number, query_id in enumerate(index.query_ids)}
    _, first = np.unique(index.query, return_index=True)  # the place of the first response of each example
    places = {int(index.number[first[numbers[query_id]]]): query_id for query_id in ids}
    return {places[item.response_no]: item for item in store.runs.load(list(places))}


def _sides(failed: pl.DataFrame, loaded: dict[str, Loaded]) -> dict[str, Side]:
    import polars as pl

    from ragauge.scores.results.comparison import Side

    rows = failed.filter(pl.col("query_id").is_in(list(loaded))).select("query_id", "cause", "decided_by")
    causes = {query_id: (cause, why) for query_id, cause, why in rows.iter_rows()}
    return {
        query_id: Side(query_id in causes, *causes.get(query_id, ("", "")), item.response.answer)
        for query_id, item in loaded.items()
    }


def warnings_of(
    store: Store,
    run: Run,
    base: Run,
    pair: Paired,
    asked: Sequence[Metric],
    changes: Sequence[MetricChange],
    matched: Matched,
) -> Iterator[str]:
    """What the reader must know before believing a number."""
    if run.run_id == base.run_id:
        yield f"The baseline {base.name} is this run itself: every difference is 0."
    if pair.renamed:
        yield (
            f"{run.name} and {base.name} share no query_id but ask the same questions: examples are matched by "
            "question, equal ones in their order."
        )
    elif "traffic" not in (run.kind, base.kind) and base.set_version != run.set_version:
        yield (
            f"{run.name} and {base.name} answered different versions of the eval set: examples are matched by "
            "query_id, whatever else changed about them."
        )
    if run.variant != base.variant and not _replayed(store, run, base):
        yield (
            f"{run.name} rests on {_passages(run)} and {base.name} on {_passages(base)}: their difference is not that "
            "of a change in the system alone."
        )
    if run.run_id != base.run_id:
        yield from _about_passages(store, run, base, pair, changes)
    known = set(pair.metrics)
    if left := [str(metric) for metric in asked if metric not in known]:
        yield f"Not in both runs, so not compared: {', '.join(left)}."
    if matched.paired and matched.n:
        yield from _about_few(matched.n, matched.clusters)
    if run.variant == base.variant == "own":
        yield from _about_known_items(store, run, pair)
    if failed := failing(changes):
        worst = max(failed, key=lambda summary: summary.failed)
        more = f" (and on {len(failed) - 1} more)" if len(failed) > 1 else ""
        yield (
            f"Scores that failed are left out: {worst.failed:,} of {worst.failed + worst.difference.n:,} examples on "
            f"{worst.metric}{more}."
        )


def _about_known_items(store: Store, run: Run, pair: Paired) -> Iterator[str]:
    """What queries drawn from documents do not settle, of the examples of the new run that are compared."""
    from ragauge.scores.known_items import SEGMENT, count_known_items, known_item_caution

    segments = store.runs.segments(run.run_id)
    if SEGMENT in segments.columns:
        mine = segments.filter(segments["query_id"].is_in(list(pair.new.index.query_ids)))
        yield from known_item_caution(count_known_items(mine[SEGMENT]), len(mine))


def _about_few(examples: int, clusters: int | None) -> Iterator[str]:
    """What so few examples, or clusters of them, can tell."""
    from ragauge.stats.sign_flips import LEAST_FLIPPED

    few = examples if clusters is None else clusters
    if clusters is not None and few < LEAST_FLIPPED <= examples:
        yield (
            f"The {examples:,} examples are {plural(few, 'cluster')}, as much as {plural(few, 'observation')}: fewer "
            f"than {LEAST_FLIPPED} cannot tell a change from chance, however large it looks. More clusters are needed, "
            "not more examples of the same ones."
        )
    elif few < FEW:
        noun = ("example",) if clusters is None else ("cluster of examples", "clusters of examples")
        yield f"Only {plural(few, *noun)} in both: every interval is wide, and a change has to be large to be seen."


def failing(changes: Sequence[MetricChange]) -> list[MetricChange]:
    """The metrics of which so many scores failed that it has to be said."""
    return [change for change in changes if change.failed > MOST_FAILED * (change.failed + change.difference.n)]


def _passages(run: Run) -> str:
    words = {
        "own": "its own retrieval",
        "oracle": "labelled passages",
        "closed_book": "no passages",
        "replayed": "replayed passages",
    }
    return words[run.variant]


def _replayed(store: Store, run: Run, base: Run) -> bool:
    """Whether one run replays the other's passages, or both those of a third, over however many replays."""
    return "replayed" in (run.variant, base.variant) and _origin(store, run) == _origin(store, base)


def _origin(store: Store, run: Run) -> str:
    """The id of the run that retrieved the passages, as far back as the store has it; its own where it retrieved."""
    seen = {run.run_id}
    while run.variant == "replayed" and (origin := str(run.config.get("context_from", ""))) not in {*seen, ""}:
        try:
            run = store.runs.find(origin)
        except UnknownName:  # deleted
            return origin
        seen.add(run.run_id)
    return run.run_id


def _about_passages(store: Store, run: Run, base: Run, pair: Paired, changes: Sequence[MetricChange]) -> Iterator[str]:
    """Whether the generators wrote from the same passages, where that matters."""
    from ragauge.scores.results.change import SAME, UNKNOWN

    there = set(pair.base.index.query_ids)
    both = [query_id for query_id in pair.new.index.query_ids if query_id in there]
    known = all("context_from" in side.config for side in (run, base) if side.variant == "replayed")
    if "replayed" in (run.variant, base.variant) and (not known or _replayed(store, run, base)):
        differing = _differing(store, pair, both)
        if differing:
            yield (
                f"The passages of {differing:,} of {len(both):,} examples differ, though one run was meant to replay "
                "the other's: what changed is not generation alone."
            )
        return
    moved = [
        change.metric for change in changes if change.measures == "generation" and change.verdict not in (SAME, UNKNOWN)
    ]
    if not moved or run.variant != base.variant:
        return
    some = both[:: -(-len(both) // LOOKED_AT)] if both else []
    if differing := _differing(store, pair, some):
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        yield (
            f"{moved[0]}{more} changed, and so did the passages of {differing:,} of {len(some):,} examples looked at: "
            "the difference need not be the generator's. To compare generators alone: "
            f"{command('run', 'SYSTEM', 'SET', '--context-from', base.name)}"
        )


def _differing(store: Store, pair: Paired, ids: Sequence[str]) -> int:
    """In how many of these examples the generator saw other passages."""
    differing = 0
    for start in range(0, len(ids), AT_A_TIME):
        part = ids[start : start + AT_A_TIME]
        new, base = (_first(store, side.index, part) for side in (pair.new, pair.base))
        differing += sum(_seen(new[number].response) != _seen(base[number].response) for number in part)
    return differing


def _seen(response: Response) -> list[tuple[str, str | None]] | None:
    if response.passages is None:
        return None
    return [(passage.passage_id, passage.text) for passage in response.passages]
