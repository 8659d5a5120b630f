"""Embedders behind an API: vectors, batches, checks, troubles, and what an evaluation pays for them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.model_rows import rows
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import JudgeError, UnknownName
from ragauge.judges.model.judge import ModelJudge
from ragauge.models.build import build_embedder
from ragauge.models.embedders import base
from ragauge.models.model import CallError
from ragauge.store.store_access import open_store

METRIC = "answer_relevance:method=questions"


def texts(*found: str) -> Ask:
    """An ask for the vectors of some texts."""
    return Ask("embed", "guess_questions", 1, tuple(("text", one) for one in found))


def embedded(server: FaultyServer, *asks: Ask) -> list[Reply]:
    """The replies of one embedder at the server."""

    async def main() -> list[Reply]:
        model = build_embedder(ModelName("openai", "small", server.url))
        try:
            return [await model.reply(ask, 5.0) for ask in asks]
        finally:
            await model.close()

    return asyncio.run(main())


@pytest.mark.server
def test_one_row_a_text() -> None:
    """Rows come in the order of the texts, equal for equal texts, zeros for a blank one, which is not sent."""
    with FaultyServer() as server:
        (reply,) = embedded(server, texts("a cat", " ", "a dog", "a cat"))
        assert server.requests[0].body["input"] == ["a cat", "a dog", "a cat"]
    assert reply.status == "ok"
    assert reply.vectors.shape == (4, 16)
    assert np.array_equal(reply.vectors[0], reply.vectors[3])
    assert not reply.vectors[1].any()
    assert (reply.served, reply.usage and reply.usage.input_tokens) == ("small-served", 6)


@pytest.mark.server
def test_many_texts_go_out_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """More texts than a request takes are asked for in several, and come back as one reply in order."""
    monkeypatch.setattr(base, "MAX_TEXTS", 10)
    names = [f"text {n}" for n in range(25)]
    with FaultyServer() as server:
        (whole,) = embedded(server, texts(*names))
        assert [len(request.body["input"]) for request in server.requests] == [10, 10, 5]
        (last,) = embedded(server, texts(names[24]))
    assert np.array_equal(whole.vectors[24], last.vectors[0])


@pytest.mark.server
@pytest.mark.parametrize(
    ("fault", "trouble", "told"),
    [
        ("missing", "server", "expected 4 vectors of one length, got 2 of 16 numbers"),
        ("wrong_types", "server", "got 4 of 15 and 16 numbers"),
        ("rate_limited", "rate_limited", "Rate limit"),
        ("server", "server", ""),
        ("overloaded", "server", ""),
        ("too_long", "too_long", "maximum context length"),
        ("garbage", "server", ""),
        ("broken_connection", "connection", ""),
        ("filtered_prompt", "refused", "content filter"),
    ],
)
def test_troubles(fault: str, trouble: str, told: str) -> None:
    """Whatever goes wrong is a trouble as of any model; vectors that do not fit are never a reply."""
    with FaultyServer({fault: 1.0}) as server, pytest.raises(CallError) as caught:
        embedded(server, texts("a", "b", "c", "d"))
    assert caught.value.trouble == trouble
    assert told in str(caught.value)
    if fault == "rate_limited":
        assert caught.value.retry_after == pytest.approx(0.05)


@pytest.mark.server
def test_vectors_keep_their_length() -> None:
    """A place that changes the length of its vectors in the middle is told of; they are not compared."""

    async def main(server: FaultyServer) -> None:
        model = build_embedder(ModelName("openai", "small", server.url))
        await model.reply(texts("a"), 5.0)
        server.faults = {"wrong_types": 1.0}
        with pytest.raises(CallError, match="of 16 numbers, as before, got 2 of 15 and 16"):
            await model.reply(texts("b", "c"), 5.0)
        await model.close()

    with FaultyServer() as server:
        asyncio.run(main(server))


def test_what_is_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider without embeddings is named with those that have them; without a key the variable is named."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(JudgeError, match="Set OPENAI_API_KEY; or use your own server: openai:small@"):
        build_embedder(ModelName("openai", "small"))
    with pytest.raises(UnknownName, match="provider of embeddings 'anthropic'"):
        build_embedder(ModelName("anthropic", "any"))
    with pytest.raises(UnknownName, match="embed=openai:MODEL"):
        ModelJudge.of("openai:gpt-4.1-mini,embed=cohere:v3")


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The URL of a store that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


def relevance(server: FaultyServer, store: str, embed: str, **more: Any) -> Any:
    """Answer relevance by questions, of eight rows."""
    judge = f"openai-chat:any@{server.url},embed={embed}"
    return rg.evaluate(rows(8), judge=judge, metrics=METRIC, store=store, name="m", timeout=60.0, **more)


@pytest.mark.server
def test_an_evaluation_pays_once_for_vectors(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are calls like any other: priced, kept, free the next time; another embedder asks for vectors only."""
    with FaultyServer() as server:
        small, large = f"openai:small@{server.url}", f"openai-chat:large@{server.url}"
        prices = {f"openai-chat:any@{server.url}": 1.0, small: 0.5, large: 0.5}
        path = tmp_path / "prices.yaml"
        path.write_text(json.dumps({name: {"input": one, "output": one} for name, one in prices.items()}))
        monkeypatch.setenv("RAGAUGE_PRICES", str(path))
        card = relevance(server, store, small, max_cost=1.0)
        paths = Counter(request.path for request in server.requests)
        assert paths == {"/v1/chat/completions": 16, "/v1/embeddings": 8}
        assert card[METRIC].scored == 8
        again = relevance(server, store, small)
        assert len(server.requests) == 24
        assert again[METRIC].mean == card[METRIC].mean
        relevance(server, store, large)
        # questions guessed before are read from the store; only the vectors are another's
        assert Counter(request.path for request in server.requests[24:]) == {"/v1/embeddings": 8}
        local = relevance(server, store, "local")
        assert len(server.requests) == 32
    assert local[METRIC].mean != card[METRIC].mean
    with open_store(store) as opened:
        spent = {(str(one.model), one.question): one.paid for one in opened.calls.spent()}
        kept = [line for line in opened.replies.iter_lines() if line["ask"]["kind"] == "embed"]
    assert spent[small, "guess_questions"].calls == 8
    assert (spent[small, "guess_questions"].cost or 0) > 0
    assert len(kept) == 16
    assert all(len(line["reply"]["vectors"]) == 4 for line in kept)


