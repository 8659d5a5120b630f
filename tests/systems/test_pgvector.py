"""pgvector as a retriever, over a real PostgreSQL with the extension."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.systems.one_index import K, embed_one, golden, nearest, one_response, pieces
from tests.systems.pgvector_server import NOWHERE, PASSWORD, Server, binaries, running
from tests.systems.retriever_contract import RetrieverContract

from ragauge.core.errors import MissingExtra, UnknownName, UsageError
from ragauge.core.response import Response
from ragauge.systems.base import Question, System, SystemTrouble
from ragauge.systems.pgvector import PgvectorRetriever
from ragauge.systems.system_lookup import find_system

QUESTION = "How do I pair a device?"
COLUMNS = {"doc_id": "doc", "text": "body", "embedding": "v"}
SETTINGS: Mapping[str, Any] = {
    "table": "kb.Chunks",
    "columns": COLUMNS,
    "k": K,
    "embed": embed_one,
    "where": {"lang": "en"},
}


def test_without_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 61: where psycopg is missing, the error names what needs it and the pip line."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"Retrieval with pgvector needs psycopg.*pip install .*\[postgres\]'"):
        find_system("postgresql://me:secret@db/docs", {"table": "chunks", "embed": embed_one})


def test_settings_are_checked() -> None:
    """Without table or embed, or with an unknown metric or column, the error says what there is; no password in it."""
    pytest.importorskip("psycopg")
    url = "postgresql://me:secret@db/docs"
    with pytest.raises(UsageError, match=r"^postgresql://db/docs needs the setting table") as missing:
        find_system(url)
    assert "secret" not in str(missing.value)
    with pytest.raises(UnknownName, match="nearest: cosine"):
        find_system(url, {"table": "chunks", "embed": embed_one, "metric": "cosin"})
    with pytest.raises(UnknownName, match="nearest: text"):
        find_system(url, {"table": "chunks", "embed": embed_one, "columns": {"texts": "body"}})
    with pytest.raises(UsageError, match="k must be an integer of at least 1"):
        find_system(url, {"table": "chunks", "embed": embed_one, "k": 0})


@pytest.mark.parametrize(
    "url", ["postgresql://me:a%2Fb-secret@db/docs", "postgresql://me@db/docs?password=a%2Fb-secret&sslmode=require"]
)
def test_password_is_a_secret(url: str) -> None:
    """A password is hidden as it is written and as it is meant, wherever in the URL it stands."""
    pytest.importorskip("psycopg")
    system = find_system(url, SETTINGS)
    assert "a/b-secret" in system.secrets
    assert "secret" not in f"{system.name} {system.config}"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL with the pieces in a table; skipped where there is no wheel of it."""
    pytest.importorskip("psycopg")
    found = binaries()
    if found is None:
        pytest.skip(NOWHERE)
    with running(found) as one:
        yield one


@pytest.mark.server
class TestCosine(RetrieverContract):
    """By cosine distance: 1 - cosine, negated."""

    metric = "cosine"

    @pytest.fixture
    def system(self, server: Server) -> System:
        return find_system(server.url, {**SETTINGS, "metric": self.metric})

    def score(self, cosine: float) -> float:
        return cosine - 1


@pytest.mark.server
class TestInnerProduct(TestCosine):
    """By inner product, which of vectors of length 1 is the cosine."""

    metric = "inner_product"

    def score(self, cosine: float) -> float:
        return cosine


@pytest.mark.server
class TestL2(TestCosine):
    """By L2 distance: |a - b|² = 2 - 2 cos(a, b) for vectors of length 1."""

    metric = "l2"

    def score(self, cosine: float) -> float:
        return -float((2 - 2 * cosine) ** 0.5)


@pytest.mark.server
def test_filter_keeps_rows(server: Server) -> None:
    """`where` keeps the rows with a value, or with none; without it the same text of another language is found too."""
    server.execute("INSERT INTO kb.\"Chunks\" SELECT 'n', 'n', body, v, NULL FROM kb.\"Chunks\" WHERE lang = 'de'")
    for where, ids in (({"lang": "de"}, {"x"}), ({"lang": None}, {"n"}), ({"lang": "fr"}, set())):
        found = one_response(find_system(server.url, {**SETTINGS, "where": where}), QUESTION)
        assert {one.doc_id for one in found.passages or ()} == ids
    every = one_response(find_system(server.url, {**SETTINGS, "where": {}, "k": 3}), QUESTION)
    assert len({one.doc_id for one in every.passages or ()}) == 3
    server.execute('DELETE FROM kb."Chunks" WHERE lang IS NULL')


@pytest.mark.server
def test_empty_table_and_rows_without_a_vector(server: Server) -> None:
    """An empty table is a search that found nothing; a row without a vector is not found."""
    server.execute("CREATE TABLE few (id int, text text, embedding vector(256))")
    system = PgvectorRetriever(server.url, "few", embed_one)
    assert one_response(system, QUESTION).passages == ()
    server.execute("INSERT INTO few VALUES (1, 'none', NULL), (2, 'some', %s)", [str(embed_one("some"))])
    (found,) = one_response(system, QUESTION).passages or ()
    assert (found.passage_id, found.doc_id, found.text) == ("2", "2", "some")


