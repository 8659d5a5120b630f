"""Numbers, passages and documents in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ragauge.data.example import Relevant


def numbers(values: Iterable[int]) -> str:
    """Numbers in words: 2; 2 and 5; 2, 5 and 7."""
    listed = [str(value) for value in values]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}" if listed else "none"


def counted(noun: str, values: Collection[int]) -> str:
    """A noun with its numbers: passage 2; passages 2 and 5."""
    return f"{noun}{'s' if len(values) > 1 else ''} {numbers(sorted(values))}"


def documents(items: Sequence[Relevant], most: int = 3) -> str:
    """Documents in words, the first few: gold document d1; gold documents d1, d2 or d3 (any one), and 4 more."""
    listed = [item.doc_ids[0] if len(item.doc_ids) == 1 else " or ".join(item.doc_ids[:most]) for item in items[:most]]
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"gold document{'s' if len(items) > 1 else ''} {', '.join(listed)}{more}"


def members(items: Iterable[Relevant]) -> frozenset[tuple[str, ...]]:
    """Labelled items as `Mended` names them."""
    return frozenset(item.doc_ids for item in items)
