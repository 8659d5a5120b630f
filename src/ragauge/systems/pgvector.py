"""A PostgreSQL table with pgvector as a retriever.

What PostgreSQL's errors mean to someone who points at a table of vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import parse_qs, unquote, urlsplit

from ragauge.core.errors import MissingExtra, UnknownName, UsageError
from ragauge.core.object_lookup import load_object
from ragauge.core.response import Passage, Response
from ragauge.core.values import describe_value
from ragauge.systems.base import Kind, Question, System, SystemTrouble, check_setting_names
from ragauge.systems.response_parser import RETRIEVED_ONLY, parse_score, read_passages

# libpq gives no code where connecting fails, only words
REFUSED_PHRASES = ("authentication failed", "no password supplied", "pg_hba.conf", "permission denied")
NOT_FOUND_PHRASES = (
    "does not exist",
    "could not translate host name",
    "name or service not known",
    "failed to resolve host",
)
VECTOR_COLUMNS_SQL = """
    SELECT n.nspname || '.' || c.relname, a.attname
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE t.typname IN ('vector', 'halfvec', 'sparsevec') AND c.relkind IN ('r', 'm', 'v', 'p', 'f')
    ORDER BY 1, 2 LIMIT 10
"""
COLUMN_TYPES_SQL = """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = %s AND (n.nspname = %s OR %s = '') AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum LIMIT 40
"""
EXTENSION_SQL = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"


def classify_database_error(
    error: Exception,
    connect: Callable[[], Any] | None = None,
    table: str = "",
    columns: Mapping[str, str] | None = None,
) -> SystemTrouble:
    """The trouble that an error of psycopg is, with what there is in the database instead.

    Args:
        error: what psycopg raised.
        connect: gives a connection to look around with; None = there can be none.
        table: that was searched.
        columns: our name -> the table's.
    """
    kind, text = _classify_kind(error), _format_error(error)
    if kind not in ("not_found", "unreadable") or connect is None:
        return SystemTrouble(kind, text)
    description = _describe_database(connect, table, columns or {}, text)
    return SystemTrouble(kind, f"{text}{description}")


def _classify_kind(error: Exception) -> Kind:
    import psycopg

    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, psycopg.OperationalError):
        text = str(error).lower()
        if state == "57014":  # statement_timeout
            return "timeout"
        if any(words in text for words in REFUSED_PHRASES):
            return "auth"
        return "not_found" if any(words in text for words in NOT_FOUND_PHRASES) else "connection"
    if state in ("28000", "28P01", "42501"):
        return "auth"
    if state[:2] in ("42", "3F"):  # a table, column, operator or schema that is not there
        return "not_found"
    return "unreadable" if state[:2] == "22" else "exception"  # 22: the vector or a value does not fit the column


def _format_error(error: Exception) -> str:
    """Its first line; of several addresses that were tried, what the last said."""
    lines = [line.strip("- \t") for line in str(error).strip().splitlines()]
    attempts = [line for line in lines if line.startswith("host:")]
    return ": ".join([type(error).__name__, *(attempts[-1:] or lines[:1])])


def _describe_database(connect: Callable[[], Any], table: str, columns: Mapping[str, str], text: str) -> str:
    """What is there, in words; "" where the database does not say."""
    import psycopg

    schema, _, name = table.rpartition(".")
    try:
        with connect() as connection:
            version = connection.execute(EXTENSION_SQL).fetchone()
            existing = connection.execute(COLUMN_TYPES_SQL, [name, schema, schema]).fetchall()
            vectors = connection.execute(VECTOR_COLUMNS_SQL).fetchall()
    except (psycopg.Error, SystemTrouble):
        return ""
    if version is None:
        return ". The database has no pgvector: run CREATE EXTENSION vector in it"
    if "<+>" in text and tuple(map(int, version[0].split(".")[:2])) < (0, 7):
        return f". The metric l1 needs pgvector 0.7, this database has {version[0]}"
    if not existing:
        listing = ", ".join(f"{table_name} (column {column})" for table_name, column in vectors) or "none"
        return f". Tables with vectors here: {listing}"
    listing = ", ".join(f"{column} {kind}" for column, kind in existing)
    requested = ", ".join(f"{ours}: {theirs}" for ours, theirs in columns.items() if theirs)
    return f". {table} has {listing}; requested: {requested}"


SCHEMES = ("postgresql://", "postgres://")
SETTINGS = ("name", "config", "table", "columns", "metric", "k", "embed", "where")
Metric = Literal["cosine", "l2", "l1", "inner_product"]
# `<#>` is the negative inner product: negated, it is the product itself
OPERATORS: Mapping[Metric, tuple[str, str]] = {
    "cosine": ("<=>", "negated cosine distance"),
    "l2": ("<->", "negated L2 distance"),
    "l1": ("<+>", "negated L1 distance"),
    "inner_product": ("<#>", "inner product"),
}
COLUMNS = {"passage_id": "id", "doc_id": "", "text": "text", "embedding": "embedding"}


@dataclass(frozen=True, slots=True)
class VectorTable:
    """A table of passages with their vectors.

    Raises:
        UnknownName: another column.
    """

    name: str  #: with its schema where that is not on the search path: schema.table.
    #: passage_id (default "id"), doc_id (none: the passage is the document), text ("text"; "" = there is none),
    #: embedding ("embedding") -> what the table calls it.
    columns: Mapping[str, str] = field(default_factory=dict)
    #: column -> value that a row must have; None = there is none in it.
    where: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in self.columns:
            if column not in COLUMNS:
                raise UnknownName("column of pgvector", column, COLUMNS)


class PgvectorRetriever(System):
    """Finds the rows of a table whose vectors are nearest to the question's; there are passages and no answer.

    A score is the distance negated, so that higher is better; `config["score"]` says which. Connections are kept for
    the next question and closed at the end.

    Args:
        url: postgresql://user:password@host/database.
        table: a table, or the name of one with the usual columns.
        embed: text -> vector, by the model that made the table's vectors.
        metric: cosine, l2, l1 or inner_product.
        k: how many passages.
        name: of the system; by default the URL without user and password, and the table.
        config: its settings, for the record.

    Raises:
        MissingExtra: psycopg is not installed.
        UnknownName: another metric.
        UsageError: k below 1.
    """

    implement = "a class with retrieve(query) and generate(query, passages): a table does not generate answers"

    def __init__(
        self,
        url: str,
        table: str | VectorTable,
        embed: Callable[[str], Any],
        *,
        metric: Metric = "cosine",
        k: int = 10,
        name: str = "",
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if metric not in OPERATORS:
            raise UnknownName("metric of pgvector", str(metric), get_args(Metric))
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise UsageError(f"pgvector: k must be an integer of at least 1, got {k!r}.")
        table = VectorTable(table) if isinstance(table, str) else table
        self._columns, where = {**COLUMNS, **table.columns}, table.where
        settings = {
            "table": table.name,
            "columns": self._columns,
            "metric": metric,
            "k": k,
            "score": OPERATORS[metric][1],
        }
        filters = {"where": dict(where)} if where else {}
        super().__init__(name or f"{_strip_credentials(url)} {table.name}", {**(config or {}), **settings, **filters})
        self.secrets = _find_secrets(url)
        self._url, self._embed, self._table = url, embed, table.name
        self._query = _build_query(table.name, self._columns, OPERATORS[metric][0], where)
        self._values = [*(value for value in where.values() if value is not None), k]
        self._idle: list[Any] = []

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The nearest passages to a question; see `System.respond`."""
        if passages is not None:
            self.check_variant("replayed")
        rows = await self._threads.call_in_thread(lambda: self._search_rows(question.query))
        # a row without a vector is near to nothing
        near = [self._build_item(row) for row in rows if row[-1] is not None]
        nearest, missing = read_passages(near)
        return Response(question.query_id, question.repeat, nearest, missing={**RETRIEVED_ONLY, **missing})

    async def close(self) -> None:
        """Closes the connections, and ends the idle threads."""
        while self._idle:
            self._idle.pop().close()
        await super().close()

    def _search_rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows, by a connection that nobody else uses meanwhile."""
        import psycopg

        vector = _format_vector(self._embed(query))
        while True:
            idle = self._take_idle_connection()
            connection = idle or self._open_connection()
            try:
                rows: list[tuple[Any, ...]] = connection.execute(self._query, [vector, *self._values]).fetchall()
            except psycopg.Error as error:
                if idle is not None and idle.broken:  # lost since the last question: no fault of this one
                    continue
                connection.close()
                raise classify_database_error(error, self._open_connection, self._table, self._columns) from error
            self._idle.append(connection)
            return rows

    def _take_idle_connection(self) -> Any:
        """A connection that waits for a question; None where there is none."""
        try:
            return self._idle.pop()
        except IndexError:  # another thread was quicker than a look at the length
            return None

    def _open_connection(self) -> Any:
        import psycopg

        try:  # prepared statements do not outlive a transaction behind a pooler such as PgBouncer
            return psycopg.connect(self._url, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise classify_database_error(error) from error

    def _build_item(self, row: tuple[Any, ...]) -> dict[str, Any]:
        passage_id, doc_id, text, distance = row
        return {
            "passage_id": str(passage_id),
            "doc_id": str(passage_id if doc_id is None else doc_id),
            "text": text,
            "score": None
            if (score := parse_score(distance)) is None
            else -score + 0.0,  # of a distance of 0: 0, not -0
        }


def _build_query(table: str, columns: Mapping[str, str], operator: str, where: Mapping[str, Any]) -> Any:
    """The statement, every name quoted; its parameters are the vector, the values of `where`, and k."""
    try:
        from psycopg import sql
    except ImportError as error:
        raise MissingExtra("Retrieval with pgvector", "psycopg", "postgres") from error

    def quote_column(name: str) -> Any:
        return sql.Identifier(name) if name else sql.NULL

    columns_shown = [quote_column(columns[name]) for name in ("passage_id", "doc_id", "text")]
    # the vector goes without a type, so that it takes the column's: vector, halfvec or sparsevec
    distance = sql.SQL("{} " + operator + " %s").format(quote_column(columns["embedding"]))
    conditions = [
        sql.SQL("{} IS NULL" if value is None else "{} = %s").format(quote_column(name))
        for name, value in where.items()
    ]
    clauses = [
        sql.SQL("SELECT {}, {} AS distance FROM {}").format(
            sql.SQL(", ").join(columns_shown), distance, sql.Identifier(*table.split("."))
        ),
        *([sql.SQL("WHERE ") + sql.SQL(" AND ").join(conditions)] if conditions else []),
        sql.SQL("ORDER BY distance LIMIT %s"),
    ]
    return sql.SQL(" ").join(clauses)


def _strip_credentials(url: str) -> str:
    """The URL without who connects.

    >>> _strip_credentials("postgresql://me:secret@db.example:5432/docs?sslmode=require")
    'postgresql://db.example:5432/docs'
    """
    url_parts = urlsplit(url)
    return f"{url_parts.scheme}://{url_parts.netloc.rpartition('@')[2]}{url_parts.path}"


def _find_secrets(url: str) -> tuple[str, ...]:
    url_parts = urlsplit(url)
    passwords = [url_parts.password, *parse_qs(url_parts.query).get("password", [])]
    return tuple(
        dict.fromkeys(secret for password in passwords if password for secret in (password, unquote(password)))
    )


def _format_vector(values: Any) -> str:
    """What `embed` returned, as pgvector reads it: a list, tuple or array of numbers."""
    try:
        return "[" + ",".join(str(float(value)) for value in values) + "]"
    except (TypeError, ValueError):
        hint = "Return one vector for one text: a list, tuple or array of numbers."
        raise SystemTrouble("unreadable", f"embed returned {describe_value(values)}. {hint}") from None


def adapt(target: str, name: str, settings: Mapping[str, Any]) -> System:
    """The retriever of a URL; see `PgvectorRetriever`.

    Raises:
        UsageError: a setting that is not known, or without table or embed.
    """
    check_setting_names(settings, SETTINGS, "pgvector")
    for needed in ("table", "embed"):
        if not settings.get(needed):
            raise UsageError(
                f"{_strip_credentials(name)} needs the setting {needed}. Set it in the --system-config file, such as "
                "table: chunks, embed: my_app:embed (a function from text to vector, with the model that filled the "
                "table)."
            )
    embed = settings["embed"]
    recorded = {"embed": embed} if isinstance(embed, str) else {}
    return PgvectorRetriever(
        target,
        VectorTable(str(settings["table"]), settings.get("columns") or {}, settings.get("where") or {}),
        load_object(embed) if isinstance(embed, str) else embed,
        metric=settings.get("metric", "cosine"),
        k=settings.get("k", 10),
        name=str(settings.get("name") or ""),
        config={**recorded, **(settings.get("config") or {})},
    )
