"""What a report shows beyond means, and the gaps of a run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.json_keys import Key, json_keys, key
from ragauge.core.verdict import Verdict
from ragauge.stats.weighted import Interval


@dataclass(frozen=True, slots=True)
class ListedResponse:
    """One response in the list that every chart mark points into."""

    query_id: str  #: of the example.
    repeat: int  #: of the system.
    query: str  #: its question, cut when long.
    verdict: Verdict  #: failed, unclear, passed or not_judged.
    cause: str  #: why; "" when it did not fail, or nothing decided.
    decided_by: str  #: the facts that decided, in words.
    quality: float | None  #: mean of its scores on their ranges, 1 = best; None without scores.
    #: printed name -> value, scored metrics only; beside them latency, and context_characters for context_tokens, where
    #: they were not measured as metrics but are known.
    values: Mapping[str, float]
    segments: Mapping[str, str]  #: column -> value.
    #: ranks of the passages that its answer uses, so that the marks of `RankUse` lead to it; None = not known.
    used: tuple[int, ...] | None = None
    #: ranks of the passages known to be relevant, where it counts for `Alignment`; None = it does not.
    relevant: tuple[int, ...] | None = None
    handed: int = 0  #: passages handed on.
    #: stage of retrieval -> share of its labelled documents still there, as in `Stage`.
    kept: Mapping[str, float] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)  #: stage -> milliseconds, as in `Timing`.
    reason: str = ""  #: why it is unclear or not judged; "" where it failed or passed.

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return self.verdict == "failed"


@json_keys("mean interval n")
@json_keys("value interval", view="quantile", value="mean")
@json_keys("difference interval ci_method judged n", view="difference", difference="mean")
@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with its interval and how many it is over; mean None = nothing to average.

    judged is the interval including judge error; None where nobody judged, or it is not known how far the judge errs.
    """

    mean: float | None
    interval: Interval | None = field(metadata=key("ci"))
    n: int
    judged: Interval | None = field(default=None, metadata=key("judged_ci"))

    @property
    def ci_method(self) -> str | None:
        """Such as "t", "wilson" or "order statistics"."""
        return None if self.interval is None else self.interval.method

    @property
    def widest_interval(self) -> Interval | None:
        """The interval with all that is known of its errors: with the judge's where there is one."""
        return self.judged or self.interval


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores in [low, high), the last bin with its high."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """How one metric's scores lie.

    Counted are responses, so that the marks lead to `ListedResponse` rows.
    """

    metric: str  #: printed name.
    kind: str  #: rate, mean or amount.
    #: of equal width, lowest first, those of a long tail in one wider last bin; a metric of few values has one bin a
    #: value.
    bins: tuple[Bin, ...]
    exact: bool = False  #: each bin is one value (low = high).


MAX_ANSWERS_PER_RELEVANT = 5  # answers with one relevant passage among them, below which nobody disagrees over it


@dataclass(frozen=True, slots=True)
class RankUse:
    """What became of the passages at one rank, over the responses that have one there and whose answer has claims."""

    rank: int  #: from 1.
    n: int  #: such responses.
    used: int  #: in how many the passage supports or is cited for a claim.
    best: int = field(metadata=key("highest_used"))  #: in how many it is the highest-ranked passage used.
    relevant: int | None  #: in how many it is known to be relevant (rated, else labelled); None = not known in any.
    relevant_used: int | None  #: in how many of those it was used.


@json_keys(
    "answers ignored_top_ranked unused correlation correlation_interval ranks positions",
    ignored_top_ranked=Key("self", view="ignored"),
)
@json_keys("count ignored_share flagged", view="ignored", count="ignored_top", ignored_share=Key(spread=True))
@dataclass(frozen=True, slots=True)
class Alignment:
    """How well ranking and generator agree (the misalignment page)."""

    ranks: tuple[RankUse, ...]  #: use by rank.
    answers: int  #: responses to answerable questions whose answer has claims and that have passages.
    ignored_top: int  #: in how many of them the first passage was not used.
    ignored_share: MeanEstimate  #: the share with its interval.
    flagged: bool  #: the whole interval of that share lies above 30 %, and passages worth using were handed on.
    unused: int  #: responses whose answer uses no passage at all.
    #: Spearman's of rank and use over all passages of `answers`, [-1, 1]; None when constant. Below 0, passages further
    #: up are used more.
    correlation: float | None
    #: its interval, clustered by response; None when unknown.
    correlation_interval: Interval | None = field(metadata=key("correlation_ci"))
    #: first, middle, last third of the context -> share of relevant passages there that were used; a context of one
    #: passage has no thirds.
    positions: Mapping[str, MeanEstimate]

    @property
    def has_little_relevant(self) -> bool:
        """Whether hardly anything relevant was handed on; see `has_little_relevant`."""
        return has_little_relevant(self.ranks, self.answers)


def has_little_relevant(ranks: Sequence[RankUse], answers: int) -> bool:
    """Whether there are fewer relevant passages than one for five answers; False where no relevance is known."""
    relevant_counts = [rank.relevant for rank in ranks if rank.relevant is not None]
    return bool(relevant_counts) and MAX_ANSWERS_PER_RELEVANT * sum(relevant_counts) < answers


@json_keys("low high unit n means")
@dataclass(frozen=True, slots=True)
class LengthBand:
    """Quality of the responses whose context is between low and high long (quarters of the run, low first)."""

    low: int  #: the shortest of them.
    high: int  #: the longest.
    n: int  #: responses.
    means: Mapping[str, MeanEstimate] = field(metadata=key("metrics"))  #: metric -> mean.
    unit: str  #: of low and high: tokens where `context_tokens` was measured, else characters.


@dataclass(frozen=True, slots=True)
class Stage:
    """How much of the labelled evidence is still there after one stage of retrieval."""

    name: str  #: candidates, top n of the candidates (n = as many as were handed on), handed on, used.
    #: share of labelled documents still there, mean over responses with labels that recorded the stage.
    recall: MeanEstimate = field(metadata=key(spread=True))


@json_keys("n p50 p95 p99")
@dataclass(frozen=True, slots=True)
class Timing:
    """Latency of one stage in milliseconds over the responses that recorded it."""

    stage: str
    n: int
    p50: float
    p95: float
    p99: float
    bins: tuple[Bin, ...] = ()


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and cost of the system under test, over the responses that recorded them."""

    tokens: Mapping[str, float]  #: kind (input, output) -> total.
    counted: int  #: responses with tokens.
    cost: float | None  #: total, in the currency recorded; None = unknown, never 0.
    costed: int  #: responses with a cost.


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything of a scorecard beyond means, causes and findings. None or empty = nothing recorded to show."""

    #: responses that marks can point at: all failed ones first, then the others by quality, up to 1,000.
    listed: tuple[ListedResponse, ...] = ()
    listed_of: int = 0  #: how many there are in all; more than len(listed) = sampled, and reports say so.
    #: column -> value -> cause ("" = failed without a cause) -> failed examples; failed only.
    causes_by_segment: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    distributions: tuple[Distribution, ...] = ()  #: one a metric, in the order asked.
    alignment: Alignment | None = None  #: of ranking and generator.
    lengths: tuple[LengthBand, ...] = field(default=(), metadata=key("context_length"))  #: quality by context length.
    stages: tuple[Stage, ...] = ()  #: of retrieval.
    timings: tuple[Timing, ...] = field(default=(), metadata=key("latency", by="stage"))  #: by stage; "total" first.
    spending: Spending | None = None  #: of the system under test.


@dataclass(frozen=True, slots=True)
class Oracle:
    """Own retrieval beside the labelled passages, over the examples that both scored."""

    own: float  #: the mean on own retrieval.
    oracle: float  #: the mean on the labelled passages.
    gap: MeanEstimate = field(metadata=key("oracle_gap"))  #: oracle − own: what is lost to retrieval.
    rest: MeanEstimate = field(metadata=key("lost_to_generation"))  #: best − oracle: what is lost to generation.
    failed: int = 0  #: examples left out because a score failed on one side.
    undefined: int = 0  #: examples left out because a score is undefined on one side, such as that of a refusal.


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Own retrieval beside no passages, over the examples that both scored."""

    own: float  #: the mean on own retrieval.
    #: the mean without passages: what the model knew by itself, with its interval.
    alone: MeanEstimate = field(metadata=key("closed_book"))
    gap: MeanEstimate = field(metadata=key("closed_book_gap"))  #: own − without: what retrieval buys.
    failed: int = 0  #: examples left out because a score failed on one side.
    undefined: int = 0  #: examples left out because a score is undefined on one side, such as that of a refusal.


@json_keys("direction oracle closed_book")
@dataclass(frozen=True, slots=True)
class MetricGaps:
    """One metric's gaps; None where there is no such run, or no pair."""

    metric: str  #: printed name.
    direction: str  #: higher or lower is better.
    oracle: Oracle | None = None  #: against the labelled passages.
    closed_book: ClosedBook | None = None  #: against no passages.


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a run."""

    run: str  #: name of the run on its own retrieval.
    oracle: str = field(metadata=key(null=True))  #: name of the run on the labelled passages; "" for none.
    closed_book: str = field(metadata=key(null=True))  #: name of the run without passages; "" for none.
    metrics: tuple[MetricGaps, ...] = field(metadata=key(by="metric"))  #: overall.
    #: column -> value -> the same, of values with at least 5 pairs.
    segments: Mapping[str, Mapping[str, tuple[MetricGaps, ...]]] = field(metadata=key(by="metric"))
    notes: tuple[str, ...] = ()  #: why something is not here.
