"""What comes in pieces, put together: generators, async generators and streams of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any


def read_out(returned: Any) -> Any:
    """What an iterator gives, put together; anything else as it is. It blocks as long as the iterator does."""
    return whole(list(returned)) if isinstance(returned, Iterator) else returned


async def awaited(returned: Any) -> Any:
    """What an async iterator gives, put together; anything else as it is."""
    return whole([piece async for piece in returned]) if isinstance(returned, AsyncIterator) else returned


def whole(pieces: Sequence[Any]) -> Any:
    """Texts joined are the answer, and dictionaries among them say the rest; without any text, a list.

    >>> whole(["Two ", "pounds."]), whole(["Two.", {"passages": ["It weighs two."]}]), whole([{"doc_id": "d1"}])
    ('Two pounds.', {'passages': ['It weighs two.'], 'answer': 'Two.'}, [{'doc_id': 'd1'}])
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    said = [piece for piece in pieces if isinstance(piece, Mapping)]
    if not texts or len(texts) + len(said) < len(pieces):
        return list(pieces)
    answer = "".join(texts)
    return {**{key: value for one in said for key, value in one.items()}, "answer": answer} if said else answer
