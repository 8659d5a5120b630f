"""Documents shipped with the package, from which small runs borrow pairs whose truth is known.

`known_texts/LANGUAGE.json` holds 24 of each language: two of each of twelve topics, so that the other of a topic is a
near miss and all others are far ones. Each has a text of sentences and a small table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Layout = Literal["prose", "table", "cells"]
FOLDER = resources.files("ragauge.judges") / "known_texts"


@dataclass(frozen=True, slots=True)
class KnownText:
    """One document in one layout."""

    doc_id: str  #: of the document, the same in every layout.
    near_doc_id: str  #: of the other document of its topic.
    text: str  #: title and body.
    parts: tuple[str, ...]  #: of the text, as they stand in it: sentences of prose, rows of a table; at least three.


@cache
def list_languages() -> tuple[str, ...]:
    """ISO 639-1 codes of the languages that there are documents of, ascending."""
    return tuple(sorted(file.name.removesuffix(".json") for file in FOLDER.iterdir() if file.name.endswith(".json")))


@cache
def read_known_texts(language: str, layout: Layout) -> tuple[KnownText, ...]:
    """The documents of a language in a layout; () for a language that has none.

    A table is written with bars between its cells, a row a line; cells are the same table with one cell a line.
    """
    if language not in list_languages():
        return ()
    documents = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return tuple(_build_known_text(language, number, document, layout) for number, document in enumerate(documents))


def _build_known_text(language: str, number: int, document: dict[str, Any], layout: Layout) -> KnownText:
    parts = (
        tuple(document["prose"]) if layout == "prose" else tuple(_format_row(row, layout) for row in document["rows"])
    )
    body = " ".join(parts) if layout == "prose" else "\n".join((_format_row(document["header"], layout), *parts))
    text = f"{document['title']}\n{body}"
    return KnownText(f"{language}:{number}", f"{language}:{number ^ 1}", text, parts)


def _format_row(cells: Sequence[str], layout: Layout) -> str:
    return "\n".join(cells) if layout == "cells" else f"| {' | '.join(cells)} |"
