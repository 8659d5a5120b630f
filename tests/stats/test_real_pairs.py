"""Statistics on real scores: TREC systems topic by topic, metrics against what people say."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from tests.stats.students import clustered_t, paired_t, student_t

from ragauge.stats.bootstrap import resample_differences
from ragauge.stats.correlation import correlate
from ragauge.stats.difference import paired_test
from ragauge.stats.mean_difference import paired_interval
from ragauge.stats.sign_flips import sign_flip
from ragauge.stats.textbook_tests import wilcoxon

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [pytest.mark.realdata, pytest.mark.skipif(not DATA.is_dir(), reason="no public data sets here")]

Floats = npt.NDArray[np.float64]
SYSTEMS = ("uic0301", "humR03dc", "MU03rob01")
PAIRS = list(combinations(SYSTEMS, 2))


@cache
def relevant() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    with gzip.open(DATA / "robust03" / "robust03_cs_qrels.txt.gz", "rt") as lines:
        for topic, _, document, grade in (line.split() for line in lines):
            if int(grade) > 0:
                found[topic].add(document)
    return {topic: frozenset(documents) for topic, documents in found.items()}


@cache
def scores(system: str) -> dict[str, Floats]:
    """Average precision, precision at 10 and success at 1 of each topic that has relevant documents, in topic order."""
    ranking: dict[str, list[tuple[float, str]]] = defaultdict(list)
    with gzip.open(DATA / "robust03" / f"input.{system}.gz", "rt") as lines:
        for topic, _, document, _, score, _ in (line.split() for line in lines):
            ranking[topic].append((float(score), document))
    rows = []
    for topic, wanted in sorted(relevant().items()):
        hits = np.array([document in wanted for _, document in sorted(ranking[topic], reverse=True)], dtype=float)
        precision = np.cumsum(hits) / np.arange(1, hits.size + 1)
        rows.append((float((precision * hits).sum()) / len(wanted), float(hits[:10].sum()) / 10, float(hits[:1].sum())))
    columns = np.array(rows).T
    return dict(zip(("ap", "p10", "first"), columns, strict=True))


def test_the_scores_are_those_of_the_source() -> None:
    """The mean average precision of uic0301 is the published 0.2396."""
    assert scores("uic0301")["ap"].mean() == pytest.approx(0.2396, abs=5e-5)
    assert scores("uic0301")["ap"].size == 100


@pytest.mark.parametrize("metric", ["ap", "p10"])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_systems_differ_as_scipy_says(one: str, other: str, metric: str) -> None:
    """t, Wilcoxon, sign flips and both bootstraps of real pairs are SciPy's; the chosen interval and test lie near."""
    new, base = scores(one)[metric], scores(other)[metric]
    theirs: Any = scipy.stats.ttest_rel(new, base)
    ends = theirs.confidence_interval()
    interval, t = paired_interval(new, base, kind="mean", bounds=(0, 1)), paired_t(new - base)
    assert interval is not None
    near = 0.1 * (ends.high - ends.low)  # what the skewness of 100 differences is worth
    assert (interval.low, interval.high) == pytest.approx((ends.low, ends.high), abs=near)
    students = student_t(new - base)
    assert students is not None
    assert (students.low, students.high) == pytest.approx((ends.low, ends.high))
    assert t is not None
    assert (t.p_value, t.statistic) == pytest.approx((theirs.pvalue, theirs.statistic))
    rank, ranked = wilcoxon(new - base), scipy.stats.wilcoxon(new, base)
    assert rank is not None
    assert rank.p_value == pytest.approx(ranked.pvalue)
    flipped = scipy.stats.permutation_test(
        (new - base,), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(1), axis=0
    )
    ours, chosen = sign_flip(new - base), paired_test(new, base, kind="mean")
    assert ours is not None
    assert chosen is not None
    assert ours.p_value == pytest.approx(flipped.pvalue, abs=0.02)
    assert chosen.p_value == pytest.approx(flipped.pvalue, abs=0.03)
    resampled = resample_differences(new, base)
    options: Any = {"paired": True, "n_resamples": 9_999, "rng": np.random.default_rng(2)}
    methods: tuple[tuple[Any, Any], ...] = (("percentile", "percentile"), ("bca", "BCa"))
    for mine, scipys in methods:
        wanted = scipy.stats.bootstrap(
            (new, base), lambda x, y, axis: np.mean(x - y, axis=axis), method=scipys, **options
        ).confidence_interval
        found = resampled.intervals(mine)[0]
        assert found is not None
        noise = 0.05 * (wanted.high - wanted.low)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=noise)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_first_hits_by_mcnemar(one: str, other: str) -> None:
    """Success at 1 of real pairs: mid-p is SciPy's exact binomial p less the chance of the counts."""
    new, base = scores(one)["first"], scores(other)["first"]
    gained, lost = int((new > base).sum()), int((new < base).sum())
    exact, seen = scipy.stats.binomtest(gained, gained + lost).pvalue, scipy.stats.binom.pmf(gained, gained + lost, 0.5)
    found = paired_test(new, base, kind="rate")
    assert found is not None
    assert found.p_value == pytest.approx(min(1.0, float(exact - seen)) if gained != lost else 1.0)


