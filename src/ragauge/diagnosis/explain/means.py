"""A mean, its interval and its bounds with the numbers put in.

The formula with the numbers put in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import TYPE_CHECKING

from ragauge.core.score import Score
from ragauge.diagnosis.explain.case import ExampleCase, number
from ragauge.diagnosis.explain.ranks import WORKED as OF_RANKS
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import describe
from ragauge.scores.arrays import FAILED, SCORED, Columns
from ragauge.scores.estimation import bounds_of
from ragauge.scores.results.explanation import MeanWorked
from ragauge.scores.results.summary import Summary
from ragauge.scores.summarize import summary
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.intervals import wilson
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.skew_corrected_t import BY_SIGNS, skew_corrected_t
from ragauge.stats.weighted import Interval, estimate
from ragauge.text.tokens import answer_tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def explain_mean(
    metric: Metric, examples: Columns | None, level: float = 0.95, error: JudgeMeanError | None = None
) -> MeanWorked:
    """One metric over a run.

    Args:
        metric: which.
        examples: its scores, one entry an example; None = it has none.
        level: of the interval.
        error: how far the judge errs on this metric; None = nobody judged, or not known.
    """
    corrected = summary(metric, examples, level, error)
    mean = corrected.uncorrected
    sentence, formula, _ = describe(metric)
    parts = [
        (mean.scored, "scored"),
        (mean.undefined, "undefined"),
        (mean.not_applicable, "not applicable"),
        (mean.failed, "failed"),
        (mean.not_read, "not read"),
    ]
    counts = f"{' + '.join(f'{n} {word}' for n, word in parts if n or word == 'scored')} = {mean.n} examples"
    if examples is None or mean.mean is None:
        return MeanWorked(mean, sentence, formula, "", counts, "", "nothing is scored")
    scored = examples.take((examples.status == SCORED).nonzero()[0])
    interval = _interval(mean, scored, metric)
    worked = _mean(mean, scored)
    if corrected.rectified is not None:
        worked += f"; {corrected.rectified.n:,} human labels correct it to {number(corrected.mean or 0.0)}"
    return MeanWorked(
        mean,
        sentence,
        formula,
        worked,
        counts,
        interval,
        "" if interval else _why_none(scored),
        _micro(mean, scored),
        _bounds(mean, examples),
        "" if error is None else _judged(mean, scored, error),
    )


def _judged(summary: Summary, scored: Columns, error: JudgeMeanError) -> str:
    """How the interval including judge error was made, in one line."""
    wide = summary.judged
    if wide is None:
        return ""
    rests_on = error.origin or f"{error.sources} labelled sources"
    allowed = error.bounds(summary.interval, summary.mean) if summary.interval and summary.mean is not None else None
    shares = (
        ""
        if allowed is None
        else (
            f"on sources in these layouts and languages so high a mean may come from {number(allowed[0])} to "
            f"{number(allowed[1])} of the texts being right"
        )
    )
    if error.scales and error.labels is None:
        return f"[{number(wide.low)}, {number(wide.high)}]  ({shares}, from {rests_on})"
    where, how = ("on another source ", ", by the bands of the scores") if error.labels is None else ("", "")
    lies = [
        f"{shift:+.2f} ± {spread:.2f} (t = {t_quantile(df, wide.level):.2f} of {df:.0f} degrees of freedom)"
        for shift, spread, df in error.offsets(scored.value, scored.weight)
    ]
    return (
        f"[{number(wide.low)}, {number(wide.high)}]  ({where}people's mean lies {', or '.join(lies)} from this judge's"
        f"{how}, from {rests_on}{f'; {shares}' if shares else ''})"
    )


def _mean(summary: Summary, scored: Columns) -> str:
    total, size, of = float(scored.value.sum()), float(scored.value.size), "sum of the values"
    if scored.weight is not None:
        total, size = float((scored.weight * scored.value).sum()), float(scored.weight.sum())
        of = "weighted sum of the values / sum of the weights"
    return f"{_sum(total)} / {number(size)} = {number(summary.mean or 0.0)}  ({of})"


def _sum(value: float) -> str:
    """A sum with two decimals more than the mean of it needs."""
    return number(value) if float(value).is_integer() else f"{value:,.2f}"


def _why_none(scored: Columns) -> str:
    if scored.value.size < 2:
        return "fewer than two scored examples: nothing tells how far the next one may lie"
    if scored.cluster is not None and len(set(scored.cluster.tolist())) < 2:
        return "all examples belong to one cluster: nothing tells how far another one may lie"
    return "all values are 0 and have no bounds: nothing tells how far the next one may lie"


def _interval(summary: Summary, scored: Columns, metric: Metric) -> str:
    """The interval's formula with its numbers; the ends are those of the summary."""
    interval = summary.interval
    if interval is None:
        return ""
    bounds = bounds_of(metric, scored.value)
    method, ends = interval.method, f"[{number(interval.low)}, {number(interval.high)}]"
    if method == "wilson":
        return f"{_wilson(summary, scored, interval.level)} = {ends}  (Wilson's score interval of a rate)"
    if method.endswith(("constant values", "clusters alike")):
        n, alike = _size(scored), f"{scored.value.size} values are"
        alike = alike if method.endswith("values") else f"{number(_size(scored))} clusters have the mean"
        if method.startswith("rule of three"):
            other = wilson(0, n, interval.level)
            return (
                f"all {alike} {number(summary.mean or 0.0)}: at most {other.high if other else 1.0:.1%} of others "
                f"differ (Wilson's upper end for 0 of n = {number(n)}), taken to be by no more than the "
                f"value itself = {ends}"
            )
        return (
            f"all {alike} {number(summary.mean or 0.0)}: a score within [{number(bounds[0])}, "
            f"{number(bounds[1])}] varies at most as a 0/1 score of the same mean, so Wilson's interval of "
            f"n = {number(n)} = {ends}"
        )
    df, error, what = _spread(summary, scored)
    quantile = t_quantile(df, interval.level)
    half = quantile * error
    mean = summary.mean or 0.0
    if method.endswith("scaled wilson"):
        return (
            f"{_scaled(mean, half, bounds)} = {ends}  (Wilson's score interval with the data's own spread, "
            f"t = {quantile:.3f} of {number(df)} degrees of freedom; {what})"
        )
    skewness, kurtosis = _shape(scored)
    against = (
        "what it is under random signs of the values"
        if BY_SIGNS in method
        else f"Student's, {quantile:.3f} of {number(df)} degrees of freedom"
    )
    return (
        f"{_corrected(scored, interval, bounds)} = {ends}  (t corrected for a skewness of {skewness:.2f} and an "
        f"excess kurtosis of {kurtosis:.2f}, held against {against}; {what})"
    )


