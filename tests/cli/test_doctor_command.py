"""`ragauge doctor`: everything that an evaluation needs, tried for real."""

from __future__ import annotations

import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, Done, write
from tests.loopback.server import FaultyServer
from tests.loopback.service import FlakyService
from tests.store.test_integrity import damage

from ragauge.core.providers import PROVIDERS
from ragauge.evaluation.doctor.checks import PROXIES

SECRET = "sk-very-secret"  # noqa: S105 - of this test


def by_name(done: Done) -> dict[str, dict[str, Any]]:
    """What was looked at, by name; of several, the last."""
    return {one["name"]: one for one in done.json()["looked"]}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key and no base URL in the environment, a folder of its own, and room enough wherever that is."""
    monkeypatch.setattr("ragauge.evaluation.doctor.verb.MIN_FREE_BYTES", 0)
    for place in PROVIDERS.values():
        for name in (*place.keys, place.variable):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_fresh_folder_is_healthy(cli: Cli) -> None:
    """Without key, configuration and store everything works: exit 0, and the local judge was really asked."""
    done = cli("doctor", "--json")
    assert done.code == 0
    found = by_name(done)
    assert found["local judge"]["state"] == "ok"
    assert "detects a copied sentence and a changed number" in found["local judge"]["said"]
    assert found["configuration"]["state"] == found["keys"]["state"] == "note"
    assert not Path(".ragauge").exists()


def test_a_broken_judge_is_wrong(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that supports everything is told: exit 1, with what it found and what to do."""
    from ragauge.evaluation.doctor import checks as doctor

    monkeypatch.setattr(doctor, "CHANGED_SENTENCE", doctor.SENTENCE)
    done = cli("doctor")
    assert done.code == 1
    assert "gives ['supported', 'supported']" in done.out
    assert "1 thing to fix" in done.out


def test_configuration_and_set_are_read(cli: Cli, small: Path) -> None:
    """Every mistake of the configuration is shown with its line, and the set with the labels that it has."""
    Path("ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recal@5, max_drop: 3%}\n")
    found = by_name(done := cli("doctor", "--set", small, "--json"))
    assert done.code == 1
    assert "ragauge.yaml line 3" in found["configuration"]["said"]
    assert "recall" in found["configuration"]["said"]
    assert found["eval set"]["state"] == "ok"
    assert "10 questions" in found["eval set"]["said"]
    assert "labeled documents" in found["eval set"]["said"]


def test_rules_are_counted(cli: Cli) -> None:
    """As many rules are said as stand under gate.rules: the share of failed calls is none of them."""
    Path("ragauge.yaml").write_text("gate:\n  max_failed: 2%\n  rules:\n    - {metric: recall@5, max_drop: 3%}\n")
    assert by_name(cli("doctor", "--json"))["configuration"]["said"] == "ragauge.yaml is valid, 1 rule in its gate"
    with Path("ragauge.yaml").open("a") as file:
        file.write("    - {metric: mrr, min: 0.5}\n    - {tag: golden, must_pass: true}\n")
    assert by_name(cli("doctor", "--json"))["configuration"]["said"] == "ragauge.yaml is valid, 3 rules in its gate"


