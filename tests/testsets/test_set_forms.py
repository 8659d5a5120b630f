"""Sets in every form that is read as one are compared, checked, frozen and varied; no file is lost to an output."""

from __future__ import annotations

import asyncio
import json
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragauge as rg
from ragauge.core.errors import UsageError
from ragauge.testsets.prepare import verb as testset
from ragauge.verbs.evaluate_options import PrepareOptions

TEXTS = {f"d{n}": f"The crane number {n} was built by Tarn{n} in {1900 + n}. It stands." for n in range(6)}
ROWS: list[dict[str, Any]] = [
    {
        "query_id": f"q{n}",
        "query": f"Who built the crane number {n}?",
        "reference_answer": f"Tarn{n}.",
        "relevant": {f"d{n}": 1},
        "gold_spans": [{"doc_id": f"d{n}", "start": 0, "end": 40}],
        "meta": {"state": "golden", "by": "Ann"},
    }
    for n in range(6)
]


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
    assert not rg.diff_sets(path, other).data
    rows = [ROWS[0] | {"query": "Who built it?"}, *ROWS[1:5]]
    changed = _written(tmp_path / "changed.jsonl", rows)
    found = rg.diff_sets(other, changed).data
    assert [(one.query_id, one.field, one.new) for one in found.changed] == [("q0", "query", "Who built it?")]
    assert (dict(found.added), list(found.removed), found.same) == ({}, ["q5"], 4)
    back = rg.diff_sets(changed, other).data
    assert [(one.field, one.old) for one in back.changed] == [("query", "Who built it?")]
    assert list(back.added) == ["q5"]


def test_two_files_that_are_not_json_lines_are_compared(path: Path, tmp_path: Path) -> None:
    """Goldens of deepeval and a BEIR folder of the same set have the same version, and no example differs."""
    rg.export_set(path, to="deepeval", output=tmp_path / "goldens.json")
    rg.export_set(path, to="beir", output=tmp_path / "beir")
    found = rg.diff_sets(tmp_path / "goldens.json", tmp_path / "beir").data
    assert (found.same, found.old_version) == (6, found.new_version)


def test_other_forms_are_checked_and_varied(path: Path, other: Any, tmp_path: Path) -> None:
    """Evidence is looked for as in JSON lines; only mending needs those. Variants are written as JSON lines."""
    assert rg.check_set(other, corpus=TEXTS).to_dict()["counts"] == {"intact": 6}
    assert rg.check_set(other, corpus=TEXTS).to_dict()["states"] == rg.check_set(path, corpus=TEXTS).to_dict()["states"]
    varied = tmp_path / "varied.jsonl"
    rg.vary_set(other, kinds="case", output=varied)
    assert not rg.diff_sets(path, varied).data.removed
    assert len(rg.diff_sets(path, varied).data.added) == 6


def test_a_lock_stands_beside_a_set_of_another_form(path: Path, tmp_path: Path) -> None:
    """Goldens are frozen and a renamed page is found by their lock; what is this set has no file cannot be frozen."""
    goldens = tmp_path / "goldens.json"
    rg.export_set(path, to="deepeval", output=goldens)
    assert rg.freeze_set(goldens, corpus=TEXTS) == tmp_path / "goldens.lock.json"
    renamed = {("new" if name == "d3" else name): text for name, text in TEXTS.items()}
    assert rg.check_set(goldens, corpus=renamed).counts == {"intact": 5, "moved": 1}
    with pytest.raises(UsageError, match="this set has no file"):
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
        told = (
            "is not an eval set"
            if n == 2
            else f"testset {verb}: -o .*has examples that this run did not create: (q0|mine)"
        )
        with pytest.raises(UsageError, match=told):
            _writes(verb, path, to)
        assert to.read_bytes() == held
    to.write_bytes(made[: made.index(b"\n") + 1])  # the first line alone
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
    with pytest.raises(UsageError, match=f"-o .*{name} already exists"):
        rg.export_set(path, to=form, output=to)
    assert to.read_bytes() == held
    if to != path:
        to.write_bytes(b"")
        assert rg.export_set(path, to=form, output=to) == 6


