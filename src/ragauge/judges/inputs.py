"""What each question sees: nothing more, so that nothing else can change its answer or its key.

The earlier turns of a conversation are seen by every question about its meaning, as far back as `HISTORY_CHARS` reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.example import Example, Turn, select_visible_turns
from ragauge.core.facts import AnswerFacts, Criterion, JudgeFacts, VisibleField
from ragauge.core.human_labels import LabeledAnswer
from ragauge.core.identity import hash_json, to_json_value
from ragauge.core.response import REDACTED, Response
from ragauge.text.citation_marks import find_citation_spans
from ragauge.text.clauses import split_clauses
from ragauge.text.markup import blank_markup
from ragauge.text.phrases import is_participle
from ragauge.text.sentences import FENCE, split_sentences


@dataclass(frozen=True, slots=True)
class VerifyAnswer:
    """Which claims the answer makes, which passages support or contradict each; passages None = not recorded.

    `cited` are the characters of the answer that name a passage, beyond those that `source_spans` finds in any text.
    """

    question: ClassVar = "verify_answer"
    query: str
    passages: tuple[str, ...] | None
    answer: str
    history: tuple[Turn, ...] = ()
    cited: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class VerifyReference:
    """Which passages support each reference claim; of a reference of one claim, or any other accepted answer."""

    question: ClassVar = "verify_reference"
    query: str
    claims: tuple[str, ...]
    passages: tuple[str, ...]
    accepted: tuple[str, ...] = ()  # the other accepted answers, each whole
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class RatePassages:
    """Which passages are relevant to the question."""

    question: ClassVar = "rate_passages"
    query: str
    passages: tuple[str, ...]
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class RateSentences:
    """Which sentences of the passages are relevant to the question."""

    question: ClassVar = "rate_sentences"
    query: str
    passages: tuple[str, ...]
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class RateAnswer:
    """Which sentences of the answer bear on the question; true or not, and whatever the passages say."""

    question: ClassVar = "rate_answer"
    query: str
    answer: str
    history: tuple[Turn, ...] = ()

    @property
    def passages(self) -> tuple[str, ...]:
        """The answer, as the one text whose sentences are rated."""
        return (self.answer,)


@dataclass(frozen=True, slots=True)
class Agree:
    """Which answer claims agree with the reference, and which reference claims the answer states.

    The question is seen because short answers and references cannot be compared without it ("24 months"), the answer
    for what no claim holds (a bare "Yes.").
    """

    question: ClassVar = "agree"
    answer_claims: tuple[str | None, ...]  # None: the claim itself could not be had
    reference_claims: tuple[str, ...]
    query: str = ""
    accepted: tuple[str, ...] = ()  # the other accepted answers, each whole
    answer: str = ""
    reference: str = ""  # the main accepted answer as it is: an equal answer states it, however its claims were cut
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class CoverAspects:
    """Which aspects of the question the answer addresses."""

    question: ClassVar = "cover_aspects"
    query: str
    aspects: tuple[str, ...]
    answer: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class CoverCriteria:
    """Which criteria the answer meets."""

    question: ClassVar = "cover_criteria"
    query: str
    criteria: tuple[str, ...]
    answer: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class MeetCriteria:
    """Which criteria of the run the example meets; what none of them sees is left out."""

    question: ClassVar = "meet_criteria"
    criteria: tuple[Criterion, ...]
    query: str = ""
    answer: str | None = None
    passages: tuple[str, ...] | None = None
    references: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()

    def list_sources(self, criterion: Criterion) -> tuple[VisibleField, ...]:
        """What one criterion is shown: what it sees, but for earlier turns where there are none."""
        return tuple(source for source in criterion.sees if source != "history" or self.history)


@dataclass(frozen=True, slots=True)
class GuessQuestions:
    """Which questions the answer would answer, compared with the one that was asked."""

    question: ClassVar = "guess_questions"
    query: str
    answer: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Similarity:
    """How near the answer's vector is to the main reference's."""

    question: ClassVar = "similarity"
    answer: str
    reference: str


LOST_SUBJECT = "It was "  # what a sentence that begins with a participle has lost
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")

Rate = RatePassages | RateSentences | RateAnswer
Cover = CoverAspects | CoverCriteria
Inputs = VerifyAnswer | VerifyReference | Rate | Agree | Cover | MeetCriteria | GuessQuestions | Similarity


def list_reference_claims(example: Example) -> tuple[str, ...]:
    """The prepared claims, or the clauses of the main reference's sentences where the set is unprepared.

    >>> list_reference_claims(Example("q", "Who?", references=("The firm was founded in 1998 and is based in Porto.",)))
    ('The firm was founded in 1998.', 'The firm is based in Porto.')
    """
    if example.reference_claims is not None:
        return example.reference_claims
    sentences = split_sentences(example.references[0]) if example.references else ()
    texts = [sentence.text for sentence in sentences if not FENCE.match(sentence.text)]
    return tuple(claim for sentence in texts for claim in _split_into_claims(sentence))


def _split_into_claims(sentence: str) -> tuple[str, ...]:
    """A sentence's clauses, each a sentence again; the sentence as it is where nothing is cut."""
    texts = [clause.text for clause in split_clauses(sentence)]
    if len(texts) == 1 and is_participle(sentence.split(" ", 1)[0].lower()):  # "Founded in 1998 and based in Porto"
        completed = [clause.text for clause in split_clauses(LOST_SUBJECT + sentence[0].lower() + sentence[1:])]
        texts = [
            (text := clause.removeprefix(LOST_SUBJECT))[0].upper() + text[1:]
            for clause in completed
            if clause.startswith(LOST_SUBJECT)
        ]
        texts = texts if len(texts) == len(completed) else [sentence]
    return (
        tuple(text if text.endswith(SENTENCE_ENDS) else text + "." for text in texts) if len(texts) > 1 else (sentence,)
    )


