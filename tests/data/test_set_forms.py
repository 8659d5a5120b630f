"""Sets go to other tools' forms and come back equal; SQuAD's file is a set and its corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragauge as rg
from ragauge.core.curation import SetForm
from ragauge.core.errors import DataError, UsageError
from ragauge.readers.corpus import read_corpus
from ragauge.testsets.set_writers import FORMS

TEXTS = {"a": "The hub is grey.", "b/c": "It pairs with 60 devices."}
EXAMPLES = (
    rg.Example(
        "q1",
        "Which colour?",
        references=("Grey.", "It is grey."),
        relevant=(rg.Relevant(("a",), 2.0),),
        gold_spans=(rg.Span("a", 0, 16),),
        segments={"type": "single"},
        tags=frozenset({"golden"}),
        cluster="x",
    ),
    rg.Example(
        "q2",
        "How many?",
        references=("60",),
        relevant=(rg.Relevant(("b/c",)), rg.Relevant(("a",), 0.0)),
        reference_claims=("It pairs with 60 devices.",),
        aspects=("number",),
        criteria=("says 60",),
    ),
    rg.Example("q3", "日本語?", relevant=(rg.Relevant(("a",)),), answerable=True),
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("corpus", [None, TEXTS])
def test_an_exported_set_is_read_back_equal(form: SetForm, corpus: dict[str, str] | None, tmp_path: Path) -> None:
    """Every field of every example is the same after a form of BEIR, ragas or deepeval, with a corpus or without."""
    path = tmp_path / {"beir": "set", "ragas": "set.jsonl", "deepeval": "set.json"}[form]
    assert rg.export_set(rg.EvalSet("s", EXAMPLES), to=form, output=path, corpus=corpus) == 3
    back = rg.read_set(path)
    assert back.examples == EXAMPLES
    if form == "beir" and corpus:
        assert {one.doc_id: one.text for one in read_corpus(path)} == TEXTS


def test_other_tools_find_what_they_look_for(tmp_path: Path) -> None:
    """The fields of ragas' samples and deepeval's goldens hold question, reference and the texts of gold documents."""
    rg.export_set(rg.EvalSet("s", EXAMPLES), to="ragas", output=tmp_path / "r.jsonl", corpus=TEXTS)
    first = json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (first["user_input"], first["reference"]) == ("Which colour?", "Grey.")
    assert first["reference_contexts"] == ["The hub is grey."]
    rg.export_set(rg.EvalSet("s", EXAMPLES), to="deepeval", output=tmp_path / "d.json", corpus=TEXTS)
    golden = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))[1]
    assert (golden["input"], golden["expected_output"]) == ("How many?", "60")
    assert golden["context"] == ["It pairs with 60 devices."]


def test_beir_keeps_what_has_no_label_beside_its_labels(tmp_path: Path) -> None:
    """Unanswerable and unlabelled questions are counted, stand outside the labels, and are read back equal.

    A label of a document that the corpus does not have is named.
    """
    more = (rg.Example("q8", "Who?", relevant=(), gold_spans=(), answerable=False), rg.Example("q9", "Why?"))
    given = rg.EvalSet("s", (*EXAMPLES, *more))
    without = pytest.warns(UserWarning, match="2 queries of 5 without a label")
    with without, pytest.warns(UserWarning, match="1 labeled document not in the corpus: 'b/c'"):
        rg.export_set(given, to="beir", output=tmp_path / "x", corpus={"a": TEXTS["a"]})
    labels = (tmp_path / "x" / "qrels" / "test.tsv").read_text(encoding="utf-8")
    assert [name in labels for name in ("q1", "q8", "q9")] == [True, False, False]
    assert rg.read_set(tmp_path / "x").examples == given.examples


def test_what_a_form_cannot_hold_is_refused(tmp_path: Path) -> None:
    """Groups in BEIR, wrong endings and folders in use are errors that name the place."""
    group = rg.EvalSet("s", (rg.Example("q9", "?", relevant=(rg.Relevant(("a", "b")),)),))
    with pytest.raises(DataError, match="example q9: The BEIR format cannot store groups"):
        rg.export_set(group, to="beir", output=tmp_path / "x")
    with pytest.raises(UsageError, match=r"ragas needs a file that ends in \.jsonl"):
        rg.export_set(rg.EvalSet("s", EXAMPLES), to="ragas", output=tmp_path / "x.json")
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "z").touch()
    with pytest.raises(UsageError, match="already exists"):
        rg.export_set(rg.EvalSet("s", EXAMPLES), to="beir", output=tmp_path / "y")


def test_squad_is_a_set_and_its_corpus(tmp_path: Path) -> None:
    """Paragraphs are documents, answers spans where they stand as said; an impossible question is unanswerable."""
    asked = [
        {
            "id": "1",
            "question": "Which colour?",
            "answers": [
                {"text": "grey", "answer_start": 11},
                {"text": "grey", "answer_start": 11},
                {"text": "light", "answer_start": 0},
            ],
        },
        {"id": "2", "question": "How heavy?", "answers": [], "is_impossible": True},
    ]
    data = {"version": "v2.0", "data": [{"title": "Hub", "paragraphs": [{"context": TEXTS["a"], "qas": asked}]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    first, second = rg.read_set(path).examples
    assert first.references == ("grey", "light")
    assert first.gold_spans == (rg.Span("Hub/0", 11, 15),)
    assert first.relevant == (rg.Relevant(("Hub/0",)),)
    assert first.segments == {"article": "Hub"}
    assert second.answerable is False
    assert second.relevant is None
    (document,) = read_corpus(path)
    assert (document.doc_id, document.title, document.text) == ("Hub/0", "Hub", TEXTS["a"])
