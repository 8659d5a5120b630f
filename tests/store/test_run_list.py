"""Lists of runs: pages in every order, filters, and what a list says of each run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.scores.results.summary import Summary
from ragauge.stats.weighted import Interval
from ragauge.store.run_list import STALE_AFTER_S
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store

MEANS = (0.5, None, 0.9, 0.5, None, 0.1)  # of the runs r0 … r5; None = not evaluated


def summary(metric: str, mean: float | None, **more: Any) -> Summary:
    interval = None if mean is None else Interval(mean - 0.1, mean + 0.1, "t", 0.95)
    values = Summary(metric, "generation", "higher", "mean", 4, 3, 1, 0, 0, mean, interval)
    return replace(values, **more)


def evaluated(store: Store, run_id: str, judge: str | None, *summaries: Summary) -> None:
    """Scores by a judge, and their summaries, as an evaluation writes them."""
    number = store.runs.load_order(run_id).numbers[0]
    columns = [Column(one.metric, 1, judge) for one in summaries]
    store.scores.write(run_id, columns, [(number, [MetricResult("scored", 1.0, 1.0, 1.0) for _ in summaries])])
    store.summaries.write(run_id, judge, summaries)


@pytest.fixture
def store(sqlite_url: str) -> Store:
    opened = open_store(sqlite_url)
    for number, mean in enumerate(MEANS):
        run = Run(f"r{number}", f"name{number % 2}", set_name="s", system="x" if number < 3 else "y")
        opened.runs.import_run(run, [(Example(f"q{number}", "?"), Response(f"q{number}"))])
        if mean is not None:
            evaluated(opened, run.run_id, "judge", summary("faithfulness", mean))
    return opened


@pytest.mark.parametrize(
    ("sort", "highest", "order"),
    [
        ("newest", False, "543210"),
        ("oldest", False, "012345"),
        ("name", False, "024135"),
        ("faithfulness", False, "503241"),
        ("faithfulness", True, "230541"),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 4, 6])
def test_pages_join_to_the_whole_list(store: Store, sort: str, highest: bool, order: str, limit: int) -> None:
    """Whatever the order and the length of a page, pages one after another are the list; no mean comes last."""
    listed: list[str] = []
    while page := store.runs.list(limit, sort=sort, highest=highest, after=listed[-1] if listed else ""):
        listed += [run.run_id for run in page]
    assert "".join(listed).replace("r", "") == order


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"metric.faithfulness.lt": "0.5"}, "5"),
        ({"metric.faithfulness.gt": "0.5"}, "2"),
        ({"metric.faithfulness.gt": "0.1", "system": "x"}, "20"),
        ({"tag": "golden"}, "41"),
        ({"tag": "golden", "name": "name0"}, "4"),
        ({"state": "finished"}, "543210"),
        ({"state": "failed"}, ""),
    ],
)
def test_filters(store: Store, filters: dict[str, str], left: str) -> None:
    """Runs are listed by tag, state and bounds of a mean, all of which must match."""
    for run_id in ("r1", "r4"):
        store.run_log.tag(run_id, ["golden", run_id])
    assert "".join(run.run_id[1:] for run in store.runs.list(filter=filters)) == left


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"metric.faithfullness.lt": "1"}, "nearest: faithfulness"),
        ({"metric.faithfulness.le": "1"}, "filter of runs"),
        ({"state": "stoped"}, "nearest: stopped"),
    ],
)
def test_unknown_filters_name_the_nearest(store: Store, filters: dict[str, str], said: str) -> None:
    """A filter by a metric, bound or state that is not there is refused with what is there."""
    with pytest.raises(UnknownName, match=said):
        store.runs.list(filter=filters)


def test_a_bound_is_a_number(store: Store) -> None:
    """A bound that is no number is refused with how it is written."""
    with pytest.raises(UsageError, match=r"must be a number, got 'low'. Write metric.faithfulness.lt=0.5"):
        store.runs.list(filter={"metric.faithfulness.lt": "low"})


def test_lists_show_the_judge_that_scored_last(store: Store) -> None:
    """A summary of an earlier judge that is written again does not hide the last judge's; nobody's comes after any."""
    evaluated(store, "r0", None, summary("recall@5", 0.3))
    assert [one.metric for one in store.run_list.facts(["r0"])["r0"].means] == ["faithfulness"]
    evaluated(store, "r0", "other", summary("faithfulness", 0.7))
    store.summaries.write("r0", "judge", [summary("faithfulness", 0.5)])
    facts = store.run_list.facts(["r0"])["r0"]
    (mean,) = facts.means
    assert (mean.mean, mean.n, mean.scored) == (0.7, 4, 3)
    assert mean.low == pytest.approx(0.6)
    assert mean.high == pytest.approx(0.8)
    assert facts.judges == ("other", "judge")
    assert [run.run_id for run in store.runs.list(1, sort="faithfulness", highest=True)] == ["r2"]
    assert [run.run_id for run in store.runs.list(2, sort="faithfulness", highest=True)][1] == "r0"


def test_facts_are_of_each_run_alone(store: Store) -> None:
    """Tags, notes and means of one run are said of no other, and a run without any has none."""
    store.run_log.tag("r1", ["b", "a", "b"])
    facts = store.run_list.facts(["r0", "r1", "gone"])
    assert set(facts) == {"r0", "r1"}
    one = facts["r1"]
    assert (one.tags, one.means, one.cost, one.evaluation, one.before) == (("a", "b"), (), 0.0, None, "r0")
    assert facts["r0"].tags == ()
    store.run_log.remove_tags("r1", ["a"])
    assert store.run_log.tags("r1") == ["b"]
    with pytest.raises(UnknownName, match="tag of this run"):
        store.run_log.remove_tags("r1", ["a"])


def test_a_run_without_a_sign_of_life_counts_as_stopped(store: Store) -> None:
    """A run in flight is listed as such for a minute after its last heartbeat, then as stopped."""
    import sqlite3

    store.collecting.mark_state("r0", "running")
    assert [run.run_id for run in store.runs.list(filter={"state": "in flight"})] == ["r0"]
    late = (datetime.now(UTC) - timedelta(seconds=STALE_AFTER_S + 1)).isoformat(timespec="milliseconds")
    with sqlite3.connect(store.url.removeprefix("sqlite:///")) as raw:
        raw.execute("UPDATE runs SET heartbeat = ? WHERE run_id = 'r0'", (late,))
    raw.close()
    assert store.runs.list(filter={"state": "in flight"}) == []
    assert [run.run_id for run in store.runs.list(filter={"state": "stopped"})] == ["r0"]


def test_an_evaluation_in_flight_is_no_finished_run(store: Store) -> None:
    """A run whose last evaluation is not done is in flight while that moves, then stopped, and finished at its end."""

    def listed(state: str) -> list[str]:
        return [run.run_id for run in store.runs.list(filter={"state": state})]

    store.evaluations.begin_evaluation("r0", n_done=1, planned=3, base_id="r1")
    store.evaluations.record_progress("r0", 1)
    assert "r0" in listed("in flight")
    assert "r0" not in listed("finished") + listed("stopped")
    store.evaluations.end("r0")
    assert "r0" in listed("stopped")
    store.evaluations.begin_evaluation("r0", n_done=2, planned=3)
    store.evaluations.record_progress("r0", 5)
    assert "r0" in listed("finished")
    seen = store.evaluations.read("r0")
    assert seen is not None
    assert (seen.base_id, seen.done, seen.planned) == ("r1", 3, 3)  # not more than planned; the baseline stays
    assert store.evaluations.read("r1") is None


def test_traffic_comes_after_traffic_of_its_own_project(store: Store) -> None:
    """The run before a run of traffic is one of the same project, though another project's came between."""
    for run_id, project in (("t0", "shop"), ("t1", "other"), ("t2", "shop")):
        store.collecting.open_traffic(Run(run_id, run_id, kind="traffic", system=project))
        store.collecting.replace_responses(run_id, [(Example(run_id, "?"), Response(run_id))], ())
        evaluated(store, run_id, "judge", summary("faithfulness", 0.5))
    facts = store.run_list.facts(["t0", "t1", "t2"])
    assert [facts[run_id].before for run_id in ("t0", "t1", "t2")] == ["", "", "t0"]
    assert [store.run_list.load_sets([run_id])[run_id][2] for run_id in ("t1", "r0")] == ["other", ""]
