"""Functions that do what they did, and are recorded: plain, async, and streams of text.

One question to a captured system: what is known of it while it is answered, and its line in the file.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextvars import ContextVar
from time import perf_counter
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Protocol, TypeVar, cast

from ragauge.core.errors import UsageError
from ragauge.readers.messages import QUERY_KEYS
from ragauge.systems.captured_call import CapturedCall

F = TypeVar("F", bound=Callable[..., Any])
QuestionFinder = Callable[[tuple[Any, ...], dict[str, Any]], Any]  # the question among the arguments of a call


class Recorder(Protocol):
    """What a wrapped function needs of a Capture."""

    @property
    def current_call(self) -> ContextVar[CapturedCall | None]:
        """The question that is being answered here."""

    def begin_call(self, question: Any) -> CapturedCall | None:
        """The start of a question."""

    def end(self, call: CapturedCall | None, returned: Any = None, error: BaseException | None = None) -> None:
        """Its end."""

    def cut(self, call: CapturedCall, characters: int) -> None:
        """Its end by a reader of a stream who stopped early."""

    def record_hop(self, kind: str, returned: Any, milliseconds: float) -> None:
        """What a function retrieved."""


def wrap_answer_function(recorder: Recorder, function: F, query: str) -> F:
    """The function, its calls recorded as questions; of the same kind as before."""
    find_question = _build_question_finder(function, query)
    if inspect.iscoroutinefunction(function):
        return cast("F", _wrap_coroutine(recorder, function, find_question))
    if inspect.isasyncgenfunction(function):
        return cast("F", _wrap_async_generator(recorder, function, find_question))
    if inspect.isgeneratorfunction(function):
        return cast("F", _wrap_generator(recorder, function, find_question))
    return cast("F", _wrap_function(recorder, function, find_question))


def _wrap_function(
    recorder: Recorder, function: Callable[..., Any], find_question: QuestionFinder
) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = recorder.begin_call(find_question(args, kwargs))
        if call is None:
            return function(*args, **kwargs)
        token = recorder.current_call.set(call)
        try:
            returned = function(*args, **kwargs)
        except BaseException as error:
            recorder.end(call, error=error)
            raise
        finally:
            recorder.current_call.reset(token)
        return _record_returned(recorder, call, returned)

    return wrapper


def _wrap_coroutine(
    recorder: Recorder, function: Callable[..., Any], find_question: QuestionFinder
) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = recorder.begin_call(find_question(args, kwargs))
        if call is None:
            return await function(*args, **kwargs)
        token = recorder.current_call.set(call)
        try:
            returned = await function(*args, **kwargs)
        except BaseException as error:
            recorder.end(call, error=error)
            raise
        finally:
            recorder.current_call.reset(token)
        return _record_returned(recorder, call, returned)

    return wrapper


def _wrap_generator(
    recorder: Recorder, function: Callable[..., Any], find_question: QuestionFinder
) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        return (
            yield from _record_stream(
                recorder, recorder.begin_call(find_question(args, kwargs)), function(*args, **kwargs)
            )
        )

    return wrapper


def _wrap_async_generator(
    recorder: Recorder, function: Callable[..., Any], find_question: QuestionFinder
) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        stream = _record_async_stream(
            recorder, recorder.begin_call(find_question(args, kwargs)), function(*args, **kwargs)
        )
        step: Callable[[], Any] = stream.__anext__
        try:  # what `yield from` does, which an async generator may not
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

    return wrapper


def _record_returned(recorder: Recorder, call: CapturedCall, returned: Any) -> Any:
    """What the function returned; a generator is recorded when it has been read."""
    if isinstance(returned, GeneratorType):
        return _record_stream(recorder, call, returned)
    if isinstance(returned, AsyncGeneratorType):
        return _record_async_stream(recorder, call, returned)
    recorder.end(call, returned)
    return returned


def _record_stream(
    recorder: Recorder, call: CapturedCall | None, stream: Generator[Any, Any, Any]
) -> Generator[Any, Any, Any]:
    """The same chunks; what is sent or thrown in goes through, and what it returns comes back."""
    if call is None:
        return (yield from stream)
    texts: list[str] = []
    step: Callable[[], Any] = functools.partial(next, stream)
    while True:
        # the question is the current one only while the stream's own code runs, never in its reader's
        token = recorder.current_call.set(call)
        try:
            chunk = step()
        except StopIteration as stop:
            recorder.end(call, "".join(texts) if texts else stop.value)
            return stop.value
        except BaseException as error:
            recorder.end(call, error=error)
            raise
        finally:
            recorder.current_call.reset(token)
        if isinstance(chunk, str):
            texts.append(chunk)
        try:
            sent = yield chunk
            step = functools.partial(stream.send, sent)
        except GeneratorExit:
            _record_truncated(recorder, call, texts)
            stream.close()
            raise
        except BaseException as error:
            step = functools.partial(stream.throw, error)


async def _record_async_stream(
    recorder: Recorder, call: CapturedCall | None, stream: AsyncGenerator[Any, Any]
) -> AsyncGenerator[Any, Any]:
    """The same chunks of an async stream."""
    texts: list[str] = []
    step: Callable[[], Any] = stream.__anext__
    while True:
        token = recorder.current_call.set(call) if call is not None else None
        try:
            chunk = await step()
        except StopAsyncIteration:
            recorder.end(call, "".join(texts) if texts else None)
            return
        except BaseException as error:
            recorder.end(call, error=error)
            raise
        finally:
            if token is not None:
                recorder.current_call.reset(token)
        if isinstance(chunk, str):
            texts.append(chunk)
        try:
            sent = yield chunk
            step = functools.partial(stream.asend, sent)
        except GeneratorExit:
            if call is not None:
                _record_truncated(recorder, call, texts)
            await stream.aclose()
            raise
        except BaseException as error:
            step = functools.partial(stream.athrow, error)


def _record_truncated(recorder: Recorder, call: CapturedCall, texts: list[str]) -> None:
    recorder.cut(call, sum(map(len, texts)))


def wrap_retrieval_function(recorder: Recorder, function: F, kind: str) -> F:
    """The function, its results added to the question that is being answered."""

    def record_result(started: float, returned: Any) -> Any:
        recorder.record_hop(kind, returned, (perf_counter() - started) * 1_000)
        return returned

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def async_wrapper(*args: Any, **kwargs: Any) -> Any:
            started = perf_counter()
            return record_result(started, await function(*args, **kwargs))

        return cast("F", async_wrapper)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        started = perf_counter()
        return record_result(started, function(*args, **kwargs))

    return cast("F", wrapper)


def _build_question_finder(function: Callable[..., Any], query: str) -> QuestionFinder:
    """Finds the question among the arguments of a call; None where it is not there, and the call is the function's."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # built in: it says nothing of itself
        names = []
    if query and names and query not in names:
        raise UsageError(f"capture: {function.__name__} has no argument {query} (found: {', '.join(names)}).")
    own_names = [name for name in names if name not in ("self", "cls")]
    name = query or next((key for key in QUERY_KEYS if key in own_names), own_names[0] if own_names else "")
    index = names.index(name) if name in names else 0

    def find_question(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return kwargs[name] if name in kwargs else args[index] if index < len(args) else None

    return find_question
