"""The one way into a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ragauge.store.calls import Calls
    from ragauge.store.causes import Causes, Listings
    from ragauge.store.collecting import Collecting
    from ragauge.store.database import Database
    from ragauge.store.evidence import Evidences
    from ragauge.store.importing import Imports
    from ragauge.store.judges import Checks, Judges
    from ragauge.store.labels import Draws, Labels
    from ragauge.store.replies import Replies
    from ragauge.store.run_log import Baselines, RunLog, Summaries
    from ragauge.store.runs import Runs
    from ragauge.store.scores import Scores
    from ragauge.store.sets import Sets, Texts
    from ragauge.store.studies import Studies
    from ragauge.store.vectors import Vectors

DEFAULT_URL = "sqlite:///.ragauge/ragauge.db"


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
        studies: settings tried one against another.
        vectors: of texts, by embedder and prefix.
        labels: what people said of what was seen.
        draws: what was drawn from runs to be labelled.
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
    studies: Studies
    vectors: Vectors
    labels: Labels
    draws: Draws
    _database: Database

    def transaction(self) -> AbstractContextManager[None]:
        """A block whose writes, in all areas, are kept together or not at all."""
        return _transaction(self._database)

    def held(self, run_id: str) -> AbstractContextManager[bool]:
        """A block that works on a run: True where nobody else does, in this process or another; nobody waits."""
        return self._database.held(run_id)

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
    from ragauge.store.database import Database
    from ragauge.store.migrations.upgrade import upgrade

    database = Database(url)
    try:
        database.prepare()
        upgrade(database)
    except BaseException:
        database.close()
        raise
    return _store(database)


def _store(database: Database) -> Store:
    """Every area on one database."""
    from ragauge.store.calls import Calls
    from ragauge.store.causes import Causes, Listings
    from ragauge.store.collecting import Collecting
    from ragauge.store.evidence import Evidences
    from ragauge.store.importing import Imports
    from ragauge.store.judges import Checks, Judges
    from ragauge.store.labels import Draws, Labels
    from ragauge.store.replies import Replies
    from ragauge.store.run_log import Baselines, RunLog, Summaries
    from ragauge.store.runs import Runs
    from ragauge.store.scores import Scores
    from ragauge.store.sets import Sets, Texts
    from ragauge.store.studies import Studies
    from ragauge.store.vectors import Vectors

    return Store(
        url=database.url,
        texts=Texts(database),
        sets=Sets(database),
        runs=Runs(database),
        imports=Imports(database),
        collecting=Collecting(database),
        evidence=Evidences(database),
        scores=Scores(database),
        causes=Causes(database),
        summaries=Summaries(database),
        replies=Replies(database),
        calls=Calls(database),
        judges=Judges(database),
        checks=Checks(database),
        listings=Listings(database),
        baselines=Baselines(database),
        run_log=RunLog(database),
        studies=Studies(database),
        vectors=Vectors(database),
        labels=Labels(database),
        draws=Draws(database),
        _database=database,
    )
