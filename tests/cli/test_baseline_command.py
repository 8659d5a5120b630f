"""`ragauge baseline` as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def two(cli: Cli, small: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Two evaluated runs, first and second, outside git."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(small.parent.parent))
    assert cli("evaluate", small, "-m", "recall@5,mrr", "--judge", "none", "--name", "first", "-q").code == 0
    lines = small.read_text(encoding="utf-8").splitlines(keepends=True)
    small.write_text("".join(lines[:8]), encoding="utf-8")
    assert cli("evaluate", small, "-m", "recall@5,mrr", "--judge", "none", "--name", "second", "-q").code == 0
    return cli


def test_set_list_use_move_remove(two: Cli) -> None:
    """A baseline is set, listed, used by report and show, moved with its history kept, and removed."""
    done = two("baseline", "set", "first", "--tag", "v1", "--note", "of the demo")
    assert done.code == 0
    assert done.out.startswith("baseline main is run first (")
    listed = two("baseline", "list").out
    assert all(word in listed for word in ("main", "first", "v1", "of the demo"))
    for command in ("report", "show", "evaluate"):
        judge = ("--judge", "none") if command == "evaluate" else ()
        shown = two(command, "second", "--baseline", "main", "--json", *judge)
        assert shown.code == 0, shown.err
        assert shown.json()["baseline"]["name"] == "first"
    assert " (previously: run " in two("baseline", "set", "second", "--name", "main").out
    assert [row["run"] for row in two("baseline", "list", "main", "--history", "--json").json()] == ["second", "first"]
    assert [row["run"] for row in two("baseline", "list", "--tag", "v1", "--history", "--json").json()] == ["first"]
    assert two("report", "second", "--baseline", "v1", "--json").json()["baseline"]["name"] == "first"
    assert two("baseline", "remove", "main").out.startswith("main is no longer a baseline; run second (")
    assert two("baseline", "list").out.strip() == "No baseline. Set one with: ragauge baseline set latest"


def test_delete_is_refused_with_the_way_out(two: Cli) -> None:
    """Deleting the run of a baseline is a usage error that says how it is done."""
    two("baseline", "set", "first")
    done = two("runs", "delete", "first", "--yes")
    assert done.code == 2
    assert "is the baseline main and is not deleted" in done.err
    assert "ragauge baseline remove main" in done.err
    assert two("show", "first").code == 0


def test_wrong_names(two: Cli) -> None:
    """An unknown run or baseline, and --baseline with one example, are usage errors with what to do."""
    two("baseline", "set", "first")
    assert "no run 'frist'; nearest: first" in two("baseline", "set", "frist").err
    assert "no baseline 'mian'; nearest: main" in two("baseline", "remove", "mian").err
    assert two("show", "second", "q1", "--baseline", "main").code == 2
