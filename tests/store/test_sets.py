"""The contract of eval sets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragauge.core.errors import UnknownName
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.store.store_access import Store

GOLDEN = EvalSet(
    "golden", tuple(Example(f"q{i}", f"question {i}", references=("r",)) for i in range(1_200)), "corpus-1"
)


class SetsContract:
    """What every store of sets does. A back end supplies `store`."""

    def test_set_survives(self, store: Store) -> None:
        """A set is read back equal: examples in order, corpus, version."""
        assert store.sets.add(GOLDEN) == GOLDEN.version
        again = store.sets.get("golden")
        assert again == GOLDEN
        assert again.version == GOLDEN.version

    def test_same_content_is_one_version(self, store: Store) -> None:
        """A set added twice, in another order, is listed once."""
        store.sets.add(GOLDEN)
        store.sets.add(replace(GOLDEN, examples=GOLDEN.examples[::-1]))
        assert [(info.name, info.version, info.n) for info in store.sets.list()] == [("golden", GOLDEN.version, 1_200)]

    def test_versions_live_side_by_side(self, store: Store) -> None:
        """A changed set is a new version: the newest is found by name, the older by its version."""
        changed = replace(GOLDEN, examples=(Example("q", "new", relevant=(Relevant(("d",), 2.0),)),))
        store.sets.add(GOLDEN)
        store.sets.add(changed)
        assert store.sets.get("golden") == changed
        assert store.sets.get("golden", GOLDEN.version) == GOLDEN
        assert [info.n for info in store.sets.list()] == [1, 1_200]

    def test_unknown_set_names_the_nearest(self, store: Store) -> None:
        """A set that is not there is an error that names the nearest."""
        store.sets.add(GOLDEN)
        with pytest.raises(UnknownName, match="nearest: golden"):
            store.sets.get("goldne")


class TestSqliteSets(SetsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
