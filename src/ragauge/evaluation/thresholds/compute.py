"""Which level of a metric serves: from which level on answers turn out well often enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, erfc, floor, sqrt
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.core.json_keys import Key, json_keys, key
from ragauge.scores.estimation import (
    ScoreSample,
    compute_mean_interval,
    compute_quantile_interval,
    compute_rate_interval,
)
from ragauge.scores.indicators import StartingPoint
from ragauge.stats.correlation import spearman_of_marks
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

Verdict = Literal["serves", "none does", "not enough data"]
MIN_RESPONSES = 20  # responses with score and outcome, below which nothing is said
RESPONSES_PER_LEVEL = 30  # responses that a level should have
FEW_VALUES = 6  # different values up to which each is a level
MAX_LEVELS = 10
MAX_NEEDED = 100_000
SHARES = (0.5, 0.75, 0.9, 0.95)


@json_keys("low high n rate interval from_here serves", from_here=Key("self", view="from_here"))
@json_keys("n rate ci", view="from_here", n="from_n", rate="from_rate", ci="from_interval")
@dataclass(frozen=True, slots=True)
class ScoreLevel:
    """Responses whose score lies in one stretch of the metric, and those from there on."""

    low: float  #: least score in it.
    high: float  #: greatest score in it.
    n: int  #: responses.
    rate: float  #: share of them that turned out well, weighted.
    interval: Interval | None = field(metadata=key("ci"))  #: of that share; None for one response.
    from_n: int  #: responses at this level or a better one.
    from_rate: float  #: share of those that turned out well.
    from_interval: Interval | None  #: of that share.
    serves: bool  #: the interval from here on reaches the target, and no level from here on lies clearly below it.


@json_keys("target verdict level n rate interval trend needed confidence levels", trend=Key("self", view="trend"))
@json_keys("word correlation ci p_value", view="trend", word="trend", ci="correlation_interval")
@dataclass(frozen=True, slots=True)
class ByOutcome:
    """How often answers turned out well, by level of the metric."""

    target: float  #: the wanted share.
    n: int  #: responses with score and outcome.
    rate: float | None  #: share that turned out well.
    interval: Interval | None = field(metadata=key("ci"))  #: of that share.
    levels: tuple[ScoreLevel, ...]  #: the worst level first.
    correlation: float | None  #: Spearman's, of metric and outcome; None where one of them is all alike.
    correlation_interval: Interval | None  #: None where there is none.
    p_value: float | None  #: of no trend; None where responses depend on each other, or there is no correlation.
    trend: str  #: rises, falls or no trend seen: how the outcome moves as the metric gets better.
    verdict: Verdict  #: serves, none does, or not enough data.
    level: float | None  #: the score from which on it serves: at least, for metrics that should be high, else at most.
    confidence: float  #: of the intervals from a level on.
    #: responses that would be needed from the nearest level on, were the share to stay; None where unknown.
    needed: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """What a share of the examples reaches."""

    share: float  #: such as 0.9.
    value: float  #: at least this share of the examples scores so, or better.
    interval: Interval | None = field(metadata=key("ci"))  #: of the quantile; None where so few values hold none.


def compute_by_outcome(
    values: Floats,
    good: Sequence[bool],
    direction: str,
    *,
    target: float = 0.8,
    weights: Floats | None = None,
    clusters: Codes | None = None,
) -> ByOutcome:
    """How often answers turned out well by level of a metric, and the lowest level that serves.

    Up to six different scores are a level each; of more, levels hold equal numbers of responses, about 30 or more. A
    level serves where the interval of the share at this level and all better ones lies at or above the target, and
    neither this level nor a better one lies wholly below it by its own interval, so that very good answers do not hide
    a bad level. Intervals are Wilson's, or a clustered t where responses depend on each other. Those of a level alone
    are at 95 %; those from a level on are at 1 − 0.1/k of k levels, at least 95 %, so that with k looks a level is said
    to serve by chance in at most 5 of 100 runs (Bonferroni, one-sided).
    None serves where from every level on the whole interval lies below the target; everything else, and fewer than 20
    responses, is not enough data.

    The trend is Spearman's rho of score and outcome; z = rho · sqrt(n − 1) is normal without one.

    Args:
        values: scores, shape (n,), finite.
        good: whether each turned out well.
        direction: higher or lower: which scores are better.
        target: the wanted share, in (0, 1).
        weights: of the responses; None = all alike.
        clusters: numbers of what depends on each other; None = nothing does.

    Raises:
        UsageError: a target that is none, or a metric without a better side.
    """
    import numpy as np

    if not 0 < target < 1:
        raise UsageError(f"target must lie between 0 and 1, got {target:g}. Write 0.8 for 80 %.")
    if direction == "neither":
        raise UsageError("this metric has no better direction, so it cannot have a threshold.")
    y = np.asarray(good, dtype=float)
    shares = _Shares(y, weights, clusters)
    level_indices = _assign_levels(values, direction)
    confidence = max(0.95, 1 - 0.1 / (int(level_indices.max()) + 1)) if values.size else 0.95
    levels = tuple(_build_levels(values, level_indices, shares, target, confidence))
    rho, rho_interval, p_value = _compute_trend(values if direction == "higher" else -values, y, weights, clusters)
    rate, interval = shares.of(np.ones(values.size, dtype=bool)) if values.size else (None, None)
    verdict, level = _decide_verdict(levels, values.size, target)
    bound = None if level is None else level.low if direction == "higher" else level.high
    return ByOutcome(
        target,
        int(values.size),
        rate,
        interval,
        levels,
        rho,
        rho_interval,
        p_value,
        _describe_trend(rho_interval),
        verdict,
        bound,
        confidence,
        _estimate_needed(levels, target, confidence) if verdict == "not enough data" else None,
    )


class _Shares:
    """Shares of good outcomes with their intervals."""

    def __init__(self, y: Floats, weights: Floats | None, clusters: Codes | None) -> None:
        self._y, self._weights, self._clusters = y, weights, clusters

    def of(self, rows: npt.NDArray[np.bool_], confidence: float = 0.95) -> tuple[float, Interval | None]:
        """Of some responses, at least one."""
        import numpy as np

        y = self._y[rows]
        weights = None if self._weights is None else self._weights[rows]
        clusters = None if self._clusters is None else self._clusters[rows]
        interval = compute_mean_interval(ScoreSample(y, "rate", weights=weights, clusters=clusters), confidence)
        return float(np.average(y, weights=weights)), interval


def _build_levels(
    values: Floats, level_indices: Codes, share: _Shares, target: float, confidence: float
) -> list[ScoreLevel]:
    """The levels, the worst first, from their places: 0 for the worst."""
    levels: list[ScoreLevel] = []
    is_below = False  # a level seen from the best one down lies clearly below the target
    for index in range(int(level_indices.max()), -1, -1) if level_indices.size else ():
        at_level, from_level = level_indices == index, level_indices >= index
        rate, interval = share.of(at_level)
        from_rate, from_interval = share.of(from_level, confidence)
        is_below = is_below or (interval is not None and interval.high < target)
        serves = from_interval is not None and from_interval.low >= target and not is_below
        low, high = float(values[at_level].min()), float(values[at_level].max())
        levels.append(
            ScoreLevel(
                low, high, int(at_level.sum()), rate, interval, int(from_level.sum()), from_rate, from_interval, serves
            )
        )
    return levels[::-1]


def _assign_levels(values: Floats, direction: str) -> Codes:
    """Which level each value is in, 0 = the worst; equal values are in one, and none is empty."""
    import numpy as np

    _, codes = np.unique(_group_values(values), return_inverse=True)
    level_indices = np.asarray(codes, dtype=np.int64)
    return level_indices if direction == "higher" or not level_indices.size else level_indices.max() - level_indices


def _group_values(values: Floats) -> Codes:
    """Number of each value's level, ascending with the value; equal values are in one."""
    import numpy as np

    different, codes = np.unique(values, return_inverse=True)
    if different.size <= FEW_VALUES:
        return np.asarray(codes, dtype=np.int64)
    count = max(2, min(MAX_LEVELS, values.size // RESPONSES_PER_LEVEL))
    edges = np.unique(np.quantile(values, np.arange(1, count) / count, method="higher"))
    return np.asarray(np.searchsorted(edges, values, side="right"), dtype=np.int64)


def _decide_verdict(levels: Sequence[ScoreLevel], n: int, target: float) -> tuple[Verdict, ScoreLevel | None]:
    if n < MIN_RESPONSES:
        return "not enough data", None
    serving = next((level for level in levels if level.serves), None)
    if serving is not None:
        return "serves", serving
    intervals = [level.from_interval for level in levels]
    none_serves = all(end is not None and end.high < target for end in intervals)
    return "none does" if none_serves else "not enough data", None


def _estimate_needed(levels: Sequence[ScoreLevel], target: float, confidence: float) -> int | None:
    """Responses at which the level nearest to serving would serve, were its share to stay."""
    hopeful = [level for level in levels if level.from_rate > target]
    if not hopeful:
        return None
    rate = max(hopeful, key=lambda level: level.from_interval.low if level.from_interval else 0.0).from_rate
    low, high = 1, MAX_NEEDED
    while low < high:
        middle = (low + high) // 2
        interval = compute_rate_interval(rate * middle, middle, confidence)
        low, high = (low, middle) if interval is not None and interval.low >= target else (middle + 1, high)
    return low if low < MAX_NEEDED else None


def _compute_trend(
    values: Floats, y: Floats, weights: Floats | None, clusters: Codes | None
) -> tuple[float | None, Interval | None, float | None]:
    """Spearman's correlation of score and outcome, its interval, and the p-value of none."""
    import numpy as np

    if values.size < 3:
        return None, None, None
    groups = np.arange(values.size) if clusters is None else clusters
    rho, interval = spearman_of_marks(values, y, groups)
    if rho is None or clusters is not None or weights is not None:
        return rho, interval, None
    return rho, interval, erfc(abs(rho) * sqrt(values.size - 1) / sqrt(2))


def _describe_trend(interval: Interval | None) -> str:
    if interval is None or interval.low <= 0 <= interval.high:
        return "no trend seen"
    return "rises" if interval.low > 0 else "falls"


def compute_reached(values: Floats, direction: str, shares: Sequence[float] = SHARES) -> tuple[Reached, ...]:
    """What shares of the examples reach: for each share the best score that at least so many reach.

    For metrics that should be high it is the (1 − share) quantile, for those that should be low the share quantile,
    always a score that was seen; intervals are those of order statistics.

    Args:
        values: one score an example, shape (n,), finite.
        direction: higher, lower or neither; the last is read as lower.
        shares: in (0, 1).
    """
    import numpy as np

    x = np.sort(values)
    reached_shares: list[Reached] = []
    for share in shares if x.size else ():
        if direction == "higher":
            index, q = floor(x.size * (1 - share) + 1e-9), 1 - share
        else:
            index, q = ceil(x.size * share - 1e-9) - 1, share
        reached_shares.append(Reached(share, float(x[index]), compute_quantile_interval(x, q)))
    return tuple(reached_shares)


@json_keys(
    "run_id run judge_id metric direction n mean interval judged starting_point reached outcome good others "
    "without_outcome by_outcome"
)
@dataclass(frozen=True, slots=True)
class Thresholds:
    """What is known about the levels of a metric."""

    run: str = field(metadata=key("name"))  #: name of the run.
    run_id: str  #: its id.
    metric: str  #: printed name.
    direction: str  #: higher, lower or neither.
    kind: str  #: rate, mean or amount.
    judge_id: str = field(metadata=key("judge"))  #: who judged; "" for nobody.
    n: int  #: examples with a score.
    mean: float | None  #: of them.
    interval: Interval | None = field(metadata=key("ci"))  #: of the mean.
    reached: tuple[Reached, ...]  #: what shares of the examples reach.
    outcome: str = ""  #: which outcome; "" where none is recorded.
    good: str = ""  #: which of its values are good, in words.
    others: tuple[str, ...] = field(default=(), metadata=key("other_outcomes"))  #: other outcomes that are recorded.
    without_outcome: int = 0  #: scored responses without this outcome.
    by_outcome: ByOutcome | None = None  #: None where no outcome is recorded.
    #: interval of the mean including judge error; None where nobody judged, or that is not known. Levels are in the
    #: judge's own scores, and outcomes are no verdicts of it, so its error is no part of theirs.
    judged: Interval | None = field(default=None, metadata=key("judged_ci"))
    starting_point: StartingPoint | None = None  #: of this metric, on its own scale; None where it has none.
