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

from ragauge.core.curation import META, Curation, curation_to_dict, is_rejected, parse_curation
from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.jsonl_files import example_to_dict, replace_file
from ragauge.readers.lines import Row, Rows
from ragauge.readers.options import Options, Warn, warn_user
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.source import read_rows, read_set

ENDINGS = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class SetLine:
    """One example of a set's file."""

    example: Example  #: what it asks and knows.
    text: str = ""  #: the line as it stands in the file, without its end; "" = not written yet.
    number: int = 0  #: of the line, from 1; 0 = not in a file yet.
    source: str = ""  #: the file.
    _curation: Curation | None = None
    _row: Row | None = None  # of the text, where it was read

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What the line holds."""
        if self._row is not None:
            return dict(self._row)
        return dict(json.loads(self.text)) if self.text else example_to_dict(self.example)

    @property
    def query_id(self) -> str:
        """Of the example."""
        return self.example.query_id

    @property
    def written(self) -> str:
        """The line as it is written, without its end."""
        return self.text or json.dumps(self.fields, ensure_ascii=False, allow_nan=False)

    @cached_property
    def curation(self) -> Curation:
        """Its `meta`."""
        if self._curation is not None:
            return self._curation
        return parse_curation(self.fields.get(META), f"{self.source}, line {self.number}" if self.source else "")

    def with_curation(self, curation: Curation) -> SetLine:
        """The line with another `meta`, its other fields as they stand."""
        if curation == self.curation:
            return self
        return _replace_line(self, {**self.fields, META: curation_to_dict(curation)}, self.example)

    def with_own_cluster(self) -> SetLine:
        """The line with its query_id as cluster, other fields as they stand; with a cluster it stays as it is."""
        if self.example.cluster is not None:
            return self
        name = self.example.query_id
        fields = {key: value for key, value in self.fields.items() if key != META}
        meta = {META: self.fields[META]} if META in self.fields else {}
        return _replace_line(self, {**fields, "cluster": name, **meta}, replace(self.example, cluster=name))

    def changed(self, example: Example, curation: Curation | None = None) -> SetLine:
        """The line with another example: fields that the example does not hold stay as they are."""
        other_fields = {key: value for key, value in self.fields.items() if key not in example_to_dict(self.example)}
        other_fields.pop(META, None)
        meta = curation or self.curation
        meta_field = {META: curation_to_dict(meta)} if meta != Curation() or META in self.fields else {}
        return _replace_line(self, {**example_to_dict(example), **other_fields, **meta_field}, example)


def _replace_line(line: SetLine, fields: Mapping[str, Any], example: Example) -> SetLine:
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    return SetLine(example, text, line.number, line.source)


def build_line(example: Example, curation: Curation) -> SetLine:
    """A line of an example that is in no file yet."""
    return SetLine(example, _curation=Curation()).changed(example, curation)


@dataclass(frozen=True)
class SetFile:
    """The lines of a set's file, in their order."""

    name: str  #: of the set.
    lines: tuple[SetLine, ...]  #: its examples.
    #: the bytes of the file that was read, of which all stay that no example changes.
    before: bytes = field(default=b"", repr=False)

    @cached_property
    def by_id(self) -> dict[str, SetLine]:
        """query_id -> line."""
        return {line.example.query_id: line for line in self.lines}

    @property
    def eval_set(self) -> EvalSet:
        """The examples; rejected ones stay out."""
        return EvalSet(self.name, tuple(line.example for line in self.lines if not is_rejected(line.fields.get(META))))

    def map_lines(self, change: Callable[[SetLine], SetLine]) -> SetFile:
        """The file with every line changed; a line that comes back as it was keeps its bytes."""
        return replace(self, lines=tuple(map(change, self.lines)))

    def add_lines(self, more: Iterable[SetLine]) -> SetFile:
        """The file with lines added at its end.

        Raises:
            UsageError: a query_id that is there already.
        """
        added = tuple(more)
        if duplicates := [line.example.query_id for line in added if line.example.query_id in self.by_id]:
            raise UsageError(f"{self.name} already contains {', '.join(duplicates[:3])}.")
        return replace(self, lines=(*self.lines, *added))

    def write(self, path: str | Path) -> int:
        """Writes all lines, whole or not at all; a file that was read keeps every byte of the others.

        Returns:
            How many.
        """
        numbered = {line.number: line.written for line in self.lines if line.number and self.before}
        old_lines = enumerate(self.before.splitlines(keepends=True), 1)
        existing = b"".join(
            _replace_text(raw_line, numbered[n]) if n in numbered else raw_line for n, raw_line in old_lines
        )
        with replace_file(Path(path)) as raw_line:
            body = _append_to_bytes(existing, (line for line in self.lines if line.number not in numbered))
            raw_line.write_bytes(gzip.compress(body) if Path(path).suffix == ".gz" else body)
        return len(self.lines)


