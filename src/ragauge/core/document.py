"""What a system retrieves from: documents, and ids that differ only by folder or file ending."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragauge.core.errors import DataError, UsageError
from ragauge.core.identity import hash_json
from ragauge.text.sentences import Unit, build_outline
from ragauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Document:
    """One page of a corpus.

    Raises:
        DataError: a blank doc_id, or an id, title or text that is not a string.
    """

    doc_id: str  #: identity, which is what labels name.
    title: str  #: what the page is called; it is handed on with every passage.
    text: str  #: the body; every span counts characters of it.
    updated_at: str | None = None  #: ISO date of this version.
    superseded_by: str | None = None  #: doc_id of the version that replaced it.
    kind: str | None = None  #: such as manual or policy.

    def __post_init__(self) -> None:
        for name in ("doc_id", "title", "text"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise DataError(f"Document: {name} must be a string, got {type(value).__name__}.")
        if not self.doc_id.strip():
            raise DataError("Document: doc_id must not be blank.", hint="Labels refer to documents by this id.")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a document."""

    passage_id: str  #: the document's id, ``#`` and the chunk's number from 1.
    doc_id: str  #: the document.
    body: str  #: the document's text from start to end, unchanged.
    start: int  #: first character in the document's text.
    end: int  #: one past the last.
    #: the title and the headings that the chunk stands under, each a Markdown heading, without those that the body
    #: opens with.
    context: str

    @property
    def text(self) -> str:
        """The body under its title and headings, so that it reads alone."""
        return f"{self.context}\n\n{self.body}" if self.context else self.body


def chunk_document(document: Document, tokens: int, overlap: int = 0) -> tuple[Chunk, ...]:
    """A document's chunks.

    Whole sentences are packed until the next one would make the body longer than the budget. A section that does not
    fit into what is left opens a new chunk, and a heading never closes one. A single sentence longer than the budget
    stays whole. The title and headings in front of the body come on top of the budget.

    Args:
        document: what is cut.
        tokens: most tokens in a body, by `ragauge.text.tokens`; at least 1.
        overlap: sentences that are repeated from the chunk before, within one section and where the budget allows.

    Raises:
        UsageError: tokens below 1 or overlap below 0.
    """
    if tokens < 1:
        raise UsageError(f"chunk: tokens must be at least 1, got {tokens}.")
    if overlap < 0:
        raise UsageError(f"chunk: overlap must be at least 0 sentences, got {overlap}.")
    units = build_outline(document.text)
    # each with the white space up to the next, so that the sizes add up to no less than the whole
    edges = [*(unit.left for unit in units[1:]), len(document.text)][: len(units)]
    sizes = [count_tokens(document.text[unit.left : edge]) for unit, edge in zip(units, edges, strict=True)]
    chunks: list[Chunk] = []
    first = 0
    while first < len(units):
        last = _find_chunk_end(units, sizes, first, tokens)
        chunks.append(_build_chunk(document, units[first:last], len(chunks) + 1))
        first = _find_next_start(units, sizes, first, last, tokens, overlap)
    return tuple(chunks)


def _find_chunk_end(units: Sequence[Unit], sizes: Sequence[int], first: int, tokens: int) -> int:
    """One past the last unit of the chunk that opens at `first`."""
    used, last, has_sentence = 0, first, False
    while last < len(units):
        unit = units[last]
        needed = _count_section_tokens(units, sizes, last) if unit.level else sizes[last]
        if has_sentence and used + needed > tokens:
            break
        used += sizes[last]
        has_sentence = has_sentence or unit.level == 0
        last += 1
    return last


def _count_section_tokens(units: Sequence[Unit], sizes: Sequence[int], heading: int) -> int:
    """Tokens of a heading, the headings right below it, and their sentences: what must fit for the section to join."""
    size, has_sentence = sizes[heading], False
    for unit, n_tokens in zip(units[heading + 1 :], sizes[heading + 1 :], strict=True):
        if unit.level and has_sentence:
            break
        has_sentence = has_sentence or unit.level == 0
        size += n_tokens
    return size


def _find_next_start(
    units: Sequence[Unit], sizes: Sequence[int], first: int, last: int, tokens: int, overlap: int
) -> int:
    """Where the next chunk opens: `last`, or earlier by the sentences that are repeated."""
    if last >= len(units) or units[last].level:
        return last
    start, used = last, sizes[last]
    while start - 1 > first and last - start < overlap and not units[start - 1].level:
        used += sizes[start - 1]
        if used > tokens:
            break
        start -= 1
    return start


