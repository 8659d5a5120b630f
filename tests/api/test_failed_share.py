"""The count of failed examples is corrected by labels: no report gives a corrected mean beside the judge's count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.api.test_rectified import label, right, towers

import ragauge as rg
from ragauge.store.store_access import open_store

N, WRONG, DRAWN = 150, 30, 60
TRUTH = sum(not right(i, WRONG) for i in range(N)) / N  # of examples fail, had people labeled all


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with a run of answers with one sentence; people see faults that the judge does not."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    rg.evaluate(towers(N, WRONG), metrics="faithfulness", name="new", store=url)
    return url


def test_failed_share_is_corrected(store: str, tmp_path: Path) -> None:
    """From 50 labels on the headline gives the corrected share, whose interval holds the truth, and the judge's own."""
    before = rg.open_run("new", store=store).scorecard().card
    assert before.failed_share is None
    label("new", store, tmp_path, DRAWN, WRONG)
    shown = rg.open_run("new", store=store).scorecard()
    share = shown.card.failed_share
    assert share is not None
    assert (share.n, share.others) == (DRAWN, N - DRAWN)
    assert share.judged == pytest.approx(before.failed_examples / N)  # as it was before anybody labeled
    assert share.interval.low < TRUTH < share.interval.high
    (summary,) = shown.card.summaries
    assert summary.rectified is not None
    held = 1 - summary.rectified.interval.high, 1 - summary.rectified.interval.low  # one sentence, so the same share
    assert held[0] < share.interval.high
    assert share.interval.low < held[1]
    words = shown.to_markdown().replace("\\", "")
    assert f"By {DRAWN} labeled answers, {share.mean:.0%} [" in words
    assert f"the judge alone fails {share.judged:.0%}" in words
    shown.save(tmp_path / "card.json")
    assert json.loads((tmp_path / "card.json").read_text())["failed_share"]["labels"] == DRAWN


@pytest.mark.prove
def test_few_labels_correct_no_share(store: str, tmp_path: Path) -> None:
    """With 49 labels, or by people themselves, there is no corrected share."""
    label("new", store, tmp_path, 49, WRONG)
    assert rg.open_run("new", store=store).scorecard().card.failed_share is None
    label("new", store, tmp_path, 40, WRONG)
    rg.evaluate("new", metrics="faithfulness", judge="people", store=store)
    with open_store(store) as opened:
        people = next(judge for judge in opened.scores.judges(opened.runs.find("new").run_id) if "people" in judge)
    assert rg.open_run("new", store=store).scorecard(people).card.failed_share is None
