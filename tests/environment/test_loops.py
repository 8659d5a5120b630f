"""Case 57: the verbs in every event loop there is: none, plain asyncio, uvloop, pytest-asyncio, a Jupyter kernel.

A model judge needs a loop for its calls, so most tests ask one; those of the local judge, which needs none, are last.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.server import FaultyServer

import ragauge as rg

pytestmark = pytest.mark.server
METRICS = ("faithfulness", "context_recall")
LOCAL = ("recall@5", "faithfulness", "fabricated_specifics")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A model that answers by words: it finds every answer of the file supported."""
    with FaultyServer() as running:
        yield running


def given(answers: Path, server: FaultyServer, name: str = "s") -> dict[str, Any]:
    """Arguments of evaluate: the model judge, and a store of its own."""
    return {
        "metrics": METRICS,
        "judge": f"openai-chat:any@{server.url}",
        "store": f"sqlite:///{answers.parent}/{name}.db",
    }


def local(answers: Path) -> dict[str, Any]:
    """Arguments of evaluate: the local judge, and a store of its own."""
    return {"metrics": LOCAL, "store": f"sqlite:///{answers.parent}/local.db"}


def expected(card: rg.Scorecard, server: FaultyServer, calls: int = 6) -> None:
    """Two calls an answer; by the server's words all three are supported and their references found."""
    assert card["faithfulness"].mean == 1
    assert card["context_recall"].mean == 1
    assert len(server.requests) == calls


def expected_of_local(card: rg.Scorecard) -> None:
    """Worked by hand: three hits; two of three answers supported; the third invents its number."""
    assert card["recall@5"].mean == 1
    assert card["faithfulness"].mean == pytest.approx(2 / 3, abs=0.01)
    assert card["fabricated_specifics"].mean == pytest.approx(1 / 3)


async def beside_a_clock(evaluation: Any) -> tuple[rg.Scorecard, int]:
    """Awaits an evaluation beside a task of the same loop, and counts how often that one had its turn."""
    ticks = 0

    async def clock() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    other = asyncio.create_task(clock())
    card = await evaluation
    other.cancel()
    await asyncio.wait([other])
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return card, ticks


def test_plain_verb_in_a_plain_script(answers: Path, server: FaultyServer) -> None:
    """Without any loop; twice, since the second run has a loop of its own again and asks anew in its own store."""
    expected(rg.evaluate(answers, **given(answers, server)), server)
    expected(rg.evaluate(answers, **given(answers, server, "t")), server, 12)


def test_plain_verb_inside_a_running_loop(answers: Path, server: FaultyServer) -> None:
    """The plain verb works inside a coroutine, and the loop is not patched."""
    before = dict(vars(asyncio)), dict(vars(asyncio.BaseEventLoop)), asyncio.Task

    async def cell() -> rg.Scorecard:
        with pytest.raises(RuntimeError):  # still refuses to be entered twice, as an unpatched loop does
            asyncio.get_running_loop().run_until_complete(asyncio.Future())
        return rg.evaluate(answers, **given(answers, server))

    expected(asyncio.run(cell()), server)
    assert (dict(vars(asyncio)), dict(vars(asyncio.BaseEventLoop)), asyncio.Task) == before


def test_coroutine_verb_shares_the_callers_loop(answers: Path, server: FaultyServer) -> None:
    """`rg.aio.evaluate` calls models on the caller's own loop, leaves it free, and leaves no task behind."""
    server.latency = 0.05
    card, ticks = asyncio.run(beside_a_clock(rg.aio.evaluate(answers, **given(answers, server))))
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
        assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")
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
    assert len(server.requests) <= 6 + 2  # two were under way


def test_local_judge_leaves_the_loop_free(answers: Path) -> None:
    """The local judge's work, which is the processor's, does not hold the loop that awaits it."""
    card, ticks = asyncio.run(beside_a_clock(rg.aio.evaluate(answers, **local(answers))))
    expected_of_local(card)
    assert ticks > 1


def test_cancelled_local_judge_can_be_done_again(answers: Path) -> None:
    """A cancelled evaluation by the local judge raises CancelledError and can be done again."""

    async def stopped() -> None:
        task = asyncio.create_task(rg.aio.evaluate(answers, **local(answers)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    expected_of_local(rg.evaluate(answers, **local(answers)))


def test_error_reaches_the_caller(answers: Path) -> None:
    """An error in the private thread is raised to the caller as it is."""
    with pytest.raises(rg.UnknownName, match="nearest: recall"):
        rg.evaluate(answers, **local(answers) | {"metrics": "recal@5"})


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
        client.wait_for_ready(timeout=200)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def cell(client: Any, code: str) -> dict[str, Any]:
    """Runs a cell and returns what it displayed, by type."""
    client.execute(code)
    shown: dict[str, Any] = {}
    while True:
        try:
            message = client.get_iopub_msg(timeout=200)
        except queue.Empty:
            pytest.fail(f"the cell did not end: {code}")
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            pytest.fail("\n".join(content["traceback"]))
        if kind == "execute_result":
            shown = content["data"]
        if kind == "status" and content["execution_state"] == "idle" and message["parent_header"]:
            return shown


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the Jupyter client, about its own parts
def test_jupyter_kernel(kernel: Any, answers: Path, server: FaultyServer) -> None:
    """In a real kernel, whose loop runs: the plain verb and await work with either judge; a card shows a framed page.

    A model judge is asked by both forms, and not again for what is stored; failures and tables are frames.
    """
    cell(kernel, f"import ragauge as rg\nfile, args = {str(answers)!r}, {local(answers)!r}")
    cell(kernel, f"model, more = {given(answers, server)!r}, {given(answers, server, 't')!r}")
    shown = cell(kernel, "card = rg.evaluate(file, **args); card")
    assert shown["text/html"].startswith("<iframe srcdoc=")
    assert "faithfulness" in shown["text/html"]
    assert "faithfulness" in shown["text/plain"]
    assert cell(kernel, "card.summaries['recall@5'].mean")["text/plain"] == "1.0"
    assert "q2" in cell(kernel, "card.failures['query_id'].to_list()")["text/plain"]
    assert cell(kernel, "card.to_polars().shape")["text/plain"] == "(9, 16)"
    assert cell(kernel, "card.to_pandas().shape")["text/plain"] == "(9, 16)"
    again = cell(kernel, "(await rg.aio.evaluate(file, **args))['faithfulness'].mean")
    assert again["text/plain"].startswith("0.66")
    assert cell(kernel, "rg.evaluate(file, **model)['faithfulness'].mean")["text/plain"] == "1.0"
    assert cell(kernel, "(await rg.aio.evaluate(file, **more))['faithfulness'].mean")["text/plain"] == "1.0"
    assert len(server.requests) == 12
    assert cell(kernel, "rg.evaluate(file, **model)['context_recall'].mean")["text/plain"] == "1.0"
    assert len(server.requests) == 12
