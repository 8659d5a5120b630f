"""The symbols of metrics that rank documents, hold gold spans against chunks, or found vectors against the nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ragauge.core.messages import format_count
from ragauge.core.ranking import FoundNeighbors, GoldOverlap, Ranking
from ragauge.diagnosis.explain.causes import ExampleCase, format_list
from ragauge.metrics.base import Metric, format_number
from ragauge.metrics.retrieval.gains import rank_ideally, sum_discounted, write_gains
from ragauge.metrics.retrieval.ranks import list_labels
from ragauge.metrics.spans.span_coverage import count_covered, count_units, take_first

SymbolFormatter = Callable[[Any, ExampleCase, Metric], str]  # of the fact's value
RANKING_FACT = "labels.ranking"


class Place(NamedTuple):
    """A judged item of an example: a document or chunk, or several of which any one will do."""

    name: str
    grade: float
    rank: int | None


def list_places(case: ExampleCase, fact: str = RANKING_FACT) -> list[Place]:
    """The judged items, those found first."""
    example, items = case.facts.example, case.read_fact(fact).items
    labels, _ = list_labels(example if fact == RANKING_FACT else replace(example, relevant=None), case.facts.response)
    names = [" or ".join(label.doc_ids[:3]) for label in labels]
    if len(names) != len(items):  # a document that stands in several items counts for one of them
        names = [f"item {n}" for n in range(1, len(items) + 1)]
    places = (Place(name, grade, rank) for name, (grade, rank) in zip(names, items, strict=True))
    return sorted(places, key=lambda place: (place.rank is None, place.rank or 0))


class RankedLabels:
    """What a metric sees of the labels of an example.

    Attributes:
        ranking: the ranks.
        places: the judged items, those found first.
        relevant: L, those of which the grade is at least rel.
        others: judged items that are not relevant.
        k: the cutoff; the length of the list where none is given.
        hits: ranks of L up to k.
        again: ranks up to k of further chunks of relevant documents, where the metric counts them.
    """

    def __init__(self, case: ExampleCase, metric: Metric) -> None:
        fact, min_grade = metric.needs.get("ranking", RANKING_FACT), getattr(metric, "rel", 1.0)
        self.ranking: Ranking = case.read_fact(fact)
        self.places = list_places(case, fact)
        self.relevant = [place for place in self.places if place.grade >= min_grade]
        self.others = [place for place in self.places if 0 <= place.grade < min_grade]
        self.k: int = getattr(metric, "k", None) or self.ranking.n_returned
        self.hits = [place.rank for place in self.relevant if place.rank is not None and place.rank <= self.k]
        counts_again = metric.name() in ("precision", "f1")
        again = (rank for grade, rank in self.ranking.again if grade >= min_grade and rank <= self.k)
        self.again = list(again) if counts_again else []


def describe_absence(case: ExampleCase) -> str:
    """What is said of a labelled document without a rank, which may be among the candidates all the same."""
    return "not returned" if case.facts.response.candidates is None else "not in the context"


def _show_ranked(show: Callable[[RankedLabels], str]) -> SymbolFormatter:
    return lambda _, case, metric: show(RankedLabels(case, metric))


def _show_relevant(_: object, case: ExampleCase, metric: Metric) -> str:
    def show_place(place: Place) -> str:
        graded = "" if place.grade == 1 else f"grade {format_number(place.grade)}, "
        return f"{place.name} ({graded}{describe_absence(case) if place.rank is None else f'rank {place.rank}'})"

    relevant = RankedLabels(case, metric).relevant
    return f"{len(relevant)}: {format_list(map(show_place, relevant))}" if relevant else "none"


def _show_top(ranked: RankedLabels, k: int) -> str:
    n = ranked.ranking.n_returned
    inside = [place.name for place in ranked.relevant if place.rank is not None and place.rank <= k]
    some = f"ranks 1 to {min(k, n)}" if n else "nothing was retrieved"
    more = f"; {format_count(len(ranked.again), 'additional chunk')} of the same documents" if ranked.again else ""
    return f"{some}; {len(inside)} of L among them: {format_list(inside)}{more}"


def _show_grades(ranked: RankedLabels) -> str:
    graded = [place for place in ranked.places if place.rank is not None and place.rank <= ranked.k]
    return format_list(f"g_{place.rank} = {format_number(place.grade)}" for place in graded if place.grade > 0)


def _show_ideal(ranking: Ranking, _: object, metric: Metric) -> str:
    is_exp, positive = getattr(metric, "gain", "") == "exp", [item for item in ranking.items if item[0] > 0]
    gains = [(2.0**grade - 1.0 if is_exp else grade, rank) for grade, rank in positive]
    best = rank_ideally(gains, getattr(metric, "k", None))
    return f"{write_gains(best)} = {format_number(sum_discounted(best))}"


def _show_above(ranked: RankedLabels) -> str:
    others = [place.rank for place in ranked.others if place.rank is not None]
    places = [place for place in ranked.relevant if place.rank is not None]
    return format_list(f"{sum(rank < (place.rank or 0) for rank in others)} above {place.name}" for place in places)


def _show_judged(ranked: RankedLabels) -> str:
    ranks = [str(rank) for rank in ranked.ranking.judged_ranks if rank <= ranked.k]
    return f"{len(ranks)} in the top {ranked.k}: {format_list(ranks)}"


def _show_precision_recall(ranked: RankedLabels) -> str:
    hits, k, n = len(ranked.hits), ranked.k, len(ranked.relevant)
    return f"{hits + len(ranked.again)}/{k} and {hits}/{n}" if n and k else "undefined (division by zero)"


RANKING_SYMBOLS: Mapping[str, SymbolFormatter] = {
    "L": _show_relevant,
    "top_k": _show_ranked(lambda ranked: _show_top(ranked, ranked.k)),
    "top_r": _show_ranked(
        lambda ranked: format_list(f"{n} of L in top_{rank}" for n, rank in enumerate(ranked.hits, 1))
    ),
    "top_R": _show_ranked(lambda ranked: _show_top(ranked, len(ranked.relevant))),
    "R": _show_ranked(lambda ranked: str(len(ranked.relevant))),
    "r": _show_ranked(lambda ranked: format_list(map(str, ranked.hits))),
    "P, R": _show_ranked(_show_precision_recall),
    "g_i": _show_ranked(_show_grades),
    "gain": lambda _, __, metric: "2^g - 1" if getattr(metric, "gain", "") == "exp" else "g",
    "IDCG": _show_ideal,
    "above": _show_ranked(_show_above),
    "N": _show_ranked(lambda ranked: str(len(ranked.others))),
    "J": _show_ranked(_show_judged),
    "n": lambda ranking, *_: str(ranking.n_returned),
}


def build_span_symbols(unit: str) -> Mapping[str, SymbolFormatter]:
    """The values of symbols over spans.

    Args:
        unit: that they are counted in: "token" or "character".
    """

    def show_returned(overlap: GoldOverlap, _: object, metric: Metric, more: bool = True) -> str:
        chunks = take_first(overlap.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        gold_text = f" in {format_count(len(chunks), 'chunk')}, {count_covered(overlap.gold, chunks):,} of them gold"
        return format_count(count_units(chunks), unit) + (gold_text if more else "")

    return {
        "G": lambda overlap, *_: (
            f"{format_count(count_units(overlap.gold), unit)} in {format_count(len(overlap.gold), 'span')}"
        ),
        "R": show_returned,
        "C": lambda overlap, *_: (
            "unknown: the chunks of the index"
            if overlap.touching is None
            else f"{format_count(len(overlap.touching), 'chunk')} that overlap gold spans"
        ),
        "len": lambda overlap, case, metric: show_returned(overlap, case, metric, more=False),
    }


def _show_distances(neighbors: FoundNeighbors, _: object, metric: Metric) -> str:
    k = int(getattr(metric, "k", 0))
    distances = dict(zip(neighbors.ids[:k], neighbors.distances[:k], strict=True))
    return format_list(f"d[{n}] = {format_number(distance)}" for n, distance in distances.items())


def _show_kth_distance(neighbors: FoundNeighbors, _: object, metric: Metric) -> str:
    nearest = neighbors.nearest[: getattr(metric, "k", 0)]
    return format_number(nearest[-1]) if nearest else f"none: {neighbors.why or 'no vector can be found'}"


def _show_findable(neighbors: FoundNeighbors, _: object, metric: Metric) -> str:
    n, k = len(neighbors.nearest), int(getattr(metric, "k", 0))
    return f"{k:,} or more" if n >= k else f"{n:,}"


NEIGHBOR_SYMBOLS: Mapping[str, SymbolFormatter] = {
    "A[k]": lambda neighbors, _, metric: format_list(map(str, dict.fromkeys(neighbors.ids[: getattr(metric, "k", 0)]))),
    "d[i]": _show_distances,
    "d_k": _show_kth_distance,
    "n": _show_findable,
}
