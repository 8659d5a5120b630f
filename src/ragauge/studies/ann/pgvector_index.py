"""pgvector: a graph or inverted lists in a PostgreSQL server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from ragauge.core.errors import DataError, MissingExtra, UnknownName, UsageError
from ragauge.studies.ann.index import AnnIndex

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Mask, VectorMetric, Vectors

DSN = "RAGAUGE_PG_DSN"
METRICS = {"cosine": ("vector_cosine_ops", "<=>"), "l2": ("vector_l2_ops", "<->"), "ip": ("vector_ip_ops", "<#>")}
SCHEMA_PREFIX = "ragauge_ann_"  # what it makes begins so
MIN_ITERATIVE_VERSION = (0, 8)  # the version that searches on where a filter leaves too few
BLOCK_ROWS = 4_096  # sent at a time
HEAD, END = b"PGCOPY\n\xff\r\n\x00" + bytes(8), b"\xff\xff"  # of a binary COPY


class PgvectorIndex(AnnIndex):
    """A graph of pgvector in a table of a schema of its own, which is dropped when the index is closed.

    The server is that of dsn, else of the environment: RAGAUGE_PG_DSN, or what every client of PostgreSQL reads
    (PGHOST, PGUSER, PGPASSWORD …). Sequential scans are off, so that the index is measured however few the rows.
    A filter is a condition on every row that the index returns, as it is on any column.
    """

    filters = True
    in_process = False
    defaults: ClassVar[Mapping[str, Any]] = {
        "M": 16,
        "ef_construction": 64,
        "ef_search": 40,
        "iterative_scan": "off",
        "dsn": "",
    }
    searched: ClassVar[tuple[str, ...]] = ("ef_search", "iterative_scan")
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {
        "M": (2, 100),
        "ef_construction": (4, 1_000),
        "ef_search": (1, 1_000),
    }
    orders: ClassVar[tuple[str, ...]] = ("off", "strict_order", "relaxed_order")
    method: ClassVar = "hnsw"

    def __init__(self) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("The pgvector index", "psycopg", "postgres") from None
        self._psycopg: Any = psycopg
        self._mine = local()  # a connection a thread
        self._opened: list[Any] = []
        self._schema, self._dsn, self._settings = "", "", ""
        self._masked: tuple[Any, bytes] = (None, b"")

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        self.close()
        settings = {**self.defaults, **parameters}
        self._dsn, self._settings = resolve_dsn(settings["dsn"]), ""
        operators, self._operator = METRICS[metric]
        with self._translate_errors():
            connection = self._get_connection()
            _drop_orphans(connection)
            self._schema = f"{SCHEMA_PREFIX}{uuid4().hex[:12]}"
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [self._schema])  # for as long as we live
            connection.execute(f"CREATE SCHEMA {self._schema}")
            width = vectors.shape[1]
            connection.execute(f"CREATE UNLOGGED TABLE {self._table_name} (id integer, embedding vector({width}))")
            with connection.cursor().copy(f"COPY {self._table_name} FROM STDIN (FORMAT binary)") as copy:
                for block in _encode_rows(vectors):
                    copy.write(block)
            connection.execute(
                f"CREATE INDEX nearest ON {self._table_name} USING {self.method} (embedding {operators}) "
                f"WITH ({self._format_build_options(settings)})"
            )
            connection.execute(f"ANALYZE {self._table_name}")

    def _format_build_options(self, settings: Mapping[str, Any]) -> str:
        return f"m = {int(settings['M'])}, ef_construction = {int(settings['ef_construction'])}"

    def _list_search_settings(self, settings: Mapping[str, Any]) -> list[str]:
        return [f"hnsw.ef_search = {int(settings['ef_search'])}"]

    @property
    def _table_name(self) -> str:
        return f"{self._schema}.vectors"

    def set_search_params(self, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        settings = {**self.defaults, **parameters}
        order, statements = str(settings["iterative_scan"]), self._list_search_settings(settings)
        if order not in self.orders:
            raise UnknownName("pgvector iterative_scan", order, self.orders)
        if self._version >= MIN_ITERATIVE_VERSION:
            statements.append(f"{self.method}.iterative_scan = {order}")
        elif order != "off":
            version_text = ".".join(map(str, self._version))
            raise UsageError(f"iterative_scan={order} needs pgvector 0.8, but this server has {version_text}.")
        self._settings = "; ".join(f"SET {statement}" for statement in statements)

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Any:  # noqa: D102 - as AnnIndex says
        thread_state = self._mine
        if getattr(thread_state, "settings", None) != self._settings:
            with self._translate_errors():
                self._get_connection().execute(self._settings)
            thread_state.settings = self._settings
        condition = "" if passing is None else "WHERE get_bit(%b, id) = 1 "
        nearest = f"ORDER BY embedding {self._operator} %b LIMIT {int(k)}"
        sql_query = f"SELECT id FROM {self._table_name} {condition}{nearest}"  # noqa: S608 - our own names
        values = [query] if passing is None else [self._pack_bits(passing), query]
        rows = thread_state.connection.execute(sql_query, values, prepare=True, binary=True).fetchall()
        return [row[0] for row in rows]

    def _pack_bits(self, passing: Mask) -> bytes:
        """A bit a row, as get_bit counts them; made once for all queries."""
        if self._masked[0] is not passing:
            import numpy as np

            self._masked = (passing, np.packbits(passing, bitorder="little").tobytes())
        return self._masked[1]

    def measure_size(self) -> int | None:  # noqa: D102 - as AnnIndex says
        row = self._get_connection().execute("SELECT pg_relation_size(%s::regclass)", [f"{self._schema}.nearest"])
        return int(row.fetchone()[0])

    def close(self) -> None:
        """Drops the table and its schema, and closes the connections; what is closed already stays so."""
        connections, schema = self._opened, self._schema
        self._opened, self._schema, self._mine = [], "", local()
        for n, connection in enumerate(connections):
            with closing(connection):
                if not n and schema and not connection.closed:
                    connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")

    def _get_connection(self) -> Any:
        """This thread's."""
        if getattr(self._mine, "connection", None) is None:
            connection = self._psycopg.connect(self._dsn, autocommit=True)
            self._opened.append(connection)
            self._version = _read_version(connection)
            connection.execute("SET enable_seqscan = off")
            connection.adapters.register_dumper("numpy.ndarray", _make_dumper(connection))
            self._mine.connection, self._mine.settings = connection, None
        return self._mine.connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """What PostgreSQL says, on one line, with what to do where no server answers."""
        try:
            yield
        except self._psycopg.Error as error:
            lines = [line.strip("- \t") for line in str(error).splitlines() if line.strip()]
            message = f"pgvector: {lines[-1] if lines else type(error).__name__}"
            if isinstance(error, self._psycopg.OperationalError) and error.sqlstate is None:
                hint = f"Put dsn=postgresql://host/database last, or set {DSN}, or set PGHOST, PGUSER and PGPASSWORD."
                raise DataError(f"cannot connect to PostgreSQL: {message}", hint=hint) from None
            raise DataError(message) from None


