"""A run held against another one, in Python: what changed, what the diagnosis makes of it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_judge import SPEC

import ragauge as rg

OTHER = "tests.api.test_baseline:OtherJudge"
METRICS = "recall@5,context_recall,faithfulness,answer_correctness,context_precision"
N = 40


def OtherJudge() -> Any:  # noqa: N802 - called by its name as a judge's spec
    """Judges as the tiny one does, under another name."""
    from tests.engine.tiny_judge import TinyJudge

    class Other(TinyJudge):
        judge_id = "other@1"

    return Other()


def rows(n: int = N, *, missed: int = 0, invented: int = 0, prefix: str = "q") -> list[dict[str, Any]]:
    """Questions answered from their passage; `missed` of them got another one, `invented` answers say too much."""
    found = []
    for i in range(n):
        there = "nothing at all" if i < missed else f"it is number {i}"
        answer = f"it is number {i}. " + (f"something unheard {i}." if i >= n - invented else "")
        found.append(
            {
                "query_id": f"{prefix}{i}",
                "query": f"what is number {i} of {prefix}",
                "answer": answer,
                "passages": [{"doc_id": "other" if i < missed else f"d{i}", "text": there}],
                "reference_answer": f"it is number {i}",
                "relevant": {f"d{i}": 1},
            }
        )
    return found


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/held.db"


def evaluated(store: str, name: str, **more: Any) -> rg.Scorecard:
    system = {key: more.pop(key) for key in ("n", "missed", "invented", "prefix") if key in more}
    asked = {"metrics": METRICS, "judge": SPEC, "store": store, "name": name, "workers": 1, "config": {"is": name}}
    return rg.evaluate(rows(**system), **{**asked, **more})


def test_changes_against_a_baseline(store: str) -> None:
    """10 of 40 lost their document: recall fell by a quarter, with its interval, and the diagnosis says retrieval."""
    evaluated(store, "main")
    card = evaluated(store, "changed", missed=10, baseline="main")
    found = card.card.baseline
    assert found is not None
    assert (found.base.name, found.matched.pairs, found.matched.here, found.matched.there) == ("main", 40, 0, 0)
    changes = {change.metric: change for change in found.metrics}
    assert list(changes) == METRICS.split(",")
    recall = changes["recall@5"]
    assert (recall.base, recall.new, recall.difference.mean, recall.verdict) == (1.0, 0.75, -0.25, "worse")
    assert recall.difference.n == 40
    assert recall.difference.interval is not None
    # scores of 0 and 1, none gained, 10 lost: Agresti and Min, q = .5/42 = .011905, p = 10.5/42 = .25, q − p = −.238095
    # half-width 1.959964 · sqrt((.011905 + .25 − .238095²) / 42) = 1.959964 · .069901 = .137003
    assert recall.difference.interval.low == pytest.approx(-0.238095 - 0.137003, abs=1e-5)
    assert recall.difference.interval.high == pytest.approx(-0.238095 + 0.137003, abs=1e-5)
    assert (found.failures.base, found.failures.failed_base) == ({}, 0)
    first = card.findings[0]
    assert (first.cause, first.against) == ("retrieval_miss", "baseline")
    assert "recall" in " ".join(reading.metric for reading in first.readings)
    assert "In main, it caused 0 of 0 failures." in first.evidence


def test_diagnosis_reads_the_change(store: str) -> None:
    """Answers that say more than before, from the same passages: grounding fell against the baseline."""
    evaluated(store, "main")
    card = evaluated(store, "talks", invented=20, baseline="main")
    (finding,) = [one for one in card.findings if one.against and not one.cause.startswith("worse_")]
    assert finding.cause == "hallucinated"
    assert "generation got worse" in finding.evidence
    levels = {reading.metric: (reading.level, reading.against, reading.source) for reading in finding.readings}
    assert levels["faithfulness"] == ("low", "baseline", "main")
    assert levels["context_recall"] == ("high", "baseline", "main")
    alone = rg.open_run("talks", store=store).scorecard()
    assert alone.card.baseline is None
    assert {one.against for one in alone.findings} <= {"", "starting points"}


@pytest.mark.prove
def test_baseline_in_every_form(store: str) -> None:
    """A baseline is an id, a name, "latest" as it was before, an opened run or a scorecard; on a stored run too."""
    main = evaluated(store, "main")
    for base in (main.run.run_id, "main", "latest", rg.open_run("main", store=store), main):
        card = evaluated(store, "changed", missed=10, baseline=base)
        assert card.card.baseline is not None
        assert card.card.baseline.base.run_id == main.run.run_id
        rg.open_run("changed", store=store).delete()
    evaluated(store, "changed", missed=10)
    shown = rg.open_run("changed", store=store).scorecard(baseline="main").card.baseline
    assert shown is not None
    assert {change.metric for change in shown.metrics} == set(METRICS.split(","))
    with pytest.raises(rg.UnknownName, match="nearest: main"):
        rg.open_run("changed", store=store).scorecard(baseline="mian")
    with pytest.raises(rg.UsageError, match="baseline must be a stored run"):
        rg.open_run("changed", store=store).scorecard(baseline=3)


def test_same_run_twice(store: str) -> None:
    """A run held against itself differs by nothing, and says that it is the same."""
    evaluated(store, "main", missed=5)
    card = rg.open_run("main", store=store).scorecard(baseline="main")
    assert card.card.baseline is not None
    assert {(c.difference.mean, c.verdict) for c in card.card.baseline.metrics} == {(0.0, "no change seen")}
    assert any("this run itself" in warning for warning in card.card.warnings)


def test_examples_are_matched_by_id(store: str) -> None:
    """Of 40 and 30 examples the 30 in both are compared; the set's change is warned about; a filter holds for both."""
    evaluated(store, "main", n=30)
    card = evaluated(store, "changed", missed=10, baseline="main")
    found = card.card.baseline
    assert found is not None
    assert (found.matched.pairs, found.matched.here, found.matched.there) == (30, 10, 0)
    assert {change.difference.n for change in found.metrics} == {30}
    assert any("another version of the eval set" in warning for warning in card.card.warnings)


