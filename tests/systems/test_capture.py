"""Capture: a running system recorded, and unchanged."""

from __future__ import annotations

import asyncio
import inspect
import json
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep, thread_time
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import UsageError
from ragauge.systems.capture import RotatingLines

DOCUMENTS = [{"doc_id": "d1", "text": "A hub is grey. It weighs two pounds.", "score": 0.5}]


def opened(path: Path, **options: Any) -> Any:
    """A capture; of no type, since these tests hand it functions without types."""
    return rg.capture(path, **options)


def lines(path: Path) -> list[dict[str, Any]]:
    """What was recorded."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def recorded(path: Path, use: Callable[[Any], object]) -> list[dict[str, Any]]:
    """What is recorded of a use."""
    with opened(path) as seen:
        use(seen)
    assert seen.lost == 0
    return lines(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that is not there yet."""
    return tmp_path / "deep" / "answers.jsonl"


def test_function_and_its_retrieval(file: Path) -> None:
    """Question, passages, candidates, answer, times and what was added stand in one line; results pass unchanged."""

    def use(seen: rg.Capture) -> None:
        @seen.candidates
        def search(question: str) -> list[dict[str, Any]]:
            return [*DOCUMENTS, {"doc_id": "d2", "text": "Other."}]

        @seen.retrieval
        def retrieve(question: str) -> list[dict[str, Any]]:
            return search(question)[:1]

        @seen
        def answer(user: str, question: str = "?") -> str:
            """Answers."""
            documents = retrieve(question)
            seen.add(tokens={"input": 9, "output": 3}, cost=0.01, segments={"tenant": user})
            documents.clear()  # what the system does later is no part of what was retrieved
            return "Two pounds."

        assert answer("acme", question="How heavy is it?") == "Two pounds."
        assert (answer.__name__, answer.__doc__) == ("answer", "Answers.")

    (one,) = recorded(file, use)
    assert (one["query"], one["answer"], one["passages"]) == ("How heavy is it?", "Two pounds.", DOCUMENTS)
    assert [passage["doc_id"] for passage in one["candidates"]] == ["d1", "d2"]
    assert (one["tokens"], one["cost"], one["segments"]) == ({"input": 9, "output": 3}, 0.01, {"tenant": "acme"})
    assert 0 < one["latency_ms"]["retrieval"] <= one["latency_ms"]["total"] * 2
    assert "error" not in one


def test_file_is_evaluated_as_traffic(file: Path, tmp_path: Path) -> None:
    """The file is read by evaluate as traffic, every line an example, the same question twice included."""

    def use(seen: Any) -> None:
        answer = seen(lambda question: {"answer": "It weighs two pounds.", "passages": DOCUMENTS})
        for _ in range(3):
            answer("How heavy is it?")

    assert len(recorded(file, use)) == 3
    card = rg.evaluate(file, traffic=True, metrics="faithfulness", store=f"sqlite:///{tmp_path / 'store.db'}")
    assert (card.run.kind, card["faithfulness"].scored) == ("traffic", 3)
    assert card["faithfulness"].mean == pytest.approx(0.97)  # copies, by a judge with probabilities


@pytest.mark.parametrize("kind", ["plain", "coroutine", "generator", "async generator"])
def test_exceptions_are_recorded_and_raised(kind: str, file: Path) -> None:
    """The exception comes out as the same object, its text is in the line, and so is what was retrieved before."""
    boom = ValueError("no index")

    def fails(seen: Any) -> Any:
        seen.add(passages=DOCUMENTS)
        raise boom

    def use(seen: Any) -> None:
        def plain(question: str) -> str:
            return str(fails(seen))

        async def coroutine(question: str) -> str:
            return str(fails(seen))

        def generator(question: str) -> Iterator[str]:
            yield "a"
            fails(seen)

        async def stream(question: str) -> AsyncIterator[str]:
            yield "a"
            fails(seen)

        async def drained(chunks: AsyncIterator[str]) -> None:
            async for _ in chunks:
                pass

        run: dict[str, Callable[[], object]] = {
            "plain": lambda: seen(plain)("Why?"),
            "coroutine": lambda: asyncio.run(seen(coroutine)("Why?")),
            "generator": lambda: list(seen(generator)("Why?")),
            "async generator": lambda: asyncio.run(drained(seen(stream)("Why?"))),
        }
        with pytest.raises(ValueError, match="no index") as raised:
            run[kind]()
        assert raised.value is boom

    (one,) = recorded(file, use)
    assert (one["query"], one["error"], one["passages"]) == ("Why?", "ValueError: no index", DOCUMENTS)
    assert "answer" not in one


