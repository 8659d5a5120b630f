"""`ragauge explain` on stored runs: the numbers of the scorecard, taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.cli.test_run_commands import validator

from ragauge.diagnosis.causes.attribution import ROWS


@pytest.fixture
def evaluated(cli: Cli, small: Path) -> Cli:
    """A run called ten with everything in it."""
    cli("evaluate", small, "-q")
    return cli


def test_example_takes_its_scores_apart(evaluated: Cli) -> None:
    """The JSON of an example has the shape of its schema, and every value is that of the stored score."""
    check = validator("explained_example.schema.json")
    for query_id in ("q1", "q3", "q4", "q5", "q7", "q9"):
        found = evaluated("explain", "ten", query_id, "--json").json()
        check.validate(found)
        stored = evaluated("show", "ten", query_id, "--json").json()["scores"]
        assert {name: one["value"] for name, one in found["metrics"].items()} == {
            name: one["value"] for name, one in stored.items()
        }
        assert all(one["note"] == "" for one in found["metrics"].values())
        assert (found["cause"] is None) == (found["rows"] == [])


def test_example_in_words(evaluated: Cli) -> None:
    """Facts, the formula with its numbers, what counts and why, and the cause table with the cause marked."""
    shown = evaluated("explain", "latest", "q9", "-m", "faithfulness,recall@5")
    assert shown.code == 0
    for part in (
        "faithfulness",
        "#{i : S[i] is not empty} / c",
        "claims in the answer",
        "recall@5  1 / 1 = 1",
        "contradicted by passage 1",
        "Why it failed",
        "the cause",
    ):
        assert part in shown.out, part
    assert "ndcg" not in shown.out
    verdicts = ("no ", "the cause ", "unknown ", "second ", "fixed along with it ")
    table = shown.out.partition("Why it failed")[2]
    assert sum(line.startswith(verdicts) for line in table.splitlines()) == len(ROWS)
    hostile = evaluated("explain", "ten", "q7").out
    assert "[red]yes[/red]" in hostile
    assert "\x1b" not in hostile
    assert "The example passed." in evaluated("explain", "ten", "q5").out


def test_run_takes_its_means_apart(evaluated: Cli) -> None:
    """The JSON of a run has the shape of its schema; means, counts and findings are those of the scorecard."""
    found = evaluated("explain", "ten", "--json").json()
    validator("explained_run.schema.json").validate(found)
    card = evaluated("report", "ten", "--json").json()
    assert {name: one["summary"] for name, one in found["metrics"].items()} == card["metrics"]
    assert [one["finding"] for one in found["findings"]] == card["diagnosis"]
    assert found["causes"] == card["failures"]
    recall = found["metrics"]["recall@5"]
    assert recall["mean"] == "7 / 8 = 0.875  (sum of the values)"
    assert recall["counts"] == "8 scored + 2 not applicable = 10 examples"
    assert f"{card['failed_examples']} / 10 examples failed" in found["failures"]


def test_run_in_words(evaluated: Cli) -> None:
    """Chosen metrics only, with interval and counts; then what the findings rest on, which is the whole run."""
    shown = evaluated("explain", "ten", "-m", "recall@5").out
    assert "7 / 8 = 0.875" in shown
    assert "mrr" not in shown.partition("How each finding was computed")[0]
    assert "count" in shown
    held = evaluated("explain", "ten", "--baseline", "ten", "-m", "recall@5").out
    assert "compared with ten" in held
    assert "before" in held


def test_refused(evaluated: Cli, small: Path) -> None:
    """Unknown runs, examples, metrics and judges are usage errors with the nearest names."""
    for words, said in (
        (("explain", "tn"), "nearest: ten"),
        (("explain", "ten", "q11"), "q1"),
        (("explain", "ten", "-m", "recal@5"), "recall"),
        (("explain", "ten", "-m", "recall@7"), "nearest: recall@5"),
        (("explain", "ten", "q1", "-m", "completeness"), "Evaluate the run with it first"),
        (("explain", "ten", "--judge", "openai"), "judge of this run"),
        (("explain", "ten", "q1", "--baseline", "ten"), "--baseline compares whole runs: remove the query_id"),
    ):
        done = evaluated(*words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err, (words, done.err)
