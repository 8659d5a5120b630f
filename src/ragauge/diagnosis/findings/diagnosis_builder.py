"""What is wrong with a run, what explains most failures, and what to do first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.messages import format_count
from ragauge.diagnosis.causes.attribution import UNCLEAR, find_row
from ragauge.diagnosis.causes.cause_rule import CauseRow
from ragauge.diagnosis.findings.cause_texts import (
    WORDS_ELSEWHERE,
    CauseWords,
    Concentration,
    find_concentrations,
    find_words,
)
from ragauge.diagnosis.findings.findings import (
    SUSPECT_CAUSES,
    build_unclear_finding,
    describe_judge_doubt,
    find_worsened,
    format_resolve_step,
    rests_on_missing_evidence,
)
from ragauge.diagnosis.findings.pattern_matches import SOURCES_BY_STRENGTH, WORKING_PATTERN, Match, find_matches
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.scores.failures import FailedResponses
from ragauge.scores.indicators import BASELINE, Against, format_estimate, is_perfect, list_measured
from ragauge.scores.results.comparison import RunComparison
from ragauge.scores.results.scorecard import Finding, Summary
from ragauge.scores.segments import BySegment, Segments
from ragauge.stats.judge_error import WITH_ERROR

if TYPE_CHECKING:
    import polars as pl

MIN_FAILURE_SHARE, MIN_FAILURE_COUNT = 0.10, 3  # a cause gets a finding from this share or this number of failures on
MAX_READINGS = 3  # metrics read in one finding, after which no more patterns are added
FEW_EXAMPLES = 30  # examples below which a reading is less sure
MIN_BELIEVED_P = 0.7  # mean probability of causes that are believed at all
CONFIDENCE_LEVELS = ("high", "medium", "low")
LAST_TURN = 2  # the turn of what is unclear, unless it is most of the failures
SMALL_FALL = 0.05  # a fall that "did not fall" should have ruled out
# columns whose value reads as a kind of question
KIND_COLUMNS = ("type", "question_type", "kind", "query_length")


class SegmentView(NamedTuple):
    """The segments of a run, in one of which a cause may be concentrated."""

    #: tidy, with the column answerable where it is labelled; None = none is looked for.
    segments: Segments | None = None
    summaries: BySegment = MappingProxyType({})  #: column -> value -> summaries.


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
    baseline = against.changed if against is not None else None
    build_alone = partial(_build_pattern_finding, counts=counts, failed=failed, n=n, judge_id=judge_id)
    is_mostly_unclear = 2 * counts[""] > len(failed)
    matched = [
        match
        for match in find_matches(summaries, answerable, against)
        if not (is_mostly_unclear and match.pattern.decided)
    ]
    inputs = _CauseInputs(failed, n, summaries, within, judge_id, baseline)
    ranked = _rank_findings(inputs, counts, matched, build_alone)
    working = [build_alone(match) for match in matched if match.pattern.name == WORKING_PATTERN]
    worse = (
        [] if baseline is None else find_worsened(baseline, _collect_baseline_metrics(ranked), len(failed), judge_id)
    )
    last_findings = [finding for finding in ranked if _find_turn(finding) == LAST_TURN]
    return (*ranked[: len(ranked) - len(last_findings)], *worse, *last_findings, *working)


def _rank_findings(
    inputs: _CauseInputs, counts: Counter[Any], matched: Sequence[Match], build_alone: Callable[[Match], Finding]
) -> list[Finding]:
    """The findings about frequent causes and about patterns, those first whose fix would settle most."""
    failed = inputs.failed
    min_count = min(MIN_FAILURE_COUNT, MIN_FAILURE_SHARE * len(failed))
    frequent_causes = [cause for cause, count in counts.most_common() if count >= min_count]
    findings = {
        cause: _build_cause_finding(cause, inputs) if cause else build_unclear_finding(failed, inputs.n)
        for cause in frequent_causes
    }
    for match in sorted(matched, key=lambda match: SOURCES_BY_STRENGTH.index(match.against)):
        if match.pattern.name != WORKING_PATTERN:
            _add_pattern(match, findings, build_alone)
    sizes = {cause: failed.select_cause(cause).n_represented for cause in frequent_causes}
    sizes |= {cause: float(finding.explains) for cause, finding in findings.items() if cause not in sizes}
    settles = {cause: max([sizes[cause], *_list_pattern_sizes(cause, matched, findings, sizes)]) for cause in findings}
    return sorted(findings.values(), key=lambda finding: _build_sort_key(finding, settles[finding.cause]))


def _find_turn(finding: Finding) -> int:
    """What is decided comes first; unless most failures are unclear: then that is the headline."""
    if finding.cause:
        return 1
    return 0 if 2 * finding.explains > finding.failures else LAST_TURN


def _build_sort_key(finding: Finding, settles: float) -> tuple[int, float, int, int]:
    """By what stands before a finding: its turn, the requests that its fix would settle, how sure it is."""
    return _find_turn(finding), -settles, CONFIDENCE_LEVELS.index(finding.confidence), -finding.explains


def _collect_baseline_metrics(findings: Sequence[Finding]) -> set[str]:
    """The metrics whose change against the baseline findings speak of."""
    return {reading.metric for finding in findings for reading in finding.readings if reading.against == BASELINE}


def _list_pattern_sizes(
    cause: str, matched: Sequence[Match], findings: Mapping[str, Finding], sizes: Mapping[str, float]
) -> list[float]:
    """Requests explained by all causes of each pattern whose reading and fix the finding of this cause carries."""
    return [
        sum(sizes[cause_in_pattern] for cause_in_pattern in match.pattern.causes if cause_in_pattern in findings)
        for match in matched
        if _find_home_cause(match, findings) == cause
    ]


def _find_home_cause(match: Match, findings: Mapping[str, Finding]) -> str | None:
    """The most frequent of the causes that a pattern goes with; None where none was found."""
    homes = [cause for cause in (*match.pattern.causes, match.pattern.subject) if cause in findings]
    return max(homes, key=lambda cause: findings[cause].explains, default=None)


def _add_pattern(match: Match, findings: dict[str, Finding], build_alone: Callable[[Match], Finding]) -> None:
    """Adds a pattern to the finding of its most frequent cause, or as a finding of its own."""
    home = _find_home_cause(match, findings)
    if home is None:
        findings[match.pattern.subject] = build_alone(match)
        return
    if len(findings[home].readings) < MAX_READINGS:
        findings[home] = _add_reading(findings[home], match)


class _CauseInputs(NamedTuple):
    """What a finding about a cause is made of: the arguments of `diagnose`, read."""

    failed: FailedResponses
    n: int
    summaries: Sequence[Summary]
    within: SegmentView
    judge_id: str
    before: RunComparison | None


def _build_cause_finding(cause: str, inputs: _CauseInputs) -> Finding:
    failed, n, summaries, (segments, by_segment), judge_id, baseline = inputs
    rows, row = failed.select_cause(cause), find_row(cause) or UNCLEAR
    fault = row.at(find_main_component(rows))
    words = WORDS_ELSEWHERE.get((cause, fault.component)) or find_words(cause) or CauseWords(cause, ())
    concentrations = (
        []
        if segments is None
        else find_concentrations(cause, segments.mark_examples(rows.index.query_ids, rows.query), segments)
    )
    segment = concentrations[0] if len(concentrations) == 1 else None
    segment_summaries = by_segment.get(segment.column, {}).get(segment.value, ()) if segment else ()
    number = _format_first_estimate(words.metrics, segment_summaries)
    if not number and (number := _format_first_estimate(words.metrics, summaries)) and segment:
        number += " overall"
    numbers = f"{number}, " if number else ""
    doubt = first_step = ""
    if cause in SUSPECT_CAUSES and 2 * list(rows.shown_by).count("judge") > len(rows):
        doubt = describe_judge_doubt(failed, n, judge_id)
        first_step = format_resolve_step(rows) if doubt else ""
    return Finding(
        cause=cause,
        headline=(
            f"{words.headline}{_describe_segment(segment)} ({numbers}{_format_counts(len(rows), len(failed), segment)})"
        ),
        evidence=_describe_evidence(rows, failed, n, concentrations)
        + _describe_other_component(rows, row)
        + doubt
        + _describe_baseline_count(cause, baseline),
        fix=f"{first_step}{fault.fix}",
        leave=words.leave,
        measure_again=words.again,
        explains=len(rows),
        failures=len(failed),
        segment=f"{segment.column}={segment.value}" if segment else "",
        confidence="low" if doubt else rate_confidence(list(rows.basis), judge_id, rows.p.tolist()),
    )


def find_main_component(rows: FailedResponses) -> str:
    """Where most of the failures of one cause are to be mended; "" of none."""
    counts = zip(rows.component.values, rows.component.counts(), strict=True)
    return max(counts, key=lambda pair: pair[1], default=("", 0))[0]


def _describe_other_component(rows: FailedResponses, row: CauseRow) -> str:
    """How many failures of a cause are to be mended in its other component; "" for none or where it has none."""
    n_elsewhere = list(rows.component).count(row.other.component) if row.other is not None else 0
    if row.other is None or not n_elsewhere:
        return ""
    share_text = f"all {n_elsewhere:,}" if n_elsewhere == len(rows) else f"{n_elsewhere:,} of {len(rows):,}"
    is_own = row.at(find_main_component(rows)).when == ""
    fix_text = (
        f" For these: {row.other.fix}" if is_own else f" For the others: {row.fix}" if n_elsewhere < len(rows) else ""
    )
    return f" In {share_text}, {row.other.when}.{fix_text}"


def _format_counts(count: int, n_failed: int, segment: Concentration | None) -> str:
    """The counts of a headline: beside a segment its own first, so that none of the whole run is taken for it."""
    if segment is None:
        return f"{count:,} of {_format_failures(n_failed)}"
    return (
        f"{segment.hits:,} of {segment.n:,} examples in this segment; {count:,} of {_format_failures(n_failed)} overall"
    )


def _format_first_estimate(names: Sequence[str], summaries: Sequence[Summary]) -> str:
    imperfect = (summary for name in names for summary in list_measured(name, summaries) if not is_perfect(summary))
    return next(map(format_estimate, imperfect), "")


def _describe_segment(segment: Concentration | None) -> str:
    if segment is None:
        return ""
    if segment.column in KIND_COLUMNS and segment.value.isidentifier():
        return f" for {segment.value} questions"
    return f" where {segment.column} is {segment.value}"


def _describe_evidence(
    rows: FailedResponses, failed: FailedResponses, n: int, concentrations: Sequence[Concentration]
) -> str:
    count = len(rows)
    of_failed, of_all = (f"{count / size:.0%}" for size in (len(failed), n))
    share_of_all = f"{of_all} of all examples"
    if (requests := failed.n_requests) is not None:
        represented = rows.n_represented
        of_failed = f"{represented / failed.n_represented:.0%} by weight"
        share_of_all = f"{represented / requests:.1%} of the requests they represent"
    sentences = [f"{count:,} of {_format_failures(len(failed))} ({of_failed}), {share_of_all}."]
    sentences += [_describe_concentration(concentrations)] if concentrations else []
    unknown = [len(facts) for facts in rows.lacking.values]
    shown_row = min(range(count), key=lambda row: unknown[rows.lacking.codes[row]])
    position = int(rows.place[shown_row])
    sentences.append(
        f"For example, {rows.index.query_ids[rows.query[shown_row]]}: {rows.decided_by([position])[position]}."
    )
    return " ".join(sentences)


def _describe_concentration(concentrations: Sequence[Concentration]) -> str:
    """Where a cause is concentrated, in words: in one segment, or in several of a column that are alike in it."""
    inside_text = ", ".join(
        f"{concentration.column}={concentration.value} ({concentration.hits:,} of {concentration.n:,} examples, "
        f"{concentration.hits / concentration.n:.0%})"
        for concentration in concentrations
    )
    first = concentrations[0]
    if len(concentrations) > 1:
        return f"It is most frequent in {inside_text}, with no clear difference between them."
    chance = f"p = {first.p:.2g}" if first.p >= 1e-4 else "p < 0.0001"
    return (
        f"It affects {first.hits:,} of {first.n:,} examples with {first.column}={first.value} "
        f"({first.hits / first.n:.0%}) and {first.other_hits:,} of {first.other_n:,} others "
        f"({first.other_hits / first.other_n:.0%}; {chance}, corrected for all segments)."
    )


def _describe_baseline_count(cause: str, baseline: RunComparison | None) -> str:
    if baseline is None:
        return ""
    failed = baseline.failures
    return (
        f" In {baseline.base.name}, it caused {failed.base.get(cause, 0):,} of {_format_failures(failed.failed_base)}."
    )


def _format_failures(count: int) -> str:
    return format_count(count, "failure")


def rate_confidence(bases: Sequence[str], judge_id: str, p: Sequence[float] = ()) -> str:
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
    count, n_sure = len(bases), sum(basis in ("record", "labels") for basis in bases)
    if 2 * bases.count("record") > count:
        return "high"
    if 2 * bases.count("guess") > count:
        return "low"
    if 2 * n_sure > count:
        return "high" if count >= 5 else "medium"
    if judge_id.startswith("local"):
        return "medium" if count >= 20 and sum(p) >= MIN_BELIEVED_P * len(p) else "low"
    return "high" if count >= 20 else "medium" if count >= 5 else "low"


def rate_pattern_confidence(match: Match, judge_id: str) -> str:
    """High, medium or low: how surely a pattern holds. Its intervals are clear already; what is left is this.

    High, less one step where the local judge gave one of its numbers and the interval does not hold its error, one
    where a number rests on fewer than 30 examples, and one where a metric "did not fall" though a fall of 0.05 is
    within its interval.
    """
    steps = 0
    steps += judge_id.startswith("local") and any(
        list_questions([parse_metric(reading.metric)]) and not reading.interval.method.endswith(WITH_ERROR)
        for reading in match.readings
    )
    steps += any(reading.n < FEW_EXAMPLES for reading in match.readings)
    steps += any(
        reading.difference is not None
        and reading.interval.low <= 0 <= reading.interval.high
        and (reading.interval.low if reading.level == "high" else -reading.interval.high) <= -SMALL_FALL
        for reading in match.readings
    )
    return ("high", "medium", "low")[min(steps, 2)]


def _add_reading(finding: Finding, match: Match) -> Finding:
    """A finding with a pattern's reading added."""
    pattern = match.pattern
    more_text = f" ({match.more})" if match.more else ""
    reading = f"{match.reading[0].upper()}{match.reading[1:]}{more_text}."
    return replace(
        finding,
        evidence=f"{finding.evidence} {reading}",
        leave=finding.leave or pattern.leave,
        measure_again=finding.measure_again or pattern.again,
        against=finding.against or match.against,  # the stronger one came first
        readings=(*finding.readings, *(reading for reading in match.readings if reading not in finding.readings)),
    )


def _build_pattern_finding(
    match: Match, counts: Counter[Any], failed: FailedResponses, n: int, judge_id: str
) -> Finding:
    pattern = match.pattern
    doubt = describe_judge_doubt(failed, n, judge_id) if rests_on_missing_evidence(match.readings) else ""
    return Finding(
        cause=pattern.subject,
        headline=match.reading,
        evidence=f"{match.more + '.' if match.more else ''}{doubt}".strip(),  # begins with a setting's name
        fix=pattern.fix,
        leave=pattern.leave,
        measure_again=pattern.again,
        explains=sum(counts[cause] for cause in pattern.causes),
        failures=len(failed),
        confidence="low" if doubt else rate_pattern_confidence(match, judge_id),
        against=match.against,
        readings=match.readings,
    )
