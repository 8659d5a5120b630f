"""The index that lists of examples are read from: the same as what rows of scores say, and never stale."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.test_baseline import METRICS, evaluated, rows
from tests.api.test_kept_cards import WRITES
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.core.verdict import VERDICTS
from ragauge.diagnosis.examples import example_filters as module
from ragauge.diagnosis.examples.example_filters import load_example_index
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.pass_status import JudgedCoverage
from ragauge.scores.quality import QualityScores
from ragauge.store.cards import CardKey
from ragauge.store.store_access import open_store
from ragauge.verbs.columns import StoredColumns, load_failures, load_verdicts

# what no list of examples shows, so that the next list is quick all the same
NOT_LISTED = {
    "a score of the baseline",
    "evidence",
    "a call",
    "a note",
    "a baseline",
    "a judge's spec",
    "a check of the judge",
    "a label of a draw",
    "another run on labelled passages",
    "an earlier run that is gone",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over one set; of the second some answers were never judged."""
    path = tmp_path_factory.mktemp("index") / "index.db"
    url = f"sqlite:///{path}"
    evaluated(url, "main", invented=3)
    evaluated(url, "changed", missed=10, invented=20, segments=())
    rg.evaluate(rows(12, prefix="p"), metrics=METRICS, judge=SPEC, store=url, name="part", workers=1, limit=7)
    return path


@pytest.fixture
def store(file: Path, tmp_path: Path) -> str:
    """A copy that a test may write to."""
    return f"sqlite:///{shutil.copy(file, tmp_path)}"


@pytest.mark.parametrize("name", ["main", "changed", "part"])
@pytest.mark.parametrize("judged", [True, False])
def test_the_index_is_what_the_scores_say(store: str, name: str, judged: bool) -> None:
    """Status, reason, cause and quality by the database equal those that are read score by score."""
    with open_store(store) as opened:
        run_id = opened.runs.find(name).run_id
        judge = opened.scores.judges(run_id)[0] if judged else None
        found = load_example_index(opened, run_id, judge)
        index = opened.runs.index(run_id, opened.runs.load_order(run_id).numbers)
        quality, known = QualityScores(index), JudgedCoverage(index)
        columns = StoredColumns(opened, run_id, judge, index)
        for metric in found.metrics:
            for reader in (quality, known):
                reader.read(parse_metric(metric), columns.entries(metric))
        failed = load_failures(opened, run_id, judge, index)
        verdicts = known.verdicts(load_verdicts(opened, run_id, judge, index), failed, judge)
        whys = [found.whys[why] for why in found.why]
        causes = dict(zip(failed.place.tolist(), failed.cause, strict=True))
    assert found.metrics
    assert np.array_equal(found.verdict, verdicts.verdict)
    assert whys == [verdicts.reasons[reason] for reason in verdicts.reason]
    assert {at: found.causes[cause] for at, cause in enumerate(found.cause) if cause >= 0} == causes
    assert np.array_equal(found.quality, quality.values(), equal_nan=True)


@pytest.mark.parametrize("what", WRITES)
def test_nothing_stale_is_listed(store: str, what: str) -> None:
    """After each write of what lists show, the index is made anew; after others it stays, and equals a new one."""
    with open_store(store) as opened:
        run_id = opened.runs.find("changed").run_id
        judge = opened.scores.judges(run_id)[0]
        load_example_index(opened, run_id, judge)
        WRITES[what](opened)
        kept = opened.cards.read(CardKey(run_id, judge), ["examples"])["examples"].body
        again = module._build_index(opened, run_id, judge)
    assert (kept is not None) == (what in NOT_LISTED)
    if kept is not None:
        assert kept == again.pack_index()


def test_lists_after_an_evaluation_look_at_no_score(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluation leaves the index behind; read back, lists are those of a store that never had one."""

    def listed() -> list[Any]:
        run = rg.open_run("changed", store=store)
        return [
            run.examples(None, sort=sort, filter={"status": status})
            for sort in ("quality", "cause")
            for status in VERDICTS
        ]

    with sqlite3.connect(store.removeprefix("sqlite:///")) as raw:
        assert raw.execute("SELECT count(*) FROM cards WHERE part = 'examples'").fetchone()[0] >= 2
        raw.execute("DELETE FROM cards WHERE part = 'examples'")
    raw.close()
    made = listed()
    monkeypatch.setattr(module, "_build_index", None)
    assert listed() == made
    assert any(made)
