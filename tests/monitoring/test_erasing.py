"""A person's data is deleted wherever it is kept, others' stays, and the files show no byte of it."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sqlite3
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.data.spans import attributes as named
from tests.monitoring.conftest import CHILD, ROOT, span, traces
from tests.monitoring.test_settling import KIND, LATER

from ragauge.cli.main import main
from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.facts import Evidence
from ragauge.core.identity import hash_json
from ragauge.core.label import Label
from ragauge.core.response import Run
from ragauge.engine.label_questions import build_key
from ragauge.engine.request_stream import get_traffic_day
from ragauge.monitoring.erasing import delete_old_runs, erase_traces
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.series import ALL
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.store.evidence import PackedEvidence
from ragauge.store.monitors import Delivery
from ragauge.store.store_access import Store, open_store

Sender = Callable[..., TestClient]
HERS, HIS, LATE = "aa" * 16, "bb" * 16, "cc" * 16
AT = datetime(2026, 1, 1, tzinfo=UTC)
MARK = "zqxmarker"  # in all that is hers, and in nothing else


def chat(trace_id: str, user: str, mark: str) -> list[dict[str, object]]:
    asked = {
        KIND: "CHAIN",
        "input.value": f"How is {mark} paid back?",
        "output.value": f"The {mark} comes in 14 days. " * 9,
        "user.id": user,
        "metadata": json.dumps({"tenant": f"firm-{user}"}),
    }
    retrieved = {
        KIND: "RETRIEVER",
        "retrieval.documents.0.document.id": "a",
        "retrieval.documents.0.document.content": f"A letter to {mark}.",
    }
    return [
        span(ROOT, trace_id=trace_id, attributes=named(asked)),
        span(CHILD, ROOT, trace_id=trace_id, attributes=named(retrieved)),
    ]


def everything(folder: Path) -> str:
    """All that the files of a store hold, and all that they pack, as text."""
    raw = b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    packed = []
    for path in folder.glob("*.db"):
        with sqlite3.connect(path) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - a table of the schema
                    for one in row:
                        with suppress(zlib.error):  # a hash may begin so too
                            if isinstance(one, bytes) and one[:1] == b"\x01":
                                packed.append(zlib.decompress(one[1:]))
    return (raw + b"".join(packed)).decode("utf-8", "replace")


@pytest.fixture
def filled(sender: Sender, store: Store) -> Store:
    """Two users' traces in one batch, settled, with a judge's evidence and reply, a label, an alert; one more waits."""
    client = sender()
    assert client.post("/v1/traces", json=traces(*chat(HERS, "anna", MARK), *chat(HIS, "bert", "plain"))).is_success
    settle_traces(store, Policy(segments={"tenant": "metadata.tenant"}), LATER)
    (run,) = store.runs.list()
    for item in store.runs.load([number for number, _ in store.runs.load_order(run.run_id)]):
        mark = MARK if item.example.query_id == HERS else "plain"
        ask = Ask("chat", "verify_answer", 1, (("user", f"Is it so that {mark} is paid?"),))
        (reply,) = store.replies.put([(ModelName("openai", "m"), ask, Reply("ok", f"Yes, {mark} is."))])
        found = Evidence(hash_json(mark), "verify_answer", 1, "judge", "failed", None, 0, (reply.key,), f"about {mark}")
        store.evidence.add([(item.response_no, PackedEvidence.of(found))])
        key = build_key("support", item)
        assert key is not None
        store.labels.add([Label(key, None, "support", "supported", f"by {mark}")])
        alert = Alert(
            f"a{item.response_no}",
            "faithfulness",
            "",
            ALL,
            AT,
            1,
            item.example.query_id,
            AT.date(),
            0.5,
            9,
            0.8,
            0.9,
            9.0,
            5.0,
            1,
            "test",
            False,
        )
        store.monitors.save_alerts([alert])
        body = {"traces": [item.example.query_id], "examples": [{"query": f"How is {mark} paid back?"}]}
        store.monitors.add_deliveries([Delivery(f"d{item.response_no}", alert.alert_id, "t", body)])
    assert client.post("/v1/traces", json=traces(*chat(LATE, "bert", "plain"))).is_success
    return store


@pytest.mark.parametrize("whose", [{"trace": HERS}, {"user": "anna"}, {"tenant": "firm-anna"}])
def test_no_byte_of_it_is_left(whose: dict[str, str], filled: Store, tmp_path: Path) -> None:
    """By trace, user or tenant: a planted marker is in no file, page, log or packed body; the other's text stays."""
    (tmp_path / "answers.jsonl").write_text(f'{{"a": "x"}}\n{{"a": "How is {MARK} paid back?"}}\n')
    assert MARK in everything(tmp_path)
    trace_ids = [whose.pop("trace")] if "trace" in whose else []
    before = erase_traces(filled, trace_ids, whose, dry=True)
    assert before.dry
    assert MARK in everything(tmp_path)
    found = erase_traces(filled, trace_ids, whose)
    assert (found.traces, found.left, found.files) == (1, {}, {})
    assert found.deleted["responses"] == found.deleted["raw batches"] == 1
    filled.close()
    after = everything(tmp_path)
    assert MARK not in after
    assert HERS not in after
    assert after.count("How is plain paid back?") >= 2  # raw and settled
    with open_store(filled.url) as again:
        (run,) = again.runs.list()
        assert [example.query_id for _, example in again.runs.iter_examples(run.run_id)] == [HIS]
        assert again.runs.count_responses(run.run_id) == again.runs.find(run.run_id).done == 1


