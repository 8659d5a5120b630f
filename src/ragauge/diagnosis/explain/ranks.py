"""Symbols and arithmetic of metrics over labelled documents.

The symbols of metrics that hold gold spans against chunks, or found vectors against the nearest, with their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log2

from ragauge.core.messages import format_count
from ragauge.core.ranking import FoundNeighbors, GoldOverlap, Ranking
from ragauge.diagnosis.explain.causes import ExampleCase, format_list, format_number
from ragauge.metrics.base import Metric
from ragauge.metrics.retrieval.ranks import list_labels
from ragauge.metrics.spans.span_coverage import count_covered, count_units, take_first

SymbolFormatter = Callable[[ExampleCase, Metric], str]
RANKING_FACT = "labels.ranking"


def find_ranking_fact(metric: Metric) -> str:
    """Where the ranking comes from that the metric is about: documents, or chunks."""
    return metric.needs.get("ranking", RANKING_FACT)


def list_places(case: ExampleCase, fact: str = RANKING_FACT) -> list[tuple[str, float, int | None]]:
    """The judged items of an example: document or chunk, or several of which any one will do; grade; rank."""
    example, response = case.facts.example, case.facts.response
    judged_items, ids = list_labels(example if fact == RANKING_FACT else replace(example, relevant=None), response)
    ranks: dict[str, int] = {}
    for rank, ranked_id in enumerate(ids, 1):
        ranks.setdefault(ranked_id, rank)
    placed = []
    for item in judged_items:
        best_rank = min((ranks[doc_id] for doc_id in item.doc_ids if doc_id in ranks), default=None)
        placed.append((" or ".join(item.doc_ids[:3]), item.grade, best_rank))
    ranked = list(case.read_fact(fact).items)
    if sorted(map(_build_sort_key, ranked)) != sorted(_build_sort_key(entry[1:]) for entry in placed):
        # a document that stands in several items counts for one of them: the ranking has decided which
        placed = [(f"item {n}", grade, rank) for n, (grade, rank) in enumerate(ranked, 1)]
    return sorted(placed, key=lambda entry: (entry[2] is None, entry[2] or 0))


def _build_sort_key(graded: tuple[float, int | None]) -> tuple[float, int]:
    return graded[0], graded[1] or 0


def list_relevant(case: ExampleCase, metric: Metric) -> list[tuple[str, float, int | None]]:
    """L: the judged items whose grade is at least rel, those found first."""
    return [entry for entry in list_places(case, find_ranking_fact(metric)) if entry[1] >= getattr(metric, "rel", 1.0)]


def find_cutoff(case: ExampleCase, metric: Metric) -> int:
    """k, or the length of the list where no k is given."""
    ranking: Ranking = case.read_fact(find_ranking_fact(metric))
    return getattr(metric, "k", None) or ranking.n_returned


def describe_absence(case: ExampleCase) -> str:
    """What is said of a labelled document without a rank, which may be among the candidates all the same."""
    return "not returned" if case.facts.response.candidates is None else "not in the context"


def _format_place(case: ExampleCase, entry: tuple[str, float, int | None]) -> str:
    name, grade, rank = entry
    graded = "" if grade == 1 else f"grade {format_number(grade)}, "
    return f"{name} ({graded}{f'rank {rank}' if rank is not None else describe_absence(case)})"


def _format_relevant(case: ExampleCase, metric: Metric) -> str:
    relevant_items = list_relevant(case, metric)
    return (
        f"{len(relevant_items)}: {format_list(_format_place(case, entry) for entry in relevant_items)}"
        if relevant_items
        else "none"
    )


def _build_top_formatter(size: Callable[[ExampleCase, Metric], int]) -> SymbolFormatter:
    def format_top(case: ExampleCase, metric: Metric) -> str:
        k, n = size(case, metric), case.read_fact(find_ranking_fact(metric)).n_returned
        inside = [name for name, _, rank in list_relevant(case, metric) if rank is not None and rank <= k]
        some = f"ranks 1 to {min(k, n)}" if n else "nothing was retrieved"
        again = len(_list_repeat_ranks(case, metric))
        more = f"; {format_count(again, 'additional chunk')} of the same documents" if again else ""
        return f"{some}; {len(inside)} of L among them: {format_list(inside)}{more}"

    return format_top


def _list_hit_ranks(case: ExampleCase, metric: Metric) -> list[int]:
    k = find_cutoff(case, metric)
    return [rank for _, _, rank in list_relevant(case, metric) if rank is not None and rank <= k]


def _list_repeat_ranks(case: ExampleCase, metric: Metric) -> list[int]:
    """Ranks up to k of further chunks of relevant documents, where the metric counts them."""
    if metric.name() not in ("precision", "f1"):
        return []
    ranking: Ranking = case.read_fact(find_ranking_fact(metric))
    min_grade = getattr(metric, "rel", 1.0)
    return [rank for grade, rank in ranking.again if grade >= min_grade and rank <= find_cutoff(case, metric)]


def _format_grades(case: ExampleCase, metric: Metric) -> str:
    k = find_cutoff(case, metric)
    graded = [(rank, grade) for _, grade, rank in list_places(case) if rank is not None and rank <= k and grade > 0]
    return format_list(f"g_{rank} = {format_number(grade)}" for rank, grade in graded)


def _compute_gain(grade: float, metric: Metric) -> float:
    return 2.0**grade - 1.0 if getattr(metric, "gain", "linear") == "exp" else grade


def _format_discounted(gains: Sequence[tuple[int, float]]) -> tuple[str, float]:
    terms = " + ".join(f"{format_number(gain)}/log2({rank + 1})" for rank, gain in gains[:6])
    more = " + …" if len(gains) > 6 else ""
    return terms + more, sum(gain / log2(rank + 1) for rank, gain in gains)


def _format_ideal(case: ExampleCase, metric: Metric) -> tuple[str, float]:
    best_gains = sorted((_compute_gain(grade, metric) for _, grade, _ in list_places(case) if grade > 0), reverse=True)
    return _format_discounted(list(enumerate(best_gains[: getattr(metric, "k", None)], 1)))


def _format_idcg(case: ExampleCase, metric: Metric) -> str:
    terms, value = _format_ideal(case, metric)
    return f"{terms} = {format_number(value)}"


def _list_irrelevant(case: ExampleCase, metric: Metric) -> list[tuple[str, float, int | None]]:
    return [entry for entry in list_places(case) if 0 <= entry[1] < getattr(metric, "rel", 1.0)]


def _format_above(case: ExampleCase, metric: Metric) -> str:
    others = [rank for _, _, rank in _list_irrelevant(case, metric) if rank is not None]
    ranked = [(name, rank) for name, _, rank in list_relevant(case, metric) if rank is not None]
    return format_list(f"{sum(other < rank for other in others)} above {name}" for name, rank in ranked)


def _format_judged(case: ExampleCase, metric: Metric) -> str:
    k = find_cutoff(case, metric)
    ranks = case.read_fact("labels.ranking").judged_ranks
    return f"{sum(rank <= k for rank in ranks)} in the top {k}: {format_list(map(str, [r for r in ranks if r <= k]))}"


def _format_precision_recall(case: ExampleCase, metric: Metric) -> str:
    hits, k, n = len(_list_hit_ranks(case, metric)), find_cutoff(case, metric), len(list_relevant(case, metric))
    return (
        f"{hits + len(_list_repeat_ranks(case, metric))}/{k} and {hits}/{n}"
        if n and k
        else "undefined (division by zero)"
    )


RANKING_SYMBOLS: Mapping[str, SymbolFormatter] = {
    "L": _format_relevant,
    "top_k": _build_top_formatter(find_cutoff),
    "top_r": lambda case, metric: format_list(
        f"{n} of L in top_{rank}" for n, rank in enumerate(_list_hit_ranks(case, metric), 1)
    ),
    "top_R": _build_top_formatter(lambda case, metric: len(list_relevant(case, metric))),
    "R": lambda case, metric: str(len(list_relevant(case, metric))),
    "r": lambda case, metric: format_list(map(str, _list_hit_ranks(case, metric))),
    "P, R": _format_precision_recall,
    "g_i": _format_grades,
    "gain": lambda _, metric: "2^g - 1" if getattr(metric, "gain", "") == "exp" else "g",
    "IDCG": _format_idcg,
    "above": _format_above,
    "N": lambda case, metric: str(len(_list_irrelevant(case, metric))),
    "J": _format_judged,
    "n": lambda case, _: str(case.read_fact("labels.ranking").n_returned),
}


def format_ndcg(case: ExampleCase, metric: Metric) -> str:
    """DCG / IDCG with the numbers put in."""
    k = find_cutoff(case, metric)
    gains = [
        (rank, _compute_gain(grade, metric))
        for _, grade, rank in list_places(case)
        if grade > 0 and rank is not None and rank <= k
    ]
    (terms, dcg), (ideal, best) = _format_discounted(gains), _format_ideal(case, metric)
    return f"({terms or '0'}) / ({ideal}) = {format_number(dcg)} / {format_number(best)}"


def format_map(case: ExampleCase, metric: Metric) -> str:
    """Precision at the rank of each hit, over #L."""
    terms = " + ".join(f"{n}/{rank}" for n, rank in enumerate(_list_hit_ranks(case, metric), 1))
    return f"({terms or '0'}) / {len(list_relevant(case, metric))}"