def _replace_text(raw_line: bytes, text: str) -> bytes:
    """A line of a file with another text: byte order mark and end as they were."""
    mark = codecs.BOM_UTF8 if raw_line.startswith(codecs.BOM_UTF8) else b""
    return mark + text.encode() + raw_line[len(raw_line.rstrip(b"\r\n")) :]


def _append_to_bytes(content: bytes, lines: Iterable[SetLine]) -> bytes:
    """The bytes of a file with lines at its end, which end as its first one does."""
    end = b"\r\n" if content.partition(b"\n")[0].endswith(b"\r") else b"\n"
    added = b"".join(line.written.encode() + end for line in lines)
    return (content + end if added and content and not content.endswith(b"\n") else content) + added


def append_lines(path: Path, lines: Iterable[SetLine]) -> None:
    """Adds lines at the end of a set's file, which keeps all its other bytes; whole or not at all.

    Args:
        path: of the file; one that is not there is made.
        lines: examples that it does not hold.
    """
    content = path.read_bytes() if path.exists() else b""
    with replace_file(path) as part_path:
        part_path.write_bytes(_append_to_bytes(content, lines))


def to_set_file(eval_set: EvalSet) -> SetFile:
    """The examples of a set as lines that are in no file yet."""
    return SetFile(eval_set.name, tuple(SetLine(example) for example in eval_set.examples))


def read_set_lines(source: Any, *, columns: Mapping[str, str] | None = None, warn: Warn = warn_user) -> SetFile:
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
        warnings: list[str] = []
        set_file, _ = _read_lines(Path(source), columns or {}, warnings.append)
        if set_file is not None:
            for warning in warnings:
                warn(warning)
            return set_file
    return to_set_file(read_set(source, columns=columns, warn=warn))


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
        raise UsageError(
            f"{path}: expected JSON lines (.jsonl). To convert it: ragauge testset prepare SET -o set.jsonl"
        )
    set_file, problem = _read_lines(path, columns or {}, warn)
    if set_file is None:
        raise DataError(f"{problem}; curation needs one example per line.", source=str(path))
    return set_file


def _read_lines(path: Path, columns: Mapping[str, str], warn: Warn) -> tuple[SetFile | None, str]:
    """A file of one example a line; None and what it holds, where it is another."""
    rows = read_rows(path, None)
    rows_by_number: dict[int, Row] = {}
    reader = RecordReader(
        replace(rows, rows=_collect_rows(rows, rows_by_number)), Options(columns, (), None, warn, rejected=True)
    )
    records = list(reader.read_all())
    texts = dict(_read_texts(path))
    if len(texts) != len(records):
        return None, f"{len(texts):,} lines hold {len(records):,} examples"
    lines = (
        SetLine(record.example, texts[n], n, str(path), _row=rows_by_number.get(n))
        for n, record in zip(texts, records, strict=True)
    )
    return SetFile(path.stem, tuple(lines), path.read_bytes()), ""


def _collect_rows(rows: Rows, rows_by_number: dict[int, Row]) -> Iterator[tuple[int, Row]]:
    """The rows; each is kept by its number."""
    for n, row in rows.rows:
        rows_by_number[n] = row
        yield n, row


def _read_texts(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        for n, line in enumerate(file, 1):
            if line.strip():
                yield n, line.rstrip("\r\n")