def test_preparing_takes_no_file_away(path: Path, tmp_path: Path) -> None:
    """The same again is written; other examples, marked ones, edited claims and what is no set stay as they are."""
    to = tmp_path / "ready.jsonl"
    wanted = PrepareOptions(path, output=to)
    asyncio.run(testset.prepare_set(wanted))
    made = to.read_bytes()
    asyncio.run(testset.prepare_set(wanted))
    assert to.read_bytes() == made
    others = {
        b'{"query_id": "mine", "query": "Mine?"}\n': "did not write: mine",
        path.read_bytes(): "did not write: q0, q1, q2 and 3 more",
        made.replace(b'["Tarn0."]', b'["Tarn0 did."]'): "other claims or aspects: q0",
        b"[1]": "is not an eval set",
    }
    for held, told in others.items():
        to.write_bytes(held)
        with pytest.raises(UsageError, match=told):
            asyncio.run(testset.prepare_set(wanted))
        assert to.read_bytes() == held


IDS = st.text("abcdé01-_/. ", min_size=1, max_size=8).map(str.strip).filter(bool)
WORDS = st.text("abc déß=,\"'?", min_size=1, max_size=20).map(str.strip).filter(bool)
SPANS = st.lists(st.builds(rg.Span, IDS, st.integers(0, 9), st.integers(10, 99)), min_size=1, max_size=3).map(tuple)
LABELS = st.dictionaries(IDS, st.sampled_from([0.0, 1.0, 2.0, 0.5, 1e-7, 1234567.0]), min_size=1, max_size=3).map(
    lambda held: tuple(rg.Relevant((doc_id,), grade) for doc_id, grade in held.items())
)
EXAMPLES = st.builds(
    rg.Example,
    query_id=st.just(""),
    query=WORDS,
    references=st.lists(WORDS, max_size=3).map(tuple),
    relevant=st.none() | LABELS,
    gold_spans=st.none() | SPANS,
    answerable=st.sampled_from([None, True, False]),
    reference_claims=st.none() | st.lists(WORDS, min_size=1, max_size=2).map(tuple),
    segments=st.dictionaries(st.sampled_from(["type", "area"]), WORDS, max_size=2),
    tags=st.frozensets(st.sampled_from(["golden", "new"])),
    cluster=st.none() | IDS,
)
ENDS = {"beir": "folder", "ragas": "set.jsonl", "deepeval": "set.json"}


@pytest.mark.parametrize("form", ENDS)
@settings(max_examples=10, deadline=None)
@given(examples=st.lists(EXAMPLES, min_size=1, max_size=4))
def test_what_is_exported_is_read_back(form: Any, examples: list[rg.Example]) -> None:
    """Every form gives equal examples back: with labels, spans, both or neither, several references, unanswerable."""
    listed = tuple(replace(one, query_id=f"q{n}") for n, one in enumerate(examples))
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # queries without a label are counted
        to = Path(folder) / ENDS[form]
        rg.export_set(rg.EvalSet("set", listed), to=form, output=to)
        assert rg.read_set(to).examples == listed
        assert rg.read_set(to).version == rg.EvalSet("set", listed).version


@pytest.mark.parametrize(
    ("spans", "labels"),
    [([("d1", 0, 3)], {"d1": 1}), ([("d1", 0, 3), ("d2", 4, 9), ("d1", 8, 9)], {"d1": 1, "d2": 1}), ([], {})],
)
def test_documents_of_gold_spans_are_labels_for_other_tools(
    spans: list[tuple[str, int, int]], labels: dict[str, int], tmp_path: Path
) -> None:
    """A set with gold spans alone has a label a document in qrels; read back it has its spans and no other label."""
    gold = tuple(rg.Span(*one) for one in spans) or None
    spanned = rg.EvalSet("set", (rg.Example("q", "Why?", gold_spans=gold), rg.Example("p", "Who?", answerable=False)))
    with pytest.warns(UserWarning, match=f"{1 if labels else 2} quer.* of 2 without a label"):
        rg.export_set(spanned, to="beir", output=tmp_path / "beir")
    rows = [line.split("\t") for line in (tmp_path / "beir/qrels/test.tsv").read_text().splitlines()[1:]]
    assert {doc_id: int(grade) for _, doc_id, grade in rows} == labels
    assert rg.read_set(tmp_path / "beir").examples == spanned.examples