def format_mrr(case: ExampleCase, metric: Metric) -> str:
    """1 / the first rank."""
    ranks = _list_hit_ranks(case, metric)
    return f"1 / {min(ranks)}" if ranks else ""


def format_f1(case: ExampleCase, metric: Metric) -> str:
    """2 hits / (k + #L); 2 P R / (P + R) where documents came back in several chunks."""
    hits, k, n = len(_list_hit_ranks(case, metric)), find_cutoff(case, metric), len(list_relevant(case, metric))
    if not _list_repeat_ranks(case, metric):
        return f"2 · {hits} / ({k} + {n})"
    p, r = f"{hits + len(_list_repeat_ranks(case, metric))}/{k}", f"{hits}/{n}"
    return f"2 · {p} · {r} / ({p} + {r})"


def format_rbp(case: ExampleCase, metric: Metric) -> str:
    """(1 − p) Σ p^(r−1)."""
    p = getattr(metric, "p", 0.0)
    terms = " + ".join(f"{p:g}^{rank - 1}" for rank in _list_hit_ranks(case, metric))
    return f"(1 - {p:g}) · ({terms or '0'})"


def format_bpref(case: ExampleCase, metric: Metric) -> str:
    """The penalty of each returned item of L."""
    others = [rank for _, _, rank in _list_irrelevant(case, metric) if rank is not None]
    n, size = len(_list_irrelevant(case, metric)), len(list_relevant(case, metric))
    hits = [rank for _, _, rank in list_relevant(case, metric) if rank is not None]
    above = [sum(other < rank for other in others) for rank in hits]
    terms = " + ".join(f"(1 - {min(a, size)}/{min(n, size)})" if a else "1" for a in above)
    return f"({terms or '0'}) / {size}"