def build_inputs(
    question: str,
    example: Example,
    response: Response,
    facts_by_question: Mapping[str, JudgeFacts],
    criteria: Sequence[Criterion] = (),
) -> Inputs | None:
    """What the question sees of one response; None where it does not apply (then nothing is asked).

    Args:
        question: its name.
        example: the question and its labels.
        response: what the system returned.
        facts_by_question: facts of the questions asked before, by name; `agree` works on the claims of verify_answer.
        criteria: of the run.
    """
    if response.error is not None:
        return None
    answer = None if response.answer in (None, REDACTED) else blank_markup(response.answer)
    texts = tuple(p.text or "" for p in response.passages or ()) if response.has_passage_texts else None
    turns = select_visible_turns(example.history)
    match question:
        case "verify_answer":
            cited = find_citation_spans(answer or "", response.passages or ())
            return None if answer is None else VerifyAnswer(example.query, texts, answer, turns, cited)
        case "verify_reference":
            claims = list_reference_claims(example)
            accepted = example.references[1:] if len(claims) == 1 else ()
            if not claims or texts is None:
                return None
            return VerifyReference(example.query, claims, texts, accepted, turns)
        case "rate_passages" | "rate_sentences":
            rate = RatePassages if question == "rate_passages" else RateSentences
            return None if texts is None else rate(example.query, texts, turns)
        case "rate_answer" | "guess_questions":
            input_type = RateAnswer if question == "rate_answer" else GuessQuestions
            return None if answer is None else input_type(example.query, answer, turns)
        case "agree":
            verified = facts_by_question.get("verify_answer")
            claims = list_reference_claims(example)
            if not isinstance(verified, AnswerFacts) or not claims:
                return None
            answer_claims, first = tuple(claim.text for claim in verified.claims), "".join(example.references[:1])
            return Agree(answer_claims, claims, example.query, example.references[1:], answer or "", first, turns)
        case "cover_aspects" | "cover_criteria":
            of_aspects = question == "cover_aspects"
            kind, points = (CoverAspects, example.aspects) if of_aspects else (CoverCriteria, example.criteria)
            return kind(example.query, points, answer, turns) if points and answer is not None else None
        case "meet_criteria":
            return _build_criteria_inputs(criteria, example.query, answer, texts, example.references, turns)
        case "similarity":
            return None if answer is None or not example.references else Similarity(answer, example.references[0])
    raise ValueError(f"no question {question!r}")


def _build_criteria_inputs(
    criteria: Sequence[Criterion],
    query: str,
    answer: str | None,
    passages: tuple[str, ...] | None,
    references: Sequence[str],
    history: tuple[Turn, ...],
) -> MeetCriteria | None:
    """Those criteria whose texts are there, and what they see; None where none is."""
    texts = tuple(reference for reference in references if reference.strip())
    lacking = {"answer": answer is None, "passages": passages is None, "reference": not texts}
    applicable = tuple(criterion for criterion in criteria if not any(lacking.get(source) for source in criterion.sees))
    sources = {source for criterion in applicable for source in criterion.sees}
    return (
        MeetCriteria(
            applicable,
            query if "query" in sources else "",
            answer if "answer" in sources else None,
            passages if "passages" in sources else None,
            texts if "reference" in sources else (),
            history if "history" in sources else (),
        )
        if applicable
        else None
    )


def build_row_inputs(row: LabeledAnswer) -> VerifyAnswer:
    """What a judge of a labelled row sees."""
    return VerifyAnswer(row.query, row.passages, row.answer, select_visible_turns(row.history))


def build_evidence_key(judge_id: str, version: int, inputs: Inputs, judge_repeat: int = 0) -> str:
    """SHA-256 of who is asked, what (with its version) and everything that it sees: no run, no query id."""
    return hash_json([judge_id, inputs.question, version, to_json_value(inputs), judge_repeat])
