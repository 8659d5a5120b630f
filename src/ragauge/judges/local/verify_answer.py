"""verify_answer: the claims of an answer, their support, whether it addresses the question, whether it declines."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from itertools import chain

from ragauge.core.facts import AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import Asking
from ragauge.judges.local.address import LOOKED_AT, address
from ragauge.judges.local.index import Mode, carries_content, mode_of, units_of
from ragauge.judges.local.refusals import unread
from ragauge.judges.local.relevance import embed, language_of
from ragauge.judges.local.short_answers import is_short
from ragauge.judges.local.statements import ClaimPart, Statements, bare, parts, statements
from ragauge.judges.local.support import PreparedPassages, Weighed, weighed, with_question
from ragauge.judges.local.table_support import Tabled, TableVerdict
from ragauge.judges.similarity import cosine_scale, standard_table
from ragauge.text.source_notes import number_marks

VERSION = 1


def verify_answer(inputs: VerifyAnswer, judge_repeat: int = 0) -> Asking:
    """A claim is a clause of a sentence that states something; greetings, questions, pointers and refusals are none.

    Support is direct, but for amounts that follow from others by one operation: these are implied. With passages
    recorded but none there, every claim is unsupported; what only repeats the user's earlier turns is none, unless they
    support or contradict it. An answer that declines as a whole claims nothing. Whether
    one declines is not known where none of its claims is supported and its language has no wordings.
    """
    inputs = replace(inputs, answer=number_marks(inputs.answer, inputs.cited), cited=())
    spoken = statements(inputs.answer)
    cosine = None
    if spoken.claims and inputs.query.strip():
        (reply,) = yield [embed("verify_answer", VERSION, (inputs.query, spoken.shown[:LOOKED_AT]), judge_repeat)]
        ((cosine,),) = standard_table(reply, 1, [cosine_scale(language_of(inputs.query, spoken.shown))])
    mode = mode_of((inputs.query, inputs.answer))
    addressed = address(inputs.query, spoken, inputs.answer, cosine, mode)
    cut = [parts(sentence) for sentence in spoken.claims]
    if inputs.passages is None:
        numbered = enumerate(chain.from_iterable(cut), 1)
        plain = [Claim(n, part.text, part.start, part.end, within=part.within) for n, part in numbered]
        refuse, language = _refuse(inputs.answer, spoken, plain)
        return AnswerFacts(
            tuple(plain), addressed.label, refuse, support_asked=False, address_p=addressed.p, unread=language
        )
    whole = [bare(sentence.text) for sentence in spoken.claims]
    said = [turn.text for turn in inputs.history if turn.role == "user"]
    evidence, tabled = PreparedPassages(inputs.passages, whole, said=said), Tabled(inputs.query, inputs.passages)
    query = inputs.query if len(whole) == 1 and is_bare(whole[0], inputs.query, mode) else ""
    pairs = zip(whole, cut, strict=True)
    mended = [_mended(sentence, own, evidence, tabled, query) for sentence, own in pairs]
    verdicts = zip(chain.from_iterable(cut), chain.from_iterable(mended), strict=True)
    kept = [
        (part, verdict)
        for (part, verdict), echoes in zip(verdicts, _echoing(whole, cut, said), strict=True)
        if not echoes or verdict.found.supporting or verdict.found.contradicting
    ]
    claims = tuple(
        Claim(n, part.text, part.start, part.end, within=part.within, strength=strength, **verdict._asdict())
        for n, (part, (verdict, strength, _)) in enumerate(kept, 1)
    )
    refuse, language = _refuse(inputs.answer, spoken, claims)
    return AnswerFacts(claims, addressed.label, refuse, address_p=addressed.p, unread=language)


def _echoing(sentences: Sequence[str], cut: Sequence[Sequence[ClaimPart]], said: Sequence[str]) -> list[bool]:
    """Whether each claim only repeats what the user said in an earlier turn; beside silent passages it is none then."""
    if not said:
        return [False for own in cut for _ in own]
    turns = PreparedPassages(said, sentences)
    verdicts = (weighed(sentence, own, turns) for sentence, own in zip(sentences, cut, strict=True))
    return [bool(verdict.supporting) for several in verdicts for verdict in several]


def _refuse(answer: str, spoken: Statements, claims: Sequence[Claim]) -> tuple[bool | None, str]:
    """Whether an answer declines, None where its language does not tell; and that language, "" where it does."""
    if spoken.refuses or any(claim.supporting for claim in claims):
        return spoken.refuses, ""
    language = unread(answer)
    return (None, language) if language else (False, "")


def is_bare(claim: str, query: str, mode: Mode) -> bool:
    """Whether a claim only answers its question, and says nothing without it: a phrase with no word of the question.

    >>> query = "Where was Ada born?"
    >>> is_bare("Paris", query, "words"), is_bare("Ada was born in Paris.", query, "words")
    (True, False)
    """
    own, asked = ({unit for unit in units_of(text, mode) if carries_content(unit, mode)} for text in (claim, query))
    return bool(asked) and is_short(claim) and own.isdisjoint(asked)


def _mended(
    sentence: str, own: Sequence[ClaimPart], evidence: PreparedPassages, tabled: Tabled, query: str
) -> list[TableVerdict]:
    """The verdict on each claim of a sentence; of a bare answer beside its question, which is "" for another."""

    def weighed_in(passages: PreparedPassages) -> list[Weighed]:
        verdicts = weighed(sentence, own, passages)
        return [with_question(verdict, f"{query} {sentence}", passages) for verdict in verdicts] if query else verdicts

    def others(numbers: AbstractSet[int], at: int) -> Weighed:
        return weighed_in(evidence.without(numbers))[at]

    numbered = enumerate(zip(own, weighed_in(evidence), strict=True))
    return [tabled.mend(part.text, words, partial(others, at=at)) for at, (part, words) in numbered]
