"""Which traces are kept, and that weighted means describe all traffic."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.data.spans import attributes
from tests.monitoring.conftest import traces
from tests.monitoring.test_settling import LATER, chain, finder, line

from ragauge.core.errors import ConfigError, UsageError
from ragauge.core.example import Example
from ragauge.core.response import Passage, Response
from ragauge.monitoring.policy import MIN_RATE, Policy, Sampler, get_previous_day, read_policy
from ragauge.monitoring.traffic.trace_assembly import build_run_id, settle_traces
from ragauge.store.inbox import Batch, ReadDelay, TracePart
from ragauge.store.ledger import LedgerLine
from ragauge.store.run_collection import ExampleResponse
from ragauge.store.store_access import Store

SOME = (Passage("p", "d", "text"),)
DAY = "2026-11-27"


def asked(n: int, tenant: str = "acme", **more: Any) -> ExampleResponse:
    """One request, with an answer from a passage unless something else is said."""
    response = replace(Response(f"q{n}", passages=SOME), **more)
    return Example(f"q{n}", f"question {n}", segments={"tenant": tenant}), response


def test_always_is_certain(store: Store) -> None:
    """Errors, empty retrievals and thumbs down are kept every time where the configuration says so, and only there."""
    cases: dict[str, dict[str, Any]] = {
        "error": {"error": "down"},
        "empty_retrieval": {"passages": ()},
        "thumbs_down": {"outcome": {"thumbs": "down"}},
    }
    for name, fields in cases.items():
        for always in (frozenset({name}), frozenset(cases) - {name}):
            found = Sampler(store, Policy(rate=0.1, always=always)).compute_chance([asked(1, **fields)], "r", "r0", 0.1)
            assert found == (1.0 if name in always else 0.1)
    up = [asked(1, outcome={"thumbs": "up", "stars": 4.5, "mood": "so-so"})]
    assert Sampler(store, Policy(always=frozenset(cases))).compute_chance(up, "r", "r0", 0.1) == 0.1


def said(name: str, head: str = "annotations.0.", **result: Any) -> dict[str, Any]:
    """The attributes of one annotation."""
    return {f"{head}annotation.{key}": value for key, value in {"name": name, **result}.items()}


BY_USER = {"annotator_kind": "HUMAN"}


@pytest.mark.parametrize(
    ("annotated", "outcome", "judged"),
    [
        (said("user_feedback", label="thumbs-down", score=0, **BY_USER), {"user_feedback": "thumbs-down"}, True),
        (said("Thumbs", score=0), {"Thumbs": 0.0}, True),
        (said("feedback", "trace.annotations.3.", label="negative", **BY_USER), {"feedback": "negative"}, True),
        (said("correctness", label="incorrect", score=1, **BY_USER), {"correctness": "incorrect"}, True),
        (said("user_feedback", label="odd", score=0.0), {"user_feedback": 0.0}, True),
        (
            {
                **said("thumbs", label="up"),
                **said("thumbs", "annotations.1.", label="down"),
                **said("thumbs", "annotations.2.", label="up"),
                **said("feedback", "annotations.3.", score=1),
            },
            {"thumbs": "down", "feedback": 1.0},
            True,
        ),
        (said("user_feedback", label="up", **BY_USER), {"user_feedback": "up"}, False),
        (said("user_feedback", label="so-so"), {"user_feedback": "so-so"}, False),
        (said("feedback", score=2.5), {"feedback": 2.5}, False),
        (said("user_feedback", label="down", annotator_kind="LLM"), {}, False),
        (said("correctness", score=0), {}, False),
        (said("correctness", score=0, annotator_kind="CODE"), {}, False),
        (said("user_frustration", score=0, **BY_USER), {}, False),
        (said("user_feedback", explanation="It is wrong.", **BY_USER), {}, False),
        (said("user_feedback", "session.annotations.0.", label="down"), {}, False),
    ],
)
def test_what_users_say_in_spans(
    sender: Callable[..., TestClient], store: Store, annotated: dict[str, Any], outcome: dict[str, Any], judged: bool
) -> None:
    """Annotations of a request's outermost span by people are its outcome, and a bad one is judged every time."""
    root = chain()
    root["attributes"] += attributes(annotated)
    inner = finder(**said("user_feedback", label="down", **BY_USER))  # says something of the search alone
    assert sender().post("/v1/traces", json=traces(root, inner)).status_code == 200
    settle_traces(store, Policy(rate=1e-9, always=frozenset({"thumbs_down"})), LATER)
    ((_, response),) = store.runs.pairs(store.runs.list()[0].run_id)
    assert response.outcome == outcome
    assert line(store).chance == (1.0 if judged else 1e-9)


