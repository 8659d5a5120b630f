"""Asks that begin alike: the first goes first, and the provider serves the others what it has read."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bench.judge_examples import examples
from tests.engine.test_providers import PROVIDERS
from tests.loopback.caching import PrefixCache
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.ask import Ask, ModelName
from ragauge.engine.prefixes import PrefixQueue
from ragauge.models.prompt_cache import MIN_CACHED_TOKENS, is_cacheable

METRICS = "faithfulness,context_precision,context_recall"
N = 6
HERE = ModelName("openai-chat", "any", "http://here/v1")
CACHING = [one for one in PROVIDERS if one.id != "google"]  # whose caches the server speaks of


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "key-0123456789abcdef")


def asked(begins: str, ends: str) -> Ask:
    """An ask whose text others begin with too."""
    return Ask("chat", "q", 1, (("system", "Judge."), ("user", begins + ends)), shared=len(begins))


def evaluated(judge: str, folder: Path, metrics: str = METRICS) -> list[Any]:
    """Input and cached tokens and outcome of every call about six long examples."""
    rows = [
        {**row, "passages": [{**one, "text": f"{one['text']} " * 3} for one in row["passages"]]} for row in examples(N)
    ]
    rg.evaluate(rows, judge=judge, metrics=metrics, store=f"sqlite:///{folder}/s.db", timeout=60.0)
    with closing(sqlite3.connect(folder / "s.db")) as store:
        return list(store.execute("SELECT input_tokens, cached_tokens, outcome FROM calls"))


@pytest.mark.server
@pytest.mark.parametrize(("model", "path"), [pytest.param("openai-chat:any", "/v1", id="chat"), *CACHING])
def test_two_of_three_calls_are_served_from_the_cache(model: str, path: str, tmp_path: Path) -> None:
    """One call an answer reads the passages; the two others find them, though all answers are in flight at once."""
    with FaultyServer(cache=PrefixCache(), latency=0.1) as server:
        calls = evaluated(f"{model}@{server.url.removesuffix('/v1')}{path}", tmp_path)
    assert [outcome for _, _, outcome in calls] == ["ok"] * 3 * N
    served = [cached / whole for whole, cached, _ in calls if cached]
    assert len(served) == 2 * N
    assert min(served) > 0.7


@pytest.mark.server
def test_at_anthropic_the_passages_are_marked_where_they_come_again(tmp_path: Path) -> None:
    """A place in the cache costs a quarter more: it is marked behind the passages, not where one call reads them."""
    judge = "anthropic:claude-sonnet-4-6"
    with FaultyServer(cache=PrefixCache()) as server:
        place = f"{judge}@{server.url.removesuffix('/v1')}"
        calls = evaluated(place, tmp_path)
        marks = [_marked(request.body) for request in server.requests]
        assert len(marks) == 3 * N
        assert all(mark is not None and mark.endswith(">>>") and "<<<answer" not in mark for mark in marks)
        done = len(server.requests)
        (tmp_path / "alone").mkdir()
        evaluated(place, tmp_path / "alone", "faithfulness")
        assert [_marked(request.body) for request in server.requests[done:]] == [None] * N
    assert [outcome for _, _, outcome in calls] == ["ok"] * 3 * N


def _marked(body: Any) -> str | None:
    """What stands before the mark of a cache."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    parts = [part for content in contents for part in content]
    return next((part["text"] for part in parts if "cache_control" in part), None)


def test_the_others_wait_for_the_first_alone() -> None:
    """What begins alike waits until an attempt at the first has ended; what begins otherwise waits for nothing."""

    async def run() -> None:
        prefixes = PrefixQueue()
        first, second, other = (
            prefixes.join_group(HERE, asked(*words)) for words in (("a", "1"), ("a", "2"), ("b", "3"))
        )
        assert prefixes.several(first)
        assert not prefixes.several(other)
        assert await prefixes.wait_turn(first) is True
        assert await prefixes.wait_turn(other) is True
        waiting = asyncio.create_task(prefixes.wait_turn(second))
        await asyncio.sleep(0)
        assert not waiting.done()
        prefixes.mark_tried(first)
        assert await waiting is False
        for one in (first, second, other):
            prefixes.leave(one)
        assert (
            await prefixes.wait_turn(prefixes.join_group(HERE, asked("a", "4"))) is True
        )  # nothing is kept of those before

    asyncio.run(run())


def test_what_nobody_caches_does_not_wait() -> None:
    """Too short for the provider, without passages, or a model of one's own: no order, no mark."""
    long = asked("x" * 4 * MIN_CACHED_TOKENS, "1")
    assert is_cacheable(ModelName("openai", "gpt-5-mini"), long)
    assert not is_cacheable(ModelName("openai", "gpt-5-mini"), asked("short", "1"))
    assert is_cacheable(HERE, asked("short", "1"))  # a server of one's own keeps whatever it reads
    assert not is_cacheable(HERE, asked("", "1"))
    assert not is_cacheable(ModelName("own", "mine"), long)


@pytest.mark.server
@pytest.mark.parametrize("fault", ["hang", "server", "rate_limited"])
def test_a_first_call_that_fails_holds_nobody_up(fault: str, tmp_path: Path) -> None:
    """Whatever the first calls meet, the others are asked, and every score is there once it is mended."""
    with FaultyServer({fault: 1.0}, once=True) as server:
        given: dict[str, Any] = {"judge": f"openai-chat:any@{server.url}", "metrics": METRICS, "timeout": 0.5}
        card = rg.evaluate(list(examples(2)), store=f"sqlite:///{tmp_path}/s.db", **given)
        assert server.met == {fault: 6, "": 6}
    assert [card[name].failed for name in METRICS.split(",")] == [0, 0, 0]
