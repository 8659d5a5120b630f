"""Labels that name several ids in one text: a.md;b.md, "b, c" or a|b."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ragauge.data.example import Example, Relevant
from ragauge.data.readers.values import Notes, opened
from ragauge.data.response import Passage, Response
from ragauge.text.messages import plural

FIELDS = ("relevant", "relevant_chunks")
MARKS = (";", "|", "\n", ",")            # the first that a text holds parts it
FIRM = frozenset(";|\n")                 # titles and names hold commas, seldom these
ID_LIKE = re.compile(r"[^\s]*[\d._/:#\\-][^\s]*|[^\sA-Z]+|[^\sa-z]+")     # with a digit or a mark, or in one case


@dataclass(slots=True)
class Parting:
    """Parts the labels of a source where that is safe, and counts what it did.

    A text stays whole where a passage has it as its id. It is parted where one of its parts is the id of a passage,
    or where all parts look like ids: without blanks, and between commas not like words (Paris, Texas).

    Attributes:
        parted: column -> texts taken as several ids.
        kept: column -> texts taken as one id although they hold a mark.
        first: column -> the first text of either kind, as it was written.
    """

    parted: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    first: dict[tuple[str, bool], str] = field(default_factory=dict)

    def example(
        self, example: Example, found: Mapping[str, Any], names: Mapping[str, str], ids: tuple[Set[str], Set[str]]
    ) -> Example:
        """The example with its labels parted.

        Args:
            example: as it was read, each text one id.
            found: our field -> the value that it was read from.
            names: our field -> the source's column.
            ids: of the passages beside it; and of the first passages of the source, of which those with a mark count.
        """
        changed: dict[str, Any] = {}
        for name in FIELDS:
            value = found.get(name)
            if isinstance(value, str) and _holds_mark(value) and opened(value, name, Notes(cells=True)) is value:
                parts = self._parts(value, names[name], ids)
                changed[name] = tuple(Relevant((one,)) for one in dict.fromkeys(parts))
        return replace(example, **changed) if changed else example

    def _parts(self, value: str, column: str, ids: tuple[Set[str], Set[str]]) -> list[str]:
        whole = value.strip()
        beside, known = ids
        if whole in beside or whole in known:
            return [whole]
        inside = whole[1:-1] if whole.startswith("[") and whole.endswith("]") else whole
        mark = next((one for one in MARKS if one in inside), "")
        parts = [part for one in inside.split(mark) if (part := one.strip().strip("\"'").strip())] if mark else [whole]
        marked = any(mark and mark in one for one in known)     # ids of this source hold the mark themselves
        safe = any(part in beside for part in parts) or (not marked and all(_looks_like_id(p, mark) for p in parts))
        counts = self.parted if safe and parts else self.kept
        counts[column] = counts.get(column, 0) + 1
        self.first.setdefault((column, counts is self.parted), value)
        return parts if safe and parts else [whole]

    def warnings(self) -> Iterator[str]:
        """How many texts were parted, and how many were not although they might name several ids."""
        for column, n in self.parted.items():
            yield (
                f"{plural(n, 'text')} in {column} read as several ids, such as {self.first[column, True]!r}. "
                "An id that holds , ; or | itself is kept whole in a JSON list."
            )
        for column, n in self.kept.items():
            yield (
                f"{plural(n, 'text')} in {column} read as one id{'' if n == 1 else ' each'}, such as "
                f"{self.first[column, False]!r}, which may name several. Write several ids as a JSON list."
            )


def ids_of(response: Response | None) -> frozenset[str]:
    """The ids of passages and documents of a response."""
    if response is None:
        return frozenset()
    return frozenset(_ids((*(response.passages or ()), *(response.candidates or ()))))


def marked(passages: Iterable[Passage]) -> frozenset[str]:
    """Of the ids of passages those that hold a mark themselves."""
    return frozenset(one for one in _ids(passages) if _holds_mark(one))


def _ids(passages: Iterable[Passage]) -> Iterator[str]:
    for passage in passages:
        yield passage.doc_id
        yield passage.passage_id


def _holds_mark(text: str) -> bool:
    return any(mark in text for mark in MARKS)


def _looks_like_id(part: str, mark: str) -> bool:
    """Whether a part may be an id by its look alone.

    >>> [_looks_like_id(part, ",") for part in ("b", "a.md", "12", "Paris", "two words")]
    [True, True, True, False, False]
    >>> _looks_like_id("Paris", ";")
    True
    """
    return not re.search(r"\s", part) if mark in FIRM else ID_LIKE.fullmatch(part) is not None