def test_streams_of_text_pass_unchanged(file: Path) -> None:
    """Chunks, values sent in, exceptions thrown in and the return value go through; the answer is the chunks joined."""
    got: list[Any] = []

    def talk(question: str) -> Any:
        try:
            got.append((yield "One "))
            yield "two."
        except KeyError:
            yield "caught."
        return "end"

    def outer(function: Any) -> Any:
        result = yield from function("Which?")
        got.append(result)

    def returns_stream(question: str) -> Any:
        return talk(question)

    def use(seen: Any) -> None:
        wrapped = seen(talk)
        assert inspect.isgeneratorfunction(wrapped)
        stream = outer(wrapped)
        assert next(stream) == "One "
        assert seen.current_call.get() is None  # the reader of a stream is not inside of the question
        assert stream.send("hello") == "two."
        assert list(stream) == []
        thrown = wrapped("Which?")
        next(thrown)
        assert thrown.throw(KeyError("x")) == "caught."
        list(thrown)
        early = wrapped("Which?")
        next(early)
        early.close()
        assert list(seen(returns_stream)("Which?")) == ["One ", "two."]  # returned, not yielded

    found = recorded(file, use)
    assert got[:2] == ["hello", "end"]
    assert [one.get("answer") for one in found] == ["One two.", "One caught.", None, "One two."]
    assert found[2]["missing"]["answer"] == "truncated: its reader stopped after 4 characters"


def test_async_streams_pass_unchanged(file: Path) -> None:
    """An async stream gives the same chunks, takes what is sent, and is closed when its reader stops."""
    closed: list[str] = []

    async def talk(question: str) -> Any:
        try:
            sent = yield "One "
            yield f"{sent}."
        finally:
            closed.append(question)

    async def use() -> None:
        with opened(file) as seen:
            wrapped = seen(talk)
            assert inspect.isasyncgenfunction(wrapped)
            stream = wrapped("a")
            assert await anext(stream) == "One "
            assert await stream.asend("two") == "two."
            assert [chunk async for chunk in stream] == []
            early = wrapped("b")
            await anext(early)
            await early.aclose()

    asyncio.run(use())
    found = lines(file)
    assert [one.get("answer") for one in found] == ["One two.", None]
    assert closed == ["a", "b"]


def test_calls_inside_a_call_belong_to_it(file: Path) -> None:
    """A recorded function that calls recorded functions is one line; several retrievals are hops."""

    def use(seen: rg.Capture) -> None:
        @seen.retrieval
        def retrieve(query: str) -> list[str]:
            return [f"About {query}.", "Both."]

        @seen
        def inner(question: str) -> str:
            return " ".join(retrieve(question))

        @seen
        def outer(question: str) -> str:
            with seen.question("within"):
                return inner("hubs") + inner("fees")

        outer("What?")
        inner("Alone?")

    found = recorded(file, use)
    assert [one["query"] for one in found] == ["What?", "Alone?"]
    assert [(one["text"], one.get("hop", 0)) for one in found[0]["passages"]] == [
        ("About hubs.", 0),
        ("Both.", 0),
        ("About fees.", 1),
    ]


