"""A sample of examples, stratum by stratum, that weighs as the whole does."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ragauge.core.errors import UsageError
from ragauge.scores.label_sample import sample_by_size

Name = TypeVar("Name", bound=Hashable)


class StratumSample(NamedTuple):
    """One stratum: how many examples it has, what they weigh together, how many were drawn."""

    examples: int
    weight: float
    drawn: int


@dataclass(frozen=True)
class StratifiedSample:
    """What was drawn."""

    #: name of each example drawn -> how much of its stratum's weight it stands for, above 0.
    weights: Mapping[str, float]
    strata: Mapping[str, StratumSample]  #: name -> what it has and gave, also where it gave nothing.


def sample_strata(strata: Mapping[str, Mapping[str, float]], n: int, seed: int = 7) -> StratifiedSample:
    """Draws from each stratum in proportion to its weight, so that plain means of the sample estimate weighted means.

    A stratum of weight W gets nW/ΣW of the n places, by largest remainders, and no more than it has examples. Within
    it an example of weight w is drawn with chance π = kw/W of k places, by systematic sampling in random order, and
    stands for w/π. One that would exceed 1 is drawn surely. A stratum too light for one place gives nothing.

    Args:
        strata: stratum -> example -> weight, above 0. Equal names and seeds are drawn alike from any whole.
        n: how many; all where there are fewer.
        seed: of the order.

    Raises:
        UsageError: n is less than 1, or there is nothing to draw.

    Source: Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 3.6 and 3.7.

    >>> sample_strata({"a": {"q1": 1.0, "q2": 1.0, "q3": 1.0, "q4": 1.0}, "b": {"q5": 1.0, "q6": 1.0}}, 3).strata["b"]
    StratumSample(examples=2, weight=2.0, drawn=1)
    """
    if n < 1 or not any(strata.values()):
        n_examples = sum(map(len, strata.values()))
        raise UsageError(f"the sample size and the number of examples must be at least 1, got {n} of {n_examples}.")
    sizes = _allocate_places({name: members for name, members in strata.items() if members}, n)
    weights: dict[str, float] = {}
    for name, members in strata.items():
        if not sizes.get(name, 0):
            continue
        ordered_names = sorted(members, key=lambda example_id: (_hash_name(seed, example_id), example_id))
        start = int.from_bytes(_hash_name(seed, f"start {name}")[:8], "big") / 2**64
        weights_by_index = {index: members[example_id] for index, example_id in enumerate(ordered_names)}
        inclusion, sampled = sample_by_size(range(len(ordered_names)), sizes[name], weights_by_index, start)
        weights |= {ordered_names[index]: members[ordered_names[index]] / inclusion[index] for index in sampled}
    stratum_samples = {
        name: StratumSample(len(members), sum(members.values()), sizes.get(name, 0)) for name, members in strata.items()
    }
    return StratifiedSample(weights, stratum_samples)


def _allocate_places(strata: Mapping[str, Mapping[str, float]], n: int) -> dict[str, int]:
    """How many each stratum gives."""
    sizes: dict[str, int] = {}
    open_ = {name: sum(members.values()) for name, members in strata.items()}
    while open_:
        allocated = allocate_by_remainder(open_, n - sum(sizes.values()))
        full = {name: len(strata[name]) for name, size in allocated.items() if size >= len(strata[name])}
        if not full:
            return sizes | allocated
        sizes |= full
        open_ = {name: weight for name, weight in open_.items() if name not in full}
    return sizes


def allocate_by_remainder(shares: Mapping[Name, float], n: int) -> dict[Name, int]:
    """How many of n each gets; of equal remainders the earlier name's counts first.

    >>> allocate_by_remainder({"single": 2, "temporal": 1}, 4)
    {'single': 3, 'temporal': 1}
    """
    total = sum(shares.values())
    exact = {name: n * share / total for name, share in shares.items()}
    counts = {name: int(size) for name, size in exact.items()}
    order = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in order[: n - sum(counts.values())]:
        counts[name] += 1
    return counts


def _hash_name(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"set draw\0{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()
