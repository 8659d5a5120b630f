"""Which documents and chunks are judged relevant, in the forms that labels come in.

Labels that name several ids in one text: a.md;b.md, "b, c" or a|b.

Whether the labels and the passages of a source name documents the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ragauge.core.document import match_document_names
from ragauge.core.example import Example, Relevant
from ragauge.core.identity import derive_doc_id
from ragauge.core.messages import format_count
from ragauge.core.response import Passage, Response
from ragauge.core.values import (
    OBJECT_TYPES,
    BadValue,
    Notes,
    decode_cell,
    parse_answer,
    parse_entries,
    parse_identifier,
    parse_list,
    parse_number,
    parse_text,
)
from ragauge.readers.passages import DOC_KEYS, PASSAGE_KEYS, TEXT_KEYS, find_first_value

CHUNK_KEYS = (*PASSAGE_KEYS, "id", "_id", *DOC_KEYS)
RELEVANT = "an object of doc_id and grade, a list of ids, or a list of objects with doc_ids and grade"


def parse_relevant(value: Any, name: str, notes: Notes) -> tuple[Relevant, ...]:
    """Judged documents. In a list, an inner list is a group of which any one member will do."""
    return _check_grades(_parse_items(decode_cell(value, name, notes), name, notes, DOC_KEYS), name)


def parse_relevant_chunks(value: Any, name: str, notes: Notes) -> tuple[Relevant, ...]:
    """Judged chunks, as `parse_relevant`, by their passage_ids."""
    return _check_grades(_parse_items(decode_cell(value, name, notes), name, notes, CHUNK_KEYS), name)


def _check_grades(judged_items: Iterable[Relevant], name: str) -> tuple[Relevant, ...]:
    """Each item once; refused where one has two grades."""
    judged_items = list(judged_items)
    grades: dict[tuple[str, ...], float] = {}
    for judged_item in judged_items:
        if grades.setdefault(judged_item.doc_ids, judged_item.grade) != judged_item.grade:
            both = f"{grades[judged_item.doc_ids]:g} and {judged_item.grade:g}"
            raise BadValue(f"{name} of {', '.join(judged_item.doc_ids)}", "one grade per document", both)
    return tuple(Relevant(doc_ids, grade) for doc_ids, grade in grades.items())


def _parse_items(value: Any, name: str, notes: Notes, keys: Sequence[str]) -> Iterator[Relevant]:
    if isinstance(value, OBJECT_TYPES):
        for key, grade in parse_entries(value, name, RELEVANT):
            yield Relevant((parse_identifier(key, f"{name} key", notes),), _parse_grade(grade, f"{name}.{key}"))
        return
    if isinstance(value, str | int) and not isinstance(value, bool):
        value = [value]
    for n, item in enumerate(parse_list(value, name, RELEVANT)):
        where = f"{name}[{n}]"
        if isinstance(item, list | tuple):
            yield Relevant(_parse_members(item, where, notes), 1.0)
        elif isinstance(item, Mapping):
            key, grade = find_first_value(item, ("grade", "relevance", "score"))
            level = 1.0 if grade is None else _parse_grade(grade, f"{where}.{key}")
            yield Relevant(_parse_doc_ids(item, where, notes, keys), level)
        else:
            yield Relevant((parse_identifier(item, where, notes),), 1.0)


def _parse_doc_ids(item: Mapping[str, Any], where: str, notes: Notes, keys: Sequence[str]) -> tuple[str, ...]:
    if item.get("doc_ids") is not None:
        return _parse_members(item["doc_ids"], f"{where}.doc_ids", notes)
    key, value = find_first_value(item, keys)
    if value is not None:
        return (parse_identifier(value, f"{where}.{key}", notes),)
    key, content = find_first_value(item, TEXT_KEYS)
    if content is None:
        raise BadValue(where, "an object with doc_ids and grade", item)
    return (derive_doc_id(parse_text(content, f"{where}.{key}", notes)),)


def _parse_members(value: Any, where: str, notes: Notes) -> tuple[str, ...]:
    members = [
        parse_identifier(item, f"{where}[{n}]", notes)
        for n, item in enumerate(parse_list(value, where, "a list of ids"))
    ]
    if not members:
        raise BadValue(where, "a group of at least one id", value)
    return tuple(dict.fromkeys(members))


def _parse_grade(value: Any, name: str) -> float:
    return float(value) if isinstance(value, bool) else parse_number(value, name)


def parse_relevant_texts(value: Any, name: str, notes: Notes) -> tuple[Relevant, ...]:
    """Labels that are texts: each names the document that a passage of the same text gets."""
    value = decode_cell(value, name, notes)
    texts = [value] if isinstance(value, str) else parse_list(value, name, "a text or a list of texts")
    ids = [derive_doc_id(parse_answer(item, f"{name}[{n}]", notes)) for n, item in enumerate(texts)]
    return tuple(Relevant((doc_id,)) for doc_id in dict.fromkeys(ids))


LABEL_FIELDS = ("relevant", "relevant_chunks")
MARKS = (";", "|", "\n", ",")  # the first that a text holds parts it
FIRM_MARKS = frozenset(";|\n")  # titles and names hold commas, seldom these
ID_LIKE = re.compile(r"[^\s]*[\d._/:#\\-][^\s]*|[^\sA-Z]+|[^\sa-z]+")  # with a digit or a mark, or in one case


@dataclass(slots=True)
class LabelSplitter:
    """Parts the labels of a source where that is safe, and counts what it did.

    A text stays whole where a passage has it as its id. It is parted where one of its parts is the id of a passage,
    or where all parts look like ids: without blanks, and between commas not like words (Paris, Texas).
    """

    parted: dict[str, int] = field(default_factory=dict)  #: column -> texts taken as several ids.
    kept: dict[str, int] = field(default_factory=dict)  #: column -> texts taken as one id although they hold a mark.
    #: column -> the first text of either kind, as it was written.
    first: dict[tuple[str, bool], str] = field(default_factory=dict)

    def example(
        self, example: Example, values: Mapping[str, Any], names: Mapping[str, str], ids: tuple[Set[str], Set[str]]
    ) -> Example:
        """The example with its labels parted.

        Args:
            example: as it was read, each text one id.
            values: our field -> the value that it was read from.
            names: our field -> the source's column.
            ids: of the passages beside it; and of the first passages of the source, of which those with a mark count.
        """
        changed: dict[str, Any] = {}
        for name in LABEL_FIELDS:
            value = values.get(name)
            if isinstance(value, str) and _has_mark(value) and decode_cell(value, name, Notes(cells=True)) is value:
                doc_ids = self._split_label(value, names[name], ids)
                changed[name] = tuple(Relevant((doc_id,)) for doc_id in dict.fromkeys(doc_ids))
        return replace(example, **changed) if changed else example

    def _split_label(self, value: str, column: str, ids: tuple[Set[str], Set[str]]) -> list[str]:
        label = value.strip()
        passage_ids, marked_ids = ids
        if label in passage_ids or label in marked_ids:
            return [label]
        inside = label[1:-1] if label.startswith("[") and label.endswith("]") else label
        mark = next((candidate for candidate in MARKS if candidate in inside), "")
        parts = (
            [part for piece in inside.split(mark) if (part := piece.strip().strip("\"'").strip())] if mark else [label]
        )
        marked = any(mark and mark in doc_id for doc_id in marked_ids)  # ids of this source hold the mark themselves
        safe = any(part in passage_ids for part in parts) or (not marked and all(_is_like_id(p, mark) for p in parts))
        counts = self.parted if safe and parts else self.kept
        counts[column] = counts.get(column, 0) + 1
        self.first.setdefault((column, counts is self.parted), value)
        return parts if safe and parts else [label]

    def warnings(self) -> Iterator[str]:
        """How many texts were parted, and how many were not although they might name several ids."""
        for column, n in self.parted.items():
            yield (
                f"{format_count(n, 'text')} in {column} read as several ids, such as {self.first[column, True]!r}. "
                "To keep an id that contains , ; or | whole, use a JSON list."
            )
        for column, n in self.kept.items():
            yield (
                f"{format_count(n, 'text')} in {column} read as one id{'' if n == 1 else ' each'}, such as "
                f"{self.first[column, False]!r}, which may contain several. Write several ids as a JSON list."
            )


def list_ids(response: Response | None) -> frozenset[str]:
    """The ids of passages and documents of a response."""
    if response is None:
        return frozenset()
    return frozenset(_iterate_ids((*(response.passages or ()), *(response.candidates or ()))))


def select_marked_ids(passages: Iterable[Passage]) -> frozenset[str]:
    """Of the ids of passages those that hold a mark themselves."""
    return frozenset(doc_id for doc_id in _iterate_ids(passages) if _has_mark(doc_id))


def _iterate_ids(passages: Iterable[Passage]) -> Iterator[str]:
    for passage in passages:
        yield passage.doc_id
        yield passage.passage_id


def _has_mark(text: str) -> bool:
    return any(mark in text for mark in MARKS)


def _is_like_id(part: str, mark: str) -> bool:
    """Whether a part may be an id by its look alone.

    >>> [_is_like_id(part, ",") for part in ("b", "a.md", "12", "Paris", "two words")]
    [True, True, True, False, False]
    >>> _is_like_id("Paris", ";")
    True
    """
    return not re.search(r"\s", part) if mark in FIRM_MARKS else ID_LIKE.fullmatch(part) is not None


MANY_LABELS = 5  # from so many labelled and answered examples on, no match at all is worth a word


@dataclass(slots=True)
class LabelMatchCounter:
    """Counts of labels that are among the passages."""

    judged: int = 0  #: examples with labels and passages.
    met: int = 0  #: of them, with a label among the passages.
    chunks: int = 0  #: examples whose labels name passage_ids, and no document.
    by_text: int = 0  #: examples whose labels are texts.
    met_by_text: int = 0  #: of them, with one among the passages.

    def count_example(self, example: Example, response: Response | None) -> None:
        """Counts whether a label of the example is among the passages."""
        if not example.relevant or response is None or not response.passages:
            return
        returned = {passage.doc_id for passage in response.passages}
        labels = {doc_id for item in example.relevant for doc_id in item.doc_ids}
        is_match = not returned.isdisjoint(labels) or bool(match_document_names(labels, returned))
        self.chunks += not is_match and any(
            passage.passage_id in item.doc_ids for item in example.relevant for passage in response.passages
        )
        by_text = all(doc_id.startswith("text:") for item in example.relevant for doc_id in item.doc_ids)
        self.judged += 1
        self.met += is_match
        self.by_text += by_text
        self.met_by_text += is_match and by_text

    def warnings(self) -> Iterator[str]:
        """That labels and passages hardly meet."""
        if self.by_text and 2 * self.met_by_text < self.by_text:
            yield (
                f"labels are texts, but only {self.met_by_text} of {self.by_text} examples have one in their "
                "passages word for word, so recall will be low. Add ids to passages and labels."
            )
        elif self.chunks > self.met:
            yield (
                f"{self.chunks} of {self.judged} examples have labels that name chunks (passage_id), "
                "not documents. To read them as chunk labels: --map relevant_chunks=COLUMN."
            )
        elif self.judged >= MANY_LABELS and not self.met:
            yield (
                f"none of {self.judged} examples has a labeled document among its passages. "
                "Check that labels and passages use the same document ids."
            )