def test_threads_and_tasks_do_not_mix(file: Path) -> None:
    """200 questions in 8 threads and 200 tasks: every line has the passages and the answer of its own question."""

    def use(seen: rg.Capture) -> None:
        @seen.retrieval
        def retrieve(question: str) -> list[str]:
            return [f"passage of {question}"]

        @seen
        def answer(question: str) -> str:
            sleep(0.0005)
            return f"answer from {retrieve(question)[0]}"

        @seen
        async def task(question: str) -> str:
            await asyncio.sleep(0.001)
            return f"answer from {retrieve(question)[0]}"

        async def tasks() -> None:
            await asyncio.gather(*(task(f"task {n}") for n in range(200)))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(answer, [f"thread {n}" for n in range(200)]))
        asyncio.run(tasks())

    found = recorded(file, use)
    assert len({one["query"] for one in found}) == len({one["query_id"] for one in found}) == 400
    for one in found:
        assert [passage["text"] for passage in one["passages"]] == [f"passage of {one['query']}"]
        assert one["answer"] == f"answer from passage of {one['query']}"


def test_question_as_a_block_and_methods(file: Path) -> None:
    """A block records what is added; a method's question is not its self; a dictionary's question is read out."""

    class Rag:
        def ask(self, question: str) -> list[Any]:
            return DOCUMENTS

    def use(seen: Any) -> None:
        with seen.question("Block?") as one:
            one.add(answer="Yes.", passages=DOCUMENTS, citations=["d1"])
        seen(Rag.ask)(Rag(), "Method?")
        seen(lambda payload: ("Pair.", DOCUMENTS))({"question": "Payload?", "chat_history": []})
        seen(query="text")(lambda k, text: None)(3, "Named?")

    found = recorded(file, use)
    assert [one["query"] for one in found] == ["Block?", "Method?", "Payload?", "Named?"]
    assert [one.get("answer") for one in found] == ["Yes.", None, "Pair.", None]
    assert found[0]["citations"] == [{"start": 0, "end": 4, "doc_id": "d1"}]
    assert found[1]["missing"]["answer"] == "retrieval only"


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot be printed")


