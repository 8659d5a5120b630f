"""Brings a store to this program's version."""

from __future__ import annotations

import re
import shlex
import threading
import warnings
from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import OperationalError

from ragauge.core.errors import StoreError
from ragauge.store.database import Database
from ragauge.store.sqlite import COPY_STORE_HINT, copy_store, get_path

VERSIONS: tuple[str, ...] = ("2",)  # oldest first
HEAD = VERSIONS[-1]
UNRELEASED_VERSIONS = re.compile("00(0[1-9]|[12][0-9]|30)|1")  # of commits before the first release
TABLE = "ragauge_version"
FOLDER = Path(__file__).parent
_ALEMBIC = threading.Lock()  # Alembic keeps its context in module variables


def upgrade(database: Database, *, copy_first: bool = True) -> bool:
    """Brings the store to the newest version; True when there was something to do.

    One that holds anything is copied to NAME.before-VERSION in its folder first, and a warning reports it. The whole
    upgrade is one write transaction: a second process that opens the same new file waits for it and finds it done; a
    crash leaves the store as it was.

    Raises:
        StoreError: the store is newer than this program, was written before the first release, is another program's
            database, or is older and read-only.
    """
    with database.read() as connection:
        version = HEAD if _is_newest(connection) else version_of(connection, database.url)
    if version == HEAD:
        return False
    if database.access != "write":
        state = "has no tables yet" if version is None else f"was written by an older ragauge (version {version})"
        raise StoreError(
            f"the store {database.url} {state} and cannot be upgraded to version {HEAD}: its file or folder is "
            f"read-only. {COPY_STORE_HINT}"
        )
    with _ALEMBIC, database.write() as connection:
        version = version_of(connection, database.url)
        if version == HEAD:
            return False
        if version is not None and copy_first:
            _copy_beside(database.url, version)
        _run(connection)
    return True


def _copy_beside(url: str, version: str) -> None:
    """Saves the store as it is; the writer who upgrades it is alone."""
    path = get_path(url)
    copy = path.with_name(f"{path.name}.before-{HEAD}")
    copy_store(url, copy)
    warnings.warn(
        f"the store {path} was written by an older ragauge. It is upgraded from version {version} to {HEAD}; a copy of "
        f"it as it was is in {copy.name}.",
        UserWarning,
        stacklevel=2,
    )


def _is_newest(connection: Connection) -> bool:
    """Whether the store is of this program's version, as nearly all that are opened."""
    try:
        return bool(connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar() == HEAD)  # noqa: S608 - a constant
    except OperationalError:  # no such table: a new store, or no store
        return False


def version_of(connection: Connection, url: str) -> str | None:
    """The store's version; None for an empty database."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return None
    if TABLE not in tables:
        raise StoreError(f"{url} is another program's database. Choose another file with --store.")
    version: str | None = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar()  # noqa: S608 - a constant
    if version is not None and UNRELEASED_VERSIONS.fullmatch(version):
        path = get_path(url)
        carried = path.with_name(f"{path.stem}.carried{path.suffix}")
        carry = shlex.join(("python", "tools/carry_store.py", str(path), str(carried)))
        raise StoreError(
            f"the store {path} was written before the first release of ragauge: its version is {version}, expected "
            f"{HEAD}. To keep what it holds, carry it over into a new store, from the root of ragauge's source, and "
            f"name that with --store: {carry}"
        )
    if version not in VERSIONS:
        raise StoreError(
            f"the store {url} was written by a newer ragauge: its version is {version}, this ragauge reads versions up "
            f"to {HEAD}. Install the newer ragauge, or choose another store with --store."
        )
    return version


def _run(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes.update(connection=connection, version_table=TABLE)
    command.upgrade(config, "head")
