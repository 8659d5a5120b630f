"""What may be spent, and what was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ragauge.data.ask import Ask, ModelName, Usage
from ragauge.errors import RagaugeError

Price = Callable[[ModelName, Usage], float | None]
CHARS_A_TOKEN = 2.5      # at the fewest, for a bound from above on English; other scripts have fewer, see below
FIRST_OUTPUT = 1_500     # output tokens that a call is thought to take before one was seen


class BudgetReached(RagaugeError):  # noqa: N818 - an end, not a mistake
    """The next call might exceed what may be spent."""


@dataclass
class Budget:
    """Keeps the cost of a run within a bound, which is never exceeded.

    Before a call, what it may cost at most is set aside: its input counted generously, its output as the largest seen
    for its question. When that does not fit any more the run stops; it is resumable.

    Attributes:
        most: US dollars; None = no bound.
        price: of a call; None where it is unknown.
        spent: so far in this run.
        held: set aside for calls under way.
        holders: calls that something is set aside for.
    """

    most: float | None
    price: Price
    spent: float = 0.0
    held: float = 0.0
    holders: int = 0
    unpriced: int = 0
    tokens: Usage = field(default_factory=Usage)
    _largest: dict[str, int] = field(default_factory=dict)

    def check(self, name: ModelName) -> None:
        """Refuses a bound for a model whose price is unknown.

        Raises:
            RagaugeError: such a bound.
        """
        if self.most is not None and self.price(name, Usage(1, 1)) is None:
            raise RagaugeError(
                f"--max-cost needs the price of {name}, and it is not known. Add it to the price table "
                "(RAGAUGE_PRICES names the file), or leave --max-cost out."
            )

    def hold(self, name: ModelName, ask: Ask) -> float:
        """Sets aside what a call may cost.

        Raises:
            BudgetReached: it does not fit.
        """
        if self.most is None:
            return 0.0
        cost = self.price(name, self._bound(ask)) or 0.0
        if self.spent + self.held + cost > self.most:
            raise BudgetReached(
                f"Stopped before --max-cost {self.most:.2f}: {self.spent:.4f} spent, the next call may cost "
                f"{cost:.4f}. What was paid for is kept."
            )
        self.held += cost
        self.holders += 1
        return cost

    def release(self, held: float) -> None:
        """The call is over."""
        if self.most is not None:
            self.holders -= 1
            self.held = max(0.0, self.held - held) if self.holders else 0.0

    def pay(self, name: ModelName, ask: Ask, usage: Usage | None) -> float | None:
        """Counts a call; returns its cost, None when unknown."""
        if usage is None:
            return None
        self._largest[ask.question] = max(self._largest.get(ask.question, 0), usage.output_tokens)
        before = self.tokens
        self.tokens = Usage(
            before.input_tokens + usage.input_tokens,
            before.output_tokens + usage.output_tokens,
            before.cached_tokens + usage.cached_tokens,
        )
        cost = self.price(name, usage)
        if cost is None:
            self.unpriced += 1
        else:
            self.spent += cost
        return cost

    def _bound(self, ask: Ask) -> Usage:
        texts = [text for _, text in ask.messages]
        narrow = sum(text.isascii() for text in texts) == len(texts)
        size = sum(len(text) if narrow else len(text.encode("utf-8", "surrogatepass")) for text in texts)
        size += len(str(ask.schema or ""))
        return Usage(int(size / CHARS_A_TOKEN) + 50, max(FIRST_OUTPUT, 2 * self._largest.get(ask.question, 0)))
