"""Which component an alert lies in: by the failures that came, and by what of them goes with less relevant passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

N_BINS = 5  # of the relevance of the first passage
MIN_GROWTH_ERRORS = 1.0  # standard errors by which failures must have grown to say where the fault lies
MIN_FALL_ERRORS = (
    3.0  # standard errors by which a metric must fall more than by the judge: alerts fire when it is lowest
)
UNCLEAR = "unclear"
INDEX = "data"  # the component of what the index holds, which retrieval finds


class Blame(NamedTuple):
    """Where an alert lies."""

    component: str = ""  #: retrieval, generation, system, or judge, which changed itself; "" = that cannot be told.
    why: str = ""  #: in words.


NO_BLAME = Blame()


class BlamedRequest(NamedTuple):
    """A request before or since."""

    weight: float  #: how many it stands for.
    x: float  #: of what is watched, in [0, 1], higher better.
    failed: str  #: component of its failure; unclear where that is not known, "" = it did not fail.
    relevance: float | None  #: of the first passage, in [0, 1]; None = none was found or rated.


class RejudgedChange(NamedTuple):
    """How much of a change is the judge's."""

    change: float  #: of the mean of the requests.
    judge: float  #: of the mean of the frozen responses, which nothing but the judge can change.
    beyond: bool  #: whether the requests fell further than the frozen responses, by more than three standard errors.


class Split(NamedTuple):
    """A change of a mean: what goes with less relevant passages, and what does not."""

    passages: float
    rest: float


def assign_blame(previous: Sequence[BlamedRequest], current: Sequence[BlamedRequest]) -> Blame:
    """Where the fault lies of a metric that fell, of which retrieval and generation both decide.

    The component whose failures grew most, by more than a standard error. Failures that nobody can lay anywhere count
    for retrieval as far as they go with less relevant first passages, for generation as far as they do not; where no
    failures grew, the change of what is watched is split so.

    Args:
        previous: scored requests of the baseline.
        current: those since it is worse.
    """
    if not previous or not current or all(request.relevance is None for request in previous):
        return NO_BLAME
    grown = _compute_growth(previous, current)
    dark = split_change(
        *(
            [(request.weight, float(request.failed == UNCLEAR), request.relevance) for request in requests]
            for requests in (previous, current)
        )
    )
    grown["retrieval"] += dark.passages
    grown["generation"] += dark.rest
    worst = max(grown, key=lambda name: grown[name])
    if grown[worst] > MIN_GROWTH_ERRORS * _compute_error(previous, current):
        detail = ", ".join(f"{name} {_format_points(grown[name])}" for name in sorted(grown))
        return Blame(worst, f"change in failed requests by component, in percentage points: {detail}")
    change = split_change(
        *([(request.weight, request.x, request.relevance) for request in requests] for requests in (previous, current))
    )
    component = "retrieval" if change.passages < change.rest else "generation"
    detail = f"{change.passages:+.2f} comes with less relevant passages and {change.rest:+.2f} does not"
    return Blame(component, f"failures did not increase; of the change, {detail}")


def compare_rejudged(
    previous: Sequence[BlamedRequest], current: Sequence[BlamedRequest], frozen: Sequence[tuple[float, float]]
) -> RejudgedChange | None:
    """How much further the requests fell than frozen responses, which were judged before and after a judge changed.

    Args:
        previous: scored requests of the baseline.
        current: those since it is worse.
        frozen: what is watched of each frozen response, by the former judge and by the new one; higher better.

    Returns:
        None for fewer than two requests of a side or two frozen responses.

    >>> sides = [[BlamedRequest(1.0, x, "", None)] * 99 + [BlamedRequest(1.0, 0.5, "", None)] for x in (0.9, 0.4)]
    >>> [compare_rejudged(*sides, [(0.9, x), (0.9, x)]).beyond for x in (0.4, 0.8)]
    [False, True]
    """
    moved = [new - old for old, new in frozen]
    if min(len(previous), len(current), len(moved)) < 2:
        return None
    (old, old_error), (new, new_error) = (
        _compute_mean([(item.weight, item.x) for item in requests]) for requests in (previous, current)
    )
    judge, error = _compute_mean([(1.0, item) for item in moved])
    doubt = sqrt(error**2 + old_error**2 + new_error**2)
    return RejudgedChange(new - old, judge, new - old - judge < -MIN_FALL_ERRORS * doubt)


