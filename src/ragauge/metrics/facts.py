"""Where each fact that a metric may need comes from, and what its absence means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Claim, Evidence, Rating, ReferenceClaim
from ragauge.core.label_facts import NO_LABELS, LabelFacts
from ragauge.core.ranking import Ranking
from ragauge.core.readability import Readability
from ragauge.core.response import REDACTED, Response
from ragauge.metrics.base import Failed, NotApplicable, NotAsked, NotRead
from ragauge.metrics.char_spans import char_spans, token_spans
from ragauge.metrics.not_read import why_not_read
from ragauge.metrics.retrieval.ranks import of_chunks
from ragauge.metrics.specifics import used
from ragauge.metrics.topics import why_no_relevance
from ragauge.text.sentences import split

Absent = NotApplicable | Failed | NotRead
SYSTEM_FAILED = "the system failed"  # how the reason begins of what a failed call leaves unknown


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything known about one example when it is scored.

    Attributes:
        example: the question and its labels.
        response: what the system returned; for an example absent from a finished run, an empty one.
        evidence: question -> what the judge found; a question that does not apply is absent.
        ranking: ranks of the judged documents; None when there are no labels or no passages were recorded.
        readability: what the judge can read of it; None = no controls were asked, and everything counts as read.
        labels: what people labeled of it, which decides verdicts and causes; scores of a judge do not rest on it.
    """

    example: Example
    response: Response
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    ranking: Ranking | None = None
    readability: Readability | None = None
    labels: LabelFacts = NO_LABELS


def question_of(fact: str) -> str | None:
    """The question that a fact is asked by; None when nothing has to be asked.

    >>> question_of("verify_answer.support"), question_of("labels.ranking")
    ('verify_answer', None)
    """
    head = fact.partition(".")[0]
    return None if head in ("labels", "response", "set") else head


def resolve(fact: str, facts: Facts) -> Any:
    """A fact's value, or NotApplicable or Failed with the reason.

    A value that is a tuple may hold missing verdicts: None, or an item without verdict.
    """
    for need in INPUTS.get(fact, ()):  # before any failure: no retry would bring what was never recorded
        if (absent := NEEDED[need](facts)) is not None:
            return absent
    if fact in FREE:
        return FREE[fact](facts)
    if facts.response.error is not None:
        return system_failed(facts)
    question = fact.partition(".")[0]
    evidence = facts.evidence.get(question)
    if evidence is None:
        return _not_asked(question, facts)
    if evidence.status == "failed" or evidence.facts is None:
        return Failed(evidence.reason or f"{question} failed")
    reads = facts.readability
    if unread := why_no_relevance(evidence, facts.example.query, reads) or why_not_read(fact, reads, facts.response):
        return unread
    value = ASKED[fact](evidence.facts, facts)
    return Failed(f"no verdict on {fact}") if value is None else value


def blank(fact: str, facts: Facts) -> tuple[Any, ...] | None:
    """What a failed fact would have held: as many missing verdicts; None where their number is unknown."""
    if facts.response.error is not None:
        return None
    example, n_passages = facts.example, len(facts.response.passages or ())
    match fact:
        case "verify_answer.used" | "verify_reference.useful" | "rate_passages.relevant" | "rate_passages.chance":
            return (None,) * n_passages
        case "rate_passages.ratings":
            return tuple(Rating(n, None) for n in range(1, n_passages + 1))
        case "rate_answer.chance":
            return (None,) * len(split(facts.response.answer or ""))
        case "cover_aspects.met":
            return (None,) * len(example.aspects or ())
        case "cover_criteria.met":
            return (None,) * len(example.criteria or ())
        case "agree.answer" | "agree.agrees":
            claims = resolve("verify_answer.claims", facts)
            return None if isinstance(claims, Absent) else (None,) * len(claims)
        case "agree.reference" | "agree.states":
            return (None,) * len(example.reference_claims) if example.reference_claims else None
        case "verify_reference.claims" if example.reference_claims:
            return tuple(ReferenceClaim(n, text, None) for n, text in enumerate(example.reference_claims, 1))
    return None


