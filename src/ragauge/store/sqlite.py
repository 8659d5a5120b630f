"""All that is SQLite's own: the file of a store, how it is opened, written and read, and who works on it.

A store is in WAL mode: readers and one writer do not block each other, and a writer waits for another process's.

A file that cannot be written to, such as a CI artifact or a colleague's folder, is only read. A reader of a file in
WAL mode needs two files beside it, -wal and -shm, which SQLite makes where they are missing. In a folder that cannot be
written to there are three cases:

- There is no log, or an empty one: everything is in the file. It is opened as immutable, which needs no other file and
  no lock. SQLite then sees no change of the file, so every read looks whether it changed meanwhile.
- There is a log with its -shm file, left by a process that works on the store or was killed: SQLite reads both.
- There is a log alone: it cannot be read where no -shm file can be made.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple
from urllib.parse import quote

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from ragauge.core.errors import StoreError, UsageError
from ragauge.core.messages import format_command

PREFIX = "sqlite:///"
READ_PREFIX = "sqlite+read:///"  # a file that is only read, whatever it allows
WRITER_WAIT_S = 120.0  # seconds that a writer waits for another process's transaction
READ_BLOCK_BYTES = 1 << 24  # bytes
PAGE_WAIT_S = 1.0  # seconds that a page waits to keep what it computed
WRITE_OPTIONS = {"ragauge_writes": True}  # option of a connection whose transactions write
WRITABLE_STORE_HINT = "Name a place that you may write to with --store sqlite:///PATH, or set RAGAUGE_STORE."
COPY_STORE_HINT = "Copy its folder to one that you may write to, and name the copy with --store or RAGAUGE_STORE."

Access = Literal["write", "read", "immutable"]
Upsert = Insert  # an INSERT that knows ON CONFLICT
DRIVER_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # what a cursor of the driver's own raises


def resolve_url(url: str) -> str:
    """The URL with an absolute path, its folder made unless it is only to be read."""
    prefix = READ_PREFIX if url.startswith(READ_PREFIX) else PREFIX
    path = url.removeprefix(prefix)
    if "://" in path or path in ("", ":memory:"):
        raise UsageError(f"a store is a SQLite file, got {url!r}. Write {PREFIX}.ragauge/ragauge.db.")
    file = Path(path).expanduser().absolute()
    if prefix == READ_PREFIX:
        if not file.exists():
            raise StoreError(
                f"there is no store to read at {file}. Name another with --store; ragauge evaluate makes one."
            )
        return f"{prefix}{file.as_posix()}"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the store's folder {file.parent} cannot be made: {error.strerror}. {WRITABLE_STORE_HINT}"
        ) from error
    if not file.exists() and not os.access(file.parent, os.W_OK):
        raise StoreError(f"the store's file {file} cannot be made: its folder is read-only. {WRITABLE_STORE_HINT}")
    return f"{prefix}{file.as_posix()}"


def build_read_url(url: str) -> str:
    """The URL of the same store, opened for reading alone."""
    return f"{READ_PREFIX}{resolve_url(url).removeprefix(READ_PREFIX).removeprefix(PREFIX)}"


class Stamp(NamedTuple):
    """What tells whether a file changed."""

    inode: int
    size: int
    changed: int


def determine_access(url: str) -> Access:
    """How a store's file can be opened: "write" as well where it is not there yet.

    Raises:
        StoreError: it can be read neither with its log nor without.
    """
    path = get_path(url)
    if can_write(url):
        return "read" if url.startswith(READ_PREFIX) else "write"
    log, shared = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
    if not log.exists() or not log.stat().st_size:
        return "immutable"
    if not shared.exists() and not os.access(path.parent, os.W_OK):
        raise StoreError(
            f"the store {url} cannot be read: its last changes are in {log}, which cannot be read without writing to "
            f"{path.parent}. {COPY_STORE_HINT}"
        )
    return "read"


def read_stamp(url: str) -> Stamp | None:
    """The file as it is now; None where it is gone."""
    try:
        file_stat = get_path(url).stat()
    except OSError:
        return None
    return Stamp(file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns)


@contextmanager
def check_unchanged(url: str, access: Access, previous: Stamp | None) -> Iterator[None]:
    """A block of reading that fails, whatever it found, where an immutable file is not what it was."""
    try:
        yield
    finally:
        if access == "immutable" and read_stamp(url) != previous:
            raise StoreError(
                f"the store {url} was changed by another process while it was read. Run the same command again."
            )


def describe_problem(problem: object) -> str:
    """What a driver says; of a text that is not UTF-8, where that is, and without its bytes."""
    column = re.match(r"Could not decode to UTF-8 (column '[^']*')", str(problem))
    if column is not None:
        return f"a text in {column[1]} is damaged; {format_command('doctor')} shows where"
    return "a text in its file is damaged" if isinstance(problem, UnicodeDecodeError) else str(problem)


def build_refusal(url: str) -> StoreError:
    """The refusal of a write, with its reason: how the store was opened, or what its file allows."""
    if can_write(url.replace(READ_PREFIX, PREFIX, 1)):
        return StoreError(
            f"the store {get_path(url)} was opened read-only, by --read-only or a URL that begins with "
            f"{READ_PREFIX}. Remove that to write to it."
        )
    where = get_path(url)
    return StoreError(
        f"the store {where} can be read but not written to: its file or folder is read-only. {COPY_STORE_HINT}"
    )


def can_write(url: str) -> bool:
    """Whether the file of a store allows writes, or is not there yet; of a URL that is no SQLite file True."""
    path = get_path(url)
    return not path.exists() or (os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK))


def read_version(url: str) -> str | None:
    """The version that a store's file was written by, read without changing anything; None where it has none."""
    if not get_path(url).exists():
        return None
    with closing(_open_read_only(url, determine_access(url))) as connection, suppress(*DRIVER_ERRORS):
        row = connection.execute("SELECT version_num FROM ragauge_version").fetchone()
        return None if row is None else str(row[0])
    return None


