"""How far a judge's mean may lie from what people would say.

A judge's mean is not people's, and how far it is off differs from source to source, with layout and language, and with
how much is right there. Both ends of its scale on labeled sources say which shares of right texts a mean allows
(`stats.judge_scale`); labels of the user's own say how far it is off there (`stats.label_gap`), and replace in each
band of the score what a random-effects estimate over sources expects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING

from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.judge_scale import SourceScale, find_likely_shares
from ragauge.stats.label_bands import MAX_PRIOR_LABELS, Bands, compute_expected, is_at_odds, update_offset
from ragauge.stats.label_gap import LabelGap, Offset
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

WITH_ERROR = ", including judge error"
BAND_CORRELATION = 0.5  # correlation of the bands of one source; 0 holds 90.9 % of what is left out, 1 98.5 %


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
    sources: int
    origin: str = ""  #: whose labels, in words: "9 public sets of labels".
    labels: LabelGap | None = None  #: what labels of the user's own say; None where there are none.
    checked: str = ""  #: when the last of these were, ISO 8601; "" where there are none.
    #: where files of labels lie farther apart than chance: how far, in words; else None.
    disagreement: str | None = None
    #: both ends of the judge's scale on every public source; () = not known, and the bands alone tell.
    scales: tuple[SourceScale, ...] = field(default=(), repr=False)

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
        (`label_bands.updated`). Where they contradict the sources (`label_bands.at_odds`), these are no guide to this
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
