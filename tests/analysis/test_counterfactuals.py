"""Which passages an experiment hands over, and how its outcome is read, on cases whose cause is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.planted.cases import Case, planted_cases

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Evidence, JudgeFacts, Rating, RelevanceFacts
from ragauge.core.response import Passage, Response
from ragauge.diagnosis.causes.attribution import ROWS
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.counterfactuals import (
    ALREADY_RIGHT,
    NO_EXPERIMENT,
    NO_GOLD,
    NOT_REPEATABLE,
    PARTLY,
    RIGHT,
    RULES_BY_CAUSE,
    SAME_PASSAGES,
    WRONG,
    decide_outcome,
    grade_answer,
    order_experiments,
    plan_experiment,
    tally_causes,
)
from ragauge.metrics.facts import Facts
from ragauge.scores.results.experiments import AnswerQuality, Experiment

GOLD = (Passage("gold", "gold", "The evidence."),)
UNTESTED = {"system_failed", "missed_refusal", "misattributed"}


def failing(case: Case) -> CauseContext:
    return CauseContext(Facts(case.example, case.response, case.evidence))


def sound(case: Case) -> CauseContext:
    return CauseContext(Facts(case.example, case.sound, case.sound_evidence))


def test_every_cause_has_a_rule_or_is_named_as_untested() -> None:
    """Each cause of the table has an experiment, but for three that changing the passages cannot test this cause."""
    assert {row.name for row in ROWS} - RULES_BY_CAUSE.keys() == UNTESTED


def test_answers_without_the_fault_are_right() -> None:
    """The sound answer of every planted case is graded right, with the verdicts of a judge without error."""
    assert [case.example.query_id for case in planted_cases() if grade_answer(sound(case)).grade != RIGHT] == []


@pytest.mark.parametrize("cause", list(RULES_BY_CAUSE))
def test_each_cause_is_confirmed_and_refuted_as_its_rule_says(cause: str) -> None:
    """A right new answer confirms what other passages should mend and refutes the rest; a failing one the opposite."""
    made = [
        (case, found)
        for case in planted_cases()
        if case.cause == {"unclear": "retrieval_miss"}.get(cause, cause)
        for found in [plan_experiment(failing(case), cause, 0, GOLD)]
        if isinstance(found, Experiment)
    ]
    assert made
    mends, stays = {
        "right": ("confirmed", "refuted"),
        "still wrong": ("refuted", "confirmed"),
        "right or open": ("confirmed", "undecided"),
    }[RULES_BY_CAUSE[cause].expects]
    for case, one in made:
        assert decide_outcome(one, sound(case)).verdict == mends
        assert decide_outcome(one, failing(case)).verdict == stays
        assert decide_outcome(one, None).verdict == "undecided"
        assert decide_outcome(one, broken(case)).verdict == "undecided"


def broken(case: Case) -> CauseContext:
    return CauseContext(Facts(case.example, replace(case.response, answer=None, error="timeout: no response")))


@pytest.mark.parametrize("cause", sorted(UNTESTED))
def test_what_passages_cannot_tell_is_not_tested(cause: str) -> None:
    """A failed system, an answer to an unanswerable question and a wrong citation get no experiment."""
    for case in (case for case in planted_cases() if case.cause == cause):
        assert plan_experiment(failing(case), cause, 0, GOLD) == NO_EXPERIMENT


def test_passages_on_the_topic_are_not_handed_over_as_evidence() -> None:
    """A refusal without labels and reference has no experiment: a probable topic is no evidence, a plain verdict is."""
    question, refusal = Example("q", "Which?"), AnswerFacts((), "no", True)
    handed = Response("q", passages=(Passage("p1", "a", "one"), Passage("p2", "b", "two")), answer="I do not know.")

    def made(p: float | None) -> Experiment | str:
        ratings = RelevanceFacts((Rating(1, False, p=p and 0.1), Rating(2, True, p=p)))
        asked: dict[str, JudgeFacts] = {"verify_answer": refusal, "rate_passages": ratings}
        evidence = {name: Evidence("k", name, 1, "test", "ok", facts) for name, facts in asked.items()}
        return plan_experiment(CauseContext(Facts(question, handed, evidence)), "", 0, None)

    assert made(0.9) == NO_GOLD
    plain = made(None)
    assert isinstance(plain, Experiment)
    assert [passage.doc_id for passage in plain.passages] == ["b", "a"]


def test_right_answer_is_not_asked_again() -> None:
    """Where the answer was right although a document was missed, an experiment could show nothing, and none is made."""
    case = next(case for case in planted_cases() if case.cause == "retrieval_miss")
    lucky = CauseContext(Facts(case.example, case.sound, case.sound_evidence))
    assert plan_experiment(lucky, "retrieval_miss", 0, GOLD) == ALREADY_RIGHT


def test_labelled_passages_come_in_without_making_more_of_them() -> None:
    """The labelled passages stand first, as many passages are handed over as before, and the last ones give way."""
    for case in (case for case in planted_cases() if case.cause == "retrieval_miss"):
        made = plan_experiment(failing(case), case.cause, 0, GOLD)
        assert isinstance(made, Experiment)
        old = case.response.passages or ()
        assert made.passages == (*GOLD, *old)[: len(old)]


def test_candidates_stand_in_for_a_corpus() -> None:
    """Evidence that ranked low is taken from the candidates; what was never found needs a corpus."""
    low = [case for case in planted_cases() if case.cause == "ranked_low"]
    for case in low:
        made = plan_experiment(failing(case), case.cause, 0, None)
        assert isinstance(made, Experiment)
        documents = {doc_id for item in case.example.relevant or () for doc_id in item.doc_ids}
        assert made.passages[0].doc_id in documents
    missed = [case for case in planted_cases() if case.cause == "not_in_index"]
    assert low
    assert missed
    for case in missed:
        assert plan_experiment(failing(case), case.cause, 0, None) == NO_GOLD


def test_outdated_passages_are_taken_out() -> None:
    """A stale source is replaced: none of the outdated passages is handed over again."""
    for case in (case for case in planted_cases() if case.cause == "stale_source"):
        seen = failing(case)
        made = plan_experiment(seen, case.cause, 0, GOLD)
        assert isinstance(made, Experiment)
        old = {(case.response.passages or ())[n - 1] for n in seen.stale}
        assert old
        assert old.isdisjoint(made.passages)


def test_order_alone_is_changed_for_ignored_evidence() -> None:
    """Ignored evidence moves first among the same passages; where it is first already, no experiment is made."""
    found = [plan_experiment(failing(case), "ignored", 0, None) for case in planted_cases() if case.cause == "ignored"]
    assert any(isinstance(made, Experiment) for made in found)
    for case, made in zip((case for case in planted_cases() if case.cause == "ignored"), found, strict=True):
        if isinstance(made, Experiment):
            assert Counter(made.passages) == Counter(case.response.passages)
            assert made.passages != case.response.passages
        else:
            assert made == SAME_PASSAGES


def test_better_is_neither() -> None:
    """A wrong answer that becomes partly right decides nothing, whichever way the rule looks."""
    half = next(
        case for case in planted_cases() if grade_answer(failing(case)).grade == PARTLY and case.cause == "hallucinated"
    )
    for rule in set(RULES_BY_CAUSE.values()):
        made = Experiment(
            "q", 0, "retrieval_miss", rule, GOLD, None, AnswerQuality(WRONG, "it declines to answer"), "No."
        )
        found = decide_outcome(made, failing(half))
        assert (found.verdict, found.why.startswith("better, but not right")) == ("undecided", True)


def test_failure_that_does_not_repeat_decides_nothing() -> None:
    """Where an answer from the unchanged passages is right too, a right new answer is no evidence; a failing one is."""
    for case in (case for case in planted_cases() if case.cause in ("retrieval_miss", "hallucinated")):
        made = plan_experiment(failing(case), case.cause, 0, GOLD)
        assert isinstance(made, Experiment)
        assert made.unchanged == case.response.passages
        lucky = decide_outcome(made, sound(case), sound(case))
        assert (lucky.verdict, lucky.why) == ("undecided", NOT_REPEATABLE)
        assert decide_outcome(made, sound(case), failing(case)) == decide_outcome(made, sound(case))
        assert decide_outcome(made, failing(case), sound(case)) == decide_outcome(made, failing(case))


def test_draw_takes_each_cause_in_turn_and_a_higher_limit_only_adds() -> None:
    """The first experiments hold every cause; the order depends on seed and set alone, not on the file's order."""
    failed = {f"a{n}": "retrieval_miss" for n in range(50)} | {"b1": "ignored", "b2": "ignored", "c": "noise"}
    order = order_experiments(failed, "version", 3)
    assert {failed[query_id] for query_id in order[:3]} == {"retrieval_miss", "ignored", "noise"}
    assert sorted(order) == sorted(failed)
    assert order_experiments(dict(reversed(failed.items())), "version", 3) == order
    assert order_experiments(failed, "version", 4) != order


