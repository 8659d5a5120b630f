"""One database: connections, transactions, and rows read and written in parts. What is SQLite's own is in `sqlite`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, bindparam, text
from sqlalchemy.exc import SQLAlchemyError

from ragauge.core.errors import StoreError
from ragauge.store import sqlite
from ragauge.store.memory import Memory

MAX_IN_VALUES = 900  # values in one IN (...): older SQLite builds allow 999 variables a statement
T = TypeVar("T")
NUMBERS_KEY = "ragauge numbers"  # of a connection's info: numbers of runs and judges that a page has asked for
ROWS_PER_FETCH = 1_000  # raw rows held as Python objects: as many as stay in the processor's cache


class Database:
    """Connections to one store.

    Args:
        url: where it is.
        shared: connections and memory that others use too; None = its own.

    Attributes:
        url: where it is, absolute.
        access: whether it can be written to, or how it is read where it cannot.
        memory: answers that were made before, each under the state that it was made of.

    A read sees one consistent state and waits for nobody. A write is one transaction: writers of this process queue on
    a lock, writers of other processes on the database's. A write inside a write joins it, so that areas combine.
    """

    def __init__(self, url: str, shared: tuple[Engine, Memory] | None = None) -> None:
        self.url = sqlite.resolve_url(url)
        self.access = sqlite.determine_access(self.url)
        self._stamp = sqlite.read_stamp(self.url)
        self._shared = shared is not None
        self.engine, self.memory = shared or (sqlite.build_engine(self.url, self.access), Memory())
        self._numbers: dict[tuple[str, ...], int | None] | None = None if shared is None else {}
        self._lock = threading.Lock()
        self._current = threading.local()

    def prepare_file(self) -> None:
        """Puts a new database into the state in which readers and one writer do not block each other."""
        sqlite.use_write_ahead_log(self.engine, self.url, self.access)

    def lock_run(self, run_id: str) -> AbstractContextManager[bool]:
        """A block that works on a run: True where nobody else does, in this process or another."""
        return sqlite.lock_run(self.url, run_id)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading; inside another block of the same thread, that block's."""
        current = self._get_thread_connection("writing") or self._get_thread_connection("reading")
        if current is not None:
            yield current
            return
        unchanged_check = sqlite.check_unchanged(self.url, self.access, self._stamp)
        with unchanged_check, _raise_store_error(self.url), self.engine.connect() as connection:
            self._current.reading = connection
            connection.info[NUMBERS_KEY] = self._numbers
            try:
                yield connection
            finally:
                self._current.reading = None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it is kept at the end of the block, or none when the block raises."""
        current = self._get_thread_connection("writing")
        if current is not None:
            yield current
            return
        if self.access != "write":
            raise sqlite.build_refusal(self.url)
        with self._lock, _raise_store_error(self.url), self.engine.connect() as base_connection:
            connection = base_connection.execution_options(**sqlite.WRITE_OPTIONS)
            connection.info[NUMBERS_KEY] = None
            with connection.begin():
                self._current.writing = connection
                try:
                    yield connection
                finally:
                    self._current.writing = None

    @contextmanager
    def write_if_possible(self) -> Iterator[Connection | None]:
        """A transaction for what can be computed anew, so that it need not be kept.

        None where the store can only be read, or where pages are served and another process writes for longer than a
        page waits.
        """
        with ExitStack() as stack:
            connection: Connection | None = None
            if self.access == "write":
                try:
                    connection = stack.enter_context(self.write())
                except StoreError:
                    if not self._shared:
                        raise
            yield connection

    def cache_for_run(self, connection: Connection, run_no: int, cache_key: Hashable, compute: Callable[[], T]) -> T:
        """What was made of a run; where pages are served, it is made once as long as nothing is written to the run.

        Args:
            connection: the reading that it is made in.
            run_no: number of the run.
            cache_key: it is, with all that decides it beside the run.
            compute: makes it.
        """
        numbers = self._numbers
        if numbers is None or connection.info.get(NUMBERS_KEY) is None:  # no page, or one that is writing
            return compute()
        # read once a page, before what is made: what is written meanwhile is at worst remembered as if it came before
        number_key = ("writes", str(run_no))
        if number_key not in numbers:
            query = text("SELECT writes FROM runs WHERE run_no = :run_no")
            numbers[number_key] = connection.execute(query, {"run_no": run_no}).scalar()
        return self.memory.get((cache_key, run_no, numbers[number_key]), compute)

    def _get_thread_connection(self, kind: str) -> Connection | None:
        connection: Connection | None = getattr(self._current, kind, None)
        return connection

    def insert(self, table: Table) -> sqlite.Upsert:
        """An INSERT that knows ON CONFLICT, in this database's dialect."""
        return sqlite.build_insert(table)

    def close(self) -> None:
        """Gives every connection back, unless others use them too."""
        if not self._shared:
            self.engine.dispose()


@contextmanager
def _raise_store_error(url: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, *sqlite.DRIVER_ERRORS) as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(f"the store {url} failed: {sqlite.describe_problem(cause)}.") from error


def iter_raw_rows(
    connection: Connection, query: Select[Any], size: int = ROWS_PER_FETCH
) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as the driver gives them, `size` at a time: texts are escaped, bodies packed.

    As SQLAlchemy's row objects a million of them take twice the time.
    """
    compiled = query.compile(connection.engine, compile_kwargs={"literal_binds": True})
    cursor: Any = connection.connection.cursor()
    try:
        cursor.execute(str(compiled))
        while rows := cursor.fetchmany(size):
            yield rows
    finally:
        cursor.close()


def build_in_condition(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a column holds one of `values`, a parameter given when the query is executed.

    In the query itself the values would outlive it: SQLAlchemy's expressions refer to themselves, so that they wait for
    a collection of cycles, which comes the later the more a program holds.
    """
    return column.in_(bindparam("values", type_=column.type, expanding=True))


def iter_matching_rows(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> Iterator[Any]:
    """Rows of a query whose column holds one of the values, asked for in parts."""
    filtered_query = query.where(build_in_condition(column))
    for batch in split_batches(values):
        yield from connection.execute(filtered_query, {"values": batch})


def iter_raw_matching_rows(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """The rows of `iter_matching_rows` as the driver gives them: texts are escaped, bodies packed.

    In a third of the time.
    """
    filtered_query = query.where(build_in_condition(column))
    for batch in split_batches(values):
        cursor_result = connection.execute(filtered_query, {"values": batch})
        cursor: Any = cursor_result.cursor
        yield from cursor.fetchall()
        cursor_result.close()


def split_batches(values: Iterable[Any], size: int = MAX_IN_VALUES) -> Iterator[Sequence[Any]]:
    """Lists of at most `size` values."""
    batch: list[Any] = []
    for value in values:
        batch.append(value)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def get_timestamp() -> str:
    """The time as the store writes it: ISO 8601, UTC, to the millisecond; later times sort later."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
