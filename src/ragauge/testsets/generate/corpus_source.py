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
from ragauge.core.identity import digest, plain
from ragauge.readers.chroma import plain_texts
from ragauge.readers.corpus import read_corpus
from ragauge.testsets.set_file import SetLine

Stamp = tuple[int, int]  # when a file was written, in nanoseconds, and its size
MOST = 3  # documents that an error names


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
        self._stamps = _stamps(source)  # before the texts: a change in between is then seen
        self.undecoded: list[str] = []
        self.documents = read_corpus(source, self.undecoded, ids=ids)
        self._hashes = _hashes(self.documents)

    def placed(self, lines: Iterable[SetLine]) -> tuple[SetLine, ...]:
        """Lines with gold spans and anchors counted in files, front matter too, as all who read gold spans count.

        Args:
            lines: with spans counted in the texts of `documents`.
        """
        whole = plain_texts(self._source, [])
        files = {one.doc_id: one.doc_id for one in self.documents}
        if self._ids == "path":
            files = {doc_id: doc_id if doc_id in whole else doc_id.rpartition(".")[0] for doc_id in files}
        starts = {
            one.doc_id: whole[files[one.doc_id]].find(one.text) for one in self.documents if files[one.doc_id] in whole
        }
        moved = {doc_id: start for doc_id, start in starts.items() if start > 0}
        return tuple(_moved(line, moved) for line in lines)

    def unchanged(self) -> None:
        """Looks at the files again; those written anew with the same documents do no harm.

        Raises:
            DataError: a document that changed, is gone or was added, by name.
        """
        stamps = _stamps(self._source)
        if stamps == self._stamps:
            return
        hint = (
            "No set was written. Run the same command again when nobody writes the corpus; replies of models are kept."
        )
        try:
            now = _hashes(read_corpus(self._source, [], ids=self._ids))
        except DataError as error:
            told = f"it changed while the set was made, and cannot be read any more: {error}"
            raise DataError(told, source=str(self._source), hint=hint) from None
        changed = list(_differences(self._hashes, now))
        if changed:
            named = ", ".join(changed[:MOST]) + (f" and {len(changed) - MOST:,} more" if len(changed) > MOST else "")
            raise DataError(f"it changed while the set was made: {named}.", source=str(self._source), hint=hint)
        self._stamps = stamps


def _moved(line: SetLine, starts: Mapping[str, int]) -> SetLine:
    spans, anchors = line.example.gold_spans or (), line.curation.anchors
    if starts.keys().isdisjoint([*(one.doc_id for one in spans), *(one.doc_id for one in anchors)]):
        return line

    def span_of(one: Span) -> Span:
        start = starts.get(one.doc_id, 0)
        return Span(one.doc_id, one.start + start, one.end + start)

    def anchor_of(one: Anchor) -> Anchor:
        start = starts.get(one.doc_id, 0)
        return replace(one, start=one.start + start, end=one.end + start)

    example = replace(line.example, gold_spans=tuple(map(span_of, spans)))
    return line.changed(example, replace(line.curation, anchors=tuple(map(anchor_of, anchors))))


def _differences(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Each document that is another, with what became of it."""
    for doc_id in dict.fromkeys([*then, *now]):
        if doc_id not in now:
            yield f"{doc_id} is gone"
        elif doc_id not in then:
            yield f"{doc_id} was added"
        elif then[doc_id] != now[doc_id]:
            yield f"{doc_id} changed"


def _hashes(documents: tuple[Document, ...]) -> dict[str, str]:
    return {one.doc_id: digest(plain(one)) for one in documents}


def _stamps(source: Any) -> dict[str, Stamp]:
    """Path -> stamp of each file of a corpus; {} where it is no file or folder."""
    if not isinstance(source, str | Path) or not Path(source).exists():
        return {}
    path = Path(source)
    stamps = {}
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(FileNotFoundError):  # taken away since it was listed
            if file.is_file():
                found = file.stat()
                stamps[str(file)] = found.st_mtime_ns, found.st_size
    return stamps
