"""Where each fact that a metric may need comes from, and what its absence means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from ragauge.core.example import Example
from ragauge.core.facts import NO_LABELS, AnswerFacts, Claim, Evidence, LabelFacts, Rating, ReferenceClaim
from ragauge.core.ranking import Ranking
from ragauge.core.response import REDACTED, Readability, Response
from ragauge.metrics.base import Failed, NotApplicable, NotAsked, NotRead, explain_unread
from ragauge.metrics.char_spans import find_char_spans, find_token_spans
from ragauge.metrics.reasons import CLAIMS_LACKING, NO_REFERENCE, NOT_EVALUATED, SYSTEM_FAILED
from ragauge.metrics.retrieval.ranks import rank_chunks
from ragauge.metrics.specifics import mark_used_passages
from ragauge.metrics.topics import explain_no_relevance
from ragauge.text.sentences import split_sentences

Absent = NotApplicable | Failed | NotRead


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything known about one example when it is scored."""

    example: Example  #: the question and its labels.
    response: Response  #: what the system returned; for an example absent from a finished run, an empty one.
    #: question -> what the judge found; a question that does not apply is absent.
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    #: ranks of the judged documents; None when there are no labels or no passages were recorded.
    ranking: Ranking | None = None
    #: what the judge can read of it; None = no controls were asked, and everything counts as read.
    readability: Readability | None = None
    #: what people labeled of it, which decides verdicts and causes; scores of a judge do not rest on it.
    labels: LabelFacts = NO_LABELS


def find_question(fact: str) -> str | None:
    """The question that a fact is asked by; None when nothing has to be asked.

    >>> find_question("verify_answer.support"), find_question("labels.ranking")
    ('verify_answer', None)
    """
    head = fact.partition(".")[0]
    return None if head in ("labels", "response", "set") else head


def resolve_fact(fact: str, facts: Facts) -> Any:
    """A fact's value, or NotApplicable or Failed with the reason.

    A value that is a tuple may hold missing verdicts: None, or an item without verdict.
    """
    for need in FACT_INPUTS.get(fact, ()):  # before any failure: no retry would bring what was never recorded
        if (absent := INPUT_CHECKS[need](facts)) is not None:
            return absent
    if fact in FREE_FACTS:
        return FREE_FACTS[fact](facts)
    if facts.response.error is not None:
        return build_system_failure(facts)
    question = fact.partition(".")[0]
    evidence = facts.evidence.get(question)
    if evidence is None:
        return _explain_not_asked(question, facts)
    if evidence.status == "failed" or evidence.facts is None:
        return Failed(evidence.reason or f"{question} failed")
    reads = facts.readability
    if unread := explain_no_relevance(evidence, facts.example.query, reads) or explain_unread(
        fact, reads, facts.response
    ):
        return unread
    value = JUDGE_FACTS[fact](evidence.facts, facts)
    return Failed(f"no verdict on {fact}") if value is None else value


def build_blank(fact: str, facts: Facts) -> tuple[Any, ...] | None:
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
            return (None,) * len(split_sentences(facts.response.answer or ""))
        case "cover_aspects.met":
            return (None,) * len(example.aspects or ())
        case "cover_criteria.met":
            return (None,) * len(example.criteria or ())
        case "agree.answer" | "agree.agrees":
            claims = resolve_fact("verify_answer.claims", facts)
            return None if isinstance(claims, Absent) else (None,) * len(claims)
        case "agree.reference" | "agree.states":
            return (None,) * len(example.reference_claims) if example.reference_claims else None
        case "verify_reference.claims" if example.reference_claims:
            return tuple(ReferenceClaim(n, text, None) for n, text in enumerate(example.reference_claims, 1))
    return None


def build_system_failure(facts: Facts) -> Failed:
    """Why nothing is known of a response that the system did not give."""
    return Failed(SYSTEM_FAILED.build_reason(facts.response.error))


