"""The judge canary where a model judges: no stored reply is used, and a model exchanged under its name is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from tests.analysis.monitored import FIRST
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

from ragauge.core.config.config_loader import read_config
from ragauge.core.config.monitor import MonitorSection
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.verb import load_account, resolve_alert
from ragauge.monitoring.canary import compute as flips
from ragauge.monitoring.canary import runner as canary
from ragauge.monitoring.canary.compute import CANARY
from ragauge.monitoring.canary.runner import JudgeCanary
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.series.monitor_specs import MonitorSpecs, read_monitor_specs
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.service import JUDGE_TRUST_S
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.monitoring.worker import StageTurn
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store

FROZEN, A_DAY = 16, 16


@dataclass
class Model:
    """A model that can be exchanged under its name: then it finds no claim supported, or one of each so many."""

    swapped: bool = False
    one_of: int = 1

    def __call__(self, system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | str:
        found = answer(system, user, schema)
        if self.swapped:
            for sentence in found.get("sentences", []):
                for claim in sentence["claims"]:
                    if int((re.findall(r"\d+", claim["text"]) or ["0"])[0]) % self.one_of == 0:
                        claim |= {"verdict": "absent", "by": []}
        return found


@dataclass
class Judged:
    """Traffic that a model on this machine judges, day by day, under a clock of its own.

    Attributes:
        store: with everything.
        model: who answers.
        server: where it does.
        metrics: that are asked for.
        now: seconds since 1970.
    """

    store: Store
    model: Model
    server: FaultyServer
    metrics: tuple[str, ...] = ("faithfulness",)
    now: float = FIRST.timestamp()
    asked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        rule = {"metric": "faithfulness", "min": 0.7}
        self.judge = f"openai-chat:any@{self.server.url}"
        wanted = {"judge": self.judge, "metrics": [*self.metrics], "canary": FROZEN, "monitors": [rule]}
        file = read_config({"monitor": wanted})
        monitor = file.checked().monitor
        assert monitor is not None
        self.monitor: MonitorSection = monitor
        self.watches: MonitorSpecs = read_monitor_specs(file)[0]
        self.looks = JudgeCanary(monitor)
        self.policy = Policy(judge=self.judge, metrics=self.metrics)
        self.scorer = TrafficScorer(self.store, self.policy, print)

    def day(self, day: int, *, swap: bool = False, wrong: bool = False) -> tuple[Alert, ...]:
        """A day's look of the canary, then its requests and what the monitors raise; asked notes the canary's calls.

        Args:
            day: from 0.
            swap: the model is exchanged ten hours after the look; requests are new ones, so that it is asked.
            wrong: the system answers what stands nowhere.
        """
        self.now = FIRST.timestamp() + day * DAY_S + 2 * 3600
        before = len(self.server.requests)
        self.looks.run_once(StageTurn(self.store, lambda: self.now))
        self.asked.append(len(self.server.requests) - before)
        if swap:
            self.model.swapped, self.now = True, self.now + 10 * 3600
        asked = [request(f"{day:016x}{n:016x}", n, "in June" if swap else "and are free", wrong) for n in range(A_DAY)]
        found = body_parser.parse_lines(b"\n".join(asked))
        self.store.inbox.add([Batch(self.now, "responses", found.body, found.parts)])
        assert settle_traces(self.store, self.policy, self.now + 60) == A_DAY
        self.scorer.score()
        return self.watched()

    def watched(self) -> tuple[Alert, ...]:
        """What the monitors raise, as the server has them look."""
        check_judge = partial(self.looks.run_once, StageTurn(self.store, lambda: self.now), JUDGE_TRUST_S)
        return advance_monitors(self.store, self.monitor, self.watches, self.now, check_judge)


def request(name: str, n: int, how: str, wrong: bool = False) -> bytes:
    """A right answer, the same every day: all of it is in the cache from the second day on; or a wrong one."""
    text = f"Refunds take {n} days {how}."
    passages, said = [{"doc_id": "d", "text": text}], f"Nobody knows number {n} of anything." if wrong else text
    asked = {"query_id": name, "query": "How many days do refunds take?", "answer": said, "passages": passages}
    return json.dumps(asked).encode()


@pytest.fixture
def judged(store: Store) -> Iterator[Judged]:
    with FaultyServer(reply=Model()) as server:
        assert isinstance(server.reply, Model)
        yield Judged(store, server.reply, server)


@pytest.mark.parametrize("first_days", [2, pytest.param(flips.N_FIRST_DAYS, marks=pytest.mark.prove)])
def test_a_model_that_is_exchanged_pauses_what_it_judges(
    judged: Judged, first_days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look asks the model about every frozen response anew.

    A model that is exchanged between two looks is looked at once its scores would raise an alert: that it changed is
    the one alert, until a word is said of it. Then the monitor takes what waited, and its alert names the judge.
    """
    for module in (flips, canary):
        monkeypatch.setattr(module, "N_FIRST_DAYS", first_days)
    swapped = first_days + 2  # the day from which another model answers
    for day in range(swapped):
        assert judged.day(day) == ()
    assert judged.asked[0] == 0  # nothing had come that could be frozen
    assert set(judged.asked[1:]) == {judged.asked[1]}  # as much every day: nothing stored is used
    assert judged.asked[1] >= FROZEN
    assert judged.day(swapped, swap=True) == ()
    (kept,) = judged.store.monitors.list_alerts()
    assert kept.alert.said.startswith(
        f"the judge changed: {FROZEN} of {FROZEN} frozen responses got a different verdict"
    )
    assert judged.day(swapped + 1) == ()
    assert [one.alert for one in judged.store.monitors.list_alerts()] == [kept.alert]
    state = judged.store.monitors.state("faithfulness at least 0.7; ; test 0:00:00; 30 days")
    resolve_alert(kept.alert.alert_id, store=judged.store.url)
    (raised,) = judged.watched()
    told = load_account(judged.store, raised, judged.watches.metrics[0])
    moved = "the frozen responses changed by -1.00, the requests by -1.00"
    assert told.blame == ("judge", f"the judge changed at that time (alert {kept.alert.alert_id}); {moved}")
    after = judged.store.monitors.state("faithfulness at least 0.7; ; test 0:00:00; 30 days")
    assert after.cursor - state.cursor == 2 * A_DAY
    assert sum(run.name == CANARY for run in judged.store.runs.list()) == 1


def test_a_fault_on_the_day_that_the_judge_changed_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where requests fell further than frozen responses, the alert says so, and names the component of the fault."""
    for module in (flips, canary):
        monkeypatch.setattr(module, "N_FIRST_DAYS", 3)
    model = Model(one_of=2)
    with FaultyServer(reply=model) as server:
        judged = Judged(store, model, server, ("faithfulness", "context_precision"))
        swapped = 4
        for day in range(swapped):
            assert judged.day(day) == ()
        assert judged.day(swapped, swap=True, wrong=True) == ()
        judged.day(swapped + 1, wrong=True)
        (kept,) = store.monitors.list_alerts()
        resolve_alert(kept.alert.alert_id, store=store.url)
        (raised,) = judged.watched()
        told = load_account(store, raised, judged.watches.metrics[0])
    moved = "the frozen responses changed by -0.50, the requests by -1.00, so the judge explains only part of it"
    said = (
        f"the judge changed at that time (alert {kept.alert.alert_id}); {moved}: change in failed requests by component"
    )
    assert (told.blame.component, told.blame.why[: len(said)]) == ("generation", said)
