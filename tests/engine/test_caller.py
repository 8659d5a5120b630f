"""One place that retries, waits, pays and remembers: the caller, on a clock of its own."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.fake_clock import run
from tests.engine.scripted_model import NAME, Scripted, always, ask, caller_of, refused, reply

from ragauge.core.ask import Reply, Usage
from ragauge.core.errors import JudgeError
from ragauge.engine.budget import Budget, BudgetReached
from ragauge.engine.caller import Purpose, RetryPolicy
from ragauge.models.model import CallError

P = Purpose("run", 7)
DOWN = CallError("server", "status 500", status=500)


def test_the_same_ask_by_many_tasks_is_one_call() -> None:
    """Twenty tasks that ask the same at once are answered by one call; a later one by what is stored."""

    async def main() -> tuple[int, set[str], int]:
        model = Scripted(always(1.0, reply))
        caller, memory, _ = caller_of(model)
        many = await asyncio.gather(*[caller.answer([(NAME, ask("a"))], P) for _ in range(20)])
        await caller.answer([(NAME, ask("a"))], P)
        assert (caller.n_waiting, caller.n_in_flight) == (0, 0)
        return len(model.asked), {one.key for (one,) in many}, len(memory.calls)

    assert run(main()) == (1, {next(iter(run(_keys("a"))))}, 1)


async def _keys(text: str) -> set[str]:
    caller, memory, _ = caller_of(Scripted(always(0.0, reply)))
    await caller.answer([(NAME, ask(text))], P)
    return set(memory.replies)


def test_whoever_gives_up_does_not_end_the_call_of_others() -> None:
    """One of two tasks with the same ask is cancelled: the other is answered by the same call."""

    async def main() -> tuple[str, int]:
        model = Scripted(always(1.0, reply))
        caller, _, _ = caller_of(model)
        first, second = (asyncio.create_task(caller.answer([(NAME, ask("a"))], P)) for _ in range(2))
        await asyncio.sleep(0.5)
        first.cancel()
        (found,) = await second
        assert first.cancelled()
        return found.status, len(model.asked)

    assert run(main()) == ("ok", 1)


def test_a_drip_cannot_outlive_its_time() -> None:
    """A call that goes on for ever ends at its time-out, is tried again, and the whole ends at the total deadline."""

    async def main() -> tuple[Reply, float, int]:
        loop = asyncio.get_running_loop()
        caller, memory, limiter = caller_of(Scripted(always(1e9, reply)), patience=RetryPolicy(10, 100, attempts=99))
        start = loop.time()
        (found,) = await caller.answer([(NAME, ask("a"))], P)
        assert limiter.running == 0
        assert {call.outcome for call in memory.calls} == {"timeout"}
        assert not memory.replies
        return found, loop.time() - start, len(memory.calls)

    found, seconds, calls = run(main())
    assert found.status == "failed"
    assert found.key == ""
    assert "no complete reply within" in found.reason
    assert seconds <= 100
    assert calls >= 5


def test_retries_wait_longer_each_time_and_at_least_as_asked() -> None:
    """Waits after 5xx grow from half a second, a random half to one of each; a Retry-After is waited out."""

    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        asks = CallError("server", "busy", status=503, retry_after=40.0)
        steps: list[tuple[float, Reply | Exception]] = [(0.0, one) for one in (DOWN, DOWN, DOWN, asks, reply())]
        times: list[float] = []

        class Timed(Scripted):
            async def reply(self, ask: Any, timeout: float) -> Reply:
                times.append(loop.time())
                return await super().reply(ask, timeout)

        caller, _, _ = caller_of(Timed(iter(steps)))
        (found,) = await caller.answer([(NAME, ask("a"))], P)
        assert found.status == "ok"
        return [after - before for before, after in itertools.pairwise(times)]

    waits = run(main())
    for wait, most in zip(waits, (0.5, 1.0, 2.0), strict=False):
        assert most / 2 <= wait <= most
    assert waits[3] == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("trouble", "remedy"),
    [("too_long", ". Use a model or server with a longer context."), ("refused", ""), ("client", "")],
)
def test_what_cannot_help_is_not_tried_again(trouble: Any, remedy: str) -> None:
    """A refusal of this one ask fails at once, with its reason, unstored; the next ask is not hurt."""

    async def main() -> tuple[list[Reply], int]:
        model = Scripted(iter([(0.0, CallError(trouble, "no")), (0.0, reply())]))
        caller, memory, _ = caller_of(model, most=1)
        found = await caller.answer([(NAME, ask("a")), (NAME, ask("b"))], P)
        return found, len(memory.replies)

    (bad, good), stored = run(main())
    assert (bad.status, bad.reason, bad.key, good.status, stored) == ("failed", f"{trouble}: no{remedy}", "", "ok", 1)


def test_an_unknown_exception_fails_one_ask_and_hides_keys() -> None:
    """What the library below raises and nobody foresaw fails the one ask in its own words, not the run."""

    async def main() -> list[Reply]:
        model = Scripted(iter([(0.0, KeyError("sk-abcdefghijklmnop")), (0.0, reply())]))
        caller, _, _ = caller_of(model, most=1)
        return await caller.answer([(NAME, ask("a")), (NAME, ask("b"))], P)

    bad, good = run(main())
    assert bad.reason == "client: KeyError: '[key]'"
    assert good.status == "ok"


@pytest.mark.parametrize("trouble", ["auth", "quota", "unknown_model"])
def test_what_no_call_can_survive_ends_everything(trouble: Any) -> None:
    """A wrong key, no money, no such model: JudgeError to everyone, one call alone."""

    async def main() -> tuple[list[Any], int]:
        model = Scripted(always(0.1, lambda: CallError(trouble, "no", status=401)))
        caller, _, _ = caller_of(model, most=1)
        tasks = [asyncio.create_task(caller.answer([(NAME, ask(text))], P)) for text in "abc"]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        await caller.close()
        return await asyncio.gather(*tasks, return_exceptions=True), len(model.asked)

    found, calls = run(main())
    assert isinstance(found[0], JudgeError)
    assert calls <= 2


def test_a_forbidden_text_does_not_end_a_run_that_works() -> None:
    """A 403 after good replies is about its text (a gateway's firewall); before any, about the key."""

    async def main(first: Reply | Exception) -> list[Reply]:
        forbidden = CallError("auth", "status 403", status=403)
        caller, _, _ = caller_of(Scripted(iter([(0.0, first), (0.0, forbidden)])), most=1)
        return await caller.answer([(NAME, ask("a")), (NAME, ask("b"))], P)

    assert [one.status for one in run(main(reply()))] == ["ok", "failed"]
    with pytest.raises(JudgeError):
        run(main(CallError("auth", "status 403", status=403)))


def test_a_pause_of_a_day_ends_the_run_instead_of_sleeping() -> None:
    """A Retry-After beyond the deadline is told to the user, who can go on then."""

    async def main() -> None:
        caller, _, _ = caller_of(Scripted(always(0.0, lambda: refused(86_400))))
        await caller.answer([(NAME, ask("a"))], P)

    with pytest.raises(JudgeError, match=r"retry in 86,400 s.*to resume"):
        run(main())


def test_refused_calls_leave_their_slot_after_the_pause_is_set() -> None:
    """The next call in line does not slip between a 429 and the pause that it asks for."""

    async def main() -> list[float]:
        loop, begun = asyncio.get_running_loop(), []

        class Timed(Scripted):
            async def reply(self, ask: Any, timeout: float) -> Reply:
                begun.append(loop.time())
                return await super().reply(ask, timeout)

        steps = itertools.chain([(1.0, refused(20.0))], always(1.0, reply))
        caller, _, _ = caller_of(Timed(steps), most=1)
        start = loop.time()
        await caller.answer([(NAME, ask(text)) for text in "abc"], P)
        return [moment - start for moment in begun]

    begun = run(main())
    assert begun[0] == 0
    assert min(begun[1:]) >= 21.0


def test_endless_429s_end() -> None:
    """A server that refuses for ever is given up after 20 refusals of an ask, none of them stored."""

    async def main() -> tuple[Reply, int]:
        caller, memory, _ = caller_of(Scripted(always(0.0, refused)))
        (found,) = await caller.answer([(NAME, ask("a"))], P)
        assert not memory.replies
        return found, len(memory.calls)

    found, calls = run(main())
    assert (found.status, calls) == ("failed", 20)
    assert "20 attempts" in found.reason


def test_filtered_and_cut_off_replies_are_stored() -> None:
    """A filtered reply is a failed one with a key; asked again, the stored one answers."""

    async def main() -> tuple[Reply, Reply, int]:
        filtered = Reply("failed", reason="filter", finish="content_filter", usage=Usage(10, 0))
        model = Scripted(always(0.0, lambda: filtered))
        caller, _, _ = caller_of(model)
        (first,) = await caller.answer([(NAME, ask("a"))], P)
        (second,) = await caller.answer([(NAME, ask("a"))], P)
        return first, second, len(model.asked)

    first, second, calls = run(main())
    assert first.status == second.status == "failed"
    assert first.key == second.key != ""
    assert calls == 1


def test_close_gives_up_what_is_under_way_and_takes_no_more() -> None:
    """After close nothing is called; whoever waited or asks later is cancelled, and every slot is free."""

    async def main() -> tuple[int, int]:
        model = Scripted(always(10.0, reply))
        caller, _, limiter = caller_of(model, most=2)
        task = asyncio.create_task(caller.answer([(NAME, ask(text)) for text in "abcd"], P))
        await asyncio.sleep(1.0)
        await caller.close()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.CancelledError):
            await caller.answer([(NAME, ask("e"))], P)
        await asyncio.sleep(100)
        return len(model.asked), limiter.running

    assert run(main()) == (2, 0)


