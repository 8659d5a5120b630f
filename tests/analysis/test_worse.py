"""What got worse against a baseline is always said, whatever patterns hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.analysis.test_diagnose import causes, said
from tests.analysis.test_pattern_table import against, change

from ragauge.diagnosis.findings.diagnosis_builder import diagnose
from ragauge.scores.results.comparison import ExampleDelta, MetricChange, SegmentDrop
from ragauge.scores.results.scorecard import Finding


def worse(*changes: MetricChange, judge_id: str = "", failed: int = 0) -> list[Finding]:
    """The findings that say plainly what got worse."""
    found = diagnose([], causes({"noise": failed}), 200, judge_id=judge_id, against=against(changes))
    return [finding for finding in found if finding.cause.startswith("worse_")]


def test_metric_of_no_pattern_is_named() -> None:
    """A metric that no pattern looks at gets a finding of its own when it gets worse, with what to look at."""
    fell = replace(
        change("token_f1", -0.2, base=0.7),
        where=SegmentDrop("type=temporal", -0.5, -0.1, 40),
        moved=(ExampleDelta("q7", 1.0, 0.0), ExampleDelta("q3", 0.9, 0.2)),
    )
    (finding,) = worse(fell, failed=5)
    assert finding.headline == "got worse: token_f1 fell, 0.70 → 0.50, −0.20 [−0.23, −0.17]"
    assert finding.evidence == (
        "Largest change in type=temporal: token_f1 −0.50 there, −0.10 elsewhere. No known metric pattern explains it."
    )
    assert finding.fix == "Check the examples that dropped most (q7, q3), and what changed in the system since main."
    assert (finding.segment, finding.measure_again, finding.confidence) == ("type=temporal", "token_f1", "high")
    assert (finding.against, finding.explains, finding.failures) == ("baseline", 0, 5)
    assert finding.headline.endswith(said(finding))


def test_amounts_are_said_with_their_digits_and_unit() -> None:
    """A cost that doubled from a fifth of a cent is not said to have risen from 0.00 to 0.00."""
    cost, latency = change("cost", 0.00201, half=0.00005, base=0.00201), change("latency", 169.0, half=30.0, base=329.0)
    (finding,) = worse(replace(cost, direction="lower", verdict="worse"))
    assert finding.headline == "got worse: cost rose, $0.00201 → $0.00402, +0.00201 [+0.00196, +0.00206]"
    (slower,) = worse(replace(latency, direction="lower", verdict="worse"))
    assert slower.headline == "got worse: latency rose, 329 ms → 498 ms, +169 [+139, +199]"


def test_every_metric_that_got_worse_is_in_a_finding() -> None:
    """Whatever got worse is read in some finding, once; what got better or did not change in none of these."""
    shifts = {
        "recall@5": -0.1,
        "mrr": -0.2,
        "faithfulness": -0.1,
        "context_recall": 0.0,
        "ignored_top_ranked": 0.1,
        "answer_recall": -0.3,
        "token_f1": 0.2,
        "completeness": 0.0,
    }
    changes = [change(name, shift) for name, shift in shifts.items()]
    found = diagnose([], causes({"hallucinated": 9}), 200, against=against(changes))
    every = [one for finding in found for one in finding.readings]
    read = [one.metric for one in every if one.interval.high < 0 or one.interval.low > 0]
    assert sorted(read) == sorted(one.metric for one in changes if one.verdict == "worse")
    plain = worse(*changes, failed=9)
    assert [(one.cause, [r.metric for r in one.readings]) for one in plain] == [
        ("worse_retrieval", ["recall@5", "mrr"]),
        ("worse_generation", ["ignored_top_ranked"]),
        ("worse_end_to_end", ["answer_recall"]),
    ]
    assert plain[0].headline == "got worse: recall@5 and mrr"
    assert plain[1].headline == "got worse: ignored_top_ranked rose, 0.50 → 0.60, +0.10 [+0.07, +0.13]"


def test_nothing_got_worse() -> None:
    """No finding where nothing got worse, where it is not sure, and where a pattern has said it."""
    assert worse(change("token_f1", 0.2), change("mrr", 0.0)) == []
    assert worse(replace(change("token_f1", -0.2), verdict="not enough data")) == []
    assert worse(change("faithfulness", -0.1), change("context_recall", 0.0)) == []


@pytest.mark.parametrize(
    ("metric", "judge_id", "n", "sure"),
    [
        ("token_f1", "local:1", 200, "high"),
        ("answer_recall", "local:1", 200, "medium"),
        ("answer_recall", "openai:x", 200, "high"),
        ("answer_recall", "local:1", 20, "low"),
        ("token_f1", "local:1", 20, "medium"),
    ],
)
def test_how_sure(metric: str, judge_id: str, n: int, sure: str) -> None:
    """One step less for the local judge's numbers, one for fewer than 30 examples."""
    fell = change(metric, -0.2)
    (finding,) = worse(replace(fell, difference=replace(fell.difference, n=n)), judge_id=judge_id)
    assert finding.confidence == sure


def test_without_examples_in_both() -> None:
    """Two samples of traffic have no pairs: the finding says where to look all the same."""
    (finding,) = worse(change("token_f1", -0.2))
    assert "the examples with the worst scores" in finding.fix
    assert finding.segment == ""


def test_order_of_findings() -> None:
    """What explains failures comes first, then what got worse, then failures without a cause."""
    counts = causes({"noise": 5, "": 4})
    found: Sequence[Finding] = diagnose([], counts, 200, against=against([change("token_f1", -0.2)]))
    assert [finding.cause for finding in found] == ["noise", "worse_end_to_end", ""]
