"""Functions that do what they did, and are recorded: plain, async, and streams of text."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextvars import ContextVar
from time import perf_counter
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Protocol, TypeVar, cast

from ragauge.data.readers.payloads import QUERY_KEYS
from ragauge.errors import UsageError
from ragauge.systems.capture_call import CapturedCall

F = TypeVar("F", bound=Callable[..., Any])
Asked = Callable[[tuple[Any, ...], dict[str, Any]], Any]     # the question among the arguments of a call


class Recorder(Protocol):
    """What a wrapped function needs of a Capture."""

    @property
    def current(self) -> ContextVar[CapturedCall | None]:
        """The question that is being answered here."""

    def begin(self, asked: Any) -> CapturedCall | None:
        """The start of a question."""

    def end(self, call: CapturedCall | None, returned: Any = None, error: BaseException | None = None) -> None:
        """Its end."""

    def cut(self, call: CapturedCall, characters: int) -> None:
        """Its end by a reader of a stream who stopped early."""

    def heard(self, kind: str, found: Any, milliseconds: float) -> None:
        """What a function retrieved."""


def answering(seen: Recorder, function: F, query: str) -> F:
    """The function, its calls recorded as questions; of the same kind as before."""
    asked = _argument(function, query)
    if inspect.iscoroutinefunction(function):
        return cast("F", _coroutine(seen, function, asked))
    if inspect.isasyncgenfunction(function):
        return cast("F", _async_generator(seen, function, asked))
    if inspect.isgeneratorfunction(function):
        return cast("F", _generator(seen, function, asked))
    return cast("F", _plain(seen, function, asked))


def _plain(seen: Recorder, function: Callable[..., Any], asked: Asked) -> Callable[..., Any]:
    @functools.wraps(function)
    def plain(*args: Any, **named: Any) -> Any:
        call = seen.begin(asked(args, named))
        if call is None:
            return function(*args, **named)
        token = seen.current.set(call)
        try:
            returned = function(*args, **named)
        except BaseException as error:
            seen.end(call, error=error)
            raise
        finally:
            seen.current.reset(token)
        return _ended(seen, call, returned)

    return plain


def _coroutine(seen: Recorder, function: Callable[..., Any], asked: Asked) -> Callable[..., Any]:
    @functools.wraps(function)
    async def waiting(*args: Any, **named: Any) -> Any:
        call = seen.begin(asked(args, named))
        if call is None:
            return await function(*args, **named)
        token = seen.current.set(call)
        try:
            returned = await function(*args, **named)
        except BaseException as error:
            seen.end(call, error=error)
            raise
        finally:
            seen.current.reset(token)
        return _ended(seen, call, returned)

    return waiting


def _generator(seen: Recorder, function: Callable[..., Any], asked: Asked) -> Callable[..., Any]:
    @functools.wraps(function)
    def streaming(*args: Any, **named: Any) -> Generator[Any, Any, Any]:
        return (yield from _stream(seen, seen.begin(asked(args, named)), function(*args, **named)))

    return streaming


def _async_generator(seen: Recorder, function: Callable[..., Any], asked: Asked) -> Callable[..., Any]:
    @functools.wraps(function)
    async def pouring(*args: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        stream = _async_stream(seen, seen.begin(asked(args, named)), function(*args, **named))
        step: Callable[[], Any] = stream.__anext__
        try:     # what `yield from` does, which an async generator may not
            while True:
                chunk = await step()
                try:
                    step = functools.partial(stream.asend, (yield chunk))
                except Exception as error:
                    step = functools.partial(stream.athrow, error)
        except StopAsyncIteration:
            return
        finally:
            await stream.aclose()

    return pouring


def _ended(seen: Recorder, call: CapturedCall, returned: Any) -> Any:
    """What the function returned; a generator is recorded when it has been read."""
    if isinstance(returned, GeneratorType):
        return _stream(seen, call, returned)
    if isinstance(returned, AsyncGeneratorType):
        return _async_stream(seen, call, returned)
    seen.end(call, returned)
    return returned


def _stream(seen: Recorder, call: CapturedCall | None, stream: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The same chunks; what is sent or thrown in goes through, and what it returns comes back."""
    if call is None:
        return (yield from stream)
    parts: list[str] = []
    step: Callable[[], Any] = functools.partial(next, stream)
    while True:
        # the question is the current one only while the stream's own code runs, never in its reader's
        token = seen.current.set(call)
        try:
            chunk = step()
        except StopIteration as stop:
            seen.end(call, "".join(parts) if parts else stop.value)
            return stop.value
        except BaseException as error:
            seen.end(call, error=error)
            raise
        finally:
            seen.current.reset(token)
        if isinstance(chunk, str):
            parts.append(chunk)
        try:
            sent = yield chunk
            step = functools.partial(stream.send, sent)
        except GeneratorExit:
            _cut(seen, call, parts)
            stream.close()
            raise
        except BaseException as error:
            step = functools.partial(stream.throw, error)


async def _async_stream(
    seen: Recorder, call: CapturedCall | None, stream: AsyncGenerator[Any, Any]
) -> AsyncGenerator[Any, Any]:
    """The same chunks of an async stream."""
    parts: list[str] = []
    step: Callable[[], Any] = stream.__anext__
    while True:
        token = seen.current.set(call) if call is not None else None
        try:
            chunk = await step()
        except StopAsyncIteration:
            seen.end(call, "".join(parts) if parts else None)
            return
        except BaseException as error:
            seen.end(call, error=error)
            raise
        finally:
            if token is not None:
                seen.current.reset(token)
        if isinstance(chunk, str):
            parts.append(chunk)
        try:
            sent = yield chunk
            step = functools.partial(stream.asend, sent)
        except GeneratorExit:
            if call is not None:
                _cut(seen, call, parts)
            await stream.aclose()
            raise
        except BaseException as error:
            step = functools.partial(stream.athrow, error)


def _cut(seen: Recorder, call: CapturedCall, parts: list[str]) -> None:
    seen.cut(call, sum(map(len, parts)))


def retrieving(seen: Recorder, function: F, kind: str) -> F:
    """The function, its results added to the question that is being answered."""

    def note(started: float, found: Any) -> Any:
        seen.heard(kind, found, (perf_counter() - started) * 1_000)
        return found

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def waiting(*args: Any, **named: Any) -> Any:
            started = perf_counter()
            return note(started, await function(*args, **named))

        return cast("F", waiting)

    @functools.wraps(function)
    def plain(*args: Any, **named: Any) -> Any:
        started = perf_counter()
        return note(started, function(*args, **named))

    return cast("F", plain)


def _argument(function: Callable[..., Any], query: str) -> Asked:
    """Finds the question among the arguments of a call; None where it is not there, and the call is the function's."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):     # built in: it says nothing of itself
        names = []
    if query and names and query not in names:
        raise UsageError(f"capture: {function.__name__} has no argument {query} (found: {', '.join(names)}).")
    own = [name for name in names if name not in ("self", "cls")]
    name = query or next((one for one in QUERY_KEYS if one in own), own[0] if own else "")
    place = names.index(name) if name in names else 0

    def asked(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return named[name] if name in named else args[place] if place < len(args) else None

    return asked
