"""The contract of the log of checks of judges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.building import example, response

from ragauge.core.human_labels import CheckedPart, CheckRecord
from ragauge.core.response import Run
from ragauge.store.store_access import Store, open_store

PARTS = (CheckedPart("a" * 16, "e" * 16, right=True), CheckedPart("b" * 16, "e" * 16, right=False, weight=2.5))
RECORD = CheckRecord(
    "openai:m (fused)", "openai:m#1", b"f" * 32, "labels \ud800.jsonl", (0.4, 0.1, 0.7), PARTS, "2026-11-01T10:00:00Z"
)


class CheckLogContract:
    """What every log of checks does. A back end supplies `store`."""

    def test_checks_are_read_back_in_their_order(self, store: Store) -> None:
        """Checks are read back equal, oldest first, by another connection too; of one name where one is asked for."""
        other = replace(RECORD, name="local", judge_id="local:1", kappa=None, parts=())
        assert store.check_log.add(RECORD)
        assert store.check_log.add(other)
        with open_store(store.url) as again:
            assert again.check_log.list() == [RECORD, other]
            assert again.check_log.list("local") == [other]
            assert again.check_log.list("nobody") == []

    def test_the_same_again_adds_nothing(self, store: Store) -> None:
        """What the last check of a name said is not kept twice; another judge, file or verdict is."""
        assert store.check_log.add(RECORD)
        assert not store.check_log.add(replace(RECORD, at="2026-11-02", file_name="copy.jsonl"))
        changed = (
            replace(RECORD, judge_id="openai:m#2"),
            replace(RECORD, file=b"g" * 32),
            replace(RECORD, parts=PARTS[:1]),
            RECORD,
        )
        assert all(store.check_log.add(one) for one in changed)
        assert len(store.check_log.list()) == 5
        assert store.check_log.add(replace(RECORD, name="openai:m (per_claim)"))

    def test_a_check_has_a_date(self, store: Store) -> None:
        """What comes without a date gets that of now."""
        store.check_log.add(replace(RECORD, at=""))
        assert store.check_log.list()[0].at.startswith("20")

    def test_checks_stay_when_runs_and_labels_go(self, store: Store) -> None:
        """Deleting every run, and taking a file of labels back, removes no check."""
        run = store.runs.import_run(Run("", "r"), [(example(), response())])
        store.check_log.add(RECORD)
        store.runs.delete(run.run_id)
        store.checks.delete_file(RECORD.file)
        assert store.check_log.list() == [RECORD]


class TestSqliteCheckLog(CheckLogContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
