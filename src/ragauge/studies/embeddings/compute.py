"""Studies of embedders: what decides, which is worth its price, what trials show beside their means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.messages import format_value
from ragauge.core.score import STATUSES
from ragauge.core.study import Trial
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.estimation import compute_ratio_of_means, estimate_examples_to_decide
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyContent, StudyKind, StudySummary, StudyTable
from ragauge.studies.front import list_equal_cost
from ragauge.studies.means import get_score_column
from ragauge.studies.recommendation import MAX_FAILED_SHARE, Recommendation
from ragauge.studies.trial_summary import StudyReading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

DECIDING_METRIC = "ndcg@10"
FEW_QUERIES = 50  # below which a study says that its queries are few
MAX_EQUAL_GAIN, MIN_WORTH_GAIN = 0.03, 0.05  # relative gains: below, the cheaper will do; above, more quality pays
GENERIC_NDCG = 0.75  # ndcg@10 below which an embedder made for all texts is worth tuning to these
MAX_PAIRS = 10  # that are listed: all pairs of five trials
MIN_QUERIES = 10  # queries below which a gain is neither given an interval nor judged
LEXICAL = "bm25"
DEPTH_METRICS = ("ndcg@3", DECIDING_METRIC, *(f"recall@{k}" for k in (1, 3, 5, 10, 20, 50)))
Decide = Literal["interval", "point"]
Verdict = Literal["cheaper", "dearer", "not decided"]


@dataclass(frozen=True, slots=True)
class PriceVerdict:
    """Whether the dearer of two embedders is worth its price."""

    verdict: Verdict  #: cheaper = take the cheaper, dearer = it is worth its price.
    gain: float | None  #: (dearer − cheaper) / cheaper of the means; None where the cheaper's mean is 0.
    #: lower end of its 95 % interval, at least −1; None where there is none, or fewer than 10 queries.
    low: float | None
    high: float | None  #: upper end.
    n: int  #: queries that both are scored on.
    #: about how many would decide at this gain; None where it is decided, or where no number would, the gain itself
    #: lying between the limits.
    queries: int | None = None


def decide_price(
    cheaper: Floats, dearer: Floats, clusters: npt.NDArray[Any] | None = None, *, decide: Decide = "interval"
) -> PriceVerdict:
    """Which of two embedders to take, by the relative gain of the dearer.

    All of the gain's interval below 3 %: the cheaper. All of it above 5 %: the dearer is worth its price. Else not
    decided. decide="point" looks at the estimate alone.

    Args:
        cheaper: shape (n,), ndcg@10 of each query, NaN where there is none.
        dearer: the same of the same queries.
        clusters: shape (n,), labels of what queries depend on; None = all independent.
        decide: by the interval, or by the estimate.
    """
    import numpy as np

    both = ~(np.isnan(cheaper) | np.isnan(dearer))
    n = int(both.sum())
    ratio = (
        compute_ratio_of_means(dearer[both], cheaper[both], None if clusters is None else clusters[both]) if n else None
    )
    if ratio is None:
        return PriceVerdict("not decided", None, None, None, n)
    gain, interval = ratio[0] - 1, ratio[1]
    if n < MIN_QUERIES:
        return PriceVerdict("not decided", gain, None, None, n)
    low, high = (max(interval.low, 0.0) - 1, interval.high - 1) if interval is not None else (None, None)
    lower_gain, upper_gain = (gain, gain) if decide == "point" else (low, high)
    if upper_gain is not None and upper_gain < MAX_EQUAL_GAIN:
        return PriceVerdict("cheaper", gain, low, high, n)
    if lower_gain is not None and lower_gain > MIN_WORTH_GAIN:
        return PriceVerdict("dearer", gain, low, high, n)
    needed = None
    room = MAX_EQUAL_GAIN - gain if gain < MAX_EQUAL_GAIN else gain - MIN_WORTH_GAIN
    if interval is not None and room > 0:
        needed = max(n + 1, estimate_examples_to_decide(n, interval, room))
    return PriceVerdict("not decided", gain, low, high, n, needed)


@dataclass(frozen=True, slots=True)
class PricedPair:
    """Two trials of a study, the cheaper first, and which to take."""

    cheaper: str  #: its name; of two of one price the one of the lower mean.
    dearer: str  #: the other.
    cost: str  #: by which measurement it is dearer; "" = they cost the same.
    verdict: PriceVerdict  #: of the gain.

    @property
    def chosen_trial(self) -> str:
        """The trial to take of the two; "" = not decided. Of two of one price it is the one of the better mean."""
        if not self.cost:
            return self.dearer
        return {"cheaper": self.cheaper, "dearer": self.dearer, "not decided": ""}[self.verdict.verdict]


def _build_sections(summary: StudySummary) -> Iterable[StudyContent]:
    yield from _describe_few_queries(summary)
    yield from _describe_generic(summary)
    if DECIDING_METRIC in summary.names and len(summary.scores) > 1:
        yield _build_worth_table(summary)
    yield from _build_depths(summary)


def _describe_few_queries(summary: StudySummary) -> Iterator[str]:
    """That the queries are few, where they are."""
    scored = max((mean.counts["scored"] for mean in summary.means if mean.metric == DECIDING_METRIC), default=0)
    if 0 < scored < FEW_QUERIES:
        yield (
            f"{scored} queries are few: with fewer than {FEW_QUERIES}, most differences between embedders "
            "could be chance. Add queries before you pay for an embedder."
        )


def _apply_rules(summary: StudySummary, reading: StudyReading) -> StudyReading:
    """What to take by the rule of the table Worth its price: the trial that no pair of it decides against.

    Applies where what decides is ndcg@10 without a target; a trial with more than 5 % failed calls is left out.
    """
    if summary.metric != DECIDING_METRIC or summary.target is not None or len(reading.trials) < 2:
        return reading
    trials = [
        trial for trial in summary.complete if trial.name in reading.trials and not _is_failing(summary, trial.name)
    ]
    pairs = [_build_priced_pair(summary, *pair) for pair in combinations(trials, 2)]
    dominated = {
        name for pair in pairs if pair.chosen_trial for name in (pair.cheaper, pair.dearer) if name != pair.chosen_trial
    }
    remaining = [trial.name for trial in trials if trial.name not in dominated]
    n = max((pair.verdict.n for pair in pairs), default=0)
    few = f", fewer than {FEW_QUERIES}" if n < FEW_QUERIES else ""
    on = f"on {n:,} queries{few}"
    if len(remaining) == 1:
        reason = f"no cheaper embedder does as well and no more expensive one is worth its price, {on}"
        return replace(reading, recommendation=Recommendation(remaining[0], reason))
    if not remaining:
        reason = f"each embedder loses to another by price and gain, {on}; set the required value with --target"
        return replace(reading, recommendation=Recommendation(None, reason))
    undecided = [pair for pair in pairs if pair.cheaper in remaining and pair.dearer in remaining]
    queries = [pair.verdict.queries for pair in undecided]
    needed = None if None in queries else max((n for n in queries if n is not None), default=None)
    reason = f"not decided between {', '.join(remaining)} by price and gain, {on}"
    return replace(reading, recommendation=Recommendation(None, reason, needed))


def _is_failing(summary: StudySummary, trial: str) -> bool:
    failed = get_score_column(summary.scores[trial], DECIDING_METRIC).status == STATUSES.index("failed")
    return bool(failed.mean() > MAX_FAILED_SHARE)


def _describe_generic(summary: StudySummary) -> Iterator[str]:
    """Where even the best embedder stays below what a generic one should reach."""
    dense = [entry for trial in summary.complete if (entry := _find_dense_mean(summary, trial)) is not None]
    best = max(dense, default=None, key=lambda entry: entry[1])
    if best is not None and best[1] < GENERIC_NDCG:
        trial, mean, high = best
        unsure = f" (its interval extends to {format_value(high)})" if high is not None and high >= GENERIC_NDCG else ""
        yield (
            f"The best embedder, {trial}, has {DECIDING_METRIC} {format_value(mean)}, below {GENERIC_NDCG}{unsure}: "
            "consider fine-tuning an embedder on texts and questions of this domain."
        )


def _find_dense_mean(summary: StudySummary, trial: Trial) -> tuple[str, float, float | None] | None:
    mean = summary.mean(trial.name, DECIDING_METRIC) if DECIDING_METRIC in summary.names else None
    if mean is None or mean.mean is None or trial.parameters.get("embedder") == LEXICAL:
        return None
    return trial.name, mean.mean, mean.interval.high if mean.interval else None


def _build_worth_table(summary: StudySummary) -> StudyTable:
    """Each pair of trials, the cheaper first."""
    trials = [trial for trial in summary.complete if trial.name in summary.scores]
    pairs = [_build_priced_pair(summary, *pair) for pair in combinations(trials, 2)]
    notes = [
        f"Gain: how much higher {DECIDING_METRIC} is with the more expensive embedder, as a share of the "
        f"cheaper one's value, with a 95 % interval. Whole interval below {MAX_EQUAL_GAIN:.0%}: take the "
        f"cheaper one. Whole interval above {MIN_WORTH_GAIN:.0%}: the more expensive one is worth its "
        "price. Otherwise not decided. If both cost the same, the better mean wins. "
        + ("With --decide point the estimate decides" if summary.decide == "interval" else "Here the estimate decides")
        + " alone."
    ]
    if len(pairs) > MAX_PAIRS:
        base_name = summary.base or summary.reading.recommendation.trial or _find_best_mean(summary, trials)
        notes.append(f"Shows the pairs with {base_name} out of {len(pairs):,}; choose another trial with --base.")
        pairs = [pair for pair in pairs if base_name in (pair.cheaper, pair.dearer)]
    rows = [
        (pair.cheaper, pair.dearer, pair.cost or "neither", _format_gain(pair.verdict), _describe_pair(pair))
        for pair in pairs
    ]
    headers = ("cheaper", "dearer", "by", "gain", "verdict")
    return StudyTable("Worth its price", headers, tuple(rows), (), (), tuple(notes))


def _find_best_mean(summary: StudySummary, trials: Sequence[Trial]) -> str:
    means = {
        trial.name: mean.mean for trial in trials if (mean := summary.mean(trial.name, DECIDING_METRIC)) is not None
    }
    return max(means, key=lambda name: means[name] or 0.0)


def _build_priced_pair(summary: StudySummary, first: Trial, second: Trial) -> PricedPair:
    """The cheaper, the dearer, by what, and the verdict; of two that cost the same the lower mean stands first."""
    values = {trial.name: get_score_column(summary.scores[trial.name], DECIDING_METRIC) for trial in (first, second)}
    usual = ("embedding_price", "index_bytes")
    for cost in usual if summary.cost in ("", summary.kind.costs[0]) else (summary.cost, *usual):
        prices = {trial.name: trial.find_measurement_value(cost) for trial in (first, second)}
        known_prices = {name: price for name, price in prices.items() if price is not None}
        if len(known_prices) == 2 and len(list_equal_cost(known_prices, cost)[0]) < 2:
            cheap, dear = sorted(known_prices, key=lambda name: known_prices[name])
            break
    else:
        cheap, dear, cost = first.name, second.name, ""
    verdict = decide_price(values[cheap].value, values[dear].value, values[cheap].cluster, decide=summary.decide)
    if not cost and verdict.gain is not None and verdict.gain <= 0:
        cheap, dear = dear, cheap
        verdict = decide_price(values[cheap].value, values[dear].value, values[cheap].cluster, decide=summary.decide)
    return PricedPair(cheap, dear, cost, verdict)


def _format_gain(verdict: PriceVerdict) -> str:
    if verdict.gain is None:
        return "–"
    low, high = verdict.low, verdict.high
    interval_text = "" if low is None or high is None else f" [{100 * low:+.1f}, {100 * high:+.1f}]"
    return f"{100 * verdict.gain:+.1f} %{interval_text}".replace("-", "−")


def _describe_pair(pair: PricedPair) -> str:
    verdict, cheap, dear = pair.verdict, pair.cheaper, pair.dearer
    if not pair.cost:
        return f"same price; {dear} has the better mean" if verdict.gain else "same price, same mean"
    if verdict.verdict != "not decided":
        return f"take {cheap}" if verdict.verdict == "cheaper" else f"{dear} is worth it"
    if verdict.n < MIN_QUERIES:
        return f"not enough data: both are scored on {verdict.n} queries, fewer than {MIN_QUERIES}"
    if verdict.gain is None:
        return f"not decided: {cheap} finds nothing"
    if verdict.queries is None:
        return f"not decided: the gain is between {MAX_EQUAL_GAIN:.0%} and {MIN_WORTH_GAIN:.0%}"
    return f"not decided; about {verdict.queries:,} queries would decide"


def _build_depths(summary: StudySummary) -> Iterator[StudyContent]:
    names = [name for name in DEPTH_METRICS if name in summary.names]
    means: Mapping[str, list[str]] = {
        trial.name: [format_value(mean.mean) if (mean := summary.mean(trial.name, name)) else "–" for name in names]
        for trial in summary.complete
        if trial.name in summary.scores
    }
    if names and means:
        rows = tuple((trial, *cells) for trial, cells in means.items())
        yield StudyTable("By depth", ("trial", *names), rows, tuple(names))
    names = [name for name in summary.names if name.startswith("ndcg@")]
    names_by_k = [(k, name) for name in names for k in [getattr(parse_metric(name), "k", 0) or 0]]
    points = [
        ChartPoint(float(k), mean.mean, trial.name)
        for trial in summary.complete
        for k, name in sorted(names_by_k)
        if (mean := summary.mean(trial.name, name)) is not None and mean.mean is not None
    ]
    if points:
        yield ReportChart("nDCG by k", "lines", "documents checked (k)", "ndcg", tuple(points), log=True)


EMBEDDINGS = StudyKind(
    "embeddings",
    (DECIDING_METRIC, "ndcg@*"),
    ("index_bytes", "embedding_price"),
    ("texts_per_second", "top_heaviness", "dimensions"),
    _build_sections,
    rules=_apply_rules,
)
