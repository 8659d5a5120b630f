"""What calls to models came to."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Paid:
    """Calls to models, added up.

    Attributes:
        calls: attempts, in vain or not.
        failed: attempts that brought nothing to read: 429, time-outs, filtered and cut-off replies.
        replies: replies that came and were kept, cut-off and filtered ones included.
        input_tokens: as the providers counted them.
        output_tokens: likewise.
        cached_tokens: those of input_tokens that were billed at less.
        cost: US dollars of the calls whose price is known.
        unpriced: calls with tokens whose price is unknown; cost leaves them out.
    """

    calls: int = 0
    failed: int = 0
    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    @property
    def known_cost(self) -> float | None:
        """US dollars; None where the price of a call is unknown."""
        return None if self.unpriced else self.cost

    def __add__(self, other: Paid) -> Paid:
        return Paid(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Paid)))


def added(parts: list[Paid]) -> Paid:
    """All of them together.

    >>> added([Paid(2, cost=0.5), Paid(1, cost=0.25, unpriced=1)]).known_cost is None
    True
    """
    return sum(parts, Paid())
