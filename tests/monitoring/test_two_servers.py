"""Two servers on one store: both take in and work; nothing is there, judged or told twice, and one can be killed."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import httpx
import pytest
from tests.loopback.server import FaultyServer
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_watcher import hook

from ragauge.monitoring.intake import body_parser
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store

CONFIG = """
monitor:
  judge: "openai-chat:any@{model}"
  metrics: [faithfulness, empty_result_rate]
  canary: 0
  sample: {{rate: 100%}}
  wait: {{ended: 1s, quiet: 2s}}
  monitors: [{{metric: empty_result_rate, max: 5%}}, {{metric: faithfulness, min: 0.9}}]
  notify: [{{webhook: "{hook}"}}]
"""
BEFORE, A_BATCH, BATCHES = 40, 5, 10


def request(name: str, *, found: bool) -> bytes:
    """A request whose texts are its own, so that what a judge is asked of it is asked of no other."""
    passages = [{"doc_id": "a.md", "text": f"The code of {name} is {name[::-1]}."}] if found else []
    answer = f"The code of {name} is {name[::-1] if found else 'not known to us at all'}."
    row = {"query_id": name, "query": f"Which code has {name}?", "answer": answer, "passages": passages}
    return json.dumps(row).encode()


def scored(store: Store) -> int:
    """How many requests have their last word."""
    return sum(one.n for one in store.ledger.counts() if one.outcome == "scored")


def sending(server: Server, names: list[str], acknowledged: list[str]) -> None:
    """Sends requests of which nothing is found; keeps the names of those that were answered with 200."""
    for start in range(0, len(names), A_BATCH):
        part = names[start : start + A_BATCH]
        body = b"\n".join(request(name, found=False) for name in part)
        try:
            if server.send("/v1/responses", body, "application/x-ndjson") == 200:
                acknowledged += part
        except httpx.HTTPError:
            return
        time.sleep(0.2)


@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_two_servers_on_one_store(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Both take in and share the work, one is killed under load, and the other does what it left.

    Every acknowledged request is one response with one score, the model is asked about none twice but for what was on
    its way when the server was killed, and each alert is raised and told once.
    """
    config, acknowledged = tmp_path / "ragauge.yaml", list[str]()
    found = body_parser.parse_lines(b"\n".join(request(f"good{n:03}", found=True) for n in range(BEFORE)))
    store.inbox.add([Batch(time.time() - DAY_S, "responses", found.body, found.parts)])
    with FaultyServer(latency=0.05) as model, hook(0) as (address, seen):
        config.write_text(CONFIG.format(model=model.url, hook=address))
        servers = [served("--config", str(config)) for _ in range(2)]
        waits(lambda: scored(store) == BEFORE, 300)
        asked = Counter(json.dumps(one.body, sort_keys=True) for one in model.requests)
        assert max(asked.values()) == 1
        names = [f"bad{n:04}" for n in range(2 * A_BATCH * BATCHES)]
        senders = [
            threading.Thread(target=sending, args=(server, names[place::2], acknowledged))
            for place, server in enumerate(servers)
        ]
        for sender in senders:
            sender.start()
        waits(lambda: names[2] in acknowledged)
        time.sleep(Random(26).uniform(0.0, 1.0))
        servers[0].end(signal.SIGKILL)
        for sender in senders:
            sender.join()
        waits(lambda: scored(store) >= BEFORE + len(acknowledged), 300)
        waits(lambda: len({body["alert"] for _, body in seen}) == 2, 300)
        time.sleep(6)  # a look later nothing more is told
        assert servers[1].end() == 0
        twice = sum(n - 1 for n in Counter(json.dumps(one.body, sort_keys=True) for one in model.requests).values())
    assert len(acknowledged) > A_BATCH * BATCHES  # the other one took everything that was sent to it
    there = [example.query_id for run in store.runs.list() for example, _ in store.runs.pairs(run.run_id)]
    assert len(there) == len(set(there))
    assert set(acknowledged) <= set(there)
    for run in store.runs.list():
        judge_id = next(iter(store.scores.judges(run.run_id)), None)
        frame = store.scores.load_frame(run.run_id, judge_id)
        assert frame.select("query_id", "metric").is_duplicated().sum() == 0
    assert twice <= 8  # asks on their way at once
    alerts = [one.alert for one in store.monitors.list_alerts()]
    assert sorted(one.monitor for one in alerts) == ["empty_result_rate", "faithfulness"]
    assert sorted(body["alert"] for _, body in seen) == sorted(one.alert_id for one in alerts)
