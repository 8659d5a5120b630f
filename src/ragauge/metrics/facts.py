"""Where each fact that a metric may need comes from, and what its absence means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragauge.data.example import Example
from ragauge.data.facts import Evidence
from ragauge.data.ranking import Ranking
from ragauge.data.response import REDACTED, Response
from ragauge.metrics.base import Failed, NotApplicable

Absent = NotApplicable | Failed


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything known about one example when it is scored.

    Attributes:
        example: the question and its labels.
        response: what the system returned; for an example absent from a finished run, an empty one.
        evidence: question -> what the judge found; a question that does not apply is absent.
        ranking: ranks of the judged documents; None when there are no labels or no passages were recorded.
    """

    example: Example
    response: Response
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    ranking: Ranking | None = None


def question_of(fact: str) -> str | None:
    """The question that a fact is asked by; None when nothing has to be asked.

    >>> question_of("verify_answer.support"), question_of("labels.ranking")
    ('verify_answer', None)
    """
    head = fact.partition(".")[0]
    return None if head in ("labels", "response", "set") else head


def resolve(fact: str, facts: Facts) -> Any:
    """A fact's value, or NotApplicable or Failed with the reason."""
    absent = _inputs_absent(fact, facts)
    if absent is not None:
        return absent
    question = question_of(fact)
    if question is None:
        return FREE[fact](facts)
    if facts.response.error is not None:
        return Failed(f"the system failed: {facts.response.error}")
    found = facts.evidence.get(question)
    if found is None:
        return NotApplicable(f"{question} was not asked")
    if found.status == "failed" or found.facts is None:
        return Failed(found.reason or f"{question} failed")
    value = ASKED[fact](found.facts)
    return Failed(f"no verdict on {fact}") if value is None else value


def _not_recorded(facts: Facts, name: str) -> NotApplicable:
    why = facts.response.missing.get(name)
    return NotApplicable(f"{name} not recorded" + (f": {why}" if why else ""))


def _inputs_absent(fact: str, facts: Facts) -> NotApplicable | None:
    """What the example or the run lacks for this fact. It comes before any failure: no retry would bring it."""
    for need in INPUTS.get(fact, ()):
        absent = NEEDED[need](facts)
        if absent is not None:
            return absent
    return None


def _needs_passages(facts: Facts) -> NotApplicable | None:
    if facts.response.error is not None or facts.response.passages is not None:
        return None
    return _not_recorded(facts, "passages")


def _needs_texts(facts: Facts) -> NotApplicable | None:
    absent = _needs_passages(facts)
    if absent is not None or facts.response.error is not None or facts.response.texts_recorded:
        return absent
    why = facts.response.missing.get("passages")
    redacted = any(passage.text == REDACTED for passage in facts.response.passages or ())
    return NotApplicable(f"texts of the passages not recorded: {why or ('redacted' if redacted else 'no text')}")


def _needs_answer(facts: Facts) -> NotApplicable | None:
    response = facts.response
    if response.error is None and (response.answer is None or response.answer == REDACTED):
        return NotApplicable("answer not recorded: redacted") if response.answer else _not_recorded(facts, "answer")
    return None


def _needs_reference(facts: Facts) -> NotApplicable | None:
    example = facts.example
    if example.reference_claims or any(reference.strip() for reference in example.references):
        return None
    return NotApplicable("no reference answer")


def _needs_labels(facts: Facts) -> NotApplicable | None:
    return None if facts.example.relevant else NotApplicable("no relevance labels")


def _needs_aspects(facts: Facts) -> NotApplicable | None:
    return None if facts.example.aspects else NotApplicable("no aspects prepared")


def _needs_criteria(facts: Facts) -> NotApplicable | None:
    return None if facts.example.criteria else NotApplicable("no criteria")


NEEDED: Mapping[str, Callable[[Facts], NotApplicable | None]] = {
    "passages": _needs_passages,
    "texts": _needs_texts,
    "answer": _needs_answer,
    "reference": _needs_reference,
    "labels": _needs_labels,
    "aspects": _needs_aspects,
    "criteria": _needs_criteria,
}

# what must be recorded or labelled before a fact can be had at all
INPUTS: Mapping[str, tuple[str, ...]] = {
    "labels.ranking": ("labels", "passages"),
    "response.passages": ("passages",),
    "response.texts": ("texts",),
    "response.answer": ("answer",),
    "response.citations": ("answer",),
    "set.references": ("reference",),
    "verify_answer.claims": ("answer",),
    "verify_answer.support": ("answer", "texts"),
    "verify_answer.address": ("answer",),
    "verify_answer.refuse": ("answer",),
    "verify_reference.claims": ("reference", "texts"),
    "rate_passages.ratings": ("texts",),
    "rate_sentences.ratings": ("texts",),
    "agree.answer": ("answer", "reference"),
    "agree.reference": ("answer", "reference"),
    "cover_aspects.met": ("answer", "aspects"),
    "cover_criteria.met": ("answer", "criteria"),
    "guess_questions.cosines": ("answer",),
}


def _response_part(name: str) -> Callable[[Facts], Any]:
    def part(facts: Facts) -> Any:
        if facts.response.error is not None:
            return Failed(f"the system failed: {facts.response.error}")
        value = getattr(facts.response, name)
        return _not_recorded(facts, name) if value is None or value == {} else value

    return part


def _citations(facts: Facts) -> Any:
    if facts.response.error is not None:
        return Failed(f"the system failed: {facts.response.error}")
    found = facts.response.citations
    return NotApplicable("the system does not cite") if found is None else found


def _ranking(facts: Facts) -> Any:
    if facts.response.error is not None:
        return Failed(f"the system failed: {facts.response.error}")
    return facts.ranking if facts.ranking is not None else Failed("the judged documents were not ranked")


def _answerable(facts: Facts) -> Any:
    known = facts.example.answerable
    return NotApplicable("not known whether the question is answerable") if known is None else known


# facts that ask nothing
FREE: Mapping[str, Callable[[Facts], Any]] = {
    "labels.ranking": _ranking,
    "response.passages": _response_part("passages"),
    "response.texts": _response_part("passages"),
    "response.answer": _response_part("answer"),
    "response.citations": _citations,
    "response.latency_ms": _response_part("latency_ms"),
    "response.tokens": _response_part("tokens"),
    "response.cost": _response_part("cost"),
    "set.query": lambda facts: facts.example.query,
    "set.references": lambda facts: facts.example.references,
    "set.answerable": _answerable,
    "set.expected": lambda facts: facts.example.answerable is not False,     # an answer is, for all that is known
}

# facts read from a question's evidence
ASKED: Mapping[str, Callable[[Any], Any]] = {
    "verify_answer.claims": lambda found: found.claims,
    "verify_answer.support": lambda found: found.claims if found.support_asked else None,
    "verify_answer.address": lambda found: found.address,
    "verify_answer.refuse": lambda found: found.refuse,
    "verify_reference.claims": lambda found: found.claims,
    "rate_passages.ratings": lambda found: found.ratings,
    "rate_sentences.ratings": lambda found: found.ratings,
    "agree.answer": lambda found: found.answer,
    "agree.reference": lambda found: found.reference,
    "cover_aspects.met": lambda found: found.met,
    "cover_criteria.met": lambda found: found.met,
    "guess_questions.cosines": lambda found: found.cosines,
}
