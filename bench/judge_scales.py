"""Both ends of the local judge's scale on labelled sources, and what intervals from them hold of sources left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from judge_error_data import Item

from ragauge.stats import judge_error
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.judge_error import JudgeMeanError, SourceScale, widen_interval
from ragauge.stats.weighted import Interval
from ragauge.text.table_rows import LAYOUTS, Layout

FEWEST_SOURCES = 3  # a prediction for one more has k − 2 degrees of freedom
FEWEST_OF_SOURCE = 20  # texts of a source in one layout
UNKNOWN = "und"  # language of a text that nothing tells of
FEWEST_OF_SCALE = 3  # texts of a label that are an end of a scale; its variance says how few they are
SHARES = (0.25, 0.5, 0.75)  # of right texts in a mixture
SAME = "EVOUNA "  # sources that are systems asked the same questions: pairs of them are real pairs
FAMILIES = ("XQuAD", "TAT-QA", "shipped", "BEGIN", "Q2", "QAGS", "WikiTables")  # which several sources are of
# of which people said what is right; of all others it follows from what was put together
LABELLED = (
    "AttributedQA",
    "ExpertQA",
    "LFQA",
    "Stanford-GenSearch",
    "WiCE",
    "EVOUNA",
    "BEGIN",
    "Q2",
    "QAGS",
    "InfoTabS",
)
CONSTRUCTED = ("answer_relevance", "context_precision")  # metrics of which nobody said so anywhere
KINDS = ("people", "gold", "replaced", "mixture")
# SPREAD, LIKELY
TRADE = ((0.05, 0.3), (0.07, 0.3), (0.08, 0.3), (0.1, 0.4), (0.1, 0.3), (0.1, 0.25), (0.12, 0.25), (0.12, 0.2))
NAMED = 3  # sources that a row names


class End(NamedTuple):
    """The judge's mean over the texts of one label in one source, and its variance."""

    mean: float
    variance: float


def end(values: npt.NDArray[np.float64]) -> End:
    """A mean and its variance; half a thing of either kind is added, so that values all alike leave some doubt."""
    n = values.size
    return End(float(values.mean()), float((values.var() * n + 0.25) / (n + 1) / n))


class Scale(NamedTuple):
    """What is kept of a source for a metric.

    Attributes:
        source: its name.
        layout: of its texts; those of another one are another source.
        language: that most of its texts are in, of those whose language can be told.
        share: of its texts that are right.
        mean: of the judge, over all of them.
        variance: of that mean.
        right: the judge's mean over the right ones and its variance; None for too few.
        wrong: over the wrong ones.
    """

    source: str
    layout: str
    language: str
    share: float
    mean: float
    variance: float
    right: End | None
    wrong: End | None

    @property
    def family(self) -> str:
        """What it shares its texts or its makers with."""
        return next((name for name in FAMILIES if self.source.startswith(name)), self.source)


