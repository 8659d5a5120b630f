"""pgvector as a retriever, over a real PostgreSQL with the extension."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.systems.one_index import embed_one, golden, nearest, one_response, pieces, vectors

from ragauge.errors import MissingExtra, UnknownName, UsageError
from ragauge.systems.naming import system_of
from ragauge.systems.pgvector import PgvectorRetriever
from ragauge.systems.troubles import SystemTrouble

QUESTION = "How do I pair a device?"


def test_without_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 61: where psycopg is missing, the error names what needs it and the pip line."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"Retrieval with pgvector needs psycopg.*pip install 'ragauge\[postgres\]'"):
        system_of("postgresql://me:secret@db/docs", {"table": "chunks", "embed": embed_one})


def test_settings_are_checked() -> None:
    """Without table or embed, or with an unknown metric or column, the error says what there is; no password in it."""
    url = "postgresql://me:secret@db/docs"
    with pytest.raises(UsageError, match=r"^postgresql://db/docs needs the setting table") as missing:
        system_of(url)
    assert "secret" not in str(missing.value)
    with pytest.raises(UnknownName, match="nearest: cosine"):
        system_of(url, {"table": "chunks", "embed": embed_one, "metric": "cosin"})
    with pytest.raises(UnknownName, match="nearest: text"):
        system_of(url, {"table": "chunks", "embed": embed_one, "columns": {"texts": "body"}})
    with pytest.raises(UsageError, match="k must be an integer of at least 1"):
        system_of(url, {"table": "chunks", "embed": embed_one, "k": 0})


def _binaries() -> Path | None:
    named = os.environ.get("RAGAUGE_TEST_POSTGRES_BIN")
    config = shutil.which("pg_config")
    if named is None and config is not None:
        named = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(named) if named and Path(named, "initdb").exists() else None


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A PostgreSQL of its own with the pieces in a table; skipped where there is no server or no extension."""
    psycopg = pytest.importorskip("psycopg")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server on this machine")
    folder = Path(tempfile.mkdtemp(prefix="ragauge-postgres-"))     # pytest's own folders are closed to other users
    other: dict[str, Any] = {}
    if os.geteuid() == 0:     # PostgreSQL does not run as root
        other = {"user": "nobody"}
        shutil.chown(folder, "nobody")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"

    def command(*words: str) -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder, **other)

    command(f"{binaries}/initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "--no-sync")
    command(f"{binaries}/pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        address = f"postgresql://postgres:secret@127.0.0.1:{port}/postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            try:
                connection.execute("CREATE EXTENSION vector")
            except psycopg.Error as error:
                pytest.skip(f"PostgreSQL without pgvector: {str(error).splitlines()[0]}")
            _fill(connection)
        yield address
    finally:
        command(f"{binaries}/pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _fill(connection: Any) -> None:
    connection.execute("CREATE SCHEMA kb")
    connection.execute('CREATE TABLE kb."Chunks" (id text, doc text, body text, v vector(256), lang text)')
    for one, vector in zip(pieces(), vectors(), strict=True):
        values = (one.passage_id, one.doc_id, one.text, str(vector), "en")
        connection.execute('INSERT INTO kb."Chunks" VALUES (%s, %s, %s, %s, %s)', values)
    connection.execute('INSERT INTO kb."Chunks" SELECT \'x\', \'x\', body, v, \'de\' FROM kb."Chunks"')


SETTINGS = {
    "table": "kb.Chunks", "columns": {"doc_id": "doc", "text": "body", "embedding": "v"}, "k": 3, "embed": embed_one,
    "where": {"lang": "en"},
}  # fmt: skip


@pytest.mark.server
@pytest.mark.parametrize(
    ("metric", "shift", "score"),
    [
        ("cosine", -1.0, "negated cosine distance"),
        ("inner_product", 0.0, "inner product"),
        ("l2", None, "negated L2 distance"),
        ("l1", None, "negated L1 distance"),
    ],
)
def test_same_ranking_as_by_hand(url: str, metric: str, shift: float | None, score: str) -> None:
    """Over vectors of length 1 cosine, inner product and L2 rank alike, and the score is the distance negated."""
    system = system_of(url, {**SETTINGS, "metric": metric})
    assert (system.config["score"], system.secrets) == (score, ("secret",))
    assert "secret" not in f"{system.name} {system.config}"
    for example in golden().examples[:5]:
        expected = nearest(example.query, 3)
        found = one_response(system, example.query)
        assert found.passages is not None
        if metric != "l1":
            assert [one.passage_id for one in found.passages] == [one.passage_id for one, _ in expected]
            assert [one.doc_id for one in found.passages] == [one.doc_id for one, _ in expected]
        for one, (_, cosine) in zip(found.passages, expected, strict=True):
            if shift is not None:
                assert one.score == pytest.approx(cosine + shift, abs=1e-5)
            elif metric == "l2":     # |a - b|² = 2 - 2 cos(a, b) for vectors of length 1
                assert one.score == pytest.approx(-((2 - 2 * cosine) ** 0.5), abs=1e-5)
        assert [one.score for one in found.passages] == sorted((one.score or 0 for one in found.passages), reverse=True)
        assert (found.answer, found.missing) == (None, {"answer": "retrieval only"})


@pytest.mark.server
def test_what_is_wrong_is_said(url: str) -> None:
    """A column that is not there, and a server that is not there, are troubles of their kind."""
    with pytest.raises(SystemTrouble, match=r"column \"text\" does not exist.*passage_id: id") as missing:
        one_response(PgvectorRetriever(url, "kb.Chunks", embed_one), QUESTION)
    assert missing.value.kind == "not_found"
    with pytest.raises(SystemTrouble) as nobody:
        one_response(PgvectorRetriever("postgresql://me:secret@127.0.0.1:1/x", "t", embed_one), QUESTION)
    assert nobody.value.kind == "connection"
    assert "secret" not in str(nobody.value)
