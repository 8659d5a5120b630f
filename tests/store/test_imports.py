"""The contract of files that were read before."""

from __future__ import annotations

import pytest

from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.store.store_access import Store

DIGEST, OTHER = b"d" * 32, b"o" * 32


def with_run(store: Store, name: str) -> Run:
    """A run of one response."""
    return store.runs.import_run(Run("", name, config={"name": name}), [(Example("q", "q?"), Response("q"))])


class ImportsContract:
    """What every store does about files that were read before. A back end supplies `store`."""

    def test_a_run_is_found_by_its_files(self, store: Store) -> None:
        """Files lead to the run they became, with what reading them told; the last entry counts."""
        first, second = with_run(store, "first"), with_run(store, "second")
        assert store.imports.find_import(DIGEST) is None
        store.imports.save_import(DIGEST, second.run_id)
        store.imports.save_import(DIGEST, first.run_id, ["lang is not read", "\ud800"])
        store.imports.save_import(OTHER, first.run_id)
        found = store.imports.find_import(DIGEST)
        assert found is not None
        assert (found.run.run_id, found.warnings) == (first.run_id, ("lang is not read", "\ud800"))
        with pytest.raises(UnknownName):
            store.imports.save_import(DIGEST, "nobody")

    def test_it_moves_and_is_called_by_the_new_name(self, store: Store) -> None:
        """As after an import of equal content: the run is the latest, and both names lead to it."""
        first, second = with_run(store, "first"), with_run(store, "second")
        store.imports.save_import(DIGEST, first.run_id)
        assert store.runs.find("latest") == second
        store.imports.find_import(DIGEST, "again")
        assert store.runs.find("latest").run_id == first.run_id
        assert store.runs.find("again").run_id == store.runs.find("first").run_id == first.run_id

    def test_files_are_forgotten_with_their_run(self, store: Store) -> None:
        """Once a run is deleted its files lead nowhere."""
        run = with_run(store, "first")
        store.imports.save_import(DIGEST, run.run_id)
        store.runs.delete(run.run_id)
        assert store.imports.find_import(DIGEST) is None


class TestSqliteImports(ImportsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