def test_runs_without_a_common_example_are_refused(store: str) -> None:
    """Nothing to match is an error with an id of each side, before anything is judged, and leaves no run behind."""
    evaluated(store, "main", n=5)
    with pytest.raises(rg.UsageError, match=r"no example in common.*'x0'.*'q0'"):
        evaluated(store, "changed", n=5, prefix="x", baseline="main")
    assert [run.name for run in rg.runs(store=store)] == ["main"]


@pytest.mark.prove
def test_other_judges_are_refused_before_anything_is_asked(store: str) -> None:
    """A baseline by another judge is refused with the command that helps; metrics from labels are compared."""
    evaluated(store, "main", n=5)
    with pytest.raises(rg.UsageError, match=r"judged by other@1, main by tiny@1.*ragauge evaluate main -m"):
        evaluated(store, "changed", n=5, missed=2, judge=OTHER, baseline="main")
    assert [run.name for run in rg.runs(store=store)] == ["main"]
    evaluated(store, "changed", n=5, missed=2, judge=OTHER)
    with pytest.raises(rg.UsageError, match="cannot be compared"):
        rg.open_run("changed", store=store).scorecard(baseline="main")
    labels = rg.evaluate("changed", metrics="recall@5,mrr", judge=None, store=store, baseline="main").card.baseline
    assert labels is not None
    assert [change.metric for change in labels.metrics] == ["recall@5"]  # mrr was not measured there
    evaluated(store, "main", n=5, judge=OTHER)  # as the message says
    both = rg.open_run("changed", store=store).scorecard(baseline="main").card.baseline
    assert both is not None
    assert len(both.metrics) == 5


