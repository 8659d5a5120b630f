"""Calls of metrics of the user's own: whatever their code does, only that score fails, and nothing waits for it."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.model_rows import rows
from tests.engine.test_models import judge
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.metrics.base import Ratio


def scored(*functions: object, n: int = 4, **options: Any) -> Scorecard:
    """A small evaluation with some metrics, beside a built-in one."""
    rows = [{"query_id": f"q{i}", "query": f"Question {i}?", "answer": f"answer {i}"} for i in range(n)]
    return rg.evaluate(rows, metrics=["answer_tokens", *functions], judge="none", store="sqlite:///own.db", **options)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores of tests are in folders of their own."""
    monkeypatch.chdir(tmp_path)


def raises(answer: str) -> float:
    """Raises for one answer."""
    if answer.endswith("2"):
        raise ValueError("no tone in this")
    return 1.0


def exits(answer: str) -> float:
    """Ends the program, as code that was made for a command line does."""
    if answer.endswith("2"):
        sys.exit("bad answer")
    return 1.0


def recurses(answer: str) -> float:
    """Calls itself without end."""
    return recurses(answer) if answer.endswith("2") else 1.0


async def raises_later(answer: str) -> float:
    """Raises for one answer, awaited."""
    await asyncio.sleep(0)
    return raises(answer)


async def exits_later(answer: str) -> float:
    """Ends the program, awaited."""
    return exits(answer)


async def cancels(answer: str) -> float:
    """Raises what a cancelled task does, though nobody cancelled it."""
    if answer.endswith("2"):
        raise asyncio.CancelledError("bad answer")
    return 1.0


class Exits(rg.Metric):
    """A subclass that ends the program."""

    def value(self, answer: str) -> float:
        """One where it does not."""
        return exits(answer)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (raises, "ValueError: no tone in this"),
        (exits, "SystemExit: bad answer"),
        (recurses, "RecursionError: "),
        (raises_later, "ValueError: no tone in this"),
        (exits_later, "SystemExit: bad answer"),
        (cancels, "CancelledError: bad answer"),
        (Exits, "SystemExit: bad answer"),
    ],
)
def test_what_raises_fails_that_score_alone(function: Callable[..., Any], reason: str) -> None:
    """An exception of any kind fails the score of that response, in its own words; all others have theirs."""
    card = scored(function)
    name = function.__name__.lower()
    assert (card[name].scored, card[name].failed, card[name].mean) == (3, 1, 1.0)
    assert any(text.startswith(reason) for text in card[name].reasons)
    assert card["answer_tokens"].scored == 4


def test_what_hangs_is_given_up() -> None:
    """After three calls that do not return it is called no more; each failure says so, and nobody waits for them."""
    calls: list[str] = []

    @rg.metric(timeout=0.05)
    def hangs(answer: str) -> float:
        calls.append(answer)
        threading.Event().wait()
        return 1.0

    begun = time.monotonic()
    card = scored(hangs, n=12)
    assert time.monotonic() - begun < 20
    assert card["hangs"].failed == 12
    assert set(card["hangs"].reasons) == {
        "hangs did not return within 0.05 s",
        "not called: 3 calls did not return within 0.05 s, so it was abandoned",
    }
    assert 3 <= len(calls) <= 8


def test_coroutine_that_blocks_its_loop_spoils_no_other() -> None:
    """A coroutine that never awaits is given up alone: those that waited for its loop are made again."""

    @rg.metric(timeout=0.2)
    async def blocks(answer: str) -> float:
        if answer.endswith(" 1"):
            threading.Event().wait(5)
        await asyncio.sleep(0)
        return 1.0

    card = scored(blocks, n=40)
    assert (card["blocks"].failed, card["blocks"].scored) == (1, 39)
    assert set(card["blocks"].reasons) == {"blocks did not return within 0.2 s"}


def test_coroutine_that_blocks_spoils_no_other_metric() -> None:
    """A metric whose coroutines block their loop fails alone: those of another metric have their own."""

    @rg.metric(timeout=0.3)
    async def blocks(answer: str) -> float:
        threading.Event().wait(2)
        return 1.0

    @rg.metric(timeout=0.3)
    async def healthy(answer: str) -> float:
        await asyncio.sleep(0.01)
        return 1.0

    card = scored(blocks, healthy)
    assert (card["blocks"].failed, card["healthy"].scored) == (4, 4)


def test_value_too_large_for_a_mean_fails_that_score() -> None:
    """Values whose squares overflow are failures with the reason, of numbers as of ratios."""
    given = {"answer 0": 1e308, "answer 1": -1e200, "answer 2": 2.0, "answer 3": Ratio(1e300, 1e300)}

    def huge(answer: str) -> object:
        return given[answer]

    card = scored(huge)
    assert (card["huge"].scored, card["huge"].mean) == (1, 2.0)
    assert "huge gave 1e+308, which is too large for a mean" in card["huge"].reasons
    assert json.loads(json.dumps(card.to_dict(), allow_nan=False))


def test_coroutines_of_a_batch_run_together() -> None:
    """Coroutines are awaited at the same time, sixteen at most."""
    now, most = 0, 0

    async def polite(answer: str) -> bool:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return bool(answer)

    assert scored(polite, n=40)["polite"].mean == 1.0
    assert 8 <= most <= 16


def test_function_that_returns_a_coroutine_says_so() -> None:
    """A plain function whose result has to be awaited fails with the remedy, not with a value."""

    async def later() -> float:
        return 1.0

    def polite(answer: str) -> Any:
        return later() if answer else 0

    card = scored(polite)
    assert card["polite"].failed == 4
    assert "async def" in next(iter(card["polite"].reasons))


@pytest.mark.server
def test_own_metrics_beside_a_model_judge() -> None:
    """Beside a judge that is a model they are awaited without holding up its calls, and may use its facts."""

    @rg.metric(timeout=0.1, needs={"claims": "verify_answer.claims"})
    async def claims_slowly(claims: tuple[object, ...], answer: str) -> float:
        await asyncio.sleep(9 if answer.endswith("3 days.") else 0)
        return len(claims)

    class NoClaims(rg.Metric):
        """Whether the answer claims nothing."""

        needs = {"claims": "verify_answer.claims"}  # noqa: RUF012 - as on the page

        def value(self, claims: tuple[object, ...]) -> bool:
            return not claims

    with FaultyServer() as server:
        card = rg.evaluate(
            rows(12), metrics=["faithfulness", claims_slowly, NoClaims], judge=judge(server), store="sqlite:///own.db"
        )
    assert card["faithfulness"].scored == card["no_claims"].scored == 12
    assert card["claims_slowly"].scored + card["claims_slowly"].failed == 12
    assert set(card["claims_slowly"].reasons) <= {"claims_slowly did not return within 0.1 s"}
    assert card["no_claims"].mean == 0


def test_ctrl_c_of_a_function_is_one_failure_too() -> None:
    """A KeyboardInterrupt that a function raises itself fails its score: the user's own reaches the main thread."""

    def interrupts(answer: str) -> float:
        if answer.endswith("2"):
            raise KeyboardInterrupt
        return 1.0

    assert scored(interrupts)["interrupts"].failed == 1
