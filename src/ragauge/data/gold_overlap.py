"""Gold spans, and the chunks that are held against them."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.data.example import Span


@dataclass(frozen=True, slots=True)
class GoldOverlap:
    """Spans of one example, all counted in the same unit: tokens of the whole documents, or characters.

    Attributes:
        gold: where the evidence stands, merged: in order, none touching another.
        retrieved: the chunks returned, in the order of their ranks.
        touching: every chunk of the index that shares a unit with a gold span; None = the index is not known.
    """

    gold: tuple[Span, ...]
    retrieved: tuple[Span, ...]
    touching: tuple[Span, ...] | None = None
