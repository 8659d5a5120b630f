"""Functions that do what they did, and are recorded: plain, async, and streams of text.

One question to a captured system: what is known of it while it is answered, and its line in the file.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter, time
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, cast

from ragauge.core.errors import UsageError
from ragauge.core.example import Example
from ragauge.core.jsonl_files import line
from ragauge.core.response import Record, Response
from ragauge.readers.payloads import QUERY_KEYS, entered
from ragauge.systems.base import Question, SystemTrouble
from ragauge.systems.response_parser import passages_of, response_of

NO_QUESTION = "(no question)"
Hop = tuple[str, Any, float]  # "passages" or "candidates", what was returned, milliseconds


class Added(TypedDict, total=False):
    """What can be said of a question, in the forms of a recorded file."""

    answer: str | None
    passages: Any
    candidates: Any
    citations: Any
    tokens: Mapping[str, int] | None
    cost: float | None
    outcome: Mapping[str, float | bool | str] | None
    segments: Mapping[str, str] | None


class CapturedCall:
    """A question that is being answered.

    Attributes:
        query_id: when it was asked and a random part, so that ids of all processes sort by time.
        weight: how many questions it stands for; 0 = it is not recorded.
        hops: what functions marked as retrieving returned meanwhile.
    """

    __slots__ = ("_asked", "_cut", "_error", "_fields", "_returned", "_spent", "_started", "hops", "query_id", "weight")

    def __init__(self, asked: Any, query_id: str, weight: float) -> None:
        self.query_id = query_id
        self.hops: list[Hop] = []
        self.weight = weight
        self._asked = asked
        self._cut = ""
        self._fields: dict[str, Any] = {}
        self._returned: Any = None
        self._error: str | None = None
        self._spent = 0.0
        self._started = perf_counter()

    def add(self, **fields: Unpack[Added]) -> None:
        """Says what the call's return value does not: see `Capture.add`."""
        self._fields.update({name: kept(value) for name, value in fields.items() if value is not None})

    def end(self, returned: Any = None, error: BaseException | None = None) -> None:
        """Notes how it ended, and when."""
        self._spent = (perf_counter() - self._started) * 1_000
        self._returned = kept(returned)
        if error is not None:
            text = str(error)
            self._error = f"{type(error).__name__}: {text}" if text else type(error).__name__

    def cut(self, characters: int) -> None:
        """Notes that the reader of a stream stopped early: the part that it saw is not the answer."""
        self.end()
        self._cut = f"truncated: its reader stopped after {characters} characters"

    def line(self) -> str:
        """The call in the form of a recorded file; what cannot be read is said in `missing`, never raised."""
        asked = entered(self._asked) if isinstance(self._asked, Mapping) else {"query": self._asked}
        query = asked.get("query")
        if not isinstance(query, str):
            query = str(self._asked)
        fields = dict(self._fields)
        segments = {str(name): str(value) for name, value in (fields.pop("segments", None) or {}).items()}
        example = Example(self.query_id, query if query.strip() else NO_QUESTION, segments=segments)
        return line(Record(example, self._response(fields), "", 0))

    def _response(self, fields: dict[str, Any]) -> Response:
        found = self._read(fields)
        for name in ("passages", "candidates"):
            hops = [returned for kind, returned, _ in self.hops if kind == name]
            if hops and getattr(found, name) is None:
                found = _with_hops(found, name, hops)
        if self._cut:
            found = replace(found, answer=None, missing={**found.missing, "answer": self._cut})
        spent = {"total": self._spent}
        if retrieval := sum(milliseconds for _, _, milliseconds in self.hops):
            spent["retrieval"] = retrieval
        return replace(
            found, latency_ms={**spent, **found.latency_ms}, weight=self.weight, error=self._error or found.error
        )

    def _read(self, fields: dict[str, Any]) -> Response:
        """What was returned, and what was added; the second counts."""
        question, returned = Question(self.query_id, ""), _text(self._returned)
        found = Response(self.query_id)
        try:
            if returned is not None:
                found = response_of(returned, question)
            if fields:
                found = _merged(found, response_of({"answer": None, **fields}, question), fields)
        except SystemTrouble as trouble:
            if trouble.kind == "reported":
                return replace(trouble.spent or found, error=str(trouble))
            return replace(found, missing={**found.missing, "answer": f"not readable: {trouble}"})
        return found


def _merged(found: Response, added: Response, fields: Mapping[str, Any]) -> Response:
    values = {name: getattr(added, name) for name in fields}
    missing = {name: why for name, why in found.missing.items() if values.get(name) is None}
    own = {name: why for name, why in added.missing.items() if getattr(found, name, None) is None}
    return replace(found, **values, missing={**own, **missing})


def _with_hops(found: Response, name: str, hops: Sequence[Any]) -> Response:
    """The union of what several retrievals returned, the first copy of a piece kept, each with its hop."""
    union: dict[str, Any] = {}
    missing = {field: why for field, why in found.missing.items() if field != name}
    for hop, returned in enumerate(hops):
        try:
            passages, derived = passages_of(returned)
        except SystemTrouble as trouble:
            return replace(found, missing={**missing, name: f"not readable: {trouble}"})
        missing |= derived
        for passage in passages:
            union.setdefault(passage.passage_id, replace(passage, hop=hop))
    named: dict[str, Any] = {name: tuple(union.values())}
    return replace(found, missing=missing, **named)


def _text(value: Any) -> Any:
    """The text of a chat message in place of the message, alone or as the answer."""
    if isinstance(value, Mapping) and "answer" in value:
        return {**value, "answer": _text(value["answer"])}
    content = getattr(value, "content", None)
    return content if isinstance(content, str) and not hasattr(value, "answer") else value


def kept(value: Any) -> Any:
    """A list or dictionary, and the lists in it, as they are now: the system may go on to change them."""
    if type(value) is dict:
        return {key: list(one) if isinstance(one, list) else one for key, one in value.items()}
    return list(value) if isinstance(value, list) else value


def new_id(random: str) -> str:
    """An id that sorts by time."""
    return f"{datetime.fromtimestamp(time(), UTC):%Y%m%dT%H%M%S.%f}-{random}"


F = TypeVar("F", bound=Callable[..., Any])
Asked = Callable[[tuple[Any, ...], dict[str, Any]], Any]  # the question among the arguments of a call


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
    except (TypeError, ValueError):  # built in: it says nothing of itself
        names = []
    if query and names and query not in names:
        raise UsageError(f"capture: {function.__name__} has no argument {query} (found: {', '.join(names)}).")
    own = [name for name in names if name not in ("self", "cls")]
    name = query or next((key for key in QUERY_KEYS if key in own), own[0] if own else "")
    place = names.index(name) if name in names else 0

    def asked(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return named[name] if name in named else args[place] if place < len(args) else None

    return asked
