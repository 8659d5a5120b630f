"""The verdicts on the claims that one sentence makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from ragauge.judging.local.overlap import FEATURES
from ragauge.judging.local.statements import ClaimPart
from ragauge.judging.local.support import PreparedPassages, Weighed
from ragauge.judging.local.weights import scorer

LEAST = 1e-4     # a probability is kept so far from 0 and 1 before its odds are taken


def weighed(sentence: str, parts: Sequence[ClaimPart], evidence: PreparedPassages) -> list[Weighed]:
    """The verdict on each part of a sentence, in order.

    The log odds of a part that was cut out are the mean of those of its own words and of the whole sentence. On
    claims that people labelled that was as good as the whole alone and a little better than the part alone, with or
    without its subject restored; a subject stands in the passages anyhow and raises what is said of it.

    A near-copy is told by the whole too: where that is contradicted and no part is, the part that the passages hold
    least of is the one that differs.

    Args:
        sentence: without marks.
        parts: its claims, at least one.
        evidence: the passages.
    """
    whole = evidence.weigh(sentence)
    if len(parts) < 2 or not evidence.passages:
        return [whole] * len(parts)
    alone = [evidence.weigh(part.own or part.text) for part in parts]
    if _opposed(whole) and not any(map(_opposed, alone)):
        least = min(range(len(alone)), key=lambda k: alone[k].p)
        alone[least] = whole
    threshold = scorer(f"overlap_{evidence.modes[0]}", FEATURES).threshold
    return [_between(one, whole, threshold) for one in alone]


def _opposed(found: Weighed) -> bool:
    return bool(found.contradicting) and not found.supporting


def _between(own: Weighed, whole: Weighed, threshold: float) -> Weighed:
    """The verdict on a part by its own words and by those of its sentence."""
    if _opposed(own) or _opposed(whole):
        return own
    p = round(1 / (1 + exp(-(_odds(own.p) + _odds(whole.p)) / 2)), 6)
    if p < threshold:
        return replace(own, p=p, supporting=(), joint=False)
    if own.supporting:
        return replace(own, p=p)
    return replace(own, p=p, supporting=whole.supporting, joint=whole.joint)


def _odds(p: float) -> float:
    p = min(max(p, LEAST), 1 - LEAST)
    return log(p / (1 - p))