def scales_of(every: Iterable[Item]) -> dict[str, list[Scale]]:
    """The scales of every metric."""
    grouped: dict[str, dict[tuple[str, Layout], list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in every:
        grouped[item.metric][item.source, item.layout].append(item)
    return {
        name: [_scale(*kind, texts) for kind, texts in of.items() if len(texts) >= FEWEST_OF_SOURCE]
        for name, of in sorted(grouped.items())
    }


def _scale(source: str, layout: Layout, texts: Sequence[Item]) -> Scale:
    truth, value = np.array([item.truth for item in texts]), np.array([item.value for item in texts])
    right, wrong = (
        [End(*map(_rounded, end(value[truth == label])))] if (truth == label).sum() >= FEWEST_OF_SCALE else [None]
        for label in (1, 0)
    )
    language = Counter(item.language for item in texts if item.language != UNKNOWN).most_common(1)[0][0]
    whole = End(*map(_rounded, end(value)))
    return Scale(source, layout, language, _rounded(float(truth.mean())), *whole, right[0], wrong[0])


def _rounded(number: float) -> float:
    return round(number, 6)


def source_scales(scales: Sequence[Scale]) -> tuple[SourceScale, ...]:
    """What the package ships: sources with both ends; those of a family, layout and language share one weight."""
    known = [scale for scale in scales if scale.right is not None and scale.wrong is not None]
    alike = Counter((scale.family, scale.layout, scale.language) for scale in known)
    return tuple(
        SourceScale(
            scale.layout,
            scale.language,
            right.mean,
            wrong.mean,
            right.variance,
            wrong.variance,
            _rounded(1 / alike[scale.family, scale.layout, scale.language]),
        )
        for scale in known
        if (right := scale.right) is not None and (wrong := scale.wrong) is not None
    )


class Tested(NamedTuple):
    """One mean of a source that was left out: whose, of what kind, its truth and its interval."""

    metric: str
    scale: Scale
    kind: str
    truth: float
    found: Interval

    @property
    def holds(self) -> bool:
        """Whether the truth lies within the interval."""
        return self.found.low - 1e-9 <= self.truth <= self.found.high + 1e-9

    @property
    def width(self) -> float:
        """Of the interval."""
        return self.found.high - self.found.low


def left_out(metric: str, scales: Sequence[Scale]) -> Iterator[Tested]:
    """Every mean of every source, with the interval that sources of other families give.

    The five systems of EVOUNA, which alone have references, are left out one by one.
    """
    for scale in scales:
        alone = scale.source.startswith(SAME)
        rest = [other for other in scales if (other is not scale if alone else other.family != scale.family)]
        known = source_scales(rest)
        if len(known) < FEWEST_SOURCES:
            continue
        error = JudgeMeanError((), (0.0,), (0.0,), 0.0, 0.0, len(known), scales=known)
        error = error.weight_by_texts({(scale.layout, scale.language): 1.0})
        for kind, truth, mean, variance in _means(metric, scale):
            half = normal_quantile(0.95) * variance**0.5
            sampled = Interval(max(0.0, mean - half), min(1.0, mean + half), "normal")
            yield Tested(metric, scale, kind, truth, widen_interval(sampled, mean, error, np.array([mean])))


def _means(metric: str, scale: Scale) -> Iterator[tuple[str, float, float, float]]:
    """Kind, truth, the judge's mean and its variance: of a source as it is, its right or wrong texts, mixtures."""
    right, wrong = scale.right, scale.wrong
    if metric not in CONSTRUCTED and scale.source.startswith(LABELLED):
        yield "people", scale.share, scale.mean, scale.variance
    else:
        yield from (("gold", 1.0, *right),) if right else ()
        yield from (("replaced", 0.0, *wrong),) if wrong else ()
    for share in SHARES if right and wrong else ():
        mean = share * right.mean + (1 - share) * wrong.mean
        yield "mixture", share, mean, share**2 * right.variance + (1 - share) ** 2 * wrong.variance


def means_left_out(scales: Mapping[str, Sequence[Scale]]) -> list[Tested]:
    """`left_out` of every metric."""
    return [one for metric, mine in scales.items() for one in left_out(metric, mine)]


def rows_by_layout(scales: Mapping[str, Sequence[Scale]], tested: Sequence[Tested]) -> Iterator[str]:
    """By metric, layout and language: both ends of the scale, and what the intervals hold of what was left out."""
    for metric, every in scales.items():
        for layout in LAYOUTS:
            for english in (True, False):
                mine = [scale for scale in every if scale.layout == layout and (scale.language == "en") == english]
                if mine:
                    found = [one for one in tested if one.metric == metric and one.scale in mine]
                    missed = dict.fromkeys(one.scale.source for one in found if not one.holds)
                    names = ", ".join(missed) if len(missed) <= NAMED else f"{len(missed)} sources"
                    ends = " | ".join(_range([scale[end] for scale in mine]) for end in (-2, -1))
                    yield (
                        f"`{metric}` | {layout} | {'English' if english else 'others'} | {len(mine)} | {ends} | "
                        f"{' | '.join(_held(found, kind) for kind in KINDS)} | {names or '–'}"
                    )
    yield f"**all** | | | | | | {' | '.join(_held(tested, kind) for kind in KINDS)} | "


def _range(ends: Sequence[End | None]) -> str:
    means = [end.mean for end in ends if end is not None]
    return f"{np.mean(means):.2f} ({min(means):.2f} to {max(means):.2f})" if means else "–"


def _held(tested: Sequence[Tested], kind: str) -> str:
    mine = [one for one in tested if one.kind == kind]
    if not mine:
        return "–"
    return f"{sum(one.holds for one in mine)} of {len(mine)}, {np.median([one.width for one in mine]):.2f}"


def trade_off(scales: Mapping[str, Sequence[Scale]]) -> Iterator[str]:
    """What wider and narrower intervals hold."""
    chosen = judge_error.SOURCE_SPREAD, judge_error.MIN_LIKELIHOOD
    for judge_error.SOURCE_SPREAD, judge_error.MIN_LIKELIHOOD in TRADE:
        tested = means_left_out(scales)
        mark = "**" if chosen == (judge_error.SOURCE_SPREAD, judge_error.MIN_LIKELIHOOD) else ""
        columns = []
        for kind in KINDS:
            mine = [one for one in tested if one.kind == kind]
            columns.append(f"{np.mean([one.holds for one in mine]):.2f}, {np.median([one.width for one in mine]):.2f}")
        yield f"{mark}{judge_error.SOURCE_SPREAD} | {judge_error.MIN_LIKELIHOOD}{mark} | {' | '.join(columns)}"
    judge_error.SOURCE_SPREAD, judge_error.MIN_LIKELIHOOD = chosen
