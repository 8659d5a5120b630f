"""Symbols and arithmetic of metrics over labelled documents.

The symbols of metrics that hold gold spans against chunks, or found vectors against the nearest, with their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log2

from ragauge.core.messages import plural
from ragauge.core.ranking import FoundNeighbours, GoldOverlap, Ranking
from ragauge.diagnosis.explain.case import ExampleCase, listed, number
from ragauge.metrics.base import Metric
from ragauge.metrics.retrieval.ranks import labelled
from ragauge.metrics.spans.span_coverage import covered, first, size

Value = Callable[[ExampleCase, Metric], str]
RANKING = "labels.ranking"


def fact_of(metric: Metric) -> str:
    """Where the ranking comes from that the metric is about: documents, or chunks."""
    return metric.needs.get("ranking", RANKING)


def places(case: ExampleCase, fact: str = RANKING) -> list[tuple[str, float, int | None]]:
    """The judged items of an example: document or chunk, or several of which any one will do; grade; rank."""
    example, response = case.facts.example, case.facts.response
    judged, ids = labelled(example if fact == RANKING else replace(example, relevant=None), response)
    ranks: dict[str, int] = {}
    for rank, ranked_id in enumerate(ids, 1):
        ranks.setdefault(ranked_id, rank)
    placed = []
    for item in judged:
        best = min((ranks[doc_id] for doc_id in item.doc_ids if doc_id in ranks), default=None)
        placed.append((" or ".join(item.doc_ids[:3]), item.grade, best))
    ranked = list(case.fact(fact).items)
    if sorted(map(_plain, ranked)) != sorted(_plain(entry[1:]) for entry in placed):
        # a document that stands in several items counts for one of them: the ranking has decided which
        placed = [(f"item {n}", grade, rank) for n, (grade, rank) in enumerate(ranked, 1)]
    return sorted(placed, key=lambda entry: (entry[2] is None, entry[2] or 0))


def _plain(graded: tuple[float, int | None]) -> tuple[float, int]:
    return graded[0], graded[1] or 0


def relevant(case: ExampleCase, metric: Metric) -> list[tuple[str, float, int | None]]:
    """L: the judged items whose grade is at least rel, those found first."""
    return [entry for entry in places(case, fact_of(metric)) if entry[1] >= getattr(metric, "rel", 1.0)]


def cutoff(case: ExampleCase, metric: Metric) -> int:
    """k, or the length of the list where no k is given."""
    ranking: Ranking = case.fact(fact_of(metric))
    return getattr(metric, "k", None) or ranking.n_returned


def absent(case: ExampleCase) -> str:
    """What is said of a labelled document without a rank, which may be among the candidates all the same."""
    return "not returned" if case.facts.response.candidates is None else "not handed on"


def _where(case: ExampleCase, entry: tuple[str, float, int | None]) -> str:
    name, grade, rank = entry
    graded = "" if grade == 1 else f"grade {number(grade)}, "
    return f"{name} ({graded}{f'rank {rank}' if rank is not None else absent(case)})"


def _relevant(case: ExampleCase, metric: Metric) -> str:
    labelled = relevant(case, metric)
    return f"{len(labelled)}: {listed(_where(case, one) for one in labelled)}" if labelled else "none"


def _top(size: Callable[[ExampleCase, Metric], int]) -> Value:
    def value(case: ExampleCase, metric: Metric) -> str:
        k, n = size(case, metric), case.fact(fact_of(metric)).n_returned
        inside = [name for name, _, rank in relevant(case, metric) if rank is not None and rank <= k]
        some = f"ranks 1 to {min(k, n)}" if n else "nothing was returned"
        again = len(_again(case, metric))
        more = f"; {plural(again, 'further chunk')} of theirs" if again else ""
        return f"{some}; {len(inside)} of L among them: {listed(inside)}{more}"

    return value


def _ranks(case: ExampleCase, metric: Metric) -> list[int]:
    k = cutoff(case, metric)
    return [rank for _, _, rank in relevant(case, metric) if rank is not None and rank <= k]


def _again(case: ExampleCase, metric: Metric) -> list[int]:
    """Ranks up to k of further chunks of relevant documents, where the metric counts them."""
    if metric.name() not in ("precision", "f1"):
        return []
    ranking: Ranking = case.fact(fact_of(metric))
    least = getattr(metric, "rel", 1.0)
    return [rank for grade, rank in ranking.again if grade >= least and rank <= cutoff(case, metric)]


def _grades(case: ExampleCase, metric: Metric) -> str:
    k = cutoff(case, metric)
    graded = [(rank, grade) for _, grade, rank in places(case) if rank is not None and rank <= k and grade > 0]
    return listed(f"g_{rank} = {number(grade)}" for rank, grade in graded)


def _gain(grade: float, metric: Metric) -> float:
    return 2.0**grade - 1.0 if getattr(metric, "gain", "linear") == "exp" else grade


def _discounted(gains: Sequence[tuple[int, float]]) -> tuple[str, float]:
    terms = " + ".join(f"{number(gain)}/log2({rank + 1})" for rank, gain in gains[:6])
    more = " + …" if len(gains) > 6 else ""
    return terms + more, sum(gain / log2(rank + 1) for rank, gain in gains)


def _ideal(case: ExampleCase, metric: Metric) -> tuple[str, float]:
    best = sorted((_gain(grade, metric) for _, grade, _ in places(case) if grade > 0), reverse=True)
    return _discounted(list(enumerate(best[: getattr(metric, "k", None)], 1)))


def _idcg(case: ExampleCase, metric: Metric) -> str:
    terms, value = _ideal(case, metric)
    return f"{terms} = {number(value)}"


def _others(case: ExampleCase, metric: Metric) -> list[tuple[str, float, int | None]]:
    return [entry for entry in places(case) if 0 <= entry[1] < getattr(metric, "rel", 1.0)]


def _above(case: ExampleCase, metric: Metric) -> str:
    others = [rank for _, _, rank in _others(case, metric) if rank is not None]
    ranked = [(name, rank) for name, _, rank in relevant(case, metric) if rank is not None]
    return listed(f"{sum(other < rank for other in others)} above {name}" for name, rank in ranked)


def _judged(case: ExampleCase, metric: Metric) -> str:
    k = cutoff(case, metric)
    ranks = case.fact("labels.ranking").judged_ranks
    return f"{sum(rank <= k for rank in ranks)} at ranks up to {k}: {listed(map(str, [r for r in ranks if r <= k]))}"


def _precision_recall(case: ExampleCase, metric: Metric) -> str:
    hits, k, n = len(_ranks(case, metric)), cutoff(case, metric), len(relevant(case, metric))
    return f"{hits + len(_again(case, metric))}/{k} and {hits}/{n}" if n and k else "nothing to divide by"


OF_RANKING: Mapping[str, Value] = {
    "L": _relevant,
    "top_k": _top(cutoff),
    "top_r": lambda case, metric: listed(f"{n} of L in top_{rank}" for n, rank in enumerate(_ranks(case, metric), 1)),
    "top_R": _top(lambda case, metric: len(relevant(case, metric))),
    "R": lambda case, metric: str(len(relevant(case, metric))),
    "r": lambda case, metric: listed(map(str, _ranks(case, metric))),
    "P, R": _precision_recall,
    "g_i": _grades,
    "gain": lambda _, metric: "2^g - 1" if getattr(metric, "gain", "") == "exp" else "g",
    "IDCG": _idcg,
    "above": _above,
    "N": lambda case, metric: str(len(_others(case, metric))),
    "J": _judged,
    "n": lambda case, _: str(case.fact("labels.ranking").n_returned),
}


def worked_ndcg(case: ExampleCase, metric: Metric) -> str:
    """DCG / IDCG with the numbers put in."""
    k = cutoff(case, metric)
    gains = [
        (rank, _gain(grade, metric)) for _, grade, rank in places(case) if grade > 0 and rank is not None and rank <= k
    ]
    (terms, dcg), (ideal, best) = _discounted(gains), _ideal(case, metric)
    return f"({terms or '0'}) / ({ideal}) = {number(dcg)} / {number(best)}"


def worked_map(case: ExampleCase, metric: Metric) -> str:
    """Precision at the rank of each hit, over #L."""
    terms = " + ".join(f"{n}/{rank}" for n, rank in enumerate(_ranks(case, metric), 1))
    return f"({terms or '0'}) / {len(relevant(case, metric))}"


