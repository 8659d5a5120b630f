"""A question that is being answered, as a capture records it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter, time
from typing import Any, TypedDict, Unpack

from ragauge.core.example import Example
from ragauge.core.jsonl_files import format_record
from ragauge.core.response import Record, Response
from ragauge.readers.messages import parse_input
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