def test_nothing_is_raised_into_the_system(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Results that no answer can be read of, and exceptions that cannot be printed, are said or counted."""
    with opened(file) as seen:
        assert seen(lambda question: 3 + 4j)("Complex?") == 3 + 4j
        assert seen(lambda question: {"passages": object(), "answer": "x"})(None)["answer"] == "x"
        with pytest.raises(OddError), seen.question("Odd?"):
            raise OddError
    found = lines(file)
    assert [one["query"] for one in found] == ["Complex?", "None"]
    assert found[0]["missing"]["answer"].startswith("not readable: it returned a complex")
    assert (seen.recorded, seen.lost) == (2, 1)
    assert len(caplog.records) == 1


FULL = """
import logging, resource, signal, sys, ragauge as rg
logging.basicConfig(format="%(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
seen = rg.capture(sys.argv[1])
answer = seen(lambda question: question.upper())
for n in range(20):
    assert answer(f"q{n}") == f"Q{n}"
    seen.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
answer("last")
seen.close()
print(seen.recorded, seen.lost)
"""


def test_full_disk_is_one_warning(file: Path) -> None:
    """Where a file may not grow the system goes on, the loss is counted and said once, and every line is whole."""
    # -B: Python would leave its own compiled files cut off in the tree, too
    done = subprocess.run([sys.executable, "-B", "-c", FULL, str(file)], capture_output=True, text=True, check=True)
    kept, lost = map(int, done.stdout.split())
    assert lost > 5
    assert kept + lost == 21
    assert [done.stderr.count(words) for words in ("cannot be written", "\n")] == [1, 1]
    found = [one["answer"] for one in lines(file)]
    assert (len(found), found[0], found[-1]) == (kept, "Q0", "LAST")


def test_large_files_are_rotated(tmp_path: Path) -> None:
    """Beyond the limit a file is renamed and a new one begun; no line is lost, none is cut."""
    file = tmp_path / "answers.jsonl"
    with opened(file, rotate_mb=0.01) as seen:
        answer = seen(lambda question: "x" * 300)
        for n in range(100):
            answer(str(n))
            if n % 10 == 9:
                seen.flush()
    files = sorted(tmp_path.iterdir())
    assert len(files) > 2
    assert all(path.stat().st_size <= 0.01 * 1_048_576 for path in files)
    assert {one["query"] for path in files for one in lines(path)} == {str(n) for n in range(100)}


def test_a_line_cut_by_a_crash_spoils_no_other(file: Path) -> None:
    """After a file that ends within a line, the next line begins a new one."""
    file.parent.mkdir()
    file.write_text('{"query_id": "cut')
    writer = RotatingLines(file, 10_000)
    writer.append(["{}"])
    writer.close()
    assert file.read_text() == '{"query_id": "cut\n{}\n'


KILLED = """
import sys, time, ragauge as rg
seen = rg.capture(sys.argv[1])
answer = seen(lambda question: question.upper())
for n in range(50):
    answer(f"question {n}")
seen.flush()
print("ready", flush=True)
answer("in flight")
time.sleep(60)
"""


def test_killed_process_keeps_what_was_flushed(file: Path) -> None:
    """After kill -9 every line that was flushed is there, each of them whole."""
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert [one["query"] for one in lines(file)][:50] == [f"question {n}" for n in range(50)]


def test_end_of_program_waits_for_the_file(file: Path) -> None:
    """A program that never closes its capture loses nothing."""
    code = KILLED.partition("seen.flush()")[0]
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)
    assert len(lines(file)) == 50


def test_forked_processes_share_a_file(file: Path) -> None:
    """A process that is forked off records into the same file, and nothing twice."""
    code = (
        "import os, sys, warnings, ragauge as rg\n"
        "seen = rg.capture(sys.argv[1])\n"
        "answer = seen(lambda question: question.upper())\n"
        "answer('parent before')\n"
        "pid = os.fork()\n"
        "answer('child' if pid == 0 else 'parent after')\n"
        "seen.close()\n"
        "os._exit(0) if pid == 0 else os.waitpid(pid, 0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)
    assert sorted(one["query"] for one in lines(file)) == ["child", "parent after", "parent before"]


def test_sample_is_weighted(file: Path) -> None:
    """A share of the questions is recorded with weight 1 / share; functions inside of one not drawn record nothing."""
    with opened(file, sample=0.25) as seen:
        inner = seen(lambda question: "x")
        outer = seen(lambda question: inner("inner"))
        for _ in range(400):
            outer("outer")
    found = lines(file)
    assert {one["query"] for one in found} == {"outer"}
    assert {one["weight"] for one in found} == {4.0}
    assert 60 <= len(found) <= 140  # 100 ± 4.6 standard deviations of a binomial(400, 1/4)
    with pytest.raises(UsageError, match="sample must be above 0"):
        rg.capture(file, sample=0)
    with pytest.raises(UsageError, match="rotate_mb"):
        rg.capture(file, rotate_mb=0)


def test_closed_capture_records_nothing(file: Path) -> None:
    """After the end of `with`, the functions work and nothing is recorded; no thread is left."""
    with opened(file) as seen:
        answer = seen(lambda question: question)
        answer("a")
    assert answer("b") == "b"
    with seen.question("c") as one:
        one.add(answer="d")
    assert len(lines(file)) == 1
    assert "ragauge-capture" not in {thread.name for thread in threading.enumerate()}


def test_overhead_is_small(file: Path, record_property: Callable[[str, object], None]) -> None:
    """Recording a question with 10 passages costs its caller less than 50 microseconds."""
    passages = [{"doc_id": f"d{n}", "text": "x" * 500, "score": 0.5} for n in range(10)]
    with rg.capture(file) as seen:

        @seen.retrieval
        def retrieve(question: str) -> list[Any]:
            return passages

        @seen
        def answer(question: str) -> str:
            retrieve(question)
            return "Two pounds."

        answer("warm")
        seen.flush()
        each = []
        for _ in range(30):
            started = thread_time()  # of this thread: neither other programs nor the writing thread
            for _ in range(100):
                answer("How heavy is it?")
            each.append((thread_time() - started) * 1e6 / 100)
            seen.flush()
    typical = sorted(each)[len(each) // 2]
    record_property("figure", f"capture: {typical:.1f} µs of the caller a question with 10 passages (target 50)")
    assert typical < 50
