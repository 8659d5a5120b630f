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
from ragauge.readers.aliases import ALIASES, FIELDS, to_snake_case
from ragauge.readers.passages import KNOWN_KEYS

MAX_DEPTH = 100  # levels of objects in objects; what is deeper is taken out whole
MAX_WAY_NAMES = 8  # names on the way to a part of a value that are joined, the last ones
KEPT_NAMES = KNOWN_KEYS | {*FIELDS, *(alias.theirs for alias in ALIASES)}  # names that stay whatever a pattern matches
SAMPLER_ENTRY = re.compile(r"\s*ot=[a-z]+:[0-9a-f]{1,14}(?:;[a-z]+:[0-9a-f]{1,14})*\s*")  # of a tracestate
TOO_DEEP = b'"an object that is nested too deeply"'  # in place of a line: what is no object is left out and counted


@dataclass(frozen=True)
class Redaction:
    """Which values are never kept."""

    #: names whose values are taken out whole; * stands for anything: "user.*". Within a value the names on the way to a
    #: part are joined by dots, the last eight, from whichever on: of {user: {id}} user.id and id.
    attributes: tuple[str, ...] = ()
    #: regular expressions; what they match in any text is replaced by a hash, the same for the same text.
    patterns: tuple[str, ...] = ()
    key: str = ""  #: of the hashes, so that nobody can try out texts against them.

    @property
    def is_active(self) -> bool:
        """Whether anything is taken out."""
        return bool(self.attributes or self.patterns)

    @cached_property
    def _name_pattern(self) -> re.Pattern[str] | None:
        return re.compile("|".join(map(translate, self.attributes))) if self.attributes else None

    @cached_property
    def _text_pattern(self) -> re.Pattern[str] | None:
        return re.compile("|".join(f"(?:{pattern})" for pattern in self.patterns)) if self.patterns else None

    def redact_message(self, request: Any) -> bool:
        """Takes values out of a message of spans, events or gauges; whether it has been looked through."""
        if not self.is_active:
            return False
        request.DiscardUnknownFields()  # nobody knows what they hold
        for resource in _get_first_field(request, "resource_spans", "resource_logs", "resource_metrics"):
            self._redact_attributes(resource.resource.attributes)
            for scope in _get_first_field(resource, "scope_spans", "scope_logs", "scope_metrics"):
                self._redact_attributes(scope.scope.attributes)
                for item in _get_first_field(scope, "spans", "log_records"):
                    self._redact_item(item)
                for metric in _get_first_field(scope, "metrics"):
                    for point in metric.gauge.data_points:
                        self._redact_attributes(point.attributes)
        return True

    def redact_lines(self, body: bytes) -> bytes:
        """JSON lines without the values that are taken out; a line that is no JSON stays one that is none."""
        return b"\n".join(map(self._redact_line, body.splitlines())) if self.is_active else body

    def _redact_line(self, line: bytes) -> bytes:
        try:
            row = json.loads(line)
        except RecursionError:
            return TOO_DEEP
        except ValueError:
            return line
        row = self._hash_within(self._remove_named(row, ()))
        return json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")

    def text(self, text: str) -> str:
        """A text, with what the patterns match replaced."""
        return self._text_pattern.sub(self._hash_match, text) if self._text_pattern is not None else text

    def _hash_match(self, match: re.Match[str]) -> str:
        if not match[0]:
            return ""
        digest = hmac.new(self.key.encode(), match[0].encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[redacted:{digest.hexdigest()[:12]}]"

    def _redact_item(self, item: Any) -> None:
        self._redact_attributes(item.attributes)
        for holder in (item, *getattr(item, "events", ())):
            for field in ("name", "event_name", "severity_text"):
                if getattr(holder, field, ""):
                    setattr(holder, field, self.text(getattr(holder, field)))
        for child in (*getattr(item, "events", ()), *getattr(item, "links", ())):
            self._redact_attributes(child.attributes)
        for stated in (item, *getattr(item, "links", ())):
            if getattr(stated, "trace_state", ""):
                stated.trace_state = self._redact_state(stated.trace_state)
        if hasattr(item, "body"):
            self._redact_value(item.body, ("body",))
        status = getattr(item, "status", None)
        if status is not None and status.message:
            status.message = self.text(status.message)

    def _redact_state(self, state: str) -> str:
        """A tracestate; the sampler's own entry stays, since the weight of the request stands there."""
        return ",".join(entry if SAMPLER_ENTRY.fullmatch(entry) else self.text(entry) for entry in state.split(","))

    def _is_redacted(self, way: tuple[str, ...]) -> bool:
        """Whether a part of a value is one of those that are taken out, by the names on the way to it."""
        names = self._name_pattern
        near = way[-MAX_WAY_NAMES:]
        return names is not None and any(names.match(".".join(near[n:])) for n in range(len(near)))

    def _redact_attributes(self, attributes: Iterable[Any], way: tuple[str, ...] = ()) -> None:
        for attribute in attributes:
            within = (*way, attribute.key)
            if self._is_redacted(within):
                attribute.value.Clear()
                attribute.value.string_value = REDACTED
            else:
                self._redact_value(attribute.value, within)
            if way:  # the names of attributes themselves are the instrumentation's
                attribute.key = self._redact_key(attribute.key)

    def _redact_value(self, value: Any, way: tuple[str, ...]) -> None:
        match value.WhichOneof("value"):
            case "string_value":
                value.string_value = self.text(self._redact_json_text(value.string_value, way))
            case "array_value":
                for item in value.array_value.values:
                    self._redact_value(item, way)
            case "kvlist_value":
                self._redact_attributes(value.kvlist_value.values, way)

    def _redact_json_text(self, text: str, way: tuple[str, ...], depth: int = 0) -> str:
        """A text; where it is JSON, without the parts that are taken out by their names."""
        if self._name_pattern is None or not text.lstrip().startswith(("{", "[")):
            return text
        try:
            row = json.loads(text)
        except RecursionError:
            return REDACTED
        except ValueError:
            return text
        remaining = self._remove_named(row, way, depth)
        return text if remaining == row else json.dumps(remaining, ensure_ascii=False)

    def _remove_named(self, value: Any, way: tuple[str, ...], depth: int = 0) -> Any:
        """A value of JSON without the parts that are taken out by their names, in texts that are JSON too."""
        if isinstance(value, str):
            return self._redact_json_text(value, way, depth + 1)
        if not isinstance(value, list | Mapping):
            return value
        if depth > MAX_DEPTH:
            return REDACTED
        if isinstance(value, list):
            return [self._remove_named(item, way, depth + 1) for item in value]
        return {
            key: REDACTED if self._is_redacted((*way, key)) else self._remove_named(item, (*way, key), depth + 1)
            for key, item in value.items()
        }

    def _hash_within(self, value: Any) -> Any:
        """A value of JSON, with what the patterns match replaced, in names too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._hash_within(item) for item in value]
        if isinstance(value, Mapping):
            return {self._redact_key(key): self._hash_within(item) for key, item in value.items()}
        return value

    def _redact_key(self, key: str) -> str:
        """A name within a value; those that readers know stay."""
        hashed = self.text(key)
        return key if hashed != key and to_snake_case(key) in KEPT_NAMES else hashed


def _get_first_field(holder: Any, *names: str) -> Iterable[Any]:
    """What a message holds in the first of these fields that it has."""
    return next((getattr(holder, name) for name in names if hasattr(holder, name)), ())
