"""docs/data.md says what the readers do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.docs.pages import taken

from ragauge.core.errors import DataError
from ragauge.readers.aliases import FIELDS, TOOLS
from ragauge.readers.source import read_source

PAGE = (Path(__file__).resolve().parents[2] / "docs/data.md").read_text(encoding="utf-8")
LINES, CHAT = taken("docs/data.md", "json")
ERRORS = re.findall(r"^\| `(.+)` \| (a\.jsonl line 1: .+) \|$", PAGE, re.MULTILINE)


def alias_table() -> str:
    """The aliases as a Markdown table, one row a field."""
    lines = [f"| field | {' | '.join(TOOLS)} |", f"|---|{'---|' * len(TOOLS)}"]
    for field in FIELDS:
        cells = [
            ", ".join(f"`{theirs}`" for theirs, ours in names.items() if ours == field) for names in TOOLS.values()
        ]
        if any(cells):
            lines.append(f"| `{field}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_names_of_tools_are_documented() -> None:
    """The table of names is the one that files are read by; when this fails, put `alias_table()` into the page."""
    assert alias_table() in PAGE


def test_every_field_is_documented() -> None:
    """Each field stands in the page with its description."""
    assert [name for name, what in FIELDS.items() if f"| `{name}` | {what} |" not in PAGE] == []


def test_the_example_file_is_read(file: Callable[..., str]) -> None:
    """The example at the top of the page is read without a warning."""
    tall, built = read_source(file("golden.jsonl", LINES.text))
    assert tall.example.references == ("330 metres",)
    assert built.response is not None
    assert (built.response.passages, built.example.answerable) == ((), True)


def test_the_chat_is_read_turn_by_turn(file: Callable[..., str]) -> None:
    """The conversation on the page gives an example a turn."""
    assert [one.example.query_id for one in read_source(file("chat.jsonl", CHAT.text))] == ["ferry-t1", "ferry-t2"]


@pytest.mark.parametrize(("line", "message"), ERRORS, ids=[line for line, _ in ERRORS])
def test_errors_are_as_documented(file: Callable[..., str], line: str, message: str) -> None:
    """Each line of the table is refused with the words beside it."""
    with pytest.raises(DataError) as error:
        list(read_source(file("a.jsonl", line + "\n")))
    assert str(error.value) == message


def test_the_table_of_errors_is_found() -> None:
    """The page has errors to check."""
    assert len(ERRORS) >= 8
