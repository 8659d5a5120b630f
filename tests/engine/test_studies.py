"""Studies are continued, never mixed, and lose nothing that is complete."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.store.store_access import Store, open_store
from ragauge.studies.conduct import OpenTrial, TrialMaker, run_study_trials
from ragauge.studies.figures import StudyKind

SET = EvalSet("faq", tuple(Example(f"q{n}", f"Question {n}?", relevant=(Relevant((f"d{n}",)),)) for n in range(6)))
GRID = [{"depth": depth} for depth in (1, 3, 5)]


class FirstDocuments:
    """A trial that returns the first documents to every question."""

    metrics: Sequence[Metric] = (parse_metric("recall"), parse_metric("mrr"))

    def __init__(self, depth: int, closed: list[int]) -> None:
        self.config: Mapping[str, Any] = {"depth": depth}
        self._depth, self._closed = depth, closed

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[MetricResult]]]:
        passages = tuple(Passage(f"d{n}", f"d{n}") for n in range(self._depth))
        for example in examples:
            response = Response(example.query_id, passages=passages)
            (ranking,) = rank_responses([(example, response)])
            yield response, measure_all(self.metrics, Facts(example, response, ranking=ranking))

    def measurements(self) -> Sequence[Measurement]:
        return (Measurement("depth", float(self._depth)),)

    def close(self) -> None:
        self._closed.append(self._depth)


class DepthMaker(TrialMaker):
    """Makes such trials, and remembers which."""

    kind = StudyKind("depths", ("recall",), ("depth",))

    def __init__(self, wait: float = 0.0, **fixed: Any) -> None:
        self.fixed: Mapping[str, Any] = fixed
        self.opened: list[int] = []
        self.closed: list[int] = []
        self._wait = wait

    def name(self, parameters: Mapping[str, Any]) -> str:
        return f"depth={parameters['depth']}"

    def open(self, parameters: Mapping[str, Any]) -> FirstDocuments:
        self.opened.append(parameters["depth"])
        time.sleep(self._wait)
        if parameters["depth"] == 3:
            raise DataError("no third document.", source="corpus")
        return FirstDocuments(parameters["depth"], self.closed)


@pytest.fixture
def store(tmp_path: Path) -> Iterable[Store]:
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        yield opened


def test_trials_are_ordinary_runs(store: Store) -> None:
    """A trial's run has its responses, scores and settings; what was measured stands beside it; all are closed."""
    maker = DepthMaker()
    study = run_study_trials(store, "depths", maker, SET, GRID)
    assert [(trial.name, trial.state) for trial in study.trials] == [
        ("depth=1", "complete"),
        ("depth=3", "failed"),
        ("depth=5", "complete"),
    ]
    assert study.trials[1].reason == "corpus: no third document."
    assert (maker.closed, study.trials[2].find_measurement_value("depth")) == ([1, 5], 5.0)
    run = store.runs.find(study.trials[2].run_id)
    assert (run.state, run.done, run.config["study"]) == ("finished", 6, "depths")
    frame = store.scores.load_frame(run.run_id, None)
    found = dict(frame.filter(frame["metric"] == "recall").select("query_id", "value").iter_rows())
    assert found == {f"q{n}": float(n < 5) for n in range(6)}


def test_study_is_continued(store: Store) -> None:
    """New values join and failed trials are made again; complete ones are neither made again nor changed."""
    first = run_study_trials(store, "depths", DepthMaker(), SET, GRID)
    maker = DepthMaker()
    second = run_study_trials(store, "depths", maker, SET, [*GRID, {"depth": 2}])
    assert maker.opened == [3, 2]
    assert second.trials[0] == first.trials[0]
    assert second.parameter_values == {"depth": [1, 3, 5, 2]}


def test_other_fixed_settings_are_named(store: Store) -> None:
    """Other fixed settings, or another set, are an error that names them; --fresh starts anew."""
    run_study_trials(store, "depths", DepthMaker(corpus="a"), SET, GRID[:1])
    with pytest.raises(UsageError, match=r"corpus was a, now b.*--fresh"):
        run_study_trials(store, "depths", DepthMaker(corpus="b"), SET, GRID)
    with pytest.raises(UsageError, match="set was faq"):
        run_study_trials(store, "depths", DepthMaker(corpus="a"), EvalSet("faq", SET.examples[:3]), GRID)
    fresh = run_study_trials(store, "depths", DepthMaker(corpus="b"), SET, GRID[2:], fresh=True)
    assert [trial.name for trial in fresh.trials] == ["depth=5"]
    assert len(store.runs.list(study="depths")) == 1


