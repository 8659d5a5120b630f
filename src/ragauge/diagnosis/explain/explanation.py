"""One example explained: from its facts through every formula to the cause of its failure.

A run explained: every mean with its sum and interval, every finding with the arithmetic that it rests on.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from ragauge.core.score import Score
from ragauge.diagnosis.causes.attribution import attribute_failure
from ragauge.diagnosis.causes.decided_facts import Decision
from ragauge.diagnosis.explain import causes
from ragauge.diagnosis.explain.causes import (
    ExampleCase,
    count_found,
    count_supported,
    format_mark,
    format_set,
    format_supporting,
    shorten_text,
)
from ragauge.diagnosis.explain.counted_items import describe_support, list_counted_items
from ragauge.diagnosis.explain.means import explain_mean, format_arithmetic
from ragauge.diagnosis.explain.ranks import list_places
from ragauge.diagnosis.explain.symbols import list_symbols
from ragauge.diagnosis.findings.diagnosis_builder import MIN_FAILURE_COUNT, MIN_FAILURE_SHARE
from ragauge.metrics.base import Metric, format_number
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.metrics.docstring import parse_docstring
from ragauge.metrics.facts import Facts
from ragauge.scores.arrays import Columns
from ragauge.scores.indicators import BASELINE, POINTS
from ragauge.scores.results.explanation import ExampleExplained, Fact, FindingWorked, MeanWorked, RunExplained, Worked
from ragauge.scores.results.scorecard import Cause, Finding, Reading, ScorecardData
from ragauge.scores.summarize import NO_ERRORS
from ragauge.stats.judge_error import JudgeMeanError


def explain_example(
    facts: Facts,
    scores: Mapping[str, Score],
    metrics: Sequence[str] | None = None,
    *,
    indexed: Container[str] | None = None,
    stored: Cause | None = None,
) -> ExampleExplained:
    """Every number of one example with what it is made of.

    Args:
        facts: the example, what was returned, and the evidence.
        scores: printed name -> stored score.
        metrics: printed names to explain, in order; None = all that have a score.
        indexed: ids of the documents in the index, where a listing is known.
        stored: the cause as it was found when the example was evaluated.
    """
    case = ExampleCase(facts, indexed)
    metric_names = [name for name in (scores if metrics is None else metrics) if name in scores]
    cause = attribute_failure(facts, indexed=indexed)
    names = [attributed.name if attributed is not None else "" for attributed in (stored, cause)]
    note = f"at evaluation time, the cause was {names[0]}" if names[0] and names[0] != names[1] else ""
    return ExampleExplained(
        query_id=facts.example.query_id,
        repeat=facts.response.repeat,
        query=facts.example.query,
        answer=facts.response.answer,
        facts=tuple(_list_facts(case)),
        metrics=tuple(explain_metric(parse_metric(name), scores[name], case) for name in metric_names),
        sign=causes.find_failure_sign(facts, indexed) if cause is not None else "",
        cause=cause,
        rows=causes.explain_rows(facts, indexed, cause),
        note=note,
    )


def explain_metric(metric: Metric, score: Score, case: ExampleCase) -> Worked:
    """One metric on one example: its formula, its symbols with their values, what counts, and the arithmetic."""
    sentence, formula, _ = get_definition(metric)
    return Worked(
        metric=score.metric,
        measures=metric.measures,
        direction=metric.direction,
        sentence=sentence,
        formula=formula,
        symbols=list_symbols(metric, case),
        items=list_counted_items(metric, case),
        arithmetic=format_arithmetic(metric, score, case),
        score=score,
        cases=parse_docstring(type(metric)).cases,
        note=_describe_difference(metric, score, case),
    )


def _describe_difference(metric: Metric, score: Score, case: ExampleCase) -> str:
    """Where the facts as they are now would give another result than the stored one."""
    if metric.version != score.metric_version:
        return f"scored by version {score.metric_version} of the metric; the current version is {metric.version}"
    if not causes.can_run(metric):
        low, high = metric.range
        return f"as stored: version {metric.version}, range {low:g} to {high:g}; its code does not run in explanations"
    current = case.compute_result(metric)
    if current.status != score.status or (
        current.value is not None and abs(current.value - (score.value or 0.0)) > 1e-9
    ):
        value = "" if current.value is None else f" {current.value:.3g}"
        return f"with the facts stored now, it would be {current.status}{value}"
    return ""


STATED_WORDS: Mapping[Decision | None, str] = {
    "yes": "stated",
    "no": "not stated",
    "open": "unclear whether stated",
    None: "stated: no verdict",
}


def _list_facts(case: ExampleCase) -> Iterator[Fact]:
    yield from _list_record_facts(case)
    yield from _list_claim_facts(case)
    yield from _list_passage_facts(case)
    yield from _list_reference_facts(case)
    yield from _list_label_facts(case)


def _list_record_facts(case: ExampleCase) -> Iterator[Fact]:
    response, context = case.facts.response, case.seen
    if response.error is not None:
        yield Fact("record", "error", shorten_text(response.error, 300))
    if context.answer is not None:
        declines = {True: "yes", False: "no", None: "no verdict"}[context.is_refusal]
        yield Fact("record", "address", f"{context.address_level or 'no verdict'} · declines: {declines}")
    yield Fact("record", "answerable", {True: "yes", False: "no", None: "not known"}[context.is_answerable])
    if response.candidates is not None:
        yield Fact("record", "candidates", f"{len(response.candidates)} before the cutoff")


def _list_claim_facts(case: ExampleCase) -> Iterator[Fact]:
    answer, agreement = case.seen.answer, case.seen.agreement
    for claim in answer.claims if answer is not None else ():
        words = (
            [f"S = {format_set(claim.supporting)}", f"X = {format_set(claim.contradicting)}"]
            if claim.status == "ok"
            else []
        )
        if case.facts.response.citations is not None:
            words.append(f"Z = {format_set(case.seen.cited(claim))}")
        if agreement is not None and claim.n <= len(agreement.answer):
            words.append(f"R = {agreement.answer[claim.n - 1] or '?'}")
        if answer is not None and not answer.support_asked:
            words = ["support never asked: the passages were not recorded", *words[2:]]
        else:
            words.append(describe_support(claim, case.seen.is_supported(claim)))
        yield Fact("answer", f"claim {claim.n}", " · ".join(words), shorten_text(claim.text or "", 200))
    if answer is not None and answer.support_asked and (count_text := count_supported(answer.claims, case.seen)):
        yield Fact("answer", "all claims", count_text)


def _list_passage_facts(case: ExampleCase) -> Iterator[Fact]:
    context = case.seen
    gold = {doc_id for item in context.relevant for doc_id in item.doc_ids}
    for n, passage in enumerate(context.passages or (), 1):
        words = ["gold"] if passage.doc_id in gold else []
        if context.relevance_by_passage is not None:
            words.append(f"q = {format_mark(context.relevance_by_passage.get(n))}")
        if context.answer is not None and n in context.used:
            words.append("used")
        supported_claims = [str(claim.n) for claim in context.met if n in (claim.supporting or ())]
        words += [f"contains reference claim {', '.join(supported_claims)}"] if supported_claims else []
        words += ["outdated"] if n in context.stale else []
        title = case.passage_titles[n - 1]
        yield Fact("passages", f"passage {n}", " · ".join([title, *words]), shorten_text(passage.text or "", 200))


def _list_reference_facts(case: ExampleCase) -> Iterator[Fact]:
    agreement = case.seen.agreement
    for claim in case.seen.reference or ():
        words = [f"T = {format_supporting(claim, case.seen)}"]
        words += [] if claim.p is None or claim.supporting is None else [f"p {claim.p:.2f}"]
        if agreement is not None and claim.n <= len(agreement.reference):
            words.append(STATED_WORDS[case.seen.is_stated(claim.n)])
        yield Fact("reference", f"claim {claim.n}", " · ".join(words), shorten_text(claim.text, 200))
    if count_text := count_found(case.seen):
        yield Fact("reference", "all claims", count_text)


def _list_label_facts(case: ExampleCase) -> Iterator[Fact]:
    if not case.has_fact("labels.ranking"):
        return
    candidates = case.seen.ranks or {}
    for name, grade, rank in list_places(case):
        where = f"rank {rank}" if rank is not None else "not in the context"
        candidate_rank = min(
            (candidates[doc_id] for doc_id in name.split(" or ") if doc_id in candidates), default=None
        )
        more = f" · rank {candidate_rank} of the candidates" if candidate_rank is not None and rank is None else ""
        yield Fact("labels", name, f"grade {grade:g} · {where}{more}")


class MeanExplainer:
    """Explains the means of a run while its scores are read.

    Args:
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        found: one a metric, in the order read.
    """

    def __init__(self, level: float = 0.95, errors: Mapping[str, JudgeMeanError] = NO_ERRORS) -> None:
        self.found: list[MeanWorked] = []
        self._level, self._errors = level, errors

    def read(self, metric: Metric, _: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores."""
        self.found.append(explain_mean(metric, examples, self._level, self._errors.get(str(metric))))


