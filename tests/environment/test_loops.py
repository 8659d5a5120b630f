"""Case 57: the verbs in running event loops: plain asyncio, uvloop, pytest-asyncio, a Jupyter kernel."""

from __future__ import annotations

import asyncio
import queue
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

METRICS = ("recall@5", "faithfulness", "fabricated_specifics")


def expected(card: rg.Scorecard) -> None:
    """Worked by hand: three hits; two of three answers supported; the third invents its number."""
    assert card["recall@5"].mean == 1
    assert card["faithfulness"].mean == pytest.approx(2 / 3)
    assert card["fabricated_specifics"].mean == pytest.approx(1 / 3)


def own(answers: Path) -> str:
    return f"sqlite:///{answers.parent}/s.db"


def test_plain_verb_inside_a_running_loop(answers: Path) -> None:
    """The plain verb works inside a coroutine, and the loop is not patched."""
    before = dict(vars(asyncio)), dict(vars(asyncio.BaseEventLoop)), asyncio.Task

    async def cell() -> rg.Scorecard:
        with pytest.raises(RuntimeError):      # still refuses to be entered twice, as an unpatched loop does
            asyncio.get_running_loop().run_until_complete(asyncio.Future())
        return rg.evaluate(answers, metrics=METRICS, store=own(answers))

    expected(asyncio.run(cell()))
    assert (dict(vars(asyncio)), dict(vars(asyncio.BaseEventLoop)), asyncio.Task) == before


def test_coroutine_verb_leaves_the_loop_free(answers: Path) -> None:
    """`rg.aio.evaluate` is a coroutine: other tasks of the loop run while it works."""

    async def both() -> tuple[rg.Scorecard, int]:
        ticks, done = 0, asyncio.Event()

        async def clock() -> None:
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                await asyncio.sleep(0.001)

        other = asyncio.create_task(clock())
        card = await rg.aio.evaluate(answers, metrics=METRICS, store=own(answers))
        done.set()
        await other
        return card, ticks

    card, ticks = asyncio.run(both())
    expected(card)
    assert ticks > 1


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop has no build for Windows")
def test_uvloop(answers: Path) -> None:
    """Both forms work under uvloop."""
    uvloop = pytest.importorskip("uvloop")

    async def both() -> tuple[rg.Scorecard, rg.Scorecard]:
        assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")
        plain = rg.evaluate(answers, metrics=METRICS, store=own(answers))
        return plain, await rg.aio.evaluate(answers, metrics=METRICS, store=own(answers))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for card in runner.run(both()):
            expected(card)


@pytest.mark.asyncio
async def test_pytest_asyncio(answers: Path) -> None:
    """Both forms work in a test that pytest-asyncio runs."""
    expected(rg.evaluate(answers, metrics=METRICS, store=own(answers)))
    expected(await rg.aio.evaluate(answers, metrics=METRICS, store=own(answers)))


def test_cancelled_coroutine_keeps_what_is_done(answers: Path) -> None:
    """A cancelled evaluation raises CancelledError and can be done again."""

    async def stopped() -> None:
        task = asyncio.create_task(rg.aio.evaluate(answers, metrics=METRICS, store=own(answers)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    expected(rg.evaluate(answers, metrics=METRICS, store=own(answers)))


def test_error_reaches_the_caller(answers: Path) -> None:
    """An error in the private thread is raised to the caller as it is."""
    with pytest.raises(rg.UnknownName, match="nearest: recall"):
        rg.evaluate(answers, metrics="recal@5", store=own(answers))


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


def cell(client: Any, code: str) -> dict[str, Any]:
    """Runs a cell and returns what it displayed, by type."""
    client.execute(code)
    shown: dict[str, Any] = {}
    while True:
        try:
            message = client.get_iopub_msg(timeout=90)
        except queue.Empty:
            pytest.fail(f"the cell did not end: {code}")
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            pytest.fail("\n".join(content["traceback"]))
        if kind == "execute_result":
            shown = content["data"]
        if kind == "status" and content["execution_state"] == "idle" and message["parent_header"]:
            return shown


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")     # of the Jupyter client, about its own parts
def test_jupyter_kernel(kernel: Any, answers: Path) -> None:
    """In a real kernel, whose loop runs: evaluate shows a framed page; failures and tables are frames; await works."""
    cell(kernel, f"import ragauge as rg\nargs = dict(metrics={METRICS!r}, store={own(answers)!r})")
    shown = cell(kernel, f"card = rg.evaluate({str(answers)!r}, **args); card")
    assert shown["text/html"].startswith("<iframe srcdoc=")
    assert "faithfulness" in shown["text/html"]
    assert "faithfulness" in shown["text/plain"]
    assert "330 metres" not in cell(kernel, "card.summaries['recall@5'].mean")["text/plain"]
    assert cell(kernel, "card.summaries['recall@5'].mean")["text/plain"] == "1.0"
    assert "q2" in cell(kernel, "card.failures['query_id'].to_list()")["text/plain"]
    assert cell(kernel, "card.to_polars().shape")["text/plain"] == "(9, 13)"
    assert cell(kernel, "card.to_pandas().shape")["text/plain"] == "(9, 13)"
    again = cell(kernel, f"(await rg.aio.evaluate({str(answers)!r}, **args))['faithfulness'].mean")
    assert again["text/plain"].startswith("0.666")
