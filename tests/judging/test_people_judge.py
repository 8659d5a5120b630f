"""People as a judge: what their labels make of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.building import evidence, example, response

from ragauge.core.errors import JudgeError
from ragauge.core.facts import AnswerFacts, RelevanceFacts
from ragauge.core.label import ADJUDICATOR, QUESTION_BY_METRIC, VALUES, Label, Part, build_label_key
from ragauge.judges.inputs import RateAnswer, RatePassages, VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.people import PeopleJudge, build_judge_note
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.scores.judge_usage import is_incomplete

ANSWER = "Ada built it. Bob paid. Hello!"
SEEN = VerifyAnswer("Who?", ("Ada built it.", "Bob did not pay."), ANSWER)
KEY = build_label_key("support", "Who?", SEEN.passages or (), ANSWER)
ONE, TWO, THREE = (0, 13), (14, 23), (24, 30)


def people(*said: tuple[Part, str, str]) -> PeopleJudge:
    """A judge by labels: part, value and annotator."""
    labels = [Label(KEY, part, "support", value, who, "", "abc") for part, value, who in said]
    return PeopleJudge(labels, "abc", "f" * 64)


def facts_of(judge: PeopleJudge, inputs: Any = SEEN) -> Any:
    """What the judge finds; nothing may be asked."""

    def answer(asks: Sequence[Any]) -> Any:
        raise AssertionError(asks)

    return answer_asks(judge.ask(inputs), answer)


def scores(facts: AnswerFacts) -> list[float | None]:
    """Faithfulness, contradicted and not_in_context of the answer."""
    item = Facts(example(), response(["d1", "d2"], ANSWER), evidence(facts))
    return [
        measure_metric(parse_metric(name), item).value for name in ("faithfulness", "contradicted", "not_in_context")
    ]


def test_sentences_become_claims() -> None:
    """Labelled sentences are claims with their verdicts, what has nothing to check is none, and metrics follow."""
    facts = facts_of(people((ONE, "supported", "a"), (TWO, "contradicted", "a"), (THREE, "no_claim", "a")))
    assert [(one.text, one.label, one.joint) for one in facts.claims] == [
        ("Ada built it.", "supported", True),
        ("Bob paid.", "contradicted", False),
    ]
    assert scores(facts) == [0.5, 0.5, 0.0]


def test_most_decide_and_a_tie_has_no_verdict() -> None:
    """Two of three decide; one against one is failed; who cannot tell has no vote; an adjudicator decides alone."""
    rest = ((TWO, "supported", "a"), (THREE, "no_claim", "a"))
    most = people((ONE, "supported", "a"), (ONE, "supported", "b"), (ONE, "not_in_context", "c"), *rest)
    tie = ((ONE, "supported", "a"), (ONE, "not_in_context", "b"))
    assert scores(facts_of(most))[0] == 1.0
    split = facts_of(people(*tie, *rest))
    assert next((one.status, one.reason) for one in split.claims) == ("failed", "annotators disagree")
    assert scores(split) == [None, None, None]
    assert scores(facts_of(people(*tie, (ONE, "not_in_context", ADJUDICATOR), *rest))) == [0.5, 0.0, 0.5]
    assert scores(facts_of(people(*tie, (ONE, "unsure", "c"), (ONE, "supported", "d"), *rest)))[0] == 1.0


def test_sentence_without_label_has_no_verdict() -> None:
    """An answer of which a sentence is not labelled has no score: the denominator cannot shrink."""
    facts = facts_of(people((ONE, "supported", "a")))
    assert [one.reason for one in facts.claims[1:]] == ["it has no label"] * 2
    assert scores(facts)[0] is None


def test_whole_answer_is_one_claim() -> None:
    """A label of the whole is one claim; where sentences are labelled too, these count."""
    assert scores(facts_of(people((None, "not_in_context", "a"))))[0] == 0.0
    parts = ((ONE, "supported", "a"), (TWO, "supported", "a"), (THREE, "supported", "a"))
    assert scores(facts_of(people((None, "not_in_context", "a"), *parts)))[0] == 1.0


def test_relevance_rates_passages() -> None:
    """Labels of passages are ratings; a passage without one has none."""
    seen = RatePassages("Who?", ("a", "b", "c"))
    key = build_label_key("relevance", "Who?", seen.passages, "")
    labels = [Label(key, 1, "relevance", "relevant"), Label(key, 2, "relevance", "not_relevant")]
    judge = PeopleJudge(labels, "", "0" * 64)
    found = facts_of(judge, seen)
    assert isinstance(found, RelevanceFacts)
    assert [one.relevant for one in found.ratings] == [True, False, None]
    assert judge.answers("rate_passages")
    assert not judge.answers("verify_answer")
    assert judge.judge_id == "people:none#00000000"


def test_what_labels_tell_of() -> None:
    """Labels that say no more than not supported tell of faithfulness, and not of which kind of failure."""
    kinds, plain = people((ONE, "supported", "a")), people((ONE, "not_supported", "a"))
    assert [kinds.has_metric(name) for name in ("faithfulness", "contradicted", "answer_relevance")] == [
        True,
        True,
        False,
    ]
    assert [plain.has_metric(name) for name in ("unsupported", "contradicted", "not_in_context")] == [
        True,
        False,
        False,
    ]
    assert kinds.has_labels(SEEN)
    assert not kinds.has_labels(VerifyAnswer("Who?", (), ANSWER))
    with pytest.raises(JudgeError, match="human labels do not cover rate_answer"):
        facts_of(kinds, RateAnswer("Who?", ANSWER))
    assert "with the guideline abc" in build_judge_note(kinds.judge_id).what


def test_mended_label_counts() -> None:
    """Labels whose latest word is a kind tell of kinds, whatever was said before; few unclear ones do not hide them."""
    first = [Label(KEY, part, "support", "not_supported", "a", "2026-01-01", "abc") for part in (ONE, TWO)]
    mended = [Label(KEY, part, "support", "contradicted", "a", "2026-01-02", "abc") for part in (ONE, TWO)]
    judges = [PeopleJudge([*first, *later], "abc", "f" * 64) for later in ([], mended[:1], mended)]
    assert [judge.has_metric("contradicted") for judge in judges] == [False, True, True]
    assert [(judge.which_not_said, judge.support) for judge in judges] == [(2, 2), (1, 2), (0, 2)]
    rest = [Label(f"{n:064x}", None, "support", "not_supported", "a", "", "abc") for n in range(2)]
    assert not PeopleJudge([*mended, *rest], "abc", "").has_metric("contradicted")


def said_of(**said: str) -> PeopleJudge:
    """A judge by what one person said of the answer: question -> value."""
    labels = [
        Label(build_label_key(question, "Who?", SEEN.passages or (), ANSWER), None, question, value, "a", "", "abc")
        for question, value in said.items()
    ]
    return PeopleJudge(labels, "abc", "f" * 64)


@pytest.mark.parametrize(
    ("said", "address", "refuse", "relevance"),
    [
        ({"address": "fully"}, "fully", False, 1.0),
        ({"address": "partly"}, "partly", False, 0.5),
        ({"address": "no"}, "no", None, 0.0),  # 0 whether it declines or not
        ({"refuse": "yes"}, None, True, 0.0),
        ({"refuse": "no"}, None, False, None),
        ({"address": "fully", "refuse": "yes"}, "fully", True, 0.0),
        ({"address": "fully", "refuse": "unsure"}, "fully", None, None),
        ({"address": "unsure", "refuse": "no"}, None, False, None),
    ],
)
def test_labels_of_the_whole_answer_fill_the_facts(
    said: dict[str, str], address: str | None, refuse: bool | None, relevance: float | None
) -> None:
    """Address and refuse come from their labels; who addresses does not decline; support was not asked."""
    facts = facts_of(said_of(**said))
    assert (facts.address, facts.refuse, facts.support_asked, facts.claims_only) == (address, refuse, False, False)
    assert set(facts.unasked) == {"address", "refuse"} - set(said)
    assert is_incomplete(evidence(facts)["verify_answer"]) == ("unsure" in said.values())  # the unasked is not missing
    item = Facts(example(), response(["d1", "d2"], ANSWER), evidence(facts))
    assert measure_metric(parse_metric("answer_relevance"), item).value == relevance
    assert measure_metric(parse_metric("faithfulness"), item).status == "not_applicable"


def test_every_question_tells_of_its_metrics() -> None:
    """Labels of a question tell of the metrics that the registry names for it alone, a score of its own metric."""
    for question in VALUES:
        judge = said_of(**{question: next(iter(VALUES[question]))})
        assert set(judge.list_metrics()) == {name for name, asked in QUESTION_BY_METRIC.items() if asked == question}, (
            question
        )
        assert all(parse_metric(name) for name in judge.list_metrics())
    scored = said_of(**{"score:token_f1": "0.5"})
    assert (scored.list_metrics(), scored.scores("token_f1"), scored.scores("faithfulness")) == (
        ("token_f1",),
        True,
        False,
    )
