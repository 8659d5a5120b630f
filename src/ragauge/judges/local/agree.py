"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragauge.core.facts import Agreement, AgreementFacts
from ragauge.judges.inputs import Agree
from ragauge.judges.judge import AskGenerator, build_full_agreement, find_trivial_agreement
from ragauge.judges.local import reference_match as stating
from ragauge.judges.local.checks import Wording
from ragauge.judges.local.index import detect_mode
from ragauge.judges.local.reference_match import AnswerClaims, StatedReference, has_other_answer
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.short_answers import is_short
from ragauge.judges.local.statements import find_statements, strip_marks
from ragauge.judges.local.support import PreparedPassages, SupportVerdict
from ragauge.text.patterns import is_no_answer
from ragauge.text.sentences import split_sentences
from ragauge.text.specifics import EXACT_KINDS, find_specifics

VERSION = 3
MAX_UNDECIDED_P = 0.45  # most that p may be where the rules for numbers leave it open
MAX_LONG_REFERENCES = 16  # other accepted answers that are no phrases and are looked at


class ComparedClaim(NamedTuple):
    """One answer claim beside the reference."""

    support: SupportVerdict  # its support by the reference claims and the longer accepted answers
    against: Sequence[bool]  # per reference claim, whether it is an altered copy of it
    states: float | None  # the probability of what it states; None where it states nothing
    copied: bool  # whether it stands in the reference word for word
    touches: bool  # whether it may be a form of a short reference
    denied: bool = False  # whether it begins with yes where the reference begins with no, or the other way round

    @property
    def verdict(self) -> Agreement:
        """What it is to the reference."""
        if self.denied:
            return "contradicts"
        able = any(passage > len(self.against) or not self.against[passage - 1] for passage in self.support.supporting)
        if self.copied or self.states is not None or able:
            return "agrees"
        return "contradicts" if any(self.against) else "absent"

    @property
    def p(self) -> float:
        """The probability that it agrees: at least 0.5 where it does, less where it does not."""
        if self.verdict == "contradicts":
            return stating.ALTERED_P
        if self.verdict == "agrees":
            return 1.0 if self.copied else max(stating.MIN_AGREE_P, self.states or 0.0, self.support.p)
        return stating.SHARED_P if self.touches else min(stating.MAX_ABSENT_P, self.support.p)


def agree(inputs: Agree, judge_repeat: int = 0) -> AskGenerator:  # noqa: ARG001 - every question has it
    """An answer claim agrees when a reference claim that it is no altered copy of supports it, or when it states one.

    Else it contradicts when it is a near-copy of one of them in which a number, a date, a name or a negation differs,
    or when it is the first and gives another name or number than a reference of few words, or begins with no where
    that begins with yes; it states none of what it contradicts. A claim that could not be had has no verdict, and a
    reference claim that no other claim states has none either.

    A reference of few words is stated where its parts are named; a list needs all of them. Stating another accepted
    answer is as good as stating the main one. What the reference repeats of the question need not be repeated. An
    answer that is an accepted one agrees throughout, and so does what stands in it word for word, with probability 1.
    """
    yield from ()
    equal = find_trivial_agreement(inputs)
    if equal is None and find_statements(inputs.answer).refuses:
        references = [text for text in (inputs.reference, *inputs.accepted) if text] or inputs.reference_claims
        decline = all(is_no_answer(text) or (is_refusal(text) and find_statements(text).refuses) for text in references)
        equal = build_full_agreement(inputs) if references and decline else None
    if equal is not None:
        return equal
    theirs = [strip_marks(text) for text in inputs.reference_claims]
    others = [strip_marks(text) for text in inputs.accepted]
    claim_texts = [None if text is None else strip_marks(text) for text in inputs.answer_claims]
    claims = [text for text in claim_texts if text is not None]
    mode = detect_mode((*claims, *theirs))
    answer = AnswerClaims(claims, (*theirs, *others), inputs.query, inputs.answer, mode)
    wording = Wording(claims)
    stated = [
        StatedReference(1.0, match.by if match else frozenset())
        if not is_short(text) and wording.has_statement(text)
        else match
        for text, match in zip(theirs, _find_statements(answer, theirs, others), strict=True)
    ]
    has_missing = len(claims) < len(claim_texts)
    denied = all(map(answer.is_denied, [inputs.reference or " ".join(theirs), *others]))
    if denied:
        stated = [None if statement is not None and statement.by <= {1} else statement for statement in stated]
    compared = iter(_compare_claims(inputs, answer, stated, theirs, others))
    pairs = [None if text is None else next(compared) for text in claim_texts]
    phrases = [text for text in others if is_short(text)] if len(theirs) == 1 else []
    return AgreementFacts(
        tuple(None if compared is None else compared.verdict for compared in pairs),
        tuple(True if statement is not None else None if has_missing else False for statement in stated),
        tuple(None if compared is None else compared.p for compared in pairs),
        tuple(
            statement.p if statement is not None else None if has_missing else answer.compute_chance(text, phrases)
            for text, statement in zip(theirs, stated, strict=True)
        ),
    )


