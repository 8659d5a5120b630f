"""A listing of the index on its way to the causes."""

from __future__ import annotations

import asyncio

import pytest
from tests.engine.tiny_judge import SPEC, TinyJudge

from ragauge.core.document import IndexListing
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response, Run
from ragauge.engine import execute as execute_module
from ragauge.engine.execute import EvaluationOutcome, execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import Plan, build_plan
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.spool import Record
from ragauge.store.store_access import Store

METRICS = [parse_metric("recall@5"), parse_metric("faithfulness")]
HALF = IndexListing(30, frozenset(f"d{n}" for n in range(0, 60, 4)))


def pairs(n: int) -> list[Record]:
    """Questions whose document came (odd numbers) or was missed (even ones)."""
    return [
        (
            Example(f"q{i}", f"{i}?", relevant=(Relevant((f"d{i}",)),)),
            Response(f"q{i}", passages=(Passage("p", f"d{i}" if i % 2 else "x", "one"),), answer="one."),
        )
        for i in range(n)
    ]


def imported(store: Store, n: int = 40) -> str:
    return store.runs.import_run(Run("", "r"), pairs(n)).run_id


def planned(store: Store, run_id: str, listing: IndexListing | None = None) -> Plan:
    return build_plan(store, run_id, METRICS, build_judge(SPEC), listing=listing)


def done(store: Store, found: Plan, workers: int = 1, limit: int | None = None) -> EvaluationOutcome:
    return asyncio.run(execute_plan(found, store, workers=workers, limit=limit))


def causes(store: Store, run_id: str) -> dict[str, str]:
    frame = store.causes.load_frame(run_id, TinyJudge.judge_id)
    return dict(zip(frame["query_id"], frame["cause"], strict=True))


EXPECTED = {f"q{i}": "not_in_index" if f"d{i}" in HALF.absent else "retrieval_miss" for i in range(0, 40, 2)}


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.prove)])
def test_missed_documents_are_looked_up(store: Store, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missed documents that the index lacks are not_in_index, in this process and in workers; the others are misses."""
    monkeypatch.setattr(execute_module, "MIN_RESPONSES_ASKING", 20)
    run_id = imported(store)
    assert done(store, planned(store, run_id, HALF), workers).workers == workers
    assert causes(store, run_id) == EXPECTED
    assert store.listings.read(run_id) == HALF


def test_a_listing_that_comes_later_redoes_the_failures_alone(store: Store) -> None:
    """Failures found without the listing are found again with it, and nothing is asked; good answers are left."""
    run_id = imported(store)
    done(store, planned(store, run_id))
    assert set(causes(store, run_id).values()) == {"retrieval_miss"}
    outcome = done(store, planned(store, run_id, HALF))
    assert (outcome.done, outcome.n_asked) == (20, 0)
    assert causes(store, run_id) == EXPECTED
    assert planned(store, run_id, HALF).pending == 0
    assert planned(store, run_id).pending == 0


def test_a_stopped_change_goes_on(store: Store) -> None:
    """A change of the listing that was stopped halfway is finished by the next evaluation, which need not name it."""
    run_id = imported(store)
    done(store, planned(store, run_id))
    assert done(store, planned(store, run_id, HALF), limit=8).pending == 12
    assert planned(store, run_id).pending == 12
    done(store, planned(store, run_id))
    assert causes(store, run_id) == EXPECTED


def test_a_listing_that_says_the_same_redoes_nothing(store: Store) -> None:
    """A longer listing that lacks the same labelled documents leaves everything as it is."""
    run_id = imported(store)
    done(store, planned(store, run_id, HALF))
    longer = IndexListing(1_000, HALF.absent)
    assert done(store, planned(store, run_id, longer)).done == 0
    assert store.listings.read(run_id) == longer


def test_a_plan_changes_nothing(store: Store) -> None:
    """Planning with a listing keeps nothing."""
    run_id = imported(store)
    planned(store, run_id, HALF)
    assert store.listings.read(run_id) is None
