"""A mean, its interval and its bounds with the numbers put in.

The formula with the numbers put in.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from ragauge.core.score import Score
from ragauge.diagnosis.explain.causes import ExampleCase
from ragauge.metrics.base import ComputedNumber, Metric, format_number
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.scores.arrays import FAILED, SCORED, Columns
from ragauge.scores.estimation import find_bounds
from ragauge.scores.results.explanation import MeanWorked
from ragauge.scores.results.summary import Summary
from ragauge.scores.summarize import summarize_metric
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.intervals import wilson_interval
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.skew_corrected_t import BY_SIGNS, skew_corrected_t
from ragauge.stats.weighted import Interval, estimate_mean

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
    corrected = summarize_metric(metric, examples, level, error)
    mean = corrected.judge_summary
    sentence, formula, _ = get_definition(metric)
    status_counts = [
        (mean.scored, "scored"),
        (mean.undefined, "undefined"),
        (mean.not_applicable, "not applicable"),
        (mean.failed, "failed"),
        (mean.not_read, "not read"),
    ]
    counts = f"{' + '.join(f'{n} {word}' for n, word in status_counts if n or word == 'scored')} = {mean.n} examples"
    if examples is None or mean.mean is None:
        return MeanWorked(mean, sentence, formula, "", counts, "", "no example was scored")
    scored = examples.take((examples.status == SCORED).nonzero()[0])
    interval = _format_interval_formula(mean, scored, metric)
    mean_text = _format_mean(mean, scored)
    if corrected.rectified is not None:
        mean_text += f"; {corrected.rectified.n:,} human labels correct it to {format_number(corrected.mean or 0.0)}"
    return MeanWorked(
        mean,
        sentence,
        formula,
        mean_text,
        counts,
        interval,
        "" if interval else _explain_no_interval(scored),
        _format_micro(mean, scored),
        _format_bounds(mean, examples),
        "" if error is None else _format_judge_interval(mean, scored, error),
    )


def _format_judge_interval(summary: Summary, scored: Columns, error: JudgeMeanError) -> str:
    """How the interval including judge error was made, in one line."""
    judge_interval = summary.judged
    if judge_interval is None:
        return ""
    source_text = error.origin or f"{error.sources} labeled sources"
    share_bounds = (
        error.bounds(summary.interval, summary.mean) if summary.interval and summary.mean is not None else None
    )
    shares_text = (
        ""
        if share_bounds is None
        else (
            "for sources in these layouts and languages, such a mean is consistent with "
            f"{format_number(share_bounds[0])} to "
            f"{format_number(share_bounds[1])} of the texts being right"
        )
    )
    if error.scales and error.labels is None:
        return (
            f"[{format_number(judge_interval.low)}, {format_number(judge_interval.high)}]  ({shares_text}, from "
            f"{source_text})"
        )
    where, how = ("on another source, ", ", by score band") if error.labels is None else ("", "")
    offsets_text = [
        f"{shift:+.2f} ± {spread:.2f} (t = {t_quantile(df, judge_interval.level):.2f} of {df:.0f} degrees of freedom)"
        for shift, spread, df in error.compute_offsets(scored.value, scored.weight)
    ]
    return (
        f"[{format_number(judge_interval.low)}, {format_number(judge_interval.high)}]  ({where}the annotators' "
        f"mean differs by {', or '.join(offsets_text)} from the judge's{how}, from {source_text}"
        f"{f'; {shares_text}' if shares_text else ''})"
    )


def _format_mean(summary: Summary, scored: Columns) -> str:
    total, size, what = float(scored.value.sum()), float(scored.value.size), "sum of the values"
    if scored.weight is not None:
        total, size = float((scored.weight * scored.value).sum()), float(scored.weight.sum())
        what = "weighted sum of the values / sum of the weights"
    return f"{_format_sum(total)} / {format_number(size)} = {format_number(summary.mean or 0.0)}  ({what})"


def _format_sum(value: float) -> str:
    """A sum with two decimals more than the mean of it needs."""
    return format_number(value) if float(value).is_integer() else f"{value:,.2f}"


def _explain_no_interval(scored: Columns) -> str:
    if scored.value.size < 2:
        return "fewer than two scored examples, so the spread is unknown"
    if scored.cluster is not None and len(set(scored.cluster.tolist())) < 2:
        return "all examples belong to one cluster, so the spread between clusters is unknown"
    return "all values are 0 and have no bounds, so the spread is unknown"


def _format_interval_formula(summary: Summary, scored: Columns, metric: Metric) -> str:
    """The interval's formula with its numbers; the ends are those of the summary."""
    interval = summary.interval
    if interval is None:
        return ""
    bounds = find_bounds(metric, scored.value)
    method, interval_text = interval.method, f"[{format_number(interval.low)}, {format_number(interval.high)}]"
    if method == "wilson":
        return (
            f"{_format_wilson(summary, scored, interval.level)} = {interval_text}  (Wilson's score interval of a rate)"
        )
    if method.endswith(("constant values", "clusters alike")):
        return f"{_format_constant(summary, scored, interval, bounds)} = {interval_text}"
    df, error, what = _compute_spread(summary, scored)
    quantile = t_quantile(df, interval.level)
    half = quantile * error
    mean = summary.mean or 0.0
    if method.endswith("scaled wilson"):
        return (
            f"{_format_scaled_wilson(mean, half, bounds)} = {interval_text}  (Wilson's score interval with the "
            f"data's own spread, t = {quantile:.3f} of {format_number(df)} degrees of freedom; {what})"
        )
    skewness, kurtosis = _compute_shape(scored)
    against = (
        "its distribution under random signs of the values"
        if BY_SIGNS in method
        else f"Student's t, {quantile:.3f} of {format_number(df)} degrees of freedom"
    )
    return (
        f"{_format_corrected_t(scored, interval, bounds)} = {interval_text}  (t corrected for a skewness of "
        f"{skewness:.2f} and an excess kurtosis of {kurtosis:.2f}, compared with {against}; {what})"
    )


