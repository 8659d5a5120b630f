"""Segments of few examples: named with their number in every form, marked, and never looked at alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.api.test_gate import SCHEMA, rules

import ragauge as rg

TYPES = ("lookup",) * 14 + ("howto",) * 7 + ("odd",) * 4 + ("rare",) * 2
TINY = ("red", "red", "blue")


def rows(types: tuple[str, ...] = TYPES) -> list[dict[str, Any]]:
    return [
        {
            "query_id": f"q{n}",
            "query": f"where is parcel {n}",
            "answer": "there",
            "relevant": {f"d{n}": 1},
            "passages": [{"doc_id": "other" if n % 5 == 0 else f"d{n}", "text": "a parcel"}],
            "segments": {"type": kind} | ({"colour": TINY[n]} if n < len(TINY) else {}),
        }
        for n, kind in enumerate(types)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run whose segments have 14, 7, 4 and 2 examples, and the same with all answers missed."""
    url = f"sqlite:///{tmp_path_factory.mktemp('small')}/small.db"
    rg.evaluate(rows(), metrics="recall@5", store=url, name="main", workers=1)
    return url


def test_every_form_names_small_segments(store: str, tmp_path: Path) -> None:
    """Terminal, Markdown, page and JSON give every named value its number; those of fewer than five are too few."""
    card = rg.evaluate(rg.open_run("main", store=store), metrics="recall@5", store=store, workers=1)
    said = "type: lookup 14, howto 7; too few: odd 4, rare 2 (grouped as (other))"
    tiny = "colour: too few: red 2, blue 1 (grouped as (other))"
    page = card.save(tmp_path / "card.html")
    for text in (repr(card), card.to_markdown(), Path(page).read_text(encoding="utf-8")):
        assert said in " ".join(text.split())
        assert tiny in " ".join(text.split())
    found = card.to_dict()["segment_sizes"]
    assert found == {
        "type": {
            "lookup": {"n": 14, "too_few": False},
            "howto": {"n": 7, "too_few": False},
            "odd": {"n": 4, "too_few": True},
            "rare": {"n": 2, "too_few": True},
        },
        "colour": {"red": {"n": 2, "too_few": True}, "blue": {"n": 1, "too_few": True}},
    }


def test_gate_says_of_which_metric_a_segment_has_too_few(tmp_path: Path) -> None:
    """Where two metrics leave a segment different numbers of examples, each number names its metric."""
    url = f"sqlite:///{tmp_path}/two.db"
    some = [{**row, "reference_answer": "there"} if n % 2 else row for n, row in enumerate(rows())]
    rg.evaluate(some, metrics=["recall@5", "exact_match"], store=url, name="main", workers=1)
    asked = rules({"metric": "recall@5", "min": 0.5}, {"metric": "exact_match", "min": 0.5})
    said = " ".join(repr(rg.gate("main", rules=asked, store=url)).split())
    assert "type=howto 7 of recall@5 (min_n 10)" in said
    assert "type=howto 3 of exact_match (min_n 10)" in said


def test_segments_that_are_all_small_do_not_vanish(tmp_path: Path) -> None:
    """Where every value is small no mean is shown for any, and each is still named."""
    url = f"sqlite:///{tmp_path}/tiny.db"
    card = rg.evaluate(rows(("a", "a", "b", "b", "b")), metrics="recall@5", store=url, workers=1)
    assert card.to_dict()["segments"].get("type", {}) == {}
    assert "type: too few: b 3, a 2" in repr(card)
    assert "type: too few: b 3, a 2" in Path(card.save(tmp_path / "tiny.html")).read_text(encoding="utf-8")


def test_gate_says_which_segments_are_too_small(store: str) -> None:
    """A gate names the segments without a check of their own, and those below min_n, with their examples."""
    asked = rules({"metric": "recall@5", "min": 0.5})
    found = rg.gate("main", rules=asked, store=store)
    said = "Too few examples for a separate check: "
    for text in (found.to_markdown().replace("\\_", "_"), repr(found)):
        line = " ".join(text.split()).partition(said)[2].partition(" ❔")[0]
        for one in ("type=howto 7 (min_n 10)", "type=odd 4", "type=rare 2", "colour=red 2", "colour=blue 1"):
            assert one in line
    data = json.loads(found.to_json())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert {"column": "type", "value": "odd", "n": 4} in data["too_few"]
    assert {one["value"] for one in data["too_few"]} == {"odd", "rare", "red", "blue"}
    whole = rules({"metric": "recall@5", "min": 0.5, "segments": "none"})
    assert json.loads(rg.gate("main", rules=whole, store=store).to_json())["too_few"] == []


def test_gate_on_a_named_small_segment_says_so(store: str) -> None:
    """A rule that names a column checks each of its values: a small one is not enough data, with n and min_n."""
    asked = rules({"metric": "recall@5", "min": 0.5, "segments": ["colour"], "segments_need_data": True})
    found = rg.gate("main", rules=asked, store=store)
    assert found.exit_code == 4
    reasons = {tuple(check.segment): check.because for check in found.checks if check.segment}
    assert reasons["colour", "red"] == reasons["colour", "blue"] == "few"
    said = " ".join(repr(found).split())
    assert "2 examples are fewer than min_n (10)" in said
    assert "1 example is fewer than min_n (10)" in said
