"""What is taken out of traces before anything of them is kept."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from typing import Any

from ragauge.core.response import REDACTED
from ragauge.readers.aliases import ALIASES, FIELDS, snake
from ragauge.readers.passages import KNOWN_KEYS

DEEPEST = 100  # levels of objects in objects; what is deeper is taken out whole
LONGEST_WAY = 8  # names on the way to a part of a value that are joined, the last ones
COLUMNS = KNOWN_KEYS | {*FIELDS, *(alias.theirs for alias in ALIASES)}  # names that stay whatever a pattern matches
SAMPLER = re.compile(r"\s*ot=[a-z]+:[0-9a-f]{1,14}(?:;[a-z]+:[0-9a-f]{1,14})*\s*")  # of a tracestate
TOO_DEEP = b'"an object that is nested too deeply"'  # in place of a line: what is no object is left out and counted


@dataclass(frozen=True)
class Redaction:
    """Which values are never kept.

    Attributes:
        attributes: names whose values are taken out whole; * stands for anything: "user.*". Within a value the names on
            the way to a part are joined by dots, the last eight, from whichever on: of {user: {id}} user.id and id.
        patterns: regular expressions; what they match in any text is replaced by a hash, the same for the same text.
        key: of the hashes, so that nobody can try out texts against them.
    """

    attributes: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    key: str = ""

    @property
    def active(self) -> bool:
        """Whether anything is taken out."""
        return bool(self.attributes or self.patterns)

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        return re.compile("|".join(map(translate, self.attributes))) if self.attributes else None

    @cached_property
    def _texts(self) -> re.Pattern[str] | None:
        return re.compile("|".join(f"(?:{pattern})" for pattern in self.patterns)) if self.patterns else None

    def redact(self, request: Any) -> bool:
        """Takes values out of a message of spans, events or gauges; whether it has been looked through."""
        if not self.active:
            return False
        request.DiscardUnknownFields()  # nobody knows what they hold
        for resource in _listed(request, "resource_spans", "resource_logs", "resource_metrics"):
            self._attributes(resource.resource.attributes)
            for scope in _listed(resource, "scope_spans", "scope_logs", "scope_metrics"):
                self._attributes(scope.scope.attributes)
                for item in _listed(scope, "spans", "log_records"):
                    self._item(item)
                for metric in _listed(scope, "metrics"):
                    for point in metric.gauge.data_points:
                        self._attributes(point.attributes)
        return True

    def redact_lines(self, body: bytes) -> bytes:
        """JSON lines without the values that are taken out; a line that is no JSON stays one that is none."""
        return b"\n".join(map(self._line, body.splitlines())) if self.active else body

    def _line(self, line: bytes) -> bytes:
        try:
            row = json.loads(line)
        except RecursionError:
            return TOO_DEEP
        except ValueError:
            return line
        row = self._hashed_within(self._without(row, ()))
        return json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")

    def text(self, text: str) -> str:
        """A text, with what the patterns match replaced."""
        return self._texts.sub(self._hashed, text) if self._texts is not None else text

    def _hashed(self, found: re.Match[str]) -> str:
        if not found[0]:
            return ""
        digest = hmac.new(self.key.encode(), found[0].encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[redacted:{digest.hexdigest()[:12]}]"

    def _item(self, item: Any) -> None:
        self._attributes(item.attributes)
        for named in (item, *getattr(item, "events", ())):
            for field in ("name", "event_name", "severity_text"):
                if getattr(named, field, ""):
                    setattr(named, field, self.text(getattr(named, field)))
        for held in (*getattr(item, "events", ()), *getattr(item, "links", ())):
            self._attributes(held.attributes)
        for stated in (item, *getattr(item, "links", ())):
            if getattr(stated, "trace_state", ""):
                stated.trace_state = self._state(stated.trace_state)
        if hasattr(item, "body"):
            self._value(item.body, ("body",))
        status = getattr(item, "status", None)
        if status is not None and status.message:
            status.message = self.text(status.message)

    def _state(self, state: str) -> str:
        """A tracestate; the sampler's own entry stays, since the weight of the request stands there."""
        return ",".join(one if SAMPLER.fullmatch(one) else self.text(one) for one in state.split(","))

    def _named(self, way: tuple[str, ...]) -> bool:
        """Whether a part of a value is one of those that are taken out, by the names on the way to it."""
        names = self._names
        near = way[-LONGEST_WAY:]
        return names is not None and any(names.match(".".join(near[n:])) for n in range(len(near)))

    def _attributes(self, attributes: Iterable[Any], way: tuple[str, ...] = ()) -> None:
        for one in attributes:
            within = (*way, one.key)
            if self._named(within):
                one.value.Clear()
                one.value.string_value = REDACTED
            else:
                self._value(one.value, within)
            if way:  # the names of attributes themselves are the instrumentation's
                one.key = self._key(one.key)

    def _value(self, value: Any, way: tuple[str, ...]) -> None:
        match value.WhichOneof("value"):
            case "string_value":
                value.string_value = self.text(self._opened(value.string_value, way))
            case "array_value":
                for item in value.array_value.values:
                    self._value(item, way)
            case "kvlist_value":
                self._attributes(value.kvlist_value.values, way)

    def _opened(self, text: str, way: tuple[str, ...], depth: int = 0) -> str:
        """A text; where it is JSON, without the parts that are taken out by their names."""
        if self._names is None or not text.lstrip().startswith(("{", "[")):
            return text
        try:
            row = json.loads(text)
        except RecursionError:
            return REDACTED
        except ValueError:
            return text
        left = self._without(row, way, depth)
        return text if left == row else json.dumps(left, ensure_ascii=False)

    def _without(self, value: Any, way: tuple[str, ...], depth: int = 0) -> Any:
        """A value of JSON without the parts that are taken out by their names, in texts that are JSON too."""
        if isinstance(value, str):
            return self._opened(value, way, depth + 1)
        if not isinstance(value, list | Mapping):
            return value
        if depth > DEEPEST:
            return REDACTED
        if isinstance(value, list):
            return [self._without(item, way, depth + 1) for item in value]
        return {
            key: REDACTED if self._named((*way, key)) else self._without(item, (*way, key), depth + 1)
            for key, item in value.items()
        }

    def _hashed_within(self, value: Any) -> Any:
        """A value of JSON, with what the patterns match replaced, in names too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._hashed_within(item) for item in value]
        if isinstance(value, Mapping):
            return {self._key(key): self._hashed_within(item) for key, item in value.items()}
        return value

    def _key(self, key: str) -> str:
        """A name within a value; those that readers know stay."""
        hashed = self.text(key)
        return key if hashed != key and snake(key) in COLUMNS else hashed


def _listed(holder: Any, *names: str) -> Iterable[Any]:
    """What a message holds in the first of these fields that it has."""
    return next((getattr(holder, name) for name in names if hasattr(holder, name)), ())
