"""kill -9 under load: nothing that was acknowledged is lost, and nothing is there twice."""

from __future__ import annotations

import random
import secrets
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.monitoring.conftest import traces
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_settling import LATER, chain, finder

from ragauge.monitoring.policy import read_policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.store_access import Store, open_store

CONFIG = "monitor: {judge: none, metrics: [latency], sample: {rate: 100%}, wait: {ended: 1s, quiet: 2s}}\n"
SENDERS, TRACES = 2, 5


def sending(server: Server, acknowledged: list[str], over: threading.Event) -> None:
    """Sends batches until the server is gone; keeps the ids of those that were answered with 200."""
    while not over.is_set():
        ids = [secrets.token_hex(16) for _ in range(TRACES)]
        spans = [span for one in ids for span in (chain(trace_id=one), finder(trace_id=one))]
        try:
            if server.post(traces(*spans)) == 200:
                acknowledged += ids
        except httpx.HTTPError:
            return


def killed(start: Callable[..., Server], store: Store, config: Path, moments: list[float]) -> None:
    """Kills a server under load so many seconds after the first answer, again and again, and looks at what is there.

    The last one is killed only once something was read, which comes late where the machine is slow.
    """
    acknowledged: list[str] = []
    for place, moment in enumerate(moments, 1):
        server, over = start("--config", str(config)), threading.Event()
        senders = [threading.Thread(target=sending, args=(server, acknowledged, over)) for _ in range(SENDERS)]
        before = len(acknowledged)
        for sender in senders:
            sender.start()
        while len(acknowledged) == before:
            time.sleep(0.01)
        time.sleep(moment)
        if place == len(moments):
            waits(lambda: (there := store.inbox.counts()).traces > there.waiting)
        server.end(signal.SIGKILL)
        over.set()
        for sender in senders:
            sender.join()
    policy = read_policy(config)
    with open_store(store.url) as again:
        while settle_traces(again, policy, LATER):
            pass
        TrafficScorer(again, policy, print).score()
        runs = again.runs.list()
        found = [example.query_id for run in runs for example, _ in again.runs.pairs(run.run_id)]
        assert len(found) == len(set(found)) == again.inbox.counts().traces
        assert set(acknowledged) <= set(found)
        assert len(acknowledged) == len(set(acknowledged))
        assert sum(run.done for run in runs) == len(found)
        scores = [one for run in runs for one in again.scores.load_frame(run.run_id, None)["query_id"]]
        assert sorted(scores) == sorted(found)  # one score a response
        assert {count.outcome for count in again.ledger.counts()} == {"scored"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration that keeps everything and reads it at once."""
    path = tmp_path / "ragauge.yaml"
    path.write_text(CONFIG)
    return path


@pytest.mark.server
def test_three_kills(served: Callable[..., Server], store: Store, config: Path) -> None:
    """Killed as it takes in, and twice as it reads too: every acknowledged trace is one response with one score."""
    killed(served, store, config, [0.05, 1.3, 1.7])


@pytest.mark.prove
@pytest.mark.timeout(3600)  # a server starts twenty times, each in seconds where the machine is busy
def test_twenty_kills(served: Callable[..., Server], store: Store, config: Path) -> None:
    """The same of 20 moments, from 0 to 3 seconds after the first answer."""
    generator = random.Random(26)
    killed(served, store, config, [generator.uniform(0.0, 3.0) for _ in range(20)])
