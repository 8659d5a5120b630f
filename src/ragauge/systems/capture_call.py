"""One question to a captured system: what is known of it while it is answered, and its line in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter, time
from typing import Any, TypedDict, Unpack

from ragauge.data.example import Example
from ragauge.data.readers.payloads import entered
from ragauge.data.records import Record
from ragauge.data.response import Response
from ragauge.data.writers.jsonl import line
from ragauge.systems.base import Question
from ragauge.systems.returned import passages_of, response_of
from ragauge.systems.troubles import SystemTrouble

NO_QUESTION = "(no question)"
Hop = tuple[str, Any, float]     # "passages" or "candidates", what was returned, milliseconds


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
        for one in passages:
            union.setdefault(one.passage_id, replace(one, hop=hop))
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
