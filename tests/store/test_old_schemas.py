"""Stores as earlier versions wrote them."""

from __future__ import annotations

import gzip
import json
import sqlite3
import warnings
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
import typer
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

import ragauge as rg
from ragauge.cli.main import app
from ragauge.store import migrations
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.migrations.upgrade import HEAD, TABLE, VERSIONS
from ragauge.store.run_log import Note, Pointer
from ragauge.store.sqlite import build_read_url
from ragauge.store.store_access import open_read_only, open_store

pytestmark = pytest.mark.filterwarnings("ignore:the store .* was written by an older ragauge")
GOLDEN = Path(__file__).parent / "golden"
COLUMNS = ("query_id", "metric", "status", "value", "numerator", "denominator")


def restored(name: str, folder: Path) -> str:
    """The URL of a store made from a dump."""
    path = folder / f"{name}.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(gzip.decompress((GOLDEN / f"{name}.sql.gz").read_bytes()).decode())
    connection.close()
    return f"sqlite:///{path}"


def brought_to(version: str, url: str) -> None:
    """Upgrades a store to an older version than this program's."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    engine = create_engine(url)
    with engine.begin() as connection:
        config.attributes.update(connection=connection, version_table=TABLE)
        command.upgrade(config, version)
    engine.dispose()


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_case_64_every_older_schema(version: str, tmp_path: Path) -> None:
    """A store with rows at any older version opens, keeps its scores, and takes a baseline, a note and a check."""
    url = restored("store-v1", tmp_path)
    brought_to(version, url)
    with open_store(url) as store:
        run = store.runs.find("old")
        (judge,) = store.scores.judges(run.run_id)
        found = store.scores.load_frame(run.run_id, judge).select(COLUMNS).to_dicts()
        assert (store.baselines.list(), store.run_log.notes(), store.checks.files()) == ([], {}, [])
        kept = store.baselines.set(Pointer("main", run.run_id))
        note = store.run_log.note(run.run_id, Note("of old"))
        file = LabelFile(judge or "local", "verify_answer", 1, b"f" * 32, "labels.jsonl", at="2026-01-02")
        store.checks.save_scores(file, [TextScore("faithfulness", b"i" * 32, b"e" * 32, 1.0, 0.5, 1)])
    assert found == json.loads((GOLDEN / "store-v1.scores.json").read_text())
    with open_store(url) as store:
        assert store.baselines.get("main") == kept
        assert store.run_log.notes() == {run.run_id: note}
        assert store.checks.files() == [file]
    with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
        assert raw.execute("SELECT version_num FROM ragauge_version").fetchall() == [(HEAD,)]
    raw.close()


def test_case_64_oldest_schema_with_rows(tmp_path: Path) -> None:
    """A store written by the first version opens, is brought up to date, and its scores are what they were."""
    url = restored("store-v1", tmp_path)
    with open_store(url) as store:
        run = store.runs.find("old")
        (judge,) = store.scores.judges(run.run_id)
        found = store.scores.load_frame(run.run_id, judge).select(COLUMNS).to_dicts()
    assert found == json.loads((GOLDEN / "store-v1.scores.json").read_text())
    card = rg.open_run("old", store=url).scorecard()
    assert card["faithfulness"].scored == 2
    assert card["faithfulness"].mean == 0.5


def test_case_64_oldest_schema_without_rows(tmp_path: Path) -> None:
    """An empty store of the first version opens and takes a run."""
    url = restored("store-v1-empty", tmp_path)
    assert rg.runs(store=url) == []
    rows = [{"query": "How long?", "answer": "The trial lasts 30 days."}]
    assert rg.evaluate(rows, metrics="answer_tokens", store=url)["answer_tokens"].scored == 1


def test_what_was_judged_before_verdicts_is_outdated(tmp_path: Path) -> None:
    """Responses that an older version judged have no verdict of the present rule, so that they are decided again."""
    with open_store(restored("store-v1", tmp_path)) as store:
        run = store.runs.find("old")
        (judge,) = store.scores.judges(run.run_id)
        read = dict(store.verdicts.read(run.run_id, judge))
        assert store.verdicts.find_outdated(run.run_id, judge) == set(read)
        assert {verdict.verdict for verdict in read.values()} == {"not_judged"}


def version(path: Path) -> str:
    """The version that a store's file has on disk."""
    with closing(sqlite3.connect(path)) as raw:
        return str(raw.execute("SELECT version_num FROM ragauge_version").fetchone()[0])


def test_a_copy_is_kept_before_an_upgrade(tmp_path: Path) -> None:
    """Who opens an older store to write gets it upgraded, once, with a copy of what it was and a line that names it."""
    url = restored("store-v1", tmp_path)
    path, kept = tmp_path / "store-v1.db", tmp_path / f"store-v1.db.before-{HEAD}"
    with pytest.warns(UserWarning, match=f"is brought from version 0001 to {HEAD}; .* kept as {kept.name}"):
        open_store(url).close()
    assert (version(path), version(kept)) == (HEAD, "0001")
    before = kept.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_store(url).close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, kept.name]
    assert kept.read_bytes() == before
    open_store(f"sqlite:///{tmp_path / 'new.db'}").close()  # a new store was nothing before
    assert not list(tmp_path.glob("new.db.before-*"))


def test_no_upgrade_without_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the copy cannot be made, the store stays at its version, in words."""
    url = restored("store-v1", tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(rg.RagaugeError, match=r"could not be copied to .*before-.*, and is as it was: .*No space left"):
        open_store(url)
    assert version(tmp_path / "store-v1.db") == "0001"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("how", ["block", "url"])
def test_reading_leaves_an_older_store_as_it_is(how: str, tmp_path: Path) -> None:
    """Read by a command that changes nothing, or by --read-only, an older store keeps its version and every byte."""
    url = restored("store-v1", tmp_path)
    path = tmp_path / "store-v1.db"
    before = path.read_bytes()

    def look() -> None:
        with open_read_only() if how == "block" else nullcontext():
            for _ in range(2):  # the second time the copy is there
                with open_store(url if how == "block" else build_read_url(url)) as store:
                    assert store.runs.find("old").name == "old"

    with pytest.warns(UserWarning, match="stays as it is") as told:
        look()
    assert len(told) == 1
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_commands_that_read_upgrade_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`runs`, `show`, `runs export` and `store check` leave the file alone; `runs tag`, which writes, upgrades it."""
    restored("store-v1", tmp_path)
    monkeypatch.chdir(tmp_path)
    group = typer.main.get_group(app)
    for words, found in (
        (["runs"], "0001"),
        (["show", "old"], "0001"),
        (["store", "check"], "0001"),
        (["runs", "export", "old", "-o", "a.jsonl"], "0001"),
        (["runs", "tag", "old", "x"], HEAD),
    ):
        group.main([*words, "--store", "store-v1.db"], standalone_mode=False)
        assert version(tmp_path / "store-v1.db") == found, words
