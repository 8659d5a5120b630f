"""Records as a flat table: one a row; lists and objects stand in their cell as JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragauge.core.example import Example
from ragauge.core.jsonl_files import open_text_writer, record_to_dict
from ragauge.core.response import Record
from ragauge.readers.aliases import FIELDS


def write_records(path: str | Path, records: Iterable[Record | Example]) -> int:
    """Writes a header with the fields that any record has, then one record a row.

    A cell cannot tell an empty answer from none: the reader takes an empty cell for a missing value. Use JSONL where
    that matters.

    Args:
        path: packed where it ends in .gz.
        records: held in memory, since the header depends on all of them.

    Returns:
        How many were written.
    """
    rows = [record_to_dict(record) for record in records]
    used = {name for row in rows for name in row} | {"query_id", "query"}
    with open_text_writer(Path(path)) as file:
        writer = csv.writer(file, lineterminator="\n")
        header = [name for name in FIELDS if name in used]
        writer.writerow(header)
        writer.writerows([[_cell(row.get(name)) for name in header] for row in rows])
    return len(rows)


def _cell(value: Any) -> Any:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return json.dumps(value) if isinstance(value, bool) else value
