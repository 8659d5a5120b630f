"""The lines of a set's file: JSON lines in version control are the truth; what nothing changes keeps its bytes."""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ragauge.core.curation import META, Curation, curation_fields, curation_of, rejected
from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.jsonl_files import example_fields, replaced
from ragauge.readers.lines import Row, Rows
from ragauge.readers.options import Options, Warn, warn_user
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.source import read_set, rows_of

ENDINGS = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class SetLine:
    """One example of a set's file.

    Attributes:
        example: what it asks and knows.
        text: the line as it stands in the file, without its end; "" = not written yet.
        number: of the line, from 1; 0 = not in a file yet.
        source: the file.
    """

    example: Example
    text: str = ""
    number: int = 0
    source: str = ""
    _curation: Curation | None = None
    _row: Row | None = None  # of the text, where it was read

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What the line holds."""
        if self._row is not None:
            return dict(self._row)
        return dict(json.loads(self.text)) if self.text else example_fields(self.example)

    @property
    def written(self) -> str:
        """The line as it is written, without its end."""
        return self.text or json.dumps(self.fields, ensure_ascii=False, allow_nan=False)

    @cached_property
    def curation(self) -> Curation:
        """Its `meta`."""
        if self._curation is not None:
            return self._curation
        return curation_of(self.fields.get(META), f"{self.source}, line {self.number}" if self.source else "")

    def curated(self, curation: Curation) -> SetLine:
        """The line with another `meta`, its other fields as they stand."""
        if curation == self.curation:
            return self
        return _line(self, {**self.fields, META: curation_fields(curation)}, self.example)

    def clustered(self) -> SetLine:
        """The line with its query_id as cluster, other fields as they stand; with a cluster it stays as it is."""
        if self.example.cluster is not None:
            return self
        name = self.example.query_id
        fields = {key: value for key, value in self.fields.items() if key != META}
        meta = {META: self.fields[META]} if META in self.fields else {}
        return _line(self, {**fields, "cluster": name, **meta}, replace(self.example, cluster=name))

    def changed(self, example: Example, curation: Curation | None = None) -> SetLine:
        """The line with another example: fields that the example does not hold stay as they are."""
        kept = {key: value for key, value in self.fields.items() if key not in example_fields(self.example)}
        kept.pop(META, None)
        meta = curation or self.curation
        marked = {META: curation_fields(meta)} if meta != Curation() or META in self.fields else {}
        return _line(self, {**example_fields(example), **kept, **marked}, example)


def _line(line: SetLine, fields: Mapping[str, Any], example: Example) -> SetLine:
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    return SetLine(example, text, line.number, line.source)


def new_line(example: Example, curation: Curation) -> SetLine:
    """A line of an example that is in no file yet."""
    return SetLine(example, _curation=Curation()).changed(example, curation)


@dataclass(frozen=True)
class SetFile:
    """The lines of a set's file, in their order.

    Attributes:
        name: of the set.
        lines: its examples.
        before: the bytes of the file that was read, of which all stay that no example changes.
    """

    name: str
    lines: tuple[SetLine, ...]
    before: bytes = field(default=b"", repr=False)

    @cached_property
    def by_id(self) -> dict[str, SetLine]:
        """query_id -> line."""
        return {line.example.query_id: line for line in self.lines}

    @property
    def eval_set(self) -> EvalSet:
        """The examples; rejected ones stay out."""
        return EvalSet(self.name, tuple(one.example for one in self.lines if not rejected(one.fields.get(META))))

    def map(self, change: Callable[[SetLine], SetLine]) -> SetFile:
        """The file with every line changed; a line that comes back as it was keeps its bytes."""
        return replace(self, lines=tuple(map(change, self.lines)))

    def with_lines(self, more: Iterable[SetLine]) -> SetFile:
        """The file with lines added at its end.

        Raises:
            UsageError: a query_id that is there already.
        """
        added = tuple(more)
        if twice := [one.example.query_id for one in added if one.example.query_id in self.by_id]:
            raise UsageError(f"{self.name}: holds {', '.join(twice[:3])} already.")
        return replace(self, lines=(*self.lines, *added))

    def write(self, path: str | Path) -> int:
        """Writes all lines, whole or not at all; a file that was read keeps every byte of the others.

        Returns:
            How many.
        """
        numbered = {line.number: line.written for line in self.lines if line.number and self.before}
        parts = enumerate(self.before.splitlines(keepends=True), 1)
        kept = b"".join(_changed(part, numbered[n]) if n in numbered else part for n, part in parts)
        with replaced(Path(path)) as part:
            body = _followed(kept, (line for line in self.lines if line.number not in numbered))
            part.write_bytes(gzip.compress(body) if Path(path).suffix == ".gz" else body)
        return len(self.lines)


def _changed(part: bytes, text: str) -> bytes:
    """A line of a file with another text: byte order mark and end as they were."""
    mark = codecs.BOM_UTF8 if part.startswith(codecs.BOM_UTF8) else b""
    return mark + text.encode() + part[len(part.rstrip(b"\r\n")) :]


def _followed(before: bytes, lines: Iterable[SetLine]) -> bytes:
    """The bytes of a file with lines at its end, which end as its first one does."""
    end = b"\r\n" if before.partition(b"\n")[0].endswith(b"\r") else b"\n"
    added = b"".join(line.written.encode() + end for line in lines)
    return (before + end if added and before and not before.endswith(b"\n") else before) + added


def append_lines(path: Path, lines: Iterable[SetLine]) -> None:
    """Adds lines at the end of a set's file, which keeps all its other bytes; whole or not at all.

    Args:
        path: of the file; one that is not there is made.
        lines: examples that it does not hold.
    """
    before = path.read_bytes() if path.exists() else b""
    with replaced(path) as part:
        part.write_bytes(_followed(before, lines))


def lines_of(eval_set: EvalSet) -> SetFile:
    """The examples of a set as lines that are in no file yet."""
    return SetFile(eval_set.name, tuple(SetLine(one) for one in eval_set.examples))


def set_lines(source: Any, *, columns: Mapping[str, str] | None = None, warn: Warn = warn_user) -> SetFile:
    """The lines of a set in any form that `read_set` reads, for those who do not write it back.

    JSON lines, an example a line, come as they stand, rejected ones and `meta` too; of all else, the examples.

    Args:
        source: the set.
        columns: our field -> the source's column.
        warn: receives each warning.

    Raises:
        DataError: what cannot be read, with its line.
    """
    if isinstance(source, str | Path) and Path(source).suffix in ENDINGS and Path(source).is_file():
        held: list[str] = []
        found, _ = _lined(Path(source), columns or {}, held.append)
        if found is not None:
            for warning in held:
                warn(warning)
            return found
    return lines_of(read_set(source, columns=columns, warn=warn))


def read_set_file(path: str | Path, *, columns: Mapping[str, str] | None = None, warn: Warn = warn_user) -> SetFile:
    """The lines of a set's file with the examples in them, rejected ones too.

    Args:
        path: JSON lines, an example a line; empty lines are not kept.
        columns: our field -> the file's column.
        warn: receives each warning.

    Raises:
        DataError: what cannot be read, with its line.
        UsageError: another kind of file: only JSON lines hold what curation writes.
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path}: expected JSON lines (.jsonl). Make it so: ragauge testset prepare SET -o set.jsonl")
    found, told = _lined(path, columns or {}, warn)
    if found is None:
        raise DataError(f"{told}; curation needs one example a line.", source=str(path))
    return found


def _lined(path: Path, columns: Mapping[str, str], warn: Warn) -> tuple[SetFile | None, str]:
    """A file of one example a line; None and what it holds, where it is another."""
    rows = rows_of(path, None)
    read: dict[int, Row] = {}
    reader = RecordReader(replace(rows, rows=_kept(rows, read)), Options(columns, (), None, warn, rejected=True))
    found = list(reader.records())
    texts = dict(_texts(path))
    if len(texts) != len(found):
        return None, f"{len(texts):,} lines hold {len(found):,} examples"
    lines = (
        SetLine(one.example, texts[n], n, str(path), _row=read.get(n)) for n, one in zip(texts, found, strict=True)
    )
    return SetFile(path.stem, tuple(lines), path.read_bytes()), ""


def _kept(rows: Rows, read: dict[int, Row]) -> Iterator[tuple[int, Row]]:
    """The rows; each is kept by its number."""
    for n, row in rows.rows:
        read[n] = row
        yield n, row


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        for n, line in enumerate(file, 1):
            if line.strip():
                yield n, line.rstrip("\r\n")
