"""Drift of what comes in, one test a day and kind of text, and the normal range of a measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, sqrt
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ragauge.stats.drift import Vectors


Texts = Literal["queries", "documents"]
LEVEL = 0.01  # of the test of a day
MIN_VECTORS = 50  # vectors on a side
MAX_BASELINE_CLUSTERS = 20  # of the baseline, at most: one for each LEAST / 5 vectors
MAX_CLUSTERS, MAX_CLUSTER_TEXTS = 3, 5  # clusters that grew most, and texts of each


@dataclass(frozen=True, slots=True)
class Drift:
    """What a day's embeddings say beside the baseline's."""

    of: Texts  #: whose embeddings.
    drifted: bool | None  #: whether they moved; None = not enough data.
    distance: float | None  #: of the mean embeddings, squared; None where there is none.
    p: float | None  #: of the permutation test, in (0, 1]; None likewise.
    reason: str  #: in words.


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
    """How a day's texts differ from the baseline's. It explains, and decides nothing."""

    day: date  #: of the texts.
    of: Texts  #: which texts.
    divergence: float | None  #: Jensen-Shannon, of the shares of the baseline's clusters, base 2, in [0, 1].
    words_before: float  #: median number of words of the baseline's texts.
    words_now: float  #: of the day's.
    languages: tuple[LanguageShare, ...]  #: those with at least 1 % of either, the most frequent of the day first.
    grown: tuple[GrownCluster, ...]  #: clusters whose share grew most, at most three.
    #: how far the histogram of distances between two of the day's texts is from the baseline's.
    pairwise_kl: float = 0.0

    @property
    def values(self) -> dict[str, float]:
        """What is measured of these texts, by name, in the order in which it is shown."""
        shift = sum(abs(language.now - language.before) for language in self.languages) / 2
        divergence = {} if self.divergence is None else {"js_divergence": self.divergence}
        return {**divergence, "pairwise_kl": self.pairwise_kl, "words": self.words_now, "language_shift": shift}


@dataclass(frozen=True, slots=True)
class DriftReport:
    """Drift of stored traffic."""

    days: tuple[DriftDay, ...]  #: the test of each of the last days and kinds of texts.
    details: tuple[DriftDetail, ...]  #: how the last day differs.
    measures: tuple[DriftMeasure, ...] = ()  #: what is measured of the last day, each beside what is usual.
    good: int = 0  #: days that people marked good.
    bad: int = 0  #: days that they marked bad.
    project: str = ""  #: whose traffic, where there are several projects; "" = there is one.
    others: tuple[str, ...] = ()  #: the projects beside it.

    @property
    def unusual_text(self) -> str:
        """What of the last day lies outside its band, in words; "" = nothing."""
        outliers = [
            f"{measure.name} of {measure.of} = {measure.value:.3g}" for measure in self.measures if measure.is_outside
        ]
        return f"; unusual: {', '.join(outliers)}" if outliers else ""


def build_drift_name(of: Texts, project: str = "") -> str:
    """What is watched, of an alert that texts drifted; with the project, where there are several.

    >>> build_drift_name("queries"), build_drift_name("queries", "shop")
    ('drift of queries', 'drift of queries (shop)')
    """
    return f"drift of {of}{f' ({project})' if project else ''}"


def count_permutations(level: float) -> int:
    """Permutations that a p as small as the level takes, five times over.

    >>> count_permutations(0.001)
    4999
    """
    return ceil(5 / level) - 1


def compute_drift_detail(
    day: date,
    of: Texts,
    baseline: tuple[Sequence[PlacedText], Vectors],
    current: tuple[Sequence[PlacedText], Vectors],
    *,
    seed: int = 0,
) -> DriftDetail | None:
    """How a day's texts differ from the baseline's; None where there are fewer than 50 on a side.

    Args:
        day: of the texts.
        of: which texts.
        baseline: the baseline's texts and their embeddings, shape (n, d).
        current: the day's.
        seed: of the clusters, k-means over the baseline, and of the pairs whose distances are taken.
    """
    import numpy as np
    from scipy.cluster.vq import kmeans2, vq

    from ragauge.stats.drift import js_divergence, pairwise_kl

    if min(len(baseline[0]), len(current[0])) < MIN_VECTORS:
        return None
    old, new = np.asarray(baseline[1], dtype=float), np.asarray(current[1], dtype=float)
    k = min(MAX_BASELINE_CLUSTERS, len(old) // (MIN_VECTORS // 5))
    centres, placed = kmeans2(old, k, minit="++", rng=np.random.default_rng(seed))
    cluster_ids, distance = vq(new, centres)
    counts, counts_now = (np.bincount(item, minlength=k) for item in (placed, cluster_ids))
    shares, shares_now = counts / len(old), counts_now / len(new)
    grown = []
    for cluster in np.argsort(shares - shares_now)[:MAX_CLUSTERS].tolist():
        if shares_now[cluster] > shares[cluster]:
            members = np.flatnonzero(cluster_ids == cluster)
            nearest = members[np.argsort(distance[members])].tolist()
            texts: dict[str, PlacedText] = {}
            for index in nearest:
                texts.setdefault(current[0][index].text, current[0][index])
            nearest_texts = tuple(texts.values())[:MAX_CLUSTER_TEXTS]
            grown.append(GrownCluster(float(shares[cluster]), float(shares_now[cluster]), nearest_texts))
    words, words_now = (float(median(len(item.text.split()) for item in side[0])) for side in (baseline, current))
    languages = _compare_languages([item.text for item in baseline[0]], [item.text for item in current[0]])
    divergence, pairwise = js_divergence(counts, counts_now), pairwise_kl(old, new, seed=seed)
    return DriftDetail(day, of, divergence, words, words_now, languages, tuple(grown), pairwise)


def _compare_languages(baseline: Sequence[str], current: Sequence[str]) -> tuple[LanguageShare, ...]:
    from ragauge.text.language import guess_language

    old, new = (Counter(map(guess_language, texts)) for texts in (baseline, current))
    every = [LanguageShare(name, old[name] / len(baseline), new[name] / len(current)) for name in {**new, **old}]
    common = [share for share in every if max(share.before, share.now) >= 0.01]
    return tuple(sorted(common, key=lambda share: (-share.now, share.language)))


def measure_drift(of: Texts, baseline: Vectors, current: Vectors, *, permutations: int = 999, seed: int = 0) -> Drift:
    """Whether the mean embedding of a day moved away from the baseline's.

    Of samples of the same texts, one in a hundred counts as moved. Embeddings of another dimension have moved: they
    are another model's.

    Args:
        of: whose embeddings.
        baseline: the baseline's, shape (n, d).
        current: the day's, shape (m, d).
        permutations: of the test.
        seed: of the permutations.

    >>> measure_drift("queries", [[0.0]] * 60, [[1.0]] * 10).reason
    'not enough data: 60 texts before and 10 now; needs 50 of each'
    """
    from ragauge.stats.drift import mean_shift

    n, m = len(baseline), len(current)
    if min(n, m) < MIN_VECTORS:
        return Drift(
            of, None, None, None, f"not enough data: {n} texts before and {m} now; needs {MIN_VECTORS} of each"
        )
    old, new = len(baseline[0]), len(current[0])
    if old != new:
        return Drift(of, True, None, None, f"different embedder: {old} dimensions before, {new} now")
    shift = mean_shift(baseline, current, permutations=permutations, seed=seed)
    moved = shift.p <= LEVEL
    outcome_text = "moved" if moved else "did not move"
    return Drift(
        of, moved, shift.distance, shift.p, f"the mean embedding {outcome_text}: p = {shift.p:.3f}, {n} and {m} texts"
    )


Marked = Literal["good", "bad"]
MIN_GOOD_DAYS = 5  # good days that a band takes
OUTSIDE_CHANCE = 0.01  # the chance that a day like the good ones lies outside


@dataclass(frozen=True, slots=True)
class MarkedPeriod:
    """Days of which somebody said how production was."""

    since: date  #: the first day.
    until: date  #: the last one, which counts too.
    was: Marked  #: good or bad.
    why: str = ""  #: in their words; "" = not said.


class Band(NamedTuple):
    """The values that are usual."""

    low: float  #: the least.
    high: float  #: the greatest.
    good: int  #: days marked good that it was learned from.
    bad: int  #: days marked bad.
    caught: int  #: how many of the bad days lie outside.


@dataclass(frozen=True, slots=True)
class DriftMeasure:
    """One thing that is measured of a day, beside what is usual. It explains, and decides nothing."""

    of: str  #: what it is measured on: queries, documents, requests, or the runs of a schedule.
    name: str  #: of the measure.
    value: float  #: of the day.
    band: Band | None = None  #: None where fewer than five days with this measure are marked good.

    @property
    def is_outside(self) -> bool | None:
        """Whether it is unusual; None without a band."""
        return None if self.band is None else not self.band.low <= self.value <= self.band.high


def list_marked_days(periods: Iterable[MarkedPeriod]) -> dict[date, Marked]:
    """Each day that was marked; where periods overlap, what was said last counts.

    >>> sample = MarkedPeriod(date(2026, 1, 1), date(2026, 1, 2), "good")
    >>> sorted(list_marked_days([sample, MarkedPeriod(date(2026, 1, 2), date(2026, 1, 2), "bad")]).values())
    ['bad', 'good']
    """
    return {
        period.since + timedelta(days=offset): period.was
        for period in periods
        for offset in range((period.until - period.since).days + 1)
    }


def learn_band(good: Sequence[float], bad: Sequence[float]) -> Band | None:
    """The band of a measure: where 99 % of further days like the good ones lie, narrowed by the bad ones.

    mean ± t · s · √(1 + 1/n),  t the 99.5 % quantile of Student's t with n − 1 degrees of freedom, but at least as
    wide as the good days' values. Where bad days lie beyond all good ones, the limit on that side is at most halfway
    between the two.

    Args:
        good: values of the days marked good, n of them.
        bad: of those marked bad.

    Returns:
        None with fewer than five good days.

    Source: Hahn and Meeker (1991), Statistical Intervals: the prediction interval for one further observation.

    >>> learn_band([1.0] * 4, [])
    >>> learn_band([0.1, 0.2, 0.1, 0.2, 0.15], [0.3, 0.12]).high
    0.25
    """
    from scipy.stats import t

    n = len(good)
    if n < MIN_GOOD_DAYS:
        return None
    mean, reach = fmean(good), float(t.ppf(1 - OUTSIDE_CHANCE / 2, n - 1)) * stdev(good) * sqrt(1 + 1 / n)
    lowest, highest = min(good), max(good)
    low, high = min(lowest, mean - reach), max(highest, mean + reach)
    if above := [value for value in bad if value > highest]:
        high = min(high, (highest + min(above)) / 2)
    if below := [value for value in bad if value < lowest]:
        low = max(low, (lowest + max(below)) / 2)
    caught = sum(not low <= value <= high for value in bad)
    return Band(low, high, n, len(bad), caught)
