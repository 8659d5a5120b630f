"""Concurrency that follows what a place bears, on a clock of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.fake_clock import run

from ragauge.models.limiter import MAX_PAUSE_S, Limiter, compute_ceiling


def now() -> float:
    """The clock of the running loop."""
    return asyncio.get_running_loop().time()


Refused = float | None | Literal[False]  # seconds asked for, None = no time told, False = not refused


async def call(limiter: Limiter, seconds: float, refused: Refused = False) -> float:
    """One call of so many seconds; refused with a time, with None (no time told), or not at all; when it began."""
    async with limiter.take_slot():
        began = now()
        await asyncio.sleep(seconds)
        if refused is False:
            limiter.record_success(began)
        else:
            limiter.record_refusal(began, refused)
        return began


def test_never_more_than_allowed() -> None:
    """Of ten calls with four allowed, four begin at once and the next as each ends."""

    async def main() -> list[float]:
        limiter = Limiter(4)
        start = now()
        return [began - start for began in await asyncio.gather(*[call(limiter, 1.0) for _ in range(10)])]

    assert run(main()) == pytest.approx([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])


def test_falls_once_a_window() -> None:
    """Eight calls that were under way together and are all refused halve what is allowed once, not eight times."""

    async def main() -> Limiter:
        limiter = Limiter(8)
        await asyncio.gather(*[call(limiter, 1.0 + n / 10, 0.5) for n in range(8)])
        return limiter

    limiter = run(main())
    assert (limiter.allowed, limiter.falls) == (4, 1)


def test_falls_again_in_the_next_window() -> None:
    """A call that began after the fall and is refused halves again, down to one and no further."""

    async def main() -> list[int]:
        limiter, found = Limiter(8), []
        for _ in range(5):
            await call(limiter, 0.1, 0.1)
            found.append(limiter.allowed)
        return found

    assert run(main()) == [4, 2, 1, 1, 1]


def test_rises_by_one_a_window_and_without_a_ceiling_never_beyond_the_start() -> None:
    """From 2, two successes allow a third, three more a fourth; at the bound it stays."""

    async def main() -> list[int]:
        limiter, found = Limiter(4), []
        await call(limiter, 0.1, 0.1)
        for _ in range(12):
            await call(limiter, 0.1)
            found.append(limiter.allowed)
        return found

    assert run(main()) == [2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]


async def busy(limiter: Limiter, calls: int, seconds: Callable[[Limiter], float]) -> list[int]:
    """So many calls, all waiting at once; what was allowed after each."""
    found: list[int] = []

    async def one() -> None:
        async with limiter.take_slot():
            began = now()
            await asyncio.sleep(seconds(limiter))
            limiter.record_success(began)
            found.append(limiter.allowed)

    await asyncio.gather(*[one() for _ in range(calls)])
    return found


def test_rises_beyond_the_start_while_nothing_is_refused() -> None:
    """A place that bears all is asked 2, then 3, 4 … at a time, one more a window, up to the ceiling and no further."""
    found = run(busy(Limiter(2, 5), 40, lambda _: 1.0))
    # windows of 2, 3 and 4 successes: 2 + 3 + 4 = 9 calls until 5 are allowed
    assert found[:9] == [2, 3, 3, 3, 4, 4, 4, 4, 5]
    assert set(found[9:]) == {5}


def test_does_not_rise_where_answers_take_longer() -> None:
    """A server that queues what it cannot do at once (one that answers two a second) is not asked ever more."""
    found = run(busy(Limiter(2, 8), 80, lambda limiter: limiter.running / 2))
    assert max(found) == 3  # a call takes 0.75 s on average in the first window, 1.4 s and more at three
    assert found[-1] in (2, 3)


def test_a_refusal_ends_the_rise_for_good() -> None:
    """After one 429 the start is the bound again, however many calls succeed."""

    async def main() -> list[int]:
        limiter = Limiter(4, 16)
        before = await busy(limiter, 40, lambda _: 1.0)
        await call(limiter, 0.1, 0.1)
        return [max(before), *await busy(limiter, 200, lambda _: 1.0)]

    before, *after = run(main())
    assert before > 4
    assert after[-1] == 4
    assert max(after) <= before // 2


def test_no_more_is_allowed_than_is_asked_for() -> None:
    """One call after another never raises what is allowed beyond the start: nothing shows that more would be borne."""

    async def main() -> int:
        limiter = Limiter(2, 8)
        for _ in range(50):
            await call(limiter, 0.1)
        return limiter.allowed

    assert run(main()) == 2


def test_one_at_a_time_stays_one_at_a_time() -> None:
    """A start of 1 has no room to rise; others have four times as many, at most 256, and never less than the start."""
    assert [compute_ceiling(start) for start in (1, 2, 16, 64, 100, 400)] == [1, 8, 64, 256, 256, 400]


def test_successes_from_before_a_fall_do_not_count() -> None:
    """Calls that began before the fall and succeed after it neither raise what is allowed nor end the back-off."""

    async def main() -> list[int]:
        limiter = Limiter(4)
        slow = [asyncio.create_task(call(limiter, 5.0)) for _ in range(3)]
        await call(limiter, 0.1, 0.1)
        before = limiter.allowed
        await asyncio.gather(*slow)
        return [before, limiter.allowed]

    assert run(main()) == [2, 2]


@pytest.mark.parametrize(("told", "least", "most"), [(7.0, 7.0, 7.7), (None, 1.0, 1.1), (0.0, 0.05, 0.055)])
def test_nothing_begins_in_a_pause(told: float | None, least: float, most: float) -> None:
    """After a 429 nothing begins before what Retry-After says; a second where it says nothing; never at once."""

    async def main() -> list[float]:
        limiter = Limiter(2)
        first = asyncio.create_task(call(limiter, 1.0, told))
        waiting = [asyncio.create_task(call(limiter, 3.0)) for _ in range(4)]
        await first
        fell = now()
        return [began - fell for began in await asyncio.gather(*waiting)]

    begun = sorted(run(main()))
    assert begun[0] == pytest.approx(-1.0)  # was under way
    assert all(began >= least for began in begun[1:])
    assert begun[1] <= max(most, 2.0)  # 2.0: when the call under way gives its slot back


def test_pause_doubles_up_to_a_minute() -> None:
    """Refusals without a time double the pause: 1, 2, 4 … 60 s; a success starts anew."""

    async def main() -> list[float]:
        limiter, found = Limiter(1), []
        for _ in range(9):
            await call(limiter, 0.0, None)
            fell = now()
            found.append(await call(limiter, 0.0, None) - fell)
        await call(limiter, 0.0)
        await call(limiter, 0.0, None)
        fell = now()
        found.append(await call(limiter, 0.0) - fell)
        return found

    *pauses, anew = run(main())
    assert pauses[0] == pytest.approx(1.05, abs=0.06)
    assert all(MAX_PAUSE_S <= pause <= MAX_PAUSE_S * 1.1 for pause in pauses[-4:])
    assert anew == pytest.approx(1.05, abs=0.06)


def test_a_longer_pause_counts_from_the_last_refusal() -> None:
    """A second refusal that asks for longer extends the pause of those who wait already."""

    async def main() -> float:
        limiter = Limiter(2)
        calls = [call(limiter, 0.1, 1.0), call(limiter, 0.2, 30.0), call(limiter, 0.1)]
        start = now()
        return (await asyncio.gather(*calls))[2] - start

    assert run(main()) >= 30.2


Step = st.tuples(
    st.floats(0, 3), st.floats(0, 3), st.sampled_from([False, False, False, None, 0.0, 0.5, 4.0]), st.floats(0, 6)
)


@settings(deadline=None)
@given(st.integers(1, 5), st.lists(Step, min_size=1, max_size=25), st.data())
def test_no_slot_is_lost(most: int, steps: list[tuple[float, float, Refused, float]], data: st.DataObject) -> None:
    """Whatever is refused, whoever is cancelled: never too many run, all others have their turn, no slot is lost."""
    cancelled = data.draw(st.sets(st.integers(0, len(steps) - 1)))

    async def main() -> None:
        limiter = Limiter(most)

        async def one(start: float, seconds: float, refused: Refused) -> None:
            await asyncio.sleep(start)
            await call(limiter, seconds, refused)
            assert limiter.running <= most

        tasks = [asyncio.create_task(one(*step[:3])) for step in steps]
        for number in cancelled:
            asyncio.get_running_loop().call_later(steps[number][3], tasks[number].cancel)
        done = await asyncio.gather(*tasks, return_exceptions=True)
        for number, outcome in enumerate(done):
            assert outcome is None or (number in cancelled and isinstance(outcome, asyncio.CancelledError)), outcome
        assert limiter.running == 0
        assert 1 <= limiter.allowed <= most
        await asyncio.sleep(2 * MAX_PAUSE_S)
        begun = now()
        assert await call(limiter, 0.0) == begun  # a slot is free at once

    run(main())
