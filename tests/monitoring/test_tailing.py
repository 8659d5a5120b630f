"""Files that an exporter appends to: each line once, across kills, rotation and lines that are half written."""

from __future__ import annotations

import json
import secrets
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.monitoring.conftest import TRACE, traces
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_settling import LATER, chain, finder, held, passages

from ragauge.monitoring.intake.body_parser import BodyParser
from ragauge.monitoring.intake.receiver import TailedFile
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.store.inbox import ReadDelay
from ragauge.store.store_access import Store, open_store


def spans_line(trace_id: str = TRACE) -> str:
    return json.dumps(traces(chain(trace_id=trace_id), finder(trace_id=trace_id))) + "\n"


def response_line(query_id: str) -> str:
    found = [{"doc_id": "a.md", "text": "Refunds take 14 days."}]
    return json.dumps({"query_id": query_id, "query": "How long?", "answer": "14 days.", "passages": found}) + "\n"


def appended(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture
def told() -> list[str]:
    return []


def tail_of(store: Store, path: Path, told: list[str], redaction: Redaction | None = None) -> TailedFile:
    """A new one each time, as after a restart."""
    return TailedFile(store, path, BodyParser(redaction), ReadDelay(), told.append)


def test_spans_and_responses_of_a_file(store: Store, tmp_path: Path, told: list[str]) -> None:
    """Lines of OTLP/JSON and of responses become the responses that a sender's would; a line is taken once it is whole.

    What cannot be read is left out with its place, and takes no other line with it.
    """
    path = tmp_path / "spans.jsonl"
    assert tail_of(store, path, told).read() == 0  # not there yet
    half = spans_line("12" * 16)
    appended(path, spans_line() + '{no JSON\n\n[1]\n{"foo": 1}\n' + response_line("q1") + half[:50])
    assert tail_of(store, path, told).read() > 0
    assert tail_of(store, path, told).read() == 0
    assert store.inbox.counts().traces == 2
    appended(path, half[50:])
    tail_of(store, path, told).read()
    while settle_traces(store, Policy(), LATER):
        pass
    found = held(store)
    assert sorted(found) == sorted([TRACE, "12" * 16, "q1"])
    assert passages(found[TRACE]) == ["a.md"]
    (said,) = told
    assert f"the line ending at byte {len(spans_line()) + 9:,}: it is not valid JSON" in said
    assert said.count("the line ending at byte") == 3
    assert said.endswith("expected a response, with query and answer, got an object with foo.")


def test_what_is_redacted_is_not_kept(store: Store, tmp_path: Path, told: list[str]) -> None:
    """Lines of a file are redacted as requests are, before they are kept."""
    path = tmp_path / "spans.jsonl"
    appended(path, spans_line() + response_line("q1"))
    tail_of(store, path, told, Redaction(patterns=("14",))).read()
    assert [b"14 days" in batch.body for _, batch in store.inbox.read(range(9))] == [False, False]


def test_a_file_that_is_rotated(store: Store, tmp_path: Path, told: list[str]) -> None:
    """The old file is read to its end under its new name, then the new one from its beginning; a copy is as good."""
    path = tmp_path / "spans.jsonl"
    appended(path, response_line("q1"))
    tail_of(store, path, told).read()
    appended(path, response_line("q2") + response_line("q3").rstrip())  # its last line was never ended
    path.rename(tmp_path / "spans-1.jsonl")
    appended(path, response_line("q4"))
    tail_of(store, path, told).read()
    appended(path, response_line("q5"))
    (tmp_path / "spans.jsonl.2").write_bytes(path.read_bytes())
    path.write_text(response_line("q6"))
    tail_of(store, path, told).read()
    assert told == []
    path.write_text("")
    (tmp_path / "spans.jsonl.2").unlink()
    appended(path, response_line("q7"))
    path.write_text(response_line("q8"))
    tail_of(store, path, told).read()
    assert len(told) == 1
    assert store.inbox.counts().traces == 7
    assert store.inbox.find_trace("q8") is not None
    assert store.inbox.find_trace("q7") is None  # overwritten before it was looked at: this cannot be seen


@pytest.mark.parametrize(
    "names",
    [
        ("spans.jsonl.3", "spans.jsonl.2", "spans.jsonl.1"),
        tuple(f"spans-2026-01-31T1{hour}-00-00.000.jsonl" for hour in range(3)),
    ],
)
def test_what_was_rotated_between_two_looks_is_read(
    store: Store, tmp_path: Path, told: list[str], names: tuple[str, ...]
) -> None:
    """Files that came and were renamed before they were looked at are read in order; others beside them are not."""
    path = tmp_path / "spans.jsonl"
    appended(path, response_line("q0"))
    tail_of(store, path, told).read()
    appended(path, response_line("q1"))
    path.rename(tmp_path / names[0])
    for n, name in enumerate(names[1:], 2):
        appended(tmp_path / name, response_line(f"q{n}"))
    appended(path, response_line("q4"))
    for name in ("spans.jsonl.4", "spans-2026-01-30T10-00-00.000.jsonl", "spans-other.jsonl", "spans.jsonl.bak"):
        appended(tmp_path / name, response_line(name))
    tail_of(store, path, told).read()
    lines = [line for _, batch in store.inbox.read(range(99)) for line in batch.body.splitlines()]
    found = [json.loads(line)["query_id"] for line in lines]
    assert (found, told) == (["q0", "q1", "q2", "q3", "q4"], [])


def test_a_look_that_is_cut_off_repeats_nothing(
    store: Store, tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends between the place and the batches keeps neither; the next look has all, once. So do two at a time."""
    path = tmp_path / "answers.jsonl"
    for n in range(200):
        appended(path, response_line(f"q{n}"))
    with monkeypatch.context() as patch:
        patch.setattr(type(store.inbox), "add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            tail_of(store, path, told).read()
    assert store.inbox.load_tail(str(path)).offset == 0
    monkeypatch.setattr("ragauge.monitoring.intake.receiver.READ_SIZE_BYTES", 999)

    def work() -> None:
        with open_store(store.url) as own:
            tail_of(own, path, told).read()

    both = [threading.Thread(target=work) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    batches = [batch for _, batch in store.inbox.read(range(999))]
    assert b"\n".join(one.body for one in batches).count(b'"query_id"') == 200
    assert store.inbox.counts().traces == 200


@pytest.mark.server
def test_the_server_is_killed_as_the_file_grows(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Killed by kill -9 while lines are appended: after the next start every line is there, once."""
    path = tmp_path / "spans.jsonl"
    ids = [secrets.token_hex(16) for _ in range(60)]
    server = served("--tail", str(path))
    assert any("(it does not exist yet)" in line for line in server.told)
    for one in ids[:30]:
        appended(path, spans_line(one))
    waits(lambda: store.inbox.counts().traces > 0)
    server.end(signal.SIGKILL)
    for one in ids[30:]:
        appended(path, spans_line(one))
    again = served("--tail", str(path))
    waits(lambda: store.inbox.counts().traces == len(ids))
    assert again.end() == 0
    assert store.inbox.counts().batches == len(ids)
    assert store.inbox.load_tail(str(path)).offset == path.stat().st_size
