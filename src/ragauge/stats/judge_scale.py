"""What shares of right texts a judge's mean allows, by how it scores right and wrong texts of labeled sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragauge.stats.distributions import normal_quantile

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
