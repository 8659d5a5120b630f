"""How right several judges are, and what is right, from their verdicts alone: nobody labelled anything."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

FEWEST_JUDGES = 3  # of two that differ nothing tells which is right
SMOOTH = 0.01  # added to every count, so that no chance is 0
MOST_STEPS, ENOUGH, TINY = 500, 1e-9, 1e-300


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """An estimate, not a measurement: it takes for granted that judges err independently, given what is right.

    Attributes:
        labels: the likeliest label of each item, in the order given.
        sure: its probability, in (0, 1].
        accuracy: judge -> estimated share of items on which it is right.
        share: label -> estimated share of the items.
    """

    labels: tuple[Hashable, ...]
    sure: tuple[float, ...]
    accuracy: Mapping[str, float]
    share: Mapping[Hashable, float]


def dawid_skene(items: Sequence[Mapping[str, Hashable]]) -> DawidSkene | None:
    """What is right, and how right each judge is, by expectation and maximisation.

    T_ic ∝ π_c Π_j θ_j(c, l_ij),  θ_j(c, l) ∝ Σ_{i: l_ij = l} T_ic,  π_c ∝ Σ_i T_ic

    T  probability that label c is right of item i; to begin with the share of judges who say c
    θ  chance that judge j says l where c is right;  π  share of the items of which c is right
    accuracy of j = Σ_c π_c θ_j(c, c)

    Steps are taken until no T changes by 1e-9, or 500 times. Where most judges share an error, it takes that for right.

    Args:
        items: judge -> label, an item each; a judge may lack some.

    Returns:
        The estimate; None with fewer than 3 judges, or with one label only.

    Source: Dawid and Skene (1979), Applied Statistics 28, 20-28.

    >>> found = dawid_skene([{"a": 1, "b": 1, "c": 0}, {"a": 0, "b": 0, "c": 0}, {"a": 1, "b": 1, "c": 1}] * 5)
    >>> found.labels[:3], found.accuracy["a"] > found.accuracy["c"]
    ((1, 0, 1), True)
    """
    judges = list(dict.fromkeys(name for item in items for name in item))
    labels = list(dict.fromkeys(label for item in items for label in item.values()))
    if len(judges) < FEWEST_JUDGES or len(labels) < 2:
        return None
    votes = _votes(items, judges, labels)
    right, chances = _maximised(votes)
    share = right.mean(axis=0)
    best = right.argmax(axis=1)
    accuracy = {name: float(share @ chances[at].diagonal()) for at, name in enumerate(judges)}
    return DawidSkene(
        tuple(labels[k] for k in best),
        tuple(right.max(axis=1).tolist()),
        accuracy,
        {label: float(share[k]) for k, label in enumerate(labels)},
    )


def _votes(items: Sequence[Mapping[str, Hashable]], judges: Sequence[str], labels: Sequence[Hashable]) -> Floats:
    """1 where a judge says a label of an item; shape (judges, items, labels)."""
    import numpy as np

    places, code = {name: n for n, name in enumerate(judges)}, {label: n for n, label in enumerate(labels)}
    votes = np.zeros((len(judges), len(items), len(labels)))
    for n, item in enumerate(items):
        for name, label in item.items():
            votes[places[name], n, code[label]] = 1.0
    return votes


def _maximised(votes: Floats) -> tuple[Floats, Floats]:
    """T, shape (items, labels), and θ, shape (judges, labels, labels)."""
    import numpy as np

    right: Floats = votes.sum(axis=0) + SMOOTH
    right /= right.sum(axis=1, keepdims=True)
    for _ in range(MOST_STEPS):
        chances = np.einsum("ic,jil->jcl", right, votes) + SMOOTH
        chances /= chances.sum(axis=2, keepdims=True)
        logs = np.log(right.mean(axis=0) + TINY) + np.einsum("jil,jcl->ic", votes, np.log(chances))
        new = np.exp(logs - logs.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        moved, right = float(np.abs(new - right).max()), new
        if moved < ENOUGH:
            break
    return right, chances