class Grouped(DepthMaker):
    """Trials that are open two at a time; nothing is labelled, so that they have measurements alone."""

    def groups(self, grid: Sequence[Mapping[str, Any]]) -> Iterable[Sequence[Mapping[str, Any]]]:
        return [grid[n : n + 2] for n in range(0, len(grid), 2)]

    def prepare_group(self, opened: Sequence[OpenTrial]) -> None:
        assert not set(self.closed) & {int(one.config["depth"]) for one in opened}
        if any(one.config["depth"] == 6 for one in opened):
            raise DataError("no timing.", source="clock")


def test_groups_are_open_together(store: Store) -> None:
    """A group is opened and closed whole; without a set trials have no run; what fails a group fails all of it."""
    maker = Grouped()
    study = run_study_trials(store, "grouped", maker, None, [{"depth": depth} for depth in (1, 3, 4, 5, 6, 7)])
    states = {trial.name: trial.state for trial in study.trials}
    assert (maker.opened, maker.closed) == ([1, 3, 4, 5, 6, 7], [1, 5, 4, 7, 6])
    assert [states[f"depth={depth}"] for depth in (1, 3, 4, 5, 6, 7)] == [
        "complete",
        "failed",
        "complete",
        "complete",
        "failed",
        "failed",
    ]
    assert {trial.run_id for trial in study.trials} == {""}
    assert (study.trials[0].find_measurement_value("depth"), study.trials[5].reason) == (1.0, "clock: no timing.")


@pytest.mark.prove
@pytest.mark.parametrize(("trials", "kills"), [(16, 2), pytest.param(60, 20, marks=pytest.mark.prove)])
def test_killed_study_loses_nothing_complete(tmp_path: Path, trials: int, kills: int) -> None:
    """After each kill -9 what was complete is never made again, and in the end every trial is there once."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    log = tmp_path / "opened.txt"
    with open_store(url):
        pass
    complete: set[str] = set()
    depths = [n for n in range(1, trials) if n != 3]
    for kill in range(kills):
        child = subprocess.Popen([sys.executable, __file__, url, str(log), ",".join(map(str, depths))])
        until = 2 + kill % 4  # trials begun: the last of them is under way
        while child.poll() is None and (not log.exists() or len(log.read_text().split()) < until):
            time.sleep(0.005)
        time.sleep(0.01 * (kill % 7))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        with open_store(url) as store:
            known = store.studies.read("killed").trials if store.studies.has_study("killed") else ()
            done = {trial.name for trial in known if trial.state == "complete"}
            for trial in known:
                assert (
                    (store.runs.count_responses(trial.run_id) == 6) if trial.state == "complete" else not trial.run_id
                )
        again = {f"depth={line}" for line in log.read_text().split()} if log.exists() else set()
        assert not complete & again
        assert complete <= done
        assert len(done) > len(complete) or child.returncode == 0
        complete = done
        log.unlink(missing_ok=True)
    with open_store(url) as store:
        study = run_study_trials(store, "killed", DepthMaker(), SET, [{"depth": depth} for depth in depths])
        assert all(trial.state == "complete" for trial in study.trials)
        assert len(store.runs.list(study="killed")) == len(depths)


class Logged(DepthMaker):
    """Writes down which trials are opened, for a process that is killed."""

    def __init__(self, path: str) -> None:
        super().__init__(wait=0.05)
        self._path = Path(path)

    def open(self, parameters: Mapping[str, Any]) -> FirstDocuments:
        with self._path.open("a", encoding="utf-8") as log:
            log.write(f"{parameters['depth']}\n")
        return super().open(parameters)


if __name__ == "__main__":
    with open_store(sys.argv[1]) as opened_store:
        wanted = [{"depth": int(depth)} for depth in sys.argv[3].split(",")]
        run_study_trials(opened_store, "killed", Logged(sys.argv[2]), SET, wanted)
