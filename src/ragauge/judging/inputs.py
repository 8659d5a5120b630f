"""What each question sees: nothing more, so that nothing else can change its answer or its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ragauge.data.canonical import digest, plain
from ragauge.data.example import Example
from ragauge.data.facts import AnswerFacts, FactsOf
from ragauge.data.response import REDACTED, Response
from ragauge.text.sentences import split


@dataclass(frozen=True, slots=True)
class VerifyAnswer:
    """Which claims the answer makes, which passages support or contradict each; passages None = not recorded."""

    question: ClassVar = "verify_answer"
    query: str
    passages: tuple[str, ...] | None
    answer: str


@dataclass(frozen=True, slots=True)
class VerifyReference:
    """Which passages support each reference claim."""

    question: ClassVar = "verify_reference"
    query: str
    claims: tuple[str, ...]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatePassages:
    """Which passages are relevant to the question."""

    question: ClassVar = "rate_passages"
    query: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RateSentences:
    """Which sentences of the passages are relevant to the question."""

    question: ClassVar = "rate_sentences"
    query: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agree:
    """Which answer claims agree with the reference, and which reference claims the answer states.

    The question is seen because short answers and references cannot be compared without it ("24 months"), the answer
    for what no claim holds (a bare "Yes.").
    """

    question: ClassVar = "agree"
    answer_claims: tuple[str | None, ...]     # None: the claim itself could not be had
    reference_claims: tuple[str, ...]
    query: str = ""
    accepted: tuple[str, ...] = ()     # the other accepted answers, each whole
    answer: str = ""


@dataclass(frozen=True, slots=True)
class CoverAspects:
    """Which aspects of the question the answer addresses."""

    question: ClassVar = "cover_aspects"
    query: str
    aspects: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class CoverCriteria:
    """Which criteria the answer meets."""

    question: ClassVar = "cover_criteria"
    query: str
    criteria: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class GuessQuestions:
    """Which questions the answer would answer, compared with the one that was asked."""

    question: ClassVar = "guess_questions"
    query: str
    answer: str


@dataclass(frozen=True, slots=True)
class Similarity:
    """How near the answer's vector is to the main reference's."""

    question: ClassVar = "similarity"
    answer: str
    reference: str


Rate = RatePassages | RateSentences
Cover = CoverAspects | CoverCriteria
Inputs = VerifyAnswer | VerifyReference | Rate | Agree | Cover | GuessQuestions | Similarity


def reference_claims(example: Example) -> tuple[str, ...]:
    """The prepared claims, or the sentences of the main reference where the set is unprepared."""
    if example.reference_claims is not None:
        return example.reference_claims
    return tuple(sentence.text for sentence in split(example.references[0])) if example.references else ()


def inputs_for(
    question: str, example: Example, response: Response, found: Mapping[str, FactsOf]
) -> Inputs | None:
    """What the question sees of one response; None where it does not apply (then nothing is asked).

    Args:
        question: its name.
        example: the question and its labels.
        response: what the system returned.
        found: facts of the questions asked before, by name; `agree` works on the claims of verify_answer.
    """
    if response.error is not None:
        return None
    answer = None if response.answer == REDACTED else response.answer
    texts = tuple(p.text or "" for p in response.passages or ()) if response.texts_recorded else None
    match question:
        case "verify_answer":
            return None if answer is None else VerifyAnswer(example.query, texts, answer)
        case "verify_reference":
            claims = reference_claims(example)
            return VerifyReference(example.query, claims, texts) if claims and texts is not None else None
        case "rate_passages":
            return None if texts is None else RatePassages(example.query, texts)
        case "rate_sentences":
            return None if texts is None else RateSentences(example.query, texts)
        case "agree":
            verified = found.get("verify_answer")
            claims = reference_claims(example)
            if not isinstance(verified, AnswerFacts) or not claims:
                return None
            mine = tuple(claim.text for claim in verified.claims)
            return Agree(mine, claims, example.query, example.references[1:], answer or "")
        case "cover_aspects":
            parts = example.aspects
            return CoverAspects(example.query, parts, answer) if parts and answer is not None else None
        case "cover_criteria":
            parts = example.criteria
            return CoverCriteria(example.query, parts, answer) if parts and answer is not None else None
        case "guess_questions":
            return None if answer is None else GuessQuestions(example.query, answer)
        case "similarity":
            return None if answer is None or not example.references else Similarity(answer, example.references[0])
    raise ValueError(f"no question {question!r}")


def evidence_key(judge_id: str, version: int, inputs: Inputs, judge_repeat: int = 0) -> str:
    """SHA-256 of who is asked, what (with its version) and everything that it sees: no run, no query id."""
    return digest([judge_id, inputs.question, version, plain(inputs), judge_repeat])
