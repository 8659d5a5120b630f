"""Case 57 for model judges, whose calls need an event loop: the same call works in every loop there is."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.testing.server import FaultyServer

pytestmark = pytest.mark.server
METRICS = ("faithfulness", "context_recall")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A model that answers by words: it finds every answer of the file supported."""
    with FaultyServer() as running:
        yield running


def given(answers: Path, server: FaultyServer, name: str = "s") -> dict[str, Any]:
    """Arguments of evaluate: the model judge, and a store of its own."""
    return {
        "metrics": METRICS, "judge": f"openai-chat:any@{server.url}", "store": f"sqlite:///{answers.parent}/{name}.db",
    }  # fmt: skip


def expected(card: rg.Scorecard, server: FaultyServer, calls: int = 6) -> None:
    """Two calls an answer; by the server's words all three are supported and their references found."""
    assert card["faithfulness"].mean == 1
    assert card["context_recall"].mean == 1
    assert len(server.requests) == calls


def test_plain_verb_in_a_plain_script(answers: Path, server: FaultyServer) -> None:
    """Without any loop; twice, since the second run has a loop of its own again and asks anew in its own store."""
    expected(rg.evaluate(answers, **given(answers, server)), server)
    expected(rg.evaluate(answers, **given(answers, server, "t")), server, 12)


def test_plain_verb_inside_a_running_loop(answers: Path, server: FaultyServer) -> None:
    """The plain verb works inside a coroutine, and the loop is not patched."""
    before = dict(vars(asyncio)), dict(vars(asyncio.BaseEventLoop)), asyncio.Task

    async def cell() -> rg.Scorecard:
        return rg.evaluate(answers, **given(answers, server))

    expected(asyncio.run(cell()), server)
    assert (dict(vars(asyncio)), dict(vars(asyncio.BaseEventLoop)), asyncio.Task) == before


def test_coroutine_verb_shares_the_callers_loop(answers: Path, server: FaultyServer) -> None:
    """`rg.aio.evaluate` calls models on the caller's own loop, leaves it free, and leaves no task behind."""
    server.latency = 0.05

    async def both() -> tuple[rg.Scorecard, int]:
        ticks, done = 0, asyncio.Event()

        async def clock() -> None:
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                await asyncio.sleep(0.001)

        other = asyncio.create_task(clock())
        card = await rg.aio.evaluate(answers, **given(answers, server))
        done.set()
        await other
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return card, ticks

    card, ticks = asyncio.run(both())
    expected(card, server)
    assert ticks > 10


def test_two_evaluations_share_one_loop(answers: Path, server: FaultyServer) -> None:
    """Two coroutines on one loop, each with its own store, do not disturb each other."""

    async def both() -> list[rg.Scorecard]:
        return await asyncio.gather(*[rg.aio.evaluate(answers, **given(answers, server, name)) for name in "st"])

    for card in asyncio.run(both()):
        expected(card, server, 12)


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop has no build for Windows")
def test_uvloop(answers: Path, server: FaultyServer) -> None:
    """Both forms work under uvloop."""
    uvloop = pytest.importorskip("uvloop")

    async def both() -> tuple[rg.Scorecard, rg.Scorecard]:
        plain = rg.evaluate(answers, **given(answers, server))
        return plain, await rg.aio.evaluate(answers, **given(answers, server, "t"))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for card in runner.run(both()):
            expected(card, server, 12)


@pytest.mark.asyncio
async def test_pytest_asyncio(answers: Path, server: FaultyServer) -> None:
    """Both forms work in a test that pytest-asyncio runs."""
    expected(rg.evaluate(answers, **given(answers, server)), server)
    expected(await rg.aio.evaluate(answers, **given(answers, server, "t")), server, 12)


def test_a_thread_that_is_not_the_main_one(answers: Path, server: FaultyServer) -> None:
    """A web worker's thread, which has no loop and gets no signals, can evaluate."""
    cards: list[rg.Scorecard] = []
    thread = threading.Thread(target=lambda: cards.append(rg.evaluate(answers, **given(answers, server))))
    thread.start()
    thread.join()
    expected(cards[0], server)


def test_cancelled_coroutine_goes_on_from_there(answers: Path, server: FaultyServer) -> None:
    """A cancelled evaluation stops calling at once, leaves no task, and the next one asks only what is missing."""
    server.latency = 0.2

    async def stopped() -> None:
        task = asyncio.create_task(rg.aio.evaluate(answers, **given(answers, server), concurrency=2, max_concurrency=2))
        while len(server.requests) < 3 and not task.done():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(stopped())
    card = rg.evaluate(answers, **given(answers, server))
    assert card["faithfulness"].mean == 1
    assert len(server.requests) <= 6 + 2     # two were under way


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Any]:
    """A running Jupyter kernel of this Python."""
    pytest.importorskip("ipykernel")
    manager = pytest.importorskip("jupyter_client.manager").KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def shown(client: Any, code: str) -> str:
    """Runs a cell and returns the text that it displays."""
    client.execute(code)
    text = ""
    while True:
        try:
            message = client.get_iopub_msg(timeout=90)
        except queue.Empty:
            pytest.fail(f"the cell did not end: {code}")
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            pytest.fail("\n".join(content["traceback"]))
        if kind == "execute_result":
            text = content["data"]["text/plain"]
        if kind == "status" and content["execution_state"] == "idle" and message["parent_header"]:
            return text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")     # of the Jupyter client, about its own parts
def test_jupyter_kernel(kernel: Any, answers: Path, server: FaultyServer) -> None:
    """In a real kernel, whose loop runs: the plain verb and await both ask the model, and a third cell asks nothing."""
    shown(kernel, f"import ragauge as rg\nargs = {given(answers, server)!r}\nmore = {given(answers, server, 't')!r}")
    assert shown(kernel, f"rg.evaluate({str(answers)!r}, **args)['faithfulness'].mean") == "1.0"
    assert shown(kernel, f"(await rg.aio.evaluate({str(answers)!r}, **more))['faithfulness'].mean") == "1.0"
    assert len(server.requests) == 12
    assert shown(kernel, f"rg.evaluate({str(answers)!r}, **args)['context_recall'].mean") == "1.0"
    assert len(server.requests) == 12
