"""Reading people's labels from the four forms they come in."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Turn
from ragauge.core.label import (
    ADJUDICATOR,
    VISIBLE_FIELDS,
    Label,
    ScoreScale,
    build_label_key,
    format_part,
    hash_guideline,
    parse_part,
    select_latest_labels,
)
from ragauge.judges.inputs import RateAnswer, RatePassages, VerifyAnswer
from ragauge.readers.labels import LabelSource, read_labels

KEY = build_label_key("support", "Who?", ["Ada did."], "Ada. Bob too.")


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_key_is_what_the_question_sees() -> None:
    """Whatever a question does not see leaves the key alone, and the rest is what the judge's question sees."""
    same = build_label_key("relevance", "Who?", ["Ada did."], "another answer")
    assert same == build_label_key("relevance", "Who?", ["Ada did."], "Ada. Bob too.")
    assert same != build_label_key("relevance", "Who?", ["Ada did not."], "another answer")
    kinds: dict[str, type] = {"support": VerifyAnswer, "relevance": RatePassages, "refuse": RateAnswer}
    for question, inputs in kinds.items():
        assert {*VISIBLE_FIELDS[question], "history"} == {one.name for one in fields(inputs)} - {
            "cited"
        }  # places, no texts
        seen = question, "Who?", ["Ada did."], "Ada did."
        keys = {
            build_label_key(*seen, history=turns) for turns in ((), (Turn("user", "a"),), (Turn("assistant", "a"),))
        }
        assert len(keys) == 3
        assert build_label_key(*seen) in keys


def test_ours_as_lines_and_as_csv(tmp_path: Path) -> None:
    """The page's lines and a CSV of the same columns give the same labels."""
    row = {
        "key": KEY,
        "part": [0, 4],
        "question": "support",
        "value": "Not supported",
        "annotator": "ann",
        "at": "2025-11-24",
        "guideline": "abc",
    }
    lines = list(read_labels(written(tmp_path / "labels.jsonl", [row])))
    assert lines == [Label(KEY, (0, 4), "support", "not_supported", "ann", "2025-11-24", "abc")]
    text = f"key,part,question,value,annotator,at,guideline\n{KEY},0-4,support,Not supported,ann,2025-11-24,abc\n"
    (tmp_path / "labels.csv").write_text(text)
    assert list(read_labels(tmp_path / "labels.csv")) == lines
    (tmp_path / "short.csv").write_text(f"key,verdict\n{KEY},yes\n")
    (short,) = read_labels(tmp_path / "short.csv", LabelSource("support", "bo", "abc", {"value": "verdict"}))
    assert short == Label(KEY, None, "support", "supported", "bo", "", "abc")


def test_columns_of_judge_check(tmp_path: Path) -> None:
    """A row with passages, answer and labels of two annotators becomes two labels of the whole answer."""
    row = {
        "query": "Who?",
        "passages": ["Ada did."],
        "answer": "Ada. Bob too.",
        "labels": ["supported", "contradicted"],
    }
    found = list(read_labels(written(tmp_path / "checked.jsonl", [row])))
    assert [(one.key, one.part, one.value, one.annotator) for one in found] == [
        (KEY, None, "supported", "annotator 1"),
        (KEY, None, "contradicted", "annotator 2"),
    ]


def test_label_studio(tmp_path: Path) -> None:
    """Spans and choices of Label Studio's annotators come in; what was cancelled does not."""
    span = {"type": "labels", "value": {"start": 0, "end": 4, "text": "Ada.", "labels": ["Supported"]}}
    choice = {"type": "choices", "value": {"choices": ["not_in_context"]}}
    task = {
        "id": 7,
        "data": {"query": "Who?", "passages": ["Ada did."], "answer": "Ada. Bob too."},
        "annotations": [
            {"completed_by": {"email": "a@b.c"}, "updated_at": "2025-11-24T00:00:00Z", "result": [span]},
            {"completed_by": 2, "result": [choice]},
            {"completed_by": 3, "was_cancelled": True, "result": [span]},
        ],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task]))
    assert list(read_labels(path)) == [
        Label(KEY, (0, 4), "support", "supported", "a@b.c", "2025-11-24T00:00:00Z"),
        Label(KEY, None, "support", "not_in_context", "2"),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "suported"}, r"line 2: value must be .* got text 'suported'. Nearest: supported"),
        ({"question": "suport"}, r"line 2: question must be one of .* Nearest: support"),
        ({"key": "abc"}, r"line 2: key must be the 64 hex digits"),
        ({"part": [9, 2]}, r"line 2: a part must be a range such as 12-40"),
        ({"question": "score:faithfulness", "value": "much"}, r"line 2: value must be a number"),
    ],
)
def test_wrong_row_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """A value, question, key or part that cannot be read is named with its line, and the nearest where there is one."""
    row = {"key": KEY, "value": "yes"}
    with pytest.raises(DataError, match=said):
        list(read_labels(written(tmp_path / "labels.jsonl", [row, row | change])))


def test_latest_counts_and_the_adjudicator_wins() -> None:
    """Of one annotator the latest label counts; where someone adjudicated, only that."""
    old = Label(KEY, None, "support", "supported", "a", "2026-01-01")
    new = Label(KEY, None, "support", "unsure", "a", "2026-02-01")
    other = Label(KEY, None, "support", "contradicted", "b", "2026-01-01")
    assert set(select_latest_labels([new, old, other])) == {new, other}
    settled = Label(KEY, None, "support", "no_claim", ADJUDICATOR)
    elsewhere = Label(KEY, (0, 2), "support", "supported", "a")
    assert set(select_latest_labels([old, settled, other, elsewhere])) == {settled, elsewhere}


