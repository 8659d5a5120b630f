"""References that stand for none make a question unanswerable."""

from __future__ import annotations

import pytest

from ragauge.readers.source import read_set


@pytest.mark.parametrize(
    "reference",
    ["NOT IN DOCS", "N/A", "unanswerable", "no answer", "NO_ANSWER", "-", "(none)", "[None]", "Not in the documents."],
)
def test_a_placeholder_is_no_reference(reference: str) -> None:
    """A placeholder marks its question as unanswerable, and one warning shows it with the number of such rows."""
    said: list[str] = []
    rows = [{"query": f"Question {n}?", "reference_answer": reference} for n in range(2)]
    found = read_set([*rows, {"query": "Who?", "reference_answer": "Ada"}], warn=said.append)
    assert [example.answerable for example in found.examples] == [False, False, None]
    assert len(said) == 1
    assert "2 questions treated as unanswerable" in said[0]
    assert repr(reference) in said[0]


@pytest.mark.parametrize("reference", ["None", "NA", "`-`", "0", "Nothing", "- one\n- two"])
def test_a_short_answer_is_no_placeholder(reference: str) -> None:
    """What may be an answer marks nothing."""
    assert read_set([{"query": "Who?", "reference_answer": reference}]).examples[0].answerable is None


def test_the_field_wins() -> None:
    """What the field answerable says counts before a placeholder."""
    row = {"query": "Which sign?", "reference_answer": "-", "answerable": True}
    assert read_set([row]).examples[0].answerable is True
