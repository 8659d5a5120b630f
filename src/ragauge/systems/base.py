"""What a system is: something that answers questions, from its own retrieval or from passages that it is handed.

How a system fails to answer one question, whatever it is built with.

The setting that says an answer's numbers are citations: [1], [2, 3].

Blocking calls beside an event loop, in threads that may be given up.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import sysconfig
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from traceback import walk_tb
from typing import Any, ClassVar, Literal, TypeVar

from ragauge.core.errors import SystemFailed, UnknownName, UsageError
from ragauge.core.example import Turn
from ragauge.core.response import Passage, Response, Variant

OWN_ONLY: frozenset[Variant] = frozenset({"own"})
ALL_VARIANTS: frozenset[Variant] = frozenset({"own", "oracle", "closed_book", "replayed"})
VARIANT_INPUTS: Mapping[Variant, str] = {
    "oracle": "the labeled passages",
    "closed_book": "no passages",
    "replayed": "another run's passages",
}


@dataclass(frozen=True, slots=True)
class Question:
    """All that a system sees of an example: never a label."""

    query_id: str  #: identity within the set.
    query: str  #: the question.
    history: tuple[Turn, ...] = ()  #: earlier turns of the conversation.
    repeat: int = 0  #: 0 for the first time that it is asked, 1 for the second ...


class System(ABC):
    """A RAG system as ragauge calls it. An adapter subclasses this and supplies `respond`.

    Args:
        name: what the run records as the system; the same name and config continue a stopped run.
        config: its settings, for the record: JSON types, no secrets.
        variants: what it can do beside "own".

    Attributes:
        secrets: texts that must not be stored or shown, such as the values of headers.
        address: URL that is called for an answer, of a service or of a model; "" where it is not known. Whoever else
            calls that endpoint shares its limits.
        measured: False where responses bring their latency, as recorded ones do; else the caller measures the total.
    """

    #: what to write so that the variants work that it cannot do; said in the error.
    implement: ClassVar[str] = "a system whose generator takes passages"

    def __init__(
        self, name: str, config: Mapping[str, Any] | None = None, variants: Collection[Variant] = OWN_ONLY
    ) -> None:
        self.name = name
        self.config: Mapping[str, Any] = dict(config or {})
        self.variants: frozenset[Variant] = frozenset(variants) | OWN_ONLY
        self.secrets: tuple[str, ...] = ()
        self.address = ""
        self.measured = True
        self._threads = Threads()

    @abstractmethod
    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question.

        Runs on the caller's event loop, many at a time; blocking work belongs into `systems.base.Threads`.

        Args:
            question: what is asked.
            passages: None = the system retrieves for itself; otherwise its generator answers from these, () = from
                none. Handed only to a system that says it can: see `variants`.

        Returns:
            Its response; `systems.returned.response_of` makes one of nearly everything.

        Raises:
            SystemTrouble: it brought none, and what kind of failure that is. Any other exception is one of kind
                "exception", or what `classify_error` knows it for.
        """

    async def close(self) -> None:
        """Gives back what it holds; on the loop that it was used on. By default the threads that wait for calls."""
        self._threads.close()

    def check_variant(self, variant: Variant) -> None:
        """Refuses a variant that the system cannot do.

        Raises:
            UsageError: what to implement.
        """
        if variant not in self.variants:
            raise UsageError(
                f"{self.name} cannot run with {VARIANT_INPUTS.get(variant, variant)} ({variant}), because it does its "
                f"own retrieval. Give it {self.implement}."
            )


def check_setting_names(settings: Mapping[str, Any], valid_names: Collection[str], whose: str) -> None:
    """Refuses a setting that nothing reads.

    Raises:
        UnknownName: with the nearest.
    """
    for name in settings:
        if name not in valid_names:
            hint = "Put values that are only recorded under config." if "config" in valid_names else ""
            raise UnknownName(f"setting of {whose}", str(name), valid_names, hint)