def explain_run(card: ScorecardData, means: Sequence[MeanWorked]) -> RunExplained:
    """The run's numbers and findings with their arithmetic.

    Args:
        card: of the whole run: findings rest on all of its metrics.
        means: of the metrics asked for.
    """
    share = f" = {card.failed_examples / card.n:.0%}" if card.n else ""
    return RunExplained(
        run_id=card.run.run_id,
        name=card.run.name,
        judge_id=card.judge.judge_id,
        n=card.n,
        level=card.level,
        metrics=tuple(means),
        findings=tuple(FindingWorked(finding, tuple(_list_finding_lines(finding, card))) for finding in card.findings),
        failures=f"{card.failed_examples} / {card.n} examples failed{share}",
        causes=card.causes,
        against=card.baseline.base.name if card.baseline is not None else "",
    )


def _list_finding_lines(finding: Finding, card: ScorecardData) -> Iterator[str]:
    """One line a number that the finding rests on."""
    count = card.causes.get(finding.cause, 0)
    if count:
        share = f"{count} / {finding.failures} failures = {count / finding.failures:.0%}"
        reason = (
            f"at least {MIN_FAILURE_COUNT} or {MIN_FAILURE_SHARE:.0%} of the failures"
            if finding.cause
            else "no cause applied"
        )
        yield f"count: {share}, {count} / {card.n} examples = {count / card.n:.0%}  ({reason})"
        if card.baseline is not None and finding.cause:
            previous, failed = card.baseline.failures.base.get(finding.cause, 0), card.baseline.failures.failed_base
            yield f"before: {previous} / {failed} failures in {card.baseline.base.name}"
    for reading in finding.readings:
        yield f"{reading.level}: {_format_reading(reading, card.level)}"
    if finding.segment:
        column, _, value = finding.segment.partition("=")
        n = next((summary.n for summary in card.segments.get(column, {}).get(value, ())), 0)
        yield f"segment: {finding.segment}, {n} of {card.n} examples, by Fisher's exact test corrected for all segments"
    if finding.explains != count:
        yield f"explains: {finding.explains} / {finding.failures} failures, counting all causes of the pattern"


def _format_reading(reading: Reading, level: float) -> str:
    low, high = (format_number(end) for end in (reading.interval.low, reading.interval.high))
    mean, point = format_number(reading.mean), format_number(reading.point)
    method_text = f"{reading.interval.method}, {level:.0%}, n = {reading.n}"
    if reading.difference is None:
        position = "above" if reading.level == "high" else "below"
        oracle_note = " on oracle passages" if reading.of == "oracle" else ""
        return (
            f"{reading.metric}{oracle_note} {mean} [{low}, {high}] is entirely {position} {point}, the default "
            f"threshold ({reading.source}; {method_text})"
        )
    holds_zero = reading.interval.low <= 0 <= reading.interval.high
    position = (
        "includes 0: no change detected"
        if holds_zero
        else f"is entirely {'above' if reading.interval.low > 0 else 'below'} 0"
    )
    against = "" if reading.against in (BASELINE, POINTS) else f" ({reading.against})"
    return (
        f"{reading.metric} {mean} - {point} in {reading.source}{against} = {format_number(reading.difference)}, and "
        f"[{low}, {high}] {position}  ({method_text})"
    )
