"""Whether what comes in is no longer what came in before: one test a day and kind of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ragauge.monitoring.drift.normal_ranges import DriftMeasure
    from ragauge.stats.drift import Vectors

Texts = Literal["queries", "documents"]
LEVEL = 0.01  # of the test of a day
LEAST = 50  # vectors on a side
CLUSTERS = 20  # of the baseline, at most: one for each LEAST / 5 vectors
SHOWN, QUERIES = 3, 5  # clusters that grew most, and texts of each


@dataclass(frozen=True, slots=True)
class Drift:
    """What a day's embeddings say beside the baseline's.

    Attributes:
        of: whose embeddings.
        drifted: whether they moved; None = not enough data.
        distance: of the mean embeddings, squared; None where there is none.
        p: of the permutation test, in (0, 1]; None likewise.
        reason: in words.
    """

    of: Texts
    drifted: bool | None
    distance: float | None
    p: float | None
    reason: str


class DriftDay(NamedTuple):
    """What one day of traffic says; of which project, where there are several, "" else."""

    day: date
    drift: Drift
    project: str = ""


class PlacedText(NamedTuple):
    """A text of a day, and the response that it is of."""

    text: str
    run_id: str = ""
    query_id: str = ""


class GrownCluster(NamedTuple):
    """A cluster of the baseline that the day has a larger share of: both shares, and the day's texts nearest to it."""

    before: float
    now: float
    texts: tuple[PlacedText, ...]


class LanguageShare(NamedTuple):
    """A language, ISO 639-1 or und, and its share of the texts before and of the day."""

    language: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class DriftDetail:
    """How a day's texts differ from the baseline's. It explains, and decides nothing.

    Attributes:
        day: of the texts.
        of: which texts.
        divergence: Jensen-Shannon, of the shares of the baseline's clusters, base 2, in [0, 1].
        words_before: median number of words of the baseline's texts.
        words_now: of the day's.
        languages: those with at least 1 % of either, the most frequent of the day first.
        grown: clusters whose share grew most, at most three.
        pairwise_kl: how far the histogram of distances between two of the day's texts is from the baseline's.
    """

    day: date
    of: Texts
    divergence: float | None
    words_before: float
    words_now: float
    languages: tuple[LanguageShare, ...]
    grown: tuple[GrownCluster, ...]
    pairwise_kl: float = 0.0

    @property
    def values(self) -> dict[str, float]:
        """What is measured of these texts, by name, in the order in which it is shown."""
        shift = sum(abs(one.now - one.before) for one in self.languages) / 2
        apart = {} if self.divergence is None else {"js_divergence": self.divergence}
        return {**apart, "pairwise_kl": self.pairwise_kl, "words": self.words_now, "language_shift": shift}


@dataclass(frozen=True, slots=True)
class DriftReport:
    """Drift of stored traffic.

    Attributes:
        days: the test of each of the last days and kinds of texts.
        details: how the last day differs.
        measures: what is measured of the last day, each beside what is usual.
        good: days that people marked good.
        bad: days that they marked bad.
        project: whose traffic, where there are several projects; "" = there is one.
        others: the projects beside it.
    """

    days: tuple[DriftDay, ...]
    details: tuple[DriftDetail, ...]
    measures: tuple[DriftMeasure, ...] = ()
    good: int = 0
    bad: int = 0
    project: str = ""
    others: tuple[str, ...] = ()

    @property
    def unusual(self) -> str:
        """What of the last day lies outside its band, in words; "" = nothing."""
        told = [f"{one.name} of {one.of} {one.value:.3g}" for one in self.measures if one.outside]
        return f"; unusual: {', '.join(told)}" if told else ""


def drift_name(of: Texts, project: str = "") -> str:
    """What is watched, of an alert that texts drifted; with the project, where there are several.

    >>> drift_name("queries"), drift_name("queries", "shop")
    ('drift of queries', 'drift of queries (shop)')
    """
    return f"drift of {of}{f' ({project})' if project else ''}"


