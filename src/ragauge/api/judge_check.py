"""A judge held against human labels: how far it can be trusted on data of one's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.api.given.calls import USUAL, Calls
from ragauge.api.given.sources import store_url
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.analysis.judges.check import JudgeCheck
    from ragauge.data.labelled import Labelled
    from ragauge.engine.execute import Progress
    from ragauge.engine.judge_check import Way

REFERENCE = "local"
MODES = ("fused", "per_claim")


@dataclass(frozen=True)
class Checking:
    """What to check, and how.

    Attributes:
        source: the labelled file: a path or a table; `data.readers.labelled` says what it holds.
        judges: specs; the local judge is always added as a free line to compare with.
        modes: ways in which a language model is asked: fused, per_claim; a mode in its spec goes first.
        limit: so many rows, drawn at random, always the same; None = all.
        columns: our field -> the file's column.
        segments: columns to report by.
        supported: values of the label that mean supported, all others not; () = the usual words.
        calls: how models are called.
    """

    source: Any
    judges: Sequence[str] = ()
    modes: Sequence[str] = MODES
    limit: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    segments: Sequence[str] = ()
    supported: Collection[str] = ()
    calls: Calls = USUAL


def rows_of(wanted: Checking) -> list[Labelled]:
    """The labelled rows.

    Raises:
        DataError: a file that cannot be read, with line, field and the nearest name.
    """
    from ragauge.data.readers.labelled import LabelOptions, read_labelled

    rows = list(read_labelled(wanted.source, LabelOptions(wanted.columns, wanted.segments, wanted.supported)))
    if wanted.limit is None or wanted.limit >= len(rows):
        return rows
    if wanted.limit < 1:
        raise UsageError(f"limit must be at least 1, got {wanted.limit}.")
    return [rows[n] for n in sorted(random.Random(0).sample(range(len(rows)), wanted.limit))]  # noqa: S311 - a draw


def ways_of(wanted: Checking) -> tuple[Way, ...]:
    """The judges, each in its ways of being asked; the local one last.

    Raises:
        UnknownName: no such judge, provider, setting or mode.
    """
    from ragauge.engine.judge_check import ways
    from ragauge.errors import UnknownName

    for mode in wanted.modes:
        if mode not in MODES:
            raise UnknownName("mode of a judge", mode, MODES)
    return ways((*wanted.judges, REFERENCE), wanted.modes or MODES)


async def check_judge(
    wanted: Checking, store: str | None = None, progress: Callable[[Progress], None] | None = None
) -> JudgeCheck:
    """Asks the judges about every row and compares with what people said; what models said is kept in the store.

    Raises:
        DataError: a file that cannot be read.
        JudgeError: a model cannot be asked at all.
        RagaugeError: a bound on cost, and a model whose price is unknown.
    """
    from ragauge.analysis.judges.check import report
    from ragauge.engine.judge_check import check
    from ragauge.store.open import open_store

    asked = ways_of(wanted)
    calling = wanted.calls.of(*(way.judge for way in asked))
    rows = rows_of(wanted)
    with open_store(store_url(store)) as opened:
        found = await check(rows, asked, opened, calling, progress)
    calls = {} if found.calling is None else found.calling.plain()
    return report(rows, found.said, found.stopped, calls)


def expect(wanted: Checking, store: str | None = None) -> dict[str, Any]:
    """What checking would ask and cost, by judge, as JSON types; nothing is asked or written."""
    from ragauge.engine.judge_check import expected
    from ragauge.store.open import open_store

    asked, rows = ways_of(wanted), rows_of(wanted)
    with open_store(store_url(store)) as opened:
        found = expected(rows, asked, opened)
    judges = {name: one.plain() for name, one in found.items()}
    return {"rows": len(rows), "parts": sum(len(row.parts) for row in rows), "judges": judges}


def save(found: JudgeCheck, path: Path) -> Path:
    """Writes a report by the ending of its name: .md or .json, or .jsonl with every part on which a judge differs."""
    from ragauge.api.results.files import make_folder
    from ragauge.reporting.judge_check import as_json, lines, markdown

    make_folder(path)
    texts = {".md": markdown, ".json": as_json, ".jsonl": lines}
    path.write_text(texts[path.suffix.lower()](found), encoding="utf-8")
    return path


def check_output(path: Path) -> None:
    """Refuses a name that says no format, before anything is asked."""
    if path.suffix.lower() not in (".md", ".json", ".jsonl"):
        raise UsageError(f"-o {path}: expected a file that ends in .md, .json or .jsonl (the parts that differ).")
