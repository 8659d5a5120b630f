"""`ragauge judge check --history`: checks are kept as they end, and a judge that fell is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

import ragauge as rg
from ragauge.store.store_access import open_store
from ragauge.verbs.sources import resolve_store_url

N = 100


def write(path: Path, right: int, **more: Any) -> Path:
    """Labels without texts, half of them supported, and a judge that is right on the first of them."""
    rows = [{"query_id": f"q{n}", "label": n % 2, "judge": n % 2 if n < right else 1 - n % 2, **more} for n in range(N)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def check(cli: Cli, path: Path) -> None:
    assert cli("judge", "check", path, "--verdict", "judge", "-q").code == 0


def test_a_fall_is_named(cli: Cli, tmp_path: Path) -> None:
    """Right on 90, then 70 of the same parts: paired, the interval of -0.2 lies below 0; a small fall is not named."""
    path = tmp_path / "labels.jsonl"
    assert "No judge has been checked yet" in cli("judge", "check", "--history").out
    for right in (90, 88, 70):
        check(cli, write(path, right))
    found = cli("judge", "check", "--history", "--json").json()["checks"]
    assert [(one["judge"], one["n"], one["accuracy"]["value"]) for one in found] == [
        ("judge", N, 0.9),
        ("judge", N, 0.88),
        ("judge", N, 0.7),
    ]
    assert [one["change"]["value"] for one in found] == [None, pytest.approx(-0.02), pytest.approx(-0.18)]
    assert [one["fell"] for one in found] == [False, False, True]
    assert [(one["pairs"], one["compared"]) for one in found] == [("", 0), ("same", N), ("same", N)]
    # of 18 changed pairs all are worse; 0.7 · 2 - 1 = 0.4 = kappa of balanced halves
    assert found[2]["kappa"]["value"] == pytest.approx(0.4)
    shown = cli("judge", "check", "--history").out
    assert "judge: accuracy fell on 20" in shown
    assert "on 100 shared parts" in shown.replace("\n", " ")


def test_the_same_check_again_adds_nothing(cli: Cli, tmp_path: Path) -> None:
    """A check that says what the last one said leaves the history as it is."""
    path = write(tmp_path / "labels.jsonl", 90)
    check(cli, path)
    check(cli, path)
    assert len(rg.judge_history().steps) == 1


def test_other_labels_are_two_samples(cli: Cli, tmp_path: Path) -> None:
    """Of other parts the change is that of two samples, wider than paired; mended labels are other parts."""
    check(cli, write(tmp_path / "labels.jsonl", 90))
    rows = [json.loads(line) for line in write(tmp_path / "new.jsonl", 70).read_text().splitlines()]
    (tmp_path / "new.jsonl").write_text(
        "".join(json.dumps({**row, "query_id": f"r{row['query_id']}"}) + "\n" for row in rows)
    )
    check(cli, tmp_path / "new.jsonl")
    last = rg.judge_history("judge").steps[-1]
    assert (last.pairs, last.fell, last.file) == ("other", True, "new.jsonl")
    assert last.change.value == pytest.approx(-0.2)
    assert last.change.interval is not None
    # Newcombe's interval of 0.7 - 0.9 of 100 each: from Wilson's [.604, .781] and [.826, .945]
    assert (last.change.interval.low, last.change.interval.high) == pytest.approx((-0.306, -0.091), abs=0.003)


def test_local_judge_is_kept_and_found_by_name(cli: Cli, tmp_path: Path) -> None:
    """Judges that are asked are kept under their specs; a name that was never checked names the nearest."""
    path = tmp_path / "texts.jsonl"
    row = {"query": "What?", "passages": ["It weighs nine grams."], "claim": "It weighs nine grams.", "label": 1}
    path.write_text(json.dumps(row) + "\n")
    cli("judge", "check", path, "-q")
    check(cli, write(tmp_path / "labels.jsonl", 90))
    assert [one.name for one in rg.judge_history("local").steps] == ["local"]
    assert len(rg.judge_history().steps) == 2
    wrong = cli("judge", "check", "--history", "--judge", "lokal")
    assert wrong.code == 2
    assert "nearest: local" in wrong.err
    done = cli("judge", "check", "--history", "-o", "history.md")
    assert done.code == 0
    assert "No judge got worse." in Path("history.md").read_text()


def test_weights_alone_are_named(cli: Cli, tmp_path: Path) -> None:
    """Where only weights differ from the check before, its line says so, and the change is 0; all doubled is none."""
    path = tmp_path / "labels.jsonl"
    check(cli, write(path, 90))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for weights in ([3, 1], [6, 2]):
        path.write_text("".join(json.dumps({**row, "weight": weights[n > 50]}) + "\n" for n, row in enumerate(rows)))
        check(cli, path)
    _, second, third = cli("judge", "check", "--history", "--json").json()["checks"]
    assert (second["reweighted"], second["fell"], second["change"]["value"]) == (True, False, 0.0)
    assert second["accuracy"]["value"] > 0.9
    assert not third["reweighted"]
    assert "only weights changed" in cli("judge", "check", "--history").out.replace("\n", " ")


def test_history_and_check_show_the_same_intervals(cli: Cli, tmp_path: Path) -> None:
    """Accuracy and kappa with their intervals are the check's, where rows share question and passages too."""
    path = tmp_path / "texts.jsonl"
    rows = [
        {
            "query": f"What of {n // 5}?",
            "passages": [f"Item {n // 5} weighs nine grams."],
            "label": int(n % 5 < 3),
            "claim": f"Item {n // 5} weighs nine grams." if n % 4 else f"Nobody knows {n} colours.",
            "judge": n % 2,
        }
        for n in range(60)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = cli("judge", "check", path, "--verdict", "judge", "--json", "-q").json()["judges"][0]["supported_or_not"]
    kept = cli("judge", "check", "--history", "--json").json()["checks"][0]
    assert {name: kept[name] for name in ("n", "accuracy", "kappa")} == {
        name: said[name] for name in ("n", "accuracy", "kappa")
    }


def test_nothing_to_check_is_told(cli: Cli) -> None:
    """Without --history a source is needed."""
    done = cli("judge", "check", "-q")
    assert done.code == 2
    assert "name a file of labels, or a run that people labeled" in done.err


def test_a_forgotten_check_is_marked(cli: Cli, tmp_path: Path) -> None:
    """A check stays in the history when its labels are taken back, and says so; recorded verdicts never do."""
    rows = [{"query": f"{n}?", "passages": [f"{n} is so."], "answer": f"{n} is so.", "label": 1} for n in range(4)]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    check(cli, write(tmp_path / "labels.jsonl", 90))
    assert cli("judge", "check", path, "--judge", "local", "-q").code == 0
    assert not any(step.forgotten for step in rg.judge_history().steps)
    assert cli("judge", "check", path, "--forget").code == 0
    assert [(step.name, step.forgotten) for step in rg.judge_history().steps] == [("judge", False), ("local", True)]
    assert "forgotten" in cli("judge", "check", "--history").out


def test_what_another_file_says_too_is_not_forgotten(cli: Cli, tmp_path: Path) -> None:
    """Taking back a longer file leaves the labels that a shorter one gave before it, and only those."""
    rows = [{"query": f"{n}?", "passages": [f"{n} is so."], "answer": f"{n} is so.", "label": 1} for n in range(8)]
    for name, n in (("a", 5), ("a2", 8)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:n]))
        assert cli("judge", "check", tmp_path / f"{name}.jsonl", "--judge", "local", "-q").code == 0
    assert cli("judge", "check", tmp_path / "a2.jsonl", "--forget").code == 0
    (judge,) = (one for one in rg.judge_history().steps if not one.forgotten)
    with open_store(resolve_store_url(None)) as store:
        assert len({one.item for one in store.checks.scores(judge.judge_id)}) == 5
