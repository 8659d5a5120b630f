"""How models are called: the options that every verb takes which asks models."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ragauge.verbs.option_specs import OptionSpec

if TYPE_CHECKING:
    from ragauge.engine.judges import Judge
    from ragauge.engine.models import CallOptions

CALLS_PANEL = "Model calls"


@dataclass(frozen=True, kw_only=True)
class ModelCallOptions:
    """How models are called."""

    #: calls in flight to one endpoint to begin with. It falls by half when the provider says that it is too many, and
    #: rises by one at a time where it never does and answers take no longer; 1 stays 1.
    concurrency: Annotated[
        int,
        OptionSpec(
            "Initial number of concurrent model calls; adapts to the provider's rate limits. 1 stays 1.",
            least=1,
            panel=CALLS_PANEL,
        ),
    ] = 16
    #: how far it may rise; None = four times the start, at most 256.
    max_concurrency: Annotated[
        int | None, OptionSpec("Maximum concurrency; 4 times the start by default.", least=1, panel=CALLS_PANEL)
    ] = None
    #: US dollars that may be spent now, never exceeded; what is left is pending. None = no bound.
    max_cost: Annotated[float | None, OptionSpec("Maximum cost in US dollars; a hard limit.", panel=CALLS_PANEL)] = None
    #: seconds for one call.
    timeout: Annotated[float, OptionSpec("Timeout of a model call in seconds.", least=0.1, panel=CALLS_PANEL)] = 120.0

    def of(self, *judges: "Judge | None") -> "CallOptions | None":
        """The means of calling these judges' models, shared by all; None where no judge asks a model.

        Raises:
            UsageError: an option out of its range.
            RagaugeError: a bound on cost, and a model whose price is unknown.
        """
        from ragauge.engine.models import build_call_options

        return build_call_options(
            *judges,
            concurrency=self.concurrency,
            max_concurrency=self.max_concurrency,
            max_cost=self.max_cost,
            timeout=self.timeout,
        )


DEFAULT_CALL_OPTIONS = ModelCallOptions()
