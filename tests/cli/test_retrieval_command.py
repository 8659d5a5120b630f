"""`ragauge retrieval QRELS RUN`, as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragauge.core.errors import DataError, RagaugeError, UsageError
from ragauge.evaluation.retrieval.command import retrieval

GOLDEN = Path(__file__).resolve().parents[1] / "golden/retrieval"
QRELS, RUN = str(GOLDEN / "qrels.txt"), str(GOLDEN / "run.txt")

app = typer.Typer()
app.command()(retrieval)


def run(*arguments: str) -> tuple[str, str]:
    """What it writes to stdout and to stderr."""
    found = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert found.exit_code == 0
    return found.stdout, found.stderr


def test_table_has_means_intervals_and_counts() -> None:
    """The table goes to stdout with four decimals, warnings to stderr."""
    out, err = run(QRELS, RUN, "-m", "mrr,precision")
    # by hand: ranks of the first relevant: q1 2, q2 1 (é1), q3 4 (c and a tie), q4 -, q6 1, q7 absent; q5 has none
    assert f"{(1 / 2 + 1 + 1 / 4 + 0 + 1 + 0) / 6:.4f}" in out
    assert "6 scored · 1 not applicable" in out
    assert "5 scored · 1 undefined · 1 not applicable" in out
    assert "warning: 1 of 7 labeled queries are not in the run; each counts as an empty retrieval: q7." in err
    assert "warning" not in out


def test_json_is_stable() -> None:
    """--json gives mean, interval and counts by printed name, and values per query when asked."""
    out, _ = run(QRELS, RUN, "-m", "recall@5,mrr", "--json", "--per-query", "--topics", "trec_eval")
    found = json.loads(out)
    assert list(found["metrics"]) == ["recall@5", "mrr"]
    golden = json.loads((GOLDEN / "values.json").read_text())["values"]
    assert found["per_query"].keys() == golden.keys()
    for query_id, values in found["per_query"].items():
        assert values == {name: pytest.approx(golden[query_id][name]) for name in values}
    one = found["metrics"]["mrr"]
    assert one["mean"] == pytest.approx(sum(values["mrr"] for values in golden.values()) / len(golden))
    assert one["ci"][0] < one["mean"] < one["ci"][1]
    assert [one[status] for status in ("scored", "undefined", "not_applicable", "failed")] == [6, 0, 0, 0]
    assert found["warnings"]
    assert "per_query" not in json.loads(run(QRELS, RUN, "--json")[0])


def test_defaults_are_the_usual_five() -> None:
    """Without -m the five metrics that most papers report are computed."""
    found = json.loads(run(QRELS, RUN, "--json")[0])
    assert list(found["metrics"]) == ["recall@5", "precision@5", "mrr", "map", "ndcg@10"]


def test_values_per_query_in_lines() -> None:
    """--per-query writes a line for every topic before the table; what has no value is a dash."""
    lines = run(QRELS, RUN, "-m", "mrr,recall@5", "--per-query")[0].splitlines()
    assert lines[0].split() == ["query", "mrr", "recall@5"]
    assert lines[1].split() == ["q1", "0.5000", "0.5000"]
    assert lines[5].split() == ["q5", "–", "–"]


def test_preset_gives_what_labels_suffice_for() -> None:
    """Of a preset, the metrics that ask a judge are left out with a warning."""
    out, err = run(QRELS, RUN, "-m", "retrieval,map", "--json")
    names = ["recall@5", "precision@5", "mrr", "ndcg@10", "empty_result_rate", "map"]
    assert list(json.loads(out)["metrics"]) == names
    assert err.startswith("warning: retrieval: skipped metrics that need more than labels and a ranking: ")
    assert err.splitlines()[0].endswith(": context_recall, context_precision.")
    with pytest.raises(UsageError, match="no metric to compute"):
        run(QRELS, RUN, "-m", "prototype")


def test_ties_in_32_bits(tmp_path: Path) -> None:
    """--score-bits 32 ties near scores as trec_eval 9 does."""
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 10.00000002 t\nq Q0 b 2 10.00000001 t\n")
    means = [
        json.loads(run(str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "mrr", "--json", *more)[0])
        for more in ([], ["--score-bits", "32"])
    ]
    assert [found["metrics"]["mrr"]["mean"] for found in means] == [1, 0.5]


def test_errors_reach_the_caller(tmp_path: Path) -> None:
    """Wrong files and arguments are raised as errors with exit code 2, with nothing on stdout."""
    cases: list[tuple[list[str], type[RagaugeError]]] = [
        ([RUN, QRELS], DataError),
        ([QRELS, str(tmp_path)], DataError),
        ([QRELS, RUN, "-m", "faithfulness"], UsageError),
        ([QRELS, RUN, "-m", "recal@5"], UsageError),
        ([QRELS, RUN, "--topics", "some"], UsageError),
        ([QRELS, RUN, "--score-bits", "16"], UsageError),
        ([QRELS, RUN, "-m", ""], UsageError),
    ]
    for arguments, expected in cases:
        found = CliRunner().invoke(app, arguments)
        assert isinstance(found.exception, expected), arguments
        assert found.exception.exit_code == 2
        assert found.stdout == ""
