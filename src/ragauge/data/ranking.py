"""Where the judged documents of one query stand in what was returned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks of judged items for one query: all that a retrieval metric needs.

    Attributes:
        n_returned: length of the returned list, duplicates included.
        items: (grade, rank) of every judged item, ranks from 1, None = not returned. A document's rank is that of
            its first copy; a group's that of its best member.
        judged_ranks: ranks, ascending, at which a judged document (any grade) stands for the first time.
        again: (grade, rank) of further chunks of a document that an item was found by: its other passages.
    """

    n_returned: int
    items: tuple[tuple[float, int | None], ...]
    judged_ranks: tuple[int, ...]
    again: tuple[tuple[float, int], ...] = ()
