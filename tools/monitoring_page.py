"""Write the table of keys in docs/monitoring.md: what the section monitor of ragauge.yaml may say.

python tools/monitoring_page.py            writes it again
python tools/monitoring_page.py --check    exit 1 when it is stale
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from ragauge.core.config.monitor import MonitorSection
from ragauge.core.config.section import Section
from ragauge.core.config.times import format_duration

PAGE = Path(__file__).resolve().parents[1] / "docs/monitoring.md"
BEGIN, END = "<!-- keys, written by tools/monitoring_page.py: begin -->\n", "<!-- keys: end -->\n"
KINDS = {  # what reads a value -> how it is written
    "parse_duration": "time: 30s, 5m, 12h, 7d",
    "_parse_days": "days: 28d",
    "_parse_rate": "share: 5% or 0.05",
    "_parse_cron": "cron",
    "_parse_zone": "time zone",
    "parse_drop": "3% or 3 points",
    "_parse_level": "number or %",
    "parse_false_alarm_budget": "chance per days",
    "_parse_amount": "number above 0",
    "_parse_count": "whole number, 1 or more",
    "_check_passages": "union, last or span:NAME",
    "format_judge_spec": "text, or {model, …}",
}
PLAIN: dict[Any, str] = {bool: "true or false", int: "whole number", float: "number", str: "text"}


def rows(model: type[Section] = MonitorSection, above: str = "") -> Iterator[str]:
    """A row for each key, those of a section inside below it."""
    for name, field in model.model_fields.items():
        inside = [one for one in _types(field.annotation) if isinstance(one, type) and issubclass(one, Section)]
        listed = get_origin(field.annotation) is tuple
        key = f"{above}{field.alias or name}"
        kind = ("list of " if listed else "") + ("keys" if inside else _kind(field))
        yield f"`{key}` | {kind} | {_default(field)} | {field.description}"
        for section in inside:
            yield from rows(section, f"{key}{'[]' if listed else ''}.")


def _kind(field: FieldInfo) -> str:
    for reader in [*field.metadata, *_types(field.annotation)]:
        if isinstance(reader, BeforeValidator):
            said = KINDS[getattr(reader.func, "__name__", "")]
            return f"segment: {said}" if get_origin(field.annotation) is dict else said
    found = _types(field.annotation)
    if get_origin(field.annotation) is dict:
        return "name: name"
    choices = [str(word) for one in found if get_origin(one) is Literal for word in get_args(one)]
    return ", ".join(choices) or next(PLAIN[one] for one in found if one in list(PLAIN))


def _types(annotation: Any) -> list[Any]:
    """A type, and all types and what reads them in it."""
    return [annotation, *(inner for part in get_args(annotation) for inner in _types(part))]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be said"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Section) or value in (None, (), {}, ""):
        return "–"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "false" if value is False else str(value)


def main() -> int:
    """Writes or checks the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    made = f"{before}{BEGIN}\n" + "\n".join(["key | written | default | what it does", "---|---|---|---", *rows()])
    made += f"\n\n{END}{rest.partition(END)[2]}"
    if "--check" in sys.argv[1:]:
        if made != page:
            print("docs/monitoring.md is stale. Write it again with: python tools/monitoring_page.py", file=sys.stderr)
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
