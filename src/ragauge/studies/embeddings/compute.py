"""Studies of embedders: what decides, which is worth its price, what trials show beside their means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.messages import number
from ragauge.core.score import STATUSES
from ragauge.core.study import Trial
from ragauge.metrics.catalogue import parse
from ragauge.scores.estimation import examples_to_decide, ratio_of_means
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyFigures, StudyKind, StudyTable, Told
from ragauge.studies.front import alike_in_cost
from ragauge.studies.means import score_column
from ragauge.studies.recommendation import MAX_FAILED, Recommendation
from ragauge.studies.trial_summary import StudyReading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

DECIDES = "ndcg@10"
FEW_QUERIES = 50  # below which a study says that its queries are few
ALIKE, WORTH = 0.03, 0.05  # relative gains: below, the cheaper will do; above, more quality pays
GENERIC = 0.75  # ndcg@10 below which an embedder made for all texts is worth tuning to these
MOST_PAIRS = 10  # that are listed: all pairs of five trials
FEWEST = 10  # queries below which a gain is neither given an interval nor judged
LEXICAL = "bm25"
SHOWN = ("ndcg@3", DECIDES, *(f"recall@{k}" for k in (1, 3, 5, 10, 20, 50)))
Decide = Literal["interval", "point"]
Verdict = Literal["cheaper", "dearer", "not decided"]


@dataclass(frozen=True, slots=True)
class PriceVerdict:
    """Whether the dearer of two embedders is worth its price.

    Attributes:
        verdict: cheaper = take the cheaper, dearer = it is worth its price.
        gain: (dearer − cheaper) / cheaper of the means; None where the cheaper's mean is 0.
        low: lower end of its 95 % interval, at least −1; None where there is none, or fewer than 10 queries.
        high: upper end.
        n: queries that both are scored on.
        queries: about how many would decide at this gain; None where it is decided, or where no number would, the gain
            itself lying between the limits.
    """

    verdict: Verdict
    gain: float | None
    low: float | None
    high: float | None
    n: int
    queries: int | None = None


def price_verdict(
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
    ratio = ratio_of_means(dearer[both], cheaper[both], None if clusters is None else clusters[both]) if n else None
    if ratio is None:
        return PriceVerdict("not decided", None, None, None, n)
    gain, ends = ratio[0] - 1, ratio[1]
    if n < FEWEST:
        return PriceVerdict("not decided", gain, None, None, n)
    low, high = (max(ends.low, 0.0) - 1, ends.high - 1) if ends is not None else (None, None)
    least, most = (gain, gain) if decide == "point" else (low, high)
    if most is not None and most < ALIKE:
        return PriceVerdict("cheaper", gain, low, high, n)
    if least is not None and least > WORTH:
        return PriceVerdict("dearer", gain, low, high, n)
    needed = None
    room = ALIKE - gain if gain < ALIKE else gain - WORTH
    if ends is not None and room > 0:
        needed = max(n + 1, examples_to_decide(n, ends, room))
    return PriceVerdict("not decided", gain, low, high, n, needed)


@dataclass(frozen=True, slots=True)
class PricedPair:
    """Two trials of a study, the cheaper first, and which to take.

    Attributes:
        cheaper: its name; of two of one price the one of the lower mean.
        dearer: the other.
        cost: by which measurement it is dearer; "" = they cost the same.
        verdict: of the gain.
    """

    cheaper: str
    dearer: str
    cost: str
    verdict: PriceVerdict

    @property
    def taken(self) -> str:
        """The trial to take of the two; "" = not decided. Of two of one price it is the one of the better mean."""
        if not self.cost:
            return self.dearer
        return {"cheaper": self.cheaper, "dearer": self.dearer, "not decided": ""}[self.verdict.verdict]


def _tells(summary: StudyFigures) -> Iterable[Told]:
    yield from _few(summary)
    yield from _generic(summary)
    if DECIDES in summary.names and len(summary.scores) > 1:
        yield _worth(summary)
    yield from _depths(summary)


def _few(summary: StudyFigures) -> Iterator[str]:
    """That the queries are few, where they are."""
    scored = max((mean.counts["scored"] for mean in summary.means if mean.metric == DECIDES), default=0)
    if 0 < scored < FEW_QUERIES:
        yield (
            f"{scored} queries are few: below {FEW_QUERIES} most differences between embedders cannot be told from "
            "chance. Add queries before you pay for one."
        )


def _rules(summary: StudyFigures, reading: StudyReading) -> StudyReading:
    """What to take by the rule of the table Worth its price: the trial that no pair of it decides against.

    Applies where what decides is ndcg@10 without a target; a trial with more than 5 % failed calls is left out.
    """
    if summary.metric != DECIDES or summary.target is not None or len(reading.trials) < 2:
        return reading
    trials = [trial for trial in summary.complete if trial.name in reading.trials and not _fails(summary, trial.name)]
    pairs = [_priced_pair(summary, *pair) for pair in combinations(trials, 2)]
    lost = {name for pair in pairs if pair.taken for name in (pair.cheaper, pair.dearer) if name != pair.taken}
    left = [trial.name for trial in trials if trial.name not in lost]
    n = max((pair.verdict.n for pair in pairs), default=0)
    few = f", fewer than {FEW_QUERIES}" if n < FEW_QUERIES else ""
    on = f"on {n:,} queries{few}"
    if len(left) == 1:
        reason = f"no cheaper one does as well, and no dearer one is worth its price, {on}"
        return replace(reading, recommendation=Recommendation(left[0], reason))
    if not left:
        reason = f"each loses to another by price and gain, {on}; --target names what has to be reached"
        return replace(reading, recommendation=Recommendation(None, reason))
    undecided = [pair for pair in pairs if pair.cheaper in left and pair.dearer in left]
    queries = [pair.verdict.queries for pair in undecided]
    needed = None if None in queries else max((n for n in queries if n is not None), default=None)
    reason = f"not decided between {', '.join(left)} by price and gain, {on}"
    return replace(reading, recommendation=Recommendation(None, reason, needed))


def _fails(summary: StudyFigures, trial: str) -> bool:
    failed = score_column(summary.scores[trial], DECIDES).status == STATUSES.index("failed")
    return bool(failed.mean() > MAX_FAILED)


def _generic(summary: StudyFigures) -> Iterator[str]:
    """Where even the best embedder stays below what a generic one should reach."""
    dense = [entry for trial in summary.complete if (entry := _dense_mean(summary, trial)) is not None]
    best = max(dense, default=None, key=lambda entry: entry[1])
    if best is not None and best[1] < GENERIC:
        trial, mean, high = best
        unsure = f" (its interval reaches {number(high)})" if high is not None and high >= GENERIC else ""
        yield (
            f"The best embedder, {trial}, has {DECIDES} {number(mean)}, below {GENERIC}{unsure}: consider fine-tuning "
            "one on texts and questions of this domain."
        )


def _dense_mean(summary: StudyFigures, trial: Trial) -> tuple[str, float, float | None] | None:
    mean = summary.mean(trial.name, DECIDES) if DECIDES in summary.names else None
    if mean is None or mean.mean is None or trial.parameters.get("embedder") == LEXICAL:
        return None
    return trial.name, mean.mean, mean.interval.high if mean.interval else None


def _worth(summary: StudyFigures) -> StudyTable:
    """Each pair of trials, the cheaper first."""
    trials = [trial for trial in summary.complete if trial.name in summary.scores]
    pairs = [_priced_pair(summary, *pair) for pair in combinations(trials, 2)]
    notes = [
        f"Gain: how much more {DECIDES} the dearer has, as a share of the cheaper's, with its 95 % interval. All of it "
        f"below {ALIKE:.0%}: take the cheaper; all of it above {WORTH:.0%}: worth its price; else not decided. Of two "
        "that cost the same the better mean is taken. "
        + ("--decide point takes the estimate" if summary.decide == "interval" else "Here by the estimate")
        + " alone."
    ]
    if len(pairs) > MOST_PAIRS:
        held = summary.base or summary.reading.recommendation.trial or _best_mean(summary, trials)
        notes.append(f"Of {len(pairs):,} pairs those with {held}; --base names another trial.")
        pairs = [pair for pair in pairs if held in (pair.cheaper, pair.dearer)]
    rows = [(pair.cheaper, pair.dearer, pair.cost or "neither", _gain(pair.verdict), _told(pair)) for pair in pairs]
    heads = ("cheaper", "dearer", "by", "gain", "verdict")
    return StudyTable("Worth its price", heads, tuple(rows), (), (), tuple(notes))


def _best_mean(summary: StudyFigures, trials: Sequence[Trial]) -> str:
    means = {trial.name: mean.mean for trial in trials if (mean := summary.mean(trial.name, DECIDES)) is not None}
    return max(means, key=lambda name: means[name] or 0.0)


def _priced_pair(summary: StudyFigures, first: Trial, second: Trial) -> PricedPair:
    """The cheaper, the dearer, by what, and the verdict; of two that cost the same the lower mean stands first."""
    values = {trial.name: score_column(summary.scores[trial.name], DECIDES) for trial in (first, second)}
    usual = ("embedding_price", "index_bytes")
    for cost in usual if summary.cost in ("", summary.kind.costs[0]) else (summary.cost, *usual):
        prices = {trial.name: trial.measured(cost) for trial in (first, second)}
        known = {name: price for name, price in prices.items() if price is not None}
        if len(known) == 2 and len(alike_in_cost(known, cost)[0]) < 2:
            cheap, dear = sorted(known, key=lambda name: known[name])
            break
    else:
        cheap, dear, cost = first.name, second.name, ""
    verdict = price_verdict(values[cheap].value, values[dear].value, values[cheap].cluster, decide=summary.decide)
    if not cost and verdict.gain is not None and verdict.gain <= 0:
        cheap, dear = dear, cheap
        verdict = price_verdict(values[cheap].value, values[dear].value, values[cheap].cluster, decide=summary.decide)
    return PricedPair(cheap, dear, cost, verdict)


def _gain(verdict: PriceVerdict) -> str:
    if verdict.gain is None:
        return "–"
    low, high = verdict.low, verdict.high
    ends = "" if low is None or high is None else f" [{100 * low:+.1f}, {100 * high:+.1f}]"
    return f"{100 * verdict.gain:+.1f} %{ends}".replace("-", "−")


def _told(pair: PricedPair) -> str:
    verdict, cheap, dear = pair.verdict, pair.cheaper, pair.dearer
    if not pair.cost:
        return f"same price: {dear} has the better mean" if verdict.gain else "same price, same mean"
    if verdict.verdict != "not decided":
        return f"take {cheap}" if verdict.verdict == "cheaper" else f"{dear} is worth it"
    if verdict.n < FEWEST:
        return f"not enough data: {verdict.n} queries that both are scored on, fewer than {FEWEST}"
    if verdict.gain is None:
        return f"not decided: {cheap} finds nothing"
    if verdict.queries is None:
        return f"not decided: the gain lies between {ALIKE:.0%} and {WORTH:.0%}"
    return f"not decided; about {verdict.queries:,} queries would"


def _depths(summary: StudyFigures) -> Iterator[Told]:
    names = [name for name in SHOWN if name in summary.names]
    means: Mapping[str, list[str]] = {
        trial.name: [number(mean.mean) if (mean := summary.mean(trial.name, name)) else "–" for name in names]
        for trial in summary.complete
        if trial.name in summary.scores
    }
    if names and means:
        rows = tuple((trial, *cells) for trial, cells in means.items())
        yield StudyTable("By depth", ("trial", *names), rows, tuple(names))
    names = [name for name in summary.names if name.startswith("ndcg@")]
    known = [(k, name) for name in names for k in [getattr(parse(name), "k", 0) or 0]]
    points = [
        ChartPoint(float(k), mean.mean, trial.name)
        for trial in summary.complete
        for k, name in sorted(known)
        if (mean := summary.mean(trial.name, name)) is not None and mean.mean is not None
    ]
    if points:
        yield ReportChart("nDCG by k", "lines", "documents looked at, k", "ndcg", tuple(points), log=True)


EMBEDDINGS = StudyKind(
    "embeddings",
    (DECIDES, "ndcg@*"),
    ("index_bytes", "embedding_price"),
    ("texts_per_second", "top_heaviness", "dimensions"),
    _tells,
    rules=_rules,
)
