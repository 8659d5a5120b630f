"""What each question sees: nothing more, so that nothing else can change its answer or its key.

The earlier turns of a conversation are seen by every question about its meaning, as far back as `HISTORY_CHARS` reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.criterion import Criterion, Seen
from ragauge.core.example import Example, Turn, seen_turns
from ragauge.core.facts import AnswerFacts, FactsOf
from ragauge.core.human_labels import Labelled
from ragauge.core.identity import digest, plain
from ragauge.core.response import REDACTED, Response
from ragauge.text.citation_marks import mark_spans
from ragauge.text.clauses import clauses
from ragauge.text.markup import blank_markup
from ragauge.text.phrases import participle
from ragauge.text.sentences import FENCE, split


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

    def seen_by(self, criterion: Criterion) -> tuple[Seen, ...]:
        """What one criterion is shown: what it sees, but for earlier turns where there are none."""
        return tuple(part for part in criterion.sees if part != "history" or self.history)


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


SUBJECT = "It was "  # what a sentence that begins with a participle has lost
ENDS = (".", "!", "?", "。", "！", "？")

Rate = RatePassages | RateSentences | RateAnswer
Cover = CoverAspects | CoverCriteria
Inputs = VerifyAnswer | VerifyReference | Rate | Agree | Cover | MeetCriteria | GuessQuestions | Similarity


def reference_claims(example: Example) -> tuple[str, ...]:
    """The prepared claims, or the clauses of the main reference's sentences where the set is unprepared.

    >>> reference_claims(Example("q", "Who?", references=("The firm was founded in 1998 and is based in Porto.",)))
    ('The firm was founded in 1998.', 'The firm is based in Porto.')
    """
    if example.reference_claims is not None:
        return example.reference_claims
    sentences = split(example.references[0]) if example.references else ()
    texts = [sentence.text for sentence in sentences if not FENCE.match(sentence.text)]
    return tuple(claim for sentence in texts for claim in _cut(sentence))


def _cut(sentence: str) -> tuple[str, ...]:
    """A sentence's clauses, each a sentence again; the sentence as it is where nothing is cut."""
    texts = [clause.text for clause in clauses(sentence)]
    if len(texts) == 1 and participle(sentence.split(" ", 1)[0].lower()):  # "Founded in 1998 and based in Porto"
        whole = [clause.text for clause in clauses(SUBJECT + sentence[0].lower() + sentence[1:])]
        texts = [
            (text := clause.removeprefix(SUBJECT))[0].upper() + text[1:]
            for clause in whole
            if clause.startswith(SUBJECT)
        ]
        texts = texts if len(texts) == len(whole) else [sentence]
    return tuple(text if text.endswith(ENDS) else text + "." for text in texts) if len(texts) > 1 else (sentence,)


def inputs_for(
    question: str,
    example: Example,
    response: Response,
    known: Mapping[str, FactsOf],
    criteria: Sequence[Criterion] = (),
) -> Inputs | None:
    """What the question sees of one response; None where it does not apply (then nothing is asked).

    Args:
        question: its name.
        example: the question and its labels.
        response: what the system returned.
        known: facts of the questions asked before, by name; `agree` works on the claims of verify_answer.
        criteria: of the run.
    """
    if response.error is not None:
        return None
    answer = None if response.answer in (None, REDACTED) else blank_markup(response.answer)
    texts = tuple(p.text or "" for p in response.passages or ()) if response.texts_recorded else None
    turns = seen_turns(example.history)
    match question:
        case "verify_answer":
            cited = mark_spans(answer or "", response.passages or ())
            return None if answer is None else VerifyAnswer(example.query, texts, answer, turns, cited)
        case "verify_reference":
            claims = reference_claims(example)
            accepted = example.references[1:] if len(claims) == 1 else ()
            if not claims or texts is None:
                return None
            return VerifyReference(example.query, claims, texts, accepted, turns)
        case "rate_passages" | "rate_sentences":
            rate = RatePassages if question == "rate_passages" else RateSentences
            return None if texts is None else rate(example.query, texts, turns)
        case "rate_answer" | "guess_questions":
            of = RateAnswer if question == "rate_answer" else GuessQuestions
            return None if answer is None else of(example.query, answer, turns)
        case "agree":
            verified = known.get("verify_answer")
            claims = reference_claims(example)
            if not isinstance(verified, AnswerFacts) or not claims:
                return None
            mine, first = tuple(claim.text for claim in verified.claims), "".join(example.references[:1])
            return Agree(mine, claims, example.query, example.references[1:], answer or "", first, turns)
        case "cover_aspects" | "cover_criteria":
            of_aspects = question == "cover_aspects"
            kind, parts = (CoverAspects, example.aspects) if of_aspects else (CoverCriteria, example.criteria)
            return kind(example.query, parts, answer, turns) if parts and answer is not None else None
        case "meet_criteria":
            return _criteria_inputs(criteria, example.query, answer, texts, example.references, turns)
        case "similarity":
            return None if answer is None or not example.references else Similarity(answer, example.references[0])
    raise ValueError(f"no question {question!r}")


def _criteria_inputs(
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
    able = tuple(one for one in criteria if not any(lacking.get(part) for part in one.sees))
    seen = {part for one in able for part in one.sees}
    return (
        MeetCriteria(
            able,
            query if "query" in seen else "",
            answer if "answer" in seen else None,
            passages if "passages" in seen else None,
            texts if "reference" in seen else (),
            history if "history" in seen else (),
        )
        if able
        else None
    )


def inputs_of_row(row: Labelled) -> VerifyAnswer:
    """What a judge of a labelled row sees."""
    return VerifyAnswer(row.query, row.passages, row.answer, seen_turns(row.history))


def evidence_key(judge_id: str, version: int, inputs: Inputs, judge_repeat: int = 0) -> str:
    """SHA-256 of who is asked, what (with its version) and everything that it sees: no run, no query id."""
    return digest([judge_id, inputs.question, version, plain(inputs), judge_repeat])
