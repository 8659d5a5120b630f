"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.data.facts import Agreement, AgreementFacts
from ragauge.judging.inputs import Agree
from ragauge.judging.judge import Asking
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.rivals import names_another
from ragauge.judging.local.short_answers import is_short
from ragauge.judging.local.statements import bare
from ragauge.judging.local.stating import Answer, Stated
from ragauge.judging.local.support import Evidence, Weighed
from ragauge.text.sentences import split

VERSION = 1
MOST_LONG = 16     # other accepted answers that are no phrases and are looked at


def agree(inputs: Agree, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """An answer claim agrees when a reference claim that it is no altered copy of supports it, or when it states one.

    Else it contradicts when it is a near-copy of one of them in which a number, a date, a name or a negation differs,
    or when it is the first and gives another name or number than a reference of few words; it states none of what it
    contradicts. A claim that could not be had has no verdict, and a reference claim that no
    other claim states has none either.

    A reference of few words is stated where its parts are named; a list needs all of them. Stating another accepted
    answer is as good as stating the main one. What the reference repeats of the question need not be repeated.
    """
    yield from ()
    theirs = [bare(text) for text in inputs.reference_claims]
    others = [bare(text) for text in inputs.accepted]
    known = [None if text is None else bare(text) for text in inputs.answer_claims]
    mine = [text for text in known if text is not None]
    mode = mode_of((*mine, *theirs))
    answer = Answer(mine, (*theirs, *others), inputs.query, bare(inputs.answer), mode)
    stated = _stated(answer, theirs, others)
    states = frozenset[int]().union(*(found.by for found in stated if found is not None))
    against = [[answer.alters(n, text) for text in theirs] for n in range(1, len(mine) + 1)]
    if stated == [None] and mine and is_short(theirs[0]):
        against[0][0] = against[0][0] or names_another(answer.said[0], [theirs[0], *others], inputs.query)
    reference = Evidence([*theirs, *[text for text in others if not is_short(text)][:MOST_LONG]], mine, mode)
    verdicts: list[Agreement | None] = []
    n = 0
    for text in known:
        if text is None:
            verdicts.append(None)
            continue
        n += 1
        verdicts.append(_verdict(reference.weigh(text), against[n - 1], states=n in states))
    lost = len(mine) < len(known)
    return AgreementFacts(
        tuple(verdicts), tuple(True if found is not None else None if lost else False for found in stated)
    )


def _stated(answer: Answer, theirs: Sequence[str], others: Sequence[str]) -> list[Stated | None]:
    """Per reference claim how the answer states it; all are stated where the whole of another accepted answer is."""
    phrases = [text for text in others if is_short(text)]
    found = [answer.states(text, phrases if len(theirs) == 1 else ()) for text in theirs]
    if None not in found:
        return found
    whole = next(filter(None, (_whole(answer, text) for text in _wholes(theirs, others))), None)
    return found if whole is None else [whole if one is None else one for one in found]


def _wholes(theirs: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    return [text for text in others if len(theirs) > 1 or not is_short(text)][:MOST_LONG]


def _whole(answer: Answer, accepted: str) -> Stated | None:
    """Whether the answer states every sentence of an accepted answer."""
    by: frozenset[int] = frozenset()
    for sentence in split(accepted):
        found = answer.states(bare(sentence.text))
        if found is None:
            return None
        by |= found.by
    return Stated(by)


def _verdict(found: Weighed, against: Sequence[bool], *, states: bool) -> Agreement:
    if states or any(place > len(against) or not against[place - 1] for place in found.supporting):
        return "agrees"
    return "contradicts" if any(against) else "absent"
