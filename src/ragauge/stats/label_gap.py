"""How far labels lie from a judge's scores, as a mean and by band of score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.effects import pool_effects

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]


DOUBT_SQUARES = (
    1.0  # added to the squared gaps: half of one of +1 and of one of −1, as agreement on all leaves doubt too
)
MAX_SLOPE = 5.0  # how much further people's means may lie apart than the judge's: a judge that sees next to nothing
CONFIDENCE_LEVEL = 0.95  # of the interval of a shift by labels alone
DISTINCTION_LEVEL = 0.95  # of the interval of what the judge sees that must leave 0 out for it to see anything
USUAL_DIFFERENCE = sqrt(0.005)  # root mean square of differences of −10, −5, 0, 5 and 10 points


class Offset(NamedTuple):
    """How far people's mean lies from the judge's: its estimate, its standard deviation, degrees of freedom of that."""

    shift: float
    spread: float
    df: float

    def reach(self, level: float) -> float:
        """Half of its interval at a level."""
        return t_quantile(self.df, level) * self.spread if self.spread else 0.0


class ScoredText(NamedTuple):
    """A labelled text: people's score and the judge's, in [0, 1], its example and file, and how many labels it has."""

    people: float
    judge: float
    example: bytes
    file: bytes
    labels: int = 1


@dataclass(frozen=True, slots=True)
class LabelGap:
    """People's mean less the judge's, from labels."""

    gap: float  #: over the labelled examples, in [−1, 1].
    variance: float  #: of it, by which examples were labelled.
    between: float  #: variance of a file's true gap around it; 0 for one file, of which nobody knows.
    judge: float  #: the judge's mean over them.
    people: float  #: people's.
    #: by how much the gap changes, at the least, with the judge's mean: −0.2 = it falls by 0.02 for 0.1 more.
    least: float
    most: float  #: at the most.
    seen: float  #: the judge's mean over what people call right less that over what they call wrong.
    seen_error: float  #: its standard error.
    examples: int  #: labelled ones.
    labels: int  #: on them.
    files: int = 1  #: they came in.
    #: the judge's score of each example and its gap.
    points: tuple[tuple[float, float], ...] = field(default=(), repr=False)

    @property
    def can_distinguish(self) -> bool:
        """Whether the judge scores what people call right higher than what they call wrong, by more than chance."""
        return self.seen > normal_quantile(DISTINCTION_LEVEL) * self.seen_error

    @property
    def df(self) -> float:
        """Degrees of freedom of the spread of examples: one less than there are."""
        return max(1.0, self.examples - 1.0)

    @property
    def lost(self) -> float:
        """Standard deviation of what the judge sees too little or too much of differences of up to 10 points.

        USUAL · sqrt((1 − seen)² + seen_error²)
        """
        return USUAL_DIFFERENCE * sqrt((1 - self.seen) ** 2 + self.seen_error**2)

    def at(self, mean: float) -> Offset:
        """Where the judge's mean is m, another one than over the labels.

        stays = m + gap + (m − judge) · least        worth = m + gap + (m − judge) · most, both within [0, 1]
        shift = (lowest + highest) / 2 − m
        spread² = variance + between + (highest − lowest)² / 8

        A judge errs by another amount where more, or less, is right than among the labels. Two readings of the same
        labels say by how much: what its verdicts are worth stays (the regression of people's scores on the judge's), or
        how it scores what is right and what is wrong stays (calibration, the inverse of the regression of the judge's
        on people's). The truth is taken to lie between the lowest and the highest, rather near one of them than halfway
        (the arcsine distribution, whose variance is an eighth of the squared width). Where labels do not show that the
        judge tells right from wrong (`tells`), its mean may say nothing at all: people's mean over the labels is then a
        third reading, and the interval holds it. Degrees of freedom by Satterthwaite.

        Source: Krutchkoff (1967), Technometrics 9, for both regressions; Rogan and Gladen (1978), Am. J. Epidemiol.
        107, for the second.
        """
        low, high = self._compute_readings(mean)
        total_variance = self.variance + self.between + self.compute_tilt(mean)
        freedom = self.variance**2 / self.df + (self.between**2 / (self.files - 1) if self.files > 1 else 0.0)
        df = min(1e6, max(1.0, total_variance**2 / freedom)) if freedom else 1e6
        return Offset((low + high) / 2 - mean, sqrt(total_variance), df)

    def compute_shift(self) -> tuple[float, tuple[float, float]]:
        """People's mean less the judge's by labels alone, and the ends of its 95 % interval."""
        gap = self.at(self.judge)
        reach = gap.reach(CONFIDENCE_LEVEL)
        return gap.shift, (max(-1.0, gap.shift - reach), min(1.0, gap.shift + reach))

    def alone(self, mean: float) -> Offset:
        """The gap of a judge whose mean tells nothing: from it to people's mean over the labels."""
        return Offset(self.people - mean, sqrt(self.variance + self.between), self.df)

    def compute_tilt(self, mean: float) -> float:
        """Variance of the gap at another mean of the judge, by how the labels may be read: (highest − lowest)² / 8."""
        low, high = self._compute_readings(mean)
        return (high - low) ** 2 / 8

    def _compute_readings(self, mean: float) -> tuple[float, float]:
        """The lowest and the highest people's mean may be where the judge's is this one."""
        away = mean - self.judge
        readings = [min(1.0, max(0.0, mean + self.gap + away * bound)) for bound in (self.least, self.most)]
        readings += [] if self.can_distinguish else [self.people]
        return min(readings), max(readings)

    def mirror(self) -> LabelGap:
        """That of 1 less the metric."""
        return replace(
            self,
            gap=-self.gap,
            judge=1 - self.judge,
            people=1 - self.people,
            points=tuple((1 - judge, -gap) for judge, gap in self.points),
        )


def label_gap(scored: Iterable[ScoredText]) -> LabelGap | None:
    """The gap between people and a judge, from texts that both have scored; None for no text.

    Texts of one example are one observation, their mean: gap = Σ g / n over examples, and
    variance = (Σ (g − gap)² + DOUBT) / ((n + 1)(n + 2)). With several files, the variance between their true gaps is by
    Paule and Mandel, and so is taken (1 + Σ share²) times: the next texts are like one of these files, not their mean.

    Args:
        scored: in any order.

    Source: the difference estimator, Cochran (1977), Sampling Techniques, 7.10; something added as by Agresti
    and Coull (1998), Am. Stat. 52.

    >>> result = label_gap([ScoredText(float(n > 2), float(n > 0), bytes([n]), b"f") for n in range(10)])
    >>> round(result.gap, 3), round(result.variance**0.5, 3), round(result.judge, 3), round(result.at(0.9).spread, 3)
    (-0.2, 0.14, 0.9, 0.14)
    """
    import numpy as np

    every = list(scored)
    if not every:
        return None
    if any(not 0 <= number <= 1 for text in every for number in (text.people, text.judge)):
        raise UsageError("label_gap: scores of people and judge must be in [0, 1].")
    codes = {example: n for n, example in enumerate(dict.fromkeys(text.example for text in every))}
    example_codes = np.array([codes[text.example] for text in every])
    people, judge = (
        _average_by_code(np.array(column), example_codes)
        for column in zip(*((text.people, text.judge) for text in every), strict=True)
    )
    files = {text.example: text.file for text in every}
    gaps = people - judge
    flat, steep, error = _fit_slopes(judge, people)
    between, n_files = _compute_between_variance(gaps, [files[example] for example in codes])
    return LabelGap(
        float(gaps.mean()),
        compute_variance(gaps),
        between,
        float(judge.mean()),
        float(people.mean()),
        flat - 1,
        min(MAX_SLOPE, 1 / max(steep, 1 / MAX_SLOPE)) - 1,
        steep,
        error,
        len(codes),
        sum(text.labels for text in every),
        n_files,
        tuple(zip(judge.tolist(), gaps.tolist(), strict=True)),
    )


def compute_variance(gaps: Floats) -> float:
    """Of the mean of some gaps in [−1, 1], of which one of +1 and one of −1 are thought of besides."""
    import numpy as np

    n = gaps.size
    return float((np.square(gaps - gaps.mean()).sum() + DOUBT_SQUARES) / ((n + 1) * (n + 2)))


def _average_by_code(values: Floats, codes: Codes) -> Floats:
    import numpy as np

    return np.asarray(np.bincount(codes, weights=values) / np.bincount(codes))


def _fit_slopes(judge: Floats, people: Floats) -> tuple[float, float, float]:
    """Slope of people's scores on the judge's, of the judge's on people's, and the standard error of the latter.

    Half a text of each kind is added: right and wrong, each called right and wrong.
    """
    import numpy as np

    x, y = np.append(judge, [0.0, 0.0, 1.0, 1.0]), np.append(people, [0.0, 1.0, 0.0, 1.0])
    w = np.append(np.ones(judge.size), np.full(4, 0.5))
    dx, dy = x - np.average(x, weights=w), y - np.average(y, weights=w)
    xx, yy, xy = float(w @ dx**2), float(w @ dy**2), float(w @ (dx * dy))
    steep = xy / yy
    error = sqrt(float(w @ (dx - steep * dy) ** 2) / judge.size / yy)
    return min(1.0, max(-1.0, xy / xx)), min(1.0, max(-1.0, steep)), error


def _compute_between_variance(gaps: Floats, files: Sequence[bytes]) -> tuple[float, int]:
    """(1 + Σ share²) τ² and how many files there are; examples of all files vary alike around their file's gap."""
    import numpy as np

    names = list(dict.fromkeys(files))
    if len(names) < 2:
        return 0.0, 1
    file_gaps = [gaps[np.array([file == name for file in files])] for name in names]
    within = sum(float(np.square(group - group.mean()).sum()) for group in file_gaps) / max(
        1, gaps.size - len(file_gaps)
    )
    variances = [within / group.size if within else compute_variance(group) for group in file_gaps]
    tau = pool_effects([float(group.mean()) for group in file_gaps], variances).tau
    return tau**2 * (1 + sum((group.size / gaps.size) ** 2 for group in file_gaps)), len(names)


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
