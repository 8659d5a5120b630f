"""One pair of stored runs, asked about four ways: by evaluate, by a report, by compare and by the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.comparison.tables.words import describe_comparison
from ragauge.scores.results.comparison import Flips

METRICS = "recall@5,context_recall,faithfulness,answer_correctness,latency"
GATED = ("recall@5", "faithfulness", "answer_correctness")
LIMIT = 0.05
Row = dict[str, Any]


def rows(n: int, *, missed: int = 0, invented: int = 0, dead: int = 0, prefix: str = "q") -> list[Row]:
    """Questions answered from their passage: some got another one, some answers say too much, some calls failed."""
    found: list[Row] = []
    for i in range(n):
        text = "nothing at all" if i < missed else f"it is number {i}"
        row: Row = {
            "query_id": f"{prefix}{i}",
            "query": f"what is number {i}",
            "reference_answer": f"it is number {i}",
            "passages": [{"doc_id": "other" if i < missed else f"d{i}", "text": text}],
            "relevant": {f"d{i}": 1},
            "answer": f"it is number {i}. " + (f"something unheard {i}." if i >= n - invented else ""),
            "latency_ms": {"total": 10.0 + i % 7},
            "segments": {"type": "rare" if i % 4 == 0 else "usual"},
        }
        if n // 2 <= i < n // 2 + dead:
            row |= {"error": "timed out", "answer": None, "passages": None}
        found.append(row)
    return found


def clustered(made: list[Row]) -> list[Row]:
    """Six examples a cluster."""
    return [{**row, "cluster": f"c{i // 6}"} for i, row in enumerate(made)]


def weighted(made: list[Row]) -> list[Row]:
    """Every third response stands for four requests."""
    return [{**row, "weight": 4.0 if i % 3 == 0 else 1.0} for i, row in enumerate(made)]


FELL: dict[str, Any] = {"missed": 12, "invented": 20}
PAIRS: Mapping[str, tuple[list[Row], list[Row], dict[str, Any]]] = {
    "plain": (rows(60), rows(60, **FELL), {}),
    "nothing changed": (rows(60, missed=5), rows(60, missed=5), {}),
    "hardly changed": (rows(60), rows(60, missed=3), {}),
    "clustered": (clustered(rows(60)), clustered(rows(60, **FELL)), {}),
    "weighted": (weighted(rows(60)), weighted(rows(60, **FELL)), {}),
    "binary": (rows(60), rows(60, **FELL), {"metrics": "recall@5,exact_match"}),
    "tiny": (rows(4), rows(4, missed=2), {}),
    "judged with errors": (rows(30), rows(30, missed=8, invented=8), {"judge": "local"}),
    "failed calls": (rows(60), rows(60, missed=8, dead=7), {}),
    "half of the calls failed": (rows(60), rows(60, dead=30), {}),
    "calls answered again": (rows(60, dead=20), rows(60), {}),
    "matched by question": (rows(40), rows(40, **FELL, prefix="other"), {}),
    "partly shared": (rows(40), rows(60, **FELL), {}),
    "two samples": (rows(60), rows(50, **FELL, prefix="other"), {"traffic": True}),
}


def said(changes: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What is said of each metric, with the examples behind it."""
    return {
        name: (
            one.base,
            one.new,
            one.difference,
            one.p_value,
            one.corrected,
            one.holm,
            one.test,
            one.verdict,
            one.alone,
            one.wins,
            one.ties,
            one.losses,
            one.failed,
            one.moved if one.verdict == "worse" else (),
        )
        for name, one in changes.items()
        if name != "system_failed" and one.difference.n
    }


def evaluated(store: str, made: list[Row], name: str, more: dict[str, Any], **rest: Any) -> rg.Scorecard:
    asked: dict[str, Any] = {"metrics": METRICS, "judge": SPEC, "store": store, "workers": 1, "config": {"is": name}}
    return rg.evaluate(made, name=name, **{**asked, **more, **rest})


