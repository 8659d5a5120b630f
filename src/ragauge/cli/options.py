"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ragauge.errors import UsageError

Metrics = Annotated[
    str, typer.Option("-m", "--metrics", help="Metrics or presets, comma-separated; ragauge metrics lists them.")
]
Judge = Annotated[
    str, typer.Option("--judge", help="Who answers what labels do not: local, none, openai:MODEL, hybrid:openai:MODEL.")
]
Store = Annotated[
    str, typer.Option("--store", envvar="RAGAUGE_STORE", help="Where results are kept; sqlite:///.ragauge/ragauge.db.")
]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Calls to a model in flight, at most.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", help="US dollars that may be spent now; a hard stop.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one call to a model.")]
Columns = Annotated[
    list[str] | None, typer.Option("--map", help="A column under another name: --map query=question; repeatable.")
]
Outputs = Annotated[
    list[Path] | None, typer.Option("-o", "--output", help="Write a report: .html, .md, .json; scores: .jsonl, .csv.")
]
Index = Annotated[
    str, typer.Option("--index", help="What is in the index: a file of document ids, a corpus.jsonl, a table.")
]
Baseline = Annotated[str, typer.Option("--baseline", help="A stored run to hold this one against: id, name or latest.")]
Variant = Annotated[
    str, typer.Option("--variant", help="Passages that the answers rest on: own, oracle, closed_book or replayed.")
]
Traffic = Annotated[bool, typer.Option("--traffic", help="The responses are production traffic, not an eval set's.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")]


def names(text: str) -> tuple[str, ...]:
    """Comma-separated names.

    >>> names("recall@5, mrr")
    ('recall@5', 'mrr')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def mapping(pairs: Sequence[str] | None) -> Mapping[str, str]:
    """field=column pairs.

    Raises:
        UsageError: a pair without an equals sign.
    """
    found = {}
    for pair in pairs or ():
        field, equals, column = pair.partition("=")
        if not (equals and field.strip() and column.strip()):
            raise UsageError(f"--map: expected field=column, got {pair!r}. Write --map query=question.")
        found[field.strip()] = column.strip()
    return found


def conditions(text: str) -> Mapping[str, str]:
    """Conditions on segments and tags.

    >>> conditions("type=multi_hop,tag=golden")
    {'type': 'multi_hop', 'tag': 'golden'}
    """
    found = {}
    for part in names(text):
        column, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"--filter: expected column=value, got {part!r}. Write --filter type=multi_hop.")
        found[column.strip()] = value.strip()
    return found
