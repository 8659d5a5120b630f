"""How models are called: the options that every verb takes which asks models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.engine.judges import Judge
    from ragauge.engine.models import Calling


@dataclass(frozen=True, kw_only=True)
class ModelCallOptions:
    """How models are called.

    Attributes:
        concurrency: calls in flight to one endpoint to begin with. It falls by half when the provider says that it is
            too many, and rises by one at a time where it never does and answers take no longer; 1 stays 1.
        max_concurrency: how far it may rise; None = four times the start, at most 256.
        max_cost: US dollars that may be spent now, never exceeded; what is left is pending. None = no bound.
        timeout: seconds for one call.
    """

    concurrency: int = 16
    max_concurrency: int | None = None
    max_cost: float | None = None
    timeout: float = 120.0

    def of(self, *judges: Judge | None) -> Calling | None:
        """The means of calling these judges' models, shared by all; None where no judge asks a model.

        Raises:
            UsageError: an option out of its range.
            RagaugeError: a bound on cost, and a model whose price is unknown.
        """
        from ragauge.engine.models import calling_of

        return calling_of(
            *judges, concurrency=self.concurrency, most=self.max_concurrency, max_cost=self.max_cost,
            timeout=self.timeout,
        )     # fmt: skip


USUAL = ModelCallOptions()