def test_draining_waits_for_what_is_paid_and_begins_nothing() -> None:
    """Drained, the two calls under way are stored, though one is refused and would be tried again; two never begin."""

    async def main() -> tuple[int, int, float]:
        model = Scripted(iter([(10.0, reply()), (5.0, DOWN), (1.0, reply()), (1.0, reply())]))
        caller, memory, _ = caller_of(model, most=2)
        task = asyncio.create_task(caller.answer([(NAME, ask(text)) for text in "abcd"], P))
        await asyncio.sleep(1.0)
        start = asyncio.get_running_loop().time()
        await caller.close(drain=True)
        await asyncio.gather(task, return_exceptions=True)
        return len(model.asked), len(memory.replies), asyncio.get_running_loop().time() - start

    asked, stored, seconds = run(main())
    assert (asked, stored) == (2, 1)
    assert seconds == pytest.approx(9.0, abs=1.0)


def test_money_that_runs_out_waits_for_calls_under_way() -> None:
    """A call that does not fit beside others waits for them to cost less; it is refused only when it is alone."""
    # 1 dollar a token: 300 wrapping + some input + 1,500 output at least are set aside; a call then costs 20
    budget = Budget(4_100.0, lambda _name, usage: float(usage.input_tokens + usage.output_tokens))

    async def main() -> tuple[int, float, float]:
        model = Scripted(always(1.0, reply))
        caller, _, _ = caller_of(model, budget=budget)
        answers = await caller.answer([(NAME, ask(str(n))) for n in range(10)], P)
        assert all(one.status == "ok" for one in answers)
        return model.most, budget.spent, budget.held

    most, spent, held = run(main())
    assert most == 2
    assert spent == 200
    assert held == 0