def test_clustered_interval_is_statsmodels() -> None:
    """Topics ten by ten as clusters: the interval is that of a regression with clustered errors."""
    d = scores("uic0301")["ap"] - scores("MU03rob01")["ap"]
    found = clustered_t(d, np.arange(100) // 10)
    assert found is not None
    # statsmodels 0.15.0: OLS(d, ones).fit(cov_type="cluster", cov_kwds={"groups": arange(100) // 10}, use_t=True)
    assert (found.low, found.high) == pytest.approx((7.162519787079491e-05, 0.09436147553295392), abs=1e-9)


def test_ragchecker_agrees_with_people_as_published() -> None:
    """Pearson's and Spearman's correlations of preferences are those that the source gives, to two decimals."""
    folder = DATA / "ragchecker_meta"
    scored = json.loads((folder / "baseline_ragchecker.json").read_text())
    people = json.loads((folder / "human_labeled_data.json").read_text())
    wanted = {
        "correctness_label": (49.66, 46.94, 63.67, 59.19),
        "completeness_label": (60.67, 58.09, 71.91, 68.36),
        "overall_label": (61.93, 60.90, 70.09, 68.89),
    }
    for label, published in wanted.items():
        lead = [row["model2"]["ragchecker"][label] - row["model1"]["ragchecker"][label] for row in scored]
        one, other = ([float(row[label]) for row in people[side::2]] for side in (0, 1))
        methods: tuple[Any, ...] = ("pearson", "spearman")
        metric = [correlate(lead * 2, one + other, method=method) for method in methods]
        annotators = [correlate(one, other, method=method) for method in methods]
        found = [round(100 * part.value, 2) for part in (*metric, *annotators) if part is not None]
        assert found == list(published)


def test_frank_shows_the_paradox() -> None:
    """Pooled over systems QAGS and FEQA agree with people far better than Rouge, within a system hardly at all."""
    rows = json.loads((DATA / "frank" / "baseline_factuality_metrics_outputs.json").read_text())
    people = {
        (row["hash"], row["model_name"]): row["Factuality"]
        for row in json.loads((DATA / "frank" / "human_annotations.json").read_text())
    }
    pooled, inside = {}, {}
    for metric in ("FactCC", "BertScore P Art", "Dep Entail", "Rouge 1", "QAGS", "FEQA"):
        there = [row for row in rows if row[metric] is not None]
        x = [float(row[metric]) for row in there]
        y = [float(people[row["hash"], row["model_name"]]) for row in there]
        whole, part = correlate(x, y), correlate(x, y, within=[row["model_name"] for row in there])
        assert whole is not None
        assert part is not None
        pooled[metric], inside[metric] = whole, part
    within, plain = (0.204, 0.271, 0.162, 0.137, 0.065, 0.005), (0.600, 0.616, 0.111, 0.334, 0.578, 0.559)
    assert [part.value for part in inside.values()] == pytest.approx(within, abs=6e-4)
    assert [part.value for part in pooled.values()] == pytest.approx(plain, abs=6e-4)
    assert min(pooled["QAGS"].value, pooled["FEQA"].value) > pooled["Rouge 1"].value + 0.2
    assert max(inside["QAGS"].value, inside["FEQA"].value) < inside["Rouge 1"].value
    nothing = inside["FEQA"].interval
    assert nothing is not None
    assert nothing.low < 0 < nothing.high
