"""pgvector as an index under test, in a real PostgreSQL with the extension."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.systems.pgvector_server import NOWHERE, PASSWORD, Server, binaries, running

import ragauge as rg
from ragauge.core.errors import UnknownName, UsageError
from ragauge.studies.ann.index import format_name, make_index, parse_grid
from ragauge.studies.ann.pgvector_index import DSN, SCHEMA_PREFIX, PgvectorIndex

pytest.importorskip("psycopg", reason="the client of PostgreSQL is an extra: postgres")
RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((2_000, 24), dtype=np.float32)
QUERIES = RNG.standard_normal((40, 24), dtype=np.float32)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with pgvector, in this process's environment."""
    found = binaries()
    if found is None:
        pytest.skip(NOWHERE)  # which says why: no PostgreSQL with pgvector on this machine
    with running(found) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(DSN, server.url)
        yield server


def left(server: Server) -> list[str]:
    """The schemas of indexes that the server still has."""
    import psycopg

    with psycopg.connect(server.url) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", [SCHEMA_PREFIX])
        return [row[0] for row in rows.fetchall()]


@pytest.mark.server
@pytest.mark.parametrize("metric", ["cosine", "l2", "ip"])
def test_all_lists_find_exactly_what_is_nearest(server: Server, metric: Any, tmp_path: Path) -> None:
    """Searching every list finds the truth by each metric, a graph most of it; nothing is left in the server."""
    specs = ["pgvector:lists=10:probes=1,10", "pgvector:m=8:ef_search=200"]
    store = f"sqlite:///{tmp_path / 'store.db'}"
    found = rg.ann(VECTORS, specs, queries=QUERIES, metric=metric, store=store, rounds=1)
    few, whole, graph = (found.figures.mean(one.name) for one in found.study.trials)
    assert few is not None
    assert few.mean is not None
    assert whole is not None
    assert whole.mean == 1
    assert graph is not None
    assert graph.mean is not None
    assert few.mean < 0.8 < 0.9 < graph.mean
    assert all(one.find_measurement_value("index_bytes") for one in found.study.trials)
    assert PASSWORD not in found.to_json()
    assert left(server) == []


@pytest.mark.server
def test_a_filter_leaves_places_empty_unless_the_scan_goes_on(server: Server) -> None:
    """Of 10 % that pass, pgvector's defaults fill under .6 of the places; with an iterative scan at least .95."""
    passing = np.random.default_rng(1).random(len(VECTORS)) < 0.1
    index = make_index("pgvector")
    index.build(VECTORS, "cosine")

    def filled(**settings: Any) -> float:
        index.set_search_params(ef_search=40, **settings)
        found = [index.search(query, 10, passing) for query in QUERIES]
        assert all(passing[one] for ids in found for one in ids)
        return float(np.mean([len(ids) / 10 for ids in found]))

    assert filled() < 0.6
    assert filled(iterative_scan="strict_order") >= 0.95
    assert filled(iterative_scan="relaxed_order") >= 0.95
    index.close()
    assert left(server) == []


@pytest.mark.server
def test_every_thread_has_a_connection_that_it_keeps(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three threads over all rounds and settings open three connections beside the first; memory is not told."""
    opened: list[int] = []
    close = PgvectorIndex.close

    def counted(index: PgvectorIndex) -> None:
        opened.append(len(index._opened))
        close(index)

    monkeypatch.setattr(PgvectorIndex, "close", counted)
    found = rg.ann(
        VECTORS[:500],
        "pgvector:m=4:ef_search=10,20,30",
        queries=QUERIES,
        threads=(1, 3),
        rounds=3,
        store=f"sqlite:///{tmp_path / 'store.db'}",
    )
    assert max(opened) == 4
    assert [one.state for one in found.study.trials] == ["complete"] * 3
    assert all(one.find_measurement_value("queries_per_second_at_3") for one in found.study.trials)
    assert {one.find_measurement_value("memory_bytes") for one in found.study.trials} == {None}
    assert left(server) == []


@pytest.mark.server
def test_what_a_killed_process_left_is_dropped_by_the_next(server: Server) -> None:
    """A schema whose lock nobody holds is dropped; that of a process that lives is not."""
    living, next_one = make_index("pgvector"), make_index("pgvector")
    living.build(VECTORS[:50], "l2")
    (mine,) = left(server)
    server.execute(f"CREATE SCHEMA {SCHEMA_PREFIX}0123456789ab")
    next_one.build(VECTORS[:50], "l2")
    assert mine in left(server)
    assert f"{SCHEMA_PREFIX}0123456789ab" not in left(server)
    for one in (living, next_one):
        one.close()
    assert left(server) == []


@pytest.mark.server
def test_without_server_or_extension_the_trial_says_what_to_do(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server, a database without pgvector and a value that pgvector does not take are reasons of failed trials."""

    def reason(spec: str) -> str:
        store = f"sqlite:///{tmp_path / 'store.db'}"
        return rg.ann(VECTORS[:99], spec, queries=QUERIES[:3], store=store, rounds=1, fresh=True).study.trials[0].reason

    told = reason("pgvector:M=16:dsn=postgresql://postgres@127.0.0.1:1/postgres")
    assert "cannot connect to PostgreSQL" in told
    assert f"set {DSN}, or set PGHOST" in told
    assert "ef_construction must be greater than or equal to 2 * m" in reason("pgvector:M=16:ef_construction=20")
    monkeypatch.setenv(DSN, server.url_of("bare"))
    told = reason("pgvector:M=9")
    assert "database bare at 127.0.0.1 has no vector extension. Run CREATE EXTENSION vector." in told
    monkeypatch.setenv(DSN, server.url_of("postgres", "wrong"))
    assert "password authentication failed" in reason("pgvector:M=9")
    assert left(server) == []


def test_a_server_is_named_last_and_without_its_password() -> None:
    """A URL keeps its colons, and a trial is called by its host; a password, another order or parameter is an error."""
    (trial,) = parse_grid("pgvector:M=8:dsn=postgresql://me@db.example:5433/docs")
    assert trial["dsn"] == "postgresql://me@db.example:5433/docs"
    assert ":dsn=db.example,5433/docs:" in format_name(trial)
    assert "dsn" not in format_name(parse_grid("pgvector:lists=7")[0])
    with pytest.raises(UsageError, match="dsn cannot contain a password"):
        make_index("pgvector").build(VECTORS, "l2", dsn="postgresql://me:secret@db.example/docs")
    with pytest.raises(UnknownName, match="probes"):
        parse_grid("pgvector:lists=9:probe=2")
    with pytest.raises(UnknownName, match="pgvector iterative_scan"):
        make_index("pgvector").set_search_params(iterative_scan="on")