def system_failed(facts: Facts) -> Failed:
    """Why nothing is known of a response that the system did not give."""
    return Failed(f"{SYSTEM_FAILED}: {facts.response.error}")


def _not_asked(question: str, facts: Facts) -> Absent:
    """Why a question has no evidence: agree is asked on the claims of verify_answer, so it fails with it."""
    first = facts.evidence.get("verify_answer")
    if question == "agree" and first is not None and first.status == "failed":
        return Failed(first.reason or "verify_answer failed")
    return NotAsked(f"{question} was not asked")


def _not_recorded(facts: Facts, name: str) -> NotApplicable:
    why = facts.response.missing.get(name)
    return NotApplicable(f"{name} not recorded" + (f": {why}" if why else ""))


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
    """Reference claims, or a reference to read them from; prepared claims that are empty stay empty."""
    example = facts.example
    if example.reference_claims is None:
        return _needs_reference_text(facts)
    return None if example.reference_claims else NotApplicable("the reference makes no claims")


def _needs_reference_text(facts: Facts) -> NotApplicable | None:
    return None if any(map(str.strip, facts.example.references)) else NotApplicable("no reference answer")


def _needs_labels(facts: Facts) -> NotApplicable | None:
    labels = facts.example.relevant or facts.example.relevant_chunks
    return None if labels else NotApplicable("no relevance labels")


def _needs_chunks(facts: Facts) -> NotApplicable | None:
    return None if facts.example.relevant_chunks else NotApplicable("no labels of chunks (relevant_chunks)")


def _needs_aspects(facts: Facts) -> NotApplicable | None:
    return None if facts.example.aspects else NotApplicable("no aspects prepared")


def _needs_criteria(facts: Facts) -> NotApplicable | None:
    return None if facts.example.criteria else NotApplicable("no criteria")


NEEDED: Mapping[str, Callable[[Facts], NotApplicable | None]] = {
    "passages": _needs_passages,
    "texts": _needs_texts,
    "answer": _needs_answer,
    "reference": _needs_reference,
    "reference text": _needs_reference_text,
    "labels": _needs_labels,
    "chunks": _needs_chunks,
    "aspects": _needs_aspects,
    "criteria": _needs_criteria,
}

# what must be recorded or labelled before a fact can be had at all
INPUTS: Mapping[str, tuple[str, ...]] = {
    "labels.ranking": ("labels", "passages"),
    "labels.chunks": ("chunks", "passages"),
    "response.passages": ("passages",),
    "response.texts": ("texts",),
    "response.answer": ("answer",),
    "response.citations": ("answer",),
    "set.references": ("reference text",),
    "verify_answer.claims": ("answer",),
    "verify_answer.claimed": ("answer",),
    "verify_answer.support": ("answer", "texts"),
    "verify_answer.used": ("answer", "texts"),
    "verify_answer.address": ("answer",),
    "verify_answer.addressed": ("answer",),
    "verify_answer.refuse": ("answer",),
    "verify_reference.claims": ("reference", "texts"),
    "verify_reference.useful": ("reference", "texts"),
    **{
        f"rate_{unit}.{fact}": ("texts",)
        for unit in ("passages", "sentences")
        for fact in ("ratings", "relevant", "chance")
    },
    "rate_answer.chance": ("answer",),
    **{f"agree.{fact}": ("answer", "reference") for fact in ("answer", "reference", "agrees", "states")},
    "cover_aspects.met": ("answer", "aspects"),
    "cover_criteria.met": ("answer", "criteria"),
    "guess_questions.cosines": ("answer",),
    "similarity.cosine": ("answer", "reference text"),
}


def _response_part(name: str) -> Callable[[Facts], Any]:
    def part(facts: Facts) -> Any:
        if facts.response.error is not None:
            return system_failed(facts)
        value = getattr(facts.response, name) if name else facts.response
        return _not_recorded(facts, name) if value is None else value

    return part


