"""The options of verbs, declared once: a dataclass's fields are the verb's Python keywords and the command's options.

`keywords` makes a verb of the work that is done with the options; `cli/options.py` says how a field is typed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ragauge.api.inputs.calls import ModelCallOptions
from ragauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from ragauge.api.inputs.sources import InputSource
    from ragauge.data.response import Variant
    from ragauge.engine.execute import Progress

Given = TypeVar("Given")
P = ParamSpec("P")
T = TypeVar("T")


def keywords(
    options: Callable[P, Given],
) -> Callable[[Callable[[Given], Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Makes a verb of what works with options: its arguments are the fields, for a type checker as for `help`.

    Args:
        options: a dataclass; what its bases declare comes last in the signature.

    >>> @keywords(ModelCallOptions)
    ... async def ask(wanted: ModelCallOptions) -> float:
    ...     return wanted.timeout
    >>> ask(timout=3)
    Traceback (most recent call last):
    TypeError: ask() got an unexpected keyword argument 'timout'
    """
    own = vars(options).get("__annotations__", {})
    taken = sorted(
        inspect.signature(options).parameters.values(), key=lambda one: (one.kind, one.name not in own)
    )

    def verb(work: Callable[[Given], Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        name = work.__name__.removesuffix("_async")
        signature = inspect.signature(work).replace(parameters=taken)

        @wraps(work)
        def takes(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
            return work(options(*args, **kwargs))

        vars(takes)["__signature__"] = signature
        return takes

    return verb


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(ModelCallOptions):
    """What to find out, of what. Each field is an argument of `evaluate`, whose documentation explains it."""

    source: Any = field(kw_only=False)
    set: Any = None
    metrics: str | Sequence[str] = ()
    judge: Any = "local"
    judge_name: str = ""
    judge_repeats: int = 1
    prompts: Any = None
    store: str | None = None
    name: str = ""
    columns: Mapping[str, str] | None = None
    segments: str | Sequence[str] = ()
    config: Mapping[str, Any] | None = None
    variant: str = "own"
    traffic: bool = False
    limit: int | None = None
    filter: Mapping[str, str] | None = None
    workers: int | None = None
    retry_failed: bool = False
    index: Any = None
    baseline: Any = None
    progress: Callable[[Progress], None] | None = None
    warn: Callable[[str], None] | None = None

    def inputs(self) -> InputSource:
        """Where the questions and responses are; an InputSource is taken as it is."""
        from ragauge.api.inputs.sources import InputSource, named

        if isinstance(self.source, InputSource):
            return self.source if self.source.warn else replace(self.source, warn=self.warn)
        paths = isinstance(self.source, tuple) and all(isinstance(one, str) for one in self.source)
        one = self.source if paths else (self.source,)
        return InputSource(
            one if self.set is None else (self.set, *one), self.columns or {}, named(self.segments), self.name,
            config=self.config or {}, warn=self.warn, variant=self.variant, traffic=self.traffic,
        )     # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is to be run. Each field is an argument of `run`, whose documentation explains it."""

    system: Any = field(kw_only=False)
    set: Any = field(kw_only=False)
    name: str = ""
    settings: Any = None
    repeat: int = 1
    concurrency: int = 4
    timeout: float = 60.0
    limit: int | None = None
    filter: Mapping[str, str] | None = None
    variant: str = "own"
    context_from: Any = None
    corpus: Any = None
    fresh: bool = False
    retry_failed: bool = False
    store: str | None = None
    progress: Callable[[Progress], None] | None = None
    warn: Callable[[str], None] | None = None
    columns: Mapping[str, str] | None = None
    segments: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        from ragauge.api.inputs.sources import VARIANTS

        least = {"repeat": 1, "concurrency": 1, "limit": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise UsageError(f"run: {name} must be at least {low}, got {value}.")
        if self.timeout <= 0:
            raise UsageError(f"run: timeout must be above 0 seconds, got {self.timeout:g}.")
        if self.variant not in VARIANTS:
            raise UnknownName("variant", self.variant, VARIANTS)
        if self.variant != "own" and self.context_from is not None and self.variant != "replayed":
            raise UsageError(f"run: passages come from another run or are those of {self.variant}, not both.")
        if self.variant == "replayed" and self.context_from is None:
            raise UsageError("run: the variant replayed needs the run whose passages are used: context_from=RUN.")
        if self.fresh and self.retry_failed:
            raise UsageError("run: fresh starts another run, retry_failed goes on with the last one. Choose one.")

    @property
    def of(self) -> Variant:
        """The variant."""
        from ragauge.api.inputs.sources import VARIANTS

        return "replayed" if self.context_from is not None else VARIANTS[VARIANTS.index(self.variant)]


@dataclass(frozen=True, kw_only=True)
class ConfirmOptions:
    """What is to be confirmed. Each field is an argument of `confirm`, whose documentation explains it."""

    run: Any = field(kw_only=False)
    system: Any = field(kw_only=False)
    corpus: Any = None
    limit: int = 30
    seed: int = 0
    control: bool = False
    judge: str | None = None
    settings: Any = None
    concurrency: int = 4
    timeout: float = 60.0
    max_cost: float | None = None
    store: str | None = None
    progress: Callable[[Progress], None] | None = None
    warn: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "concurrency"):
            if getattr(self, name) < 1:
                raise UsageError(f"confirm: {name} must be at least 1, got {getattr(self, name)}.")
        if self.timeout <= 0:
            raise UsageError(f"confirm: timeout must be above 0 seconds, got {self.timeout:g}.")
