"""Sets in every form that is read as one are compared, checked, frozen and varied; no file is lost to an output."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.api import testset
from ragauge.api.options import PrepareOptions
from ragauge.errors import UsageError

TEXTS = {f"d{n}": f"The crane number {n} was built by Tarn{n} in {1900 + n}. It stands." for n in range(6)}
ROWS: list[dict[str, Any]] = [
    {"query_id": f"q{n}", "query": f"Who built the crane number {n}?", "reference_answer": f"Tarn{n}.",
     "relevant": {f"d{n}": 1}, "gold_spans": [{"doc_id": f"d{n}", "start": 0, "end": 40}],
     "meta": {"state": "golden", "by": "Ann"}}
    for n in range(6)
]     # fmt: skip


def _written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Six questions, golden."""
    return _written(tmp_path / "set.jsonl", ROWS)


@pytest.fixture(params=["beir", "deepeval", "ragas", "table"])
def other(request: pytest.FixtureRequest, path: Path, tmp_path: Path) -> Any:
    """The same set in another form."""
    if request.param == "table":
        return [{name: value for name, value in row.items() if name != "meta"} for row in ROWS]
    to = tmp_path / {"beir": "beir", "deepeval": "goldens.json", "ragas": "samples.jsonl"}[request.param]
    rg.export_set(path, to=request.param, output=to)
    return to


def test_a_set_and_its_export_are_compared(path: Path, other: Any, tmp_path: Path) -> None:
    """Of another form nothing differs; one changed question and one left out are all that is found, in both orders."""
    assert not rg.diff_sets(path, other).found
    rows = [ROWS[0] | {"query": "Who built it?"}, *ROWS[1:5]]
    changed = _written(tmp_path / "changed.jsonl", rows)
    found = rg.diff_sets(other, changed).found
    assert [(one.query_id, one.field, one.new) for one in found.changed] == [("q0", "query", "Who built it?")]
    assert (dict(found.added), list(found.removed), found.same) == ({}, ["q5"], 4)
    back = rg.diff_sets(changed, other).found
    assert [(one.field, one.old) for one in back.changed] == [("query", "Who built it?")]
    assert list(back.added) == ["q5"]


def test_two_files_that_are_not_json_lines_are_compared(path: Path, tmp_path: Path) -> None:
    """Goldens of deepeval and a BEIR folder of the same set have the same version, and no example differs."""
    rg.export_set(path, to="deepeval", output=tmp_path / "goldens.json")
    rg.export_set(path, to="beir", output=tmp_path / "beir")
    found = rg.diff_sets(tmp_path / "goldens.json", tmp_path / "beir").found
    assert (found.same, found.old_version) == (6, found.new_version)


def test_other_forms_are_checked_and_varied(path: Path, other: Any, tmp_path: Path) -> None:
    """Evidence is looked for as in JSON lines; only mending needs those. Variants are written as JSON lines."""
    assert rg.check_set(other, corpus=TEXTS).to_dict()["counts"] == {"intact": 6}
    assert rg.check_set(other, corpus=TEXTS).to_dict()["states"] == rg.check_set(path, corpus=TEXTS).to_dict()["states"]
    varied = tmp_path / "varied.jsonl"
    rg.vary_set(other, kinds="case", output=varied)
    assert not rg.diff_sets(path, varied).found.removed
    assert len(rg.diff_sets(path, varied).found.added) == 6


def test_a_lock_stands_beside_a_set_of_another_form(path: Path, tmp_path: Path) -> None:
    """Goldens are frozen and a renamed page is found by their lock; what is in no file cannot be frozen."""
    goldens = tmp_path / "goldens.json"
    rg.export_set(path, to="deepeval", output=goldens)
    assert rg.freeze_set(goldens, corpus=TEXTS) == tmp_path / "goldens.lock.json"
    renamed = {("new" if name == "d3" else name): text for name, text in TEXTS.items()}
    assert rg.check_set(goldens, corpus=renamed).counts == {"intact": 5, "moved": 1}
    with pytest.raises(UsageError, match="in no file"):
        rg.freeze_set(ROWS, corpus=TEXTS)
    with pytest.raises(UsageError, match="expected JSON lines"):
        rg.check_set(goldens, corpus=TEXTS, fix=True, output=tmp_path / "new.jsonl")


def _writes(verb: str, path: Path, to: Path) -> Any:
    if verb == "vary":
        return rg.vary_set(path, kinds="case", output=to)
    return rg.check_set(path, corpus=TEXTS, judge="none", fix=True, output=to)


@pytest.mark.parametrize("verb", ["vary", "check"])
def test_no_output_takes_examples_away(verb: str, path: Path, tmp_path: Path) -> None:
    """A file with other examples, edited ones or no set stays as it is; the same again, and more, is written."""
    to = tmp_path / "out.jsonl"
    _writes(verb, path, to)
    made = to.read_bytes()
    _writes(verb, path, to)
    assert to.read_bytes() == made
    for n, held in enumerate((made.replace(b"crane", b"ship", 1), b'{"query_id": "mine", "query": "Mine?"}\n', b"[1]")):
        to.write_bytes(held)
        told = "holds no set" if n == 2 else f"testset {verb}: -o .*holds examples that were not made now: (q0|mine)"
        with pytest.raises(UsageError, match=told):
            _writes(verb, path, to)
        assert to.read_bytes() == held
    to.write_bytes(made[: made.index(b"\n") + 1])     # the first line alone
    _writes(verb, path, to)
    assert to.read_bytes() == made
    with pytest.raises(UsageError, match=r"ends in \.jsonl"):
        _writes(verb, path, tmp_path / "out.csv")


@pytest.mark.parametrize(("form", "name"), [("ragas", "set.jsonl"), ("deepeval", "new.json"), ("beir", "set.jsonl")])
def test_an_export_takes_no_file_away(form: Any, name: str, path: Path, tmp_path: Path) -> None:
    """A file that holds something, the set itself too, is refused and keeps its bytes; an empty one is written."""
    to = tmp_path / name
    if to != path:
        to.write_text("mine", encoding="utf-8")
    held = to.read_bytes()
    with pytest.raises(UsageError, match=f"-o .*{name}: is there already"):
        rg.export_set(path, to=form, output=to)
    assert to.read_bytes() == held
    if to != path:
        to.write_bytes(b"")
        assert rg.export_set(path, to=form, output=to) == 6


def test_preparing_takes_no_file_away(path: Path, tmp_path: Path) -> None:
    """The same again is written; other examples, marked ones, edited claims and what is no set stay as they are."""
    to = tmp_path / "ready.jsonl"
    wanted = PrepareOptions(path, output=to)
    asyncio.run(testset.prepare(wanted))
    made = to.read_bytes()
    asyncio.run(testset.prepare(wanted))
    assert to.read_bytes() == made
    others = {
        b'{"query_id": "mine", "query": "Mine?"}\n': "did not write: mine",
        path.read_bytes(): "did not write: q0, q1, q2 and 3 more",
        made.replace(b'["Tarn0."]', b'["Tarn0 did."]'): "other claims or aspects: q0",
        b"[1]": "holds no set",
    }
    for held, told in others.items():
        to.write_bytes(held)
        with pytest.raises(UsageError, match=told):
            asyncio.run(testset.prepare(wanted))
        assert to.read_bytes() == held
