"""verify_answer: the claims of an answer, their support, whether it addresses the question, whether it declines."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from itertools import chain

from ragauge.core.facts import AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import AskGenerator
from ragauge.judges.local.address import MAX_ANSWER_CHARS, judge_address
from ragauge.judges.local.index import Mode, detect_mode, has_content, split_units
from ragauge.judges.local.refusals import find_unread_language
from ragauge.judges.local.relevance import build_embed_ask, detect_language
from ragauge.judges.local.short_answers import is_short
from ragauge.judges.local.statements import ClaimPart, Statements, find_statements, split_claims, strip_marks
from ragauge.judges.local.support import PreparedPassages, SupportVerdict, weigh_parts, weigh_with_question
from ragauge.judges.local.table_support import PassageTables, TableVerdict
from ragauge.judges.similarity import compute_standard_table, find_scale
from ragauge.text.source_notes import number_marks

VERSION = 1


def verify_answer(inputs: VerifyAnswer, judge_repeat: int = 0) -> AskGenerator:
    """A claim is a clause of a sentence that states something; greetings, questions, pointers and refusals are none.

    Support is direct, but for amounts that follow from others by one operation: these are implied. With passages
    recorded but none there, every claim is unsupported; what only repeats the user's earlier turns is none, unless they
    support or contradict it. An answer that declines as a whole claims nothing. Whether
    one declines is not known where none of its claims is supported and its language has no wordings.
    """
    inputs = replace(inputs, answer=number_marks(inputs.answer, inputs.cited), cited=())
    spoken = find_statements(inputs.answer)
    cosine = None
    if spoken.claims and inputs.query.strip():
        (reply,) = yield [
            build_embed_ask("verify_answer", VERSION, (inputs.query, spoken.shown[:MAX_ANSWER_CHARS]), judge_repeat)
        ]
        ((cosine,),) = compute_standard_table(reply, 1, [find_scale(detect_language(inputs.query, spoken.shown))])
    mode = detect_mode((inputs.query, inputs.answer))
    addressed = judge_address(inputs.query, spoken, inputs.answer, cosine, mode)
    claim_parts = [split_claims(sentence) for sentence in spoken.claims]
    if inputs.passages is None:
        numbered = enumerate(chain.from_iterable(claim_parts), 1)
        unjudged_claims = [Claim(n, part.text, part.start, part.end, within=part.within) for n, part in numbered]
        refuse, language = _decide_refusal(inputs.answer, spoken, unjudged_claims)
        return AnswerFacts(
            tuple(unjudged_claims), addressed.label, refuse, support_asked=False, address_p=addressed.p, unread=language
        )
    sentences = [strip_marks(sentence.text) for sentence in spoken.claims]
    user_turns = [turn.text for turn in inputs.history if turn.role == "user"]
    evidence, tabled = (
        PreparedPassages(inputs.passages, sentences, user_turns=user_turns),
        PassageTables(inputs.query, inputs.passages),
    )
    query = inputs.query if len(sentences) == 1 and is_bare_answer(sentences[0], inputs.query, mode) else ""
    pairs = zip(sentences, claim_parts, strict=True)
    mended = [_weigh_sentence(sentence, own_parts, evidence, tabled, query) for sentence, own_parts in pairs]
    verdicts = zip(chain.from_iterable(claim_parts), chain.from_iterable(mended), strict=True)
    claim_verdicts = [
        (part, verdict)
        for (part, verdict), echoes in zip(verdicts, _find_echoes(sentences, claim_parts, user_turns), strict=True)
        if not echoes or verdict.support.supporting or verdict.support.contradicting
    ]
    claims = tuple(
        Claim(n, part.text, part.start, part.end, within=part.within, strength=strength, **verdict._asdict())
        for n, (part, (verdict, strength, _)) in enumerate(claim_verdicts, 1)
    )
    refuse, language = _decide_refusal(inputs.answer, spoken, claims)
    return AnswerFacts(claims, addressed.label, refuse, address_p=addressed.p, unread=language)


def _find_echoes(
    sentences: Sequence[str], claim_parts: Sequence[Sequence[ClaimPart]], user_turns: Sequence[str]
) -> list[bool]:
    """Whether each claim only repeats what the user said in an earlier turn; beside silent passages it is none then."""
    if not user_turns:
        return [False for own_parts in claim_parts for _ in own_parts]
    turns = PreparedPassages(user_turns, sentences)
    verdicts = (
        weigh_parts(sentence, own_parts, turns) for sentence, own_parts in zip(sentences, claim_parts, strict=True)
    )
    return [bool(verdict.supporting) for several in verdicts for verdict in several]


def _decide_refusal(answer: str, spoken: Statements, claims: Sequence[Claim]) -> tuple[bool | None, str]:
    """Whether an answer declines, None where its language does not tell; and that language, "" where it does."""
    if spoken.refuses or any(claim.supporting for claim in claims):
        return spoken.refuses, ""
    language = find_unread_language(answer)
    return (None, language) if language else (False, "")


def is_bare_answer(claim: str, query: str, mode: Mode) -> bool:
    """Whether a claim only answers its question, and says nothing without it: a phrase with no word of the question.

    >>> query = "Where was Ada born?"
    >>> is_bare_answer("Paris", query, "words"), is_bare_answer("Ada was born in Paris.", query, "words")
    (True, False)
    """
    claim_units, query_units = (
        {unit for unit in split_units(text, mode) if has_content(unit, mode)} for text in (claim, query)
    )
    return bool(query_units) and is_short(claim) and claim_units.isdisjoint(query_units)


def _weigh_sentence(
    sentence: str, own_parts: Sequence[ClaimPart], evidence: PreparedPassages, tabled: PassageTables, query: str
) -> list[TableVerdict]:
    """The verdict on each claim of a sentence; of a bare answer beside its question, which is "" for another."""

    def weigh_in(passages: PreparedPassages) -> list[SupportVerdict]:
        verdicts = weigh_parts(sentence, own_parts, passages)
        return (
            [weigh_with_question(verdict, f"{query} {sentence}", passages) for verdict in verdicts]
            if query
            else verdicts
        )

    def weigh_others(numbers: AbstractSet[int], at: int) -> SupportVerdict:
        return weigh_in(evidence.without(numbers))[at]

    numbered = enumerate(zip(own_parts, weigh_in(evidence), strict=True))
    return [tabled.apply_tables(part.text, words, partial(weigh_others, at=at)) for at, (part, words) in numbered]
