"""`--baseline`, `--variant` and `--traffic` on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.conftest import Cli, write
from tests.cli.test_run_commands import validator

MEASURED = ("-q", "--judge", "none", "-m", "recall@5,mrr,empty_result_rate")


def answered(found: int, n: int = 30, prefix: str = "q") -> list[dict[str, Any]]:
    """Questions of which the first `found` got their document."""
    return [
        {
            "query_id": f"{prefix}{i}",
            "query": f"What is {prefix}{i}?",
            "answer": f"It is {i}.",
            "relevant": {f"d{i}": 1},
            "passages": [{"doc_id": f"d{i}" if i < found else "x", "text": "a text"}],
        }
        for i in range(n)
    ]


def test_baseline_in_json(cli: Cli, tmp_path: Path) -> None:
    """Evaluate and report with --baseline print the changes in the shape of the schema; without it there is none."""
    assert cli("evaluate", write(tmp_path / "main.jsonl", answered(30)), *MEASURED).code == 0
    changed = write(tmp_path / "changed.jsonl", answered(20))
    card = cli("evaluate", changed, *MEASURED, "--baseline", "main", "--json").json()
    validator("scorecard.schema.json").validate(card)
    assert (card["baseline"]["name"], card["baseline"]["matched"]) == ("main", 30)
    recall = card["baseline"]["changes"]["recall@5"]
    assert (recall["base"], recall["new"], recall["verdict"]) == (1.0, 2 / 3, "worse")
    assert recall["ci"][0] < -1 / 3 < recall["ci"][1] < 0
    assert card["baseline"]["changes"]["empty_result_rate"]["verdict"] == "no change seen"
    again = cli("report", "changed", "--baseline", "main", "--json").json()
    assert again["baseline"] == card["baseline"]
    assert cli("report", "changed", "--json").json()["baseline"] is None


def test_baseline_that_cannot_be_compared(cli: Cli, tmp_path: Path) -> None:
    """An unknown baseline, other examples or another judge end with exit code 2 and leave no run behind."""
    cli("evaluate", write(tmp_path / "main.jsonl", answered(3, 3)), *MEASURED)
    other = write(tmp_path / "other.jsonl", answered(3, 3, prefix="x"))
    for words, said in (
        ((*MEASURED, "--baseline", "mian"), "nearest: main"),
        ((*MEASURED, "--baseline", "main"), "no example in common"),
        (("-q", "-m", "faithfulness", "--baseline", "main"), "ragauge evaluate main -m faithfulness"),
    ):
        done = cli("evaluate", other, *words)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
    assert [run["name"] for run in cli("runs", "--json").json()] == ["main"]


def test_without_references_and_labels(cli: Cli, tmp_path: Path) -> None:
    """Two versions of which nobody has references or labels: the second run is kept, and compared on what it has."""
    rows = [{name: value for name, value in row.items() if name != "relevant"} for row in answered(12, 12)]
    assert cli("evaluate", write(tmp_path / "main.jsonl", rows), "-q").code == 0
    bare = [{**row, "answer": "It is something else."} for row in rows]
    done = cli("evaluate", write(tmp_path / "changed.jsonl", bare), "-q", "--baseline", "main", "--json")
    assert (done.code, done.err) == (0, "")
    changes = done.json()["baseline"]["changes"]
    assert {"faithfulness", "answer_relevance"} <= set(changes)
    assert not {"recall@5", "context_recall", "answer_correctness"} & set(changes)
    assert [run["name"] for run in cli("runs", "--json").json()] == ["changed", "main"]


def test_nothing_that_can_be_compared(cli: Cli, tmp_path: Path) -> None:
    """Where no metric has a score in both runs that is said, and the run stays."""
    rows = [{name: value for name, value in row.items() if name != "relevant"} for row in answered(5, 5)]
    measured = ("-q", "--judge", "none", "-m", "recall@5,mrr")
    assert cli("evaluate", write(tmp_path / "main.jsonl", rows), *measured).code == 0
    changed = write(tmp_path / "changed.jsonl", [{**row, "answer": "No."} for row in rows])
    done = cli("evaluate", changed, *measured, "--baseline", "main")
    assert (done.code, "Nothing to compare with main: the runs share no metric or no example." in done.out) == (0, True)
    assert [run["name"] for run in cli("runs", "--json").json()] == ["changed", "main"]


def test_kinds_of_runs(cli: Cli, tmp_path: Path) -> None:
    """--variant and --traffic say what a run is; another variant is another run, and an unknown one is refused."""
    path = write(tmp_path / "rows.jsonl", answered(3, 3))
    cli("evaluate", path, *MEASURED)
    cli("evaluate", path, *MEASURED, "--variant", "oracle", "--name", "perfect")
    cli("evaluate", path, *MEASURED, "--traffic", "--name", "week")
    shown = {name: cli("show", name, "--json").json() for name in ("rows", "perfect", "week")}
    assert [run.get("variant", "own") for run in shown.values()] == ["own", "oracle", "own"]
    assert [run.get("kind", "set") for run in shown.values()] == ["set", "set", "traffic"]
    assert len({run["run_id"] for run in shown.values()}) == 3
    refused = cli("evaluate", path, *MEASURED, "--variant", "orakle")
    assert refused.code == 2
    assert "no variant 'orakle'; nearest: oracle" in refused.err
