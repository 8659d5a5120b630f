"""The one way into a store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragauge.store.calls import Calls
    from ragauge.store.cards import Cards, Charts
    from ragauge.store.causes import Causes, Listings
    from ragauge.store.check_log import CheckLog
    from ragauge.store.database import Database
    from ragauge.store.erasing import TraceEraser
    from ragauge.store.evaluations import RunEvaluations
    from ragauge.store.evidence import Evidences
    from ragauge.store.example_list import ExampleList
    from ragauge.store.inbox import Inbox
    from ragauge.store.integrity import Integrity
    from ragauge.store.jobs import Jobs
    from ragauge.store.judges import Checks, Judges
    from ragauge.store.labels import Draws, Labels
    from ragauge.store.ledger import Ledger
    from ragauge.store.memory import Memory
    from ragauge.store.monitors import Monitors
    from ragauge.store.own_metrics import OwnMetrics
    from ragauge.store.periods import Periods
    from ragauge.store.question_runs import QuestionRuns
    from ragauge.store.replies import Replies
    from ragauge.store.returns import Returns
    from ragauge.store.run_collection import RunCollector
    from ragauge.store.run_import import Imports
    from ragauge.store.run_list import RunList
    from ragauge.store.run_log import Baselines, RunLog, Summaries
    from ragauge.store.runs import Runs
    from ragauge.store.scores import Scores
    from ragauge.store.sets import Sets, Texts
    from ragauge.store.studies import Studies
    from ragauge.store.vectors import Vectors
    from ragauge.store.verdicts import StoredControls, Verdicts

AREAS = {  # attribute of a store -> module and class, imported when it is first used
    "texts": ("sets", "Texts"),
    "sets": ("sets", "Sets"),
    "runs": ("runs", "Runs"),
    "imports": ("run_import", "Imports"),
    "collecting": ("run_collection", "RunCollector"),
    "evidence": ("evidence", "Evidences"),
    "scores": ("scores", "Scores"),
    "causes": ("causes", "Causes"),
    "verdicts": ("verdicts", "Verdicts"),
    "controls": ("verdicts", "StoredControls"),
    "cards": ("cards", "Cards"),
    "charts": ("cards", "Charts"),
    "summaries": ("run_log", "Summaries"),
    "replies": ("replies", "Replies"),
    "calls": ("calls", "Calls"),
    "judges": ("judges", "Judges"),
    "checks": ("judges", "Checks"),
    "check_log": ("check_log", "CheckLog"),
    "integrity": ("integrity", "Integrity"),
    "listings": ("causes", "Listings"),
    "baselines": ("run_log", "Baselines"),
    "run_log": ("run_log", "RunLog"),
    "run_list": ("run_list", "RunList"),
    "evaluations": ("evaluations", "RunEvaluations"),
    "question_runs": ("question_runs", "QuestionRuns"),
    "example_list": ("example_list", "ExampleList"),
    "studies": ("studies", "Studies"),
    "vectors": ("vectors", "Vectors"),
    "labels": ("labels", "Labels"),
    "draws": ("labels", "Draws"),
    "erasing": ("erasing", "TraceEraser"),
    "inbox": ("inbox", "Inbox"),
    "ledger": ("ledger", "Ledger"),
    "monitors": ("monitors", "Monitors"),
    "jobs": ("jobs", "Jobs"),
    "periods": ("periods", "Periods"),
    "returns": ("returns", "Returns"),
    "own_metrics": ("own_metrics", "OwnMetrics"),
}
DEFAULT_URL = "sqlite:///.ragauge/ragauge.db"
T = TypeVar("T")
_READ_ONLY: ContextVar[bool] = ContextVar("whether what is done now changes no store", default=False)
_SERVED_STORE: ContextVar[tuple[str, Store] | None] = ContextVar(
    "the store that is open, and how it was named", default=None
)


class Store:
    """The store of sets, runs, evidence and scores; one attribute per area.

    Used as a context manager, it closes itself.
    """

    url: str  #: where it is, absolute: another process opens the same store with it.
    texts: Texts  #: passage texts, each once.
    sets: Sets  #: eval sets.
    runs: Runs  #: runs and their responses.
    imports: Imports  #: which files were imported as which run.
    collecting: RunCollector  #: runs in progress, whose responses arrive one by one.
    evidence: Evidences  #: facts that judges found.
    scores: Scores  #: scores.
    causes: Causes  #: why examples failed.
    verdicts: Verdicts  #: whether examples failed.
    controls: StoredControls  #: how well the judges of runs read control pairs.
    cards: Cards  #: the last computed scorecards, in parts.
    charts: Charts  #: rendered charts.
    summaries: Summaries  #: the last summary of each run.
    replies: Replies  #: replies of models.
    calls: Calls  #: every call to a model.
    judges: Judges  #: judges and the specs that they are built from.
    checks: Checks  #: labels and judge scores of the same texts.
    check_log: CheckLog  #: results of judge checks, oldest first.
    listings: Listings  #: documents in the index of each run's system, where known.
    baselines: Baselines  #: names that stand for runs.
    run_log: RunLog  #: notes and tags of runs.
    run_list: RunList  #: runs as lists show them.
    evaluations: RunEvaluations  #: progress of the last evaluation of each run.
    question_runs: QuestionRuns  #: one question in all runs.
    example_list: ExampleList  #: the examples of runs as lists show them.
    studies: Studies  #: studies and their trials.
    vectors: Vectors  #: of texts, by embedder and prefix.
    labels: Labels  #: human labels.
    draws: Draws  #: samples of runs to be labeled.
    inbox: Inbox  #: raw traffic, as it arrived.
    ledger: Ledger  #: the status of each trace.
    monitors: Monitors  #: series and alerts.
    integrity: Integrity  #: checks that everything can be read.
    jobs: Jobs  #: scheduled jobs.
    periods: Periods  #: days marked as good or bad.
    returns: Returns  #: results to be exported.
    own_metrics: OwnMetrics  #: declarations of the user's own metrics.
    erasing: TraceEraser  #: deletes all that is stored of a trace.

    def __init__(self, url: str, database: Database) -> None:
        self.url, self._database, self._lock = url, database, threading.Lock()

    if not TYPE_CHECKING:  # checkers know the areas by their annotations

        def __getattr__(self, name: str) -> Any:
            if name not in AREAS:
                raise AttributeError(f"a store has no area {name!r}")
            module, kind = AREAS[name]
            with self._lock:  # an area is made once
                if name not in vars(self):
                    vars(self)[name] = getattr(import_module(f"ragauge.store.{module}"), kind)(self._database)
            return vars(self)[name]

    def transaction(self) -> AbstractContextManager[None]:
        """A block whose writes, in all areas, are kept together or not at all."""
        return _begin_transaction(self._database)

    def open_snapshot(self) -> AbstractContextManager[None]:
        """A block whose reads, in all areas, see the store as the first of them does, over one connection."""
        return _begin_reading(self._database)

    def lock_run(self, run_id: str) -> AbstractContextManager[bool]:
        """A block that works on a run: True where nobody else does, in this process or another; nobody waits."""
        return self._database.lock_run(run_id)

    def get_or_make(self, key: Hashable, make_answer: Callable[[], T]) -> T:
        """What was made under a key before; made now where it was not. Only a store that is served remembers.

        Args:
            key: what is asked for, with counts of the writes that could change it, read before it is made.
            make_answer: makes it.
        """
        return self._database.memory.get(key, make_answer)

    def cache_for_run(self, run_id: str, cache_key: Hashable, compute: Callable[[], T]) -> T:
        """What was made of a run; where the store is served, made once as long as nothing is written to the run.

        Args:
            run_id: of the run.
            cache_key: it is, with all that decides it beside the run.
            compute: makes it.
        """
        from ragauge.store.names import find_run_no

        with self._database.read() as connection:
            return self._database.cache_for_run(connection, find_run_no(connection, run_id), cache_key, compute)

    def close(self) -> None:
        """Gives the connections back; of a store that is served, the end of its page does."""
        served = _SERVED_STORE.get()
        if served is None or served[1] is not self:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _begin_transaction(database: Database) -> Iterator[None]:
    with database.write():
        yield


@contextmanager
def _begin_reading(database: Database) -> Iterator[None]:
    with database.read():
        yield


@contextmanager
def open_read_only() -> Iterator[None]:
    """A block that opens stores to read them: an older one is not upgraded on disk."""
    token = _READ_ONLY.set(True)
    try:
        yield
    finally:
        _READ_ONLY.reset(token)


def open_store(url: str = DEFAULT_URL) -> Store:
    """Opens a store, making its folder and tables where they are missing and upgrading an older one.

    An older one is copied beside itself before; within `open_read_only`, or where it cannot be written to, an upgraded
    temporary copy is opened in its place. One whose file or folder is read-only can be read; writing to it is a
    StoreError.

    Args:
        url: sqlite:///PATH, or the path of a file.

    Raises:
        UsageError: the URL names no kind of store there is.
        StoreError: it cannot be made or opened, is newer than this program, or is another program's database.
    """
    from ragauge.store.database import Database
    from ragauge.store.older import find_readable_url

    served = _SERVED_STORE.get()
    if served is not None and url in (served[0], served[1].url):
        return served[1]
    return _open_areas(Database(find_readable_url(url, only_reads=_READ_ONLY.get())))


class ServedStore:
    """A store that many read one after another and at once, such as the pages of a server.

    Connections, compiled statements and what `Store.remembered` made are kept from one to the next; each begins its
    own readings, so that none sees an old state of the store.

    Args:
        url: as `open_store` takes it.
    """

    def __init__(self, url: str) -> None:
        from ragauge.store.older import find_readable_url

        self._name, self._url = url, find_readable_url(url)
        self._lock = threading.Lock()
        self._file: tuple[object, ...] = ()
        self._shared: tuple[Engine, Memory] | None = None

    @contextmanager
    def serve_store(self) -> Iterator[None]:
        """A block in which `open_store` gives one store, which its version was asked of once.

        Raises:
            StoreError: as `open_store` does.
        """
        from ragauge.store.database import Database

        store = _open_areas(Database(self._url, self._get_shared()))
        token = _SERVED_STORE.set((self._name, store))
        try:
            yield
        finally:
            _SERVED_STORE.reset(token)
            store.close()

    def _get_shared(self) -> tuple[Engine, Memory] | None:
        """What is shared by who reads the file that is there now; None where nothing can be."""
        from ragauge.store import sqlite
        from ragauge.store.memory import Memory

        url = sqlite.resolve_url(self._url)
        access, stamp = sqlite.determine_access(url), sqlite.read_stamp(url)
        if stamp is None or access == "immutable":  # a new file, or one in which no change would be seen
            return None
        file = (access, stamp.inode)
        with self._lock:
            if self._shared is None or self._file != file:
                if self._shared is not None:
                    self._shared[0].dispose()
                self._file, self._shared = file, (sqlite.build_engine(url, access, sqlite.PAGE_WAIT_S), Memory())
            return self._shared


def _open_areas(database: Database) -> Store:
    """Every area of a database that was brought to this program's version."""
    from ragauge.store.migrations.upgrade import upgrade

    try:
        database.prepare_file()
        upgrade(database)
    except BaseException:
        database.close()
        raise
    store = Store(database.url, database)
    if declared := store.own_metrics.list():
        from ragauge.metrics.catalogue import register_stored

        register_stored(declared)
    return store
