"""A reference of one claim is supported where any answer that is accepted in its place is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ragauge.data.facts import ReferenceClaim, ReferenceFacts
from ragauge.judging.inputs import VerifyReference
from ragauge.judging.judge import Asking


def any_accepted(verify: Callable[[VerifyReference], Asking], inputs: VerifyReference) -> Asking:
    """The verdict on the claims; where other answers are accepted, that on the one claim is the best of all.

    Args:
        verify: asks about claims that stand side by side.
        inputs: one claim where it has other accepted answers.
    """
    if not inputs.accepted:
        return (yield from verify(inputs))
    side_by_side = replace(inputs, claims=(*inputs.claims, *inputs.accepted), accepted=())
    found = yield from verify(side_by_side)
    if not isinstance(found, ReferenceFacts):
        return found
    best = max(found.claims, key=_sure)
    return replace(found, claims=(replace(best, n=1, text=inputs.claims[0]),))


def _sure(claim: ReferenceClaim) -> tuple[bool, bool, float]:
    """Supported first, then not known, and by probability."""
    return bool(claim.supporting), claim.supporting is None, claim.chance