RANK_TERMS_BY_METRIC: Mapping[str, Callable[[ExampleCase, Metric], str]] = {
    "ndcg": format_ndcg,
    "map": format_map,
    "mrr": format_mrr,
    "f1": format_f1,
    "rbp": format_rbp,
    "bpref": format_bpref,
}


UNITS: Mapping[str, str] = {"token": "token", "char": "character"}


def build_span_symbols(unit: str) -> Mapping[str, Callable[[ExampleCase, Metric], str]]:
    """The values of symbols over spans counted in tokens or in characters.

    Args:
        unit: "token" or "char".
    """
    fact = f"labels.{unit}_spans"

    def format_gold(case: ExampleCase, _: Metric) -> str:
        overlap: GoldOverlap = case.read_fact(fact)
        return f"{format_count(count_units(overlap.gold), UNITS[unit])} in {format_count(len(overlap.gold), 'span')}"

    def format_returned(case: ExampleCase, metric: Metric) -> str:
        overlap: GoldOverlap = case.read_fact(fact)
        chunks = take_first(overlap.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        gold_text = f"{count_covered(overlap.gold, chunks):,} of them gold"
        return f"{format_count(count_units(chunks), UNITS[unit])} in {format_count(len(chunks), 'chunk')}, {gold_text}"

    def format_touching(case: ExampleCase, _: Metric) -> str:
        overlap: GoldOverlap = case.read_fact(fact)
        if overlap.touching is None:
            return "unknown: the chunks of the index"
        return f"{format_count(len(overlap.touching), 'chunk')} that overlap gold spans"

    def format_length(case: ExampleCase, metric: Metric) -> str:
        overlap: GoldOverlap = case.read_fact(fact)
        chunks = take_first(overlap.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        return format_count(count_units(chunks), UNITS[unit])

    return {"G": format_gold, "R": format_returned, "C": format_touching, "len": format_length}


# ---- vectors that an index found ----


def _read_neighbors(case: ExampleCase, metric: Metric) -> tuple[dict[int, float], tuple[float, ...], int]:
    """Vectors found up to k with their distances, the distances of the k nearest, and k."""
    neighbors: FoundNeighbors = case.read_fact("labels.neighbours")
    k = int(getattr(metric, "k", 0))
    return dict(zip(neighbors.ids[:k], neighbors.distances[:k], strict=True)), neighbors.nearest[:k], k


def _format_kth_distance(case: ExampleCase, metric: Metric) -> str:
    nearest = _read_neighbors(case, metric)[1]
    return (
        format_number(nearest[-1])
        if nearest
        else f"none: {case.read_fact('labels.neighbours').why or 'no vector can be found'}"
    )


def _format_findable(case: ExampleCase, metric: Metric) -> str:
    _, nearest, k = _read_neighbors(case, metric)
    return f"{k:,} or more" if len(nearest) == k else f"{len(nearest):,}"


NEIGHBOR_SYMBOLS: Mapping[str, SymbolFormatter] = {
    "A[k]": lambda case, metric: format_list(map(str, _read_neighbors(case, metric)[0])),
    "d[i]": lambda case, metric: format_list(
        f"d[{n}] = {format_number(distance)}" for n, distance in _read_neighbors(case, metric)[0].items()
    ),
    "d_k": _format_kth_distance,
    "n": _format_findable,
}