def read_mapping(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A setting that holds names and values; empty where it is not there.

    Raises:
        UsageError: it is something else.
    """
    value = settings.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageError(f"{name}: expected names with values, such as {name}: {{k: 8}}, got {value!r}.")
    return value


Kind = Literal[
    "rate_limited",
    "server",
    "connection",
    "timeout",
    "auth",
    "not_found",
    "refused",
    "unreadable",
    "exception",
    "absent",
    "reported",
]
TRANSIENT_KINDS: frozenset[Kind] = frozenset({"server", "connection"})  # worth another try
# so early in a run, nothing answered yet, these say that the system is not the one meant
FATAL_KINDS: frozenset[Kind] = frozenset({"auth", "not_found", "connection", "unreadable"})
RATE_LIMIT_NAMES = ("RateLimit", "TooManyRequests", "ResourceExhausted", "Throttling")  # in the names of exceptions
MIN_CLIENT_ERROR, MIN_SERVER_ERROR, RATE_LIMIT_STATUS = 400, 500, 429
# where code that is not the system's is
FOREIGN_FOLDERS = (Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])


class SystemTrouble(SystemFailed):
    """One question brought no response.

    Attributes:
        kind: what went wrong: rate_limited, server (5xx), connection, timeout, auth, not_found, refused (another 4xx),
            unreadable (it returned what no response can be made of), exception, absent, reported (by the system).
        retry_after: seconds that the system asked to wait; None where it said nothing.
        spent: a response with the latency, tokens and cost that its reply carried all the same; None for none.
        seconds: that the attempt took; None where nobody has measured it.
    """

    def __init__(
        self, kind: Kind, text: str, *, retry_after: float | None = None, spent: Response | None = None
    ) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.retry_after = retry_after
        self.spent = spent
        self.seconds: float | None = None


def classify_error(error: BaseException) -> SystemTrouble:
    """What an exception of a system means; clients of every kind are known by what theirs carry.

    A status code stands in `status_code`, `status` or `code`, of the exception or of its `response`.

    >>> classify_error(ConnectionResetError("gone")).kind, classify_error(ValueError("no")).kind
    ('connection', 'exception')
    """
    if isinstance(error, SystemTrouble):
        return error
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    status = _find_status(error)
    names = " ".join(cls.__name__ for cls in type(error).__mro__)
    if status == RATE_LIMIT_STATUS or any(marker in names for marker in RATE_LIMIT_NAMES):
        return SystemTrouble("rate_limited", text, retry_after=_find_retry_after(error))
    if isinstance(error, TimeoutError) or "Timeout" in names:
        return SystemTrouble("timeout", text)
    if status is not None:
        return SystemTrouble(classify_status(status), text, retry_after=_find_retry_after(error))
    if isinstance(error, ConnectionError) or "ConnectionError" in names or "ConnectError" in names:
        return SystemTrouble("connection", text)
    return SystemTrouble("exception", f"{text}{_describe_source_line(error)}")


def classify_status(status: int) -> Kind:
    """What an HTTP status other than success means.

    >>> classify_status(429), classify_status(503), classify_status(401), classify_status(404), classify_status(422)
    ('rate_limited', 'server', 'auth', 'not_found', 'refused')
    """
    if status == RATE_LIMIT_STATUS:
        return "rate_limited"
    if status >= MIN_SERVER_ERROR or status in (408, 409, 425):
        return "server"
    if status in (401, 403, 407):
        return "auth"
    return "not_found" if status in (404, 405, 410) or status < MIN_CLIENT_ERROR else "refused"  # a redirect: not here


def parse_retry_after(header: Any) -> float | None:
    """Retry-After as seconds from now: a number, or a date; None where it is neither.

    >>> parse_retry_after("1.5"), parse_retry_after("soon"), parse_retry_after(None)
    (1.5, None, None)
    """
    try:
        seconds = float(header)
    except (TypeError, ValueError):
        try:
            seconds = (parsedate_to_datetime(str(header)) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _find_status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _describe_source_line(error: BaseException) -> str:
    """The innermost line of the system's own code that an exception came through; "" where it came through none.

    What is installed, what belongs to Python, and what is ours is not its own.
    """
    source_line = ""
    for frame, line in walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if (
            path.suffix == ".py"
            and not any(path.is_relative_to(folder) for folder in FOREIGN_FOLDERS)
            and (not {"site-packages", "dist-packages"} & set(path.parts))
        ):
            source_line = f" ({path.name} line {line}, in {frame.f_code.co_name})"
    return source_line


def _find_retry_after(error: BaseException) -> float | None:
    own_seconds = parse_retry_after(getattr(error, "retry_after", None))
    if own_seconds is not None:
        return own_seconds
    for holder in (error, getattr(error, "response", None)):
        headers: Any = getattr(holder, "headers", None)
        if hasattr(headers, "get"):
            header_seconds = parse_retry_after(headers.get("retry-after") or headers.get("Retry-After"))
            if header_seconds is not None:
                return header_seconds
    return None


NUMBERED = "numbered"


def parse_citation_setting(setting: object) -> bool:
    """Whether the setting `citations` asks for numbers to be read in every answer, also where an answer has none.

    Raises:
        UnknownName: another value.
    """
    if setting not in (None, NUMBERED):
        raise UnknownName("way to read citations", str(setting), [NUMBERED])
    return setting == NUMBERED


T = TypeVar("T")
Work = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Threads:
    """Runs each call in a daemon thread; idle threads are used again.

    A call that its caller gave up keeps its thread until it returns, and nobody waits for it: a pool of a fixed size
    would fill up with calls that hang, and would hold up the end of the program.
    """

    def __init__(self) -> None:
        self._idle: deque[_Thread] = deque()

    async def call_in_thread(self, work: Callable[[], T]) -> T:
        """What the function returns, or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        thread = self._idle.pop() if self._idle else _Thread()
        context = contextvars.copy_context()
        thread.work.put((lambda: context.run(work), future, loop))
        try:
            result = await asyncio.shield(future)
        except asyncio.CancelledError:
            thread.work.put(None)  # ends when the call does
            future.add_done_callback(_consume_exception)
            raise
        except BaseException:
            self._idle.append(thread)
            raise
        self._idle.append(thread)
        return result

    def close(self) -> None:
        """Ends the idle threads."""
        while self._idle:
            self._idle.pop().work.put(None)


class _Thread:
    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        threading.Thread(target=self._run_calls, name="ragauge-system", daemon=True).start()

    def _run_calls(self) -> None:
        while (item := self.work.get()) is not None:
            work, future, loop = item
            result: Any = None
            error: BaseException | None = None
            try:
                result = work()
            except Exception as raised:
                error = raised
            except BaseException as raised:  # sys.exit() of a system ends one call, not the run
                error = RuntimeError(f"{type(raised).__name__}: {raised}")
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_resolve_future, future, result, error)


def _resolve_future(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # a future cannot hold it
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        future.set_exception(error)


def _consume_exception(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