def _explain_not_asked(question: str, facts: Facts) -> Absent:
    """Why a question has no evidence: agree is asked on the claims of verify_answer, so it fails with it."""
    first = facts.evidence.get("verify_answer")
    if question == "agree" and first is not None and first.status == "failed":
        return Failed(first.reason or "verify_answer failed")
    return NotAsked(NOT_EVALUATED.build_reason(question))


def _explain_not_recorded(facts: Facts, name: str) -> NotApplicable:
    reason = facts.response.missing.get(name)
    return NotApplicable(f"{name} not recorded" + (f": {reason}" if reason else ""))


def _find_missing_passages(facts: Facts) -> NotApplicable | None:
    if facts.response.error is not None or facts.response.passages is not None:
        return None
    return _explain_not_recorded(facts, "passages")


def _find_missing_texts(facts: Facts) -> NotApplicable | None:
    absent = _find_missing_passages(facts)
    if absent is not None or facts.response.error is not None or facts.response.has_passage_texts:
        return absent
    reason = facts.response.missing.get("passages")
    redacted = any(passage.text == REDACTED for passage in facts.response.passages or ())
    return NotApplicable(f"texts of the passages not recorded: {reason or ('redacted' if redacted else 'no text')}")


def _find_missing_answer(facts: Facts) -> NotApplicable | None:
    response = facts.response
    if response.error is None and (response.answer is None or response.answer == REDACTED):
        return (
            NotApplicable("answer not recorded: redacted")
            if response.answer
            else _explain_not_recorded(facts, "answer")
        )
    return None


def _find_missing_reference(facts: Facts) -> NotApplicable | None:
    """Reference claims, or a reference to read them from; prepared claims that are empty stay empty."""
    example = facts.example
    if example.reference_claims is None:
        return _find_missing_reference_text(facts)
    return None if example.reference_claims else NotApplicable("the reference makes no claims")


def _find_missing_reference_text(facts: Facts) -> NotApplicable | None:
    return None if any(map(str.strip, facts.example.references)) else NotApplicable(NO_REFERENCE)


def _require_input(recorded: object, reason: str) -> NotApplicable | None:
    return None if recorded else NotApplicable(reason)


INPUT_CHECKS: Mapping[str, Callable[[Facts], NotApplicable | None]] = {
    "passages": _find_missing_passages,
    "texts": _find_missing_texts,
    "answer": _find_missing_answer,
    "reference": _find_missing_reference,
    "reference text": _find_missing_reference_text,
    "labels": lambda facts: _require_input(
        facts.example.relevant or facts.example.relevant_chunks, "no relevance labels"
    ),
    "chunks": lambda facts: _require_input(facts.example.relevant_chunks, "no labels of chunks (relevant_chunks)"),
    "aspects": lambda facts: _require_input(facts.example.aspects, "no aspects prepared"),
    "criteria": lambda facts: _require_input(facts.example.criteria, "no criteria"),
}

