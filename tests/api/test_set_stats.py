"""What a set can show is what compare says of the same runs, and what other wordings cost is the paired difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from tests.api.test_one_comparison import PAIRS, evaluated, rows

import ragauge as rg
from ragauge.core.errors import UsageError


def _written(folder: Path, made: list[dict[str, Any]], name: str = "set.jsonl") -> Path:
    path = folder / name
    kept = ("query_id", "query", "relevant", "reference_answer", "cluster", "segments")
    lines = [json.dumps({key: row[key] for key in kept if key in row}) for row in made]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("plain", marks=pytest.mark.prove),
        pytest.param("hardly changed", marks=pytest.mark.prove),
        "clustered",
        pytest.param("weighted", marks=pytest.mark.prove),
        pytest.param("binary", marks=pytest.mark.prove),
        "failed calls",
    ],
)
def test_detects_what_compare_says(kind: str, tmp_path: Path) -> None:
    """Of two runs the detectable change of every metric is that of compare, to the last digit."""
    base, new, more = PAIRS[kind]
    store = f"sqlite:///{tmp_path}/pair.db"
    evaluated(store, base, "main", more)
    evaluated(store, new, "changed", more)
    compared = rg.compare("main", "changed", store=store).metrics
    found = rg.set_stats(_written(tmp_path, new), run="changed", baseline="main", store=store, detect="3%").data
    assert found.reach is not None
    whole = {one.metric: one for one in found.reach.changes if not one.segment}
    assert len(whole) >= 2
    for name, one in whole.items():
        assert (one.detectable, one.n) == (compared[name].detectable, compared[name].difference.n)
        mean = compared[name].new
        assert mean is not None
        assert one.wanted is not None
        assert one.wanted == pytest.approx(0.03 * mean)
        if one.detectable is not None and one.needed is not None:
            assert (one.needed <= one.n) == (one.detectable <= one.wanted)


def test_of_one_run_the_scores_stand_for_differences(tmp_path: Path) -> None:
    """By hand: 48 of 60 right, s = 0.403; 80 of 100 comparisons see 2.85 · s / sqrt(60); segments are among all."""
    store = f"sqlite:///{tmp_path}/one.db"
    made = rows(60, missed=12)
    evaluated(store, made, "main", {"metrics": "recall@5", "judge": None})
    result = rg.set_stats(_written(tmp_path, made), run="main", store=store, detect="5 points")
    assert result.data.reach is not None
    whole, *parts = result.data.reach.changes
    assert whole.detectable == pytest.approx(2.85 * np.std([1.0] * 48 + [0.0] * 12, ddof=1) / 60**0.5, rel=0.01)
    assert whole.detectable is not None
    assert whole.needed == pytest.approx(60 * (whole.detectable / 0.05) ** 2, rel=0.03)
    assert [(one.segment, one.value, one.n) for one in parts] == [("type", "rare", 15), ("type", "usual", 45)]
    assert "correlate at 0.5" in result.to_markdown()
    assert result.to_dict()["reach"]["changes"][0]["more"] == whole.n_missing == (whole.needed or 0) - 60


def test_metrics_are_names_with_commas(tmp_path: Path) -> None:
    """A text of metrics, as the command hands it over, is read as names, not as letters."""
    store = f"sqlite:///{tmp_path}/one.db"
    made = rows(20, missed=4)
    evaluated(store, made, "main", {"metrics": "recall@5,mrr", "judge": None})
    found = rg.set_stats(_written(tmp_path, made), run="main", store=store, metrics="recall@5").data
    assert found.reach is not None
    assert {one.metric for one in found.reach.changes} == {"recall@5"}


def test_robustness_is_the_paired_difference(tmp_path: Path) -> None:
    """Variants that miss where their originals do not: n, both means and the t interval of the differences by hand."""
    made = [{**row, "cluster": f"c{n}"} for n, row in enumerate(rows(80, missed=8))]
    rng, variants = np.random.default_rng(4), []
    lost = rng.random(60) < 0.4
    for row, miss in zip(made[:60], lost, strict=True):
        passages = [{"doc_id": "other", "text": "nothing"}] if miss else row["passages"]
        segments = {**row["segments"], "variation": "typos"}
        variants.append({**row, "query_id": f"{row['query_id']}~typos", "passages": passages, "segments": segments})
    asked = [{**made[0], "query_id": "q0~entity", "segments": {"variation": "entity"}, "relevant": {}}]
    store = f"sqlite:///{tmp_path}/varied.db"
    evaluated(store, [*made, *variants, *asked], "varied", {"metrics": "recall@1", "judge": None})
    found = rg.set_stats(_written(tmp_path, [*made, *variants, *asked]), run="varied", store=store).data
    assert found.reach is not None
    (one,) = found.reach.robustness
    originals, put = np.arange(60) >= 8, (np.arange(60) >= 8) & ~lost
    assert (one.kind, one.change.metric, one.change.difference.n) == ("typos", "recall@1", 60)
    assert (one.change.base, one.change.new) == (originals.mean(), put.mean())
    d = put.astype(float) - originals
    interval = one.change.difference.interval
    assert interval is not None
    theirs = ttest_1samp(d, 0).confidence_interval()
    assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high), abs=0.04)
    assert one.change.verdict == "worse"
    assert (found.reach.unpaired, found.reach.same_set) == ((("entity", 1),), True)


def test_options_of_a_run_need_one(tmp_path: Path) -> None:
    """--detect without --run says what it lacks; another form of a change says which there are."""
    path = _written(tmp_path, rows(5))
    with pytest.raises(UsageError, match="Add --run RUN"):
        rg.set_stats(path, detect="3%")
    store = f"sqlite:///{tmp_path}/one.db"
    evaluated(store, rows(5), "main", {"metrics": "recall@5", "judge": None})
    with pytest.raises(UsageError, match="3 points"):
        rg.set_stats(path, run="main", store=store, detect="three")
