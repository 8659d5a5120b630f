"""Reading people's labels from the four forms they come in."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from ragauge.data.label import ADJUDICATOR, SEEN, Label, guideline_of, label_key, last_said, part_of, part_text
from ragauge.data.readers.labels import LabelSource, read_labels
from ragauge.errors import DataError, UsageError
from ragauge.judging.inputs import RateAnswer, RatePassages, VerifyAnswer

KEY = label_key("support", "Who?", ["Ada did."], "Ada. Bob too.")


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_key_is_what_the_question_sees() -> None:
    """Whatever a question does not see leaves the key alone, and the rest is what the judge's question sees."""
    same = label_key("relevance", "Who?", ["Ada did."], "another answer")
    assert same == label_key("relevance", "Who?", ["Ada did."], "Ada. Bob too.")
    assert same != label_key("relevance", "Who?", ["Ada did not."], "another answer")
    seen = {"support": VerifyAnswer, "relevance": RatePassages, "refuse": RateAnswer}
    for question, inputs in seen.items():
        assert set(SEEN[question]) == {one.name for one in fields(inputs)}


def test_ours_as_lines_and_as_csv(tmp_path: Path) -> None:
    """The page's lines and a CSV of the same columns give the same labels."""
    row = {"key": KEY, "part": [0, 4], "question": "support", "value": "Not supported", "annotator": "ann",
           "at": "2026-11-24", "guideline": "abc"}     # fmt: skip
    lines = list(read_labels(written(tmp_path / "labels.jsonl", [row])))
    assert lines == [Label(KEY, (0, 4), "support", "not_supported", "ann", "2026-11-24", "abc")]
    text = f"key,part,question,value,annotator,at,guideline\n{KEY},0-4,support,Not supported,ann,2026-11-24,abc\n"
    (tmp_path / "labels.csv").write_text(text)
    assert list(read_labels(tmp_path / "labels.csv")) == lines
    (tmp_path / "short.csv").write_text(f"key,verdict\n{KEY},yes\n")
    (short,) = read_labels(tmp_path / "short.csv", LabelSource("support", "bo", "abc", {"value": "verdict"}))
    assert short == Label(KEY, None, "support", "supported", "bo", "", "abc")


def test_columns_of_judge_check(tmp_path: Path) -> None:
    """A row with passages, answer and labels of two annotators becomes two labels of the whole answer."""
    row = {"query": "Who?", "passages": ["Ada did."], "answer": "Ada. Bob too.",
           "labels": ["supported", "contradicted"]}     # fmt: skip
    found = list(read_labels(written(tmp_path / "checked.jsonl", [row])))
    assert [(one.key, one.part, one.value, one.annotator) for one in found] == [
        (KEY, None, "supported", "annotator 1"), (KEY, None, "contradicted", "annotator 2"),
    ]     # fmt: skip


def test_label_studio(tmp_path: Path) -> None:
    """Spans and choices of Label Studio's annotators come in; what was cancelled does not."""
    span = {"type": "labels", "value": {"start": 0, "end": 4, "text": "Ada.", "labels": ["Supported"]}}
    choice = {"type": "choices", "value": {"choices": ["not_in_context"]}}
    task = {
        "id": 7, "data": {"query": "Who?", "passages": ["Ada did."], "answer": "Ada. Bob too."},
        "annotations": [
            {"completed_by": {"email": "a@b.c"}, "updated_at": "2026-11-24T00:00:00Z", "result": [span]},
            {"completed_by": 2, "result": [choice]}, {"completed_by": 3, "was_cancelled": True, "result": [span]},
        ],
    }     # fmt: skip
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task]))
    assert list(read_labels(path)) == [
        Label(KEY, (0, 4), "support", "supported", "a@b.c", "2026-11-24T00:00:00Z"),
        Label(KEY, None, "support", "not_in_context", "2"),
    ]


@pytest.mark.parametrize(("change", "said"), [
    ({"value": "suported"}, r"line 2: value must be .* got text 'suported'. Nearest: supported"),
    ({"question": "suport"}, r"line 2: question must be one of .* Nearest: support"),
    ({"key": "abc"}, r"line 2: key must be the 64 hex digits"),
    ({"part": [9, 2]}, r"line 2: a part must be characters such as 12-40"),
    ({"question": "score:faithfulness", "value": "much"}, r"line 2: value must be a number"),
])     # fmt: skip
def test_wrong_row_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """A value, question, key or part that cannot be read is named with its line, and the nearest where there is one."""
    row = {"key": KEY, "value": "yes"}
    with pytest.raises(DataError, match=said):
        list(read_labels(written(tmp_path / "labels.jsonl", [row, row | change])))


def test_latest_counts_and_the_adjudicator_wins() -> None:
    """Of one annotator the latest label counts; where someone adjudicated, only that."""
    old = Label(KEY, None, "support", "supported", "a", "2026-01")
    new = Label(KEY, None, "support", "unsure", "a", "2026-02")
    other = Label(KEY, None, "support", "contradicted", "b", "2026-01")
    assert set(last_said([new, old, other])) == {new, other}
    settled = Label(KEY, None, "support", "no_claim", ADJUDICATOR)
    elsewhere = Label(KEY, (0, 2), "support", "supported", "a")
    assert set(last_said([old, settled, other, elsewhere])) == {settled, elsewhere}


def test_parts_and_guidelines_have_one_spelling() -> None:
    """A part is read back from its text; a guideline's hash does not hang on white space at the ends of lines."""
    for part in ((0, 5), 2, None):
        assert part_of(part_text(part)) == part
    for wrong in ("5-5", "-3", "0", "a"):
        with pytest.raises(UsageError):
            part_of(wrong)
    assert guideline_of("a \nb\n") == guideline_of("a\nb") != guideline_of("a b")
