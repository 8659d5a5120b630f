"""Names that stand for runs, in Python."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.comparison.baselines.baseline import find_baseline_run
from ragauge.comparison.baselines.verb import resolve_baseline
from ragauge.core.messages import name_store
from ragauge.store.store_access import open_store


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/baselines.db"


def evaluated(store: str, name: str, n: int = 4) -> rg.Scorecard:
    texts = [f"it is {i}" for i in range(n)]
    rows: list[dict[str, Any]] = [
        {"query_id": f"q{i}", "query": f"{i}?", "answer": f"{text}.", "passages": [{"doc_id": "d", "text": text}]}
        for i, text in enumerate(texts)
    ]
    config = {"is": name, "n": n}
    return rg.evaluate(rows, metrics="faithfulness", judge=SPEC, workers=1, name=name, config=config, store=store)


def git(folder: Path, *words: str) -> None:
    as_ann = ("-c", "user.name=Ann", "-c", "user.email=a@b")
    subprocess.run(["git", *as_ann, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository on the branch feature/chunks, as the working directory."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "feature/chunks")
    git(folder, "config", "user.name", "Ann")
    (folder / "a").write_text("a")
    git(folder, "add", "a")
    git(folder, "commit", "-qm", "first")
    monkeypatch.chdir(folder)
    return folder


def test_name_is_the_branch(store: str, repository: Path) -> None:
    """Without a name the baseline is called as the branch; who set it and the run's commit are kept."""
    card = evaluated(store, "k=8")
    row = rg.set_baseline(card, tag="v1", note="first", store=store)
    assert {key: row[key] for key in ("name", "run_id", "run", "who", "branch", "tag", "note", "before")} == {
        "name": "feature/chunks",
        "run_id": card.run.run_id,
        "run": "k=8",
        "who": "Ann",
        "branch": "feature/chunks",
        "tag": "v1",
        "note": "first",
        "before": "",
    }
    assert row["git"] == card.run.git
    assert len(row["git"]) == 12
    (listed,) = rg.baselines(store=store)
    assert listed == {key: value for key, value in row.items() if key != "before"}
    assert rg.baselines(branch="main", store=store) == []


def test_a_commit_on_no_branch_names_nothing(store: str, repository: Path) -> None:
    """On a detached HEAD no name is guessed, so that a pull request cannot move main; with a name it works."""
    evaluated(store, "k=8")
    git(repository, "checkout", "-q", "--detach")
    with pytest.raises(rg.UsageError, match=r"no branch .* --name main"):
        rg.set_baseline(store=store)
    assert rg.set_baseline(name="main", store=store)["branch"] == ""


