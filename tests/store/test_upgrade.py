"""A store of an earlier version is upgraded, with a copy of what it was, or read without being changed."""

from __future__ import annotations

import sqlite3
import warnings
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
import typer
from tests.engine.tiny_judge import SPEC
from tests.store.next_version import add_next_version

import ragauge as rg
from ragauge.cli.main import app
from ragauge.store.run_log import Note
from ragauge.store.sqlite import build_read_url
from ragauge.store.store_access import open_read_only, open_store

ROWS = [{"query": "How long?", "answer": "The trial lasts 30 days.", "passages": ["the trial lasts 30 days"]}]


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of version 2 with a run, opened from now on by a program that knows version 3."""
    url = f"sqlite:///{tmp_path / 'stores' / 'store.db'}"
    rg.evaluate(ROWS, metrics="faithfulness,answer_tokens", judge=SPEC, store=url, name="old", workers=1)
    add_next_version(tmp_path / "migrations", monkeypatch.setattr)
    return url


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def read_version(path: Path) -> str:
    """The version that a store's file has on disk."""
    with closing(sqlite3.connect(path)) as raw:
        return str(raw.execute("SELECT version_num FROM ragauge_version").fetchone()[0])


@pytest.mark.filterwarnings("ignore:the store .* was written by an older ragauge")
def test_case_64_an_older_store_is_upgraded(url: str) -> None:
    """An older store opens, has what the new version adds, keeps its scores, and takes a note."""
    with open_store(url) as store:
        run = store.runs.find("old")
        note = store.run_log.note(run.run_id, Note("upgraded"))
    card = rg.open_run("old", store=url).scorecard()
    assert (card["faithfulness"].mean, card["faithfulness"].scored, card["answer_tokens"].mean) == (1.0, 1, 7.0)
    with closing(sqlite3.connect(path_of(url))) as raw:
        assert raw.execute("SELECT text, added FROM run_notes").fetchall() == [(note.text, None)]
    assert read_version(path_of(url)) == "3"


def test_case_64_an_older_store_without_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty store of an earlier version opens and takes a run."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    open_store(url).close()
    add_next_version(tmp_path / "migrations", monkeypatch.setattr)
    with pytest.warns(UserWarning, match="older ragauge"):
        assert rg.evaluate(ROWS, metrics="answer_tokens", store=url)["answer_tokens"].scored == 1
    assert read_version(path_of(url)) == "3"


def test_a_copy_is_kept_before_an_upgrade(url: str) -> None:
    """Who opens an older store to write gets it upgraded, once, with a copy of what it was and a line that names it."""
    path = path_of(url)
    kept = path.with_name(f"{path.name}.before-3")
    with pytest.warns(UserWarning, match=f"upgraded from version 2 to 3; a copy of it as it was is in {kept.name}"):
        open_store(url).close()
    assert (read_version(path), read_version(kept)) == ("3", "2")
    before = kept.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_store(url).close()
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, kept.name]
    assert kept.read_bytes() == before


def test_no_upgrade_without_its_copy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the copy cannot be made, the store stays at its version, in words."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(rg.RagaugeError, match=r"could not be copied to .*before-.*, and is unchanged: .*No space left"):
        open_store(url)
    assert read_version(path_of(url)) == "2"
    assert not list(path_of(url).parent.glob("*.part"))


@pytest.mark.parametrize("how", ["block", "url"])
def test_reading_leaves_an_older_store_as_it_is(how: str, url: str) -> None:
    """Read by a command that changes nothing, or by --read-only, an older store keeps its version and every byte."""
    path = path_of(url)
    before = path.read_bytes()

    def look() -> None:
        with open_read_only() if how == "block" else nullcontext():
            for _ in range(2):  # the second time the copy is there
                with open_store(url if how == "block" else build_read_url(url)) as store:
                    assert store.runs.find("old").name == "old"

    with pytest.warns(UserWarning, match="is not changed") as told:
        look()
    assert len(told) == 1
    assert path.read_bytes() == before
    assert {file.name.removesuffix("-wal").removesuffix("-shm") for file in path.parent.iterdir()} == {path.name}


@pytest.mark.filterwarnings("ignore:the store .* was written by an older ragauge")
def test_commands_that_read_upgrade_nothing(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`runs`, `show`, `runs export` and `store check` leave the file alone; `runs tag`, which writes, upgrades it."""
    monkeypatch.chdir(tmp_path)
    group = typer.main.get_group(app)
    for words, found in (
        (["runs"], "2"),
        (["show", "old"], "2"),
        (["store", "check"], "2"),
        (["runs", "export", "old", "-o", "a.jsonl"], "2"),
        (["runs", "tag", "old", "x"], "3"),
    ):
        group.main([*words, "--store", url], standalone_mode=False)
        assert read_version(path_of(url)) == found, words
