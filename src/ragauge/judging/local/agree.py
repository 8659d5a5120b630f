"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.data.facts import Agreement, AgreementFacts
from ragauge.judging.inputs import Agree
from ragauge.judging.judge import Asking
from ragauge.judging.local.contrast import contrast
from ragauge.judging.local.index import Mode, mode_of
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import Evidence

VERSION = 1


def agree(inputs: Agree, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """An answer claim agrees when the reference claims support it, or when it states one of them.

    It contradicts when it is a near-copy of one of them in which a number, a date, a name or a negation differs. A
    claim that could not be had has no verdict; then a reference claim that no other claim states has none either.
    """
    yield from ()
    theirs = [bare(text) for text in inputs.reference_claims]
    known = [None if text is None else bare(text) for text in inputs.answer_claims]
    mine = [text for text in known if text is not None]
    mode = mode_of((*mine, *theirs))
    answer, reference = Evidence(theirs, mine, mode), Evidence(mine, theirs, mode)
    stated = [reference.weigh(text) for text in theirs]
    states = {n for found in stated if not found.joint for n in found.supporting}
    verdicts: list[Agreement | None] = []
    n = 0
    for text in known:
        if text is None:
            verdicts.append(None)
            continue
        n += 1
        verdicts.append(_verdict(text, theirs, mode, answer, states=n in states))
    unknown = len(mine) < len(known)
    given = tuple(True if found.supporting else None if unknown else False for found in stated)
    return AgreementFacts(tuple(verdicts), given)


def _verdict(claim: str, reference: Sequence[str], mode: Mode, evidence: Evidence, *, states: bool) -> Agreement:
    if any(contrast(claim, text, mode) for text in reference):
        return "contradicts"
    found = evidence.weigh(claim)
    if found.contradicting and not found.supporting:
        return "contradicts"
    return "agrees" if found.supporting or states else "absent"
