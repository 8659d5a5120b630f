"""How far a judge's mean may lie from human labels, also by how it scores texts of known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.json_keys import Key, json_keys, key
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.label_gap import (
    MAX_PRIOR_LABELS,
    Bands,
    LabelGap,
    Offset,
    compute_expected,
    is_at_odds,
    update_offset,
)
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


SOURCE_SPREAD = 0.1  # standard deviation of a source's two means, between sources that are as alike as can be told
MIN_LIKELIHOOD = 0.3  # a share is in the 95 % set where the mean is at least so likely as under the best share
OTHER_SOURCE_WEIGHT = 0.03  # weight of a source in another layout; and in another language
N_SHARES = 201  # that are tried, 0 and 1 among them
LEVEL = 0.95


class SourceScale(NamedTuple):
    """Both ends of the judge's scale on one source, for one metric."""

    layout: str  #: of the passages there.
    language: str  #: ISO 639-1.
    right: float  #: the judge's mean over texts of which the metric is 1, in [0, 1].
    wrong: float  #: over texts of which it is 0.
    right_variance: float  #: of `right`, above 0.
    wrong_variance: float  #: of `wrong`, above 0.
    weight: float = 1.0  #: not negative; sources of one family share that of one.

    def mirror(self) -> SourceScale:
        """That of 1 less the metric."""
        return self._replace(
            right=1 - self.wrong,
            wrong=1 - self.right,
            right_variance=self.wrong_variance,
            wrong_variance=self.right_variance,
        )

    def weighted(self, mix: Mapping[tuple[str, str], float]) -> SourceScale:
        """With the weight that it has for texts of other layouts and languages.

        weight · Σ share · a · b over the mix, where a is 1 in the source's layout, b in its language, else UNLIKE

        Args:
            mix: (layout, language) -> share of a run's texts; empty = not known, and all sources keep their weight.
        """
        if not mix:
            return self
        similarity = sum(
            share
            * (1.0 if layout == self.layout else OTHER_SOURCE_WEIGHT)
            * (1.0 if language == self.language else OTHER_SOURCE_WEIGHT)
            for (layout, language), share in mix.items()
        )
        return self._replace(weight=self.weight * similarity)


def find_likely_shares(
    mean: float, variance: float, scales: Sequence[SourceScale], level: float = LEVEL
) -> tuple[float, float]:
    """Least and greatest share of right texts under which a judge's mean is likely.

    Were a share s right, and the run like a source, its mean would be normal around s · right + (1 − s) · wrong with
    variance + SPREAD² + s² · right_variance + (1 − s)² · wrong_variance. The likelihood of s is the weighted sum of
    these densities at the mean that was seen, over sources. The set holds all s whose likelihood is at least
    LIKELY^(z² / z₉₅²) of the greatest. It needs no share that is expected beforehand: all right and all wrong have the
    same chance to be held as any other. Where right and wrong texts score alike, no share is less likely than another,
    and the set is [0, 1].

    Source: likelihood intervals, Royall (1997), Statistical Evidence; the mixture over sources instead of one scale is
    Rogan and Gladen's (1978) correction with a sensitivity and a specificity that differ between sources.

    Args:
        mean: of a run's scores, in [0, 1].
        variance: of it by sampling.
        scales: at least one of a weight above 0.
        level: in (0, 1).

    >>> alike = SourceScale("prose", "ko", 0.99, 0.98, 1e-4, 1e-4)
    >>> find_likely_shares(0.98, 1e-4, [alike])
    (0.0, 1.0)
    >>> apart = SourceScale("prose", "en", 0.95, 0.05, 1e-4, 1e-4)
    >>> find_likely_shares(0.95, 1e-4, [apart]), find_likely_shares(0.05, 1e-4, [apart])
    ((0.83, 1.0), (0.0, 0.17))
    """
    import numpy as np

    share = np.linspace(0.0, 1.0, N_SHARES)
    right, wrong, of_right, of_wrong, weight = np.array([scale[2:] for scale in scales]).T[:, :, None]
    spread = SOURCE_SPREAD**2 + variance + share**2 * of_right + (1 - share) ** 2 * of_wrong
    away = (mean - share * right - (1 - share) * wrong) ** 2 / spread
    likelihood = (weight * np.exp(-away / 2) / np.sqrt(spread)).sum(axis=0)
    threshold = MIN_LIKELIHOOD ** ((normal_quantile(level) / normal_quantile(LEVEL)) ** 2)
    (indices,) = np.nonzero(likelihood >= threshold * likelihood.max())
    return float(share[indices[0]].round(6)), float(share[indices[-1]].round(6))


