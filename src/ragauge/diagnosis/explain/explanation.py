"""One example explained: from its facts through every formula to the cause of its failure.

A run explained: every mean with its sum and interval, every finding with the arithmetic that it rests on.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from ragauge.core.score import Score
from ragauge.diagnosis.causes.attribution import attribute
from ragauge.diagnosis.causes.decided_facts import Decision
from ragauge.diagnosis.explain import causes
from ragauge.diagnosis.explain.case import ExampleCase, braces, count_found, count_supported, cut, holding, mark, number
from ragauge.diagnosis.explain.counted_items import items, support
from ragauge.diagnosis.explain.means import arithmetic, explain_mean
from ragauge.diagnosis.explain.ranks import places
from ragauge.diagnosis.explain.symbols import symbols
from ragauge.diagnosis.findings.diagnosis_builder import LEAST_COUNT, LEAST_SHARE
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import describe, is_own, is_stored, parse
from ragauge.metrics.docstring import parts
from ragauge.metrics.facts import Facts
from ragauge.metrics.own_class import runs_own_code
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
    shown = [name for name in (scores if metrics is None else metrics) if name in scores]
    cause = attribute(facts, indexed=indexed)
    names = [attributed.name if attributed is not None else "" for attributed in (stored, cause)]
    note = f"when it was evaluated, the cause found was {names[0]}" if names[0] and names[0] != names[1] else ""
    return ExampleExplained(
        query_id=facts.example.query_id,
        repeat=facts.response.repeat,
        query=facts.example.query,
        answer=facts.response.answer,
        facts=tuple(_facts(case)),
        metrics=tuple(explain_metric(parse(name), scores[name], case) for name in shown),
        sign=causes.sign(facts, indexed) if cause is not None else "",
        cause=cause,
        rows=causes.rows(facts, indexed, cause),
        note=note,
    )


def explain_metric(metric: Metric, score: Score, case: ExampleCase) -> Worked:
    """One metric on one example: its formula, its symbols with their values, what counts, and the arithmetic."""
    sentence, formula, _ = describe(metric)
    return Worked(
        metric=score.metric,
        measures=metric.measures,
        direction=metric.direction,
        sentence=sentence,
        formula=formula,
        symbols=symbols(metric, case),
        items=items(metric, case),
        arithmetic=arithmetic(metric, score, case),
        score=score,
        cases=parts(type(metric)).cases,
        note=_note(metric, score, case),
    )


def _note(metric: Metric, score: Score, case: ExampleCase) -> str:
    """Where the facts as they are now would give another result than the stored one."""
    if metric.version != score.metric_version:
        return f"scored by version {score.metric_version} of the metric; this is version {metric.version}"
    if is_stored(type(metric)) or (is_own(metric) and runs_own_code(metric)):  # which may do anything
        low, high = metric.range
        return f"as stored: version {metric.version}, range {low:g} to {high:g}; its code is not run to explain it"
    now = case.result(metric)
    if now.status != score.status or (now.value is not None and abs(now.value - (score.value or 0.0)) > 1e-9):
        value = "" if now.value is None else f" {now.value:.3g}"
        return f"from the facts as they are stored now it would be {now.status}{value}"
    return ""


STATED: Mapping[Decision | None, str] = {
    "yes": "stated",
    "no": "not stated",
    "open": "unclear whether stated",
    None: "stated: no verdict",
}


def _facts(case: ExampleCase) -> Iterator[Fact]:
    yield from _record(case)
    yield from _claims(case)
    yield from _passages(case)
    yield from _reference(case)
    yield from _labels(case)


def _record(case: ExampleCase) -> Iterator[Fact]:
    response, seen = case.facts.response, case.seen
    if response.error is not None:
        yield Fact("record", "error", cut(response.error, 300))
    if seen.answer is not None:
        declines = {True: "yes", False: "no", None: "no verdict"}[seen.refuse]
        yield Fact("record", "address", f"{seen.address or 'no verdict'} · declines: {declines}")
    yield Fact("record", "answerable", {True: "yes", False: "no", None: "not known"}[seen.is_answerable])
    if response.candidates is not None:
        yield Fact("record", "candidates", f"{len(response.candidates)} before the cut")


def _claims(case: ExampleCase) -> Iterator[Fact]:
    answer, agreement = case.seen.answer, case.seen.agreement
    for claim in answer.claims if answer is not None else ():
        words = (
            [f"S = {braces(claim.supporting)}", f"X = {braces(claim.contradicting)}"] if claim.status == "ok" else []
        )
        if case.facts.response.citations is not None:
            words.append(f"Z = {braces(case.seen.cited(claim))}")
        if agreement is not None and claim.n <= len(agreement.answer):
            words.append(f"R = {agreement.answer[claim.n - 1] or '?'}")
        if answer is not None and not answer.support_asked:
            words = ["support never asked: the passages were not recorded", *words[2:]]
        else:
            words.append(support(claim, case.seen.is_supported(claim)))
        yield Fact("answer", f"claim {claim.n}", " · ".join(words), cut(claim.text or "", 200))
    if answer is not None and answer.support_asked and (found := count_supported(answer.claims, case.seen)):
        yield Fact("answer", "all claims", found)


def _passages(case: ExampleCase) -> Iterator[Fact]:
    seen = case.seen
    gold = {doc_id for item in seen.relevant for doc_id in item.doc_ids}
    for n, passage in enumerate(seen.passages or (), 1):
        words = ["gold"] if passage.doc_id in gold else []
        if seen.marks is not None:
            words.append(f"q = {mark(seen.marks.get(n))}")
        if seen.answer is not None and n in seen.used:
            words.append("used")
        held = [str(claim.n) for claim in seen.met if n in (claim.supporting or ())]
        words += [f"holds reference claim {', '.join(held)}"] if held else []
        words += ["outdated"] if n in seen.stale else []
        title = case.titles[n - 1]
        yield Fact("passages", f"passage {n}", " · ".join([title, *words]), cut(passage.text or "", 200))


def _reference(case: ExampleCase) -> Iterator[Fact]:
    agreement = case.seen.agreement
    for claim in case.seen.reference or ():
        words = [f"T = {holding(claim, case.seen)}"]
        words += [] if claim.p is None or claim.supporting is None else [f"p {claim.p:.2f}"]
        if agreement is not None and claim.n <= len(agreement.reference):
            words.append(STATED[case.seen.is_stated(claim.n)])
        yield Fact("reference", f"claim {claim.n}", " · ".join(words), cut(claim.text, 200))
    if found := count_found(case.seen):
        yield Fact("reference", "all claims", found)


def _labels(case: ExampleCase) -> Iterator[Fact]:
    if not case.known("labels.ranking"):
        return
    candidates = case.seen.ranks or {}
    for name, grade, rank in places(case):
        where = f"rank {rank}" if rank is not None else "not handed on"
        deep = min((candidates[doc_id] for doc_id in name.split(" or ") if doc_id in candidates), default=None)
        more = f" · rank {deep} of the candidates" if deep is not None and rank is None else ""
        yield Fact("labels", name, f"grade {grade:g} · {where}{more}")


class MeansExplained:
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
        findings=tuple(FindingWorked(finding, tuple(_lines(finding, card))) for finding in card.findings),
        failures=f"{card.failed_examples} / {card.n} examples failed{share}",
        causes=card.causes,
        against=card.baseline.base.name if card.baseline is not None else "",
    )


def _lines(finding: Finding, card: ScorecardData) -> Iterator[str]:
    """One line a number that the finding rests on."""
    count = card.causes.get(finding.cause, 0)
    if count:
        share = f"{count} / {finding.failures} failures = {count / finding.failures:.0%}"
        why = f"at least {LEAST_COUNT} or {LEAST_SHARE:.0%} of the failures" if finding.cause else "no row applied"
        yield f"count: {share}, {count} / {card.n} examples = {count / card.n:.0%}  ({why})"
        if card.baseline is not None and finding.cause:
            before, failed = card.baseline.failures.base.get(finding.cause, 0), card.baseline.failures.failed_base
            yield f"before: {before} / {failed} failures in {card.baseline.base.name}"
    for reading in finding.readings:
        yield f"{reading.level}: {_reading(reading, card.level)}"
    if finding.segment:
        column, _, value = finding.segment.partition("=")
        n = next((part.n for part in card.segments.get(column, {}).get(value, ())), 0)
        yield f"segment: {finding.segment}, {n} of {card.n} examples, by Fisher's exact test corrected for all segments"
    if finding.explains != count:
        yield f"explains: {finding.explains} / {finding.failures} failures, all causes that the pattern goes with"


def _reading(reading: Reading, level: float) -> str:
    low, high = (number(end) for end in (reading.interval.low, reading.interval.high))
    mean, point = number(reading.mean), number(reading.point)
    how = f"{reading.interval.method}, {level:.0%}, n = {reading.n}"
    if reading.difference is None:
        side = "above" if reading.level == "high" else "below"
        whose = " on oracle passages" if reading.of == "oracle" else ""
        return (
            f"{reading.metric}{whose} {mean} [{low}, {high}] lies wholly {side} {point}, the starting point "
            f"({reading.source}; {how})"
        )
    holds = reading.interval.low <= 0 <= reading.interval.high
    side = "holds 0: no change seen" if holds else f"lies wholly {'above' if reading.interval.low > 0 else 'below'} 0"
    against = "" if reading.against in (BASELINE, POINTS) else f" ({reading.against})"
    return (
        f"{reading.metric} {mean} - {point} in {reading.source}{against} = {number(reading.difference)}, and "
        f"[{low}, {high}] {side}  ({how})"
    )
