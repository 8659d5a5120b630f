"""A file with the given content, and what a reader makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.response import Record
from ragauge.readers.source import read_source


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Writes rows (one JSON line each), text or bytes, and names the file without a folder, as a user would."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, *content: Any) -> str:
        if len(content) == 1 and isinstance(content[0], bytes):
            (tmp_path / name).write_bytes(content[0])
        elif len(content) == 1 and isinstance(content[0], str):
            (tmp_path / name).write_bytes(content[0].encode())
        else:
            (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        return name

    return write


@pytest.fixture
def one(file: Callable[..., str]) -> Callable[..., Record]:
    """The record that one row is read as; any warning is an error."""

    def read(row: dict[str, Any], **options: Any) -> Record:
        (record,) = read_source(file("one.jsonl", row), **options)
        return record

    return read