def _compare_claims(
    inputs: Agree,
    answer: AnswerClaims,
    stated: Sequence[StatedReference | None],
    theirs: Sequence[str],
    others: Sequence[str],
) -> list[ComparedClaim]:
    """Every answer claim beside the reference."""
    claims = answer.claims
    against = [[answer.is_altered(n, text) for text in theirs] for n in range(1, len(claims) + 1)]
    if list(stated) == [None] and claims and is_short(theirs[0]):
        against[0][0] = against[0][0] or has_other_answer(answer.said[0], [theirs[0], *others], inputs.query)
    reference = PreparedPassages(
        [*theirs, *[text for text in others if not is_short(text)][:MAX_LONG_REFERENCES]], claims, answer.mode
    )
    wording = Wording([text for text in (*theirs, strip_marks(inputs.reference)) if not is_short(text)])
    short = len(theirs) == 1 and stated[0] is None and is_short(theirs[0])
    by_rule = short and bool(
        find_specifics(theirs[0], EXACT_KINDS)
    )  # not by the words that are shared with a short reference

    def weigh_text(text: str) -> SupportVerdict:
        verdict = reference.weigh_claim(text)
        return verdict._replace(p=min(verdict.p, MAX_UNDECIDED_P), supporting=()) if by_rule else verdict

    return [
        ComparedClaim(
            weigh_text(text),
            against[n - 1],
            max((statement.p for statement in stated if statement is not None and n in statement.by), default=None),
            wording.has_statement(text),
            short and answer.can_name(n - 1, theirs[0]),
            n == 1 and all(map(answer.is_denied, [inputs.reference or " ".join(theirs), *others])),
        )
        for n, text in enumerate(claims, 1)
    ]


def _find_statements(
    answer: AnswerClaims, theirs: Sequence[str], others: Sequence[str]
) -> list[StatedReference | None]:
    """Per reference claim how the answer states it; all are stated where the whole of another accepted answer is."""
    phrases = [text for text in others if is_short(text)]
    statements = [answer.find_statement(text, phrases if len(theirs) == 1 else ()) for text in theirs]
    if None not in statements:
        return statements
    wholes = [text for text in others if len(theirs) > 1 or not is_short(text)][:MAX_LONG_REFERENCES]
    whole_statement = next(filter(None, (_find_whole_statement(answer, text) for text in wholes)), None)
    return (
        statements
        if whole_statement is None
        else [whole_statement if statement is None else statement for statement in statements]
    )


def _find_whole_statement(answer: AnswerClaims, accepted: str) -> StatedReference | None:
    """Whether the answer states every sentence of an accepted answer."""
    by: frozenset[int] = frozenset()
    p = stating.WHOLE_P
    for sentence in split_sentences(accepted):
        stated = answer.find_statement(strip_marks(sentence.text))
        if stated is None:
            return None
        by |= stated.by
        p = min(p, stated.p)
    return StatedReference(p, by)