def copy_store(url: str, path: Path) -> None:
    """Copies a store into one file, whole or not at all; a file that is there is replaced.

    Raises:
        StoreError: it cannot be read, or there is no room.
    """
    part_path = path.with_name(f"{path.name}.part")
    try:
        with (
            closing(_open_read_only(url, determine_access(url))) as source,
            closing(sqlite3.connect(part_path)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # no file beside it
        with part_path.open("r+b") as written:
            os.fsync(written.fileno())
        part_path.replace(path)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            part_path.unlink()
        problem = f"the store {get_path(url)} could not be copied to {path}, and is unchanged: {error}."
        raise StoreError(f"{problem} Free space there, or copy the store elsewhere and name the copy.") from error


def list_problems(url: str) -> list[str]:
    """What SQLite finds wrong with a store's file, a sentence each; [] for nothing."""
    with closing(_open_read_only(url, determine_access(url))) as connection:
        try:
            problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
        except DRIVER_ERRORS as error:
            return [str(error)]
    return [] if problems == ["ok"] else problems


def build_engine(url: str, access: Access, wait: float = WRITER_WAIT_S) -> Engine:
    """Connections to a store's file, whose writers wait so many seconds for another process's transaction."""
    # not parsed: a path may hold ? or %
    address = URL.create("sqlite", database=url.removeprefix(PREFIX))
    # no reader waits for another's connection
    if access == "write":
        engine = create_engine(address, connect_args={"timeout": wait, "check_same_thread": False}, max_overflow=-1)
    else:
        engine = create_engine(address, creator=lambda: _open_read_only(url, access), max_overflow=-1)

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


def rewrite_file(engine: Engine, url: str) -> int:
    """Writes a store's file anew, without free pages and what was deleted, and empties its log; returns its bytes.

    Raises:
        StoreError: other processes read or write it for longer than a writer waits.
    """
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        until = time.monotonic() + WRITER_WAIT_S
        cursor.execute("VACUUM")
        while True:
            busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return get_path(url).stat().st_size
            if time.monotonic() > until:
                raise StoreError(
                    f"the log of the store {url} still holds what was deleted: another process has read the store for "
                    f"{WRITER_WAIT_S:g} seconds. End it (monitor serve, serve, evaluate), and run the same command "
                    "again."
                )
            time.sleep(0.05)
    finally:
        connection.close()


def count_bytes_in_store(url: str, needles: Sequence[bytes]) -> int:
    """How many bytes of a store's files, its log among them, are copies of one of some byte strings."""
    paths = (get_path(f"{url}{end}") for end in ("", "-wal", "-journal"))
    return sum(count_bytes(path, needles) for path in paths if path.is_file())


def count_bytes(path: Path, needles: Sequence[bytes]) -> int:
    """How many bytes of a file are copies of one of some byte strings."""
    with path.open("rb") as file:
        return count_bytes_in_stream(file, needles)


def count_bytes_in_stream(file: IO[bytes], needles: Sequence[bytes]) -> int:
    """How many bytes that are read from a file on are copies of one of some byte strings."""
    n_bytes, overlap, previous = 0, max(map(len, needles), default=1) - 1, b""
    while block := file.read(READ_BLOCK_BYTES):
        window = previous + block
        n_bytes += sum(len(needle) * (window.count(needle) - previous.count(needle)) for needle in needles)
        previous = window[-overlap:] if overlap else b""
    return n_bytes


def _open_read_only(url: str, access: Access) -> sqlite3.Connection:
    """A connection that reads and never writes, to no file beside the store either where it is immutable."""
    more = "&immutable=1" if access == "immutable" else ""
    address = f"{get_path(url).as_uri()}?mode=ro{more}"
    return sqlite3.connect(address, uri=True, timeout=WRITER_WAIT_S, check_same_thread=False)


def use_write_ahead_log(engine: Engine, url: str, access: Access) -> None:
    """Puts a SQLite file into WAL mode, where readers and one writer do not block each other.

    The mode is kept in the file. The change needs the file alone and does not wait by itself, so it is tried again.
    A file that can only be read stays as it is.
    """
    if access != "write":
        return
    until = time.monotonic() + WRITER_WAIT_S
    while True:
        try:
            if _set_write_ahead_mode(engine):
                return
            problem: object = "other programs lock it"
        except (*DRIVER_ERRORS, SQLAlchemyError) as error:
            problem = error
            if "locked" not in str(error):
                until = 0
        if time.monotonic() > until:
            raise StoreError(f"the store {url} cannot be opened: {describe_problem(problem)}.")
        time.sleep(0.02)


def _set_write_ahead_mode(engine: Engine) -> bool:
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        for pragma in ("PRAGMA journal_mode", "PRAGMA journal_mode = WAL"):
            cursor.execute(pragma)
            mode_row = cursor.fetchone()
            if mode_row is not None and mode_row[0] == "wal":
                return True
        return False
    finally:
        connection.close()


def build_insert(table: Table) -> Upsert:
    """An INSERT that knows ON CONFLICT."""
    return sqlite.insert(table)


@contextmanager
def lock_run(url: str, run_id: str) -> Iterator[bool]:
    """Holds a run while the block works on it; True where nobody else holds it, in this process or another.

    The lock is on a file beside the store that is there only as long as it is held. Of a process that is killed the
    file stays, the lock does not. Nobody waits. Where no file can be made or locked it is always True.

    Args:
        url: of the store.
        run_id: the run.
    """
    from filelock import FileLock, Timeout

    path = Path(f"{get_path(url)}-{quote(run_id, safe='')}.lock")
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    except OSError:
        yield True
        return
    try:
        yield True
    finally:
        with suppress(OSError):  # while it is held: whoever waits for a removed file tries again
            path.unlink()
        lock.release()


def get_path(url: str) -> Path:
    """The file of a store."""
    return Path(url.removeprefix(READ_PREFIX).removeprefix(PREFIX))
