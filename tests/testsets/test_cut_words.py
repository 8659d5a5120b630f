"""Evidence that begins or ends inside a word is named and made whole; each lost stretch of an example is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragauge as rg
from ragauge.testsets.unspaced_words import list_cut_words, widen_to_words

TEXT = "The warranty is two years. It costs 1,250.50 euros – in snake_case, d'une façon. क्षेत्र है। 保修期是两年。"


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("rranty is two ye", "warranty is two years"),
        ("warranty is two years", "warranty is two years"),
        ("years.", "years."),
        (" is ", " is "),
        ("t", "The"),
        ("250", "1,250.50"),
        ("1,250.50", "1,250.50"),
        ("snake", "snake"),
        ("aço", "façon"),
        ("une f", "une façon"),
        ("त्र है", "क्षेत्र है"),
        ("क्षेत्र", "क्षेत्र"),
        ("期是", "期是"),
        ("修期是两年。", "修期是两年。"),
    ],
)
def test_a_stretch_is_widened_to_the_edges_of_its_words(part: str, whole: str) -> None:
    """Letters with marks and digits with their points make a word; signs end it, and Chinese has no edges to cut."""
    start = TEXT.index(part) if part != "t" else 0
    end = start + len(part)
    low, high = widen_to_words(TEXT, start, end)
    assert TEXT[low:high] == whole
    assert bool(list_cut_words(TEXT, start, end)) is (part != whole)


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
@settings(derandomize=True, deadline=None)
def test_what_is_whole_stays_and_nothing_is_lost(text: str, a: int, b: int) -> None:
    """Widened once is widened for good, and holds what it held."""
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    low, high = widen_to_words(text, start, end)
    assert low <= start <= end <= high
    assert widen_to_words(text, low, high) == (low, high)


def _written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _row(name: str, *places: tuple[int, int], quoted: bool = True) -> dict[str, Any]:
    spans: list[dict[str, Any]] = [{"doc_id": "d", "start": start, "end": end} for start, end in places]
    anchors = [one | {"quote": TEXT[one["start"] : one["end"]]} for one in spans]
    meta = {"meta": {"state": "golden", "anchors": anchors}} if quoted else {}
    return {"query_id": name, "query": f"{name}?", "gold_spans": spans, **meta}


@pytest.mark.parametrize("quoted", [True, False])
def test_check_names_cut_words_and_fix_makes_them_whole(tmp_path: Path, *, quoted: bool) -> None:
    """Spans and quotes are widened and keep their state; other lines keep their bytes; then none is named."""
    rows = [_row("cut", (6, 22), (0, 3), quoted=quoted), _row("whole", (4, 25), quoted=quoted)]
    path = _written(tmp_path / "set.jsonl", rows)
    found = rg.check_set(path, corpus={"d": TEXT})
    assert (found.counts, found.exit_code) == ({"intact": 2}, 0)
    told = found.to_markdown()
    assert "“rranty” of “warranty”; “ye” of “years”" in told
    assert f"ragauge testset check {path} --corpus CORPUS --fix -o NEW.jsonl" in told
    (cut, _) = found.to_dict()["states"][0]["evidence"]
    assert cut["whole"] == {"start": 4, "end": 25, "text": "warranty is two years"}
    new = tmp_path / "new.jsonl"
    rg.check_set(path, corpus={"d": TEXT}, fix=True, output=new)
    first, second = new.read_text(encoding="utf-8").splitlines()
    assert second == path.read_text(encoding="utf-8").splitlines()[1]
    assert json.loads(first)["gold_spans"] == [
        {"doc_id": "d", "start": 4, "end": 25},
        {"doc_id": "d", "start": 0, "end": 3},
    ]
    if quoted:
        assert json.loads(first)["meta"]["state"] == "golden"
        assert [one["quote"] for one in json.loads(first)["meta"]["anchors"]] == ["warranty is two years", "The"]
    assert "Cut words" not in rg.check_set(new, corpus={"d": TEXT}).to_markdown()


def test_each_lost_stretch_of_an_example_is_shown(tmp_path: Path) -> None:
    """The worst stands first beside the example, the others below it; of very many the rest is counted."""
    ends = [n for n in range(len(TEXT)) if TEXT[n] == " "][:9]
    path = _written(tmp_path / "set.jsonl", [_row("few", (0, 25), (26, 50)), _row("many", *((0, n) for n in ends))])
    changed = f"Now: {TEXT.replace('two years', 'three months')}"
    found = rg.check_set(path, corpus={"d": changed}, judge="none")
    first, second = (one["evidence"] for one in found.to_dict()["states"])
    assert {one["state"] for one in first} <= {"moved", "changed", "gone"}
    table = found.to_markdown().partition("Examples to review")[2]
    assert all(f"d {one['start']}–{one['end']} →" in table for one in first)
    assert "and 4 more" in table
    assert sum(f"d 0–{one['end']} →" in table for one in second) >= 5
