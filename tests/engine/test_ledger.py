"""Replies on their way into the store: durable before anybody sees them, many to a commit."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.scripted_model import NAME, ask, reply

from ragauge.core.ask import Reply, build_reply_key
from ragauge.core.errors import StoreError
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.store.calls import Call
from ragauge.store.store_access import Store, open_store

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import asyncio, json, sys
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.store.store_access import open_store
from tests.engine.test_ledger import put

async def main(store):
    ledger = ReplyWriter(store)
    handed = [await put(ledger, str(n), sys.argv[2]) for n in range(200)]
    await ledger.close()
    return [one.text for one in handed]

with open_store(sys.argv[1]) as store:
    sys.stdin.readline()
    print(json.dumps(asyncio.run(main(store))))
"""


async def put(ledger: ReplyWriter, text: str, said: str = "{}", outcome: str = "ok") -> Reply:
    """Puts a reply to an ask of this text."""
    return await ledger.put(NAME, ask(text), reply(said), Call(key(text), "agree", NAME, outcome))


def key(text: str) -> str:
    return build_reply_key(NAME, ask(text))


def test_what_arrives_together_is_one_commit(store: Store) -> None:
    """A thousand replies that 64 tasks bring cost far fewer commits than replies, and all of them are there."""

    async def main() -> int:
        ledger = ReplyWriter(store)

        async def bring(start: int) -> None:
            for n in range(start, 1_000, 64):
                assert (await put(ledger, str(n))).key == key(str(n))

        await asyncio.gather(*[bring(start) for start in range(64)])
        await ledger.close()
        return ledger.commits

    commits = asyncio.run(main())
    assert commits <= 1_000 / 8
    assert len(store.replies.get([key(str(n)) for n in range(1_000)])) == 1_000
    assert sum(one.paid.calls for one in store.calls.spent()) == 1_000


def test_a_reply_is_durable_before_it_is_seen(store: Store) -> None:
    """When put returns, a store opened anew has the reply."""

    async def main() -> None:
        ledger = ReplyWriter(store)
        for n in range(20):
            kept = await put(ledger, str(n))
            with open_store(store.url) as other:
                assert other.replies.get([key(str(n))]) == {key(str(n)): kept}
        await ledger.close()

    asyncio.run(main())


def test_first_insert_wins_between_two_processes(store: Store) -> None:
    """Two processes that bring other replies to the same asks are handed the same ones, from both of them or one."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, store.url, name],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("one", "two")
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    first, second = (json.loads(out) for out, _ in told)
    assert first == second
    stored = store.replies.get([key(str(n)) for n in range(200)])
    assert [stored[key(str(n))].text for n in range(200)] == first


def test_an_error_of_the_store_reaches_every_waiter(store: Store) -> None:
    """Readers and writers of a batch that fails are all told; later batches are tried again."""

    async def main() -> list[Any]:
        ledger = ReplyWriter(store)
        await put(ledger, "before")
        with store._database.write() as connection:
            connection.exec_driver_sql("ALTER TABLE replies RENAME TO away")
        tasks = [*(put(ledger, str(n)) for n in range(5)), *(ledger.get(key(str(n))) for n in range(5))]
        failed = await asyncio.gather(*tasks, return_exceptions=True)
        with store._database.write() as connection:
            connection.exec_driver_sql("ALTER TABLE away RENAME TO replies")
        assert (await put(ledger, "after")).status == "ok"
        await ledger.close()
        return failed

    failed = asyncio.run(main())
    assert len(failed) == 10
    assert all(isinstance(one, StoreError) for one in failed)
    assert sorted(store.replies.get([key(text) for text in ("before", "0", "after")])) == sorted(
        [key("before"), key("after")]
    )


def test_calls_that_cannot_be_recorded_are_told_at_the_end(store: Store) -> None:
    """Nobody waits for the record of a failed attempt; where it cannot be written, close says so."""

    async def main() -> None:
        ledger = ReplyWriter(store)
        with store._database.write() as connection:
            connection.exec_driver_sql("ALTER TABLE calls RENAME TO away")
        ledger.record_call(Call(key("a"), "agree", NAME, "server"))
        await ledger.close()

    with pytest.raises(StoreError):
        asyncio.run(main())


def test_close_writes_what_is_left(store: Store) -> None:
    """Replies whose tasks are cancelled and attempts that nobody waits for are written before close returns."""

    async def main() -> None:
        ledger = ReplyWriter(store)
        tasks = [asyncio.create_task(put(ledger, str(n))) for n in range(50)]
        await asyncio.sleep(0)
        ledger.record_call(Call(key("x"), "agree", NAME, "timeout"))
        for task in tasks:
            task.cancel()
        await ledger.close()
        with pytest.raises(RuntimeError):
            ledger.record_call(Call(key("y"), "agree", NAME, "timeout"))

    asyncio.run(main())
    assert len(store.replies.get([key(str(n)) for n in range(50)])) == 50
    assert [(one.paid.calls, one.paid.failed) for one in store.calls.spent()] == [(51, 1)]


def test_a_loop_that_ends_in_between_loses_nothing(store: Store) -> None:
    """What was handed over when the loop was torn down is written all the same."""
    ledger = ReplyWriter(store)

    async def main() -> None:
        for n in range(50):
            asyncio.get_running_loop().create_task(put(ledger, str(n)))
        await asyncio.sleep(0)

    asyncio.run(main())  # cancels every task as it ends
    asyncio.run(ledger.close())
    assert len(store.replies.get([key(str(n)) for n in range(50)])) == 50


def test_equal_asks_in_one_batch_share_the_first_reply(store: Store) -> None:
    """Two replies to one ask that are written together: both tasks are handed the first; a failed one gives way."""

    async def main() -> list[Reply]:
        ledger = ReplyWriter(store)
        failed = replace(reply(), status="failed", reason="cut off", finish="length")
        call = Call(key("b"), "agree", NAME, "failed")
        same = await asyncio.gather(put(ledger, "a", "first"), put(ledger, "a", "second"))
        other = await asyncio.gather(ledger.put(NAME, ask("b"), failed, call), put(ledger, "b", "good"))
        await ledger.close()
        return [*same, other[1]]

    assert [one.text for one in asyncio.run(main())] == ["first", "first", "good"]
