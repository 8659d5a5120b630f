"""The scorecard: what an evaluation found, as plain values that every report renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragauge.core.example import Example
from ragauge.core.facts import Evidence
from ragauge.core.json_keys import Key, Versioned, json_keys, key
from ragauge.core.response import Readability, Response, Run
from ragauge.core.score import Score
from ragauge.core.verdict import NOTHING_JUDGED, OPEN_VERDICTS, RULE_VERSION, ExampleVerdict, Verdict
from ragauge.scores.results.comparison import RunComparison
from ragauge.scores.results.experiments import Confirmed
from ragauge.scores.results.findings import Finding, Reading
from ragauge.scores.results.history_rows import History
from ragauge.scores.results.judge_usage import JudgeUse
from ragauge.scores.results.overview import Gaps, Overview
from ragauge.scores.results.summary import Summary
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.ppi_mean import LabelCorrectedMean
from ragauge.stats.weighted import Interval

__all__ = [
    "MIN_SEGMENT_EXAMPLES",
    "UNCLEAR",
    "Cause",
    "ExampleView",
    "Finding",
    "Interval",
    "JudgeNote",
    "Reading",
    "ScorecardData",
    "Summary",
]


MIN_SEGMENT_EXAMPLES = 5  # examples; smaller values of a segment are grouped
UNCLEAR = "unclear"  # the component of a cause without a name


@dataclass(frozen=True, slots=True)
class Cause:
    """Why one example failed: the first row of the table that applies."""

    name: str  #: such as retrieval_miss; "" when the facts do not tell which.
    decided_by: str = ""  #: the facts that decided, in words with numbers.
    fix: str = ""  #: what to try.
    component: str = ""  #: retrieval, generation, system or data; unclear where the name is "".
    #: a second opinion, where two causes tie: the first later row that would still apply with this one mended; "" if
    #: none.
    second: str = ""
    lacking: tuple[str, ...] = ()  #: facts that would have been needed to look further.
    #: what decided: record (the run itself), labels (of the eval set), judge, or guess (a judge's verdicts that allow
    #: another reading); "" when nothing did.
    basis: str = ""
    second_by: str = ""  #: the facts that decided the second, in words with numbers.
    listing: str = ""  #: fingerprint of the listing of the index that was known; "" for none.
    #: probability that the facts that decided are so; 1 for a record, a label or a judge without probabilities.
    p: float = 1.0
    #: what shows that it failed at all, whatever decides why, the first of: record, people (their labels of the
    #: answer), labels (of the eval set), label and judge, judge; "" of a cause that was found before this was noted.
    shown_by: str = ""


@json_keys(
    "example response evidence untold scores cause verdict verdicts decided_by",
    decided_by=Key("verdicts", at="reason settled_by"),
)
@dataclass(frozen=True, slots=True)
class ExampleView:
    """One example with everything that a reader needs to check a number."""

    example: Example = field(metadata=key(stored=("query_id", "query")))  #: the question and its labels.
    response: Response = field(metadata=key(stored=("query_id",)))  #: what the system returned.
    evidence: Mapping[str, Evidence] = field(metadata=key(stored=()))  #: question -> what the judge found.
    scores: Mapping[str, Score]  #: printed name -> score.
    #: why it failed; None when nothing shows that it did.
    cause: Cause | None = field(default=None, metadata=key(stored=("name",)))
    #: whether the answer is right, whether it is grounded, and both together, with the reason.
    verdicts: ExampleVerdict = field(default=NOTHING_JUDGED, metadata=key(view="verdict_pair"))
    #: the verdicts that people's labels decide before the evidence does: right, grounded.
    labeled: tuple[str, ...] = ()
    readability: Readability | None = None  #: what the judge can read of it; None = no controls were asked.

    @property
    def verdict(self) -> Verdict:
        """Failed, unclear, passed or not_judged."""
        return self.verdicts.verdict

    @property
    def reason(self) -> str:
        """Why it is unclear or not judged; "" where it failed or passed."""
        return self.verdicts.reason if self.verdict in OPEN_VERDICTS else ""


@dataclass(frozen=True, slots=True)
class ScaleSummary:
    """Whether the judge tells pairs known to be true from pairs known to be false."""

    fact: str  #: support, reference, relevance or address.
    language: str  #: ISO 639-1; "und" or "mixed".
    layout: str  #: prose, table or cells.
    readable: bool  #: whether it can read such texts.
    known_yes: float  #: mean score of the known-true pairs.
    known_no: float  #: of the known-false pairs.
    auroc: float  #: chance that a known-true pair scores higher.
    gap: float  #: between the medians.
    yes: int  #: scores of known-true pairs.
    no: int  #: scores of known-false pairs.
    shipped: int  #: pairs, of both, of the texts shipped with the package.


@dataclass(frozen=True, slots=True)
class JudgeNote:
    """How the answers were judged and how far that can be trusted."""

    judge_id: str  #: "" when nothing was asked.
    what: str = ""  #: one sentence.
    limits: tuple[str, ...] = ()  #: what it cannot see, one sentence each.
    #: share of claims whose probability lies in the middle band; None where it does not apply.
    uncertain: float | None = None
    observed: str = ""  #: what its verdicts were worth on human labels, in words.
    #: printed name of a metric -> how far its mean errs on data that nobody labelled; empty = not known.
    errors: Mapping[str, JudgeMeanError] = field(default_factory=dict)
    #: printed name of a metric -> its mean over pairs known to be false; empty = none were asked about.
    controls: Mapping[str, float] = field(default_factory=dict)
    scales: tuple[ScaleSummary, ...] = ()  #: what those pairs and the known-true ones show of what it can read.


class SegmentSize(NamedTuple):
    """The examples of one value of a segment, and whether they are too few to be looked at alone."""

    n: int
    too_few: bool


@json_keys(
    "schema_version rule_version run judge n pending level summaries segments segment_sizes findings causes "
    "failed_examples failed_by failed_share unclear_examples passed_examples not_judged_examples unclear not_judged "
    "uncertain_claims judge_error known_no readability warnings calls cost use took baseline gaps confirmed overview",
    optional="failed_share",
    uncertain_claims=Key("judge", at="uncertain"),
    known_no=Key("judge", at="controls"),
    readability=Key("judge", at="scales"),
    overview=Key(at="causes_by_segment alignment stages lengths timings"),
)
@json_keys("run overview", view="alignment")
@dataclass(frozen=True, slots=True)
class ScorecardData(Versioned):
    """What an evaluation found."""

    run: Run = field(metadata=key(at="run_id name"))  #: whose responses.
    judge: JudgeNote = field(metadata=key(at="judge_id"))  #: who judged.
    n: int  #: examples.
    pending: int  #: not yet evaluated.
    summaries: tuple[Summary, ...] = field(metadata=key("metrics", by="metric"))  #: one a metric, in the order asked.
    #: column -> value -> summaries; values with the worst first.
    segments: Mapping[str, Mapping[str, tuple[Summary, ...]]] = field(metadata=key(by="metric"))
    findings: tuple[Finding, ...] = field(metadata=key("diagnosis"))  #: the diagnosis, those that explain most first.
    causes: Mapping[str, int] = field(metadata=key("failures"))  #: cause -> failed examples, most frequent first.
    failed_examples: int  #: how many examples failed.
    worst: tuple[ExampleView, ...]  #: the examples to look at first.
    warnings: tuple[str, ...] = ()  #: what the reader must know before believing a number.
    #: printed name -> (one sentence, formula, source).
    definitions: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    level: float = 0.95  #: of the intervals.
    #: evaluation facts such as seconds, answers_per_second, asked, reused.
    took: Mapping[str, Any] = field(default_factory=dict)
    #: what a report shows beyond means.
    overview: Overview = field(default_factory=Overview, metadata=key(at="alignment stages lengths"))
    #: the run it is held against; None = starting points serve instead.
    baseline: RunComparison | None = field(default=None, metadata=key(view="baseline"))
    #: what judging took, over all evaluations of the run by this judge; None where nobody was asked.
    use: JudgeUse | None = field(default=None, metadata=key("judging"))
    history: History | None = None  #: the evaluations of the same set up to this run; None where it is the first.
    #: what is lost to retrieval and to generation; None without runs on labelled passages or on none.
    gaps: Gaps | None = None
    confirmed: Confirmed | None = None  #: what experiments have said of the causes; None where none was made.
    #: reason -> examples that were judged, of which it is unclear whether they failed, most frequent first.
    unclear: Mapping[str, int] = field(default_factory=dict)
    #: reason -> examples of which nothing was judged that could show a failure, likewise. The failed, the passed, the
    #: unclear and those not judged sum to n.
    not_judged: Mapping[str, int] = field(default_factory=dict)
    #: of the rule by which examples are counted, the oldest; 0 = some have no stored verdict.
    rule_version: int = RULE_VERSION
    #: what shows the failure (record, people, labels, label and judge, judge) -> failed examples, the most first.
    failed_by: Mapping[str, int] = field(default_factory=dict)
    #: whether labels and the record alone say what failed: no judge was asked what could show it.
    labels_alone: bool = False
    #: segment column -> value -> its examples, of every named value; in `segments` several small ones are together.
    named: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: why to label answers of the run first, and the command; "" where labels were drawn, or would settle little.
    label_first: str = ""
    #: the share of failed examples that people's labels correct, beside the judge's own; None below 50 drawn answers
    #: with labels that decide verdicts.
    failed_share: LabelCorrectedMean | None = None

    @property
    def segment_sizes(self) -> dict[str, dict[str, SegmentSize]]:
        """Column, value: its examples."""
        return {
            column: {value: SegmentSize(n, n < MIN_SEGMENT_EXAMPLES) for value, n in values.items()}
            for column, values in self.named.items()
        }

    @property
    def judge_error(self) -> dict[str, JudgeMeanError]:
        """How far the judge's means lie from people's, by metric; of those that were computed."""
        errors = self.judge.errors
        return {summary.metric: errors[summary.metric] for summary in self.summaries if summary.metric in errors}

    @property
    def calls(self) -> int:
        """Calls that judging the run took, over all its evaluations."""
        return self.use.paid.calls if self.use is not None else 0

    @property
    def cost(self) -> float | None:
        """US dollars that they cost; null where a price is not known."""
        return self.use.paid.known_cost if self.use is not None else 0.0

    @property
    def unclear_examples(self) -> int:
        """Examples that were judged, of which it is unclear whether they failed."""
        return sum(self.unclear.values())

    @property
    def not_judged_examples(self) -> int:
        """Examples of which nothing was judged that could show a failure."""
        return sum(self.not_judged.values())

    @property
    def passed_examples(self) -> int:
        """Examples of which all that was asked passed, and everything was asked that was asked of others."""
        return self.n - self.failed_examples - self.unclear_examples - self.not_judged_examples