# what must be recorded or labelled before a fact can be had at all
FACT_INPUTS: Mapping[str, tuple[str, ...]] = {
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


def _build_response_reader(name: str) -> Callable[[Facts], Any]:
    def read_part(facts: Facts) -> Any:
        if facts.response.error is not None:
            return build_system_failure(facts)
        value = getattr(facts.response, name) if name else facts.response
        return _explain_not_recorded(facts, name) if value is None else value

    return read_part


def _build_spent_reader(name: str) -> Callable[[Facts], Any]:
    """What a call took, a failed one too, which took its time and its money; of that one, unknown if not recorded."""

    def read_part(facts: Facts) -> Any:
        value = getattr(facts.response, name)
        if value is not None and value != {}:
            return value
        return build_system_failure(facts) if facts.response.error is not None else _explain_not_recorded(facts, name)

    return read_part


def _get_citations(facts: Facts) -> Any:
    if facts.response.error is not None:
        return build_system_failure(facts)
    citations = facts.response.citations
    if citations is None:
        return NotApplicable(facts.response.missing.get("citations") or "the system does not cite")
    return citations


def _get_ranking(facts: Facts) -> Any:
    if facts.response.error is not None:
        return build_system_failure(facts)
    return facts.ranking if facts.ranking is not None else Failed("the labeled documents were not ranked")


def _get_answerable(facts: Facts) -> Any:
    is_answerable = facts.example.is_answerable
    return NotApplicable("answerable is not set for this question") if is_answerable is None else is_answerable


FREE_FACTS: Mapping[str, Callable[[Facts], Any]] = {
    "labels.ranking": _get_ranking,
    "labels.chunks": lambda facts: (
        build_system_failure(facts)
        if facts.response.error is not None
        else (rank_chunks(facts.example, facts.response))
    ),
    "labels.token_spans": lambda facts: find_token_spans(facts.example),
    "labels.char_spans": lambda facts: find_char_spans(facts.example, facts.response),
    "labels.neighbours": lambda _: NotApplicable("distances of vectors are not known: ragauge component ann measures"),
    "response.passages": _build_response_reader("passages"),
    "response.texts": _build_response_reader("passages"),
    "response.answer": _build_response_reader("answer"),
    "response.citations": _get_citations,
    **{f"response.{name}": _build_spent_reader(name) for name in ("latency_ms", "tokens", "cost")},
    "set.query": lambda facts: facts.example.query,
    "set.turns": lambda facts: facts.example.user_text,
    "set.references": lambda facts: facts.example.references,
    "response.outcome": attrgetter("response.outcome"),
    # whole, for metrics of the user's own
    "response.whole": _build_response_reader(""),
    "set.example": attrgetter("example"),
    **{f"set.{name}": attrgetter(f"example.{name}") for name in ("history", "segments")},
    "set.answerable": _get_answerable,
    "set.expected": lambda facts: facts.example.is_answerable is not False,  # an answer is, for all that is known
}


def _get_claims(answer: AnswerFacts, _: Facts) -> tuple[Claim, ...] | Failed:
    """The claims; a sentence whose claims could not be had hides an unknown number of them."""
    if any(claim.text is None for claim in answer.claims):
        return Failed(CLAIMS_LACKING.build_reason("a sentence"))
    return answer.claims


def _get_support(answer: AnswerFacts, facts: Facts) -> tuple[Claim, ...] | Absent:
    """The claims with their support: without passages none has any, and nothing needed to be asked."""
    if not answer.support_asked and facts.response.passages:
        return NotAsked(NOT_EVALUATED.build_reason("support by the passages"))
    return _get_claims(answer, facts)


def _get_used(answer: AnswerFacts, facts: Facts) -> tuple[bool | None, ...] | Absent:
    claims = _get_support(answer, facts)
    if isinstance(claims, Absent):
        return claims
    return mark_used_passages(claims, facts.response.citations or (), facts.response.passages or ())


def _has_claims(answer: AnswerFacts, facts: Facts) -> bool | Failed:
    claims = _get_claims(answer, facts)
    return claims if isinstance(claims, Failed) else bool(claims)


def _get_refusal(answer: AnswerFacts, _: Facts) -> bool | NotApplicable | None:
    """Whether the answer declines; no retry would tell where the judge does not know how its language declines."""
    if answer.refuse is None and answer.unread:
        language = "" if answer.unread == "und" else f" ({answer.unread})"
        return NotApplicable(f"whether the answer declines cannot be determined in this language{language}")
    return answer.refuse


def _get_useful(answer: Any, facts: Facts) -> tuple[bool | None, ...]:
    """One mark a passage: whether it supports a reference claim; None where a missing verdict may say so."""
    numbers = {n for claim in answer.claims for n in claim.supporting or ()}
    otherwise = None if any(claim.supporting is None for claim in answer.claims) else False
    return tuple(True if n in numbers else otherwise for n in range(1, len(facts.response.passages or ()) + 1))


def _build_rating_reader(name: str) -> Callable[[Any, Facts], tuple[Any, ...]]:
    """One verdict, or probability, a passage that was handed on, in their order; None where no rating came back."""

    def read_marks(answer: Any, facts: Facts) -> tuple[Any, ...]:
        rated = {rating.passage: getattr(rating, name) for rating in answer.ratings}
        return tuple(rated.get(n) for n in range(1, len(facts.response.passages or ()) + 1))

    return read_marks


def _get_address_p(answer: AnswerFacts, _: Facts) -> tuple[float, float, float] | None:
    """Probabilities of fully, partly and no; certain where the judge has none."""
    if answer.address is None or answer.address_p is not None:
        return answer.address_p if answer.address else None
    return (float(answer.address == "fully"), float(answer.address == "partly"), float(answer.address == "no"))


def _get_agreement(agreement: Any, facts: Facts) -> tuple[Any, ...] | Failed:
    """Per answer claim; unknown as a whole when the number of claims is."""
    claims = resolve_fact("verify_answer.claims", facts)
    return claims if isinstance(claims, Failed) else agreement.answer


def _get_stated(agreement: Any, facts: Facts) -> tuple[bool | None, ...]:
    """Per reference claim, whether the answer states it: a sentence that could not be read may state any."""
    if isinstance(resolve_fact("verify_answer.claims", facts), Failed):
        return tuple(stated or None for stated in agreement.reference)
    return tuple(agreement.reference)


def _get_agrees(agreement: Any, facts: Facts) -> tuple[float | None, ...] | Failed:
    """As `_get_agreement`, the probability that each claim agrees."""
    verdicts = _get_agreement(agreement, facts)
    return verdicts if isinstance(verdicts, Failed) else _fill_probabilities(verdicts, agreement.answer_p, "agrees")


def _get_states(agreement: Any, facts: Facts) -> tuple[float | None, ...]:
    """As `_get_stated`, the probability that each is stated."""
    return _fill_probabilities(_get_stated(agreement, facts), agreement.reference_p, True)


def _fill_probabilities(verdicts: Sequence[Any], p: Sequence[float | None], right: Any) -> tuple[float | None, ...]:
    """Probabilities beside verdicts; certain where the judge has none, None where there is no verdict."""
    chances = p or (None,) * len(verdicts)
    return tuple(
        None if verdict is None else float(verdict == right) if chance is None else chance
        for verdict, chance in zip(verdicts, chances, strict=True)
    )


# facts read from a question's evidence
JUDGE_FACTS: Mapping[str, Callable[[Any, Facts], Any]] = {
    "verify_answer.claims": _get_claims,
    "verify_answer.claimed": _has_claims,
    "verify_answer.support": _get_support,
    "verify_answer.used": _get_used,
    "verify_answer.address": lambda answer, _: answer.address,
    "verify_answer.addressed": _get_address_p,
    "verify_answer.refuse": _get_refusal,
    "verify_reference.claims": lambda reference, _: reference.claims,
    "verify_reference.useful": _get_useful,
    "rate_passages.ratings": lambda rated, _: rated.ratings,
    "rate_passages.relevant": _build_rating_reader("relevant"),
    "rate_passages.chance": _build_rating_reader("chance"),
    "rate_sentences.ratings": lambda rated, _: rated.ratings,
    "rate_sentences.relevant": lambda rated, _: tuple(rating.relevant for rating in rated.ratings),
    "rate_sentences.chance": lambda rated, _: tuple(rating.chance for rating in rated.ratings),
    "rate_answer.chance": lambda rated, _: tuple(rating.chance for rating in rated.ratings),
    "agree.answer": _get_agreement,
    "agree.reference": _get_stated,
    "agree.agrees": _get_agrees,
    "agree.states": _get_states,
    **{f"cover_{parts}.met": lambda cover, _: cover.met for parts in ("aspects", "criteria")},
    **{f"meet_criteria.{of}": lambda facts, _: facts.verdicts for of in ("verdicts", "required")},
    "guess_questions.cosines": lambda guesses, _: guesses.cosines,
    "similarity.cosine": lambda pair, _: pair if pair.blank or pair.cosine is not None else None,
}