SHORT = ("plain", "tiny", "two samples")


@pytest.mark.parametrize(
    "kind", [kind if kind in SHORT else pytest.param(kind, marks=pytest.mark.prove) for kind in PAIRS]
)
def test_a_pair_of_runs_is_one_comparison(kind: str, tmp_path: Path) -> None:
    """evaluate, a report and compare say the same of every metric to the last digit, and the gate holds to it.

    The gate's means and difference are those of compare; its 90 % interval is that of compare at 90 %; what it passes
    although some examples differ lies above the limit there, and what it fails compare finds worse by itself.
    """
    base, new, more = PAIRS[kind]
    store = f"sqlite:///{tmp_path}/pair.db"
    evaluated(store, base, "main", more)
    card = evaluated(store, new, "changed", more, baseline="main").card.baseline
    report = rg.open_run("changed", store=store).scorecard(baseline="main").card.baseline
    compared = rg.compare("main", "changed", store=store)
    assert card is not None
    assert report is not None
    found = said(compared.metrics)
    assert found
    assert compared.runs[0].matched.paired == (kind != "two samples")
    assert said({one.metric: one for one in card.metrics}) == found
    assert said({one.metric: one for one in report.metrics}) == found
    assert (report.failures, report.matched) == (card.failures, card.matched)
    whole = compared.runs[0]
    counted = [(one.n, one.only_new, one.only_base, one.paired) for one in (card.matched, whole.matched)]
    assert counted[0] == counted[1]
    assert card.failures.base == whole.failures.base
    shown = tuple(change for change in whole.metrics if change.metric in {one.metric for one in card.changes})
    assert (card.verdict, report.verdict) == (whole.verdict, whole.verdict)
    assert describe_comparison(card, 99) == describe_comparison(
        replace(whole, metrics=shown, segments=(), flips=Flips()), 99
    )

    asked = [{"metric": name, "max_drop": f"{LIMIT:.0%}"} for name in GATED if name in found]
    gated = rg.gate("changed", baseline="main", rules={"gate": {"rules": asked}}, store=store)
    at_90 = rg.compare("main", "changed", store=store, level=0.9).metrics
    checks = [check for check in gated.checks if check.kind == "max_drop" and check.segment is None]
    assert len(checks) == len(asked)
    for check in checks:
        one, by = at_90[check.metric], compared.metrics[check.metric]
        if one.failed or "calls" in kind:  # a gate counts what failed at its worst, compare leaves it out
            continue
        assert (check.new, check.base, check.estimate) == pytest.approx((one.new, one.base, one.difference.mean))
        assert (check.sampled or check.interval) == one.difference.interval
        if check.verdict == "fail":
            assert by.alone == "worse"
        if check.verdict == "pass" and one.differing:
            assert check.interval is not None
            assert one.base is not None
            assert check.interval.low > -LIMIT * one.base


@pytest.mark.prove
def test_a_filter_means_the_same_to_a_report_and_to_compare(tmp_path: Path) -> None:
    """Of one segment both say the same, also against a baseline that does not know the segment."""
    store = f"sqlite:///{tmp_path}/kept.db"
    unnamed = [{key: value for key, value in row.items() if key != "segments"} for row in rows(60)]
    evaluated(store, rows(60), "main", {})
    evaluated(store, unnamed, "unnamed", {})
    evaluated(store, rows(60, **FELL), "changed", {})
    keep = {"type": "rare"}
    for base in ("main", "unnamed"):
        compared = rg.compare(base, "changed", store=store, filter=keep)
        assert compared.runs[0].matched.n == 15
        card = rg.evaluate(
            "changed", metrics=METRICS, judge=SPEC, store=store, workers=1, filter=keep, baseline=base
        ).card.baseline
        assert card is not None
        assert card.matched.n == 15
        assert said({one.metric: one for one in card.metrics}) == said(compared.metrics)
