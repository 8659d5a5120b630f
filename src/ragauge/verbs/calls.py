"""How models are called: the options that every verb takes which asks models."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ragauge.verbs.option_specs import Typed

if TYPE_CHECKING:
    from ragauge.engine.judges import Judge
    from ragauge.engine.models import Calling

CALLS = "Calls to a model"


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

    concurrency: Annotated[
        int,
        Typed(
            "Calls to a model in flight to begin with; follows what the provider bears. 1 stays 1.",
            least=1,
            panel=CALLS,
        ),
    ] = 16
    max_concurrency: Annotated[
        int | None, Typed("How far it may rise; 4 times the start by default.", least=1, panel=CALLS)
    ] = None
    max_cost: Annotated[float | None, Typed("US dollars that may be spent now; a hard stop.", panel=CALLS)] = None
    timeout: Annotated[float, Typed("Seconds for one call to a model.", least=0.1, panel=CALLS)] = 120.0

    def of(self, *judges: "Judge | None") -> "Calling | None":
        """The means of calling these judges' models, shared by all; None where no judge asks a model.

        Raises:
            UsageError: an option out of its range.
            RagaugeError: a bound on cost, and a model whose price is unknown.
        """
        from ragauge.engine.models import calling_of

        return calling_of(
            *judges,
            concurrency=self.concurrency,
            most=self.max_concurrency,
            max_cost=self.max_cost,
            timeout=self.timeout,
        )


USUAL = ModelCallOptions()
