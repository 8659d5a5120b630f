"""What is known of a judge by band of its score, held against labels and brought up to date by them."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.stats.distributions import normal_quantile
from ragauge.stats.label_gap import LabelGap, Offset, variance_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

WORTH = 25  # labelled examples of a band that what is expected there counts for, at the most
CHANCE = 0.95  # up to this quantile of χ² what labels say and what was expected of them are taken to agree


class Bands(NamedTuple):
    """What is expected of a new source, by band of the judge's score.

    Attributes:
        edges: between bands, ascending; a score on an edge belongs to the band above it.
        shifts: shape (k,), people's mean less the judge's.
        covariance: shape (k, k), of a new source's shifts.
        df: degrees of freedom of it.
    """

    edges: tuple[float, ...]
    shifts: Floats
    covariance: Floats
    df: float


class _LabelSample(NamedTuple):
    """What labels say: in which bands they lie, their share, gap and its variance in each."""

    bands: npt.NDArray[np.int64]
    shares: Floats
    gaps: Floats
    variances: Floats


def expected_of(prior: Bands, shares: Floats) -> Offset:
    """Shift and spread of a mean, the shares of its scores in the bands being w: w · shifts, w' · covariance · w."""
    return Offset(float(shares @ prior.shifts), sqrt(max(0.0, float(shares @ prior.covariance @ shares))), prior.df)


def at_odds(prior: Bands, labels: LabelGap) -> bool:
    """Whether labels lie farther from what was expected of them than chance and the spread of sources explain.

    d is the gap of the labels in each band less the shift expected there, S = covariance + diag(variances) + between.
    At odds: d' S⁻¹ d above the 95 % quantile of χ² with a degree of freedom a band that has labels, or
    (w · d)² / (w' S w) above that with one, w being the shares of the labels in the bands. The first finds a judge
    that sees something else than people do (what it is sure of is no more often right), the second one that is off
    by the same everywhere.

    Source: the prior predictive check of Box (1980), J. R. Stat. Soc. A 143.
    """
    each, bands, whole = _apart(prior, _seen(labels, prior.edges), labels.between)
    return each > _usual_most(bands) or whole > _usual_most(1)


def _apart(prior: Bands, seen: _LabelSample, between: float) -> tuple[float, int, float]:
    """χ² of all bands with labels, how many they are, and χ² of the mean over the labels."""
    import numpy as np

    apart = seen.gaps - prior.shifts[seen.bands]
    spread = prior.covariance[np.ix_(seen.bands, seen.bands)] + np.diag(seen.variances) + between
    each = float(apart @ np.linalg.solve(spread, apart))
    return each, apart.size, float(seen.shares @ apart) ** 2 / float(seen.shares @ spread @ seen.shares)


def updated(prior: Bands, labels: LabelGap, shares: Floats, mean: float) -> Offset:
    """Shift and spread of a mean over the scores of a run, from what was expected and what labels say of each band.

    d as in `at_odds`; C the covariance, C_H its columns of the bands with labels, C_HH their part of it;
    M = diag(variances) + between + tilt², since labels from texts of which more, or less, is right measure the run's
    gap less well; G = C_H (C_HH + M)⁻¹. Then shifts + G d, with the covariance C − G C_H', are the shifts of this
    source, weighted by the shares of the run's scores in the bands. A band with many labels has the gap of its labels,
    one without keeps what was expected of it, moved as far as bands go together. What is expected of a band counts
    for no more than WORTH labels there, its variance being raised so far; labels never raise that of the whole. The
    variance is multiplied by Birge's ratio, the larger χ² of `at_odds` a degree of freedom, where that is above 1.
    Degrees of freedom by Satterthwaite,
    from the precision without labels and what they add.

    Source: the best linear unbiased prediction, Robinson (1991), Stat. Sci. 6; Birge (1932), Phys. Rev. 40.

    Args:
        prior: what was expected.
        labels: of this source, not at odds with it.
        shares: shape (k,), of the run's scores, by band.
        mean: of the run's scores.
    """
    import numpy as np

    seen, before = _seen(labels, prior.edges), expected_of(prior, shares)
    if not before.spread:
        return before
    shared = labels.between + labels.tilt(mean)
    own = np.sqrt(np.diag(prior.covariance))[seen.bands]
    least = np.sqrt(seen.variances * seen.shares * labels.examples / WORTH)
    more = np.ones(prior.shifts.size)
    more[seen.bands] = np.maximum(1.0, least / np.maximum(own, 1e-12))
    prior = prior._replace(covariance=prior.covariance * np.outer(more, more))
    measured = prior.covariance[np.ix_(seen.bands, seen.bands)] + np.diag(seen.variances) + shared
    gain = np.linalg.solve(measured, prior.covariance[seen.bands]).T
    shifts = prior.shifts + gain @ (seen.gaps - prior.shifts[seen.bands])
    left = float(shares @ (prior.covariance - gain @ prior.covariance[seen.bands]) @ shares)
    left = min(left, before.spread**2)
    each, bands, whole = _apart(prior, seen, labels.between)
    p = 1 / before.spread**2
    q = max(0.0, 1 / max(left, 1e-12) - p)
    df = (p + q) ** 2 / (p**2 / prior.df + q**2 / labels.df)
    return Offset(float(shares @ shifts), sqrt(max(left, 1e-12) * max(1.0, each / bands, whole)), df)


def _seen(labels: LabelGap, edges: tuple[float, ...]) -> _LabelSample:
    import numpy as np

    judge, gaps = (np.array(column) for column in zip(*labels.points, strict=True))
    band = np.searchsorted(np.array(edges), judge, side="right")
    bands, counts = np.unique(band, return_counts=True)
    mine = [gaps[band == number] for number in bands]
    return _LabelSample(
        bands, counts / gaps.size, np.array([gap.mean() for gap in mine]), np.array([variance_of(gap) for gap in mine])
    )


def _usual_most(df: int) -> float:
    """The 95 % quantile of χ², right to one part in forty (Wilson and Hilferty 1931, PNAS 17)."""
    part = 2 / (9 * df)
    return float(df * (1 - part + normal_quantile(2 * CHANCE - 1) * sqrt(part)) ** 3)