@pytest.mark.prove
def test_oracle_run_is_found(store: str) -> None:
    """A run on the labeled passages of the same set tells retrieval from generation, without being asked for."""
    card = evaluated(store, "own", missed=30)
    assert "retrieval_gap" not in [finding.cause for finding in card.findings]
    evaluated(store, "perfect", variant="oracle")
    card = rg.open_run("own", store=store).scorecard()
    (finding,) = [one for one in card.findings if one.against == "oracle passages"]
    assert card.card.baseline is None
    assert "answers are good with the right passages" in finding.evidence.lower()
    there = [(reading.metric, reading.level) for reading in finding.readings if reading.of == "oracle"]
    assert there == [("faithfulness", "high")]  # correctness is 1 on both: the answers are right without evidence
    held = rg.open_run("own", store=store).scorecard(baseline="perfect")
    assert held.card.baseline is not None
    assert any(one.against == "oracle passages" for one in held.findings)
    assert not any(one.against == "baseline" for one in held.findings)
    with pytest.raises(rg.UnknownName, match="oracle"):
        evaluated(store, "typo", n=3, variant="orakle")


@pytest.mark.prove
def test_poor_on_oracle_passages(store: str) -> None:
    """Where the answers invent even on labelled passages, the prompt or the model is the problem."""
    evaluated(store, "perfect", invented=40, variant="oracle")
    card = evaluated(store, "own", missed=5, invented=40)
    (finding,) = [one for one in card.findings if "even with the right passages" in one.evidence.lower()]
    assert finding.against == "starting points"


def test_traffic_is_held_against_earlier_traffic(store: str) -> None:
    """Two weeks of traffic share no request: their means are compared, and the production rows are read."""
    evaluated(store, "week 1", prefix="a", traffic=True)
    card = evaluated(store, "week 2", prefix="b", invented=30, traffic=True, baseline="week 1")
    found = card.card.baseline
    assert found is not None
    assert (found.matched.pairs, found.matched.here, found.matched.there) == (0, 40, 40)
    change = next(change for change in found.metrics if change.metric == "faithfulness")
    assert change.verdict == "worse"
    assert change.difference.interval is not None
    assert change.difference.interval.method.startswith("unpaired")
    assert any("in production, answers are less grounded" in one.evidence.lower() for one in card.findings)


def test_larger_k_is_seen_in_the_settings(store: str) -> None:
    """Faithfulness that falls as k grows in the settings is blamed on the noise."""
    evaluated(store, "k5", config={"k": 5})
    card = evaluated(store, "k10", invented=20, config={"k": 10}, baseline="k5")
    (finding,) = [one for one in card.findings if one.cause == "noise"]
    assert "k went from 5 to 10" in finding.evidence
    assert "it confuses the model" in finding.headline


def ranked(k: int, *, first: int = 10) -> list[dict[str, Any]]:
    """Questions whose evidence stands at rank 1 in the `first` ones and at rank 4 in the others, cut at k passages."""
    found = rows()
    for n, row in enumerate(found):
        others = [{"doc_id": f"x{m}", "text": "nothing at all"} for m in range(4)]
        others.insert(0 if n < first else 3, row["passages"][0])
        row["passages"] = others[:k]
    return found


@pytest.mark.prove
def test_evidence_lost_with_fewer_passages_leads(store: str) -> None:
    """Where k fell from 5 to 1 and recall with it: that is the first advice, not the prompt or the model."""
    held: dict[str, Any] = {"metrics": METRICS, "judge": SPEC, "store": store, "workers": 1}
    rg.evaluate(ranked(5), name="k5", **held)
    card = rg.evaluate(ranked(1), name="k1", baseline="k5", **held)
    first = card.findings[0]
    assert (first.cause, first.against, first.confidence) == ("evidence_lost", "baseline", "high")
    assert first.headline.startswith(
        "retrieval lost evidence since k5: passages per question fell from 5 to 1 (recall@5"
    )
    assert first.fix.startswith("Pass as many passages to the generator as k5 did (5 per question, not 1)")
    assert (first.explains, first.failures) == (30, 30)
    assert not [one for one in card.findings if one.cause == "worse_retrieval"]  # its metrics are read here
    same = rg.evaluate(ranked(3, first=4), name="k3", baseline="k1", **held)  # more passages, and less evidence
    assert "evidence_lost" not in [one.cause for one in same.findings]
    unhurt = rg.evaluate(ranked(4), name="k4", baseline="k5", **held)  # fewer passages, and no evidence lost
    assert "evidence_lost" not in [one.cause for one in unhurt.findings]
