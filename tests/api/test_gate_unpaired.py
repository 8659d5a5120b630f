"""A gate over two stretches of traffic through the store: unpaired where they ask other questions, and said so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.api.test_gate import SCHEMA, rules

import ragauge as rg

KINDS = ("lookup", "compare", "howto", "multi_hop")
DROP = {"metric": "recall@5", "max_drop": "10 points"}


def rows(numbers: range, missed: int = 10, *, kind: int = -1, tags: tuple[str, ...] = ()) -> list[Any]:
    """One request a number; every `missed`-th got another document, of one kind all that are odd."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"what is number {i}",
            "answer": f"it is number {i}.",
            "passages": [
                {"doc_id": "no" if i % missed == 0 or (i % 4 == kind and i % 8 > 3) else f"d{i}", "text": "a"}
            ],
            "relevant": {f"d{i}": 1},
            "segments": {"type": KINDS[i % 4]},
            "tags": list(tags),
        }
        for i in numbers
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four stretches of traffic, and two runs over sets that share no question."""
    url = f"sqlite:///{tmp_path_factory.mktemp('unpaired')}/gate.db"
    stretches = {
        "monday": rows(range(400)),
        "tuesday": rows(range(400, 700)),
        "hurt": rows(range(800, 1100), kind=3),
        "some": rows(range(300, 600)),
        "most": rows(range(150, 450), tags=("golden",)),
        "few": rows(range(2000, 2006)),
    }
    for name, table in stretches.items():
        rg.evaluate(table, metrics="recall@5", store=url, name=name, traffic=True, workers=1)
    for name, table in {"set-a": rows(range(40)), "set-b": rows(range(40, 80))}.items():
        rg.evaluate(table, metrics="recall@5", store=url, name=name, workers=1)
    return url


def test_other_questions_are_held_unpaired(store: str) -> None:
    """Two stretches without a common question pass a drop that is wide enough, and every form says unpaired and n."""
    found = rg.gate("tuesday", baseline="monday", rules=rules(DROP), store=store)
    whole = next(check for check in found.checks if check.kind == "max_drop")
    assert (found.verdict, whole.n, whole.n_base, whole.unpaired) == ("pass", 300, 400, True)
    assert whole.interval is not None
    assert whole.interval.method.startswith("unpaired")
    for said in (found.to_markdown(), repr(found), found.explain(), str(found.to_dict()["summary"])):
        text = " ".join(said.split())
        assert "Unpaired: the 300 examples of tuesday are not the same as the 400 of monday" in text
        assert "For a narrower interval: the same questions in both runs" in text
    data = json.loads(found.to_json())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert (data["unpaired"]["n"], data["unpaired"]["n_baseline"], data["matched"]) == (300, 400, 0)
    drops = [check for check in data["checks"] if check["kind"] == "max_drop"]
    assert len(drops) == 5
    assert all(check["paired"] is False for check in drops)
    assert next(check for check in data["checks"] if check["kind"] == "max_failed")["paired"] is None
    assert "300 vs 400" in found.to_markdown()


def test_hurt_segment_fails(store: str) -> None:
    """Half of one segment lost its document: the gate fails there, without a pair."""
    found = rg.gate("hurt", baseline="monday", rules=rules(DROP), store=store)
    assert [c.segment for c in found.checks if c.verdict == "fail"] == [("type", "multi_hop")]
    assert re.search("<failure[^>]*>[^<]*unpaired difference", found.to_junit())
    with pytest.raises(rg.GateFailed, match=r"Unpaired: the 300 examples of hurt"):
        found.raise_if_failed()


def test_some_in_both_is_said(store: str) -> None:
    """A third in both: unpaired, on all examples of each, and it says how many count on both sides."""
    found = rg.gate("some", baseline="monday", rules=rules(DROP), store=store)
    whole = next(check for check in found.checks if check.kind == "max_drop")
    assert (whole.n, whole.n_base) == (300, 400)
    assert "100 examples are in both runs, fewer than half of this run's" in " ".join(found.explain().split())


def test_most_in_both_is_paired(store: str) -> None:
    """Five sixths in both: paired over those alone, and it says how many were left out; nothing says unpaired."""
    found = rg.gate("most", baseline="monday", rules=rules(DROP), store=store)
    whole = next(check for check in found.checks if check.kind == "max_drop")
    assert (whole.n, whole.n_base, whole.because) == (250, None, "unchanged")
    assert (
        "Comparing the 250 examples in both runs; 50 are only in this run, 150 only in the baseline." in found.explain()
    )
    assert "npaired" not in found.to_markdown() + found.explain()
    assert found.to_dict()["unpaired"] is None


def test_few_on_one_side(store: str) -> None:
    """Six requests against four hundred: not enough data, with both numbers."""
    found = rg.gate("few", baseline="monday", rules=rules(DROP), store=store)
    assert found.exit_code == 4
    assert "6 examples with a value in this run and 400 in the baseline" in found.to_markdown()


def test_tag_that_the_baseline_lacks(store: str) -> None:
    """A tag that only the run has leaves the baseline nothing to hold against: too few, not a mistake."""
    found = rg.gate("most", baseline="tuesday", rules=rules({**DROP, "tag": "golden", "segments": "none"}), store=store)
    check = next(check for check in found.checks if check.kind == "max_drop")
    assert (check.n, check.n_base, check.because) == (300, 0, "few")


def test_sets_without_a_common_question_are_refused(store: str, tmp_path: Path) -> None:
    """Runs over sets are matched or refused, never silently unpaired; the refusal names the way."""
    with pytest.raises(rg.UsageError, match=r"no example in common(?s:.*)--traffic"):
        rg.gate("set-b", baseline="set-a", rules=rules(DROP), store=store)
