"""The contracts of what comes in from production: raw batches, and what became of each trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragauge.store.inbox import DAY_S, Batch, InboxCounts, ReadDelay, TracePart
from ragauge.store.ledger import LedgerLine
from ragauge.store.store_access import Store, open_store

A, B = "a" * 32, "b" * 32
BATCH = Batch(1000.0, "traces", b"\x00\xff" * 300, (TracePart(A, 3, rooted=True), TracePart(B, 2)), "bot \ud800")
LINE = LedgerLine(A, "bot", "2026-11-27", "to score", run_id="r1", weight=20.0, at=1006.0)


class InboxContract:
    """What every inbox does. A back end supplies `store`."""

    def test_batches_are_read_back_as_they_came(self, store: Store) -> None:
        """Bytes, signal, time and project of batches come back equal, by another connection too, in the order asked."""
        other = replace(BATCH, signal="logs", body=b"", parts=())
        numbers = store.inbox.add([BATCH, other])
        with open_store(store.url) as again:
            found = dict(again.inbox.read([numbers[1], 99, numbers[0]]))
        assert found == {numbers[1]: other, numbers[0]: replace(BATCH, parts=())}
        assert list(found) == [numbers[1], numbers[0]]

    def test_a_trace_is_due_when_nothing_came_for_a_while(self, store: Store) -> None:
        """One whose root has ended is due after 5 s of quiet, another after 30; each part that comes moves it on."""
        (first,) = store.inbox.add([BATCH])
        assert store.inbox.list_due(1004.9, 9) == []
        (due,) = store.inbox.list_due(1029.9, 9)
        assert (due.trace_id, due.due, due.first, due.batches) == (A, 1005.0, 1000.0, (first,))
        assert [one.trace_id for one in store.inbox.list_due(1030.1, 9)] == [A, B]
        (second,) = store.inbox.add([replace(BATCH, at=1004.0, parts=(TracePart(A),))])
        assert [one.trace_id for one in store.inbox.list_due(1008.9, 9)] == []
        (due,) = store.inbox.list_due(1009.0, 9)
        assert (due.due, due.first, due.batches) == (1009.0, 1000.0, (first, second))
        assert store.inbox.find_trace(A) == due
        assert store.inbox.find_trace("c" * 32) is None

    def test_patience_is_the_servers(self, store: Store) -> None:
        """How long a trace waits is said with each batch."""
        store.inbox.add([BATCH], ReadDelay(rooted=1.0, quiet=2.0))
        assert [round(one.due, 3) for one in store.inbox.list_due(2000.0, 9)] == [1001.0, 1002.0]
        assert [one.due for one in store.inbox.list_due(2000.0, 1)] == [1001.0]

    def test_traces_of_a_batch_keep_their_order(self, store: Store) -> None:
        """Traces that came in one batch are read in the order in which they stood in it, whatever their ids."""
        names = [f"{(7 * n) % 100:032x}" for n in range(1, 100)]
        store.inbox.add([replace(BATCH, at=1.8e9, parts=tuple(TracePart(name) for name in names))])
        assert [one.trace_id for one in store.inbox.list_due(1.9e9, 99)] == names

    def test_a_trace_is_read_once_by_whoever_is_first(self, store: Store) -> None:
        """Of two who found a trace due one may mark it; what came in between keeps it due; a late part makes it due."""
        store.inbox.add([BATCH])
        due = store.inbox.list_due(2000.0, 9)
        store.inbox.add([replace(BATCH, at=1001.0, parts=(TracePart(B),))])
        assert store.inbox.mark_read(due) == {A}
        assert store.inbox.mark_read(due) == set()
        (left,) = store.inbox.list_due(2000.0, 9)
        assert (left.trace_id, left.due, len(left.batches)) == (B, 1031.0, 2)
        store.inbox.add([replace(BATCH, at=1900.0, parts=(TracePart(A),))])
        assert {one.trace_id: one.due for one in store.inbox.list_due(2000.0, 9)} == {A: 1905.0, B: 1031.0}

    def test_marking_goes_with_its_transaction(self, store: Store) -> None:
        """Where the transaction that keeps what came of a trace fails, the trace is due again."""
        store.inbox.add([BATCH])
        due = store.inbox.list_due(2000.0, 9)

        def fails() -> None:
            with store.transaction():
                assert store.inbox.mark_read(due) == {A, B}
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fails()
        assert store.inbox.list_due(2000.0, 9) == due

    def test_what_comes_a_day_late_is_counted_and_ignored(self, store: Store) -> None:
        """A day after a trace's first part its spans make it due no more; how many came is counted."""
        store.inbox.add([BATCH])
        store.inbox.mark_read(store.inbox.list_due(2000.0, 9))
        store.inbox.add([replace(BATCH, at=1000.0 + DAY_S, parts=(TracePart(A),))])
        assert len(store.inbox.list_due(1e9, 9)) == 1
        store.inbox.mark_read(store.inbox.list_due(1e9, 9))
        store.inbox.add([replace(BATCH, at=1001.0 + DAY_S, parts=(TracePart(A, 4),))])
        assert store.inbox.list_due(1e9, 9) == []
        assert store.inbox.counts().late == 4

    def test_counts(self, store: Store) -> None:
        """How much is in it, since when, and what waits."""
        assert store.inbox.counts() == InboxCounts(0, 0, None, 0, 0, None, 0)
        store.inbox.add([BATCH, replace(BATCH, at=1007.0, parts=())])
        found = store.inbox.counts()
        assert (found.batches, found.oldest, found.traces, found.waiting, found.since) == (2, 1000.0, 2, 2, 1005.0)
        assert 0 < found.bytes < 2 * len(BATCH.body)

    def test_old_batches_go_but_not_what_waits(self, store: Store) -> None:
        """Raw batches go after their time, traces after theirs; a batch that a waiting trace needs stays."""
        store.inbox.add([replace(BATCH, parts=(TracePart(A),)), replace(BATCH, parts=(TracePart(B),))])
        store.inbox.mark_read([one for one in store.inbox.list_due(2000.0, 9) if one.trace_id == A])
        assert store.inbox.delete_old(999.0, 0.0) == 0
        assert store.inbox.delete_old(1001.0, 0.0) == 1
        found = store.inbox.find_trace(A)
        assert found is not None
        assert found.batches == ()
        store.inbox.delete_old(0.0, 1001.0)
        assert store.inbox.find_trace(A) is None
        assert store.inbox.find_trace(B) is not None


