"""verify_reference: which passages support each reference claim."""

from __future__ import annotations

from typing import NamedTuple

from ragauge.data.facts import ReferenceClaim, ReferenceFacts
from ragauge.judging.inputs import VerifyReference
from ragauge.judging.judge import Asking
from ragauge.judging.local.evidence import on_topic, there
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.kinds import DATE
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import Evidence, Weighed
from ragauge.judging.local.tabled import UNMET, Tabled
from ragauge.text.specifics import find

VERSION = 2


def verify_reference(inputs: VerifyReference, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Each reference claim is weighed as an answer's claim is, and by whether the passages are on the topic.

    A date that a claim only repeats from the question ("bought in March 2024") need not stand in a passage: what does
    not support the whole claim, and does not contradict it, may support the claim without that date.
    """
    yield from ()
    topic = on_topic(inputs.query, inputs.passages, mode_of((inputs.query, *inputs.passages)))
    pairs = enumerate(zip(inputs.claims, stated(inputs), strict=True), 1)
    return ReferenceFacts(tuple(ReferenceClaim(n, text, one.supporting, one.there(topic)) for n, (text, one) in pairs))


class Stated(NamedTuple):
    """What the passages say of a reference claim.

    Attributes:
        p: probability that their words, or the cells of their tables, state it.
        supporting: the passages that do.
        otherwise: they speak of it and say something else: another thing in its place, or not its number where no
            table could imply it.
    """

    p: float
    supporting: tuple[int, ...]
    otherwise: bool

    def there(self, topic: float) -> float:
        """Probability that the evidence is there; `topic` as in `evidence.there`."""
        return self.p if self.otherwise else there(self.p, topic)


def stated(inputs: VerifyReference) -> list[Stated]:
    """What the passages say of each reference claim."""
    evidence = Evidence(inputs.passages, inputs.claims)
    tabled = Tabled(inputs.query, inputs.passages)
    asked = {one.normal for one in find(inputs.query, DATE)}
    return [_stated(_weighed(evidence, bare(text), asked), bare(text), tabled) for text in inputs.claims]


def _stated(words: Weighed, claim: str, tabled: Tabled) -> Stated:
    found, _ = tabled.mend(claim, words)
    lacking = found.window.missing if found.window is not None else ()
    numberless = any(any(map(str.isdigit, specific)) for specific in lacking) and not tabled.tables
    another = found.p <= UNMET and found.reason != words.reason     # the cell asked for holds another amount
    return Stated(found.p, found.supporting, bool(found.contradicting) or numberless or another)


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
