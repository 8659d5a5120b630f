"""The one way into a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragauge.errors import StoreError, UsageError
from ragauge.store.baseline_contracts import Baselines, RunLog
from ragauge.store.call_contracts import Calls, Judges, Replies
from ragauge.store.check_contracts import Checks
from ragauge.store.collect_contracts import Collecting
from ragauge.store.contracts import Causes, Evidences, Runs, Scores, Sets, Summaries, Texts
from ragauge.store.import_contracts import Imports
from ragauge.store.listing_contracts import Listings

if TYPE_CHECKING:
    from ragauge.store.sql.database import Database

DEFAULT_URL = "sqlite:///.ragauge/ragauge.db"
PREFIX = "sqlite:///"
ANOTHER = "Name a place that you may write to with --store sqlite:///PATH, or set RAGAUGE_STORE."


@dataclass(frozen=True)
class Store:
    """Where sets, runs, evidence and scores are kept; one attribute per area.

    Used as a context manager, it closes itself.

    Attributes:
        url: where it is, absolute: another process opens the same store with it.
        texts: passage texts, each once.
        sets: eval sets.
        runs: runs and their responses.
        imports: which run some files became.
        collecting: runs whose responses arrive one by one.
        evidence: what judges found.
        scores: scores.
        causes: why examples failed.
        summaries: the last summary of each run.
        replies: what models said.
        calls: every attempt at a model.
        judges: what is known about judges.
        checks: what people and judges said of the same texts.
        listings: what is in the index of each run's system, where that is known.
        baselines: names that stand for runs.
        run_log: what is written about runs.
    """

    url: str
    texts: Texts
    sets: Sets
    runs: Runs
    imports: Imports
    collecting: Collecting
    evidence: Evidences
    scores: Scores
    causes: Causes
    summaries: Summaries
    replies: Replies
    calls: Calls
    judges: Judges
    checks: Checks
    listings: Listings
    baselines: Baselines
    run_log: RunLog
    _database: Database

    def transaction(self) -> AbstractContextManager[None]:
        """A block whose writes, in all areas, are kept together or not at all."""
        return _transaction(self._database)

    def close(self) -> None:
        """Gives the connections back."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _transaction(database: Database) -> Iterator[None]:
    with database.write():
        yield


def open_store(url: str = DEFAULT_URL) -> Store:
    """Opens a store, making its folder and tables where they are missing and upgrading an older one.

    One whose file or folder is read-only can be read; writing to it is a StoreError.

    Args:
        url: sqlite:///PATH, or the path of a file.

    Raises:
        UsageError: the URL names no kind of store there is.
        StoreError: it cannot be made or opened, is newer than this program, or is another program's database.
    """
    from ragauge.store.migrations.upgrade import upgrade
    from ragauge.store.sql.database import Database, use_write_ahead_log

    database = Database(_absolute(url))
    try:
        use_write_ahead_log(database)
        upgrade(database)
    except BaseException:
        database.close()
        raise
    return _store(database)


def _store(database: Database) -> Store:
    """Every area on one database."""
    from ragauge.store.sql.baselines import SqlBaselines, SqlRunLog
    from ragauge.store.sql.calls import SqlCalls
    from ragauge.store.sql.causes import SqlCauses
    from ragauge.store.sql.checks import SqlChecks
    from ragauge.store.sql.collecting import SqlCollecting
    from ragauge.store.sql.evidence import SqlEvidence
    from ragauge.store.sql.imports import SqlImports
    from ragauge.store.sql.judges import SqlJudges
    from ragauge.store.sql.listings import SqlListings
    from ragauge.store.sql.replies import SqlReplies
    from ragauge.store.sql.runs import SqlRuns
    from ragauge.store.sql.scores import SqlScores
    from ragauge.store.sql.sets import SqlSets
    from ragauge.store.sql.summaries import SqlSummaries
    from ragauge.store.sql.texts import SqlTexts

    return Store(
        url=database.url,
        texts=SqlTexts(database),
        sets=SqlSets(database),
        runs=SqlRuns(database),
        imports=SqlImports(database),
        collecting=SqlCollecting(database),
        evidence=SqlEvidence(database),
        scores=SqlScores(database),
        causes=SqlCauses(database),
        summaries=SqlSummaries(database),
        replies=SqlReplies(database),
        calls=SqlCalls(database),
        judges=SqlJudges(database),
        checks=SqlChecks(database),
        listings=SqlListings(database),
        baselines=SqlBaselines(database),
        run_log=SqlRunLog(database),
        _database=database,
    )


def _absolute(url: str) -> str:
    """The URL with an absolute path, its folder made."""
    path = url.removeprefix(PREFIX)
    if "://" in path or path in ("", ":memory:"):
        raise UsageError(f"a store is a SQLite file, got {url!r}. Write {DEFAULT_URL}.")
    file = Path(path).expanduser().absolute()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the store's folder {file.parent} cannot be made: {error.strerror}. {ANOTHER}") from error
    if not file.exists() and not os.access(file.parent, os.W_OK):
        raise StoreError(f"the store's file {file} cannot be made: its folder is read-only. {ANOTHER}")
    return f"{PREFIX}{file.as_posix()}"
