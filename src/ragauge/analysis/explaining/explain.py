"""One example explained: from its facts through every formula to the cause of its failure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from ragauge.analysis.causes.attribute import attribute
from ragauge.analysis.explaining import causes
from ragauge.analysis.explaining.case import ExampleCase, braces, cut, holding, mark
from ragauge.analysis.explaining.items import items, support
from ragauge.analysis.explaining.ranks import places
from ragauge.analysis.explaining.symbols import symbols
from ragauge.analysis.explaining.worked import arithmetic
from ragauge.analysis.results.explanation import ExampleExplained, Fact, Worked
from ragauge.analysis.results.scorecard import Cause
from ragauge.data.score import Score
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import describe, parse
from ragauge.metrics.docstring import parts
from ragauge.metrics.facts import Facts


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
    names = [found.name if found is not None else "" for found in (stored, cause)]
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
    now = case.result(metric)
    if now.status != score.status or (now.value is not None and abs(now.value - (score.value or 0.0)) > 1e-9):
        value = "" if now.value is None else f" {now.value:.3g}"
        return f"from the facts as they are stored now it would be {now.status}{value}"
    return ""


def _facts(case: ExampleCase) -> Iterator[Fact]:
    yield from _record(case)
    yield from _claims(case)
    yield from _passages(case)
    yield from _reference(case)
    yield from _labels(case)


def _record(case: ExampleCase) -> Iterator[Fact]:
    response, example, seen = case.facts.response, case.facts.example, case.seen
    if response.error is not None:
        yield Fact("record", "error", cut(response.error, 300))
    answerable = {True: "yes", False: "no", None: "not known"}[example.answerable]
    if seen.answer is not None:
        declines = {True: "yes", False: "no", None: "no verdict"}[seen.refuse]
        yield Fact("record", "address", f"{seen.address or 'no verdict'} · declines: {declines}")
    yield Fact("record", "answerable", answerable)
    if response.candidates is not None:
        yield Fact("record", "candidates", f"{len(response.candidates)} before the cut")


def _claims(case: ExampleCase) -> Iterator[Fact]:
    answer, agreement = case.seen.answer, case.seen.agreement
    for claim in answer.claims if answer is not None else ():
        said = [f"S = {braces(claim.supporting)}", f"X = {braces(claim.contradicting)}"] if claim.status == "ok" else []
        if case.facts.response.citations is not None:
            said.append(f"Z = {braces(case.seen.cited(claim))}")
        if agreement is not None and claim.n <= len(agreement.answer):
            said.append(f"R = {agreement.answer[claim.n - 1] or '?'}")
        if answer is not None and not answer.support_asked:
            said = ["support never asked: the passages were not recorded", *said[2:]]
        else:
            said.append(support(claim))
        yield Fact("answer", f"claim {claim.n}", " · ".join(said), cut(claim.text or "", 200))


def _passages(case: ExampleCase) -> Iterator[Fact]:
    seen = case.seen
    gold = {doc_id for item in seen.relevant for doc_id in item.doc_ids}
    for n, passage in enumerate(seen.passages or (), 1):
        said = ["gold"] if passage.doc_id in gold else []
        if seen.marks is not None:
            said.append(f"q = {mark(seen.marks.get(n))}")
        if seen.answer is not None and n in seen.used:
            said.append("used")
        held = [str(claim.n) for claim in seen.met if n in (claim.supporting or ())]
        said += [f"holds reference claim {', '.join(held)}"] if held else []
        said += ["outdated"] if n in seen.stale else []
        title = case.titles[n - 1]
        yield Fact("passages", f"passage {n}", " · ".join([title, *said]), cut(passage.text or "", 200))


def _reference(case: ExampleCase) -> Iterator[Fact]:
    agreement = case.seen.agreement
    for claim in case.seen.reference or ():
        said = [f"T = {holding(claim)}"]
        said += [] if claim.p is None or claim.supporting is None else [f"p {claim.p:.2f}"]
        if agreement is not None and claim.n <= len(agreement.reference):
            stated = agreement.reference[claim.n - 1]
            said.append({True: "stated", False: "not stated", None: "stated: no verdict"}[stated])
        yield Fact("reference", f"claim {claim.n}", " · ".join(said), cut(claim.text, 200))


def _labels(case: ExampleCase) -> Iterator[Fact]:
    if not case.known("labels.ranking"):
        return
    candidates = case.seen.ranks or {}
    for name, grade, rank in places(case):
        where = f"rank {rank}" if rank is not None else "not handed on"
        deep = min((candidates[doc_id] for doc_id in name.split(" or ") if doc_id in candidates), default=None)
        more = f" · rank {deep} of the candidates" if deep is not None and rank is None else ""
        yield Fact("labels", name, f"grade {grade:g} · {where}{more}")