WITH_ERROR = ", including judge error"
BAND_CORRELATION = 0.5  # correlation of the bands of one source; 0 holds 90.9 % of what is left out, 1 98.5 %


@json_keys(
    "labels examples files checked people_mean judge_mean difference difference_ci",
    optional="examples files checked people_mean judge_mean difference difference_ci",
)
class LabelledError(NamedTuple):
    """How far a judge's mean lies from people's by labels of the user's own; difference = people less the judge."""

    labels: int = 0
    examples: int | None = None
    files: int | None = None
    checked: str | None = None
    people_mean: float | None = None
    judge_mean: float | None = None
    difference: float | None = None
    difference_ci: tuple[float, float] | None = None


@json_keys("origin sources disagreement labelled", optional="disagreement", labelled=Key(spread=True))
@dataclass(frozen=True, slots=True)
class JudgeMeanError:
    """How far a judge's mean lies from people's: by band of an example's score on a new source, and by labels."""

    #: between the bands, ascending, within (0, 1); a score on an edge belongs to the band above it.
    edges: tuple[float, ...]
    shifts: tuple[float, ...]  #: by band, people's mean less the judge's, over sources; one more than edges.
    spreads: tuple[float, ...]  #: by band, standard deviation of that for a new source.
    #: standard deviation, between sources, of the difference that it sees between two systems between which people see
    #: none, were every example changed.
    paired: float
    lost: float  #: standard deviation, between sources, of what it sees too little or too much of a true difference.
    #: on how many the bands rest, at least 3: a prediction from them has k − 2 degrees of freedom. 0 = none: only
    #: labels are known, and edges is ().
    sources: int = field(metadata=key("public_sources"))
    origin: str = field(default="", metadata=key("from"))  #: whose labels, in words: "9 public sets of labels".
    labels: LabelGap | None = None  #: what labels of the user's own say; None where there are none.
    checked: str = ""  #: when the last of these were, ISO 8601; "" where there are none.
    #: where files of labels lie farther apart than chance: how far, in words; else None.
    disagreement: str | None = None
    #: both ends of the judge's scale on every public source; () = not known, and the bands alone tell.
    scales: tuple[SourceScale, ...] = field(default=(), repr=False)

    @property
    def labelled(self) -> LabelledError:
        """What labels of the user's own say of a judge's mean."""
        labels = self.labels
        if labels is None:
            return LabelledError()
        counts = labels.labels, labels.examples, labels.files
        return LabelledError(*counts, self.checked, labels.people, labels.judge, *labels.compute_shift())

    @property
    def df(self) -> int:
        """Degrees of freedom of a new source's spread: k − 2, as for the prediction of one more.

        Source: Higgins, Thompson and Spiegelhalter (2009), J. R. Stat. Soc. A 172.
        """
        return max(1, self.sources - 2)

    def compute_null_half_width(self, level: float) -> float:
        """Half of the interval of a difference that is seen where people see none: t · paired.

        t of k − 2 degrees of freedom; of a judge known by labels alone, of one less than there are files of them.
        """
        freedom = self.df if self.sources or self.labels is None else max(1, self.labels.files - 1)
        return t_quantile(freedom, level) * self.paired

    def missed(self, level: float) -> float:
        """Half of the interval of what is missed of a true difference: t · lost."""
        return t_quantile(self.df if self.labels is None else self.labels.df, level) * self.lost

    def with_labels(self, labels: LabelGap, origin: str, checked: str) -> JudgeMeanError:
        """This error with what labels of the user's own say.

        What is lost of a true difference is then the labels'. What is seen where there is none stays: only labels on
        several systems could say it.
        """
        return replace(self, lost=labels.lost, origin=origin, labels=labels, checked=checked)

    def mirror(self) -> JudgeMeanError:
        """That of 1 less the metric, as unsupported is 1 less faithfulness."""
        return replace(
            self,
            edges=tuple(1 - edge for edge in reversed(self.edges)),
            shifts=tuple(-shift for shift in reversed(self.shifts)),
            spreads=self.spreads[::-1],
            labels=None if self.labels is None else self.labels.mirror(),
            scales=tuple(scale.mirror() for scale in self.scales),
        )

    def weight_by_texts(self, mix: Mapping[tuple[str, str], float]) -> JudgeMeanError:
        """That of a run whose texts are of these layouts and languages, as of `SourceScale.weighted`."""
        return replace(self, scales=tuple(scale.weighted(mix) for scale in self.scales))

    def bounds(self, interval: Interval, mean: float) -> tuple[float, float] | None:
        """Shares of right texts that public sources allow; None where they do not count.

        They count where there are no labels, fewer labelled examples than WORTH, or labels that contradict them.

        Args:
            interval: of the mean, by sampling alone.
            mean: in [0, 1].
        """
        if not self.scales or not (
            self.labels is None or self.labels.examples < MAX_PRIOR_LABELS or self.is_contradicted()
        ):
            return None
        variance = ((interval.high - interval.low) / 2 / normal_quantile(interval.level)) ** 2
        return find_likely_shares(mean, variance, self.scales, interval.level)

    def compute_offsets(self, values: Floats, weights: Floats | None = None) -> tuple[Offset, ...]:
        """Shift and spread of a mean over these scores; several where labels and public sources cannot both be right.

        Of a new source: shift = Σ w · shift and spread² = r · (Σ w · spread)² + (1 − r) · Σ (w · spread)² over the
        bands, w being the share of the scores in a band and r = TOGETHER. By labels alone: `LabelGap.at`. Where both
        are known, labels replace in each band what public sources say, the more the more there are
        (`label_bands.updated`). Where they contradict the sources (`label_gap.is_at_odds`), these are no guide to this
        judge on these texts, and it may tell nothing: labels alone tell, by `LabelGap.at` and by people's mean over
        them, and the interval holds what the sources said besides, so that labels that contradict never narrow it.
        Where scales are known and labels are not, there are none: `bounds` tells.

        Args:
            values: shape (n,), scores in [0, 1], at least one.
            weights: shape (n,); None = all alike.
        """
        import numpy as np

        mean = float(np.average(values, weights=weights))
        if not self.sources and self.labels is not None:
            return (self.labels.at(mean),)
        if self.scales and self.labels is None:
            return ()
        prior, shares = self._build_prior(), self._compute_band_shares(values, weights)
        usual = compute_expected(prior, shares)
        if self.labels is None:
            return (usual,)
        if is_at_odds(prior, self.labels):
            return self.labels.at(mean), self.labels.alone(mean), usual
        return (update_offset(prior, self.labels, shares, mean),)

    def is_contradicted(self) -> bool:
        """Whether labels of the user's own contradict what public sources say of this judge."""
        return bool(self.sources) and self.labels is not None and is_at_odds(self._build_prior(), self.labels)

    def _build_prior(self) -> Bands:
        import numpy as np

        spreads = np.array(self.spreads)
        covariance = BAND_CORRELATION * np.outer(spreads, spreads) + (1 - BAND_CORRELATION) * np.diag(spreads**2)
        return Bands(self.edges, np.array(self.shifts), covariance, self.df)

    def _compute_band_shares(self, values: Floats, weights: Floats | None) -> Floats:
        import numpy as np

        band = np.searchsorted(np.array(self.edges), values, side="right")
        counts = np.bincount(band, weights=weights, minlength=len(self.shifts))
        return np.asarray(counts / counts.sum())


