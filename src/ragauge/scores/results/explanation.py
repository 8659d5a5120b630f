"""What `ragauge explain` says, as plain frozen values: the formula with the numbers put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragauge.core.score import Score
from ragauge.core.verdict import Verdict
from ragauge.scores.results.scorecard import Cause, Finding, Summary


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of a formula.

    Attributes:
        name: as the formula writes it: c, S[i].
        meaning: in words.
        value: on this example: "3", "S[1] = {2}, S[2] = {}"; "" where it is a function and has none.
    """

    name: str
    meaning: str
    value: str


@dataclass(frozen=True, slots=True)
class CountedItem:
    """One thing that a share is counted over: a claim, a passage, a labelled document.

    Attributes:
        name: such as "claim 2".
        text: what it says, cut when long.
        counts: it is in the numerator; a share where that is only probable; None = a verdict is missing.
        why: the facts about it, in words.
    """

    name: str
    text: str
    counts: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Worked:
    """One metric on one example.

    Attributes:
        metric: printed name.
        measures: retrieval, generation or end_to_end.
        direction: higher, lower or neither.
        sentence: what is measured.
        formula: as its definition writes it.
        symbols: of the formula, with their values.
        items: what the share is counted over; () where it is no count.
        arithmetic: the formula with the numbers put in: "2 / 3 = 0.67"; "" where there is no value.
        score: the stored result, with its status and reason.
        cases: when the metric has no value, or is 0 without a count, by its definition.
        note: what else the reader must know, such as a score stored by another version.
    """

    metric: str
    measures: str
    direction: str
    sentence: str
    formula: str
    symbols: tuple[Symbol, ...]
    items: tuple[CountedItem, ...]
    arithmetic: str
    score: Score
    cases: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of what is known about an example, shared by all formulas.

    Attributes:
        about: answer, passages, reference, labels or record.
        name: such as "claim 1".
        says: the facts, in symbols and words: "S = {2} · agrees".
        text: what it is about, cut when long.
    """

    about: str
    name: str
    says: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class RowWorked:
    """One row of the cause table on one example.

    Attributes:
        cause: name of the row.
        rule: when it applies, in words.
        verdict: yes = it is the cause; second = the second opinion; also = it applies, but what mends the cause mends
            it; no = known facts rule it out; unknown = a fact is lacking.
        why: the facts that decided.
    """

    cause: str
    rule: str
    verdict: str
    why: str


@dataclass(frozen=True, slots=True)
class ExampleExplained:
    """One example, from facts to cause.

    Attributes:
        query_id: of the example.
        repeat: of the system.
        query: its question.
        answer: what was answered; None = not recorded.
        facts: what every formula draws on.
        metrics: those asked for, in order.
        sign: the first sign that it failed; "" when it did not.
        cause: None when it did not fail.
        rows: the cause table, in order; () when it did not fail.
        note: where the stored cause is another one, which; "".
        verdict: failed, unclear, passed or not_judged.
        reason: why it is unclear or not judged; "" where it failed or passed.
        settled_by: what would settle an unclear verdict, the cheapest first; () where it is settled.
    """

    query_id: str
    repeat: int
    query: str
    answer: str | None
    facts: tuple[Fact, ...]
    metrics: tuple[Worked, ...]
    sign: str
    cause: Cause | None
    rows: tuple[RowWorked, ...]
    note: str = ""
    verdict: Verdict = "not_judged"
    reason: str = ""
    settled_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeanWorked:
    """One metric over a run.

    Attributes:
        summary: what reports show.
        sentence: what is measured.
        formula: on one example.
        mean: "78.4 / 95 = 0.83"; "" without scored examples.
        counts: "95 scored + 18 undefined = 113 examples".
        interval: the interval with its numbers; "" where there is none.
        why_none: why there is no interval; "".
        micro: the micro mean likewise; "" where it does not apply.
        bounds: how failed scores bound the mean; "" without failures.
        judged: how the interval including judge error was made; "" where that is not known.
    """

    summary: Summary
    sentence: str
    formula: str
    mean: str
    counts: str
    interval: str
    why_none: str = ""
    micro: str = ""
    bounds: str = ""
    judged: str = ""


@dataclass(frozen=True, slots=True)
class FindingWorked:
    """One finding with the arithmetic that it rests on.

    Attributes:
        finding: as reports show it.
        lines: one a number: counts, readings against a starting point or another run, ranking.
    """

    finding: Finding
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunExplained:
    """A run, from scores to findings.

    Attributes:
        run_id: of the run.
        name: of the run.
        judge_id: who judged; "" = nobody.
        n: examples.
        level: of the intervals.
        metrics: in the order asked.
        findings: in the order of the diagnosis.
        failures: "93 of 113 examples failed", with how they were counted.
        causes: cause -> failed examples.
        against: the baseline's name; "" = starting points.
    """

    run_id: str
    name: str
    judge_id: str
    n: int
    level: float
    metrics: tuple[MeanWorked, ...]
    findings: tuple[FindingWorked, ...]
    failures: str
    causes: Mapping[str, int]
    against: str = ""
