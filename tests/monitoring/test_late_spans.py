"""A span comes while the scores of its trace are being made: none is kept of what is no longer there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.monitoring.conftest import TRACE, traces
from tests.monitoring.test_settling import LATER, OTHER, chain, finder, line

from ragauge.engine import execute
from ragauge.engine.judge_batch import judge_batch
from ragauge.engine.plan import list_columns
from ragauge.metrics.catalogue import parse_metric
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.ledger import Ledger
from ragauge.store.store_access import Store

METRICS = ("context_tokens", "faithfulness")


class Late:
    """Wraps what is done: the first time, spans come right before or after it."""

    def __init__(self, comes: Callable[[], None]) -> None:
        self.comes, self.came = comes, False

    def once(self) -> None:
        if not self.came:
            self.came = True
            self.comes()

    def before(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def late(*given: Any, **named: Any) -> Any:
            self.once()
            return work(*given, **named)

        return late

    def after(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def late(*given: Any, **named: Any) -> Any:
            found = work(*given, **named)
            self.once()
            return found

        return late


def values(store: Store, run_id: str, judge_id: str | None) -> dict[str, list[Any]]:
    """Trace -> status and value by metric."""
    found = {}
    for trace_id in (TRACE, OTHER):
        scores = store.scores.load_for_response(run_id, trace_id, 0, judge_id)
        found[trace_id] = [(scores[name].status, scores[name].value) for name in METRICS if name in scores]
    return found


def more(trace_id: str) -> dict[str, Any]:
    return {**finder("b.md", trace_id=trace_id), "spanId": "2b" * 8}


@pytest.mark.parametrize("step", ["scores without a judge", "judged scores", "last word"])
@pytest.mark.parametrize("rate", [1e-12, 1.0], ids=["left out", "drawn"])
def test_no_score_is_of_an_older_response(
    step: str, rate: float, sender: Callable[..., TestClient], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is being done when the span comes, the scores and the last word are those of the whole trace."""
    client, policy = sender(), Policy(metrics=METRICS, judge="local", rate=rate)
    client.post("/v1/traces", json=traces(chain(trace_id=OTHER), finder(trace_id=OTHER), more(OTHER)))
    client.post("/v1/traces", json=traces(chain(), finder()))
    settle_traces(store, policy, LATER)

    def comes() -> None:
        client.post("/v1/traces", json=traces(more(TRACE)))
        assert settle_traces(store, policy, LATER + 1) == 1

    late = Late(comes)
    match step:
        case "scores without a judge":
            monkeypatch.setattr("ragauge.monitoring.traffic.traffic_scorer.judge_batch", late.after(judge_batch))
        case "judged scores":
            monkeypatch.setattr(execute._Execution, "_store_batch", late.before(execute._Execution._store_batch))
        case _:
            monkeypatch.setattr(Ledger, "decide", late.before(Ledger.decide))
    scorer = TrafficScorer(store, policy, print)
    for _ in range(3):
        scorer.score()
    assert late.came or (step, rate) == ("judged scores", 1e-12)
    if not late.came:
        comes()
        scorer.score()
    said = {"scored"} if rate == 1 else {"sampled out"}
    assert {line(store).outcome, line(store, OTHER).outcome} == said
    run_id = line(store).run_id
    for judge_id in [*store.scores.judges(run_id), None]:
        found = values(store, run_id, judge_id)
        assert found[TRACE] == found[OTHER]
    assert len(store.scores.find_complete(run_id, list_columns([parse_metric("context_tokens")], None))) == 2
