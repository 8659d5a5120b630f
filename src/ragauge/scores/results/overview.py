"""What a report shows beyond means: where scores lie, which passages were used, how quality moves with length and cost.

Plain frozen values, filled by analysis and drawn by reporting. An example is named by its `ListedResponse` row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.verdict import Verdict
from ragauge.stats.weighted import Interval


@dataclass(frozen=True, slots=True)
class ListedResponse:
    """One response in the list that every chart mark points into.

    Attributes:
        query_id: of the example.
        repeat: of the system.
        query: its question, cut when long.
        verdict: failed, unclear, passed or not_judged.
        cause: why; "" when it did not fail, or nothing decided.
        decided_by: the facts that decided, in words.
        quality: mean of its scores on their ranges, 1 = best; None without scores.
        values: printed name -> value, scored metrics only; beside them latency, and context_characters for
            context_tokens, where they were not measured as metrics but are known.
        segments: column -> value.
        used: ranks of the passages that its answer uses, so that the marks of `RankUse` lead to it; None = not known.
        relevant: ranks of the passages known to be relevant, where it counts for `Alignment`; None = it does not.
        handed: passages handed on.
        kept: stage of retrieval -> share of its labelled documents still there, as in `Stage`.
        timings: stage -> milliseconds, as in `Timing`.
        reason: why it is unclear or not judged; "" where it failed or passed.
    """

    query_id: str
    repeat: int
    query: str
    verdict: Verdict
    cause: str
    decided_by: str
    quality: float | None
    values: Mapping[str, float]
    segments: Mapping[str, str]
    used: tuple[int, ...] | None = None
    relevant: tuple[int, ...] | None = None
    handed: int = 0
    kept: Mapping[str, float] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return self.verdict == "failed"


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with its interval and how many it is over; mean None = nothing to average.

    judged is the interval including judge error; None where nobody judged, or it is not known how far the judge errs.
    """

    mean: float | None
    interval: Interval | None
    n: int
    judged: Interval | None = None

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

    Attributes:
        metric: printed name.
        kind: rate, mean or amount.
        bins: of equal width, lowest first, those of a long tail in one wider last bin; a metric of few values has one
            bin a value.
        exact: each bin is one value (low = high).

    Counted are responses, so that the marks lead to `ListedResponse` rows.
    """

    metric: str
    kind: str
    bins: tuple[Bin, ...]
    exact: bool = False


MAX_ANSWERS_PER_RELEVANT = 5  # answers with one relevant passage among them, below which nobody disagrees over it


@dataclass(frozen=True, slots=True)
class RankUse:
    """What became of the passages at one rank, over the responses that have one there and whose answer has claims.

    Attributes:
        rank: from 1.
        n: such responses.
        used: in how many the passage supports or is cited for a claim.
        best: in how many it is the highest-ranked passage used.
        relevant: in how many it is known to be relevant (rated, else labelled); None = not known in any.
        relevant_used: in how many of those it was used.
    """

    rank: int
    n: int
    used: int
    best: int
    relevant: int | None
    relevant_used: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """How well ranking and generator agree (the misalignment page).

    Attributes:
        ranks: use by rank.
        answers: responses to answerable questions whose answer has claims and that have passages.
        ignored_top: in how many of them the first passage was not used.
        ignored_share: the share with its interval.
        flagged: the whole interval of that share lies above 30 %, and passages worth using were handed on.
        unused: responses whose answer uses no passage at all.
        correlation: Spearman's of rank and use over all passages of `answers`, [-1, 1]; None when constant.
            Below 0, passages further up are used more.
        correlation_interval: its interval, clustered by response; None when unknown.
        positions: first, middle, last third of the context -> share of relevant passages there that were used; a
            context of one passage has no thirds.
    """

    ranks: tuple[RankUse, ...]
    answers: int
    ignored_top: int
    ignored_share: MeanEstimate
    flagged: bool
    unused: int
    correlation: float | None
    correlation_interval: Interval | None
    positions: Mapping[str, MeanEstimate]

    @property
    def has_little_relevant(self) -> bool:
        """Whether hardly anything relevant was handed on; see `has_little_relevant`."""
        return has_little_relevant(self.ranks, self.answers)


def has_little_relevant(ranks: Sequence[RankUse], answers: int) -> bool:
    """Whether there are fewer relevant passages than one for five answers; False where no relevance is known."""
    relevant_counts = [rank.relevant for rank in ranks if rank.relevant is not None]
    return bool(relevant_counts) and MAX_ANSWERS_PER_RELEVANT * sum(relevant_counts) < answers


@dataclass(frozen=True, slots=True)
class LengthBand:
    """Quality of the responses whose context is between low and high long (quarters of the run, low first).

    Attributes:
        low: the shortest of them.
        high: the longest.
        n: responses.
        means: metric -> mean.
        unit: of low and high: tokens where `context_tokens` was measured, else characters.
    """

    low: int
    high: int
    n: int
    means: Mapping[str, MeanEstimate]
    unit: str


@dataclass(frozen=True, slots=True)
class Stage:
    """How much of the labelled evidence is still there after one stage of retrieval.

    Attributes:
        name: candidates, top n of the candidates (n = as many as were handed on), handed on, used.
        recall: share of labelled documents still there, mean over responses with labels that recorded the stage.
    """

    name: str
    recall: MeanEstimate


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
    """Tokens and cost of the system under test, over the responses that recorded them.

    Attributes:
        tokens: kind (input, output) -> total.
        counted: responses with tokens.
        cost: total, in the currency recorded; None = unknown, never 0.
        costed: responses with a cost.
    """

    tokens: Mapping[str, float]
    counted: int
    cost: float | None
    costed: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything of a scorecard beyond means, causes and findings. None or empty = nothing recorded to show.

    Attributes:
        listed: responses that marks can point at: all failed ones first, then the others by quality, up to 1,000.
        listed_of: how many there are in all; more than len(listed) = sampled, and reports say so.
        causes_by_segment: column -> value -> cause ("" = failed without a cause) -> failed examples; failed only.
        distributions: one a metric, in the order asked.
        alignment: of ranking and generator.
        lengths: quality by context length.
        stages: of retrieval.
        timings: by stage; "total" first.
        spending: of the system under test.
    """

    listed: tuple[ListedResponse, ...] = ()
    listed_of: int = 0
    causes_by_segment: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    distributions: tuple[Distribution, ...] = ()
    alignment: Alignment | None = None
    lengths: tuple[LengthBand, ...] = ()
    stages: tuple[Stage, ...] = ()
    timings: tuple[Timing, ...] = ()
    spending: Spending | None = None