def test_small_segments_are_raised(store: Store) -> None:
    """By yesterday's weights a segment gets at_least and half as many more; without yesterday the first are kept."""
    run_id, before_id = build_run_id("bot", DAY), build_run_id("bot", get_previous_day(DAY))
    policy = Policy(rate=0.05, at_least={"tenant": 20})
    for which in (run_id, before_id):
        store.collecting.open_traffic(replace(_run(), run_id=which, name=which))
    store.collecting.add(before_id, [asked(n) for n in range(100)])
    sampler = Sampler(store, policy)
    assert sampler.compute_chance([asked(0)], run_id, before_id, 0.05) == 1.5 * 20 / 100
    assert sampler.compute_chance([asked(0)], run_id, before_id, 0.5) == 0.5
    new = [asked(0, "new")]
    for _ in range(20):
        assert sampler.compute_chance(new, run_id, before_id, 0.05) == 1.0
        sampler.count_drawn(new, run_id)
    assert sampler.compute_chance(new, run_id, before_id, 0.05) == 0.05
    store.collecting.add(run_id, [asked(n, "new") for n in range(19)])  # what a server that starts again finds
    again = Sampler(store, policy)
    assert again.compute_chance(new, run_id, before_id, 0.05) == 1.0
    again.count_drawn(new, run_id)
    assert again.compute_chance(new, run_id, before_id, 0.05) == 0.05


def _run() -> Any:
    from ragauge.core.response import Run

    return Run("r", "r", kind="traffic", system="bot")