def build_from_labels(labels: LabelGap, origin: str, checked: str) -> JudgeMeanError:
    """The error of a judge of which nothing but labels of the user's own is known.

    Two systems' gaps differ as those of two files do: paired = sqrt(2 · between), 0 where there is but one file.
    """
    return JudgeMeanError((), (0.0,), (0.0,), sqrt(2 * labels.between), labels.lost, 0, origin, labels, checked)


def widen_interval(
    interval: Interval, mean: float, error: JudgeMeanError, values: Floats, weights: Floats | None = None
) -> Interval:
    """The interval of a mean in [0, 1] by a judge, including judge error: where people's mean may lie.

    [m + b − sqrt(h² + t² s²), m + b + sqrt(h² + t² s²)], joined with the sampling interval, within [0, 1]

    m is the mean, b and s its shift and spread by `JudgeMeanError.offsets`, t Student's of the degrees of freedom found
    there, h the sampling interval's half on that side. Where labels and public sources contradict each other there are
    several such intervals, and it holds all. It holds the shares of right texts that public sources allow
    (`JudgeMeanError.bounds`), too, where these count. So the judge's error never narrows an interval.

    Args:
        interval: of the mean, by sampling alone.
        mean: within it.
        error: of the judge on this metric.
        values: shape (n,), the scores that the mean is over.
        weights: shape (n,); None = all alike.

    >>> import numpy as np
    >>> perfect = JudgeMeanError((0.5,), (0.0, 0.0), (0.0, 0.0), 0.0, 0.0, 9)
    >>> widen_interval(Interval(0.6, 0.8, "t"), 0.7, perfect, np.array([0.6, 0.8]))
    Interval(low=0.6, high=0.8, method='t, including judge error', level=0.95)
    >>> lenient = JudgeMeanError((0.5,), (0.0, -0.1), (0.1, 0.05), 0.0, 0.0, 9)
    >>> wide = widen_interval(Interval(0.66, 0.74, "t"), 0.7, lenient, np.array([0.7]))
    >>> round(wide.low, 2), round(wide.high, 2)
    (0.48, 0.74)
    """
    bounds = [(interval.low, interval.high)]
    for offset in error.compute_offsets(values, weights):
        reach = offset.reach(interval.level)
        low = mean + offset.shift - sqrt((mean - interval.low) ** 2 + reach**2)
        bounds.append((low, mean + offset.shift + sqrt((interval.high - mean) ** 2 + reach**2)))
    if (allowed := error.bounds(interval, mean)) is not None:
        bounds.append(allowed)
    low, high = max(0.0, min(low for low, _ in bounds)), min(1.0, max(high for _, high in bounds))
    return Interval(round(low, 12), round(high, 12), interval.method + WITH_ERROR, interval.level)