def permutations_for(level: float) -> int:
    """Permutations that a p as small as the level takes, five times over.

    >>> permutations_for(0.001)
    4999
    """
    return ceil(5 / level) - 1


def detail(
    day: date,
    of: Texts,
    before: tuple[Sequence[PlacedText], Vectors],
    now: tuple[Sequence[PlacedText], Vectors],
    *,
    seed: int = 0,
) -> DriftDetail | None:
    """How a day's texts differ from the baseline's; None where there are fewer than 50 on a side.

    Args:
        day: of the texts.
        of: which texts.
        before: the baseline's texts and their embeddings, shape (n, d).
        now: the day's.
        seed: of the clusters, k-means over the baseline, and of the pairs whose distances are taken.
    """
    import numpy as np
    from scipy.cluster.vq import kmeans2, vq

    from ragauge.stats.drift import js_divergence, pairwise_kl

    if min(len(before[0]), len(now[0])) < LEAST:
        return None
    old, new = np.asarray(before[1], dtype=float), np.asarray(now[1], dtype=float)
    k = min(CLUSTERS, len(old) // (LEAST // 5))
    centres, placed = kmeans2(old, k, minit="++", rng=np.random.default_rng(seed))
    found, distance = vq(new, centres)
    counts, counts_now = (np.bincount(one, minlength=k) for one in (placed, found))
    shares, shares_now = counts / len(old), counts_now / len(new)
    grown = []
    for cluster in np.argsort(shares - shares_now)[:SHOWN].tolist():
        if shares_now[cluster] > shares[cluster]:
            members = np.flatnonzero(found == cluster)
            nearest = members[np.argsort(distance[members])].tolist()
            texts: dict[str, PlacedText] = {}
            for place in nearest:
                texts.setdefault(now[0][place].text, now[0][place])
            nearest_texts = tuple(texts.values())[:QUERIES]
            grown.append(GrownCluster(float(shares[cluster]), float(shares_now[cluster]), nearest_texts))
    words, words_now = (float(median(len(one.text.split()) for one in side[0])) for side in (before, now))
    languages = _languages([one.text for one in before[0]], [one.text for one in now[0]])
    divergence, apart = js_divergence(counts, counts_now), pairwise_kl(old, new, seed=seed)
    return DriftDetail(day, of, divergence, words, words_now, languages, tuple(grown), apart)


def _languages(before: Sequence[str], now: Sequence[str]) -> tuple[LanguageShare, ...]:
    from ragauge.text.language import guess

    old, new = (Counter(map(guess, texts)) for texts in (before, now))
    every = [LanguageShare(name, old[name] / len(before), new[name] / len(now)) for name in {**new, **old}]
    told = [one for one in every if max(one.before, one.now) >= 0.01]
    return tuple(sorted(told, key=lambda one: (-one.now, one.language)))


def drift(of: Texts, before: Vectors, now: Vectors, *, permutations: int = 999, seed: int = 0) -> Drift:
    """Whether the mean embedding of a day moved away from the baseline's.

    Of samples of the same texts, one in a hundred counts as moved. Embeddings of another dimension have moved: they
    are another model's.

    Args:
        of: whose embeddings.
        before: the baseline's, shape (n, d).
        now: the day's, shape (m, d).
        permutations: of the test.
        seed: of the permutations.

    >>> drift("queries", [[0.0]] * 60, [[1.0]] * 10).reason
    'not enough data: 60 before and 10 now, of 50 each'
    """
    from ragauge.stats.drift import mean_shift

    n, m = len(before), len(now)
    if min(n, m) < LEAST:
        return Drift(of, None, None, None, f"not enough data: {n} before and {m} now, of {LEAST} each")
    old, new = len(before[0]), len(now[0])
    if old != new:
        return Drift(of, True, None, None, f"another embedder: {old} dimensions before, {new} now")
    found = mean_shift(before, now, permutations=permutations, seed=seed)
    moved = found.p <= LEVEL
    said = "moved" if moved else "did not move"
    return Drift(of, moved, found.distance, found.p, f"the mean embedding {said}: p = {found.p:.3f}, {n} and {m} texts")