def test_the_rate_falls_where_money_would_not_last(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate falls to what can be paid of the rest of the day, at what a scored trace has cost so far."""
    noon = 43_200.0
    parts = tuple(TracePart(f"t{n}") for n in range(1000))
    store.inbox.add([Batch(0.0, "traces", b"", parts)])
    lines = [LedgerLine(part.trace_id, "bot", DAY, "sampled out") for part in parts]
    store.ledger.write_lines([replace(one, outcome="scored", run_id="r") for one in lines[:500]] + lines[500:])
    for spent, rate in ((0.0, 0.5), (1.0, 0.5), (4.0, 0.125), (5.0, MIN_RATE)):
        monkeypatch.setattr("ragauge.monitoring.policy.get_spending", lambda *_, spent=spent: (spent, 500))
        found = Sampler(store, Policy(rate=0.5, max_cost=5.0)).base(DAY, noon)
        assert found == pytest.approx(rate)  # (5 - spent) / (spent / 500) of 1,000 to come
    store.ledger.write_lines([replace(one, outcome="to score", run_id="r") for one in lines[:75]])
    store.ledger.write_lines([replace(one, outcome="over budget", reason="spent") for one in lines[75:100]])
    monkeypatch.setattr("ragauge.monitoring.policy.get_spending", lambda *_: (4.0, 500))
    assert Sampler(store, Policy(rate=0.5, max_cost=5.0)).base(DAY, noon) == pytest.approx(0.025)  # 100 wait


def test_the_money_of_a_day_lasts_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a cent a judgement and 7,200 requests five dollars last for the whole day, to a few cents."""
    monkeypatch.setattr("ragauge.monitoring.policy.RATE_TTL_S", 0.0)
    drawn, arrived = [0] * 24, 0
    monkeypatch.setattr(
        "ragauge.monitoring.policy.get_spending",
        lambda _, day: (0.01 * sum(drawn), sum(drawn)) if day == DAY else (0.0, 0),
    )
    ledger = SimpleNamespace(counts=lambda _: [SimpleNamespace(n=arrived)], count_waiting_for_judge=lambda: 0)
    policy = Policy(rate=0.5, max_cost=5.0)
    sampler = Sampler(cast("Store", SimpleNamespace(ledger=ledger)), policy)
    for minute in range(1, 1440):
        chance = sampler.base(DAY, 60.0 * minute)
        for n in range(5):
            arrived += 1
            drawn[minute // 60] += policy.draw(f"t{minute}.{n}") < chance
    assert 4.5 < 0.01 * sum(drawn) < 5.1
    assert min(drawn) > 5


def estimates(seeds: range, store: Store) -> np.ndarray[Any, Any]:
    """Of each seed the weighted mean of a score that is worse where traces are kept more often, less the true one."""
    generator = np.random.default_rng(1)
    n = 1500
    tenants = np.where(generator.random(n) < 0.03, "small", "large")
    error = generator.random(n) < 0.02
    value = np.where(error, 0.0, np.where(tenants == "small", 0.4, 0.9)) * generator.random(n)
    found: list[float] = []
    for seed in seeds:
        policy = Policy(rate=0.1, at_least={"tenant": 20}, always=frozenset({"error"}), salt=str(seed))
        sampler = Sampler(store, policy)
        weights, values = [], []
        for at in range(n):
            one = [asked(at, str(tenants[at]), error="down" if error[at] else None)]
            chance = sampler.compute_chance(one, "today", "yesterday", policy.rate)
            if policy.draw(f"t{at}") < chance:
                sampler.count_drawn(one, "today")
                weights.append(1 / chance)
                values.append(value[at])
        found.append(float(np.average(values, weights=weights)) - float(value.mean()))
    return np.asarray(found)


def _unbiased(found: Sequence[float] | np.ndarray[Any, Any]) -> None:
    assert abs(np.mean(found)) <= 2 * np.std(found, ddof=1) / np.sqrt(len(found))


def test_weighted_means_describe_all_traffic(store: Store) -> None:
    """Errors kept always and a small segment raised: no bias within 2 standard errors, 20 seeds."""
    _unbiased(estimates(range(20), store))


@pytest.mark.prove
def test_weighted_means_describe_all_traffic_in_500_seeds(store: Store) -> None:
    """The same of 500 seeds."""
    _unbiased(estimates(range(1000, 1500), store))


def chances(store: Store) -> dict[str, float | None]:
    """Trace -> its chance of being drawn for the judge; None = it was not."""
    (run,) = store.runs.list()
    index = store.runs.index(run.run_id, store.runs.load_order(run.run_id).numbers)
    found = store.collecting.find_by_trace(run.run_id, index.query_ids)
    return {trace_id: chance for trace_id, ((_, chance),) in found.items()}


def test_a_late_span_keeps_what_was_drawn(sender: Callable[..., TestClient], store: Store) -> None:
    """Who was drawn stays so when more comes at a lower rate; one left out is drawn where it turns out an error."""
    trace_id = next(one for n in range(99) if 0.4 < Policy().draw(one := f"{n:032x}") < 0.5)
    client, policy = sender(), Policy(rate=0.5)
    client.post("/v1/traces", json=traces(chain(trace_id=trace_id), finder(trace_id=trace_id)))
    settle_traces(store, policy, LATER)
    lower = replace(policy, rate=0.1)
    client.post("/v1/traces", json=traces(finder("b.md", trace_id=trace_id)))
    settle_traces(store, lower, LATER)
    assert (chances(store)[trace_id], line(store, trace_id).chance) == (0.5, 0.5)
    other = next(one for n in range(99, 999) if 0.4 < Policy().draw(one := f"{n:032x}") < 0.5)
    client.post("/v1/traces", json=traces(chain(trace_id=other), finder(trace_id=other)))
    settle_traces(store, lower, LATER)
    assert (line(store, other).outcome, line(store, other).reason) == ("to score", "10 % of such traces are sampled")
    assert chances(store)[other] is None
    failed = chain(trace_id=other, status={"code": 2, "message": "down"})
    client.post("/v1/traces", json=traces(failed))
    settle_traces(store, replace(lower, always=frozenset({"error"})), LATER)
    assert (chances(store)[other], line(store, other).reason) == (1.0, "")


def test_segments_raise_through_the_whole_way(sender: Callable[..., TestClient], store: Store) -> None:
    """Of two tenants, one at least of each a day, at a rate that draws nothing the first of each is drawn, chance 1."""
    client = sender()
    policy = Policy(rate=1e-9, at_least={"tenant": 1}, segments={"tenant": "metadata.tenant"})
    for n, tenant in enumerate(("a", "b", "a", "b"), 1):
        root = chain(trace_id=f"{n:032x}")
        root["attributes"] += attributes({"metadata": f'{{"tenant": "{tenant}"}}'})
        client.post("/v1/traces", json=traces(root, finder(trace_id=f"{n:032x}")))
    settle_traces(store, policy, LATER)
    assert chances(store) == {f"{n:032x}": 1.0 if n < 3 else None for n in range(1, 5)}


def test_policy_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The section monitor says what is kept; without a file or section everything is; mistakes are named."""
    monkeypatch.chdir(tmp_path)
    assert read_policy(None) == Policy()
    path = tmp_path / "ragauge.yaml"
    path.write_text("gate: {rules: [{metric: recall@5, min: 0.5}]}\n")
    assert read_policy(None) == Policy()
    path.write_text(
        "monitor:\n  judge: none\n  metrics: [latency]\n  segments: {tenant: metadata.tenant}\n"
        "  sample: {rate: 20%, at_least: {tenant: 3}, always: [error], max_cost: 2}\n"
        "  redact: {attributes: ['user.*'], patterns: ['\\d{9}'], key: $REDACT_KEY}\n  keep: {raw: 2d}\n"
        "  wait: {ended: 1s}\n  passages: span:my search\n"
    )
    with pytest.raises(UsageError, match="REDACT_KEY is not set"):
        read_policy(None)
    monkeypatch.setitem(os.environ, "REDACT_KEY", "k")
    found = read_policy(path)
    assert (found.rate, found.at_least, found.always) == (0.2, {"tenant": 3}, frozenset({"error"}))
    assert found.max_cost == 2.0
    assert (found.judge, found.metrics, found.segments) == ("none", ("latency",), {"tenant": "metadata.tenant"})
    assert found.passages == "span:my search"
    assert found.redaction.text("123456789") != "123456789"
    assert (found.keep_raw, found.patience) == (2 * 86_400, ReadDelay(1.0, 30.0))
    path.write_text("monitor: {redact: {patterns: ['(']}}\n")
    with pytest.raises(ConfigError, match="is not a valid regular expression"):
        read_policy(None)
    path.write_text("monitor: {passages: first}\n")
    with pytest.raises(ConfigError, match="expected union, last or span:NAME, such as span:search, got text 'first'"):
        read_policy(None)
