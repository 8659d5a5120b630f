"""What may be spent, and what was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ragauge.core.ask import Ask, ModelName, Reply, Usage
from ragauge.core.errors import RagaugeError
from ragauge.core.identity import to_canonical_json, to_json_value

Price = Callable[[ModelName, Usage], float | None]
MIN_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS = (
    1_500,
    8_000,
)  # output tokens that a call needs at least, and that are asked for
OUTPUT_LIMIT_KEYS = frozenset(
    {"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"}
)  # as sent
TEMPLATE_TOKENS = 300  # tokens that a provider's own template and a schema in the prompt add


class BudgetReached(RagaugeError):  # noqa: N818 - an end, not a mistake
    """The next call might exceed what may be spent."""


class Reservation(NamedTuple):
    """What is set aside for one call."""

    cost: float = 0.0  #: US dollars.
    output: int | None = None  #: output tokens that it may give for that; None = no bound.

    def limit_output(self, ask: Ask) -> Ask:
        """The ask as it is sent: the model is told to stop at these tokens. Its key stays that of what was asked."""
        if self.output is None:
            return ask
        output = min(self.output, ask.params.get("max_tokens", self.output))
        return replace(ask, params={**ask.params, "max_tokens": output})

    def has_sent_limit(self, reply: Reply) -> bool:
        """Whether the model was told to stop there: it may refuse every name of such a parameter."""
        return self.output is None or not reply.sent or bool(OUTPUT_LIMIT_KEYS & reply.sent.keys())


@dataclass
class Budget:
    """Keeps the cost of a run within a bound, which is never exceeded.

    Before a call, what it may cost at most is set aside: a token for every byte of its input, and as many output tokens
    as it is then told to keep to. When that does not fit any more the run stops; it is resumable.
    """

    most: float | None  #: US dollars; None = no bound.
    price: Price  #: of a call; None where it is unknown.
    spent: float = 0.0  #: so far in this run.
    held: float = 0.0  #: set aside for calls under way.
    holders: int = 0  #: calls that something is set aside for.
    unsure: float = 0.0  #: set aside for good: calls that broke off, or said no tokens, and may be billed all the same.
    unpriced: int = 0  #: calls whose price is unknown.
    tokens: Usage = field(default_factory=Usage)  #: paid for.
    _largest: dict[str, int] = field(default_factory=dict)

    def check_price(self, name: ModelName) -> None:
        """Refuses a bound for a model whose price is unknown.

        Raises:
            RagaugeError: such a bound.
        """
        if self.most is not None and self.price(name, Usage(1, 1)) is None:
            raise RagaugeError(
                f"--max-cost needs the price of {name}, which is unknown. Add it to the "
                "price table (the file in RAGAUGE_PRICES), or omit --max-cost."
            )

    def reserve(self, name: ModelName, ask: Ask) -> Reservation:
        """Sets aside what a call may cost.

        Raises:
            BudgetReached: it does not fit.
        """
        if self.most is None:
            return Reservation()
        remaining = self.most - self.spent - self.held - self.unsure
        largest = self._largest.get(ask.question, 0)
        min_output, size = max(MIN_OUTPUT_TOKENS, 2 * largest), _count_max_tokens(ask)
        reservation: Reservation | None = None
        outputs = {0} if ask.kind == "embed" else {min_output, max(DEFAULT_OUTPUT_TOKENS, 4 * largest)}
        for output in sorted(outputs):
            cached = size if ask.shared else 0  # what a cache keeps may cost more
            cost = self.price(name, Usage(size, output, written_tokens=cached)) or 0.0
            if cost > remaining:
                break
            reservation = Reservation(cost, output or None)
        if reservation is None:
            unsure = f", {self.unsure:.4f} may be billed for calls that did not report tokens" if self.unsure else ""
            raise BudgetReached(
                f"Stopped before --max-cost {self.most:.2f}: {self.spent:.4f} spent{unsure}, and the next call may "
                f"cost {cost:.4f}. Paid results are saved."
            )
        self.held += reservation.cost
        self.holders += 1
        return reservation

    def release(self, reservation: Reservation, *, unsure: bool = False) -> None:
        """The call is over.

        Args:
            reservation: what was set aside for it.
            unsure: it said no word of its tokens, and may be billed.
        """
        if self.most is not None:
            self.holders -= 1
            self.held = max(0.0, self.held - reservation.cost) if self.holders else 0.0
            self.unsure += reservation.cost if unsure else 0.0

    def record_cost(self, name: ModelName, ask: Ask, usage: Usage | None) -> float | None:
        """Counts a call; returns its cost, None when unknown."""
        if usage is None:
            return None
        self._largest[ask.question] = max(self._largest.get(ask.question, 0), usage.output_tokens)
        previous = self.tokens
        self.tokens = Usage(
            previous.input_tokens + usage.input_tokens,
            previous.output_tokens + usage.output_tokens,
            previous.cached_tokens + usage.cached_tokens,
            previous.written_tokens + usage.written_tokens,
        )
        cost = self.price(name, usage)
        if cost is None:
            self.unpriced += 1
        else:
            self.spent += cost
        return cost


def _count_max_tokens(ask: Ask) -> int:
    """Input tokens at most: no tokenizer makes more than one of a byte."""
    texts = [text for _, text in ask.messages] + [to_canonical_json(to_json_value(ask.schema or {}))]
    return (
        sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)
        + TEMPLATE_TOKENS
    )
