"""Servers of their own process with two projects, one of which drifts: its alert names it, once, the other is well."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.monitoring.conftest import span, traces
from tests.monitoring.serving import PATIENCE, Server, waits
from tests.monitoring.test_projects import OTHER, OWN
from tests.monitoring.test_watcher import hook

from ragauge.monitoring.drift.drift_job import DriftJob
from ragauge.monitoring.intake import body_parser
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store

CONFIG = """
monitor:
  judge: none
  metrics: [empty_result_rate]
  canary: 0
  wait: {ended: 1s, quiet: 2s}
"""
WATCHING = """  drift: [queries]
  notify: [{{webhook: "{hook}"}}]
"""
A_DAY, DAYS, SINCE = 60, 6, 3  # requests of a project a day; days before today; on how many of them one drifts
PROJECTS = ("shop", "desk")


def asked(project: str, ago: int, n: int) -> str:
    """What is asked in a project, so many days ago: of something else in one of them, lately."""
    texts = OTHER if project == "desk" and ago <= SINCE else OWN
    return texts[n % 3].format(n=37 * n % 97)


def day(project: str, ago: int) -> Batch:
    """What came of a project on an earlier day, in one request with its name in the header."""
    passages = [{"doc_id": "a.md", "text": "A passage."}]
    rows = [
        {"query_id": f"{project}{ago}-{n}", "query": asked(project, ago, n), "answer": "Yes.", "passages": passages}
        for n in range(A_DAY)
    ]
    read = body_parser.parse_lines("\n".join(map(json.dumps, rows)).encode())
    return Batch(time.time() - ago * DAY_S, "responses", read.body, read.parts, project)


def scored(store: Store) -> int:
    """How many requests have their last word."""
    return sum(one.n for one in store.ledger.counts() if one.outcome in ("scored", "sampled out"))


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_a_server_tells_which_project_drifts(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Of two projects one drifts: one alert names it, and is told once by two servers of which one is killed.

    The other's texts are as before, and pages say which is which; what both send today by OTLP is told apart too.
    """
    config, store_days = tmp_path / "ragauge.yaml", DAYS * A_DAY * len(PROJECTS)
    config.write_text(CONFIG)
    store.inbox.add([day(project, ago) for ago in range(DAYS, 0, -1) for project in PROJECTS])
    first = served("--config", str(config))
    waits(lambda: scored(store) == store_days)
    assert first.end() == 0
    with hook(0) as (address, seen):
        config.write_text(CONFIG + WATCHING.format(hook=address))
        servers = [served("--config", str(config)) for _ in range(2)]
        for n, project in enumerate(PROJECTS):
            sent = traces(span(trace_id=f"{n + 1:032x}"), service=project)
            assert servers[n].post(sent) == 200
        waits(lambda: bool(seen))
        servers[0].end(signal.SIGKILL)
        again = served("--config", str(config))
        waits(lambda: sum(one.n for one in store.ledger.counts()) == store_days + len(PROJECTS))
        time.sleep(6)  # a look later nothing more is told
        page = httpx.get(f"{again.address}/monitor", timeout=PATIENCE).text
        drift = httpx.get(f"{again.address}/monitor/drift", timeout=PATIENCE).text
        config.write_text(CONFIG)
        edited = httpx.get(f"{again.address}/monitor", timeout=PATIENCE).text
        assert servers[1].end() == again.end() == 0
    (told,) = [body for _, body in seen]
    (kept,) = store.monitors.list_alerts()
    assert (
        (told["monitor"], told["project"])
        == ("drift of queries (desk)", "desk")
        == (kept.alert.monitor, kept.alert.project)
    )
    assert "1 alert is open: queries of desk on" in page
    assert ("Restart the server" in page, "Restart the server" in edited) == (False, True)
    assert "Project: shop. Other projects: desk." in drift
    job = store.jobs.newest(DriftJob.name)
    assert job is not None
    assert "queries: the mean embedding did not move" in job.said.partition("shop, ")[2].partition("; desk, ")[0]
    counts = store.ledger.counts()
    today = max(one.day for one in counts)
    assert {one.project for one in counts if one.day == today} == set(PROJECTS)