def worked_mrr(case: ExampleCase, metric: Metric) -> str:
    """1 / the first rank."""
    ranks = _ranks(case, metric)
    return f"1 / {min(ranks)}" if ranks else ""


def worked_f1(case: ExampleCase, metric: Metric) -> str:
    """2 hits / (k + #L); 2 P R / (P + R) where documents came back in several chunks."""
    hits, k, n = len(_ranks(case, metric)), cutoff(case, metric), len(relevant(case, metric))
    if not _again(case, metric):
        return f"2 · {hits} / ({k} + {n})"
    p, r = f"{hits + len(_again(case, metric))}/{k}", f"{hits}/{n}"
    return f"2 · {p} · {r} / ({p} + {r})"


def worked_rbp(case: ExampleCase, metric: Metric) -> str:
    """(1 − p) Σ p^(r−1)."""
    p = getattr(metric, "p", 0.0)
    terms = " + ".join(f"{p:g}^{rank - 1}" for rank in _ranks(case, metric))
    return f"(1 - {p:g}) · ({terms or '0'})"


def worked_bpref(case: ExampleCase, metric: Metric) -> str:
    """The penalty of each returned item of L."""
    others = [rank for _, _, rank in _others(case, metric) if rank is not None]
    n, size = len(_others(case, metric)), len(relevant(case, metric))
    hits = [rank for _, _, rank in relevant(case, metric) if rank is not None]
    above = [sum(other < rank for other in others) for rank in hits]
    terms = " + ".join(f"(1 - {min(a, size)}/{min(n, size)})" if a else "1" for a in above)
    return f"({terms or '0'}) / {size}"


