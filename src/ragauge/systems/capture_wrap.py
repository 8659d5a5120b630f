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
from ragauge.core.jsonl_files import format_record
from ragauge.core.response import Record, Response
from ragauge.readers.payloads import QUERY_KEYS, parse_input
from ragauge.systems.base import Question, SystemTrouble
from ragauge.systems.response_parser import read_passages, response_of

NO_QUESTION = "(no question)"
Hop = tuple[str, Any, float]  # "passages" or "candidates", what was returned, milliseconds


class AddedFields(TypedDict, total=False):
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

    def __init__(self, question: Any, query_id: str, weight: float) -> None:
        self.query_id = query_id
        self.hops: list[Hop] = []
        self.weight = weight
        self._asked = question
        self._cut = ""
        self._fields: dict[str, Any] = {}
        self._returned: Any = None
        self._error: str | None = None
        self._spent = 0.0
        self._started = perf_counter()

    def add(self, **fields: Unpack[AddedFields]) -> None:
        """Says what the call's return value does not: see `Capture.add`."""
        self._fields.update({name: copy_containers(value) for name, value in fields.items() if value is not None})

    def end(self, returned: Any = None, error: BaseException | None = None) -> None:
        """Notes how it ended, and when."""
        self._spent = (perf_counter() - self._started) * 1_000
        self._returned = copy_containers(returned)
        if error is not None:
            text = str(error)
            self._error = f"{type(error).__name__}: {text}" if text else type(error).__name__

    def cut(self, characters: int) -> None:
        """Notes that the reader of a stream stopped early: the part that it saw is not the answer."""
        self.end()
        self._cut = f"truncated: its reader stopped after {characters} characters"

    def line(self) -> str:
        """The call in the form of a recorded file; what cannot be read is said in `missing`, never raised."""
        question_fields = parse_input(self._asked) if isinstance(self._asked, Mapping) else {"query": self._asked}
        query = question_fields.get("query")
        if not isinstance(query, str):
            query = str(self._asked)
        fields = dict(self._fields)
        segments = {str(name): str(value) for name, value in (fields.pop("segments", None) or {}).items()}
        example = Example(self.query_id, query if query.strip() else NO_QUESTION, segments=segments)
        return format_record(Record(example, self._build_response(fields), "", 0))

    def _build_response(self, fields: dict[str, Any]) -> Response:
        response = self._read_response(fields)
        for name in ("passages", "candidates"):
            hops = [returned for kind, returned, _ in self.hops if kind == name]
            if hops and getattr(response, name) is None:
                response = _with_hops(response, name, hops)
        if self._cut:
            response = replace(response, answer=None, missing={**response.missing, "answer": self._cut})
        spent = {"total": self._spent}
        if retrieval := sum(milliseconds for _, _, milliseconds in self.hops):
            spent["retrieval"] = retrieval
        return replace(
            response,
            latency_ms={**spent, **response.latency_ms},
            weight=self.weight,
            error=self._error or response.error,
        )

    def _read_response(self, fields: dict[str, Any]) -> Response:
        """What was returned, and what was added; the second counts."""
        question, returned = Question(self.query_id, ""), _unwrap_message(self._returned)
        response = Response(self.query_id)
        try:
            if returned is not None:
                response = response_of(returned, question)
            if fields:
                response = _merge_added(response, response_of({"answer": None, **fields}, question), fields)
        except SystemTrouble as trouble:
            if trouble.kind == "reported":
                return replace(trouble.spent or response, error=str(trouble))
            return replace(response, missing={**response.missing, "answer": f"not readable: {trouble}"})
        return response


def _merge_added(response: Response, added: Response, fields: Mapping[str, Any]) -> Response:
    values = {name: getattr(added, name) for name in fields}
    missing = {name: reason for name, reason in response.missing.items() if values.get(name) is None}
    added_missing = {name: reason for name, reason in added.missing.items() if getattr(response, name, None) is None}
    return replace(response, **values, missing={**added_missing, **missing})


def _with_hops(response: Response, name: str, hops: Sequence[Any]) -> Response:
    """The union of what several retrievals returned, the first copy of a piece kept, each with its hop."""
    union: dict[str, Any] = {}
    missing = {field: reason for field, reason in response.missing.items() if field != name}
    for hop, returned in enumerate(hops):
        try:
            passages, derived = read_passages(returned)
        except SystemTrouble as trouble:
            return replace(response, missing={**missing, name: f"not readable: {trouble}"})
        missing |= derived
        for passage in passages:
            union.setdefault(passage.passage_id, replace(passage, hop=hop))
    updates: dict[str, Any] = {name: tuple(union.values())}
    return replace(response, missing=missing, **updates)


def _unwrap_message(value: Any) -> Any:
    """The text of a chat message in place of the message, alone or as the answer."""
    if isinstance(value, Mapping) and "answer" in value:
        return {**value, "answer": _unwrap_message(value["answer"])}
    content = getattr(value, "content", None)
    return content if isinstance(content, str) and not hasattr(value, "answer") else value


def copy_containers(value: Any) -> Any:
    """A list or dictionary, and the lists in it, as they are now: the system may go on to change them."""
    if type(value) is dict:
        return {key: list(item) if isinstance(item, list) else item for key, item in value.items()}
    return list(value) if isinstance(value, list) else value


def build_id(random: str) -> str:
    """An id that sorts by time."""
    return f"{datetime.fromtimestamp(time(), UTC):%Y%m%dT%H%M%S.%f}-{random}"


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
