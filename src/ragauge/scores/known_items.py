"""What queries that were drawn from documents do not settle."""

from __future__ import annotations

from collections.abc import Iterable

SEGMENT, KNOWN_ITEM = "type", "known_item"  # of examples whose queries were drawn
MAX_SHARE = 0.5  # of such queries, above which what they settle is said


def warn_known_items(n: int, total: int) -> tuple[str, ...]:
    """That lexical against dense retrieval is not settled, where most queries are known items.

    Args:
        n: queries that are words of the document that they are to find.
        total: all queries.

    >>> warn_known_items(1, 2), len(warn_known_items(2, 3))
    ((), 1)
    """
    if not total or n <= MAX_SHARE * total:
        return ()
    return (
        f"{n:,} of {total:,} queries consist of words taken from the documents they should find, which favors "
        "lexical search such as BM25. They cannot decide between lexical and dense retrieval; questions from "
        "people or a model could.",
    )


def count_known_items(types: Iterable[str | None]) -> int:
    """How many examples are known items, by their values of the segment `type`."""
    return sum(value == KNOWN_ITEM for value in types)