@pytest.mark.server
@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ({"table": "kb.Chunk"}, "not_found", r'Chunk" does not exist. Tables with vectors here: .*kb.Chunks \('),
        ({"columns": {}}, "not_found", r'"text" does not exist. kb.Chunks has id text, .*v vector\(256\).*text: text'),
        ({"where": {"language": "en"}}, "not_found", r'"language" does not exist. kb.Chunks has .*lang text'),
        ({"embed": lambda text: [1.0, 0.0]}, "unreadable", r"different vector dimensions 256 and 2. kb.Chunks has"),
        ({"embed": lambda text: [[1.0, 0.0]]}, "unreadable", "embed returned a list of 1. Return one vector"),
        ({"embed": lambda text: None}, "unreadable", "embed returned null. Return one vector"),
        ({"columns": {**COLUMNS, "embedding": "body"}}, "not_found", "operator does not exist: text <=>"),
    ],
)
def test_wrong_settings_say_what_there_is(server: Server, settings: dict[str, Any], kind: str, said: str) -> None:
    """A wrong table, column, filter, dimension or function is a trouble that ends a run, with what there is instead."""
    with pytest.raises(SystemTrouble, match=said) as caught:
        one_response(find_system(server.url, {**SETTINGS, **settings}), QUESTION)
    assert caught.value.kind == kind


@pytest.mark.server
def test_l1_needs_a_newer_pgvector(server: Server) -> None:
    """The L1 distance came with pgvector 0.7: where it is older, that is said; else the nearest comes first."""
    system = find_system(server.url, {**SETTINGS, "metric": "l1"})
    try:
        found = one_response(system, QUESTION)
    except SystemTrouble as trouble:
        assert "The metric l1 needs pgvector 0.7, this database has 0." in str(trouble)  # noqa: PT017 - one of two
    else:
        scored = [one.score or 0.0 for one in found.passages or ()]
        assert len(scored) == K
        assert scored == sorted(scored, reverse=True)


@pytest.mark.server
def test_database_without_the_extension(server: Server) -> None:
    """A database without pgvector is told to get it."""
    server.execute("CREATE TABLE t (id int, text text, embedding text)", database="bare")
    with pytest.raises(SystemTrouble, match="no pgvector: run CREATE EXTENSION vector"):
        one_response(PgvectorRetriever(server.url_of("bare"), "t", embed_one), QUESTION)


@pytest.mark.server
def test_who_is_not_let_in(server: Server) -> None:
    """A wrong password, a missing database and a server that is not there: each of its kind, and no password shown."""
    asked = {
        server.url_of("postgres", "wrong-secret"): ("auth", "password authentication failed"),
        server.url_of("nowhere", PASSWORD): ("not_found", 'database "nowhere" does not exist'),
        "postgresql://me:wrong-secret@127.0.0.1:1/x": ("connection", "refused"),
        "postgresql://me:wrong-secret@localhost:1/x": ("connection", "refused"),
        "postgresql://me:wrong-secret@no-such-host.invalid/x": ("not_found", "no-such-host"),
    }
    for url, (kind, said) in asked.items():
        with pytest.raises(SystemTrouble, match=said) as caught:
            one_response(PgvectorRetriever(url, "t", embed_one), QUESTION)
        assert caught.value.kind == kind
        assert not [word for word in ("wrong-secret", PASSWORD) if word in str(caught.value)]


@pytest.mark.server
def test_dropped_connections_cost_no_question(server: Server) -> None:
    """Connections that the server ends between two questions are opened again: every question has its passages."""
    system = find_system(server.url, SETTINGS)
    others = "pid <> pg_backend_pid() AND usename = 'postgres'"
    ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"  # noqa: S608 - our own words

    async def two_rounds() -> list[Response]:
        found = []
        try:
            for _ in range(2):
                asked = [Question(one.query_id, one.query) for one in golden().examples[:8]]
                found += await asyncio.gather(*map(system.respond, asked))
                server.execute(ended)
        finally:
            await system.close()
        return found

    found = asyncio.run(two_rounds())
    best = [nearest(one.query)[0][0].passage_id for one in golden().examples[:8]]
    assert [one.passages[0].passage_id for one in found if one.passages] == [*best, *best]


@pytest.mark.prove
@pytest.mark.server
def test_run_and_evaluate_from_the_command_line(server: Server, tmp_path: Path) -> None:
    """`ragauge run postgresql://… --evaluate` with the settings in a file: recall is scored, no password is stored."""
    (tmp_path / "my_embed.py").write_text(
        "from ragauge.models.embedders.base import WordLlamaEmbedder\nmodel = WordLlamaEmbedder()\n"
        "def embed(text):\n    return model.embed([text])[0]\n"
    )
    columns = "columns: {doc_id: doc, text: body, embedding: v}"
    (tmp_path / "pg.yaml").write_text(f"system:\n  table: kb.Chunks\n  embed: my_embed:embed\n  {columns}\n  k: 5\n")
    lines = [
        {"query_id": f"q{n}", "query": one.text, "relevant": {one.doc_id: 1}} for n, one in enumerate(pieces()[:6])
    ]
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ["run", server.url, "golden.jsonl", "--system-config", "pg.yaml", "--evaluate", "-m", "recall@5", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "ragauge", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["evaluation"]["metrics"]["recall@5"]["mean"] == 1.0
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert PASSWORD not in done.stdout + done.stderr
    assert PASSWORD.encode() not in stored
