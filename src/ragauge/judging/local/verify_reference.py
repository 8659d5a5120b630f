"""verify_reference: which passages support each reference claim."""

from __future__ import annotations

from ragauge.data.facts import ReferenceClaim, ReferenceFacts
from ragauge.judging.inputs import VerifyReference
from ragauge.judging.judge import Asking
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import Evidence

VERSION = 1


def verify_reference(inputs: VerifyReference, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Each reference claim is weighed as an answer's claim is; it asks nothing."""
    yield from ()
    evidence = Evidence(inputs.passages, inputs.claims)
    claims = []
    for n, text in enumerate(inputs.claims, 1):
        found = evidence.weigh(bare(text))
        claims.append(ReferenceClaim(n, text, found.supporting, found.p))
    return ReferenceFacts(tuple(claims))