def _spent(name: str) -> Callable[[Facts], Any]:
    """What a call took, a failed one too, which took its time and its money; of that one, unknown if not recorded."""

    def part(facts: Facts) -> Any:
        value = getattr(facts.response, name)
        if value is not None and value != {}:
            return value
        return system_failed(facts) if facts.response.error is not None else _not_recorded(facts, name)

    return part


def _citations(facts: Facts) -> Any:
    if facts.response.error is not None:
        return system_failed(facts)
    citations = facts.response.citations
    if citations is None:
        return NotApplicable(facts.response.missing.get("citations") or "the system does not cite")
    return citations


def _ranking(facts: Facts) -> Any:
    if facts.response.error is not None:
        return system_failed(facts)
    return facts.ranking if facts.ranking is not None else Failed("the judged documents were not ranked")


def _answerable(facts: Facts) -> Any:
    known = facts.example.is_answerable
    return NotApplicable("not known whether the question is answerable") if known is None else known


FREE: Mapping[str, Callable[[Facts], Any]] = {
    "labels.ranking": _ranking,
    "labels.chunks": lambda facts: (
        system_failed(facts) if facts.response.error is not None else (of_chunks(facts.example, facts.response))
    ),
    "labels.token_spans": lambda facts: token_spans(facts.example),
    "labels.char_spans": lambda facts: char_spans(facts.example, facts.response),
    "labels.neighbours": lambda _: NotApplicable("distances of the vectors are not known; ragauge ann computes them"),
    "response.passages": _response_part("passages"),
    "response.texts": _response_part("passages"),
    "response.answer": _response_part("answer"),
    "response.citations": _citations,
    **{f"response.{name}": _spent(name) for name in ("latency_ms", "tokens", "cost")},
    "set.query": lambda facts: facts.example.query,
    "set.turns": lambda facts: facts.example.said_by_user,
    "set.references": lambda facts: facts.example.references,
    "response.outcome": attrgetter("response.outcome"),
    # whole, for metrics of the user's own
    "response.whole": _response_part(""),
    "set.example": attrgetter("example"),
    **{f"set.{name}": attrgetter(f"example.{name}") for name in ("history", "segments")},
    "set.answerable": _answerable,
    "set.expected": lambda facts: facts.example.is_answerable is not False,  # an answer is, for all that is known
}


def _claims(answer: AnswerFacts, _: Facts) -> tuple[Claim, ...] | Failed:
    """The claims; a sentence whose claims could not be had hides an unknown number of them."""
    if any(claim.text is None for claim in answer.claims):
        return Failed("the claims of a sentence could not be had")
    return answer.claims


def _support(answer: AnswerFacts, facts: Facts) -> tuple[Claim, ...] | Absent:
    """The claims with their support: without passages none has any, and nothing needed to be asked."""
    if not answer.support_asked and facts.response.passages:
        return NotAsked("support by the passages was not asked")
    return _claims(answer, facts)


def _used(answer: AnswerFacts, facts: Facts) -> tuple[bool | None, ...] | Absent:
    claims = _support(answer, facts)
    if isinstance(claims, Absent):
        return claims
    return used(claims, facts.response.citations or (), facts.response.passages or ())


def _claimed(answer: AnswerFacts, facts: Facts) -> bool | Failed:
    claims = _claims(answer, facts)
    return claims if isinstance(claims, Failed) else bool(claims)


def _refuse(answer: AnswerFacts, _: Facts) -> bool | NotApplicable | None:
    """Whether the answer declines; no retry would tell where the judge does not know how its language declines."""
    if answer.refuse is None and answer.unread:
        named = "" if answer.unread == "und" else f" ({answer.unread})"
        return NotApplicable(f"whether the answer declines is not known in this language{named}")
    return answer.refuse


def _useful(answer: Any, facts: Facts) -> tuple[bool | None, ...]:
    """One mark a passage: whether it supports a reference claim; None where a missing verdict may say so."""
    numbers = {n for claim in answer.claims for n in claim.supporting or ()}
    otherwise = None if any(claim.supporting is None for claim in answer.claims) else False
    return tuple(True if n in numbers else otherwise for n in range(1, len(facts.response.passages or ()) + 1))