class LedgerContract:
    """What every ledger does. A back end supplies `store`."""

    def test_one_line_a_trace(self, store: Store) -> None:
        """The last line of a trace counts, and is read back equal; one that was not read has none."""
        store.inbox.add([BATCH])
        store.ledger.write_lines(
            [LINE, replace(LINE, trace_id=B, outcome="filtered", reason="no retrieval in the trace \ud800")]
        )
        store.ledger.write_lines([replace(LINE, outcome="scored", at=1010.0)])
        with open_store(store.url) as again:
            assert again.ledger.find_line(A) == replace(LINE, outcome="scored", at=1010.0)
            day = ("2026-11-27", "bot")
            assert again.ledger.counts() == [(*day, "filtered", 1, "r1"), (*day, "scored", 1, "r1")]
            assert list(again.ledger.load_lines([A, B, "c"])) == [A, B]
        assert store.ledger.find_line("c" * 32) is None

    def test_what_was_read_anew_meanwhile_waits(self, store: Store) -> None:
        """A trace of which more came since it was looked at is not decided on by that look."""
        store.inbox.add([BATCH])
        store.ledger.write_lines([LINE, replace(LINE, trace_id=B)])
        seen = store.ledger.list_waiting("r1")
        store.ledger.write_lines([replace(LINE, at=LINE.at + 1)])
        store.ledger.decide(seen, "scored", timestamp=2000.0)
        assert store.ledger.list_waiting("r1") == {A: LINE.at + 1}

    def test_only_what_waits_is_decided(self, store: Store) -> None:
        """A trace that was to be scored gets its outcome; one that has its last word keeps it."""
        store.inbox.add([BATCH])
        store.ledger.write_lines([LINE, replace(LINE, trace_id=B, outcome="failed")])
        assert store.ledger.list_waiting("r1") == {A: LINE.at}
        assert store.ledger.unscored() == ["r1"]
        store.ledger.decide({A: LINE.at, B: LINE.at}, "scored", timestamp=2000.0)
        assert (store.ledger.list_waiting("r1"), store.ledger.unscored()) == ({}, [])
        found = [store.ledger.find_line(one) for one in (A, B)]
        assert [one.outcome for one in found if one is not None] == ["scored", "failed"]

    def test_lines_go_with_their_traces(self, store: Store) -> None:
        """What is known of a trace goes as a whole."""
        store.inbox.add([BATCH])
        store.ledger.write_lines([LINE])
        store.inbox.mark_read(store.inbox.list_due(2000.0, 9))
        store.inbox.delete_old(0.0, 2000.0)
        assert store.ledger.find_line(A) is None


class TestSqliteInbox(InboxContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


class TestSqliteLedger(LedgerContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