def _corrected(scored: Columns, interval: Interval, bounds: tuple[float, float]) -> str:
    """The mean and its standard error times what the corrected t reaches to either side."""
    clusters = estimate(scored.value, scored.weight, scored.cluster)
    whole = skew_corrected_t(scored.value, scored.weight, scored.cluster, interval.level)
    if clusters is None or whole is None:
        return ""
    below, above = ((end - clusters.mean) / clusters.error for end in (whole.low, whole.high))
    clipped = whole.low < interval.low - 1e-12 or whole.high > interval.high + 1e-12
    within = f", cut to [{number(bounds[0])}, {number(bounds[1])}]" if clipped else ""
    return f"{number(clusters.mean)} + {clusters.error:.3g} · [{below:.3f}, {above:.3f}]{within}"


def _shape(scored: Columns) -> tuple[float, float]:
    """Skewness and excess kurtosis of the values, or of the sums of their clusters."""
    clusters = estimate(scored.value, scored.weight, scored.cluster)
    return (
        (0.0, 0.0) if clusters is None else (clusters.skewness * sqrt(clusters.parts), clusters.excess * clusters.parts)
    )


def _spread(summary: Summary, scored: Columns) -> tuple[float, float, str]:
    """Degrees of freedom, standard error, and what that is made of."""
    import numpy as np

    x, mean = scored.value, summary.mean or 0.0
    w = np.ones(x.size) if scored.weight is None else scored.weight
    w, x, groups = w[w > 0], x[w > 0], None if scored.cluster is None else scored.cluster[w > 0]
    n_eff = float(w.sum()) ** 2 / float((w * w).sum())
    if groups is not None and np.unique(groups).size < x.size:
        _, of = np.unique(groups, return_inverse=True)
        sums = np.bincount(of, weights=w * (x - mean))
        size = float(sums.size)
        error = sqrt(size / (size - 1) * float((sums * sums).sum())) / float(w.sum())
        return max(min(size, n_eff) - 1, 1.0), error, f"{int(size)} clusters of {x.size} examples"
    deviations = w * (x - mean)
    error = sqrt(x.size / (x.size - 1) * float((deviations * deviations).sum())) / float(w.sum())
    if scored.weight is not None:
        return max(n_eff - 1, 1.0), error, f"{x.size} weighted examples, worth {number(n_eff)} equal ones"
    spread = float(x.std(ddof=1))
    return max(n_eff - 1, 1.0), error, f"standard error {spread:.3g} / sqrt({x.size})"


def _size(scored: Columns) -> float:
    """The number of independent examples."""
    import numpy as np

    w = np.ones(scored.value.size) if scored.weight is None else scored.weight
    n = float(w.sum()) ** 2 / float((w * w).sum())
    return n if scored.cluster is None else min(n, float(np.unique(scored.cluster).size))


def _wilson(summary: Summary, scored: Columns, level: float) -> str:
    n, z = _size(scored), normal_quantile(level)
    formula = "(p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)"
    return f"{formula}, p = {number(summary.mean or 0.0)}, n = {number(n)}, z = {z:.2f}"


