"""Refusals in a language that has no wordings."""

from __future__ import annotations

import pytest
from tests.building import evidence, example, passage, response

from ragauge.core.ask import Reply
from ragauge.core.facts import AnswerFacts
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.judge import LocalJudge
from ragauge.metrics.answer.answer_relevance import AnswerRelevance
from ragauge.metrics.answer.missed_refusal import MissedRefusal
from ragauge.metrics.answer.over_refusal import OverRefusal
from ragauge.metrics.answer.refusal_correctness import RefusalCorrectness
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.scores.judge_usage import is_incomplete

QUERY = "Πόσο ψηλός είναι ο φάρος του λιμανιού;"
PASSAGE = "Το λιμάνι άνοιξε το 1932 και έχει τρεις προβλήτες."
DECLINED = "Το κείμενο δεν το αναφέρει πουθενά."


def judged(answer: str, text: str = PASSAGE) -> AnswerFacts:
    """What the local judge finds, without vectors."""
    asked = VerifyAnswer(QUERY, (text,), answer)
    found = answer_asks(LocalJudge().ask(asked), lambda asks: [Reply("failed") for _ in asks])
    assert isinstance(found, AnswerFacts)
    return found


def facts(*, answerable: bool) -> Facts:
    """The unread refusal as an example's facts."""
    asked = example(query=QUERY, answerable=answerable)
    given = response(passages=[passage("d1", PASSAGE)], answer=DECLINED)
    return Facts(asked, given, evidence(judged(DECLINED)))


@pytest.mark.parametrize(("answer", "code"), [(DECLINED, "el"), ("ข้อความไม่ได้กล่าวถึงเรื่องนี้", "th"), ("ບໍ່ມີຂໍ້ມູນ", "und")])
def test_nothing_is_said_of_a_language_without_wordings(answer: str, code: str) -> None:
    """An answer without support in such a language declines or does not: that is not known."""
    found = judged(answer)
    assert found.refuse is None
    assert found.unread == code


@pytest.mark.parametrize("answer", ["Zorvatin plemido kraska.", "Гарантия не покрывает аккумуляторы.", "42", ""])
def test_answers_that_can_be_read_are_judged(answer: str) -> None:
    """Latin letters of no known language count as English; Russian has wordings; digits speak no language."""
    found = judged(answer)
    assert found.refuse is False
    assert not found.unread


def test_what_a_passage_supports_is_an_answer_in_every_language() -> None:
    """A supported claim answers, whether its language has wordings or not."""
    found = judged("Το λιμάνι άνοιξε το 1932.")
    assert found.refuse is False
    assert not found.unread


@pytest.mark.parametrize("answerable", [False, True])
def test_metrics_say_that_it_is_not_known(answerable: bool) -> None:
    """No metric of refusals takes a side; the reason names the language, and nothing counts as a failed verdict."""
    found = facts(answerable=answerable)
    own = OverRefusal() if answerable else MissedRefusal()
    for metric in (RefusalCorrectness(), own, AnswerRelevance()):
        result = measure_metric(metric, found)
        assert result.status == "not_applicable"
        assert result.reason == "whether the answer declines cannot be determined in this language (el)"
    assert not is_incomplete(found.evidence["verify_answer"])


@pytest.mark.parametrize("answerable", [False, True])
def test_what_may_be_a_refusal_is_unclear(answerable: bool) -> None:
    """It neither failed nor passed, no cause is named, and the reason says what is not known."""
    verdict, cause = judge_example(facts(answerable=answerable))
    assert (verdict.verdict, cause) == ("unclear", None)
    assert verdict.reason == "whether the answer declines cannot be determined in this language (el)"
    assert verdict.settled_by