def test_a_repository_without_a_commit(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first commit it is a repository without a commit; without a repository it is none."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert by_name(cli("doctor", "--json"))["git"]["said"].startswith("not a git repository: ")
    subprocess.run(["git", "init", "-q", "-b", "work", "."], check=True)
    said = by_name(cli("doctor", "--json"))["git"]["said"]
    assert said == "no commit on work yet: runs will not record a commit"


def test_systems_are_looked_for(cli: Cli) -> None:
    """A system that is there is found with what it can do; another is wrong, in the words of `run`."""
    Path("shop_app.py").write_text("def answer(question):\n    return 'yes'\n")
    assert by_name(cli("doctor", "--system", "shop_app:answer", "--json"))["system shop_app:answer"]["state"] == "ok"
    wrong = by_name(done := cli("doctor", "--system", "shop_app:anser", "--json"))["system shop_app:anser"]
    assert done.code == 1
    assert "nearest: answer" in wrong["said"]


@pytest.mark.server
def test_a_service_is_reached_or_not(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that listens is ok and is asked nothing; one that does not is wrong, and no password is shown."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with FlakyService() as service:
        url = service.url.replace("127.0.0.1", "me:swordfish@127.0.0.1")
        assert cli("doctor", "--system", url).code == 0
        assert service.requests == []
    gone = cli("doctor", "--system", url, "--json")
    told = by_name(gone)[f"system {service.url}"]
    assert (gone.code, told["state"]) == (1, "wrong")
    assert told["said"].startswith(f"cannot connect to {service.url}: ")
    assert "swordfish" not in gone.out + gone.err


def test_models_are_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that answers is ok; one that is not there is wrong, with what went wrong; no key shows."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with FaultyServer() as server:
        done = cli("doctor", "--judge", f"openai-chat:any@{server.url}", "--json")
        assert done.code == 0
        assert by_name(done)[f"model openai-chat:any@{server.url}"]["state"] == "ok"
        assert SECRET not in done.out + done.err
    gone = cli("doctor", "--judge", f"openai-chat:any@{server.url}")
    assert gone.code == 1
    assert "unreachable" in gone.out
    assert SECRET not in gone.out + gone.err


def test_a_url_with_a_password_hides_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A base URL is shown without user, password and query."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://me:{SECRET}@127.0.0.1:9/v1?key={SECRET}")
    done = cli("doctor")
    assert "http://127.0.0.1:9/v1" in done.out
    assert SECRET not in done.out + done.err


def test_a_store_that_cannot_be_read_is_wrong(cli: Cli) -> None:
    """Another program's file in the store's place is told, and left as it is."""
    Path("notes.db").write_text("these are notes")
    done = cli("doctor", "--store", "sqlite:///notes.db")
    assert done.code == 1
    assert Path("notes.db").read_text() == "these are notes"


def test_what_is_stored(cli: Cli, tmp_path: Path) -> None:
    """`ragauge doctor` names damaged parts, and a damaged file, as wrong; a whole store is well."""
    path = tmp_path / "s.db"
    rows = [{"query_id": "q0", "query": "How tall?", "answer": "330 metres. " * 60, "passages": ["It is tall."]}]
    cli("evaluate", write(tmp_path / "towers.jsonl", rows), "--judge", "none", "--store", path, "-q")
    assert cli("doctor", "--store", path, "--json").code == 0
    damage(path, "responses")
    done = cli("doctor", "--store", path, "--json")
    (store,) = (part for part in done.json()["looked"] if part["name"] == "store")
    assert (done.code, store["state"], "Restore the file from a backup" in store["hint"]) == (1, "wrong", True)
    assert "1 part damaged: response of example q0 in run towers" in store["said"]
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 : len(whole) // 2 + 20_000] = b"\xff" * 20_000
    path.write_bytes(whole)
    (store,) = (part for part in cli("doctor", "--store", path, "--json").json()["looked"] if part["name"] == "store")
    assert store["state"] == "wrong"


@pytest.fixture
def towers(cli: Cli, tmp_path: Path) -> Path:
    """A store with a run of one evaluated example."""
    rows = [{"query_id": "q0", "query": "How tall?", "answer": "330 metres.", "passages": ["It is tall."]}]
    words = ("evaluate", write(tmp_path / "towers.jsonl", rows), "--judge", "none", "--store", tmp_path / "s.db")
    assert cli(*words, "-q").code == 0
    return tmp_path / "s.db"


def looked(cli: Cli, path: Path) -> dict[str, str]:
    """What doctor says of a store."""
    (store,) = (part for part in cli("doctor", "--store", path, "--json").json()["looked"] if part["name"] == "store")
    return {name: store[name] for name in ("state", "said", "hint")}


def test_a_broken_index_is_built_again_by_the_command_shown(cli: Cli, towers: Path) -> None:
    """Where indexes alone are damaged doctor says that nothing kept is, and its command mends them."""
    find, named = "SELECT rootpage, sql FROM sqlite_master WHERE name = 'runs_by_name'", "name = 'runs_by_name'"
    with closing(sqlite3.connect(towers, isolation_level=None)) as raw:
        page, made = raw.execute(find).fetchone()
        raw.executescript(f"PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE {named}")  # noqa: S608 - ours
    with closing(sqlite3.connect(towers, isolation_level=None)) as raw:  # a change that the index does not see
        raw.execute("UPDATE runs SET name = 'bridges'")
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute("INSERT INTO sqlite_master VALUES ('index', 'runs_by_name', 'runs', ?, ?)", (page, made))
    found = looked(cli, towers)
    assert found["state"] == "wrong"
    assert "but the data is intact: row 1 missing from index runs_by_name" in found["said"]
    words = shlex.split(found["hint"].removeprefix("Rebuild them: "))
    subprocess.run([sys.executable, *words[1:]], check=True)
    assert looked(cli, towers)["state"] == "ok"


def test_a_text_that_is_none_is_named(cli: Cli, towers: Path) -> None:
    """A bit that turned in a text is told by its column, its table and the run."""
    with closing(sqlite3.connect(towers)) as raw, raw:
        raw.execute("UPDATE summary_values SET metric = CAST(x'66ff69' AS TEXT) WHERE place = 0")
    found = looked(cli, towers)
    assert (found["state"], "ragauge runs delete" in found["hint"]) == ("wrong", True)
    assert re.search(r"1 part damaged: metric in table summary_values in run towers \(\w+\)$", found["said"])
    with closing(sqlite3.connect(towers)) as raw, raw:
        raw.execute("UPDATE runs SET name = CAST(x'66ff69' AS TEXT)")
    assert re.search(r"a text in column '\w*name' is damaged; ragauge doctor", cli("runs", "--store", towers).err)
    assert "name in table runs in run f\N{REPLACEMENT CHARACTER}i (" in looked(cli, towers)["said"]


def test_an_empty_file_is_no_new_store(cli: Cli, tmp_path: Path) -> None:
    """A file of 0 bytes is told as one that lost what was in it, and left so."""
    (tmp_path / "cut.db").touch()
    found = looked(cli, tmp_path / "cut.db")
    assert (found["state"], "empty (0 bytes)" in found["said"]) == ("wrong", True)
    assert (tmp_path / "cut.db").stat().st_size == 0


def test_a_damaged_schema_is_said_in_words(cli: Cli, towers: Path) -> None:
    """A table's definition that is no text is no traceback."""
    whole = towers.read_bytes()
    towers.write_bytes(whole.replace(b"CREATE TABLE runs ", b"CREATE TABLE ru\x9ds "))
    found = looked(cli, towers)
    assert (found["state"], "codec" in found["said"]) == ("wrong", False)