def _scaled(mean: float, half: float, bounds: tuple[float, float]) -> str:
    """Wilson's interval from half the width of Student's."""
    width = bounds[1] - bounds[0]
    r = (mean - bounds[0]) / width
    k = (half / width) ** 2 / (r * (1 - r))
    scaled = "" if bounds == (0.0, 1.0) else f" (scaled to [{number(bounds[0])}, {number(bounds[1])}])"
    formula = "(r + k/2 ± sqrt(k·r(1-r) + k²/4)) / (1 + k)"
    return f"{formula}, r = {number(r)}{scaled}, k = (t·se)² / (r(1-r)) = {k:.3g}"


def _micro(summary: Summary, scored: Columns) -> str:
    if summary.micro is None:
        return ""
    import numpy as np

    known = np.isfinite(scored.numerator) & np.isfinite(scored.denominator)
    w = np.ones(scored.value.size) if scored.weight is None else scored.weight
    above, below = (float((w * part)[known].sum()) for part in (scored.numerator, scored.denominator))
    return f"{_sum(above)} / {_sum(below)} = {number(summary.micro)}  (sum of numerators / sum of denominators)"


def _bounds(summary: Summary, examples: Columns) -> str:
    if not summary.failed:
        return ""
    n = int((examples.status == FAILED).sum())
    if summary.low is None or summary.high is None:
        return f"{n} failed, and the metric has no bounds: the mean could be anything"
    ends = f"[{number(summary.low)}, {number(summary.high)}]"
    return f"{n} failed: with each at its lowest or highest, the mean lies in {ends}"


def arithmetic(metric: Metric, score: Score, case: ExampleCase) -> str:
    """Such as "2 / 3 = 0.667"; of a failed score its bounds; "" where there is no value."""
    if score.status == "failed" and score.low is not None and score.high is not None:
        return f"between {number(score.low)} and {number(score.high)}, whatever the missing verdicts are"
    if score.value is None:
        return ""
    if score.numerator is not None and score.denominator is not None:
        return f"{number(score.numerator)} / {number(score.denominator)} = {number(score.value)}"
    terms = _terms(metric, case)
    return f"{terms} = {number(score.value)}" if terms else f"= {number(score.value)}"


def _terms(metric: Metric, case: ExampleCase) -> str:
    """The terms of a formula that is no plain share; "" where one of its facts is not known."""
    write = {**OF_RANKS, **WORKED}.get(metric.name())
    if write is None or not all(case.known(fact) for fact in metric.needs.values()):
        return ""
    return write(case, metric)


def _harmonic(p: str, r: str) -> Callable[[ExampleCase, Metric], str]:
    """2 P R / (P + R) of two other metrics; "" where there is no P, or R is 0."""

    def terms(case: ExampleCase, _: Metric) -> str:
        pair = [case.result(name).value for name in (p, r)]
        if not all(pair):
            return ""
        first, two = (number(value or 0) for value in pair)
        return f"2 · {first} · {two} / ({first} + {two})"

    return terms


def _ranked(case: ExampleCase, metric: Metric) -> str:
    """Precision at each useful passage, over their number."""
    if not getattr(metric, "ranked", False):
        return ""
    marks = case.fact(metric.needs["useful"])
    if None in marks or not any(marks):
        return ""
    certain = all(v in (0.0, 1.0) for v in marks)
    terms = [
        f"{number(sum(marks[:n]))}/{n}" if certain else f"{number(v)} · {number(1 + sum(marks[: n - 1]))}/{n}"
        for n, v in enumerate(marks, 1)
        if v
    ]
    return f"({' + '.join(terms)}) / {number(sum(marks))}"


def _token_f1(case: ExampleCase, _: Metric) -> str:
    """Twice the common words over all words, of the closest reference."""
    from collections import Counter

    given = Counter(answer_tokens(case.fact("response.answer")))
    every = [Counter(answer_tokens(reference)) for reference in case.fact("set.references")]
    sizes = [((given & reference).total(), given.total() + reference.total()) for reference in every]
    common, words = max(sizes, key=lambda pair: pair[0] / pair[1] if pair[1] else 0.0)
    return f"2 · {common} / {words}" if words else ""


def _worked_mean(case: ExampleCase, metric: Metric) -> str:
    if getattr(metric, "method", "") != "questions":
        return ""
    cosines = case.fact("guess_questions.cosines")
    return f"({' + '.join(number(c) for c in cosines)}) / {len(cosines)}" if cosines and None not in cosines else ""


WORKED: Mapping[str, Callable[[ExampleCase, Metric], str]] = {
    "answer_correctness": _harmonic("answer_precision", "answer_recall"),
    "citation_f1": _harmonic("citation_precision", "citation_recall"),
    "context_precision": _ranked,
    "token_f1": _token_f1,
    "answer_relevance": _worked_mean,
}
