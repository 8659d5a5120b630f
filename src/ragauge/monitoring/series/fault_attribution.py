"""Which component an alert lies in: by the failures that came, and by what of them goes with less relevant passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

BINS = 5  # of the relevance of the first passage
CLEAR = 1.0  # standard errors by which failures must have grown to say where the fault lies
BEYOND = 3.0  # standard errors by which a metric must fall more than by the judge: alerts fire when it is lowest
UNCLEAR = "unclear"
INDEX = "data"  # the component of what the index holds, which retrieval finds


class Blame(NamedTuple):
    """Where an alert lies.

    Attributes:
        component: retrieval, generation, system, or judge, which changed itself; "" = that cannot be told.
        why: in words.
    """

    component: str = ""
    why: str = ""


UNTOLD = Blame()


class BlamedRequest(NamedTuple):
    """A request before or since.

    Attributes:
        weight: how many it stands for.
        x: of what is watched, in [0, 1], higher better.
        failed: component of its failure; unclear where that is not known, "" = it did not fail.
        relevance: of the first passage, in [0, 1]; None = none was found or rated.
    """

    weight: float
    x: float
    failed: str
    relevance: float | None


class JudgedAnew(NamedTuple):
    """How much of a change is the judge's.

    Attributes:
        change: of the mean of the requests.
        judge: of the mean of the frozen responses, which nothing but the judge can change.
        beyond: whether the requests fell further than the frozen responses, by more than three standard errors.
    """

    change: float
    judge: float
    beyond: bool


class Split(NamedTuple):
    """A change of a mean: what goes with less relevant passages, and what does not."""

    passages: float
    rest: float


def blamed(before: Sequence[BlamedRequest], now: Sequence[BlamedRequest]) -> Blame:
    """Where the fault lies of a metric that fell, of which retrieval and generation both decide.

    The component whose failures grew most, by more than a standard error. Failures that nobody can lay anywhere count
    for retrieval as far as they go with less relevant first passages, for generation as far as they do not; where no
    failures grew, the change of what is watched is split so.

    Args:
        before: scored requests of the baseline.
        now: those since it is worse.
    """
    if not before or not now or all(one.relevance is None for one in before):
        return UNTOLD
    grown = _growth(before, now)
    dark = split(
        *([(one.weight, float(one.failed == UNCLEAR), one.relevance) for one in side] for side in (before, now))
    )
    grown["retrieval"] += dark.passages
    grown["generation"] += dark.rest
    most = max(grown, key=lambda name: grown[name])
    if grown[most] > CLEAR * _error(before, now):
        told = ", ".join(f"{name} {_points(grown[name])}" for name in sorted(grown))
        return Blame(most, f"requests that failed, by component, in points of all requests: {told}")
    change = split(*([(one.weight, one.x, one.relevance) for one in side] for side in (before, now)))
    component = "retrieval" if change.passages < change.rest else "generation"
    told = f"{change.passages:+.2f} goes with less relevant passages, {change.rest:+.2f} does not"
    return Blame(component, f"no more requests failed; of the change {told}")


def judged_anew(
    before: Sequence[BlamedRequest], now: Sequence[BlamedRequest], frozen: Sequence[tuple[float, float]]
) -> JudgedAnew | None:
    """How much further the requests fell than frozen responses, which were judged before and after a judge changed.

    Args:
        before: scored requests of the baseline.
        now: those since it is worse.
        frozen: what is watched of each frozen response, by the former judge and by the new one; higher better.

    Returns:
        None for fewer than two requests of a side or two frozen responses.

    >>> sides = [[BlamedRequest(1.0, x, "", None)] * 99 + [BlamedRequest(1.0, 0.5, "", None)] for x in (0.9, 0.4)]
    >>> [judged_anew(*sides, [(0.9, x), (0.9, x)]).beyond for x in (0.4, 0.8)]
    [False, True]
    """
    moved = [new - old for old, new in frozen]
    if min(len(before), len(now), len(moved)) < 2:
        return None
    (old, old_error), (new, new_error) = (_mean([(one.weight, one.x) for one in side]) for side in (before, now))
    judge, error = _mean([(1.0, one) for one in moved])
    doubt = sqrt(error**2 + old_error**2 + new_error**2)
    return JudgedAnew(new - old, judge, new - old - judge < -BEYOND * doubt)


def _mean(side: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A weighted mean and its standard error."""
    total = sum(weight for weight, _ in side)
    mean = sum(weight * x for weight, x in side) / total
    spread = sum((weight * (x - mean)) ** 2 for weight, x in side)
    return mean, sqrt(spread * len(side) / (len(side) - 1)) / total


def split(
    before: Iterable[tuple[float, float, float | None]], now: Iterable[tuple[float, float, float | None]]
) -> Split:
    """Kitagawa's decomposition of the change of a mean over the relevance of the first passage, in fifths.

    Args:
        before: weight, value and relevance of each request.
        now: of those since.

    >>> poor, good = (1.0, 0.0, 0.1), (1.0, 1.0, 0.9)
    >>> split([good] * 3 + [poor], [good] + [poor] * 3)
    Split(passages=-0.5, rest=0.0)
    >>> split([good] * 4, [(1.0, 0.5, 0.9)] * 4)
    Split(passages=0.0, rest=-0.5)
    """
    sides = [_binned(before), _binned(now)]
    totals = [sum(weight for weight, _ in side.values()) for side in sides]
    passages = rest = 0.0
    for place in sorted(sides[0].keys() | sides[1].keys()):
        (old, old_sum), (new, new_sum) = (side.get(place, (0.0, 0.0)) for side in sides)
        means = old_sum / old if old else new_sum / new, new_sum / new if new else old_sum / old
        shares = old / totals[0], new / totals[1]
        passages += (shares[1] - shares[0]) * sum(means) / 2
        rest += sum(shares) * (means[1] - means[0]) / 2
    return Split(passages, rest)


def _binned(side: Iterable[tuple[float, float, float | None]]) -> dict[int, tuple[float, float]]:
    found: dict[int, tuple[float, float]] = {}
    for weight, value, relevance in side:
        place = -1 if relevance is None else min(BINS - 1, int(relevance * BINS))
        sums = found.get(place, (0.0, 0.0))
        found[place] = sums[0] + weight, sums[1] + weight * value
    return found


def _points(change: float) -> str:
    """A change of a share in percentage points: +86, −1, 0."""
    whole = round(100 * change)
    sign = "+" if whole > 0 else "\N{MINUS SIGN}" if whole < 0 else ""
    return f"{sign}{abs(whole)}"


def _growth(before: Sequence[BlamedRequest], now: Sequence[BlamedRequest]) -> dict[str, float]:
    """By how much the share of requests that failed grew, by component where it is known."""
    old, new = _shares(before), _shares(now)
    return {name: new[name] - old[name] for name in ("retrieval", "generation", "system")}


def _shares(side: Sequence[BlamedRequest]) -> defaultdict[str, float]:
    total, found = sum(one.weight for one in side), defaultdict[str, float](float)
    for one in side:
        if one.failed:
            found["retrieval" if one.failed == INDEX else one.failed] += one.weight / total
    return found


def _error(before: Sequence[BlamedRequest], now: Sequence[BlamedRequest]) -> float:
    """The standard error of the difference of the shares that failed."""
    shares = [(sum(bool(one.failed) for one in side) / len(side), len(side)) for side in (before, now)]
    return sqrt(sum(share * (1 - share) / n for share, n in shares))