def widen_difference_interval(
    interval: Interval, difference: float, error: JudgeMeanError, changed: float = 1.0, *, is_observed: bool = False
) -> Interval:
    """The interval of a difference of two systems' means by one judge, with what this judge's error adds to it.

    The judge errs alike on both systems, so nearly all of its error drops out. What is left, in quadrature with the
    sampling interval's half: on both sides t · paired · changed, how much it sees where there is nothing; away from 0
    also t · lost, since it sees a true difference too small, and on both sides where both signs remain possible. No
    more is lost than the share of examples that changed.

    Args:
        interval: of the difference, by sampling alone.
        difference: within it.
        error: of the judge on this metric.
        changed: share of the examples whose value is not the same, in [0, 1]: unchanged answers have the same error.
        is_observed: of the difference that the judge would see on many examples, not of the true one: nothing is
            lost then.
    """
    near = error.compute_null_half_width(interval.level) * changed
    away = near if is_observed else sqrt(near**2 + min(error.missed(interval.level), changed) ** 2)
    below, above = difference - interval.low, interval.high - difference
    sure_up, sure_down = difference > sqrt(below**2 + near**2), difference < -sqrt(above**2 + near**2)
    low = difference - sqrt(below**2 + (near if sure_up else away) ** 2)
    high = difference + sqrt(above**2 + (near if sure_down else away) ** 2)
    return Interval(max(-1.0, low), min(1.0, high), interval.method + WITH_ERROR, interval.level)
