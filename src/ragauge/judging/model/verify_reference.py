"""verify_reference: which passages support each reference claim."""

from __future__ import annotations

from functools import partial

from ragauge.data.facts import ReferenceClaim, ReferenceFacts
from ragauge.judging.accepted import any_accepted
from ragauge.judging.inputs import VerifyReference
from ragauge.judging.judge import Asking
from ragauge.judging.model.asking import QuestionSpec
from ragauge.judging.model.passage_batches import packs
from ragauge.judging.model.support import Support, check

VERSION = 1


def verify_reference(inputs: VerifyReference, asked: QuestionSpec) -> Asking:
    """The same check as of answer claims. Without passages nothing supports them, and nothing is asked."""
    return (yield from any_accepted(partial(_verify, asked=asked), inputs))


def _verify(inputs: VerifyReference, asked: QuestionSpec) -> Asking:
    parts = packs(inputs.passages, asked.settings.pack)
    checked = yield from check(inputs.query, inputs.claims, parts, asked)
    pairs = enumerate(zip(inputs.claims, checked.supports, strict=True), 1)
    claims = tuple(ReferenceClaim(n, text, _supporting(found)) for n, (text, found) in pairs)
    return ReferenceFacts(claims, max(1, len(parts)))


def _supporting(found: list[Support | None]) -> tuple[int, ...] | None:
    """The passages of all packs; None where a pack gave no verdict and no other supports it."""
    passages = {int(place.partition(".")[0]) for one in found if one is not None for place in one.by}
    return None if None in found and not passages else tuple(sorted(passages))
