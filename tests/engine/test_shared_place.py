"""A judge and the system under test at one endpoint: one number of calls under way, one pause, one fall."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fake_clock import run
from tests.engine.model_rows import METRICS, rows
from tests.loopback.server import FaultyServer, Request

import ragauge as rg
from ragauge.engine.models import build_call_options
from ragauge.engine.systems import build_system
from ragauge.judges.model.judge import ModelJudge
from ragauge.models.endpoints import ENDPOINTS, Endpoint, EndpointRegistry, normalize_endpoint
from ragauge.models.limiter import Limiter

SYSTEM = "openai/gpt-of-the-system"


async def call(limiter: Limiter, began: list[float], seconds: float = 1.0) -> None:
    """One call that is answered."""
    async with limiter.take_slot():
        now = asyncio.get_running_loop().time()
        began.append(now)
        await asyncio.sleep(seconds)
        limiter.record_success(now)


def test_together_never_more_than_the_larger() -> None:
    """Two callers of one place, four and two, have four calls under way together; elsewhere they would have six."""

    async def most(one: Endpoint, other: Endpoint) -> int:
        limiters = Limiter(4, endpoint=one), Limiter(2, endpoint=other)
        seen = 0

        async def watched(limiter: Limiter) -> None:
            nonlocal seen
            async with limiter.take_slot():
                seen = max(seen, sum(each.running for each in limiters))
                await asyncio.sleep(1.0)

        await asyncio.gather(*[watched(limiter) for limiter in limiters for _ in range(12)])
        assert sum(each.running for each in limiters) == one.running == other.running == 0
        return seen

    async def both() -> tuple[int, int]:
        shared = Endpoint()
        return await most(shared, shared), await most(Endpoint(), Endpoint())

    assert run(both()) == (4, 6)


def test_nobody_is_starved() -> None:
    """A caller that comes when another has filled the place and has a hundred waiting begins in its turn."""

    async def main() -> list[float]:
        place = Endpoint()
        judge, system = Limiter(4, endpoint=place), Limiter(2, endpoint=place)
        start, mine, others = asyncio.get_running_loop().time(), list[float](), list[float]()
        first = [asyncio.create_task(call(judge, others)) for _ in range(8)]
        await asyncio.sleep(0.5)
        later = [asyncio.create_task(call(system, mine))]
        await asyncio.sleep(0)
        later += [asyncio.create_task(call(judge, others)) for _ in range(100)]
        await asyncio.gather(*first, *later)
        return [one - start for one in mine]

    assert run(main()) == [2.0]  # eight of the other's, four at a time, came before it


def test_refused_to_one_slows_the_other() -> None:
    """A 429 with Retry-After to the system halves what the judge may do too, and none of its calls begins meanwhile."""

    async def main() -> tuple[int, int, list[float]]:
        place = Endpoint()
        judge, system = Limiter(8, 32, place), Limiter(2, endpoint=place)
        start, began = asyncio.get_running_loop().time(), list[float]()
        async with system.take_slot():
            system.record_refusal(asyncio.get_running_loop().time(), 10.0)
        await asyncio.gather(*[call(judge, began) for _ in range(4)])
        return judge.allowed, judge.most, [one - start for one in began]

    allowed, most, began = run(main())
    assert (allowed, most) == (5, 8)  # 8 halved, and one window of four successes since
    assert all(10.0 <= one <= 11.0 for one in began)


def test_waiting_call_that_is_given_up_holds_no_turn() -> None:
    """A call that is cancelled while it waits, or in the moment in which it is let in, leaves its place to the next."""

    async def main() -> tuple[int, list[float]]:
        limiter = Limiter(1)
        began: list[float] = []
        tasks = [asyncio.create_task(call(limiter, began)) for _ in range(4)]
        await asyncio.sleep(0.5)
        tasks[1].cancel()
        await asyncio.sleep(0.4999)
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return limiter.place.running, began

    running, began = run(main())
    assert running == 0
    assert len(began) == 2


def test_endpoint_is_scheme_host_and_port() -> None:
    """Paths, credentials and the case of a host do not tell places apart; ports, schemes and hosts do."""
    same = ("https://api.example", "https://API.example:443/v1", "https://u:p@api.example/answers?x={{query}}")
    assert len({normalize_endpoint(url) for url in same}) == 1
    other = ("http://api.example", "https://api.example:8443", "https://api.example.org", "http://{{host}}:{{port}}/x")
    assert len({normalize_endpoint(url) for url in (*same, *other)}) == 5


def test_pause_outlives_its_loop() -> None:
    """What a place asked for in one verb holds in the next, which runs on another loop; other places are free."""
    places = EndpointRegistry()

    async def refused() -> float:
        limiter = Limiter(4, endpoint=places.at("http://one.example/v1"))
        limiter.record_refusal(asyncio.get_running_loop().time(), 30.0)
        return limiter.place.until

    async def until(url: str) -> float:
        return places.at(url).until

    told = asyncio.run(refused())
    gc.collect()
    assert asyncio.run(until("http://one.example:80/answers")) == told
    assert asyncio.run(until("http://two.example/v1")) == 0.0


def system_at(server: FaultyServer) -> dict[str, Any]:
    """The settings of a system that is a model behind the server's own endpoint."""
    return {
        "url": f"{server.url}/chat/completions",
        "answer": "$.choices[0].message.content",
        "body": {"model": SYSTEM, "messages": [{"role": "user", "content": "{{query}}"}]},
    }


