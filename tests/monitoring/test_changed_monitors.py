"""Servers that are killed, doubled and given another configuration: each alert is raised and told once."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_watcher import hook

from ragauge.monitoring.intake import body_parser
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store

CONFIG = """
monitor:
  judge: none
  metrics: [empty_result_rate, latency]
  sample: {{rate: 100%}}
  segments: {{tenant: tenant}}
  wait: {{ended: 1s, quiet: 2s}}
  monitors: [{monitors}]
  notify: [{{webhook: "{hook}"}}]
"""
PLAIN = "{metric: empty_result_rate, max: 5%}"
APART = "{metric: empty_result_rate, max: 5%, segments: [tenant]}"
SLOW = "{metric: latency, share_above: 4000, max: 5%}"
LAXER = "{metric: empty_result_rate, max: 20%, segments: [tenant]}"


def requests(kind: str, n: int, *, found: bool) -> bytes:
    """Requests of two tenants, of which something is found or nothing."""
    passages = [{"doc_id": "a.md", "text": "Refunds take 14 days."}] if found else []
    rows = [
        {
            "query_id": f"{kind}{n:03}",
            "query": "How long?",
            "answer": "14 days.",
            "passages": passages,
            "tenant": "acme" if n % 2 else "bolt",
        }
        for n in range(n)
    ]
    return b"\n".join(json.dumps(row).encode() for row in rows)


@pytest.mark.prove
@pytest.mark.timeout(2400)
def test_alerts_are_told_once_whatever_is_changed(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Two servers tell an alert once; killed and begun again, nothing more; with segments added, of these alone.

    With another limit what was open ends, and the new limit's alerts are told, once each, though four servers looked.
    """
    config, said = tmp_path / "ragauge.yaml", list[tuple[str, ...]]()
    before = body_parser.parse_lines(requests("good", 80, found=True))
    store.inbox.add([Batch(time.time() - DAY_S, "responses", before.body, before.parts)])
    with hook(0) as (address, seen):

        def told() -> list[tuple[str, ...]]:
            bodies = [body for _, body in seen]
            return sorted((one["event"], one["asked"].rpartition(" ")[2], *one["segment"].values()) for one in bodies)

        def two(monitors: str) -> list[Server]:
            config.write_text(CONFIG.format(hook=address, monitors=monitors))
            return [served("--config", str(config)) for _ in range(2)]

        def settled(expected: int) -> list[tuple[str, ...]]:
            waits(lambda: len(seen) >= expected, 300)
            time.sleep(12)  # two looks later nothing more is told
            return told()

        servers = two(PLAIN)
        waits(lambda: sum(one.n for one in store.ledger.counts() if one.outcome == "scored") == 80, 300)
        assert servers[0].send("/v1/responses", requests("bad", 80, found=False), "application/x-ndjson") == 200
        said = settled(1)
        assert said == [("fired", "0.05")]
        for one in servers:
            one.end(signal.SIGKILL)
        servers = two(PLAIN)
        assert settled(1) == said
        for one in servers:
            one.end(signal.SIGKILL)
        servers = two(f"{APART}, {SLOW}")
        said = [*said, ("fired", "0.05", "acme"), ("fired", "0.05", "bolt")]
        assert settled(3) == said
        servers[0].end(signal.SIGKILL)
        assert servers[1].end() == 0
        servers = two(f"{LAXER}, {SLOW}")
        new = settled(9)
        assert Counter(one[:2] for one in new) == {("fired", "0.05"): 3, ("ended", "0.05"): 3, ("fired", "0.2"): 3}
        assert len({key for key, _ in seen}) == len(seen) == 9
    kept = [one.alert for one in store.monitors.list_alerts()]
    assert sorted(one.segment[1] for one in kept if one.ended_at is None) == ["", "acme", "bolt"]
    assert {one.asks for one in kept if one.ended_at is None} == {"empty_result_rate at most 0.2"}
