"""What every store of studies does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Run
from ragauge.core.study import Measurement, Study, Trial
from ragauge.store.store_access import Store, open_store

STUDY = Study("sizes", "chunking", "faq", "v1", {"retriever": "bm25", "budget": [512, 1024]})
MEASURED = (Measurement("index_tokens", 1200.0, "tokens"), Measurement("p99", 2.5, "ms", 2.0, 3.0, 1000))


def run_in(store: Store, name: str) -> str:
    """The id of a run of one example."""
    return store.collecting.begin_run(Run("", name), EvalSet("faq", (Example("q1", "Why?"),))).run_id


class StudiesContract:
    """A back end subclasses this and supplies `store`."""

    def test_study_is_read_as_it_was_kept(self, store: Store) -> None:
        """A study is read back with its fixed settings, and trials with their parameters and measurements in order."""
        store.studies.begin_study(STUDY)
        trials = [
            Trial("size=400", {"size": 400}, "complete", "", run_in(store, "a"), MEASURED),
            Trial("size=200", {"size": 200}, "failed", "no such size"),
        ]
        for trial in trials:
            store.studies.save_trial("sizes", trial)
        found = store.studies.read("sizes")
        assert (found.kind, dict(found.fixed), list(found.trials)) == ("chunking", dict(STUDY.fixed), trials)
        assert found.parameter_values == {"size": [400, 200]}
        assert store.studies.list() == [found]

    def test_trial_replaces_the_one_of_its_name(self, store: Store) -> None:
        """A trial made again takes the place of the earlier one, whose run and measurements go."""
        store.studies.begin_study(STUDY)
        first, second = run_in(store, "a"), run_in(store, "b")
        store.studies.save_trial("sizes", Trial("size=400", {"size": 400}, "complete", "", first, MEASURED))
        store.studies.save_trial("sizes", Trial("size=200", {"size": 200}))
        store.studies.save_trial("sizes", Trial("size=400", {"size": 400}, "complete", "", second, MEASURED[:1]))
        found = store.studies.read("sizes")
        assert [(trial.name, trial.run_id) for trial in found.trials] == [("size=400", second), ("size=200", "")]
        assert found.trials[0].measurements == MEASURED[:1]
        with pytest.raises(UnknownName):
            store.runs.find(first)

    def test_trials_are_listed_under_their_study_alone(self, store: Store) -> None:
        """Runs of trials are no runs of their own: listed under their study only, and never the latest."""
        plain = run_in(store, "plain")
        store.studies.begin_study(STUDY)
        trial = run_in(store, "trial")
        store.studies.save_trial("sizes", Trial("size=400", {"size": 400}, "complete", "", trial))
        assert [run.run_id for run in store.runs.list()] == [plain]
        assert [run.run_id for run in store.runs.list(study="sizes")] == [trial]
        assert store.runs.find("latest").run_id == plain
        assert store.runs.find("trial").run_id == trial

    def test_deleting_takes_the_runs_along(self, store: Store) -> None:
        """A deleted study leaves neither trials nor runs; a deleted run takes its trial along."""
        store.studies.begin_study(STUDY)
        runs = [run_in(store, name) for name in "ab"]
        for run_id, size in zip(runs, (200, 400), strict=True):
            store.studies.save_trial("sizes", Trial(f"size={size}", {"size": size}, "complete", "", run_id, MEASURED))
        store.runs.delete(runs[0])
        assert [trial.name for trial in store.studies.read("sizes").trials] == ["size=400"]
        store.studies.delete("sizes")
        assert (store.studies.list(), store.runs.list(study="sizes")) == ([], [])
        with pytest.raises(UnknownName):
            store.runs.find(runs[1])

    def test_names_are_unique_and_known(self, store: Store) -> None:
        """A name that is taken, and one that is not there, are errors that name it."""
        store.studies.begin_study(STUDY)
        with pytest.raises(UsageError, match="a study named 'sizes' already exists"):
            store.studies.begin_study(STUDY)
        with pytest.raises(UnknownName, match="no study 'size'; nearest: sizes"):
            store.studies.read("size")

    def test_writes_of_a_broken_transaction_are_not_kept(self, store: Store) -> None:
        """A trial and its run that are written together are gone together when the writing is broken off."""
        store.studies.begin_study(STUDY)
        broken = Trial("size=400", {}, "complete", "", "no such run", MEASURED)

        def halfway() -> None:
            with store.transaction():
                store.studies.save_trial("sizes", replace(broken, run_id=run_in(store, "a")))
                store.studies.save_trial("sizes", broken)

        with pytest.raises(UnknownName):
            halfway()
        assert store.studies.read("sizes").trials == ()
        assert store.runs.list(study="sizes") == []


class TestSqlite(StudiesContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


def test_study_survives_reopening(tmp_path: Path) -> None:
    """What was kept is there for the next process."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with open_store(url) as store:
        store.studies.begin_study(STUDY)
        store.studies.save_trial("sizes", Trial("size=400", {"size": 400}, measurements=MEASURED))
    with open_store(url) as store:
        assert store.studies.read("sizes").trials[0].find_measurement_value("p99") == 2.5
