"""Shadow: a candidate that is worse is stopped, one that is not may have as much as is known, and the rule says why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import UsageError
from ragauge.monitoring.shadow.compute import RetrievedDocuments, compare_retrieved_documents, decide_shadow
from ragauge.monitoring.shadow.verb import ShadowResult, monitor_shadow
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.overview import MeanEstimate
from ragauge.stats.weighted import Interval

TEXT = "The router of floor {n} is reset by holding its button for ten seconds."


def change(low: float, high: float, **changed: Any) -> MetricChange:
    """Faithfulness with a mean of 0.8, and how far the interval of the difference reaches."""
    difference = MeanEstimate((low + high) / 2, Interval(low, high, "t"), 100)
    one = MetricChange(
        "faithfulness",
        "generation",
        "higher",
        "mean",
        0.8,
        0.8,
        difference,
        0.5,
        "t",
        None,
        1,
        1,
        1,
        0,
        "no change seen",
        "no change seen",
    )
    return replace(one, **changed)


@pytest.mark.parametrize(
    ("changes", "move", "share"),
    [
        ([change(-0.02, 0.02)], "cut over", 1.0),  # 2.5 % of the mean at worst
        ([change(0.01, 0.2)], "cut over", 1.0),
        ([change(-0.08, 0.02)], "ramp", 0.25),  # 10 %, of a quarter 2.5 %
        ([change(-0.4, 0.1)], "ramp", 0.05),  # 50 %, of a twentieth 2.5 %
        ([change(-0.6, 0.1)], "stop", 0.0),  # 75 %
        ([change(-0.02, 0.08, direction="lower", base=0.2)], "ramp", 0.25),
        ([change(-0.02, 0.02), change(0.0, 0.1, direction="lower", base=0.0)], "ramp", 0.25),
        ([change(-0.02, 0.02), change(-0.3, -0.1, verdict="worse")], "stop", 0.0),
        ([change(-0.02, 0.02), change(5, 9, kind="amount", verdict="worse")], "cut over", 1.0),
        ([], "stop", 0.0),
    ],
)
def test_what_decides(changes: list[MetricChange], move: str, share: float) -> None:
    """The worst that intervals allow, against 3 % of the mean; a metric that is worse stops, latency does not."""
    found = decide_shadow(changes, 0.03)
    assert (found.move, found.share) == (move, share), found.rule


@pytest.mark.parametrize(
    ("golden", "divergence", "move", "share"),
    [
        ([], 0.05, "cut over", 1.0),
        ([], 0.4, "ramp", 0.5),  # other documents, and nobody says that they are right
        ([change(-0.01, 0.02)], 0.4, "cut over", 1.0),  # golden recall does
        ([change(-0.08, 0.02)], 0.05, "ramp", 0.25),
        ([change(-0.3, -0.1, verdict="worse")], 0.0, "stop", 0.0),
    ],
)
def test_golden_recall_decides_and_other_documents_hold_back(
    golden: list[MetricChange], divergence: float, move: str, share: float
) -> None:
    """Golden recall decides as metrics do; other documents allow half of the requests, unless it vouches for them."""
    found = decide_shadow([change(-0.02, 0.02)], 0.03, golden, RetrievedDocuments(40, 10, divergence, 0.5))
    assert (found.move, found.share) == (move, share), found.rule


def test_how_alike_two_retrieve() -> None:
    """Of two documents a question, one in four exchanged for others that nobody else finds is a divergence of 0.25."""
    found = compare_retrieved_documents([["a", "b"], ["c", "d"]], [["a", "b"], ["c", "x"]], 10)
    assert found == RetrievedDocuments(2, 10, 0.25, 0.75)
    assert compare_retrieved_documents([["a"]], [[]], 10) == RetrievedDocuments(1, 10, 1.0, 0.0)
    assert compare_retrieved_documents([[]], [[]], 10) is None


SYSTEM = """
def answer(query):
    n = query.split()[-1].strip("?")
    text = f"The router of floor {n} is reset by holding its button for ten seconds."
    return {"answer": SAYS or text, "passages": [{"doc_id": PREFIX + n, "text": text}]}
