"""Scores of traffic: metrics that need no judge of every response, judged ones of the sample, each weighed as such."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.test_models import judge as judge_spec
from tests.loopback.server import FaultyServer
from tests.own_metrics import forget_own

import ragauge as rg
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response, Run
from ragauge.engine.plan import list_columns
from ragauge.engine.request_stream import iter_arrivals
from ragauge.evaluation.scorecard.cards import load_card
from ragauge.metrics import catalogue
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer, score_without_judge
from ragauge.scores.results.scorecard import Summary
from ragauge.scores.summarize import summarize_scores
from ragauge.store.inbox import DAY_S
from ragauge.store.run_collection import ExampleResponse
from ragauge.store.store_access import Store, open_store
from ragauge.verbs.columns import StoredColumns

FREE = [metric for metric in list_samples() if not list_questions([metric])]
JUDGED = parse_metric("faithfulness")
RUN, PLAIN = "traffic1", "plain1"


def requests(n: int, seed: int = 1) -> list[ExampleResponse]:
    """Requests with all that metrics read without a judge; the SDK kept one of two of some."""
    drawn = random.Random(seed)
    found = []
    for at in range(n):
        ids = drawn.sample("abcdefgh", drawn.randint(0, 5))
        passages = tuple(Passage(f"p{one}", one, f"text of {one}", score=drawn.random()) for one in ids)
        response = Response(
            f"q{at}",
            passages=passages,
            answer=drawn.choice(["Yes, 14 days.", "I do not know.", ""]),
            latency_ms={"total": 100 * drawn.random()},
            tokens={"input": drawn.randint(1, 900), "output": 9},
            cost=drawn.random(),
            weight=drawn.choice([1.0, 2.0]),
            error=drawn.choice([None, None, None, "down"]),
        )
        labels = tuple(Relevant((one,), drawn.choice([1, 2])) for one in drawn.sample("abcdefgh", 2))
        found.append((Example(f"q{at}", f"question {at}?", references=("14 days.",), relevant=labels), response))
    return found


def taken(store: Store, records: Sequence[ExampleResponse], chances: Mapping[str, float | None]) -> None:
    """Traffic, and an ordinary run of the same responses."""
    store.collecting.open_traffic(Run(RUN, "bot 2026-11-27", kind="traffic", system="bot"))
    store.collecting.replace_responses(RUN, records, (), chances)
    store.runs.import_run(Run(PLAIN, PLAIN), records)


def means(store: Store, run_id: str, metrics: Sequence[Metric], judge: str | None = None) -> dict[str, Summary]:
    index = store.runs.index(run_id, store.runs.load_order(run_id).numbers)
    return {one.metric: one for one in summarize_scores(StoredColumns(store, run_id, judge, index), metrics)}


def draw(records: Sequence[ExampleResponse], chance: float) -> dict[str, float | None]:
    policy = Policy()
    return {one.query_id: chance if policy.draw(one.query_id) < chance else None for _, one in records}


def test_free_metrics_cover_all_traffic(store: Store) -> None:
    """Of every metric that needs no judge, the mean over traffic of which 5 % are judged is that of an ordinary run."""
    records = requests(200)
    taken(store, records, draw(records, 0.05))
    for run_id in (RUN, PLAIN):
        score_without_judge(store, run_id, FREE, store.runs.load_order(run_id).numbers)
    there, plain = (means(store, run_id, FREE) for run_id in (RUN, PLAIN))
    assert sum(one.mean is not None for one in plain.values()) > 20
    for name, one in plain.items():
        assert there[name].n == one.n == 200, name
        mean = None if one.mean is None else pytest.approx(one.mean, rel=1e-12, abs=1e-12)
        assert there[name].mean == mean, name


async def patience(answer: str) -> rg.Value:
    """A coroutine of the user's own."""
    return rg.Value(answer.count("14"), reason="counted")


def words(answer: str) -> int:
    """A function of the user's own, which raises where there is no answer."""
    return 1 // len(answer) + len(answer.split())


def test_own_metrics_cover_all_traffic(store: Store) -> None:
    """Metrics of the user's own score all requests, and a store that is opened anew knows them."""
    records = requests(60)
    taken(store, records, draw(records, 0.05))
    metrics = [catalogue.register_object(function) for function in (patience, words)]
    failed = score_without_judge(store, RUN, metrics, store.runs.load_order(RUN).numbers)
    found = means(store, RUN, metrics)
    answered = [response.answer for _, response in records if response.error is None]
    assert (found["patience"].scored, found["words"].scored) == (len(answered), sum(map(bool, answered)))
    assert found["words"].failed == len(failed) == 60 - found["words"].scored
    assert any(reason.startswith("ZeroDivisionError") for reason in found["words"].reasons)
    forget_own()
    with open_store(store.url):
        assert parse_metric("patience").version == metrics[0].version


