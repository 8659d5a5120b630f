"""Which answers of a run people are asked about, with the chance that each had of being drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from math import isfinite, sqrt
from typing import Literal, NamedTuple, get_args

from ragauge.core.errors import UnknownName, UsageError

Scheme = Literal["random", "verdict", "uncertain"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
HALF = 0.5
MIN_UNCERTAINTY_SIZE = 0.1  # of the most uncertain: what a sure answer counts, so that each can be drawn


class AnswerSample(NamedTuple):
    """Number of each answer that could have been drawn -> its chance; and those that were, in random order."""

    inclusion: Mapping[int, float]
    drawn: tuple[int, ...]


def sample_answers(
    names: Mapping[int, str], n: int, scheme: str = "random", scores: Mapping[int, float] | None = None
) -> AnswerSample:
    """Draws answers; the same names give the same draw, so that two runs on one set are labelled on the same examples.

    random     each of N answers has the chance n/N
    verdict    half of n from those that the judge scores below ½, half from the others; all of a group that is smaller
    uncertain  chance proportional to √(s(1 − s)) of the judge's score s, at least a fifth of the greatest; systematic
               sampling in random order, those that would exceed 1 drawn surely

    Args:
        names: number of each answer that may be drawn -> what tells it from others in any run, such as its query_id.
        n: how many; all where there are fewer.
        scheme: of SCHEMES.
        scores: number -> the judge's score in [0, 1]; one that is absent counts as ½.

    Raises:
        UnknownName: no such scheme.
        UsageError: n is less than 1, or there is nothing to draw.

    Source: Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 3.6 and 3.7.
    """
    if scheme not in SCHEMES:
        raise UnknownName("scheme of drawing", scheme, SCHEMES)
    if n < 1 or not names:
        raise UsageError(f"n must be at least 1 and there must be answers; got n={n} and {len(names)} answers.")
    order = shuffle_by_hash(names)
    if scheme == "random" or n >= len(order):
        sampled_ids = order[:n]
        return AnswerSample(dict.fromkeys(order, len(sampled_ids) / len(order)), tuple(sampled_ids))
    filled_scores = {number: s if isfinite(s := (scores or {}).get(number, HALF)) else HALF for number in order}
    return (
        _sample_by_verdict(order, n, filled_scores)
        if scheme == "verdict"
        else _sample_by_uncertainty(order, n, filled_scores)
    )


def shuffle_by_hash(names: Mapping[int, str]) -> list[int]:
    """The numbers in an order that has nothing to do with what is measured, always the same for the same names."""
    return sorted(names, key=lambda number: (_hash_name(names[number]), number))


def _hash_name(name: str) -> bytes:
    return hashlib.sha256(f"label draw\0{name}".encode("utf-8", "surrogatepass")).digest()


def _sample_by_verdict(order: Sequence[int], n: int, scores: Mapping[int, float]) -> AnswerSample:
    below = [number for number in order if scores[number] < HALF]
    above = [number for number in order if scores[number] >= HALF]
    few = min(len(below), len(above))
    n_smaller = min(few, n // 2)
    take = (n_smaller, n - n_smaller) if len(below) <= len(above) else (n - n_smaller, n_smaller)
    inclusion: dict[int, float] = {}
    selected: set[int] = set()
    for group, size in zip((below, above), take, strict=True):
        inclusion |= dict.fromkeys(group, size / len(group)) if size else {}
        selected.update(group[:size])
    return AnswerSample(inclusion, tuple(number for number in order if number in selected))


def _sample_by_uncertainty(order: Sequence[int], n: int, scores: Mapping[int, float]) -> AnswerSample:
    sizes = {number: max(MIN_UNCERTAINTY_SIZE, sqrt(max(0.0, s * (1 - s)))) for number, s in scores.items()}
    return sample_by_size(order, n, sizes, int.from_bytes(_hash_name("start")[:8], "big") / 2**64)


def sample_by_size(order: Sequence[int], n: int, sizes: Mapping[int, float], start: float) -> AnswerSample:
    """Draws in proportion to size, by systematic sampling; those whose chance would exceed 1 are drawn surely.

    Args:
        order: the numbers, in an order that has nothing to do with what is measured.
        n: how many, at most as many as there are.
        sizes: number -> size above 0.
        start: a random part in [0, 1).
    """
    sure: set[int] = set()
    while True:
        remaining, total = n - len(sure), sum(size for number, size in sizes.items() if number not in sure)
        over = {number for number, size in sizes.items() if number not in sure and remaining * size >= total}
        if not over:
            break
        sure |= over
    inclusion = {number: 1.0 if number in sure else remaining * sizes[number] / total for number in order}
    threshold, selected, reached = start, [], 0.0
    for number in order:  # one is drawn wherever the running sum of chances passes a whole number and a random part
        reached += inclusion[number]
        if reached > threshold:
            selected.append(number)
            threshold += 1
    return AnswerSample(inclusion, tuple(selected))
