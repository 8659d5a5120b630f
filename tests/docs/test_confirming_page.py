"""docs/confirming-causes.md says what the code does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragauge.diagnosis.causes.attribution import ROWS
from ragauge.diagnosis.causes.counterfactuals import RULES_BY_CAUSE

PAGE = (Path(__file__).resolve().parents[2] / "docs/confirming-causes.md").read_text(encoding="utf-8")


def rows() -> Iterator[tuple[set[str], str]]:
    """(causes, refuted if) of each row of the page's table of experiments."""
    table = PAGE.split("---|---|---|---\n")[1].split("\n\n")[0]
    for line in table.splitlines():
        causes, _, _, refuted = line.split(" | ")
        yield set(causes.split(", ")), refuted


def test_every_cause_is_in_the_table_once() -> None:
    """The page's experiments are those of the code, each cause in one row, the untested ones apart."""
    named = [cause for causes, _ in rows() for cause in causes if cause != "no cause"]
    assert sorted(named) == sorted(row.name for row in ROWS)
    (untested,) = [causes for causes, refuted in rows() if refuted == "–"]
    assert untested - {"no cause"} == {row.name for row in ROWS} - RULES_BY_CAUSE.keys()


def test_causes_of_one_row_share_what_refutes_them() -> None:
    """Within a row of the page the code has one experiment, and the page says what refutes it."""
    for causes, refuted in rows():
        rules = {RULES_BY_CAUSE[cause] for cause in causes if cause in RULES_BY_CAUSE}
        assert len(rules) == (0 if refuted == "–" else 1)
        for rule in rules:
            says = {"right": "no better", "still wrong": "right:", "right or open": "never"}[rule.expects]
            assert refuted.startswith(says)