def judge(store: Store, numbers: Sequence[int], values: Sequence[float], name: str = "model") -> None:
    columns = list_columns([JUDGED], name)
    rows = [(number, [MetricResult("scored", value)]) for number, value in zip(numbers, values, strict=True)]
    store.scores.write(RUN, columns, rows)


def test_judged_means_weigh_the_sample(store: Store) -> None:
    """A judged mean is Hájek's: each score counts the SDK's weight over its chance, in columns and frames alike."""
    records = requests(60)
    raised = {f"q{at}": 1.0 for at in range(0, 60, 6)}
    chances = {**draw(records, 0.4), **raised}
    taken(store, records, chances)
    score_without_judge(store, RUN, FREE, store.runs.load_order(RUN).numbers)
    index = store.runs.index(RUN, store.runs.load_order(RUN).numbers)
    drawn = np.flatnonzero(~index.left_out())
    values = np.random.default_rng(1).random(drawn.size)
    judge(store, index.number[drawn].tolist(), values.tolist())
    by_id = {one.query_id: one.weight for _, one in records}
    ids = [index.query_ids[place] for place in drawn]
    weights = np.array([by_id[one] / (chances[one] or 0) for one in ids])
    expected = float((weights * values).sum() / weights.sum())
    assert expected != pytest.approx(values.mean(), abs=1e-3)
    latency = parse_metric("latency")
    both = [JUDGED, latency]
    plain = means(store, RUN, [latency])["latency"].mean
    for scores in (StoredColumns(store, RUN, "model", index), store.scores.load_frame(RUN, "model")):
        found = {one.metric: one for one in summarize_scores(scores, both)}
        assert found["faithfulness"].n == drawn.size
        assert found["faithfulness"].mean == pytest.approx(expected, rel=1e-12)
        assert found["latency"].mean == pytest.approx(plain, rel=1e-12)


def test_monitors_take_each_kind_by_its_own_weight(store: Store) -> None:
    """A monitor of a free metric takes every request as the SDK weighs it, one of a judged metric the drawn ones."""
    records = requests(40)
    chances = draw(records, 0.25)
    taken(store, records, chances)
    numbers = store.runs.load_order(RUN).numbers
    score_without_judge(store, RUN, [parse_metric("latency")], numbers)
    index = store.runs.index(RUN, numbers)
    judge(store, index.number[~index.left_out()].tolist(), [0.5] * int((~index.left_out()).sum()))
    weights = {one.query_id: one.weight for _, one in records}
    found = list(iter_arrivals(store, ["latency", "faithfulness"]))
    assert [one.number for one in found] == sorted(numbers)
    for one in found:
        assert one.scores["latency"].weight == weights[one.trace_id]
        chance = chances[one.trace_id]
        if chance is None:
            assert "faithfulness" not in one.scores
        else:
            assert one.scores["faithfulness"].weight == pytest.approx(weights[one.trace_id] / chance)
    after = found[20].number
    assert [one.number for one in iter_arrivals(store, ["latency"], after=after)] == sorted(numbers)[21:]


def traffic(store: Store, records: Sequence[ExampleResponse], policy: Policy) -> dict[str, float | None]:
    """Traffic with its lines in the ledger, as settling leaves it."""
    from ragauge.store.inbox import Batch, TracePart
    from ragauge.store.ledger import LedgerLine

    chances = draw(records, policy.rate)
    store.collecting.open_traffic(Run(RUN, "bot 2026-11-27", kind="traffic", system="bot"))
    store.collecting.replace_responses(RUN, records, (), chances)
    store.inbox.add([Batch(0.0, "traces", b"", tuple(TracePart(one.query_id) for _, one in records))])
    store.ledger.write_lines(
        [
            LedgerLine(name, "bot", "2026-11-27", "to score", "" if chance else "not drawn", RUN, 1.0, 0.0, policy.rate)
            for name, chance in chances.items()
        ]
    )
    return chances