def test_broken_calls_count_as_if_they_were_billed() -> None:
    """What a timed-out call may have cost is never given free again: the provider may bill it."""
    budget = Budget(9_000.0, lambda _name, usage: float(usage.input_tokens + usage.output_tokens))

    async def main() -> None:
        model = Scripted(always(1e9, reply))
        caller, _, _ = caller_of(model, most=1, budget=budget, patience=RetryPolicy(10, 1_000, 99))
        await caller.answer([(NAME, ask("a"))], P)

    with pytest.raises(BudgetReached, match="may be billed"):
        run(main())
    assert budget.unsure > 4_000
    assert budget.spent == 0


Outcome = st.one_of(
    st.builds(lambda tokens: Reply("ok", "{}", finish="stop", usage=Usage(50, tokens)), st.integers(0, 8_000)),
    st.builds(refused, st.sampled_from([None, 0.0, 2.0])),
    st.sampled_from(
        [
            CallError("server", "500", status=500),
            CallError("connection", "broken"),
            CallError("too_long", "long"),
            CallError("unstructured", "talk", usage=Usage(50, 60), learned=True),
            ValueError("what"),
        ]
    ),
)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 3.0, 1e6]), Outcome), min_size=1, max_size=30),
    st.lists(st.integers(0, 12), min_size=1, max_size=15),
    st.sets(st.tuples(st.integers(0, 14), st.floats(0, 60))),
    st.integers(1, 4),
    st.sampled_from([None, 3_000.0, 20_000.0, 90_000.0]),
)
def test_whatever_happens(
    steps: list[Any], texts: list[int], cancels: set[tuple[int, float]], most: int, money: float | None
) -> None:
    """Any mixture of outcomes, cancels and repeats: every task ends, no slot or money is lost, no bound is broken."""
    budget = Budget(money, lambda _name, usage: float(usage.input_tokens + usage.output_tokens))

    class Obedient(Scripted):
        async def reply(self, ask: Any, timeout: float) -> Reply:  # keeps to the tokens that it is told
            found = await super().reply(ask, timeout)
            bound = ask.params.get("max_tokens", 10**9)
            used = found.usage or Usage()
            return Reply(found.status, "{}", finish="stop", usage=Usage(50, min(used.output_tokens, bound)))

    async def main() -> None:
        model = Obedient(itertools.chain(steps, always(0.1, reply)))
        caller, memory, limiter = caller_of(model, most=most, budget=budget, patience=RetryPolicy(20.0, 200.0, 4, 6))
        tasks = [asyncio.create_task(caller.answer([(NAME, ask(str(text)))], P)) for text in texts]
        for number, moment in cancels:
            if number < len(tasks):
                asyncio.get_running_loop().call_later(moment, tasks[number].cancel)
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await caller.close(drain=True)
        assert all(isinstance(one, list | BudgetReached | asyncio.CancelledError) for one in found), found
        assert model.most <= most
        assert (limiter.running, caller.n_waiting, caller.n_in_flight, budget.holders, budget.held) == (0, 0, 0, 0, 0.0)
        assert money is None or budget.spent + budget.unsure <= money
        assert all(one.status == "ok" for one in memory.replies.values())
        assert sum(call.outcome == "ok" for call in memory.calls) == len(memory.replies)  # nothing is bought twice

    run(main())