def _build_chunk(document: Document, units: Sequence[Unit], number: int) -> Chunk:
    opening, start, end = units[0], units[0].left, units[-1].end
    leading = [unit.text for unit in units[: next((n for n, u in enumerate(units) if not u.level), len(units))]]
    path = [words for words in (document.title, *opening.headings) if words]
    folded_headings = {words.casefold() for words in leading}
    lines = [words for n, words in enumerate(path) if words.casefold() not in folded_headings and words not in path[:n]]
    context = "\n".join(f"{'#' * min(n, 6)} {words}" for n, words in enumerate(lines, start=1))
    return Chunk(f"{document.doc_id}#{number}", document.doc_id, document.text[start:end], start, end, context)


@dataclass(frozen=True, slots=True)
class IndexListing:
    """What a listing of the index says about the documents that a run's labels name.

    Only those are ever looked up, so a listing of millions of documents leaves a handful of ids. `doc_id in listing`
    says whether the index holds a labelled document.
    """

    documents: int  #: how many documents the listing names.
    absent: frozenset[str] = frozenset()  #: labelled documents that it does not hold.
    renamed: frozenset[str] = frozenset()  #: labelled documents that it holds under another id, found by their texts.

    def __contains__(self, doc_id: object) -> bool:
        return doc_id not in self.absent

    @property
    def fingerprint(self) -> str:
        """Names what the listing says: two listings that lack the same labelled documents lead to the same causes."""
        return hash_json(sorted(self.absent))[:16]

    @staticmethod
    def of(doc_ids: Iterable[str], labeled_ids: Collection[str]) -> IndexListing:
        """Reads a listing once, as a stream, keeping no more than the labelled documents that it lacks.

        Args:
            doc_ids: of the documents in the index; one that stands twice is counted twice.
            labeled_ids: documents that labels name.
        """
        absent, documents = set(labeled_ids), 0
        for doc_id in doc_ids:
            documents += 1
            absent.discard(doc_id)
        return IndexListing(documents, frozenset(absent))


ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$")


class FileName(NamedTuple):
    """An id read as the path of a file."""

    folders: tuple[str, ...]
    stem: str
    ending: str

    @classmethod
    def from_id(cls, doc_id: str) -> FileName:
        """The parts of an id; an ending begins with a letter and has five letters and digits at most."""
        *folders, name = doc_id.replace("\\", "/").removeprefix("./").split("/")
        ending = ENDING.search(name)
        return cls(tuple(folders), name[: ending.start()] if ending else name, ending[0] if ending else "")

    def is_same_file(self, other: FileName) -> bool:
        """Whether one says less than the other of the same file, and nothing else."""
        shorter, longer = sorted((self.folders, other.folders), key=len)
        same_folder = longer[len(longer) - len(shorter) :] == shorter
        return self.stem == other.stem and same_folder and (not self.ending or not other.ending or self[2] == other[2])


def match_document_names(labels: Collection[str], retrieved: Collection[str]) -> dict[str, str]:
    """Id of a retrieved document -> the label that means the same file by another name.

    Only where nothing else can be meant: one retrieved id and one label that are no other's.

    >>> match_document_names({"docs/a.md", "b", "c.md"}, {"a", "b.txt", "c.md", "x/d"})
    {'a': 'docs/a.md', 'b.txt': 'b'}
    >>> match_document_names({"en/a.md", "de/a.md"}, {"a"}), match_document_names({"a.md"}, {"a.pdf"})
    ({}, {})
    """
    by_stem: dict[str, list[tuple[str, FileName]]] = {}
    for label in set(labels):
        name = FileName.from_id(label)
        by_stem.setdefault(name.stem, []).append((label, name))
    ids_by_label: dict[str, list[str]] = {}
    labels_by_id: dict[str, list[str]] = {}
    for doc_id in set(retrieved):
        name = FileName.from_id(doc_id)
        for label, other in by_stem.get(name.stem, ()):
            if name.is_same_file(other):
                ids_by_label.setdefault(label, []).append(doc_id)
                labels_by_id.setdefault(doc_id, []).append(label)
    unique_matches = {
        doc_id: candidates[0] for doc_id, candidates in sorted(labels_by_id.items()) if len(candidates) == 1
    }
    return {
        doc_id: label for doc_id, label in unique_matches.items() if label != doc_id and len(ids_by_label[label]) == 1
    }