def test_the_judge_is_asked_about_the_sample(store: Store) -> None:
    """Traffic of which a part is drawn is judged there alone, by server and command; card and gate know the rest."""
    policy = Policy(rate=0.3, metrics=("faithfulness", "latency", "empty_result_rate"))
    records = [(example, replace(one, error=None, answer="Text of a.")) for example, one in requests(40)]
    chances = traffic(store, records, policy)
    drawn = {name for name, chance in chances.items() if chance is not None}
    assert TrafficScorer(store, policy, print).score() > 0
    outcomes = {count.outcome: count.n for count in store.ledger.counts()}
    assert outcomes == {"scored": len(drawn), "sampled out": 40 - len(drawn)}
    (by,) = store.scores.judges(RUN)
    frame = store.scores.load_frame(RUN, by)
    assert set(frame.filter(frame["metric"] == "faithfulness")["query_id"]) == drawn
    assert frame.filter(frame["metric"] == "latency").height == 40
    card = load_card(store, store.runs.find(RUN), None).card
    assert card.pending == 0
    assert {one.metric: one.n for one in card.summaries} == {
        "faithfulness": len(drawn),
        "latency": 40,
        "empty_result_rate": 40,
    }
    again = rg.evaluate(RUN, metrics=list(policy.metrics), store=store.url, controls="none")
    assert (again.card.pending, again.card.took["evaluated"]) == (0, 0)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "gate.yaml"
    path.write_text("gate: {rules: [{metric: faithfulness, min: 0.2}, {metric: latency, max: 1000}]}\n")
    return path


def test_a_gate_of_traffic_counts_none_as_lost(store: Store, rules: Path) -> None:
    """What was not drawn is no failed judgement: rules of both kinds of metric decide by what each covers."""
    records = requests(400)
    taken(store, records, draw(records, 0.5))
    numbers = store.runs.load_order(RUN).numbers
    score_without_judge(store, RUN, [parse_metric("latency")], numbers)
    index = store.runs.index(RUN, numbers)
    drawn = index.number[~index.left_out()].tolist()
    judge(store, drawn, [0.4, 0.6] * (len(drawn) // 2) + [0.5] * (len(drawn) % 2))
    found: Any = rg.gate(RUN, rules=str(rules), store=store.url, judge="model")
    assert {check.metric: check.verdict for check in found.gated.checks if check.metric} == {
        "faithfulness": "pass",
        "latency": "pass",
    }


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """A model that answers as asked, and has a price."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai-chat:any: {input: 1000, output: 1000}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(prices))
    with FaultyServer() as server:
        yield server


def test_what_no_money_was_left_for_is_judged_once_on_another_day(
    store: Store, priced: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound of a day holds; the rest waits with its chance and free scores, and is judged once on a later day."""
    policy = Policy(metrics=("faithfulness", "latency"), judge=judge_spec(priced), max_cost=9.0)
    found = (Passage("p", "a", "text of a"),)
    records = [
        (example, replace(one, passages=found, error=None, answer=f"Refunds take {n} days."))
        for n, (example, one) in enumerate(requests(40))
    ]
    traffic(store, records, policy)
    clock = [time.time()]

    def at() -> str:
        return datetime.fromtimestamp(clock[0], UTC).isoformat(timespec="milliseconds")

    monkeypatch.setattr(
        "ragauge.store.calls.get_timestamp", at
    )  # what a call costs counts on the day of this clock too
    scorer = TrafficScorer(store, policy, print, lambda: clock[0])
    scorer.score()
    today, asked = outcomes(store), len(priced.requests)
    # what was paid when the money ended may be read on the next day alone: how many are scored today threads decide
    assert {"over budget"} <= set(today) <= {"scored", "over budget"}
    assert 0 < asked < 40
    assert sum(today.values()) == 40
    assert 0 < store.calls.sum_traffic_spending(at()[:10])[0] <= 9.0
    assert store.scores.load_frame(RUN, None).filter(metric="latency").height == 40
    scorer.score()
    assert (outcomes(store), len(priced.requests)) == (today, asked)  # a look, and nothing is asked
    pending = [one for one in iter_arrivals(store, ["faithfulness"]) if one.scores["faithfulness"].status == "pending"]
    assert len(pending) == today["over budget"]
    for _ in range(20):
        clock[0] += DAY_S
        scorer.score()
    assert outcomes(store) == {"scored": 40}
    assert len({str(request.body["messages"]) for request in priced.requests}) == len(priced.requests)
    assert {line.chance for line in store.ledger.load_page(limit=99)[0]} == {1.0}


def outcomes(store: Store) -> dict[str, int]:
    return {count.outcome: count.n for count in store.ledger.counts()}
