"""A corpus as it was read for a set, and whether it still says the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ragauge.core.curation import Anchor
from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.example import Span
from ragauge.core.identity import hash_json, to_json_value
from ragauge.readers.chroma import read_texts
from ragauge.readers.corpus import read_corpus
from ragauge.testsets.set_file import SetLine

Stamp = tuple[int, int]  # when a file was written, in nanoseconds, and its size
MAX_NAMED_DOCUMENTS = 3  # documents that an error names


class CorpusSource:
    """The documents of a corpus, which must not change while a set is made of them.

    Args:
        source: as `read_corpus` takes it.
        ids: of text files: without their endings (stem), or with them (path).

    Attributes:
        documents: as they were read.
        undecoded: text files of a folder that are not UTF-8; they are no documents.

    Raises:
        DataError: what cannot be read as a corpus.
    """

    def __init__(self, source: Any, ids: Literal["stem", "path"] = "stem") -> None:
        self._source, self._ids = source, ids
        self._stamps = _read_stamps(source)  # before the texts: a change in between is then seen
        self.undecoded: list[str] = []
        self.documents = read_corpus(source, self.undecoded, ids=ids)
        self._hashes = _hash_documents(self.documents)

    def place_in_files(self, lines: Iterable[SetLine]) -> tuple[SetLine, ...]:
        """Lines with gold spans and anchors counted in files, front matter too, as all who read gold spans count.

        Args:
            lines: with spans counted in the texts of `documents`.
        """
        file_texts = read_texts(self._source, [])
        files = {document.doc_id: document.doc_id for document in self.documents}
        if self._ids == "path":
            files = {doc_id: doc_id if doc_id in file_texts else doc_id.rpartition(".")[0] for doc_id in files}
        starts = {
            document.doc_id: file_texts[files[document.doc_id]].find(document.text)
            for document in self.documents
            if files[document.doc_id] in file_texts
        }
        moved = {doc_id: start for doc_id, start in starts.items() if start > 0}
        return tuple(_shift_line(line, moved) for line in lines)

    def check_unchanged(self) -> None:
        """Looks at the files again; those written anew with the same documents do no harm.

        Raises:
            DataError: a document that changed, is gone or was added, by name.
        """
        stamps = _read_stamps(self._source)
        if stamps == self._stamps:
            return
        hint = "No set was written. Run the same command when the corpus is stable; model replies are cached."
        try:
            current_hashes = _hash_documents(read_corpus(self._source, [], ids=self._ids))
        except DataError as error:
            message = f"it changed during generation and can no longer be read: {error}"
            raise DataError(message, source=str(self._source), hint=hint) from None
        changed = list(_list_differences(self._hashes, current_hashes))
        if changed:
            changed_names = ", ".join(changed[:MAX_NAMED_DOCUMENTS]) + (
                f" and {len(changed) - MAX_NAMED_DOCUMENTS:,} more" if len(changed) > MAX_NAMED_DOCUMENTS else ""
            )
            raise DataError(f"it changed during generation: {changed_names}.", source=str(self._source), hint=hint)
        self._stamps = stamps


def _shift_line(line: SetLine, starts: Mapping[str, int]) -> SetLine:
    spans, anchors = line.example.gold_spans or (), line.curation.anchors
    if starts.keys().isdisjoint([*(item.doc_id for item in spans), *(item.doc_id for item in anchors)]):
        return line

    def shift_span(span: Span) -> Span:
        start = starts.get(span.doc_id, 0)
        return Span(span.doc_id, span.start + start, span.end + start)

    def shift_anchor(anchor: Anchor) -> Anchor:
        start = starts.get(anchor.doc_id, 0)
        return replace(anchor, start=anchor.start + start, end=anchor.end + start)

    example = replace(line.example, gold_spans=tuple(map(shift_span, spans)))
    return line.changed(example, replace(line.curation, anchors=tuple(map(shift_anchor, anchors))))


def _list_differences(previous: Mapping[str, str], current: Mapping[str, str]) -> Iterator[str]:
    """Each document that is another, with what became of it."""
    for doc_id in dict.fromkeys([*previous, *current]):
        if doc_id not in current:
            yield f"{doc_id} was removed"
        elif doc_id not in previous:
            yield f"{doc_id} was added"
        elif previous[doc_id] != current[doc_id]:
            yield f"{doc_id} changed"


def _hash_documents(documents: tuple[Document, ...]) -> dict[str, str]:
    return {document.doc_id: hash_json(to_json_value(document)) for document in documents}


def _read_stamps(source: Any) -> dict[str, Stamp]:
    """Path -> stamp of each file of a corpus; {} where it is no file or folder."""
    if not isinstance(source, str | Path) or not Path(source).exists():
        return {}
    path = Path(source)
    stamps = {}
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(FileNotFoundError):  # taken away since it was listed
            if file.is_file():
                status = file.stat()
                stamps[str(file)] = status.st_mtime_ns, status.st_size
    return stamps
