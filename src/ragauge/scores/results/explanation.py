"""What `ragauge explain` says, as plain frozen values: the formula with the numbers put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.core.json_keys import Versioned, json_keys, key
from ragauge.core.score import Score
from ragauge.core.verdict import Verdict
from ragauge.scores.results.scorecard import Cause, Finding, Summary


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of a formula."""

    name: str  #: as the formula writes it: c, S[i].
    meaning: str  #: in words.
    value: str  #: on this example: "3", "S[1] = {2}, S[2] = {}"; "" where it is a function and has none.


@dataclass(frozen=True, slots=True)
class CountedItem:
    """One thing that a share is counted over: a claim, a passage, a labelled document."""

    name: str  #: such as "claim 2".
    text: str  #: what it says, cut when long.
    counts: float | None  #: it is in the numerator; a share where that is only probable; None = a verdict is missing.
    why: str  #: the facts about it, in words.


@json_keys("sentence formula symbols items arithmetic score cases note")
@dataclass(frozen=True, slots=True)
class Worked:
    """One metric on one example."""

    metric: str  #: printed name.
    measures: str  #: retrieval, generation or end_to_end.
    direction: str  #: higher, lower or neither.
    sentence: str  #: what is measured.
    formula: str  #: as its definition writes it.
    symbols: tuple[Symbol, ...]  #: of the formula, with their values.
    items: tuple[CountedItem, ...]  #: what the share is counted over; () where it is no count.
    arithmetic: str  #: the formula with the numbers put in: "2 / 3 = 0.67"; "" where there is no value.
    #: the stored result, with its status and reason.
    score: Score = field(metadata=key(at="status value numerator denominator low high reason"))
    cases: str = ""  #: when the metric has no value, or is 0 without a count, by its definition.
    note: str = ""  #: what else the reader must know, such as a score stored by another version.


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of what is known about an example, shared by all formulas."""

    about: str  #: answer, passages, reference, labels or record.
    name: str  #: such as "claim 1".
    says: str  #: the facts, in symbols and words: "S = {2} · agrees".
    text: str = ""  #: what it is about, cut when long.


@dataclass(frozen=True, slots=True)
class RowWorked:
    """One row of the cause table on one example."""

    cause: str  #: name of the row.
    rule: str  #: when it applies, in words.
    #: yes = it is the cause; second = the second opinion; also = it applies, but what mends the cause mends it; no =
    #: known facts rule it out; unknown = a fact is lacking.
    verdict: str
    why: str  #: the facts that decided.


@json_keys("schema_version query_id repeat query answer facts metrics sign cause rows note verdict reason settled_by")
@dataclass(frozen=True, slots=True)
class ExampleExplained(Versioned):
    """One example, from facts to cause."""

    query_id: str  #: of the example.
    repeat: int  #: of the system.
    query: str  #: its question.
    answer: str | None  #: what was answered; None = not recorded.
    facts: tuple[Fact, ...]  #: what every formula draws on.
    metrics: tuple[Worked, ...] = field(metadata=key(by="metric"))  #: those asked for, in order.
    sign: str  #: the first sign that it failed; "" when it did not.
    cause: Cause | None = field(metadata=key(stored=("name",)))  #: why it failed; null where nothing shows that it did.
    rows: tuple[RowWorked, ...]  #: the cause table, in order; () when it did not fail.
    note: str = ""  #: where the stored cause is another one, which; "".
    verdict: Verdict = "not_judged"  #: failed, unclear, passed or not_judged.
    reason: str = ""  #: why it is unclear or not judged; "" where it failed or passed.
    #: what would settle an unclear verdict, the cheapest first; () where it is settled.
    settled_by: tuple[str, ...] = ()


@json_keys("sentence formula mean counts interval why_none micro bounds judged summary")
@dataclass(frozen=True, slots=True)
class MeanWorked:
    """One metric over a run."""

    summary: Summary  #: what reports show.
    sentence: str  #: what is measured.
    formula: str  #: on one example.
    mean: str  #: "78.4 / 95 = 0.83"; "" without scored examples.
    counts: str  #: "95 scored + 18 undefined = 113 examples".
    interval: str  #: the interval with its numbers; "" where there is none.
    why_none: str = field(default="", metadata=key("why_no_interval"))  #: why there is no interval; "".
    micro: str = ""  #: the micro mean likewise; "" where it does not apply.
    bounds: str = ""  #: how failed scores bound the mean; "" without failures.
    judged: str = ""  #: how the interval including judge error was made; "" where that is not known.


@dataclass(frozen=True, slots=True)
class FindingWorked:
    """One finding with the arithmetic that it rests on."""

    finding: Finding  #: as reports show it.
    lines: tuple[str, ...]  #: one a number: counts, readings against a starting point or another run, ranking.


@json_keys("schema_version run_id name judge_id n level against failures causes metrics findings")
@dataclass(frozen=True, slots=True)
class RunExplained(Versioned):
    """A run, from scores to findings."""

    run_id: str  #: of the run.
    name: str  #: of the run.
    judge_id: str = field(metadata=key("judge"))  #: who judged; "" = nobody.
    n: int  #: examples.
    level: float  #: of the intervals.
    metrics: tuple[MeanWorked, ...] = field(metadata=key(by="summary.metric"))  #: in the order asked.
    findings: tuple[FindingWorked, ...]  #: in the order of the diagnosis.
    failures: str  #: "93 of 113 examples failed", with how they were counted.
    causes: Mapping[str, int]  #: cause -> failed examples.
    against: str = ""  #: the baseline's name; "" = starting points.