@pytest.mark.server
def test_vectors_that_cannot_be_had_fail_their_examples(store: str) -> None:
    """Half of all calls met by faults: what failed is failed with its reason or had on trying again, never 0."""
    with FaultyServer({"server": 0.2, "rate_limited": 0.2, "missing": 0.1}, once=True, seed=2) as server:
        card = relevance(server, store, f"openai:small@{server.url}")
        assert server.met["server"] + server.met["rate_limited"] > 0
    found = card[METRIC]
    assert found.scored + found.failed == 8
    with FaultyServer() as plain:
        whole = relevance(plain, f"{store}2", f"openai:small@{plain.url}")
    assert found.scored == 8
    assert found.mean == pytest.approx(whole[METRIC].mean)


@pytest.mark.server
def test_the_hybrid_judge_keeps_its_local_vectors(store: str) -> None:
    """A hybrid judge asks the remote embedder for guessed questions only: its local half is calibrated with its own."""
    with FaultyServer() as server:
        judge = f"hybrid:openai-chat:any@{server.url},embed=openai:small@{server.url}"
        rg.evaluate(rows(4), judge=judge, metrics=f"faithfulness,{METRIC}", store=store, name="m", timeout=60.0)
        asked = [request.body["input"] for request in server.requests if request.path.endswith("/embeddings")]
    assert [len(found) for found in asked] == [4] * 4


