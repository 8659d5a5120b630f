"""Questions put otherwise, as sections: how many of each kind, what they look like, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_count
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable, build_columns
from ragauge.rendering.words import make_safe, to_line

if TYPE_CHECKING:
    from ragauge.testsets.vary.variant_set import VariedSet

MAX_QUERY_CHARS = 160  # characters of a question


def build_varied_sections(varied_set: VariedSet, path: str) -> Iterator[ReportSection]:
    """How many variants of each kind, a few of each, and what to do with them."""
    made = sum(count.made for count in varied_set.counts)
    lead = (
        f"{format_count(varied_set.originals, 'question')} and "
        f"{format_count(len(varied_set.file.lines) - varied_set.originals, 'variant')}"
    )
    new_text = f"{made:,} of them new, all drafts" if made else "none of them new"
    headers = build_columns("kind", "change", numbers=("new", "existing", "without"))
    rows = tuple(
        (count.name, count.does, f"{count.made:,}", f"{count.there:,}", f"{count.without:,}")
        for count in varied_set.counts
    )
    notes = tuple(
        f"{count.name}: {count.without:,} skipped: {count.missing}." for count in varied_set.counts if count.without
    )
    commands = (f"ragauge run SYSTEM {path} --evaluate", f"ragauge testset stats {path} --run latest")
    yield ReportSection(
        "testset vary",
        make_safe(path),
        (f"{lead}, {new_text}.",),
        ReportTable(headers, rows),
        notes=notes,
        commands=commands,
    )
    example_rows = tuple(
        (count.name, to_line(question, MAX_QUERY_CHARS), to_line(put, MAX_QUERY_CHARS))
        for count in varied_set.counts
        for question, put in count.shown
    )
    if example_rows:
        wide = (ReportColumn("kind"), ReportColumn("question", fold=True), ReportColumn("variant", fold=True))
        yield ReportSection("Examples", table=ReportTable(wide, example_rows))


def encode_varied(varied_set: VariedSet, path: str) -> dict[str, Any]:
    """What was made, as JSON types."""
    return {
        "path": path,
        "originals": varied_set.originals,
        "examples": len(varied_set.file.lines),
        "seed": varied_set.seed,
        "kinds": {
            count.name: {"made": count.made, "there": count.there, "without": count.without, "missing": count.missing}
            for count in varied_set.counts
        },
    }
