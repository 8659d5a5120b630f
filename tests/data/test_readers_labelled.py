"""Files of human labels: every shape that is read, and what is said about the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.errors import DataError, UnknownName
from ragauge.readers.label_rows import LabelOptions, read_labeled_answers
from ragauge.readers.labels import read_labels

PASSAGES = ["The tower is 330 metres tall."]


def written(path: Path, *rows: dict[str, Any]) -> Path:
    """The rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def labels(source: Any, **options: Any) -> list[tuple[str, ...]]:
    """The labels of every part."""
    return [part.labels for row in read_labeled_answers(source, LabelOptions(**options)) for part in row.parts]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("supported", "supported"),
        ("Attributable", "supported"),
        (True, "supported"),
        (1, "supported"),
        ("contradiction", "contradicted"),
        ("not enough info", "not_in_context"),
        ("no", "not_supported"),
        ("Not attributable", "not_supported"),
        (0, "not_supported"),
        (0.0, "not_supported"),
        ("FALSE", "not_supported"),
        ("partially_supported", "not_supported"),
    ],
)
def test_words_for_labels(tmp_path: Path, value: Any, expected: str) -> None:
    """The words of the usual data sets are read as one of four labels."""
    path = written(tmp_path / "l.jsonl", {"claim": "It is tall.", "context": PASSAGES, "label": value})
    assert labels(path) == [(expected,)]


def test_claims_with_labels_stand_in_one_answer() -> None:
    """Claims with labels become one answer, one a line; each part is where its claim stands."""
    shapes: list[dict[str, Any]] = [
        {"claims": [{"claim": "It is tall", "label": 1}, {"text": "It is red.", "label": 0}]},
        {"claims": ["It is tall", "It is red."], "labels": [1, 0]},
    ]
    for shape in shapes:
        (row,) = read_labeled_answers([{"query": "How tall?", "passages": PASSAGES, **shape}])
        assert row.answer == "It is tall.\nIt is red."
        assert [row.answer[part.start : part.end] for part in row.parts] == ["It is tall.", "It is red."]
        assert [part.labels for part in row.parts] == [("supported",), ("not_supported",)]


def test_formats_give_the_same(tmp_path: Path) -> None:
    """JSON lines, CSV and Parquet, lists as cells included, give the same rows."""
    import polars as pl

    rows = [
        {"query": "How tall?", "context": json.dumps(PASSAGES), "answer": "It is tall.", "label": "supported"},
        {"query": "What?", "context": json.dumps(PASSAGES), "answer": "It is red.", "label": "contradicted"},
    ]
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "l.csv")
    frame.write_parquet(tmp_path / "l.parquet")
    plain = [{**row, "context": PASSAGES} for row in rows]
    found = [
        [(row.query, row.passages, row.answer, row.parts) for row in read_labeled_answers(source)]
        for source in (written(tmp_path / "l.jsonl", *plain), tmp_path / "l.csv", tmp_path / "l.parquet", plain)
    ]
    assert all(one == found[0] for one in found)
    assert found[0][0][1] == tuple(PASSAGES)


def test_several_annotators_and_a_meaning_of_ones_own() -> None:
    """A list of labels is one an annotator, null left out; --supported says which values mean supported."""
    row = {"claim": "It is tall.", "passages": PASSAGES, "labels": ["supported", None, "contradicted"]}
    assert labels([row]) == [("supported", "contradicted")]
    odd = {"claim": "It is tall.", "passages": PASSAGES, "label": "clean"}
    assert labels([odd, {**odd, "label": "dirty"}], supported=["Clean"]) == [("supported",), ("not_supported",)]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"claim": "A.", "passages": PASSAGES}, "line 2: no field 'label' (found: claim, passages). Use --map label="),
        ({"claim": "A.", "passages": PASSAGES, "lable": 1}, "nearest: lable). Use --map label=lable."),
        ({"claim": "A.", "label": 1}, "no field 'passages'"),
        ({"passages": PASSAGES, "label": 1}, "no field 'answer' or 'claim'"),
        ({"claim": " ", "passages": PASSAGES, "label": 1}, "claim must be non-blank text"),
        ({"claim": "A.", "passages": PASSAGES, "label": "suported"}, "Nearest: supported. Name the values"),
        ({"claim": "A.", "passages": PASSAGES, "label": []}, "label must be a label, or a list of labels"),
        ({"claims": ["A."], "passages": PASSAGES, "labels": [1, 0]}, "labels must be a list of 1 labels"),
        ({"claims": [{"claim": "A."}], "passages": PASSAGES}, "claims[0] must be an object with claim and label"),
        ({"claim": "A.", "passages": [{"doc_id": "d1"}], "label": 1}, "passages must be passages with texts"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    """Every mistake names file, line and field, and what to do."""
    good = {"claim": "It is tall.", "passages": PASSAGES, "label": 1}
    with pytest.raises(DataError) as caught:
        labels(written(tmp_path / "l.jsonl", good, row))
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'l.jsonl'} line 2: ")


def test_labels_are_their_annotators() -> None:
    """Names come with a row or a claim, from an object or from the side; a missing label leaves the others theirs."""
    rows: list[dict[str, Any]] = [
        {"claim": "It is tall.", "label": {"ann": "yes", "bob": None, "cem": "no"}},
        {"claim": "It is tall.", "labels": ["yes", "no"], "annotators": ["ann", "cem"]},
        {"claim": "It is tall.", "label": "yes", "annotator": "ann"},
        {
            "claims": [
                {"claim": "It is.", "label": ["yes", "no"]},
                {"claim": "So.", "label": ["no"], "annotator": "dan"},
            ],
            "annotators": ["ann", "cem"],
        },
        {"claim": "It is tall.", "label": [None, "yes", "no"]},
        {"claim": "It is tall.", "label": ["yes", "no"]},
    ]
    found = read_labeled_answers([row | {"context": PASSAGES} for row in rows])
    assert [part.annotators for row in found for part in row.parts] == [
        ("ann", "cem"),
        ("ann", "cem"),
        ("ann",),
        ("ann", "cem"),
        ("dan",),
        ("2", "3"),
        (),
    ]
    imported = read_labels([rows[0] | {"context": PASSAGES}, rows[4] | {"context": PASSAGES}])
    assert [label.annotator for label in imported] == ["ann", "cem", "annotator 2", "annotator 3"]
    for wrong, told in (
        ({"annotators": ["ann"]}, r"1 labels, one per annotator \(ann\)"),
        ({"annotators": ["ann", "ann"]}, "different names"),
    ):
        with pytest.raises(DataError, match=told):
            labels([{"claim": "It is tall.", "context": PASSAGES, "label": ["yes", "no"], **wrong}])


def test_a_mapping_names_a_field() -> None:
    """A mapping is taken before usual names; one onto no field is refused with the nearest."""
    row = {"text": "It is tall.", "refs": PASSAGES, "gold": 1, "label": "x"}
    assert labels([row], columns={"claim": "text", "passages": "refs", "label": "gold"}) == [("supported",)]
    with pytest.raises(UnknownName, match="nearest: label"):
        labels([row], columns={"lable": "gold"})
