"""The contract of listings of an index."""

from __future__ import annotations

import pytest

from ragauge.core.document import IndexListing
from ragauge.core.errors import UnknownName
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.response import Response, Run
from ragauge.scores.results.scorecard import Cause
from ragauge.store.store_access import Store

LISTING = IndexListing(3, frozenset({"d2", "\ud800"}))


def with_run(store: Store, name: str = "r") -> tuple[str, list[int]]:
    """A run of three responses to two labelled questions."""
    first = Example("q0", "0?", relevant=(Relevant(("d1", "d2")), Relevant(("d0",), 0)))
    second = Example("q1", "1?", gold_spans=(Span("d3", 0, 9),))
    pairs = [(first, Response("q0")), (first, Response("q0", repeat=1)), (second, Response("q1"))]
    run = store.runs.import_run(Run("", name, config={"name": name}), pairs)
    return run.run_id, [number for number, _ in store.runs.load_order(run.run_id)]


class ListingsContract:
    """What every store of listings does. A back end supplies `store`."""

    def test_listing_survives(self, store: Store) -> None:
        """The last listing of a run is read back equal; another run's is its own."""
        run_id, _ = with_run(store)
        other, _ = with_run(store, "other")
        assert store.listings.read(run_id) is None
        store.listings.write(run_id, IndexListing(1))
        store.listings.write(run_id, LISTING)
        assert store.listings.read(run_id) == LISTING
        assert store.listings.read(other) is None
        with pytest.raises(UnknownName):
            store.listings.read("nobody")

    def test_labelled_documents(self, store: Store) -> None:
        """Documents named by labels of any grade and by gold spans are those of the run."""
        run_id, _ = with_run(store)
        assert store.listings.list_labeled_documents(run_id) == {"d0", "d1", "d2", "d3"}

    def test_causes_of_another_listing(self, store: Store) -> None:
        """Causes found with another listing or without one are outdated, for this judge and asking alone."""
        run_id, numbers = with_run(store)
        now, before, never = Cause("noise", listing="now"), Cause("noise", listing="before"), Cause("noise")
        store.causes.write(run_id, "j", dict(zip(numbers, (now, before, never), strict=True)))
        store.causes.write(run_id, "other", {numbers[0]: never})
        store.causes.write(run_id, None, {numbers[1]: never})
        assert store.listings.find_outdated(run_id, "j", "now") == set(numbers[1:])
        assert store.listings.find_outdated(run_id, "other", "now") == {numbers[0]}
        assert store.listings.find_outdated(run_id, None, "now") == {numbers[1]}
        assert store.listings.find_outdated(run_id, "j", "now", 1) == set()

    def test_listing_goes_with_its_run(self, store: Store) -> None:
        """Deleting a run deletes its listing, and leaves the other's."""
        run_id, _ = with_run(store)
        other, _ = with_run(store, "other")
        store.listings.write(run_id, LISTING)
        store.listings.write(other, LISTING)
        store.runs.delete(run_id)
        again, _ = with_run(store)
        assert store.listings.read(again) is None
        assert store.listings.read(other) == LISTING


class TestSqliteListings(ListingsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
