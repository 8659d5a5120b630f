"""From traffic that turns bad to the alert that somebody is told of, through the server as it is started."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_service import told
from tests.monitoring.test_watcher import hook

from ragauge.monitoring.intake import body_parser
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store

CONFIG = """
monitor:
  judge: none
  metrics: [empty_result_rate]
  sample: {{rate: 100%}}
  wait: {{ended: 1s, quiet: 2s}}
  monitors: [{{metric: empty_result_rate, max: 5%}}]
  notify: [{{webhook: "{address}"}}]
"""
DAYS, REQUESTS, BAD = 3, 20, 40


def requests(names: Sequence[str], *, found: bool) -> bytes:
    """Responses as rg.capture writes them, with a passage or with none."""
    passages = [{"doc_id": "a.md", "text": "Refunds take 14 days."}] if found else []
    return b"\n".join(
        json.dumps({"query_id": name, "query": "How long?", "answer": "14 days.", "passages": passages}).encode()
        for name in names
    )


def came_before(store: Store, days: int) -> None:
    """Good traffic, taken in so many days ago."""
    found = body_parser.parse_lines(requests([f"good{days}-{n}" for n in range(REQUESTS)], found=True))
    store.inbox.add([Batch(time.time() - days * DAY_S, "responses", found.body, found.parts)])


@pytest.mark.server
def test_traffic_that_turns_bad(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Three good days raise nothing; when retrieval finds nothing the next day, one alert is raised, told and listed.

    Which days these are does not matter: they lie before now.
    """
    config = tmp_path / "ragauge.yaml"
    for days in range(DAYS, 0, -1):
        came_before(store, days)
    with hook(0) as (address, seen):
        config.write_text(CONFIG.format(address=address))
        server = served("--config", str(config))
        assert "Judged: 100% of requests; metrics: empty_result_rate; judge: none\n" in server.told
        read = next(line for line in server.told if line.startswith("Included: "))
        assert "requests with retrieval; requests without retrieval, indexing" in read
        assert "set without_retrieval: true in the monitor section of ragauge.yaml" in read
        waits(lambda: sum(one.n for one in store.ledger.counts() if one.outcome == "scored") == DAYS * REQUESTS)
        assert store.monitors.list_alerts() == []
        bad = requests([f"bad-{n}" for n in range(BAD)], found=False)
        assert server.send("/v1/responses", bad, "application/x-ndjson") == 200
        waits(lambda: bool(seen))
        assert server.end() == 0
    (kept,) = store.monitors.list_alerts()
    assert kept.alert.monitor == "empty_result_rate"
    assert kept.alert.trace_id.startswith("bad-")
    assert kept.alert.ended_at is None
    ((_, body),) = seen
    assert body["alert"] == kept.alert.alert_id
    assert body["title"].startswith("empty_result_rate has been ")
    assert {one[:4] for one in body["traces"]} == {"bad-"}
    assert "How long?" not in json.dumps(body)
    assert kept.alert.alert_id in told(store, "alerts")
    assert len(store.runs.list()) == DAYS + 1  # a run a day
