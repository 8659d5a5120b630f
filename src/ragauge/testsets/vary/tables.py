"""Questions put otherwise, as sections: how many of each kind, what they look like, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import plural
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe

if TYPE_CHECKING:
    from ragauge.testsets.vary.variant_set import VariedSet

TEXT = 160  # characters of a question


def varied_sections(found: VariedSet, path: str) -> Iterator[ReportSection]:
    """How many variants of each kind, a few of each, and what to do with them."""
    made = sum(one.made for one in found.counts)
    lead = f"{plural(found.originals, 'question')} and {plural(len(found.file.lines) - found.originals, 'variant')}"
    told = f"{made:,} of them new, all drafts" if made else "none of them new"
    heads = columns("kind", "what it does", numbers=("new", "there before", "without"))
    rows = tuple((one.name, one.does, f"{one.made:,}", f"{one.there:,}", f"{one.without:,}") for one in found.counts)
    notes = tuple(f"{one.name}: {one.without:,} without: {one.missing}." for one in found.counts if one.without)
    commands = (f"ragauge run SYSTEM {path} --evaluate", f"ragauge testset stats {path} --run latest")
    yield ReportSection(
        "testset vary", safe(path), (f"{lead}, {told}.",), ReportTable(heads, rows), notes=notes, commands=commands
    )
    shown = tuple(
        (one.name, line(question, TEXT), line(put, TEXT)) for one in found.counts for question, put in one.shown
    )
    if shown:
        wide = (ReportColumn("kind"), ReportColumn("question", fold=True), ReportColumn("put otherwise", fold=True))
        yield ReportSection("A few of them", table=ReportTable(wide, shown))


def varied_value(found: VariedSet, path: str) -> dict[str, Any]:
    """What was made, as JSON types."""
    return {
        "path": path,
        "originals": found.originals,
        "examples": len(found.file.lines),
        "seed": found.seed,
        "kinds": {
            one.name: {"made": one.made, "there": one.there, "without": one.without, "missing": one.missing}
            for one in found.counts
        },
    }