def _format_constant(summary: Summary, scored: Columns, interval: Interval, bounds: tuple[float, float]) -> str:
    """Why values or clusters that are all equal still leave an interval."""
    n, mean = _compute_size(scored), format_number(summary.mean or 0.0)
    by_values = interval.method.endswith("values")
    equal_text = (
        f"all {scored.value.size} values are {mean}"
        if by_values
        else f"all {format_number(n)} clusters have the mean {mean}"
    )
    if interval.method.startswith("rule of three"):
        other = wilson_interval(0, n, interval.level)
        return (
            f"{equal_text}: at most {other.high if other else 1.0:.1%} of others differ (Wilson's upper limit for 0 of "
            f"n = {format_number(n)}), by at most the value itself"
        )
    return (
        f"{equal_text}: a score within [{format_number(bounds[0])}, {format_number(bounds[1])}] varies at most as much "
        f"as a 0/1 score with the same mean, so Wilson's interval for n = {format_number(n)}"
    )


def _format_corrected_t(scored: Columns, interval: Interval, bounds: tuple[float, float]) -> str:
    """The mean and its standard error times what the corrected t reaches to either side."""
    clusters = estimate_mean(scored.value, scored.weight, scored.cluster)
    uncut_interval = skew_corrected_t(scored.value, scored.weight, scored.cluster, interval.level)
    if clusters is None or uncut_interval is None:
        return ""
    below, above = ((end - clusters.mean) / clusters.error for end in (uncut_interval.low, uncut_interval.high))
    clipped = uncut_interval.low < interval.low - 1e-12 or uncut_interval.high > interval.high + 1e-12
    cut_note = f", clipped to [{format_number(bounds[0])}, {format_number(bounds[1])}]" if clipped else ""
    return f"{format_number(clusters.mean)} + {clusters.error:.3g} · [{below:.3f}, {above:.3f}]{cut_note}"


def _compute_shape(scored: Columns) -> tuple[float, float]:
    """Skewness and excess kurtosis of the values, or of the sums of their clusters."""
    clusters = estimate_mean(scored.value, scored.weight, scored.cluster)
    return (
        (0.0, 0.0) if clusters is None else (clusters.skewness * sqrt(clusters.parts), clusters.excess * clusters.parts)
    )


