"""The engine with the judge that ships."""

from __future__ import annotations

import asyncio

import pytest
from polars.testing import assert_frame_equal
from tests.engine.tiny_judge import records

from ragauge.core.response import Run
from ragauge.engine import execute as execute_module
from ragauge.engine.execute import execute_plan
from ragauge.engine.judges import build_judge, find_spec
from ragauge.engine.plan import build_plan
from ragauge.metrics.catalogue import select_metrics
from ragauge.store.store_access import Store


def test_local_judge_here_and_in_workers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The local judge is built from "local" in every process, and finds the same here and there, nothing failing."""
    judge = build_judge("local")
    assert find_spec(judge) == "local"
    metrics = select_metrics(["default"])
    runs = {}
    for workers in (1, 2):
        monkeypatch.setattr(execute_module, "MIN_RESPONSES_ASKING", 1)
        run = store.runs.import_run(Run("", f"{workers}", config={"workers": workers}), records(12))
        runs[workers] = run.run_id
        found = build_plan(store, run.run_id, metrics, judge, judge_repeat=workers)  # a repeat shares no evidence
        outcome = asyncio.run(execute_plan(found, store, workers=workers))
        assert (outcome.done, outcome.failed, outcome.workers) == (12, 0, workers)
        assert outcome.n_asked > 0
    frames = [store.scores.load_frame(runs[workers], judge.judge_id, workers) for workers in (1, 2)]
    assert_frame_equal(*frames)
    assert frames[0].height == 12 * len(metrics)
