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

from ragauge.data.response import REDACTED


@dataclass(frozen=True)
class Redaction:
    """Which values are never kept.

    Attributes:
        attributes: names whose values are taken out whole; * stands for anything: "user.*".
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
        for resource in _listed(request, "resource_spans", "resource_logs", "resource_metrics"):
            self._attributes(resource.resource.attributes)
            for scope in _listed(resource, "scope_spans", "scope_logs", "scope_metrics"):
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
            row = self._plain(json.loads(line))
        except (ValueError, RecursionError):
            return line
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
        for event in getattr(item, "events", ()):
            self._attributes(event.attributes)
        if getattr(item, "name", ""):
            item.name = self.text(item.name)
        if hasattr(item, "body"):
            self._value(item.body)
        status = getattr(item, "status", None)
        if status is not None and status.message:
            status.message = self.text(status.message)

    def _attributes(self, attributes: Iterable[Any]) -> None:
        for one in attributes:
            if self._names is not None and self._names.match(one.key):
                one.value.Clear()
                one.value.string_value = REDACTED
            else:
                self._value(one.value)

    def _value(self, value: Any) -> None:
        match value.WhichOneof("value"):
            case "string_value":
                value.string_value = self.text(value.string_value)
            case "array_value":
                for item in value.array_value.values:
                    self._value(item)
            case "kvlist_value":
                self._attributes(value.kvlist_value.values)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if isinstance(value, Mapping):
            names = self._names
            return {
                key: REDACTED if names is not None and names.match(key) else self._plain(item)
                for key, item in value.items()
            }
        return value


def _listed(holder: Any, *names: str) -> Iterable[Any]:
    """What a message holds in the first of these fields that it has."""
    return next((getattr(holder, name) for name in names if hasattr(holder, name)), ())