def test_main_outside_git(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no git the baseline is called main."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    evaluated(store, "k=8")
    assert rg.set_baseline(store=store)["name"] == "main"


def test_a_baseline_names_its_run(store: str) -> None:
    """A baseline is found by its name, an earlier one by its tag, a run by its id or name; a wrong name says so."""
    first, second = evaluated(store, "a", 4), evaluated(store, "b", 5)
    rg.set_baseline("a", name="main", tag="v1", store=store)
    rg.set_baseline("b", name="main", store=store)
    with open_store(store) as opened:
        assert resolve_baseline("main", opened) == second.run.run_id
        assert resolve_baseline("v1", opened) == first.run.run_id
        assert resolve_baseline("a", opened) is None
        wanted = {"main": second, "v1": first, "a": first, second.run.run_id: second, "latest": second}
        for word, card in wanted.items():
            found = find_baseline_run(word, opened)
            assert found is not None
            assert found.run_id == card.run.run_id
        missing = pytest.raises(rg.UnknownName, match="no baseline or run 'mian'; nearest: main")
        with name_store("x.db"), missing as wrong:
            find_baseline_run("mian", opened)
    said = "Baselines: main (ragauge baseline list --store x.db); ragauge runs --store x.db lists the runs."
    assert said in str(wrong.value)
    assert rg.open_run("a", store=store).scorecard(baseline="main").card.baseline.base.name == "b"  # type: ignore[union-attr]     # there is one


def test_a_wrong_name_without_baselines_says_how_to_set_one(store: str) -> None:
    """Where no baseline is set, the error of a wrong name says so, and how one is set."""
    evaluated(store, "k=8")
    with open_store(store) as opened, name_store("x.db"), pytest.raises(rg.UnknownName) as wrong:
        find_baseline_run("main", opened)
    assert str(wrong.value).startswith("no baseline or run 'main'")
    assert "No baseline is set: ragauge baseline set latest --store x.db sets one" in str(wrong.value)


def test_the_baseline_wins_over_a_run_of_the_same_name(store: str) -> None:
    """A baseline called as another run is the one that is meant, and the scorecard says that both exist."""
    second = evaluated(store, "b")
    rg.set_baseline("b", name="main", store=store)
    first = evaluated(store, "main")
    card = rg.open_run(first.run.run_id, store=store).scorecard(baseline="main")
    assert card.card.baseline is not None
    assert card.card.baseline.base.run_id == second.run.run_id
    (warning,) = [text for text in card.card.warnings if "is the baseline (run" in text]
    assert warning.startswith(f"main is the baseline (run {second.run.run_id}), but run {first.run.run_id} has")
    rg.set_baseline("main", name="main", store=store)
    held = rg.open_run("b", store=store).scorecard(baseline="main").card
    assert held.baseline is not None
    assert held.baseline.base.run_id == first.run.run_id
    assert not [text for text in held.warnings if "is the baseline (run" in text]


def test_a_new_baseline_takes_no_other_runs_name(store: str) -> None:
    """A name or id of another run is refused with that run and a name to take; the run's own name is not."""
    first, _ = evaluated(store, "good"), evaluated(store, "k3")
    for name in ("good", first.run.run_id):
        with pytest.raises(rg.UsageError, match=f"name of run {first.run.run_id}.* such as {name}-baseline"):
            rg.set_baseline("k3", name=name, store=store)
    assert rg.baselines(store=store) == []
    assert rg.set_baseline("good", name="good", store=store)["run_id"] == first.run.run_id
    rg.set_baseline("k3", name="good", store=store)  # the name is the baseline's by now, and moves on
    changed = rg.compare("good", "good", store=store).compared
    assert (changed.base.name, changed.runs[0].run.name) == ("k3", "good")  # looked at, it is the run of this name


def test_the_run_of_a_baseline_stays(store: str) -> None:
    """The run of a baseline is not deleted until the name means something else; a tag alone keeps no run."""
    evaluated(store, "a", 4)
    evaluated(store, "b", 5)
    rg.set_baseline("a", name="main", tag="v1", store=store)
    with pytest.raises(rg.UsageError, match="is the baseline main and is not deleted"):
        rg.open_run("a", store=store).delete()
    rg.set_baseline("b", name="main", store=store)
    rg.open_run("a", store=store).delete()
    with open_store(store) as opened:
        assert resolve_baseline("v1", opened) is None
    assert [row["run"] for row in rg.baselines(history=True, store=store)] == ["b", "a"]


@pytest.mark.parametrize("name", ["latest", "  ", "a\nb"])
def test_what_no_baseline_is_called(name: str, store: str) -> None:
    """A name that cannot be typed, or that means something else, is refused."""
    evaluated(store, "a")
    with pytest.raises(rg.UsageError, match="a baseline"):
        rg.set_baseline("a", name=name, store=store)


def test_removed(store: str) -> None:
    """A removed baseline is gone from the list and stays in the history; another name is refused with the nearest."""
    evaluated(store, "a")
    rg.set_baseline("a", name="main", store=store)
    with pytest.raises(rg.UnknownName, match="nearest: main"):
        rg.remove_baseline("mian", store=store)
    assert rg.remove_baseline("main", store=store)["run"] == "a"
    assert rg.baselines(store=store) == []
    assert [row["run_id"] == "" for row in rg.baselines(history=True, store=store)] == [True, False]
