"""What is known of a judge by band of its score, held against labels and brought up to date by them."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.stats.distributions import normal_quantile
from ragauge.stats.label_gap import LabelGap, Offset, compute_variance

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MAX_PRIOR_LABELS = 25  # labelled examples of a band that what is expected there counts for, at the most
CHI_SQUARE_LEVEL = 0.95  # up to this quantile of χ² what labels say and what was expected of them are taken to agree


class Bands(NamedTuple):
    """What is expected of a new source, by band of the judge's score."""

    edges: tuple[float, ...]  #: between bands, ascending; a score on an edge belongs to the band above it.
    shifts: Floats  #: shape (k,), people's mean less the judge's.
    covariance: Floats  #: shape (k, k), of a new source's shifts.
    df: float  #: degrees of freedom of it.


class _LabelSample(NamedTuple):
    """What labels say: in which bands they lie, their share, gap and its variance in each."""

    bands: npt.NDArray[np.int64]
    shares: Floats
    gaps: Floats
    variances: Floats


def compute_expected(prior: Bands, shares: Floats) -> Offset:
    """Shift and spread of a mean, the shares of its scores in the bands being w: w · shifts, w' · covariance · w."""
    return Offset(float(shares @ prior.shifts), sqrt(max(0.0, float(shares @ prior.covariance @ shares))), prior.df)


def is_at_odds(prior: Bands, labels: LabelGap) -> bool:
    """Whether labels lie farther from what was expected of them than chance and the spread of sources explain.

    d is the gap of the labels in each band less the shift expected there, S = covariance + diag(variances) + between.
    At odds: d' S⁻¹ d above the 95 % quantile of χ² with a degree of freedom a band that has labels, or
    (w · d)² / (w' S w) above that with one, w being the shares of the labels in the bands. The first finds a judge
    that sees something else than people do (what it is sure of is no more often right), the second one that is off
    by the same everywhere.

    Source: the prior predictive check of Box (1980), J. R. Stat. Soc. A 143.
    """
    each, bands, overall = _compute_chi_squares(prior, _summarize_labels(labels, prior.edges), labels.between)
    return each > _chi_square_limit(bands) or overall > _chi_square_limit(1)


def _compute_chi_squares(prior: Bands, sample: _LabelSample, between: float) -> tuple[float, int, float]:
    """χ² of all bands with labels, how many they are, and χ² of the mean over the labels."""
    import numpy as np

    deviations = sample.gaps - prior.shifts[sample.bands]
    spread = prior.covariance[np.ix_(sample.bands, sample.bands)] + np.diag(sample.variances) + between
    each = float(deviations @ np.linalg.solve(spread, deviations))
    return each, deviations.size, float(sample.shares @ deviations) ** 2 / float(sample.shares @ spread @ sample.shares)


def update_offset(prior: Bands, labels: LabelGap, shares: Floats, mean: float) -> Offset:
    """Shift and spread of a mean over the scores of a run, from what was expected and what labels say of each band.

    d as in `is_at_odds`; C the covariance, C_H its columns of the bands with labels, C_HH their part of it;
    M = diag(variances) + between + tilt², since labels from texts of which more, or less, is right measure the run's
    gap less well; G = C_H (C_HH + M)⁻¹. Then shifts + G d, with the covariance C − G C_H', are the shifts of this
    source, weighted by the shares of the run's scores in the bands. A band with many labels has the gap of its labels,
    one without keeps what was expected of it, moved as far as bands go together. What is expected of a band counts
    for no more than WORTH labels there, its variance being raised so far; labels never raise that of the whole. The
    variance is multiplied by Birge's ratio, the larger χ² of `is_at_odds` a degree of freedom, where that is above 1.
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

    sample, expected = _summarize_labels(labels, prior.edges), compute_expected(prior, shares)
    if not expected.spread:
        return expected
    shared = labels.between + labels.compute_tilt(mean)
    prior_spreads = np.sqrt(np.diag(prior.covariance))[sample.bands]
    min_spreads = np.sqrt(sample.variances * sample.shares * labels.examples / MAX_PRIOR_LABELS)
    more = np.ones(prior.shifts.size)
    more[sample.bands] = np.maximum(1.0, min_spreads / np.maximum(prior_spreads, 1e-12))
    prior = prior._replace(covariance=prior.covariance * np.outer(more, more))
    measured = prior.covariance[np.ix_(sample.bands, sample.bands)] + np.diag(sample.variances) + shared
    gain = np.linalg.solve(measured, prior.covariance[sample.bands]).T
    shifts = prior.shifts + gain @ (sample.gaps - prior.shifts[sample.bands])
    remaining = float(shares @ (prior.covariance - gain @ prior.covariance[sample.bands]) @ shares)
    remaining = min(remaining, expected.spread**2)
    each, bands, overall = _compute_chi_squares(prior, sample, labels.between)
    p = 1 / expected.spread**2
    q = max(0.0, 1 / max(remaining, 1e-12) - p)
    df = (p + q) ** 2 / (p**2 / prior.df + q**2 / labels.df)
    return Offset(float(shares @ shifts), sqrt(max(remaining, 1e-12) * max(1.0, each / bands, overall)), df)


def _summarize_labels(labels: LabelGap, edges: tuple[float, ...]) -> _LabelSample:
    import numpy as np

    judge, gaps = (np.array(column) for column in zip(*labels.points, strict=True))
    band = np.searchsorted(np.array(edges), judge, side="right")
    bands, counts = np.unique(band, return_counts=True)
    band_gaps = [gaps[band == number] for number in bands]
    return _LabelSample(
        bands,
        counts / gaps.size,
        np.array([gap.mean() for gap in band_gaps]),
        np.array([compute_variance(gap) for gap in band_gaps]),
    )


def _chi_square_limit(df: int) -> float:
    """The 95 % quantile of χ², right to one part in forty (Wilson and Hilferty 1931, PNAS 17)."""
    scale = 2 / (9 * df)
    return float(df * (1 - scale + normal_quantile(2 * CHI_SQUARE_LEVEL - 1) * sqrt(scale)) ** 3)
