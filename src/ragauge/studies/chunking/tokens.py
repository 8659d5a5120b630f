"""A document tokenised once, and spans of characters as spans of its tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.core.example import Span
from ragauge.text.tokens import list_token_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int64]


class TokenizedDocument:
    """A document and where each of its cl100k tokens ends.

    Attributes:
        doc_id: of the document.
        text: as it is.
        first: shape (tokens,), the character that holds a token's first byte.
        last: shape (tokens,), the character that holds its last byte: a span that holds it holds the token.
    """

    def __init__(self, doc_id: str, text: str) -> None:
        import numpy as np

        self.doc_id, self.text = doc_id, text
        end_bytes = np.cumsum(np.array(list_token_bytes(text), dtype=np.int64))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), end_bytes[:-1]]) if end_bytes.size else end_bytes
        self.first: Places = starts
        self.last: Places = end_bytes - 1
        if not text.isascii():
            points = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
            width = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
            after = np.cumsum(width)  # bytes up to and with each character
            self.first, self.last = (
                np.searchsorted(after, starts, "right"),
                np.searchsorted(after, end_bytes - 1, "right"),
            )

    def __len__(self) -> int:
        return int(self.last.size)

    def to_token_span(self, start: int, end: int) -> Span:
        """The tokens whose last character lies in [start, end)."""
        import numpy as np

        low, high = np.searchsorted(self.last, [start, end], "left")
        return Span(self.doc_id, int(low), int(high))
