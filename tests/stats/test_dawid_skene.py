"""What is right, from judges alone: planted judges, recorded ones, and where nothing can be said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ragauge.analysis.judges.annotators import estimated
from ragauge.stats.dawid_skene import dawid_skene

LLMBAR = Path(__file__).resolve().parents[3] / "shared/data/llmbar/judge_verdicts"


def planted(accuracy: dict[str, float], n: int = 600, seed: int = 0) -> tuple[list[dict[str, int]], list[int]]:
    """Verdicts of judges who are right with their own chance, whatever the others say; and what is right."""
    draws = np.random.default_rng(seed)
    truth = (draws.random(n) < 0.6).astype(int)
    said = {name: np.where(draws.random(n) < one, truth, 1 - truth) for name, one in accuracy.items()}
    return [{name: int(said[name][i]) for name in accuracy} for i in range(n)], truth.tolist()


def test_planted_accuracies_are_found() -> None:
    """Over 20 seeds the estimates lie within 0.05 of the planted accuracies, and labels beat the vote of most."""
    accuracy = {"good": 0.95, "fair": 0.85, "poor": 0.6, "other": 0.6, "chance": 0.5}
    estimates, better = [], 0
    for seed in range(20):
        items, truth = planted(accuracy, seed=seed)
        found = dawid_skene(items)
        assert found is not None
        estimates.append([found.accuracy[name] for name in accuracy])
        votes = [Counter(item.values()).most_common(1)[0][0] for item in items]
        right = [sum(a == b for a, b in zip(said, truth, strict=True)) for said in (found.labels, votes)]
        better += right[0] > right[1]
    assert np.mean(estimates, axis=0) == pytest.approx(list(accuracy.values()), abs=0.05)
    assert better >= 18


def test_a_judge_that_lacks_items_counts_where_it_has_them() -> None:
    """Verdicts that are missing are no verdicts: the estimates stay, and every item has a label."""
    accuracy = {"a": 0.9, "b": 0.85, "c": 0.8}
    items, truth = planted(accuracy, 2_000)
    for n, item in enumerate(items):
        if n % 2:
            del item["c"]
    found = dawid_skene(items)
    assert found is not None
    assert [found.accuracy[name] for name in accuracy] == pytest.approx(list(accuracy.values()), abs=0.05)
    assert len(found.labels) == len(found.sure) == 2_000
    assert min(found.sure) >= 0.5
    assert sum(found.share.values()) == pytest.approx(1.0)
    assert np.mean([a == b for a, b in zip(found.labels, truth, strict=True)]) > 0.88


def test_nothing_can_be_said_of_two() -> None:
    """Two judges, or judges with one label only, give no estimate."""
    assert dawid_skene([{"a": 1, "b": 0}] * 20) is None
    assert dawid_skene([{"a": 1, "b": 1, "c": 1}] * 20) is None
    assert dawid_skene([]) is None
    assert estimated([["x", "y"], ["x", ""]]) == ()


def test_a_judge_that_is_left_out_changes_no_estimate() -> None:
    """A jury, which says what its members say, has no estimate, and theirs are as if it were not there."""
    draw = np.random.default_rng(5)
    truth = draw.integers(0, 2, 400)
    judges = [[str(t ^ int(draw.random() < 0.2)) for t in truth] for _ in range(3)]
    alone = estimated(judges)
    assert estimated([judges[0], None, *judges[1:]]) == (alone[0], None, *alone[1:])
    assert estimated([*judges[:2], None]) == ()


@pytest.mark.realdata
def test_recorded_judges_of_adversarial_answers() -> None:
    """On LLMBar's GPTInst pairs most of seven judges, in both orders, are right in 72 %, the estimate in 85 %."""
    paths = sorted(LLMBAR.glob("Adversarial_GPTInst__*"))
    if not paths:
        pytest.skip("the public data sets are not beside the repository")
    items: list[dict[str, str]] = []
    for path in paths:
        rows = json.loads(path.read_text())
        items = items or [{} for _ in rows]
        truth = [str(row["label"]) for row in rows]
        for item, row in zip(items, rows, strict=True):
            for order in (False, True):
                said = str(row["results"][0][f"swap = {order}"]["winner"])
                if said in "12":
                    item[f"{path.stem} {order}"] = said
    found = dawid_skene(items)
    assert found is not None
    votes = [sum(one == right for one in item.values()) / len(item) for item, right in zip(items, truth, strict=True)]
    most = [1.0 if one > 0.5 else 0.5 if one == 0.5 else 0.0 for one in votes]
    assert np.mean(most) == pytest.approx(0.72, abs=0.005)
    assert np.mean([a == b for a, b in zip(found.labels, truth, strict=True)]) >= 0.85