"""
INVENTED = "Bake it for forty minutes in a hot oven with Swiss cheese."
WIDE = "14%"  # thirty equal answers exclude a loss of 12 % and more


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two days of forty requests, on the second of which a third of the answers was invented; and four candidates."""
    for name, says, prefix in (("same", "", ""), ("other", INVENTED, ""), ("moved", "", "new"), ("lost", "", "x")):
        (tmp_path / f"{name}_app.py").write_text(f"SAYS, PREFIX = {says!r}, {prefix!r}\n{SYSTEM}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    for day in (1, 2):
        rows = [
            {
                "query_id": f"t{n}",
                "query": f"How is the router reset on floor {n}?",
                "answer": INVENTED if day == 2 and n % 3 == 0 else TEXT.format(n=n),
                "passages": [{"doc_id": str(n), "text": TEXT.format(n=n)}],
            }
            for n in range(40)
        ]
        rg.evaluate(rows, name=f"shop 2026-01-0{day}", metrics="faithfulness", store=url, traffic=True)
    golden = [
        {"query_id": f"g{n}", "query": f"How is the router reset on floor {n}?", "relevant": {str(n): 1}}
        for n in range(40)
    ]
    (tmp_path / "golden.jsonl").write_text("\n".join(map(json.dumps, golden)))
    return url


def shadow(url: str, system: str, day: int, **more: Any) -> ShadowResult:
    asked = {"sample": 30, "metrics": "faithfulness", "store": url, **more}
    return monitor_shadow(f"{system}_app:answer", like=f"shop 2026-01-0{day}", **asked)


@pytest.mark.prove
def test_a_candidate_is_held_against_production(shop: str) -> None:
    """Planted candidates: worse is stopped, equal may have what its questions prove, better may have all.

    Thirty equal answers exclude no loss below 12 %: at 3 % that is a quarter of the requests, at 14 % all of them.
    """
    worse = shadow(shop, "other", 1)
    assert (worse.verdict.move, worse.verdict.rule) == ("stop", "faithfulness got worse")
    assert "Stop." in worse.to_markdown()
    same = shadow(shop, "same", 1)
    assert same.comparison.runs[0].matched.n == 30
    names = [one.comparison.runs[0].run.name for one in (worse, same)]
    assert names == ["shadow of shop 2026-01-01", "shadow of shop 2026-01-01 2"]
    assert same.documents == RetrievedDocuments(30, 10, 0.0, 1.0)
    assert (same.verdict.move, same.verdict.share) == ("ramp", 0.25), same.verdict.rule
    assert shadow(shop, "same", 1, margin=WIDE).verdict.move == "cut over"
    better = shadow(shop, "same", 2)
    assert (better.verdict.move, better.verdict.share) == ("cut over", 1.0), better.verdict.rule
    with pytest.raises(UsageError, match="is not a traffic run"):
        monitor_shadow("same_app:answer", like=same.comparison.runs[0].run.run_id, store=shop)


@pytest.mark.prove
def test_other_documents_and_golden_questions(shop: str) -> None:
    """Documents under other ids allow half of the requests; where golden questions miss theirs, none."""
    moved = shadow(shop, "moved", 1, margin=WIDE)
    assert (moved.verdict.move, moved.verdict.share) == ("ramp", 0.5), moved.verdict.rule
    assert "50% and 100%" not in moved.to_markdown()
    assert "Then 100%" in moved.to_markdown()
    with pytest.raises(UsageError, match="no stored run uses this version of golden"):
        shadow(shop, "same", 1, golden="golden.jsonl")
    production = rg.run("same_app:answer", "golden.jsonl", store=shop)
    kept = shadow(shop, "same", 1, margin=WIDE, golden="golden.jsonl")
    assert kept.golden is not None
    assert kept.golden.metrics["recall@10"].base == kept.golden.metrics["recall@10"].new == 1.0
    assert kept.verdict.move == "cut over", kept.verdict.rule
    lost = shadow(shop, "lost", 1, margin=WIDE, golden="golden.jsonl", golden_base=production.run.run_id)
    assert (lost.verdict.move, lost.verdict.rule) == ("stop", "recall@10 got worse")
    assert "recall@10 on 40 golden questions: -1.000" in lost.to_markdown()
    with pytest.raises(UsageError, match="has relevant documents, so there is no recall"):
        shadow(shop, "same", 1, golden=[{"query_id": "a", "query": "What?"}])
