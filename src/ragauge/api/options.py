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

if TYPE_CHECKING:
    from ragauge.api.inputs.sources import InputSource
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
