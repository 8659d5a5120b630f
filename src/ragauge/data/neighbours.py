"""The nearest vectors of a query, and those that an index found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundNeighbours:
    """What an index found for one query beside what is nearest, both with exact distances.

    Attributes:
        ids: found, in the order of the index; one may come twice.
        distances: of each id found, exact; NaN for an id that must not be found.
        nearest: exact distances of the true neighbours, ascending; none where no vector may be found.
        why: why there are no true neighbours, such as a query of zeros.
    """

    ids: tuple[int, ...]
    distances: tuple[float, ...]
    nearest: tuple[float, ...]
    why: str = ""
