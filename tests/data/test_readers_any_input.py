"""Whatever stands in a row, the answer is a record that can be kept or an error that says what is wrong."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragauge.core.errors import DataError, RagaugeError
from ragauge.core.jsonl_files import format_record
from ragauge.core.response import Record
from ragauge.readers.aliases import ALIASES, FIELDS
from ragauge.readers.jsonl import DECODER
from ragauge.readers.lines import Rows
from ragauge.readers.options import Options
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.source import read_source

NAMES = [
    *FIELDS,
    *(alias.theirs for alias in ALIASES),
    "inputs",
    "outputs",
    "expectations",
    "reference_outputs",
    "dataset_id",
    "model1",
    "model2",
]
KEYS = [
    "doc_id",
    "doc_ids",
    "passage_id",
    "id",
    "text",
    "content",
    "score",
    "grade",
    "span",
    "hop",
    "metadata",
    "source",
    "start",
    "end",
    "target",
    "role",
    "type",
    "messages",
    "choices",
    "message",
    "question",
    "answer",
    "documents",
    "model_name",
    "response",
    "updated_at",
]
TEXTS = ["", " ", "a", "b", "__REDACTED__", "1", "nan", "[1", "{'a': 1}", "['a' 'b']", "true", "\ud800", "\0", "user"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 2.5, 10**30, float("nan"), float("inf")])
    | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
ROWS = st.builds(
    lambda row, query: {**row, "query": query},
    st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1, max_size=3),
    st.sampled_from(["q", "q", "q", "q\0", " "]) | VALUES,
)


def read(row: dict[str, Any], cells: bool) -> Record:
    """One row, from lines or from cells."""
    options = Options(system="model1", warn=lambda message: None)
    (record,) = RecordReader(Rows("any", iter([(1, row)]), cells=cells), options).read_all()
    return record


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(ROWS, st.booleans())
def test_any_row_is_read_or_refused(row: dict[str, Any], cells: bool) -> None:
    """No row ends in any other exception; what is read can be stored as UTF-8 and survives a line of JSON."""
    try:
        record = read(row, cells)
    except RagaugeError:
        return
    text = format_record(record)
    assert "\0" not in text
    text.encode()
    again = read(DECODER.decode(text), cells=False)
    assert (again.example, again.response) == (record.example, record.response)


@settings(deadline=None, derandomize=True)
@given(st.binary(max_size=60) | st.lists(ROWS, max_size=2).map(lambda rows: json.dumps(rows).encode()[:-3]))
def test_any_bytes_are_read_or_refused(tmp_path_factory: Any, content: bytes) -> None:
    """Files of arbitrary bytes, or cut off, end in records or a DataError, whatever their ending says."""
    folder = tmp_path_factory.mktemp("any")
    for name in ("a.jsonl", "a.csv", "a.txt", "a.parquet"):
        (folder / name).write_bytes(content)
        try:
            list(read_source(folder / name, system="model1", warn=lambda message: None))
        except DataError as error:
            said = str(error)
        else:
            continue
        assert said.startswith(str(folder / name))
