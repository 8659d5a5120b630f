"""What models said, kept once for all runs: listed, removed, carried to another store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.verbs.files import make_folder
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.option_specs import with_options
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.store.replies import ReplyInfo
    from ragauge.store.store_access import Store

NO_REPLIES = "No replies are stored yet. A model judge stores them: ragauge evaluate FILE --judge openai:MODEL"


@dataclass(frozen=True, slots=True)
class ReplyFilter:
    """Which replies: those that match all that is given; everything where nothing is."""

    model: str = ""  #: as `ragauge store cache` lists it, such as openai:gpt-5-mini.
    question: str = ""  #: such as verify_answer.
    before: str = ""  #: a date or time; older ones. Without a zone it is UTC.
    failed: bool = False  #: only those in which the model gave nothing to read: filtered, cut off.


@with_options(store=StoreOption)
def list_replies(store: str | None = None) -> list[dict[str, Any]]:
    """The stored replies by model and question, as JSON types."""
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return [_build_row(group) for group in opened_store.replies.groups()]


def _build_row(group: ReplyInfo) -> dict[str, Any]:
    return {
        "model": str(group.model),
        "question": group.question,
        "replies": group.n,
        "failed": group.failed,
        "bytes": group.bytes,
        "first": group.first,
        "last": group.last,
    }


def count_replies(reply_filter: ReplyFilter, store: str | None = None) -> int:
    """How many replies match.

    Raises:
        UnknownName: no reply is by this model, or to this question.
        UsageError: a date that cannot be read.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return opened_store.replies.matching(**_build_conditions(reply_filter, opened_store))


def prune_replies(reply_filter: ReplyFilter, store: str | None = None) -> int:
    """Removes the replies that match; returns how many. Evidence and scores that were read from them stay.

    Raises:
        UnknownName: no reply is by this model, or to this question.
        UsageError: a date that cannot be read.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return opened_store.replies.prune(**_build_conditions(reply_filter, opened_store))


def _build_conditions(reply_filter: ReplyFilter, store: Store) -> dict[str, Any]:
    groups = store.replies.groups()
    models, questions = {str(group.model) for group in groups}, {group.question for group in groups}
    if reply_filter.model and reply_filter.model not in models:
        raise UnknownName("stored reply from the model", reply_filter.model, models)
    if reply_filter.question and reply_filter.question not in questions:
        raise UnknownName("stored reply to the question", reply_filter.question, questions)
    return {
        "model": reply_filter.model,
        "question": reply_filter.question,
        "before_time": _parse_moment(reply_filter.before),
        "failed_only": reply_filter.failed,
    }


def _parse_moment(text: str) -> str:
    """A date or time as the store writes it."""
    if not text:
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--before: expected a date such as 2026-01-31, got {text!r}.") from None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds")


def export_replies(path: Path, store: str | None = None) -> int:
    """Writes every reply with its ask as a JSON line, whole or not at all; returns how many.

    Raises:
        UsageError: the file's name does not end in .jsonl or .jsonl.gz.
    """
    from ragauge.core.jsonl_files import open_text_writer
    from ragauge.store.store_access import open_store

    if not path.name.lower().endswith((".jsonl", ".jsonl.gz")):
        raise UsageError(f"{path}: expected a file that ends in .jsonl or .jsonl.gz.")
    make_folder(path)
    n = 0
    with open_store(resolve_store_url(store)) as opened_store, open_text_writer(path) as file:
        for line in opened_store.replies.iter_lines():
            file.write(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n")
            n += 1
    return n


def import_replies(path: Path, store: str | None = None) -> tuple[int, int]:
    """Reads such a file in, all of it or nothing: (added, already there).

    Raises:
        DataError: a line that is none, or whose key does not follow from its ask.
    """
    from ragauge.store.store_access import open_store

    if not path.is_file():
        raise DataError("no such file.", source=str(path), hint="ragauge store cache export FILE.jsonl writes one.")
    with open_store(resolve_store_url(store)) as opened_store:
        try:
            return opened_store.replies.add_lines(_iter_replies(path))
        except DataError as error:
            raise error if error.source else DataError(str(error), source=str(path)) from None


def _iter_replies(path: Path) -> Iterator[Mapping[str, Any]]:
    from ragauge.readers.lines import read_lines

    for n, text in read_lines(path):
        if not text.strip():
            continue
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"is not valid JSON: {error}.", source=str(path), line=n) from None
        if not isinstance(reply, dict):
            raise DataError(f"expected an object, got {type(reply).__name__}.", source=str(path), line=n)
        yield reply


def format_size(count: int) -> str:
    """Bytes as people read them.

    >>> format_size(900), format_size(1_234), format_size(56_700_000)
    ('900 B', '1.2 kB', '56.7 MB')
    """
    if count < 1_000:
        return f"{count} B"
    for unit, power in (("kB", 1), ("MB", 2), ("GB", 3)):
        if count < 1_000 ** (power + 1) or unit == "GB":
            return f"{count / 1_000**power:.1f} {unit}"
    raise AssertionError


def build_table(rows: Sequence[Mapping[str, Any]], _: object = None) -> RenderableType:
    """The list for a terminal."""
    from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
    from ragauge.rendering.words import make_safe
    from ragauge.rendering.writers.terminal import render_terminal

    if not rows:
        return render_terminal([ReportSection(lead=(NO_REPLIES,))])
    total = {name: sum(row[name] for row in rows) for name in ("replies", "failed", "bytes")}
    feet = [f"{total['replies']:,}", f"{total['failed']:,}", format_size(total["bytes"])] if len(rows) > 1 else [""] * 3
    counts = zip(("replies", "failed", "size"), feet, strict=True)
    headers = (
        ReportColumn("model", fold=True, foot="total" if len(rows) > 1 else ""),
        ReportColumn("question", whole=True),
        *(ReportColumn(name, "number", whole=True, foot=foot) for name, foot in counts),
        ReportColumn("first", whole=True),
        ReportColumn("last", whole=True),
    )
    table_rows = []
    for row in rows:
        times = (row[name][:16].replace("T", " ") for name in ("first", "last"))
        numbers = f"{row['replies']:,}", f"{row['failed']:,}", format_size(row["bytes"])
        table_rows.append((make_safe(row["model"]), row["question"], *numbers, *times))
    return render_terminal([ReportSection(table=ReportTable(headers, tuple(table_rows)))])