class PgvectorLists(PgvectorIndex):
    """Inverted lists of pgvector around as many centres, of which `probes` are searched."""

    defaults: ClassVar[Mapping[str, Any]] = {"lists": 100, "probes": 1, "iterative_scan": "off", "dsn": ""}
    searched: ClassVar[tuple[str, ...]] = ("probes", "iterative_scan")
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {"lists": (1, 32_768), "probes": (1, 32_768)}
    orders: ClassVar[tuple[str, ...]] = ("off", "relaxed_order")
    method: ClassVar = "ivfflat"

    def _format_build_options(self, settings: Mapping[str, Any]) -> str:
        return f"lists = {int(settings['lists'])}"

    def _list_search_settings(self, settings: Mapping[str, Any]) -> list[str]:
        return [f"ivfflat.probes = {int(settings['probes'])}"]


def resolve_dsn(dsn: str) -> str:
    """Where the server is: as given, else by RAGAUGE_PG_DSN, else "", which is what PGHOST and its like say.

    Raises:
        UsageError: a password is given, which would be kept with the trial.
    """
    if re.search(r"//[^/@]*:[^/@]*@|\bpassword\s*=", dsn):
        raise UsageError(
            f"pgvector: dsn cannot contain a password because it is stored. Use {DSN}, PGPASSWORD or ~/.pgpass."
        )
    return dsn or os.environ.get(DSN, "")


def _read_version(connection: Any) -> tuple[int, ...]:
    """Of the extension.

    Raises:
        DataError: the database has none.
    """
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    if row is None:
        database = f"database {connection.info.dbname} at {connection.info.host or 'a local socket'}"
        raise DataError(f"pgvector: {database} has no vector extension.", hint="Run CREATE EXTENSION vector.")
    return tuple(int(number_text) for number_text in row[0].split(".")[:2])


def _drop_orphans(connection: Any) -> None:
    """Drops what killed processes left: schemas whose lock nobody holds."""
    rows = connection.execute(
        "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", [SCHEMA_PREFIX]
    ).fetchall()
    for (name,) in rows:
        if connection.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [name]).fetchone()[0]:
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
            connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", [name])


def _encode_rows(vectors: Vectors) -> Iterator[bytes]:
    """Rows as a binary COPY takes them: two fields, an id and a vector of big-endian float32 behind its length."""
    import numpy as np

    n, width = vectors.shape
    row = np.dtype(
        [
            ("fields", ">i2"),
            ("id_bytes", ">i4"),
            ("id", ">i4"),
            ("bytes", ">i4"),
            ("width", ">i2"),
            ("unused", ">i2"),
            ("values", ">f4", (width,)),
        ]
    )
    yield HEAD
    for start in range(0, n, BLOCK_ROWS):
        block_vectors = vectors[start : start + BLOCK_ROWS]
        block = np.zeros(len(block_vectors), dtype=row)
        block["fields"], block["id_bytes"], block["bytes"], block["width"] = 2, 4, 4 + 4 * width, width
        block["id"], block["values"] = np.arange(start, start + len(block_vectors)), block_vectors
        yield block.tobytes()
    yield END


def _make_dumper(connection: Any) -> Any:
    """Sends an array as pgvector's own type, in binary."""
    from struct import pack

    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    (type_oid,) = connection.execute("SELECT 'vector'::regtype::oid").fetchone()

    class ArrayDumper(Dumper):  # type: ignore[misc]  # psycopg is not there for every check
        format = Format.BINARY
        oid = type_oid

        def dump(self, obj: Any) -> bytes:
            return pack(">hh", len(obj), 0) + bytes(obj.astype(">f4").tobytes())

    return ArrayDumper