def _rated(name: str) -> Callable[[Any, Facts], tuple[Any, ...]]:
    """One verdict, or probability, a passage that was handed on, in their order; None where no rating came back."""

    def marks(answer: Any, facts: Facts) -> tuple[Any, ...]:
        rated = {rating.passage: getattr(rating, name) for rating in answer.ratings}
        return tuple(rated.get(n) for n in range(1, len(facts.response.passages or ()) + 1))

    return marks


def _addressed(answer: AnswerFacts, _: Facts) -> tuple[float, float, float] | None:
    """Probabilities of fully, partly and no; certain where the judge has none."""
    if answer.address is None or answer.address_p is not None:
        return answer.address_p if answer.address else None
    return (float(answer.address == "fully"), float(answer.address == "partly"), float(answer.address == "no"))


def _agreement(agreement: Any, facts: Facts) -> tuple[Any, ...] | Failed:
    """Per answer claim; unknown as a whole when the number of claims is."""
    claims = resolve("verify_answer.claims", facts)
    return claims if isinstance(claims, Failed) else agreement.answer


def _stated(agreement: Any, facts: Facts) -> tuple[bool | None, ...]:
    """Per reference claim, whether the answer states it: a sentence that could not be read may state any."""
    if isinstance(resolve("verify_answer.claims", facts), Failed):
        return tuple(stated or None for stated in agreement.reference)
    return tuple(agreement.reference)


def _agrees(agreement: Any, facts: Facts) -> tuple[float | None, ...] | Failed:
    """As `_agreement`, the probability that each claim agrees."""
    verdicts = _agreement(agreement, facts)
    return verdicts if isinstance(verdicts, Failed) else _likely(verdicts, agreement.answer_p, "agrees")


def _states(agreement: Any, facts: Facts) -> tuple[float | None, ...]:
    """As `_stated`, the probability that each is stated."""
    return _likely(_stated(agreement, facts), agreement.reference_p, True)


def _likely(verdicts: Sequence[Any], p: Sequence[float | None], right: Any) -> tuple[float | None, ...]:
    """Probabilities beside verdicts; certain where the judge has none, None where there is no verdict."""
    known = p or (None,) * len(verdicts)
    return tuple(
        None if verdict is None else float(verdict == right) if chance is None else chance
        for verdict, chance in zip(verdicts, known, strict=True)
    )


# facts read from a question's evidence
ASKED: Mapping[str, Callable[[Any, Facts], Any]] = {
    "verify_answer.claims": _claims,
    "verify_answer.claimed": _claimed,
    "verify_answer.support": _support,
    "verify_answer.used": _used,
    "verify_answer.address": lambda answer, _: answer.address,
    "verify_answer.addressed": _addressed,
    "verify_answer.refuse": _refuse,
    "verify_reference.claims": lambda reference, _: reference.claims,
    "verify_reference.useful": _useful,
    "rate_passages.ratings": lambda rated, _: rated.ratings,
    "rate_passages.relevant": _rated("relevant"),
    "rate_passages.chance": _rated("chance"),
    "rate_sentences.ratings": lambda rated, _: rated.ratings,
    "rate_sentences.relevant": lambda rated, _: tuple(rating.relevant for rating in rated.ratings),
    "rate_sentences.chance": lambda rated, _: tuple(rating.chance for rating in rated.ratings),
    "rate_answer.chance": lambda rated, _: tuple(rating.chance for rating in rated.ratings),
    "agree.answer": _agreement,
    "agree.reference": _stated,
    "agree.agrees": _agrees,
    "agree.states": _states,
    **{f"cover_{parts}.met": lambda cover, _: cover.met for parts in ("aspects", "criteria")},
    **{f"meet_criteria.{of}": lambda found, _: found.verdicts for of in ("verdicts", "required")},
    "guess_questions.cosines": lambda guesses, _: guesses.cosines,
    "similarity.cosine": lambda pair, _: pair if pair.blank or pair.cosine is not None else None,
}
