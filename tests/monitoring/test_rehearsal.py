"""A day on call: the server is killed under load, answers get slow amid the day, a user wants to be forgotten."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data.spans import attributes
from tests.monitoring.conftest import ROOT, span, traces
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_erasing import MARK, everything
from tests.monitoring.test_settling import KIND, finder

from ragauge.monitoring.erasing import erase_traces
from ragauge.store.store_access import Store, open_store

CONFIG = """
monitor:
  judge: none
  metrics: [latency]
  sample: {rate: 100%}
  wait: {ended: 1s, quiet: 2s}
  monitors: [{metric: latency, share_above: 1000, max: 15%}]
"""
A_LIFE = 20  # traces that are sent between two kills


def asked(slow: bool, user: str, mark: str) -> list[dict[str, object]]:
    """A trace of one second and a half, or of a half."""
    trace_id = secrets.token_hex(16)
    named = {KIND: "CHAIN", "input.value": f"Where is {mark}?", "output.value": f"The {mark} is here.", "user.id": user}
    root = span(
        ROOT, trace_id=trace_id, attributes=attributes(named), endTimeUnixNano="2500000000" if slow else "1500000000"
    )
    return [root, finder(trace_id=trace_id)]


@pytest.mark.server
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=[pytest.mark.prove, pytest.mark.timeout(3600)])])
def test_a_day_on_call(served: Callable[..., Server], store: Store, tmp_path: Path, kills: int) -> None:
    """Through kills one alert says that answers got slow, within 60 of them; a user's data is deleted with proof."""
    config = tmp_path / "ragauge.yaml"
    config.write_text(CONFIG)
    good = kills // 2 * A_LIFE
    sent = 0
    for _ in range(kills):
        server = served("--config", str(config))
        for _ in range(A_LIFE):
            slow = sent >= good and sent % 2 == 0
            anna = sent % 10 == 3
            assert server.post(traces(*asked(slow, *(("anna", MARK) if anna else ("bert", "plain"))))) == 200
            sent += 1
        server.end(signal.SIGKILL)
    server = served("--config", str(config))
    for n in range(60):
        assert server.post(traces(*asked(n % 2 == 0, "bert", "plain"))) == 200
    waits(lambda: bool(store.monitors.list_alerts()))
    with open_store(store.url) as again:
        (kept,) = again.monitors.list_alerts()
        (run,) = again.runs.list()
        place = sorted(number for number, _ in again.runs.load_order(run.run_id)).index(kept.alert.number)
        assert good < place <= good + 60
        assert kept.alert.mean is not None
        assert 0.3 < kept.alert.mean <= 0.75  # of the window, half of which is slow
        assert MARK in everything(tmp_path)
        found = erase_traces(again, [], {"user": "anna"})  # while the server runs
        assert (found.traces, found.left) == (kills * A_LIFE // 10, {})
        assert MARK not in everything(tmp_path)
    assert server.end() == 0
