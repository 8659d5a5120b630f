"""Questions put otherwise, as sections: how many of each kind, what they look like, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_count
from ragauge.rendering.sections import Col, ReportSection, build_table
from ragauge.rendering.words import make_safe

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
    table = build_table(
        varied_set.counts,
        Col("kind", "name"),
        Col("change", "does"),
        Col("new", "made", "count"),
        Col("existing", "there", "count"),
        Col("without", "without", "count"),
    )
    notes = tuple(
        f"{count.name}: {count.without:,} skipped: {count.missing}." for count in varied_set.counts if count.without
    )
    commands = (f"ragauge run SYSTEM {path} --evaluate", f"ragauge testset stats {path} --run latest")
    yield ReportSection(
        "testset vary", make_safe(path), (f"{lead}, {new_text}.",), table, notes=notes, commands=commands
    )
    if shown := [(count.name, *texts) for count in varied_set.counts for texts in count.shown]:
        question, variant = (
            Col(head, place, cut=MAX_QUERY_CHARS, fold=True) for head, place in (("question", "1"), ("variant", "2"))
        )
        yield ReportSection("Examples", table=build_table(shown, Col("kind", "0"), question, variant))


def encode_varied(varied_set: VariedSet, path: str) -> dict[str, Any]:
    """What was made, as JSON types."""
    return {
        "path": path,
        "originals": varied_set.originals,
        "examples": len(varied_set.file.lines),
        "seed": varied_set.seed,
        "kinds": {count.name: count for count in varied_set.counts},
    }