def _compute_mean(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A weighted mean and its standard error."""
    total = sum(weight for weight, _ in values)
    mean = sum(weight * x for weight, x in values) / total
    spread = sum((weight * (x - mean)) ** 2 for weight, x in values)
    return mean, sqrt(spread * len(values) / (len(values) - 1)) / total


def split_change(
    previous: Iterable[tuple[float, float, float | None]], current: Iterable[tuple[float, float, float | None]]
) -> Split:
    """Kitagawa's decomposition of the change of a mean over the relevance of the first passage, in fifths.

    Args:
        previous: weight, value and relevance of each request.
        current: of those since.

    >>> poor, good = (1.0, 0.0, 0.1), (1.0, 1.0, 0.9)
    >>> split_change([good] * 3 + [poor], [good] + [poor] * 3)
    Split(passages=-0.5, rest=0.0)
    >>> split_change([good] * 4, [(1.0, 0.5, 0.9)] * 4)
    Split(passages=0.0, rest=-0.5)
    """
    sides = [_bin_requests(previous), _bin_requests(current)]
    totals = [sum(weight for weight, _ in side.values()) for side in sides]
    passages = remainder = 0.0
    for bin_index in sorted(sides[0].keys() | sides[1].keys()):
        (old, old_sum), (new, new_sum) = (side.get(bin_index, (0.0, 0.0)) for side in sides)
        means = old_sum / old if old else new_sum / new, new_sum / new if new else old_sum / old
        shares = old / totals[0], new / totals[1]
        passages += (shares[1] - shares[0]) * sum(means) / 2
        remainder += sum(shares) * (means[1] - means[0]) / 2
    return Split(passages, remainder)


def _bin_requests(requests: Iterable[tuple[float, float, float | None]]) -> dict[int, tuple[float, float]]:
    bins: dict[int, tuple[float, float]] = {}
    for weight, value, relevance in requests:
        bin_index = -1 if relevance is None else min(N_BINS - 1, int(relevance * N_BINS))
        sums = bins.get(bin_index, (0.0, 0.0))
        bins[bin_index] = sums[0] + weight, sums[1] + weight * value
    return bins


def _format_points(change: float) -> str:
    """A change of a share in percentage points: +86, −1, 0."""
    rounded = round(100 * change)
    sign = "+" if rounded > 0 else "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded)}"


def _compute_growth(previous: Sequence[BlamedRequest], current: Sequence[BlamedRequest]) -> dict[str, float]:
    """By how much the share of requests that failed grew, by component where it is known."""
    old, new = _compute_failed_shares(previous), _compute_failed_shares(current)
    return {name: new[name] - old[name] for name in ("retrieval", "generation", "system")}


def _compute_failed_shares(requests: Sequence[BlamedRequest]) -> defaultdict[str, float]:
    total, shares = sum(request.weight for request in requests), defaultdict[str, float](float)
    for request in requests:
        if request.failed:
            shares["retrieval" if request.failed == INDEX else request.failed] += request.weight / total
    return shares


def _compute_error(previous: Sequence[BlamedRequest], current: Sequence[BlamedRequest]) -> float:
    """The standard error of the difference of the shares that failed."""
    shares = [
        (sum(bool(request.failed) for request in requests) / len(requests), len(requests))
        for requests in (previous, current)
    ]
    return sqrt(sum(share * (1 - share) / n for share, n in shares))
