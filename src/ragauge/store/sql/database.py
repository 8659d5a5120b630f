"""One database: connections, transactions, and what SQLite needs to be shared by several processes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, bindparam, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from ragauge.errors import StoreError
from ragauge.store.sql import read_only

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

PREFIX = "sqlite:///"
WAIT = 120.0  # seconds that a writer waits for another process's transaction
MOST_IN = 900  # values in one IN (...): older SQLite builds allow 999 variables a statement
AT_A_TIME = 1_000  # raw rows held as Python objects: as many as stay in the processor's cache
WRITES = {"ragauge_writes": True}


class Database:
    """Connections to one store.

    Attributes:
        url: where it is.
        access: whether it can be written to, or how it is read where it cannot.

    A read sees one consistent state and waits for nobody. A write is one transaction: writers of this process queue on
    a lock, writers of other processes on SQLite's. A write inside a write joins it, so that areas combine.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.access = read_only.access_of(url)
        self._stamp = read_only.stamp(url)
        self.engine = _engine(url, self.access)
        self._lock = threading.Lock()
        self._current = threading.local()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading; inside another block of the same thread, that block's."""
        current = self._of_thread("writing") or self._of_thread("reading")
        if current is not None:
            yield current
            return
        with self._seen_whole(), _as_store_error(self.url), self.engine.connect() as connection:
            self._current.reading = connection
            try:
                yield connection
            finally:
                self._current.reading = None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it is kept at the end of the block, or none when the block raises."""
        current = self._of_thread("writing")
        if current is not None:
            yield current
            return
        if self.access != "write":
            raise read_only.refused(self.url)
        with self._lock, _as_store_error(self.url), self.engine.connect() as plain:
            connection = plain.execution_options(**WRITES)
            with connection.begin():
                self._current.writing = connection
                try:
                    yield connection
                finally:
                    self._current.writing = None

    def _seen_whole(self) -> AbstractContextManager[None]:
        """A block of reading; SQLite itself sees no change of a file that it holds for immutable."""
        return read_only.unchanged(self.url, self._stamp) if self.access == "immutable" else nullcontext()

    def _of_thread(self, kind: str) -> Connection | None:
        found: Connection | None = getattr(self._current, kind, None)
        return found

    def insert(self, table: Table) -> SqliteInsert | PostgresInsert:
        """An INSERT that knows ON CONFLICT, in this database's dialect."""
        if self.engine.dialect.name == "postgresql":
            from sqlalchemy.dialects import postgresql  # as long to load as everything else here

            return postgresql.insert(table)
        return sqlite.insert(table)

    def close(self) -> None:
        """Gives every connection back."""
        self.engine.dispose()


@contextmanager
def _as_store_error(url: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(f"the store {url} failed: {cause}.") from error


def _engine(url: str, access: read_only.Access) -> Engine:
    # not parsed: a path may hold ? or %
    address = URL.create("sqlite", database=url.removeprefix(PREFIX))
    if access == "write":
        engine = create_engine(address, connect_args={"timeout": WAIT, "check_same_thread": False})
    else:
        engine = create_engine(address, creator=lambda: read_only.connect(url, access, WAIT))

    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        # the driver's own BEGIN comes late and deferred; ours are written below
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        # A committed transaction is in the operating system's hands under NORMAL too, so kill -9 loses nothing either
        # way. FULL also syncs the log at each commit: judged answers cost money or hours, and one commit holds a whole
        # batch, so surviving a power cut costs a few milliseconds a second.
        cursor.execute("PRAGMA synchronous = FULL")
        # 2 MB a connection, full after a few hundred answers: the operating system keeps the file's pages as well, and
        # a larger cache made importing and judging no faster, but let every process grow with the store
        cursor.execute("PRAGMA cache_size = -2048")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        # IMMEDIATE takes the write lock first and waits for it. A deferred transaction that read before it writes
        # cannot wait (its snapshot is old): it would fail at once with "database is locked".
        writes = connection.get_execution_options().get("ragauge_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def use_write_ahead_log(database: Database) -> None:
    """Puts a SQLite file into WAL mode, where readers and one writer do not block each other.

    The mode is kept in the file. The change needs the file alone and does not wait by itself, so it is tried again.
    A file that can only be read stays as it is.
    """
    if database.access != "write":
        return
    until = time.monotonic() + WAIT
    while True:
        try:
            if _in_write_ahead_mode(database):
                return
            problem: object = "other programs hold it"
        except (sqlite3.Error, SQLAlchemyError) as error:
            problem = error
            if "locked" not in str(error):
                until = 0
        if time.monotonic() > until:
            raise StoreError(f"the store {database.url} cannot be opened: {problem}.")
        time.sleep(0.02)


def _in_write_ahead_mode(database: Database) -> bool:
    connection = database.engine.raw_connection()
    try:
        cursor = connection.cursor()
        for pragma in ("PRAGMA journal_mode", "PRAGMA journal_mode = WAL"):
            cursor.execute(pragma)
            found = cursor.fetchone()
            if found is not None and found[0] == "wal":
                return True
        return False
    finally:
        connection.close()


def raw_rows(connection: Connection, query: Select[Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as the driver gives them, a thousand at a time: texts are escaped, bodies packed.

    As SQLAlchemy's row objects a million of them take twice the time.
    """
    compiled = query.compile(connection.engine, compile_kwargs={"literal_binds": True})
    cursor: Any = connection.connection.cursor()
    try:
        cursor.execute(str(compiled))
        while part := cursor.fetchmany(AT_A_TIME):
            yield part
    finally:
        cursor.close()


def among(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a column holds one of `values`, a parameter given when the query is executed.

    In the query itself the values would outlive it: SQLAlchemy's expressions refer to themselves, so that they wait for
    a collection of cycles, which comes the later the more a program holds.
    """
    return column.in_(bindparam("values", type_=column.type, expanding=True))


def rows_among(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> Iterator[Any]:
    """Rows of a query whose column holds one of the values, asked for in parts."""
    wanted = query.where(among(column))
    for part in chunks(values):
        yield from connection.execute(wanted, {"values": part})


def raw_among(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """The rows of `rows_among` as the driver gives them: texts are escaped, bodies packed. In a third of the time."""
    wanted = query.where(among(column))
    for part in chunks(values):
        found = connection.execute(wanted, {"values": part})
        cursor: Any = found.cursor
        yield from cursor.fetchall()
        found.close()


def chunks(values: Iterable[Any], size: int = MOST_IN) -> Iterator[Sequence[Any]]:
    """Lists of at most `size` values."""
    part: list[Any] = []
    for value in values:
        part.append(value)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
