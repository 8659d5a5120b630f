"""What judging took: questions without a verdict, replies, costs of metrics, spread between askings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.analysis.conftest import VisitsOf

from ragauge.core.example import Example
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    Claim,
    CoverFacts,
    Evidence,
    GuessedFacts,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.response import Response
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.scores.agreement import measure_spread
from ragauge.scores.arrays import FAILED, SCORED, Columns
from ragauge.scores.judge_usage import JudgeUseGatherer, compute_metric_costs, is_incomplete
from ragauge.scores.results.judge_usage import AskedOf, CallTotals

GOOD = Claim(1, "a", supporting=(1,), p=0.9)
NO_VERDICT = Claim(2, "b", status="failed")


def evidence(facts: JudgeFacts | None, question: str = "verify_answer", replies: int = 1, **more: Any) -> Evidence:
    keys = tuple(f"k{n}" for n in range(replies))
    return Evidence("k", question, 1, "j", more.pop("status", "ok"), facts, reply_keys=keys, **more)


@pytest.mark.parametrize(
    ("whole", "lacking"),
    [
        (AnswerFacts((GOOD,), "fully", False), AnswerFacts((GOOD, NO_VERDICT), "fully", False)),
        (AnswerFacts((), "no", True), AnswerFacts((), None, True)),
        (AnswerFacts((), "no", True), AnswerFacts((), "no", None)),
        (ReferenceFacts((ReferenceClaim(1, "a", ()),)), ReferenceFacts((ReferenceClaim(1, "a", None),))),
        (RelevanceFacts((Rating(1, False),)), RelevanceFacts((Rating(1, None),))),
        (AgreementFacts(("absent",), (False,)), AgreementFacts((None,), (False,))),
        (AgreementFacts(("absent",), (False,)), AgreementFacts(("absent",), (None,))),
        (CoverFacts((False,)), CoverFacts((True, None))),
        (GuessedFacts((0.0,)), GuessedFacts((0.5, None))),
    ],
)
def test_a_missing_verdict_is_lacking(whole: JudgeFacts, lacking: JudgeFacts) -> None:
    """Of every kind of facts a verdict of None counts as lacking, a negative verdict does not."""
    assert not is_incomplete(evidence(whole))
    assert is_incomplete(evidence(lacking))


def test_failed_and_partial_evidence_is_lacking() -> None:
    """What failed whole lacks its verdicts, and so does what the next start may complete."""
    assert is_incomplete(evidence(None, status="failed", reason="no reply"))
    assert is_incomplete(evidence(AnswerFacts((GOOD,), "fully", False), status="partial"))


def test_counts_over_responses(visits_of: VisitsOf) -> None:
    """Questions, lacking ones and replies add up over responses; a hybrid's local verdicts are those with p."""
    mixed = AnswerFacts((GOOD, Claim(2, "b")), "fully", False)
    rated = RelevanceFacts((Rating(1, True, p=0.8), Rating(2, False, p=0.1)))
    facts = [
        Facts(
            Example("q1", "?"),
            Response("q1", answer="a"),
            {"verify_answer": evidence(mixed, replies=2), "rate_passages": evidence(rated, "rate_passages", 0)},
        ),
        Facts(
            Example("q2", "?"),
            Response("q2", answer="b"),
            {"verify_answer": evidence(AnswerFacts((NO_VERDICT,), "fully", False), replies=1)},
        ),
    ]
    gatherer = JudgeUseGatherer(hybrid=True)
    for visit in visits_of(facts):
        gatherer.add(visit)
    use = gatherer.found((AskedOf("verify_answer", "m", CallTotals(4, 1, 2)),))
    assert (use.questions, use.lacking, use.replies, use.reused) == (3, 1, 3, 1)
    assert use.failure_rate == pytest.approx(1 / 3)
    # verdicts: two claims, two ratings (the failed claim has none); by the local half: one claim, both ratings
    assert (use.verdicts, use.local, use.spared) == (4, 3, 1)
    assert JudgeUseGatherer().found(()).verdicts is None
    assert JudgeUseGatherer().found(()).failure_rate is None


def test_metrics_share_questions() -> None:
    """A metric costs what its questions cost; alone what no other metric needs; what is shared is named."""
    asked = [
        AskedOf("verify_answer", "m", CallTotals(10, cost=2.0)),
        AskedOf("agree", "m", CallTotals(4, cost=0.5)),
        AskedOf("agree", "n", CallTotals(1, cost=0.25, unpriced=1)),
    ]
    needs = {
        "faithfulness": ["verify_answer"],
        "answer_correctness": ["verify_answer", "agree"],
        "completeness": ["cover"],
    }
    faithful, correct, covered = compute_metric_costs(needs, asked)
    assert (faithful.paid.calls, faithful.paid.known_cost, faithful.alone.calls) == (10, 2.0, 0)
    assert faithful.shared_with == ("answer_correctness",)
    assert (correct.paid.calls, correct.alone.calls, correct.alone.cost) == (15, 5, 0.75)
    assert correct.paid.known_cost is None  # a price among its calls is unknown
    assert (covered.paid, covered.shared_with) == (CallTotals(), ())


def columns(places: list[int], values: list[float | None]) -> Columns:
    """One asking: a value a response, None = failed."""
    n = len(places)
    found = np.array([np.nan if value is None else value for value in values])
    nothing = np.full(n, np.nan)
    status = np.array([FAILED if value is None else SCORED for value in values])
    place = np.array(places)
    return Columns(
        place,
        place,
        status,
        found,
        nothing,
        nothing,
        np.where(status == FAILED, 0.0, found),
        np.where(status == FAILED, 1.0, found),
        np.zeros(n, dtype=int),
        None,
        None,
        ("",),
    )


def test_spread_between_askings() -> None:
    """Means are over the responses that all askings have; range, standard deviation and changes are by hand."""
    metric = parse_metric("faithfulness")
    first = columns([0, 1, 2, 3], [1.0, 0.5, 0.0, 1.0])
    second = columns([0, 1, 2], [1.0, 0.0, 0.0])
    third = columns([0, 1, 2, 3], [1.0, 1.0, None, 1.0])
    found = measure_spread(metric, [first, second, third])
    # over responses 0, 1, 2: 1.5/3, 1/3, and 2/2 of those that were scored
    assert found.means == pytest.approx((0.5, 1 / 3, 1.0))
    assert found.width == pytest.approx(2 / 3)
    assert found.deviation == pytest.approx(np.std([0.5, 1 / 3, 1.0], ddof=1))
    assert (found.n, found.changed) == (2, 1)  # scored in all: 0 and 1; of these 1 changed


def test_spread_of_nothing_scored() -> None:
    """An asking that scored nothing has no mean, and no range or deviation is made up for it."""
    found = measure_spread(parse_metric("faithfulness"), [columns([0], [1.0]), columns([0], [None])])
    assert found.means == (1.0, None)
    assert found.width is None
    assert found.deviation is None
    assert (found.n, found.changed) == (0, 0)
