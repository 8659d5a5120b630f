"""The lines of a set's file: JSON lines in version control are the truth; what nothing changes keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ragauge.data.curation import META, Curation, curation_fields, curation_of
from ragauge.data.example import EvalSet, Example
from ragauge.data.readers.record_reader import Options, RecordReader, Warn, warn_user
from ragauge.data.readers.source import rows_of
from ragauge.data.writers.jsonl import example_fields, written
from ragauge.errors import DataError, UsageError

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

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What the line holds."""
        return dict(json.loads(self.text)) if self.text else example_fields(self.example)

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
    """The lines of a set's file, in their order."""

    name: str
    lines: tuple[SetLine, ...]

    @cached_property
    def by_id(self) -> dict[str, SetLine]:
        """query_id -> line."""
        return {line.example.query_id: line for line in self.lines}

    @property
    def eval_set(self) -> EvalSet:
        """The examples; rejected ones stay out."""
        return EvalSet(self.name, tuple(one.example for one in self.lines if one.curation.state != "rejected"))

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
        """Writes all lines, whole or not at all.

        Returns:
            How many.
        """
        with written(Path(path)) as file:
            for line in self.lines:
                file.write((line.text or json.dumps(line.fields, ensure_ascii=False, allow_nan=False)) + "\n")
        return len(self.lines)


def read_set_file(
    path: str | Path, *, columns: Mapping[str, str] | None = None, segments: Sequence[str] = (), warn: Warn = warn_user
) -> SetFile:
    """The lines of a set's file with the examples in them, rejected ones too.

    Args:
        path: JSON lines, an example a line; empty lines are not kept.
        columns: our field -> the file's column.
        segments: columns to report by.
        warn: receives each warning.

    Raises:
        DataError: what cannot be read, with its line.
        UsageError: another kind of file: only JSON lines hold what curation writes.
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path}: expected JSON lines (.jsonl). Make it so: ragauge testset prepare SET -o set.jsonl")
    options = Options(columns or {}, tuple(segments), None, warn, rejected=True)
    found = list(RecordReader(rows_of(path, None), options).records())
    texts = dict(_texts(path))
    if len(texts) != len(found):
        told = f"{len(texts):,} lines hold {len(found):,} examples"
        raise DataError(f"{told}; curation needs one example a line.", source=str(path))
    lines = (SetLine(one.example, texts[n], n, str(path)) for n, one in zip(texts, found, strict=True))
    return SetFile(path.stem, tuple(lines))


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        for n, line in enumerate(file, 1):
            if line.strip():
                yield n, line.rstrip("\r\n")