def test_who_is_not_known_is_said(filled: Store) -> None:
    """A trace, or a value, of which nothing is kept is an error that says so, and nothing is deleted."""
    with pytest.raises(UnknownName):
        erase_traces(filled, ["dd" * 16], {})
    with pytest.raises(UsageError, match="no data is stored for user carl"):
        erase_traces(filled, [], {"user": "carl"})
    with pytest.raises(UsageError, match="no data to delete is specified"):
        erase_traces(filled, [], {})
    assert filled.inbox.counts().batches == 2


def test_a_trace_that_waits_goes_too(filled: Store) -> None:
    """Of a user whose last trace was not read yet the raw spans and its place in the queue are deleted as well."""
    found = erase_traces(filled, [], {"user": "bert"})
    assert (found.traces, found.left) == (2, {})
    assert list(filled.erasing.iter_trace_ids()) == [HERS]


def test_a_file_that_cannot_be_changed_is_named(filled: Store, tmp_path: Path) -> None:
    """A report beside the store that quotes a question is left as it is, and named with its bytes."""
    (tmp_path / "report.html").write_text(f"<p>How is {MARK} paid back?</p>")
    assert list(erase_traces(filled, [HERS], {}).files) == [str(tmp_path / "report.html")]


def packed_forms(folder: Path, text: str) -> list[Path]:
    """Files that hold a text, each in another way; the last one has it packed in what is packed."""
    plain, said = folder / "plain.txt", text.encode()
    forms = {
        "a.gz": gzip.compress(said, mtime=0),
        "b.bz2": bz2.compress(said),
        "c.xz": lzma.compress(said),
        "d.utf16.txt": text.encode("utf-16"),
        "e.be.txt": text.encode("utf-16-be"),
        "f.json": json.dumps({"q": text}).encode(),
        "ragauge.db.gz": gzip.compress(b"x" * 9 + said, mtime=0),
        "g.jsonl": (text + "\n").encode("utf-16"),
    }
    for name, body in forms.items():
        (folder / name).write_bytes(body)
    plain.write_bytes(said)
    with zipfile.ZipFile(folder / "h.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(plain, "in/it.txt")
    with tarfile.open(folder / "i.tgz", "w:gz") as tape:
        tape.add(plain, "it.txt")
    pl.DataFrame({"q": [text]}).write_parquet(folder / "j.parquet")
    with tarfile.open(folder / "k.tar", "w") as tape:
        tape.add(folder / "a.gz", "a.gz")
        tape.add(folder / "h.zip", "h.zip")
    plain.unlink()
    return sorted(folder / name for name in (*forms, "h.zip", "i.tgz", "j.parquet", "k.tar"))


def test_what_is_packed_or_written_otherwise_is_looked_into(filled: Store, tmp_path: Path) -> None:
    """Files that any packer of the standard library made, UTF-16, JSON and Parquet are named, and stay as they are."""
    forms = packed_forms(tmp_path, f"How is {MARK} paid back?")
    before = {path: path.read_bytes() for path in forms}
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"How is plain paid back?", mtime=0))
    found = erase_traces(filled, [HERS], {})
    assert sorted(found.files) == [str(path) for path in forms]
    assert {path: path.read_bytes() for path in forms} == before
    assert found.unread == {}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (gzip.compress(b"x" * 9999, mtime=0)[:-20], "end-of-stream"),
        (b"7z\xbc\xaf\x27\x1c", "7z is not read"),
        (b"PK\x03\x04 and no more", "not a zip file"),
    ],
)
def test_what_cannot_be_looked_into_is_named(filled: Store, tmp_path: Path, body: bytes, why: str) -> None:
    """Nothing is proved of a file that is broken, or packed by what nobody here reads: it is named, with the reason."""
    (tmp_path / "dump.bin").write_bytes(body)
    found = erase_traces(filled, [HERS], {})
    assert (found.files, list(found.unread)) == ({}, [str(tmp_path / "dump.bin")])
    assert why in found.unread[str(tmp_path / "dump.bin")]


