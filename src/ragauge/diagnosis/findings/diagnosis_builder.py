"""What is wrong with a run, what explains most failures, and what to do first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.messages import plural
from ragauge.diagnosis.causes.attribution import UNCLEAR, find_row
from ragauge.diagnosis.causes.cause_rule import CauseRow
from ragauge.diagnosis.findings.cause_texts import ELSEWHERE, Words, find_words
from ragauge.diagnosis.findings.concentration import Concentration, clearest
from ragauge.diagnosis.findings.findings import SUSPECT, got_worse, rests_on_it, settle, unclear, unseen
from ragauge.diagnosis.findings.patterns import STRENGTH, WORKING, Match, matches
from ragauge.metrics.catalogue import parse, questions
from ragauge.scores.failures import FailedResponses
from ragauge.scores.indicators import BASELINE, Against, estimate, is_perfect, measured
from ragauge.scores.results.comparison import RunComparison
from ragauge.scores.results.scorecard import Finding, Summary
from ragauge.scores.segments import BySegment, Segments
from ragauge.stats.judge_error import WITH_ERROR

if TYPE_CHECKING:
    import polars as pl

LEAST_SHARE, LEAST_COUNT = 0.10, 3  # a cause gets a finding from this share or this number of failures on
MOST_READINGS = 3  # metrics read in one finding, after which no more patterns are added
FEW = 30  # examples below which a reading is less sure
LIKELY = 0.7  # mean probability of causes that are believed at all
SURE = ("high", "medium", "low")
LAST = 2  # the turn of what is unclear, unless it is most of the failures
SMALL = 0.05  # a fall that "did not fall" should have ruled out
# columns whose value reads as a kind of question
KINDS = ("type", "question_type", "kind", "query_length")


class SegmentView(NamedTuple):
    """The segments of a run, in one of which a cause may be concentrated.

    Attributes:
        segments: tidy, with the column answerable where it is labelled; None = none is looked for.
        summaries: column -> value -> summaries.
    """

    segments: Segments | None = None
    summaries: BySegment = MappingProxyType({})


NO_SEGMENTS = SegmentView()


def diagnose(
    summaries: Sequence[Summary],
    causes: pl.DataFrame | FailedResponses,
    n: int,
    *,
    within: SegmentView = NO_SEGMENTS,
    judge_id: str = "",
    answerable: Sequence[Summary] | None = None,
    against: Against | None = None,
) -> tuple[Finding, ...]:
    """The findings, those first whose fix would settle most failures; of as many, those that are surer.

    A finding is a cause of at least 10 % of the failed examples or of three, with the segment where it is
    concentrated; or a pattern of metrics that changed against a baseline or, without one, lie wholly below or above
    their starting points. A pattern that goes with such causes adds its reading and its fix to the most frequent one,
    which is placed by what they explain jointly, the others each by what they explain alone. What got worse against a
    baseline beyond them is named after them, so that no regression stays unsaid.

    Args:
        summaries: over all examples.
        causes: the failed responses, or a cause frame; repeats of an example count as one failure.
        n: examples evaluated.
        within: the segments, with their summaries.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence.
        answerable: summaries over the examples not labelled unanswerable; None = none is labelled so.
        against: what the run is held against; None = starting points alone.
    """
    failed = (causes if isinstance(causes, FailedResponses) else FailedResponses.of(causes)).by_example()
    counts = Counter(failed.cause)
    large = [
        cause for cause, count in counts.most_common() if count >= LEAST_COUNT or count >= LEAST_SHARE * len(failed)
    ]
    before = against.changed if against is not None else None
    seen = _CauseInputs(failed, n, summaries, within, judge_id, before)
    findings = {cause: _of_cause(cause, seen) if cause else unclear(failed, n) for cause in large}
    open_ = 2 * counts[""] > len(failed)
    held = [match for match in matches(summaries, answerable, against) if not (open_ and match.pattern.decided)]
    for match in sorted(held, key=lambda match: STRENGTH.index(match.against)):
        if match.pattern.name != WORKING:
            _add(match, findings, partial(_of_pattern, counts=counts, failed=failed, n=n, judge_id=judge_id))
    sizes = {cause: failed.of_cause(cause).stand_for for cause in large}
    sizes |= {cause: float(finding.explains) for cause, finding in findings.items() if cause not in sizes}
    settles = {cause: max([sizes[cause], *_together(cause, held, findings, sizes)]) for cause in findings}
    ranked = sorted(findings.values(), key=lambda finding: _order(finding, settles[finding.cause]))
    working = [_of_pattern(match, counts, failed, n, judge_id) for match in held if match.pattern.name == WORKING]
    worse = [] if before is None else got_worse(before, _named(ranked), len(failed), judge_id)
    last = [finding for finding in ranked if _turn(finding) == LAST]
    return (*ranked[: len(ranked) - len(last)], *worse, *last, *working)


def _turn(finding: Finding) -> int:
    """What is decided comes first; unless most failures are unclear: then that is the headline."""
    if finding.cause:
        return 1
    return 0 if 2 * finding.explains > finding.failures else LAST


def _order(finding: Finding, settles: float) -> tuple[int, float, int, int]:
    """By what stands before a finding: its turn, the requests that its fix would settle, how sure it is."""
    return _turn(finding), -settles, SURE.index(finding.confidence), -finding.explains


def _named(findings: Sequence[Finding]) -> set[str]:
    """The metrics whose change against the baseline findings speak of."""
    return {reading.metric for finding in findings for reading in finding.readings if reading.against == BASELINE}


def _together(
    cause: str, held: Sequence[Match], findings: Mapping[str, Finding], sizes: Mapping[str, float]
) -> list[float]:
    """Requests explained by all causes of each pattern whose reading and fix the finding of this cause carries."""
    return [
        sum(sizes[other] for other in match.pattern.causes if other in findings)
        for match in held
        if _home(match, findings) == cause
    ]


def _home(match: Match, findings: Mapping[str, Finding]) -> str | None:
    """The most frequent of the causes that a pattern goes with; None where none was found."""
    homes = [cause for cause in (*match.pattern.causes, match.pattern.subject) if cause in findings]
    return max(homes, key=lambda cause: findings[cause].explains, default=None)


def _add(match: Match, findings: dict[str, Finding], alone: Callable[[Match], Finding]) -> None:
    """Adds a pattern to the finding of its most frequent cause, or as a finding of its own."""
    home = _home(match, findings)
    if home is None:
        findings[match.pattern.subject] = alone(match)
        return
    if len(findings[home].readings) < MOST_READINGS:
        findings[home] = _joined(findings[home], match)


class _CauseInputs(NamedTuple):
    """What a finding about a cause is made of: the arguments of `diagnose`, read."""

    failed: FailedResponses
    n: int
    summaries: Sequence[Summary]
    within: SegmentView
    judge_id: str
    before: RunComparison | None


def _of_cause(cause: str, seen: _CauseInputs) -> Finding:
    failed, n, summaries, (segments, by_segment), judge_id, before = seen
    rows, row = failed.of_cause(cause), find_row(cause) or UNCLEAR
    fault = row.at(component_of(rows))
    words = ELSEWHERE.get((cause, fault.component)) or find_words(cause) or Words(cause, ())
    places = [] if segments is None else clearest(cause, segments.marked(rows.index.query_ids, rows.query), segments)
    where = places[0] if len(places) == 1 else None
    near = by_segment.get(where.column, {}).get(where.value, ()) if where else ()
    number = _number(words.metrics, near)
    if not number and (number := _number(words.metrics, summaries)) and where:
        number += " over all"
    numbers = f"{number}, " if number else ""
    doubt = first = ""
    if cause in SUSPECT and 2 * list(rows.shown_by).count("judge") > len(rows):
        doubt = unseen(failed, n, judge_id)
        first = settle(rows) if doubt else ""
    return Finding(
        cause=cause,
        headline=f"{words.headline}{_place(where)} ({numbers}{_counts(len(rows), len(failed), where)})",
        evidence=_evidence(rows, failed, n, places) + _elsewhere(rows, row) + doubt + _before(cause, before),
        fix=f"{first}{fault.fix}",
        leave=words.leave,
        measure_again=words.again,
        explains=len(rows),
        failures=len(failed),
        segment=f"{where.column}={where.value}" if where else "",
        confidence="low" if doubt else confidence(list(rows.basis), judge_id, rows.p.tolist()),
    )


def component_of(rows: FailedResponses) -> str:
    """Where most of the failures of one cause are to be mended; "" of none."""
    counts = zip(rows.component.values, rows.component.counts(), strict=True)
    return max(counts, key=lambda pair: pair[1], default=("", 0))[0]


def _elsewhere(rows: FailedResponses, row: CauseRow) -> str:
    """How many failures of a cause are to be mended in its other component; "" for none or where it has none."""
    there = list(rows.component).count(row.other.component) if row.other is not None else 0
    if row.other is None or not there:
        return ""
    which = f"all {there:,}" if there == len(rows) else f"{there:,} of {len(rows):,}"
    own = row.at(component_of(rows)).when == ""
    rest = f" There: {row.other.fix}" if own else f" Elsewhere: {row.fix}" if there < len(rows) else ""
    return f" In {which} {row.other.when}.{rest}"


def _counts(count: int, n_failed: int, where: Concentration | None) -> str:
    """The counts of a headline: beside a segment its own first, so that none of the whole run is taken for it."""
    if where is None:
        return f"{count:,} of {_failures(n_failed)}"
    return f"{where.hits:,} of {where.n:,} examples there; {count:,} of {_failures(n_failed)} in all"


def _number(names: Sequence[str], summaries: Sequence[Summary]) -> str:
    known = (summary for name in names for summary in measured(name, summaries) if not is_perfect(summary))
    return next(map(estimate, known), "")


def _place(where: Concentration | None) -> str:
    if where is None:
        return ""
    if where.column in KINDS and where.value.isidentifier():
        return f" for {where.value} questions"
    return f" where {where.column} is {where.value}"


def _evidence(rows: FailedResponses, failed: FailedResponses, n: int, places: Sequence[Concentration]) -> str:
    count = len(rows)
    of_failed, of_all = (f"{count / size:.0%}" for size in (len(failed), n))
    told = f"{of_all} of all examples"
    if (requests := failed.requests) is not None:
        mine = rows.stand_for
        of_failed = f"{mine / failed.stand_for:.0%} by weight"
        told = f"{mine / requests:.1%} of the requests that they stand for"
    parts = [f"{count:,} of {_failures(len(failed))} ({of_failed}), {told}."]
    parts += [_concentration(places)] if places else []
    unknown = [len(facts) for facts in rows.lacking.values]
    shown = min(range(count), key=lambda row: unknown[rows.lacking.codes[row]])
    position = int(rows.place[shown])
    parts.append(f"Such as {rows.index.query_ids[rows.query[shown]]}: {rows.decided_by([position])[position]}.")
    return " ".join(parts)


def _concentration(places: Sequence[Concentration]) -> str:
    """Where a cause is concentrated, in words: in one segment, or in several of a column that are alike in it."""
    inside = ", ".join(
        f"with {part.column}={part.value} {part.hits:,} of {part.n:,} examples ({part.hits / part.n:.0%})"
        for part in places
    )
    first = places[0]
    if len(places) > 1:
        return f"It is {inside}: alike in them, as far as can be told."
    chance = f"p = {first.p:.2g}" if first.p >= 1e-4 else "p < 0.0001"
    return (
        f"With {first.column}={first.value} it is {first.hits:,} of {first.n:,} examples "
        f"({first.hits / first.n:.0%}), elsewhere {first.other_hits:,} of {first.other_n:,} "
        f"({first.other_hits / first.other_n:.0%}; {chance}, corrected for all segments)."
    )


def _before(cause: str, baseline: RunComparison | None) -> str:
    if baseline is None:
        return ""
    failed = baseline.failures
    return f" In {baseline.base.name} it was {failed.base.get(cause, 0):,} of {_failures(failed.failed_base)}."


def _failures(count: int) -> str:
    return plural(count, "failure")


def confidence(bases: Sequence[str], judge_id: str, p: Sequence[float] = ()) -> str:
    """High, medium or low: how surely these failures have this cause.

    By what decided most of them: the run's own record is sure; labels are sure from 5 failures on; a model judge's
    verdicts are medium from 5 and high from 20 on; the local judge's are low, and medium from 20 on where they are so
    with a mean probability of at least 0.7. Where most of them allow another reading too, it is low however many they
    are.

    Args:
        bases: what decided each failure.
        judge_id: who judged.
        p: probability that the facts that decided each are so; () = certain.
    """
    count, sure = len(bases), sum(basis in ("record", "labels") for basis in bases)
    if 2 * bases.count("record") > count:
        return "high"
    if 2 * bases.count("guess") > count:
        return "low"
    if 2 * sure > count:
        return "high" if count >= 5 else "medium"
    if judge_id.startswith("local"):
        return "medium" if count >= 20 and sum(p) >= LIKELY * len(p) else "low"
    return "high" if count >= 20 else "medium" if count >= 5 else "low"


def confidence_in(match: Match, judge_id: str) -> str:
    """High, medium or low: how surely a pattern holds. Its intervals are clear already; what is left is this.

    High, less one step where the local judge gave one of its numbers and the interval does not hold its error, one
    where a number rests on fewer than 30 examples, and one where a metric "did not fall" though a fall of 0.05 is
    within its interval.
    """
    steps = 0
    steps += judge_id.startswith("local") and any(
        questions([parse(reading.metric)]) and not reading.interval.method.endswith(WITH_ERROR)
        for reading in match.readings
    )
    steps += any(reading.n < FEW for reading in match.readings)
    steps += any(
        reading.difference is not None
        and reading.interval.low <= 0 <= reading.interval.high
        and (reading.interval.low if reading.level == "high" else -reading.interval.high) <= -SMALL
        for reading in match.readings
    )
    return ("high", "medium", "low")[min(steps, 2)]


def _joined(finding: Finding, match: Match) -> Finding:
    """A finding with a pattern's reading added."""
    pattern = match.pattern
    more = f" ({match.more})" if match.more else ""
    reading = f"{match.reading[0].upper()}{match.reading[1:]}{more}."
    return replace(
        finding,
        evidence=f"{finding.evidence} {reading}",
        leave=finding.leave or pattern.leave,
        measure_again=finding.measure_again or pattern.again,
        against=finding.against or match.against,  # the stronger one came first
        readings=(*finding.readings, *(reading for reading in match.readings if reading not in finding.readings)),
    )


def _of_pattern(match: Match, counts: Counter[Any], failed: FailedResponses, n: int, judge_id: str) -> Finding:
    pattern = match.pattern
    doubt = unseen(failed, n, judge_id) if rests_on_it(match.readings) else ""
    return Finding(
        cause=pattern.subject,
        headline=match.reading,
        evidence=f"{match.more + '.' if match.more else ''}{doubt}".strip(),  # begins with a setting's name
        fix=pattern.fix,
        leave=pattern.leave,
        measure_again=pattern.again,
        explains=sum(counts[cause] for cause in pattern.causes),
        failures=len(failed),
        confidence="low" if doubt else confidence_in(match, judge_id),
        against=match.against,
        readings=match.readings,
    )
