"""verify_reference: which passages support each reference claim."""

from __future__ import annotations

from ragauge.data.facts import ReferenceClaim, ReferenceFacts
from ragauge.judging.inputs import VerifyReference
from ragauge.judging.judge import Asking
from ragauge.judging.local.evidence import on_topic, there
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.kinds import DATE
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import Evidence, Weighed
from ragauge.text.specifics import find

VERSION = 2


def verify_reference(inputs: VerifyReference, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Each reference claim is weighed as an answer's claim is, and by whether the passages are on the topic.

    A date that a claim only repeats from the question ("bought in March 2024") need not stand in a passage: what does
    not support the whole claim, and does not contradict it, may support the claim without that date.
    """
    yield from ()
    topic = on_topic(inputs.query, inputs.passages, mode_of((inputs.query, *inputs.passages)))
    found = zip(inputs.claims, stated(inputs), strict=True)
    return ReferenceFacts(tuple(_claim(n, text, weighed, topic) for n, (text, weighed) in enumerate(found, 1)))


def stated(inputs: VerifyReference) -> list[Weighed]:
    """What the words of the passages say of each reference claim."""
    evidence = Evidence(inputs.passages, inputs.claims)
    asked = {one.normal for one in find(inputs.query, DATE)}
    return [_weighed(evidence, bare(text), asked) for text in inputs.claims]


def _claim(n: int, text: str, found: Weighed, topic: float) -> ReferenceClaim:
    """Passages by the words alone; the probability by words and topic together.

    A passage that says otherwise, or that lacks a number of the claim, is on the topic and no evidence.
    """
    lacking = found.window.missing if found.window is not None else ()
    otherwise = found.contradicting or any(any(map(str.isdigit, specific)) for specific in lacking)
    return ReferenceClaim(n, text, found.supporting, found.p if otherwise else there(found.p, topic))


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
