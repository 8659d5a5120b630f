"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragauge.core.facts import Agreement, AgreementFacts
from ragauge.judges.inputs import Agree
from ragauge.judges.judge import Asking, settled, sure
from ragauge.judges.local import reference_match as stating
from ragauge.judges.local.checks import Wording
from ragauge.judges.local.index import mode_of
from ragauge.judges.local.reference_match import Answer, Stated, names_another
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.short_answers import is_short
from ragauge.judges.local.statements import bare, statements
from ragauge.judges.local.support import PreparedPassages, Weighed
from ragauge.text.patterns import declines
from ragauge.text.sentences import split
from ragauge.text.specifics import EXACT, find

VERSION = 3
UNDECIDED = 0.45  # most that p may be where the rules for numbers leave it open
MOST_LONG = 16  # other accepted answers that are no phrases and are looked at


class ComparedClaim(NamedTuple):
    """One answer claim beside the reference."""

    found: Weighed  # its support by the reference claims and the longer accepted answers
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
        able = any(passage > len(self.against) or not self.against[passage - 1] for passage in self.found.supporting)
        if self.copied or self.states is not None or able:
            return "agrees"
        return "contradicts" if any(self.against) else "absent"

    @property
    def p(self) -> float:
        """The probability that it agrees: at least 0.5 where it does, less where it does not."""
        if self.verdict == "contradicts":
            return stating.ALTERED
        if self.verdict == "agrees":
            return 1.0 if self.copied else max(stating.LEAST, self.states or 0.0, self.found.p)
        return stating.SHARED if self.touches else min(stating.MOST, self.found.p)


def agree(inputs: Agree, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
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
    equal = settled(inputs)
    if equal is None and statements(inputs.answer).refuses:
        references = [text for text in (inputs.reference, *inputs.accepted) if text] or inputs.reference_claims
        decline = all(declines(text) or (is_refusal(text) and statements(text).refuses) for text in references)
        equal = sure(inputs) if references and decline else None
    if equal is not None:
        return equal
    theirs = [bare(text) for text in inputs.reference_claims]
    others = [bare(text) for text in inputs.accepted]
    known = [None if text is None else bare(text) for text in inputs.answer_claims]
    mine = [text for text in known if text is not None]
    mode = mode_of((*mine, *theirs))
    answer = Answer(mine, (*theirs, *others), inputs.query, inputs.answer, mode)
    wording = Wording(mine)
    stated = [
        Stated(1.0, match.by if match else frozenset()) if not is_short(text) and wording.has(text) else match
        for text, match in zip(theirs, _stated(answer, theirs, others), strict=True)
    ]
    lost = len(mine) < len(known)
    denied = all(map(answer.denies, [inputs.reference or " ".join(theirs), *others]))
    if denied:
        stated = [None if statement is not None and statement.by <= {1} else statement for statement in stated]
    compared = iter(_compared(inputs, answer, stated, theirs, others))
    pairs = [None if text is None else next(compared) for text in known]
    phrases = [text for text in others if is_short(text)] if len(theirs) == 1 else []
    return AgreementFacts(
        tuple(None if compared is None else compared.verdict for compared in pairs),
        tuple(True if statement is not None else None if lost else False for statement in stated),
        tuple(None if compared is None else compared.p for compared in pairs),
        tuple(
            statement.p if statement is not None else None if lost else answer.chance(text, phrases)
            for text, statement in zip(theirs, stated, strict=True)
        ),
    )


def _compared(
    inputs: Agree, answer: Answer, stated: Sequence[Stated | None], theirs: Sequence[str], others: Sequence[str]
) -> list[ComparedClaim]:
    """Every answer claim beside the reference."""
    mine = answer.claims
    against = [[answer.alters(n, text) for text in theirs] for n in range(1, len(mine) + 1)]
    if list(stated) == [None] and mine and is_short(theirs[0]):
        against[0][0] = against[0][0] or names_another(answer.said[0], [theirs[0], *others], inputs.query)
    reference = PreparedPassages(
        [*theirs, *[text for text in others if not is_short(text)][:MOST_LONG]], mine, answer.mode
    )
    wording = Wording([text for text in (*theirs, bare(inputs.reference)) if not is_short(text)])
    short = len(theirs) == 1 and stated[0] is None and is_short(theirs[0])
    by_rule = short and bool(find(theirs[0], EXACT))  # not by the words that are shared with a short reference

    def weigh(text: str) -> Weighed:
        found = reference.weigh(text)
        return found._replace(p=min(found.p, UNDECIDED), supporting=()) if by_rule else found

    return [
        ComparedClaim(
            weigh(text),
            against[n - 1],
            max((statement.p for statement in stated if statement is not None and n in statement.by), default=None),
            wording.has(text),
            short and answer.touches(n - 1, theirs[0]),
            n == 1 and all(map(answer.denies, [inputs.reference or " ".join(theirs), *others])),
        )
        for n, text in enumerate(mine, 1)
    ]


def _stated(answer: Answer, theirs: Sequence[str], others: Sequence[str]) -> list[Stated | None]:
    """Per reference claim how the answer states it; all are stated where the whole of another accepted answer is."""
    phrases = [text for text in others if is_short(text)]
    statements = [answer.states(text, phrases if len(theirs) == 1 else ()) for text in theirs]
    if None not in statements:
        return statements
    wholes = [text for text in others if len(theirs) > 1 or not is_short(text)][:MOST_LONG]
    whole = next(filter(None, (_whole(answer, text) for text in wholes)), None)
    return statements if whole is None else [whole if statement is None else statement for statement in statements]


def _whole(answer: Answer, accepted: str) -> Stated | None:
    """Whether the answer states every sentence of an accepted answer."""
    by: frozenset[int] = frozenset()
    p = stating.WHOLE
    for sentence in split(accepted):
        stated = answer.states(bare(sentence.text))
        if stated is None:
            return None
        by |= stated.by
        p = min(p, stated.p)
    return Stated(p, by)
