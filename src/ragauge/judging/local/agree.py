"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.data.facts import Agreement, AgreementFacts
from ragauge.judging.inputs import Agree
from ragauge.judging.judge import Asking
from ragauge.judging.local.contrast import contrast
from ragauge.judging.local.index import Mode, mode_of
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import Evidence, Weighed

VERSION = 1


def agree(inputs: Agree, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """An answer claim agrees when a reference claim that it is no altered copy of supports it, or when it states one.

    Else it contradicts when it is a near-copy of one of them in which a number, a date, a name or a negation differs;
    it states none of what it contradicts. A claim that could not be had has no verdict, and a reference claim that no
    other claim states has none either.
    """
    yield from ()
    theirs = [bare(text) for text in inputs.reference_claims]
    known = [None if text is None else bare(text) for text in inputs.answer_claims]
    mine = [text for text in known if text is not None]
    mode = mode_of((*mine, *theirs))
    against = [[bool(contrast(claim, text, mode)) for text in theirs] for claim in mine]
    stated, alone = _stated(mine, theirs, mode, against)
    reference = Evidence(theirs, mine, mode)
    verdicts: list[Agreement | None] = []
    n = 0
    for text in known:
        if text is None:
            verdicts.append(None)
            continue
        n += 1
        verdicts.append(_verdict(reference.weigh(text), against[n - 1], states=n in alone))
    unknown = len(mine) < len(known)
    return AgreementFacts(tuple(verdicts), tuple(True if yes else None if unknown else False for yes in stated))


def _stated(
    mine: Sequence[str], theirs: Sequence[str], mode: Mode, against: Sequence[Sequence[bool]]
) -> tuple[list[bool], set[int]]:
    """Which reference claims the answer states, and the numbers of the answer claims that state one by themselves."""
    answer = Evidence(mine, theirs, mode)
    stated, alone = [], set()
    for place, text in enumerate(theirs):
        found = answer.weigh(text)
        by = {n for n in found.supporting if not against[n - 1][place]}
        if not found.joint:
            alone |= by
        stated.append(bool(by) and (not found.joint or len(by) == len(found.supporting)))
    return stated, alone


def _verdict(found: Weighed, against: Sequence[bool], *, states: bool) -> Agreement:
    if states or any(not against[place - 1] for place in found.supporting):
        return "agrees"
    return "contradicts" if any(against) else "absent"