def test_parts_and_guidelines_have_one_spelling() -> None:
    """A part is read back from its text; a guideline's hash does not hang on white space at the ends of lines."""
    for part in ((0, 5), 2, None):
        assert parse_part(format_part(part)) == part
    for wrong in ("5-5", "-3", "0", "a"):
        with pytest.raises(UsageError):
            parse_part(wrong)
    assert hash_guideline("a \nb\n") == hash_guideline("a\nb") != hash_guideline("a b")


def test_whole_answers_by_their_texts(tmp_path: Path) -> None:
    """Labels of a whole answer need no passages; each annotator's counts; a score's key is of what is seen for it."""
    row = {"question": "Who?", "response": "Ada.", "golden_answer": "Ada Lovelace", "label": ["yes", 0]}
    path = written(tmp_path / "whole.jsonl", [row])
    key = build_label_key("refuse", "Who?", (), "Ada.")
    assert list(read_labels(path, LabelSource("refuse", "ann"))) == [
        Label(key, None, "refuse", "yes", "ann 1"),
        Label(key, None, "refuse", "no", "ann 2"),
    ]
    seen = ("answer", "query", "references")
    scale = ScoreScale("score:exact_match", 0.0, 1.0, rate=True, seen=seen)
    found = list(read_labels(path, LabelSource("score:exact_match", scale=lambda _: scale)))
    key = build_label_key("score:exact_match", "Who?", (), "Ada.", references=("Ada Lovelace",), visible_fields=seen)
    assert [(one.key, one.value) for one in found] == [(key, "1"), (key, "0")]
    with pytest.raises(DataError, match="line 1: answer must be a column answer"):
        list(read_labels(written(tmp_path / "bad.jsonl", [{"question": "Who?", "label": 1}]), LabelSource("refuse")))
    with pytest.raises(DataError, match="relevance labels with their keys"):
        list(read_labels(path, LabelSource("relevance")))


@pytest.mark.parametrize("question", ["support", "address", "score:faithfulness"])
def test_who_said_it_and_when_are_read_of_every_question(tmp_path: Path, question: str) -> None:
    """Rows of three people are labels of three, with their times; so is one row with a list or an object of theirs."""
    base = {"query": "Who?", "passages": ["Ada did."], "answer": "Ada."}
    good, bad = {"support": ("supported", "not_supported"), "address": ("fully", "no")}.get(question, ("1", "0"))
    said = {"ann": good, "bob": good, "eve": bad}
    at = "2026-01-31T12:00:00Z"
    forms: dict[str, list[dict[str, Any]]] = {
        "rows": [{**base, "label": value, "annotator": who, "at": at} for who, value in said.items()],
        "lists": [{**base, "labels": list(said.values()), "annotators": list(said), "at": at}],
        "objects": [{**base, "label": said, "at": at}],
    }
    for name, rows in forms.items():
        found = list(read_labels(written(tmp_path / f"{name}.jsonl", rows), LabelSource(question)))
        assert [(one.annotator, one.value, one.at) for one in found] == [(who, said[who], at) for who in said], name
    bad_time = written(tmp_path / "bad.jsonl", [{**base, "label": good, "at": "soon"}])
    with pytest.raises(DataError, match="line 1: at must be"):
        list(read_labels(bad_time, LabelSource(question)))


@pytest.mark.parametrize("value", ["nan", "inf", 1.5, -0.1, "much", None])
def test_scores_lie_within_their_scale(tmp_path: Path, value: Any) -> None:
    """What is not a number within the metric's range is refused, with the range; of a rate what lies between, too."""
    path = written(tmp_path / "labels.jsonl", [{"key": KEY, "question": "score:faithfulness", "value": value}])
    for rate, wanted in ((False, "a number from 0 to 1"), (True, "1 or 0, yes or no")):
        scale = ScoreScale("score:faithfulness", 0.0, 1.0, rate=rate, seen=("answer",))
        with pytest.raises(DataError, match=f"line 1: value must be {wanted}"):
            list(read_labels(path, LabelSource(scale={"score:faithfulness": scale}.__getitem__)))


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("yesterday", r"at must be a date or time in ISO 8601 .*'yesterday'"),
        ("24/11/2025", "at must be a date or time"),
        ((datetime.now(UTC) + timedelta(days=2)).isoformat(), r"at must be a time that is not in the future"),
    ],
    ids=["word", "day first", "future"],  # the same in every process
)
def test_a_time_that_orders_nothing_is_refused(tmp_path: Path, at: str, told: str) -> None:
    """A label whose time is not in ISO 8601, or more than a day ahead, is refused with its line and the reason."""
    row = {"key": KEY, "question": "support", "value": "supported"}
    with pytest.raises(DataError, match=rf"(?s)line 2\b.*{told}"):
        list(read_labels(written(tmp_path / "labels.jsonl", [row, {**row, "at": at}])))
    task = {
        "data": {"key": KEY},
        "annotations": [{"updated_at": at, "result": [{"value": {"choices": ["supported"]}}]}],
    }
    with pytest.raises(DataError, match=told):
        list(read_labels(written(tmp_path / "tasks.jsonl", [task])))


def test_times_are_compared_as_instants() -> None:
    """The later instant counts, whatever its offset and spelling; a time that is not known comes before all."""
    early = Label(KEY, None, "support", "supported", "ann", "2025-11-24T23:30:00+09:00")
    late = Label(KEY, None, "support", "contradicted", "ann", "2025-11-24T15:00:00Z")
    unknown = Label(KEY, None, "support", "unsure", "ann", "")
    for order in ([early, late, unknown], [unknown, late, early]):
        assert select_latest_labels(order) == [late]