@pytest.mark.server
def test_similarity_takes_vectors_only(store: str) -> None:
    """Semantic similarity is a cosine by the judge's embedder: one call an answer to it, none to the chat model."""
    given: Any = {"metrics": "semantic_similarity", "store": store, "name": "m"}
    with FaultyServer() as server:
        judge = f"openai-chat:any@{server.url},embed=openai:small@{server.url}"
        planned = rg.evaluate(rows(6), judge=judge, timeout=60.0, **given)["semantic_similarity"]
        assert Counter(request.path for request in server.requests) == {"/v1/embeddings": 6}
        assert {tuple(request.body["input"]) for request in server.requests} == {
            (row["answer"], row["reference_answer"]) for row in rows(6)
        }
        (one, other) = embedded(server, texts(rows(1)[0]["answer"]), texts(rows(1)[0]["reference_answer"]))
        alone = rg.evaluate(rows(1), judge=judge, timeout=60.0, **(given | {"name": "n"}))["semantic_similarity"]
    a, b = one.vectors[0].astype(float), other.vectors[0].astype(float)
    assert alone.mean == pytest.approx(float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b)), abs=1e-5)
    local = rg.evaluate(rows(6), judge="local", **given)["semantic_similarity"]
    assert (planned.scored, local.scored) == (6, 6)
    assert planned.mean != local.mean
    with FaultyServer() as server:
        plain = rg.evaluate(rows(6), judge=f"openai-chat:any@{server.url}", **given)["semantic_similarity"]
        assert server.requests == []
    assert plain.mean == local.mean  # the embedder in the package


@pytest.mark.server
def test_a_dry_run_counts_calls_for_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a dry run says is what is then called: guessed questions, their vectors, and those of similarity."""
    import ragauge.evaluation.evaluate.verb as verbs
    from ragauge.verbs.coroutines import run_coroutine
    from ragauge.verbs.evaluate_options import EvaluateOptions

    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(5)))
    with FaultyServer() as server:
        judge = f"openai-chat:any@{server.url},embed=openai:small@{server.url}"
        wanted = EvaluateOptions(
            str(path), metrics=(METRIC, "semantic_similarity"), judge=judge, store="sqlite:///s.db"
        )
        planned = run_coroutine(lambda: verbs.preview_evaluation(wanted))
        assert server.requests == []
        run_coroutine(lambda: verbs.evaluate_source(wanted))
        assert planned["calls"] == len(server.requests) == 4 * 5
        assert run_coroutine(lambda: verbs.preview_evaluation(wanted))["calls"] == 0


def googled(server: FaultyServer, *asks: Ask) -> list[Reply]:
    """The replies of Google's embedder at the server."""
    pytest.importorskip("google.genai")

    async def main() -> list[Reply]:
        model = build_embedder(ModelName("google", "gemini-embedding-001", server.url.removesuffix("/v1")))
        try:
            return [await model.reply(ask, 5.0) for ask in asks]
        finally:
            await model.close()

    return asyncio.run(main())


@pytest.mark.server
def test_google_gives_one_row_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's embedder gives the rows of any other, at most a hundred texts a request; it says no tokens."""
    monkeypatch.setenv("GOOGLE_API_KEY", "AIzaSyA0123456789abcdefghijklmnop")
    with FaultyServer() as server:
        (found,) = googled(server, texts(*[f"text {n}" for n in range(230)], " "))
        assert [len(request.body["requests"]) for request in server.requests] == [100, 100, 30]
        (same,) = embedded(server, texts(*[f"text {n}" for n in range(230)], " "))
    assert np.array_equal(found.vectors, same.vectors)
    assert found.usage is None


@pytest.mark.server
@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("rate_limited", "rate_limited"),
        ("server", "server"),
        ("garbage", "server"),
        ("missing", "server"),
        ("broken_connection", "connection"),
        ("too_long", "too_long"),
    ],
)
def test_troubles_of_googles_embedder(fault: str, trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to fail has the name that it has elsewhere; a minute's limit says how long to wait."""
    monkeypatch.setenv("GOOGLE_API_KEY", "AIzaSyA0123456789abcdefghijklmnop")
    with FaultyServer({fault: 1.0}) as server, pytest.raises(CallError) as caught:
        googled(server, texts("a cat", "a dog"))
    assert caught.value.trouble == trouble
    assert (caught.value.retry_after is not None) == (trouble == "rate_limited")


def test_googles_embedder_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key the message names the variable, before anything is called; a judge's spec may name it."""
    pytest.importorskip("google.genai")
    for variable in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    judge = ModelJudge.of("openai:any,embed=google:gemini-embedding-001")
    name = judge.embedder_of(texts("a"))
    assert name is not None
    assert name == ModelName("google", "gemini-embedding-001")
    with pytest.raises(JudgeError, match="GOOGLE_API_KEY"):
        build_embedder(name)
