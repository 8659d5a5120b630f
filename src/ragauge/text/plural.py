"""Counts with their nouns."""

from __future__ import annotations


def plural(count: int, noun: str, many: str = "") -> str:
    """A count with its noun.

    Args:
        count: of what the noun names.
        noun: of one.
        many: the noun of several, where it is more than an s longer.

    >>> plural(1, "example"), plural(2_000, "example"), plural(2, "reply", "replies")
    ('1 example', '2,000 examples', '2 replies')
    """
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"
