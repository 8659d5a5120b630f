"""The contract of checks of judges against people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.errors import StoreError
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.store_access import Store, open_store

FIRST, SECOND = b"1" * 32, b"2" * 32
FILE = LabelFile("model-1", "verify_answer", 1, FIRST, "labels \ud800.jsonl")


def text(n: int, people: float = 1.0, metric: str = "faithfulness") -> TextScore:
    """The score of a text, two of each example."""
    return TextScore(metric, bytes([n]) * 32, bytes([n // 2]) * 32, people, 0.25, 1)


class ChecksContract:
    """What every store of checks does. A back end supplies `store`."""

    def test_scores_are_read_back(self, store: Store) -> None:
        """Scores of a file's texts are read back with its digest; another judge has none of them."""
        store.checks.save_scores(FILE, [text(1), text(2, 0.0)])
        store.checks.save_scores(FILE, [text(3)])
        assert store.checks.scores("model-1") == [replace(one, file=FIRST) for one in (text(1), text(2, 0.0), text(3))]
        assert store.checks.scores("model-2") == []
        (file,) = store.checks.files("model-1")
        assert file == replace(FILE, at=file.at)
        assert file.at
        assert store.checks.files() == [file]
        assert store.checks.files("model-2") == []

    def test_the_same_file_counts_once(self, store: Store) -> None:
        """Checked again, under another name too, a file adds nothing but its new date."""
        store.checks.save_scores(replace(FILE, at="2026-01-01"), [text(1), text(2)])
        before = store.checks.scores("model-1")
        store.checks.save_scores(replace(FILE, name="copy.jsonl", at="2026-02-01"), [text(1), text(2)])
        assert store.checks.scores("model-1") == before
        assert [(one.name, one.at) for one in store.checks.files()] == [("copy.jsonl", "2026-02-01")]

    def test_a_text_twice_in_a_file_counts_once(self, store: Store) -> None:
        """Of a text that a file labels twice, what it says last counts."""
        store.checks.save_scores(FILE, [text(1), text(2), text(1, 0.0)])
        assert store.checks.scores("model-1") == [replace(one, file=FIRST) for one in (text(1, 0.0), text(2))]

    def test_a_text_of_two_files_counts_as_the_last_says(self, store: Store) -> None:
        """Files add up; a label that was mended replaces what was said before, of every metric of the text."""
        store.checks.save_scores(FILE, [text(1), text(1, 0.0, "contradicted"), text(2)])
        store.checks.save_scores(replace(FILE, digest=SECOND), [text(1, 0.0), text(3)])
        assert store.checks.scores("model-1") == [
            replace(text(1, 0.0), file=SECOND),
            replace(text(2), file=FIRST),
            replace(text(3), file=SECOND),
        ]

    def test_the_newest_version_of_a_question_counts(self, store: Store) -> None:
        """What another version of the question said is kept, but not read."""
        store.checks.save_scores(FILE, [text(1), text(2)])
        store.checks.save_scores(replace(FILE, version=2), [text(1, 0.0)])
        assert store.checks.scores("model-1") == [replace(text(1, 0.0), file=FIRST)]

    def test_a_file_is_forgotten_for_every_judge(self, store: Store) -> None:
        """A file goes with the texts that it was the last to label; those of other files stay."""
        other = replace(FILE, judge_id="model-2")
        for file in (FILE, other, replace(FILE, digest=SECOND)):
            store.checks.save_scores(file, [text(1 if file.digest == FIRST else 2)])
        assert store.checks.delete_file(FIRST) == 2
        assert store.checks.scores("model-1") == [replace(text(2), file=SECOND)]
        assert store.checks.scores("model-2") == []
        assert store.checks.delete_file(FIRST) == 0

    def test_checks_stay_when_runs_go(self, store: Store) -> None:
        """Labels belong to no run: deleting every run removes none of them."""
        run = store.runs.import_run(Run("", "r"), [(Example("q", "?"), Response("q"))])
        store.checks.save_scores(FILE, [text(1)])
        store.runs.delete(run.run_id)
        assert store.checks.scores("model-1") == [replace(text(1), file=FIRST)]

    def test_kept_together_or_not_at_all(self, store: Store) -> None:
        """Scores of which one cannot be stored leave none of them, and what was there before as it was."""
        store.checks.save_scores(FILE, [text(1)])
        before = store.checks.scores("model-1"), store.checks.files()
        nobody: Any = None
        with pytest.raises(StoreError):
            store.checks.save_scores(replace(FILE, at="later"), [text(1, 0.0), text(2), replace(text(3), judge=nobody)])
        assert (store.checks.scores("model-1"), store.checks.files()) == before


class TestSqliteChecks(ChecksContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store

    def test_checks_survive_reopening(self, sqlite_url: str) -> None:
        """What was kept is there when the store is opened again."""
        with open_store(sqlite_url) as store:
            store.checks.save_scores(FILE, [text(1)])
        assert Path(sqlite_url.removeprefix("sqlite:///")).exists()
        with open_store(sqlite_url) as store:
            assert store.checks.scores("model-1") == [replace(text(1), file=FIRST)]
