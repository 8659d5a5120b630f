"""How many traces a second `ragauge monitor serve` takes in, durable before it answers, and makes responses of.

    python bench/ingest.py --rate 5% --seconds 60      # durable, the judge asked about 5 %
    python bench/ingest.py --rate 100% --seconds 60    # about each; all are responses in any case

Senders are threads of this process: protobuf, batches of ten traces of four spans with three passages. The server is a
process of its own, on a new store. Times of the processor are said beside those of the clock: other programs on the
machine take their share of the latter.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragauge.store.store_access import open_store

PASSAGE = "A hub can be returned within 30 days of delivery, and return shipping is free in the European Union. " * 4
TICKS = os.sysconf("SC_CLK_TCK")


def template(traces: int) -> bytes:
    """A batch whose trace ids are @NN@ four times, to be replaced in the bytes."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    _set(resource.resource, {"service.name": "bench"})
    spans = resource.scope_spans.add().spans
    for n in range(traces):
        trace_id = f"@{n:02}@".encode() * 4
        ids = [bytes([n + 1, kind + 1]) * 4 for kind in range(4)]
        named: list[dict[str, Any]] = [
            {
                "openinference.span.kind": "CHAIN",
                "input.value": f"How long can hub {n} be returned?",
                "output.value": "A hub can be returned within 30 days of delivery.",
                "session.id": f"s{n}",
            },
            {
                "openinference.span.kind": "RETRIEVER",
                "input.value": f"How long can hub {n} be returned?",
                **{
                    f"retrieval.documents.{place}.document.{key}": value
                    for place in range(3)
                    for key, value in (
                        ("id", f"{place}.md"),
                        ("content", f"{place} {PASSAGE}"),
                        ("score", 0.9 - place / 9),
                    )
                },
            },
            {
                "openinference.span.kind": "LLM",
                "llm.model_name": "m",
                "llm.token_count.prompt": 900,
                "llm.token_count.completion": 60,
                "output.value": "A hub can be returned within 30 days of delivery.",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": PASSAGE * 3,
            },
            {"http.method": "POST", "http.status_code": 200},
        ]
        for kind, one in enumerate(named):
            parent = b"" if kind == 0 else ids[0]
            span = spans.add(
                trace_id=trace_id,
                span_id=ids[kind],
                parent_span_id=parent,
                name=f"step {kind}",
                start_time_unix_nano=10**18 + kind,
                end_time_unix_nano=10**18 + 10**9 - kind,
            )
            _set(span, one)
    return bytes(request.SerializeToString())


def _set(holder: Any, named: dict[str, Any]) -> None:
    for key, value in named.items():
        into = holder.attributes.add(key=key).value
        field_name = {str: "string_value", int: "int_value", float: "double_value"}[type(value)]
        setattr(into, field_name, value)


@dataclass
class Load:
    """Senders of batches, and what they were told.

    Attributes:
        address: of the server.
        body: the template.
        traces: in a batch.
        rate: traces a second that are offered, over all senders; 0 = as many as go.
        until: when they stop, by the monotonic clock.
        taken: traces that were answered with 200.
        refused: batches that were not.
        waits: seconds that each answer took.
    """

    address: str
    body: bytes
    traces: int
    rate: float
    until: float
    taken: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, senders: int) -> None:
        """One sender: a batch after another."""
        where = urlsplit(self.address)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        pace = self.traces * senders / self.rate if self.rate else 0.0
        due = time.monotonic()
        while (began := time.monotonic()) < self.until:
            ids = [secrets.token_bytes(16) for _ in range(self.traces)]
            body = self.body
            for n, trace_id in enumerate(ids):
                body = body.replace(f"@{n:02}@".encode() * 4, trace_id)
            connection.request("POST", "/v1/traces", body, {"content-type": "application/x-protobuf"})
            answer = connection.getresponse()
            answer.read()
            with self.lock:
                self.waits.append(time.monotonic() - began)
                self.taken += self.traces if answer.status == 200 else 0
                self.refused += answer.status != 200
            due += pace
            time.sleep(max(0.0, due - time.monotonic()))


def served(folder: Path, rate: str) -> tuple[subprocess.Popen[str], str, str]:
    """A server on a new store: its process, its address, its store."""
    config, url = folder / "ragauge.yaml", f"sqlite:///{folder / 'store.db'}"
    config.write_text(f"monitor: {{judge: none, metrics: [latency, empty_result_rate], sample: {{rate: {rate}}}}}\n")
    command = [sys.executable, "-m", "ragauge", "monitor", "serve", "--store", url, "--port", "0", "--config", config]
    process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"OTEL_EXPORTER_OTLP_ENDPOINT=(\S+)", line)
        if found:
            threading.Thread(target=lambda: [print(f"server: {said}", end="") for said in process.stderr or ()]).start()
            return process, found[1], url
    raise SystemExit("the server did not start")


def processor(pid: int) -> float:
    """Seconds of the processor that a process took."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / TICKS


def most_memory(pid: int) -> float:
    """MB that a process held at most."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1e3


def main() -> None:
    """Sends for a while, waits until all is read, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", default="5%", help="share of the traces that are drawn for the judge")
    parser.add_argument("--offered", type=float, default=0.0, help="traces a second; 0 = as many as go")
    parser.add_argument("--senders", type=int, default=8)
    parser.add_argument("--traces", type=int, default=10, help="in a batch")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds for the rest to be read")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, address, url = served(Path(folder), given.rate)
        began, before = time.monotonic(), processor(process.pid)
        load = Load(address, template(given.traces), given.traces, given.offered, began + given.seconds)
        senders = [threading.Thread(target=load.send, args=(given.senders,)) for _ in range(given.senders)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        took, spent = time.monotonic() - began, processor(process.pid) - before
        with open_store(url) as store:
            at_end = store.inbox.counts()
            end = time.monotonic()
            while store.inbox.counts().waiting and time.monotonic() < end + given.wait:
                time.sleep(0.5)
            read_after, left = time.monotonic() - end, store.inbox.counts().waiting
            outcomes: dict[str, int] = {}
            for count in store.ledger.counts():
                outcomes[count.outcome] = outcomes.get(count.outcome, 0) + count.n
            responses = sum(run.done for run in store.runs.list())
        all_spent, memory = processor(process.pid) - before, most_memory(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    waits = sorted(load.waits)
    print(
        json.dumps(
            {
                "traces_taken": load.taken,
                "refused_batches": load.refused,
                "kept": at_end.traces,
                "seconds": round(took, 1),
                "traces_a_second": round(load.taken / took),
                "processor_seconds": round(spent, 1),
                "traces_a_processor_second": round(load.taken / spent),
                "processor_seconds_in_all": round(all_spent, 1),
                "answer_ms": {
                    name: round(1e3 * waits[int(len(waits) * at)], 1) for name, at in (("p50", 0.5), ("p99", 0.99))
                },
                "read_by_then": at_end.traces - at_end.waiting,
                "rest_read_after_seconds": round(read_after, 1),
                "unread": left,
                "outcomes": outcomes,
                "responses": responses,
                "most_memory_mb": round(memory),
                "batch_bytes": len(load.body),
                "load_of_machine": os.getloadavg()[0],
            },
            indent=2,
        )
    )
    assert at_end.traces == load.taken, "an acknowledged trace is not there"


if __name__ == "__main__":
    main()