def test_a_second_deletion_looks_for_the_name(filled: Store, tmp_path: Path) -> None:
    """Once nothing is kept, files that hold the id or the name alone are named; names that hold it within are not."""
    erase_traces(filled, [], {"user": "anna"})
    (tmp_path / "who.txt.gz").write_bytes(gzip.compress(b'{"user": "anna"}', mtime=0))
    (tmp_path / "who.utf16").write_bytes("to anna, ".encode("utf-16"))
    (tmp_path / "others.txt").write_text("susanna, annabel and anna_2")
    again = erase_traces(filled, [], {"user": "anna"})
    assert sorted(again.files) == [str(tmp_path / "who.txt.gz"), str(tmp_path / "who.utf16")]
    assert "no data is stored for user anna" in again.missing
    (tmp_path / "trace.txt").write_text(f"see {HERS}.")
    assert list(erase_traces(filled, [HERS], {}).files) == [str(tmp_path / "trace.txt")]


def test_the_command_says_what_and_proves_it(
    filled: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ragauge runs delete --user`: a dry run changes nothing, and the deletion says that 0 bytes are found."""

    def typed(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["ragauge", "runs", "delete", *words, "--store", filled.url])
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return int(str(code)), said.out + said.err

    filled.close()
    code, said = typed("--user", "anna", "--dry-run")
    assert (code, said.startswith("would delete 1 trace: 1 responses")) == (0, True), said
    code, said = typed("--user", "anna", "--yes")
    assert (code, "0 bytes found" in said) == (0, True), said
    code, said = typed("--user", "anna", "--yes")
    assert (code, "no data is stored for user anna" in said) == (2, True), said
    note = Path(filled.url.removeprefix("sqlite:///")).with_name("note.txt")
    note.write_text("Called anna.")
    code, said = typed("--user", "anna", "--yes")
    assert (code, f"found: 4 bytes in {note}" in said, "only for this name or ID" in said) == (1, True, True), said
    note.write_bytes(b"7z\xbc\xaf")
    code, said = typed("--user", "bert", "--yes")
    assert (code, f"not checked: {note} (7z" in said) == (1, True), said


def test_runs_are_forgotten_after_their_time(filled: Store) -> None:
    """`keep.runs` deletes runs of traffic whose day is over for as long, with evidence and replies; not before."""
    (run,) = filled.runs.list()
    day = datetime.fromisoformat(get_traffic_day(run)).replace(tzinfo=UTC)
    assert delete_old_runs(filled, (day + timedelta(hours=23)).timestamp()) == 0
    assert delete_old_runs(filled, (day + timedelta(days=1, minutes=1)).timestamp()) == 1
    assert filled.runs.list() == []
    assert filled.replies.matching() == 0


def test_replies_that_others_use_stay(filled: Store) -> None:
    """Deleting a run takes the replies of its evidence along, but none that evidence of another run was read from."""
    (run,) = filled.runs.list()
    copy = filled.runs.import_run(Run("", "copy"), list(filled.runs.pairs(run.run_id)))
    (number, *_) = (number for number, _ in filled.runs.load_order(copy.run_id))
    (old, *_) = (number for number, _ in filled.runs.load_order(run.run_id))
    (linked,) = filled.evidence.load_linked([old], "judge")[old]
    filled.evidence.add([(number, linked)])
    gone = filled.runs.delete(run.run_id, replies=True)
    assert (gone["replies"], gone["replies that others use"]) == (1, 1)
    assert filled.replies.matching() == 1
    assert filled.runs.delete(copy.run_id, replies=True)["replies"] == 1
