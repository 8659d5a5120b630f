"""Budgets of cost that every question keeps or breaks alike, and gates over examples that depend on each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli, Row, write

FREE = ("-q", "--judge", "none", "-m", "recall@5,cost")
RULES = """
gate:
  rules:
    - {metric: cost, max: 0.003}
"""


def priced(cost: float, n: int = 60, cluster: str = "") -> list[Row]:
    """Questions that all cost the same; two of three find their document."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"What is {i}?",
            "answer": f"It is {i}.",
            "relevant": {f"d{i}": 1},
            "passages": [{"doc_id": f"d{i}" if i % 3 else "x", "text": "a text"}],
            "cost": cost,
            **({"cluster": cluster} if cluster else {}),
        }
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("cost", "code", "said"),
    [
        (0.002, 0, "Gate passed"),
        (0.004, 3, "lies beyond the limit (at most $0.003)"),
        (0.0, 4, "all 60 values are 0: the spread of others is unknown. decide: point needs no interval."),
    ],
)
def test_the_same_cost_everywhere(cli: Cli, tmp_path: Path, cost: float, code: int, said: str) -> None:
    """A cost that is the same on every question keeps or breaks a budget; where nothing has a cost, that is said."""
    (tmp_path / "ragauge.yaml").write_text(RULES)
    assert cli("evaluate", write(tmp_path / "a.jsonl", priced(cost)), *FREE).code == 0
    done = cli("gate", "a")
    assert (done.code, said in done.out) == (code, True), done.out


def test_a_cost_that_doubled_is_seen(cli: Cli, tmp_path: Path) -> None:
    """Where every question costs twice what it did, compare and max_drop both say so."""
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: cost, max_drop: 10%}\n")
    for name, cost in (("before", 0.002), ("after", 0.004)):
        assert cli("evaluate", write(tmp_path / f"{name}.jsonl", priced(cost)), *FREE).code == 0
    said = "Changed from before: no change in quality seen; worse on cost +100% (60 examples in both)."
    assert cli("compare", "before", "after").out.splitlines()[1].startswith(said)
    assert cli("gate", "after", "--baseline", "before").code == 3
    assert cli("gate", "before", "--baseline", "after").code == 0


def test_one_cluster_is_one_observation(cli: Cli, tmp_path: Path) -> None:
    """Sixty questions of one conversation decide nothing, and the reason is the cluster, not the number."""
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, min: 0.5}\n")
    assert cli("evaluate", write(tmp_path / "a.jsonl", priced(0.1, cluster="talk")), *FREE).code == 0
    done = cli("gate", "a")
    assert done.code == 4
    assert "60 examples of one cluster count as one observation, so this mean has no interval." in done.out


def test_clusters_are_told_and_count(cli: Cli, tmp_path: Path) -> None:
    """Clusters that either run declares make intervals wider, in both orders alike, and their number is said."""
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, max_drop: 20 points}\n")
    made = (("plain", 0, False), ("talks", 0, True), ("worse", 2, False), ("worse_talks", 2, True))
    for name, hurt, declared in made:
        rows = priced(0.1)
        for i, row in enumerate(rows):
            if i // 10 < hurt:  # whole conversations are missed
                row["passages"][0]["doc_id"] = "x"
            if declared:
                row["cluster"] = f"talk {i // 10}"
        assert cli("evaluate", write(tmp_path / f"{name}.jsonl", rows), *FREE).code == 0

    def half(base: str, new: str) -> float:
        found = cli("compare", base, new, "-m", "recall@5", "--json").json()["comparisons"][0]
        assert found["examples"]["clusters"] == (None if (base, new) == ("plain", "worse") else 6)
        low, high = found["metrics"]["recall@5"]["ci"]
        return float(high - low)

    assert half("talks", "worse") == half("plain", "worse_talks") == half("talks", "worse_talks")
    assert half("talks", "worse") > 1.5 * half("plain", "worse")
    assert "(60 examples in both, in 6 clusters)" in cli("compare", "talks", "worse").out
    gated = cli("gate", "worse", "--baseline", "talks")
    assert "60 examples in both runs · 6 clusters of examples" in gated.out
    assert cli("gate", "worse", "--baseline", "talks", "--json").json()["clusters"] == 6


def test_a_pass_with_warnings_says_so(cli: Cli, tmp_path: Path) -> None:
    """A rule that only warns leaves exit code 0, and the first line says that there is something to read."""
    rules = "gate:\n  rules:\n    - {metric: cost, max: 0.003, on_fail: warn}\n    - {metric: recall@5, min: 0.2}\n"
    (tmp_path / "ragauge.yaml").write_text(rules)
    assert cli("evaluate", write(tmp_path / "a.jsonl", priced(0.004)), *FREE).code == 0
    done = cli("gate", "a", "--github", "-o", "a.md")
    assert done.code == 0
    assert done.out.startswith("Gate passed with 1 warning: a\n")
    assert "::notice title=Gate passed with 1 warning::" in done.out
    assert "Gate passed with 1 warning: a" in (tmp_path / "a.md").read_text()


def test_too_few_for_min_n(cli: Cli, tmp_path: Path) -> None:
    """What to do about fewer examples than min_n is not to widen the limit, which would change nothing."""
    (tmp_path / "ragauge.yaml").write_text("gate:\n  min_n: 80\n  rules:\n    - {metric: recall@5, min: 0.2}\n")
    assert cli("evaluate", write(tmp_path / "a.jsonl", priced(0.1)), *FREE).code == 0
    done = cli("gate", "a")
    assert done.code == 4
    assert "60 examples are fewer than min_n (80)." in done.out
    assert "What to do: Add examples, or lower min_n if so few should decide." in done.out
    assert "decide: point" not in done.out


def test_what_a_gate_lacks_is_said_with_what_to_do(cli: Cli, tmp_path: Path) -> None:
    """No file of rules, and a judge that nobody asked, are errors that say how to go on."""
    assert cli("evaluate", write(tmp_path / "a.jsonl", priced(0.1)), *FREE).code == 0
    missing = cli("gate", "a")
    assert (missing.code, missing.err) == (
        2,
        "error: ragauge.yaml: there is no such file. Create one with ragauge init.\n",
    )
    (tmp_path / "ragauge.yaml").write_text(RULES)
    unknown = cli("gate", "a", "--judge", "openai:gpt-x")
    assert unknown.code == 2
    assert "It has not been judged. Judge it with: ragauge evaluate a --judge openai:gpt-x" in unknown.err


def test_small_prices_are_written_out(cli: Cli, tmp_path: Path) -> None:
    """Prices of hundredths of a cent are written as prices are, without an exponent, in every form."""
    (tmp_path / "ragauge.yaml").write_text(RULES)
    assert cli("evaluate", write(tmp_path / "a.jsonl", priced(0.0000213)), *FREE).code == 0
    for done in (cli("show", "a"), cli("gate", "a"), cli("gate", "a", "--explain"), cli("compare", "a", "a")):
        assert "0.0000213" in done.out
        assert "e-0" not in done.out