WORKED: Mapping[str, Callable[[ExampleCase, Metric], str]] = {
    "ndcg": worked_ndcg,
    "map": worked_map,
    "mrr": worked_mrr,
    "f1": worked_f1,
    "rbp": worked_rbp,
    "bpref": worked_bpref,
}


UNITS: Mapping[str, str] = {"token": "token", "char": "character"}


def of_spans(unit: str) -> Mapping[str, Callable[[ExampleCase, Metric], str]]:
    """The values of symbols over spans counted in tokens or in characters.

    Args:
        unit: "token" or "char".
    """
    fact = f"labels.{unit}_spans"

    def gold(case: ExampleCase, _: Metric) -> str:
        overlap: GoldOverlap = case.fact(fact)
        return f"{plural(size(overlap.gold), UNITS[unit])} in {plural(len(overlap.gold), 'span')}"

    def returned(case: ExampleCase, metric: Metric) -> str:
        overlap: GoldOverlap = case.fact(fact)
        chunks = first(overlap.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        held = f"{covered(overlap.gold, chunks):,} of them gold"
        return f"{plural(size(chunks), UNITS[unit])} in {plural(len(chunks), 'chunk')}, {held}"

    def touching(case: ExampleCase, _: Metric) -> str:
        overlap: GoldOverlap = case.fact(fact)
        if overlap.touching is None:
            return "not known: the chunks of the index"
        return f"{plural(len(overlap.touching), 'chunk')} that touch gold"

    def length(case: ExampleCase, metric: Metric) -> str:
        overlap: GoldOverlap = case.fact(fact)
        chunks = first(overlap.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        return plural(size(chunks), UNITS[unit])

    return {"G": gold, "R": returned, "C": touching, "len": length}


# ---- vectors that an index found ----


def _neighbours(case: ExampleCase, metric: Metric) -> tuple[dict[int, float], tuple[float, ...], int]:
    """Vectors found up to k with their distances, the distances of the k nearest, and k."""
    neighbours: FoundNeighbours = case.fact("labels.neighbours")
    k = int(getattr(metric, "k", 0))
    return dict(zip(neighbours.ids[:k], neighbours.distances[:k], strict=True)), neighbours.nearest[:k], k


def _kth(case: ExampleCase, metric: Metric) -> str:
    nearest = _neighbours(case, metric)[1]
    return number(nearest[-1]) if nearest else f"none: {case.fact('labels.neighbours').why or 'no vector may be found'}"


def _findable(case: ExampleCase, metric: Metric) -> str:
    _, nearest, k = _neighbours(case, metric)
    return f"{k:,} or more" if len(nearest) == k else f"{len(nearest):,}"


OF_NEIGHBOURS: Mapping[str, Value] = {
    "A[k]": lambda case, metric: listed(map(str, _neighbours(case, metric)[0])),
    "d[i]": lambda case, metric: listed(
        f"d[{n}] = {number(distance)}" for n, distance in _neighbours(case, metric)[0].items()
    ),
    "d_k": _kth,
    "n": _findable,
}
