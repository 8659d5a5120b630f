"""What a file or another program is given."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

LONG = "a-run-with-a-name-that-says-all-that-was-changed-and-why-so-that-no-column-of-sixty-characters-holds-it"


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("", 140), ("wide", 140)])
def test_lines_fit_and_commands_stay_whole(
    cli: Cli, small: Path, monkeypatch: pytest.MonkeyPatch, columns: str, widest: int
) -> None:
    """Lines are as wide as COLUMNS says, else 140; no blanks trail; a command is never broken over two lines."""
    monkeypatch.setenv("COLUMNS", columns)
    assert not sys.stdout.isatty()
    assert cli("evaluate", small, "-q", "--judge", "none", "--name", LONG).code == 0
    lines = cli("show", LONG).out.splitlines()
    command = f"  ragauge report {LONG} -o report.html"
    assert command in lines
    assert max(len(line) for line in lines if LONG not in line) <= widest
    assert max(len(line) for line in lines) > 60
    assert [line for line in lines if line != line.rstrip()] == []