def test_draw_within_a_cause_is_even() -> None:
    """Over 400 seeds each of 10 examples comes first about 40 times: between 18 and 66 (binomial, z of 3.7)."""
    failed = {f"q{n}": "noise" for n in range(10)}
    first = Counter(order_experiments(failed, "version", seed)[0] for seed in range(400))
    assert len(first) == 10
    assert all(18 <= count <= 66 for count in first.values())


def test_tally_lays_inferred_and_confirmed_side_by_side() -> None:
    """Counts by cause, the share of all experiments with Wilson's interval, and why examples had none."""
    case = next(case for case in planted_cases() if case.cause == "retrieval_miss")
    made = plan_experiment(failing(case), "retrieval_miss", 0, GOLD)
    assert isinstance(made, Experiment)
    outcomes = [decide_outcome(made, seen) for seen in (sound(case), sound(case), sound(case), failing(case), None)]
    failed = {f"q{n}": "retrieval_miss" for n in range(8)} | {"x": "misattributed", "y": ""}
    first, *rest = tally_causes(failed, {"x": NO_EXPERIMENT, "y": NO_EXPERIMENT}, outcomes)
    counts = (first.cause, first.component, first.inferred, first.made, first.confirmed, first.refuted, first.undecided)
    assert counts == ("retrieval_miss", "retrieval", 8, 5, 3, 1, 1)
    # Wilson, p = 0.6, n = 5, z = 1.959964: centre (0.6 + z²/10) / (1 + z²/5) = 0.984146 / 1.768292 = 0.556552,
    # half width z·sqrt(0.24/5 + z²/100) / 1.768292 = 1.959964·sqrt(0.086415) / 1.768292 = 0.325828
    assert first.interval is not None
    assert first.share == 0.6
    assert (first.interval.low, first.interval.high) == pytest.approx((0.230724, 0.882380), abs=1e-5)
    assert [(one.cause, one.made, one.share, one.interval) for one in rest] == [
        ("", 0, None, None),
        ("misattributed", 0, None, None),
    ]
    assert rest[1].without == {NO_EXPERIMENT: 1}