def _compute_spread(summary: Summary, scored: Columns) -> tuple[float, float, str]:
    """Degrees of freedom, standard error, and what that is made of."""
    import numpy as np

    x, mean = scored.value, summary.mean or 0.0
    w = np.ones(x.size) if scored.weight is None else scored.weight
    w, x, groups = w[w > 0], x[w > 0], None if scored.cluster is None else scored.cluster[w > 0]
    n_eff = float(w.sum()) ** 2 / float((w * w).sum())
    if groups is not None and np.unique(groups).size < x.size:
        _, group_indices = np.unique(groups, return_inverse=True)
        sums = np.bincount(group_indices, weights=w * (x - mean))
        size = float(sums.size)
        error = sqrt(size / (size - 1) * float((sums * sums).sum())) / float(w.sum())
        return max(min(size, n_eff) - 1, 1.0), error, f"{int(size)} clusters of {x.size} examples"
    deviations = w * (x - mean)
    error = sqrt(x.size / (x.size - 1) * float((deviations * deviations).sum())) / float(w.sum())
    if scored.weight is not None:
        return (
            max(n_eff - 1, 1.0),
            error,
            f"{x.size} weighted examples, equivalent to {format_number(n_eff)} unweighted ones",
        )
    spread = float(x.std(ddof=1))
    return max(n_eff - 1, 1.0), error, f"standard error {spread:.3g} / sqrt({x.size})"


def _compute_size(scored: Columns) -> float:
    """The number of independent examples."""
    import numpy as np

    w = np.ones(scored.value.size) if scored.weight is None else scored.weight
    n = float(w.sum()) ** 2 / float((w * w).sum())
    return n if scored.cluster is None else min(n, float(np.unique(scored.cluster).size))


def _format_wilson(summary: Summary, scored: Columns, level: float) -> str:
    n, z = _compute_size(scored), normal_quantile(level)
    formula = "(p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)"
    return f"{formula}, p = {format_number(summary.mean or 0.0)}, n = {format_number(n)}, z = {z:.2f}"


def _format_scaled_wilson(mean: float, half: float, bounds: tuple[float, float]) -> str:
    """Wilson's interval from half the width of Student's."""
    width = bounds[1] - bounds[0]
    r = (mean - bounds[0]) / width
    k = (half / width) ** 2 / (r * (1 - r))
    scaled = "" if bounds == (0.0, 1.0) else f" (scaled to [{format_number(bounds[0])}, {format_number(bounds[1])}])"
    formula = "(r + k/2 ± sqrt(k·r(1-r) + k²/4)) / (1 + k)"
    return f"{formula}, r = {format_number(r)}{scaled}, k = (t·se)² / (r(1-r)) = {k:.3g}"


def _format_micro(summary: Summary, scored: Columns) -> str:
    if summary.micro is None:
        return ""
    import numpy as np

    is_known = np.isfinite(scored.numerator) & np.isfinite(scored.denominator)
    w = np.ones(scored.value.size) if scored.weight is None else scored.weight
    numerator_sum, denominator_sum = (
        float((w * column)[is_known].sum()) for column in (scored.numerator, scored.denominator)
    )
    return (
        f"{_format_sum(numerator_sum)} / {_format_sum(denominator_sum)} = {format_number(summary.micro)}  (sum of "
        "numerators / sum of denominators)"
    )


def _format_bounds(summary: Summary, examples: Columns) -> str:
    if not summary.failed:
        return ""
    n = int((examples.status == FAILED).sum())
    if summary.low is None or summary.high is None:
        return f"{n} failed, and the metric has no bounds, so the mean could be anything"
    interval_text = f"[{format_number(summary.low)}, {format_number(summary.high)}]"
    return f"{n} failed: with each at its minimum or maximum, the mean is in {interval_text}"


def format_arithmetic(metric: Metric, score: Score, case: ExampleCase) -> str:
    """Such as "2 / 3 = 0.667"; of a failed score its bounds; "" where there is no value."""
    if score.status == "failed" and score.low is not None and score.high is not None:
        return f"between {format_number(score.low)} and {format_number(score.high)}, depending on the missing verdicts"
    if score.value is None:
        return ""
    if score.numerator is not None and score.denominator is not None:
        return f"{format_number(score.numerator)} / {format_number(score.denominator)} = {format_number(score.value)}"
    amount, _ = case.compute_value(metric)
    terms = amount.write() if isinstance(amount, ComputedNumber) else ""
    return f"{terms} = {format_number(score.value)}".lstrip()