def test_who_shares_with_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    """An HTTP system is known by its endpoint, which a judge may share; a function's is not known."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FaultyServer() as server:
        http = build_system(f"{server.url}/chat/completions", system_at(server))
        calling = build_call_options(ModelJudge.of(f"openai-chat:any@{server.url}"))
        assert calling is not None

        async def places() -> tuple[Endpoint, Endpoint]:
            (name,) = ModelJudge.of(f"openai-chat:any@{server.url}").models()
            return calling.get_limiter(name).place, ENDPOINTS.at(http.address)

        assert len({id(one) for one in asyncio.run(places())}) == 1
    assert build_system(lambda query: query).address == ""


@pytest.mark.server
def test_judge_and_system_at_one_endpoint(tmp_path: Path) -> None:
    """At the same time they never exceed the larger bound: a server that refuses a ninth call refuses none."""
    with FaultyServer(latency=0.05, limit=8) as server:
        _both(server, tmp_path)
        assert server.met["rate_limited"] == 0
        mine = [place for place, one in enumerate(server.requests) if _of_system(one)]
        theirs = [place for place, one in enumerate(server.requests) if not _of_system(one)]
        assert min(theirs) < max(mine)  # they did run at the same time
        assert min(mine) < max(theirs)
        assert (len(mine), len(theirs)) == (30, 3 * 30)


class RefusesSystemOnce(FaultyServer):
    """Answers the fifth request of the system with 429 and Retry-After."""

    def _fault(self, raw: bytes, asked: str = "") -> str:
        before = sum(_of_system(one) for one in self.requests)
        return "rate_limited" if SYSTEM.encode() in raw and before == 4 else ""


@pytest.mark.server
def test_refused_to_system_slows_judge(tmp_path: Path) -> None:
    """A 429 to the system alone, over HTTP: nothing is lost, and the judge at that endpoint may do half as much."""
    with RefusesSystemOnce(latency=0.01) as server:

        async def run_beside_judge() -> tuple[int, int]:
            judge = ModelJudge.of(f"openai-chat:any@{server.url}")
            calling = build_call_options(judge, concurrency=8)
            assert calling is not None
            limiter = calling.get_limiter(judge.models()[0])
            await _run(server, tmp_path)
            return limiter.allowed, limiter.falls

        assert asyncio.run(run_beside_judge()) == (4, 1)
        assert server.met["rate_limited"] == 1


def _both(server: FaultyServer, folder: Path) -> None:
    """A run of a system and an evaluation of other answers at the same time, on one loop."""

    async def judged() -> None:
        card = await rg.aio.evaluate(
            rows(30),
            judge=f"openai-chat:any@{server.url}",
            metrics=METRICS,
            store=f"sqlite:///{folder}/a.db",
            name="m",
            concurrency=8,
            max_concurrency=8,
        )
        assert card["faithfulness"].scored == 30

    async def both() -> None:
        await asyncio.gather(judged(), _run(server, folder))

    asyncio.run(both())


async def _run(server: FaultyServer, folder: Path) -> None:
    """A run of thirty questions, four at a time."""
    questions = [{"query_id": f"q{n}", "query": f"question {n}"} for n in range(30)]
    found = await rg.aio.run(
        f"{server.url}/chat/completions",
        questions,
        settings=system_at(server),
        concurrency=4,
        store=f"sqlite:///{folder}/b.db",
    )
    assert found.counts.answered == 30


def _of_system(request: Request) -> bool:
    return request.body.get("model") == SYSTEM
