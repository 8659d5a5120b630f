"""Spans as OTLP/JSON, for tests: what an exporter writes, from plain values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragauge.core.response import Record
from ragauge.readers.source import read_source

TRACE = "5b8efff798038103d269b633813fc60c"


def value(held: Any) -> dict[str, Any]:
    """A value as OTLP/JSON writes it."""
    match held:
        case bool():
            return {"boolValue": held}
        case int():
            return {"intValue": str(held)}
        case float():
            return {"doubleValue": held}
        case str():
            return {"stringValue": held}
        case list():
            return {"arrayValue": {"values": [value(item) for item in held]}}
        case dict():
            return {"kvlistValue": {"values": attributes(held)}}
    return {}


def attributes(named: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(held)} for key, held in named.items()]


def span(n: int, parent: int = 0, named: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    """A span that lasts from n to 100 - n seconds, inside the span `parent` (0 = none)."""
    events = [{"name": name, "attributes": attributes(held)} for name, held in other.pop("events", [])]
    return {
        "traceId": TRACE,
        "spanId": f"{n:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"step {n}",
        "startTimeUnixNano": str(n * 10**9),
        "endTimeUnixNano": str((100 - n) * 10**9),
        "attributes": attributes(named or {}),
        "events": events,
        **other,
    }


def batch(spans: list[dict[str, Any]], service: str = "shop") -> dict[str, Any]:
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def written(path: Path, *batches: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in batches))
    return path


def read(path: Path, *spans: dict[str, Any]) -> list[Record]:
    """What a file of these spans is read as; warnings are dropped."""
    return list(read_source(written(path / "traces.jsonl", batch(list(spans))), warn=lambda _: None))
