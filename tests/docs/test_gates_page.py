"""docs/gates.md says what gates do: its file is valid, its keys are all there are, its arithmetic is printed so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import taken

import ragauge as rg
from ragauge.core.config.gate import GateSection, RuleSection

PAGE = (Path(__file__).resolve().parents[2] / "docs/gates.md").read_text()
(FILE,), (MISTAKES, ARITHMETIC) = taken("docs/gates.md", "yaml"), taken("docs/gates.md", "text")
RULES = """gate:
  max_failed: 2%
  rules:
    - {metric: recall@5, max_drop: 3%}
    - {metric: recall@5, min: 0.6, segments: none}
    - {metric: latency, max: 1500, segments: none}
"""
KINDS = ("compare", "howto", "lookup", "multi_hop")


def test_rules_of_the_page_are_valid(tmp_path: Path) -> None:
    """The file shown is read without a mistake, and both mistakes shown are what is said about such rules."""
    path = tmp_path / "ragauge.yaml"
    path.write_text(FILE.text)
    assert len(rg.validate(path).rules) == 10
    path.write_text(
        "gate:\n\n  rules:\n    - {metric: recal, min: 0.5}\n    - {metric: mrr, min: 0.5}\n"
        "    - {metric: mrr, max_drop: 3}\n"
    )
    with pytest.raises(rg.ConfigError) as caught:
        rg.validate(path)
    assert str(caught.value).replace(str(path), "ragauge.yaml") == MISTAKES.text.strip()


def test_every_key_is_on_the_page() -> None:
    """Every key that a gate may have is explained."""
    keys = {*GateSection.model_fields, *RuleSection.model_fields} - {"rules"}
    assert {key for key in keys if f"`{key}`" not in PAGE} == set()


def test_arithmetic_of_the_page(tmp_path: Path) -> None:
    """The arithmetic shown is what --explain prints for 160 examples of which 28 missed, and 14 more do now."""
    url = f"sqlite:///{tmp_path}/page.db"
    lost = {"main": 0, "pr": 14}
    for name, more in lost.items():
        rows = []
        for n in range(160):
            kind, place = KINDS[n % 4], n // 4
            missed = place < (8 if kind == "multi_hop" else 7 if kind != "lookup" else 6) + more * (kind == "multi_hop")
            rows.append(
                {
                    "query_id": f"q{n}",
                    "query": f"what is {n}",
                    "answer": "it",
                    "relevant": {f"d{n}": 1},
                    "passages": [{"doc_id": "x" if missed else f"d{n}", "text": "it"}],
                    "latency_ms": 900 + n,
                    "segments": {"type": kind},
                }
            )
        rg.evaluate(rows, metrics="recall@5,latency", judge=None, store=url, name=name)
    path = tmp_path / "ragauge.yaml"
    path.write_text(RULES)
    told = rg.gate("pr", baseline="main", rules=path, store=url).explain().replace(str(path), "ragauge.yaml")
    assert ARITHMETIC.text.strip() in told
