"""verify_reference: which passages support each reference claim."""

from __future__ import annotations

from ragauge.data.facts import ReferenceClaim, ReferenceFacts
from ragauge.judging.inputs import VerifyReference
from ragauge.judging.judge import Asking
from ragauge.judging.local.kinds import DATE
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import Evidence, Weighed
from ragauge.judging.local.tabled import Tabled
from ragauge.text.specifics import find

VERSION = 1


def verify_reference(inputs: VerifyReference, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Each reference claim is weighed as an answer's claim is; it asks nothing.

    A date that a claim only repeats from the question ("bought in March 2024") need not stand in a passage: what does
    not support the whole claim, and does not contradict it, may support the claim without that date.
    """
    yield from ()
    evidence = Evidence(inputs.passages, inputs.claims)
    tabled = Tabled(inputs.query, inputs.passages)
    asked = {one.normal for one in find(inputs.query, DATE)}
    claims = []
    for n, text in enumerate(inputs.claims, 1):
        found, _ = tabled.mend(bare(text), _weighed(evidence, bare(text), asked))
        claims.append(ReferenceClaim(n, text, found.supporting, found.p))
    return ReferenceFacts(tuple(claims))


def _weighed(evidence: Evidence, claim: str, asked: set[str]) -> Weighed:
    found = evidence.weigh(claim)
    if found.supporting or not asked:
        return found
    rest = claim
    for one in reversed(find(claim, DATE)):
        if one.normal in asked:
            rest = f"{rest[: one.start].rstrip()} {rest[one.end :].lstrip()}"
    again = evidence.weigh(rest) if rest != claim else found
    supporting = tuple(n for n in again.supporting if n not in found.contradicting)
    return Weighed(again.p, supporting) if supporting and (not again.joint or supporting == again.supporting) else found
