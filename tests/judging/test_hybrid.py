"""The hybrid judge: sure ends stay local, only the middle is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.loopback.answers import answer

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts, JudgeFacts, ReferenceFacts, RelevanceFacts
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.hybrid import HybridJudge
from ragauge.judges.inputs import (
    CoverAspects,
    Inputs,
    RateAnswer,
    RatePassages,
    RateSentences,
    VerifyAnswer,
    VerifyReference,
    build_evidence_key,
)
from ragauge.judges.judge import answer_asks
from ragauge.judges.model.judge import ModelJudge

JUDGE = HybridJudge.of("hybrid:openai:gpt-5-mini")
QUERY = "When did the Harbour Museum open?"
PASSAGES = (
    "The Harbour Museum has shown ships of the northern fleet since May 1901. It is closed on Mondays.",
    "Tickets for the museum cost twelve euros; children pay half of that price at the desk.",
)
SURE = "The Harbour Museum has shown ships of the northern fleet since May 1901."
MIDDLE = "A pass for grown visitors is sold at twelve euros in the hall."
ABSURD = "Penguins like cold soup with onions."


def judged(inputs: Inputs, said: Any = answer) -> tuple[Any, list[Ask]]:
    """The facts, and what the model was asked; it answers by words unless said."""
    asked: list[Ask] = []
    embed = EmbedAnswers()

    def one(ask: Ask) -> Reply:
        if ask.kind == "embed":
            return embed([ask])[0]
        asked.append(ask)
        found = said if isinstance(said, Reply) else None
        text = "" if found else json.dumps(said(ask.messages[0][1], ask.messages[1][1], ask.schema or {}))
        return found or Reply("ok", text, finish="stop")

    def all_of(asks: Sequence[Ask]) -> list[Reply]:
        return [one(ask) for ask in asks]

    return answer_asks(JUDGE.ask(inputs), all_of), asked


def local(inputs: Inputs) -> JudgeFacts:
    return answer_asks(JUDGE.local.ask(inputs), EmbedAnswers())


def contradicts(_system: str, user: str, _schema: Any) -> Any:
    """A model that finds everything contradicted, or irrelevant."""
    items = [
        {
            "n": n,
            "verdict": "contradicted",
            "by": [],
            "against": ["2.1"],
            "together": False,
            "direct": True,
            "relevant": True,
        }
        for n in range(1, 9)
    ]
    places = [{"n": f"{passage}.{n}", "relevant": True} for passage in (1, 2) for n in range(1, 5)]
    return {"claims": items, "passages": items, "sentences": items if "[S1]" in user else places}


def test_only_the_middle_is_asked() -> None:
    """Of three claims the local judge is sure of two: the model sees the third alone, and decides it."""
    inputs = VerifyAnswer(QUERY, PASSAGES, f"{SURE} {MIDDLE} {ABSURD}")
    mine = local(inputs)
    facts, asked = judged(inputs, contradicts)
    assert isinstance(mine, AnswerFacts)
    (ask,) = asked
    assert MIDDLE in ask.messages[1][1]
    assert SURE in ask.messages[1][1].partition("<<<claims")[0]  # as the passage that it was copied from
    assert "Penguins" not in ask.messages[1][1]
    assert "\n[C2]" not in ask.messages[1][1]
    assert [claim.label for claim in facts.claims] == ["supported", "contradicted", "not_in_context"]
    assert (facts.claims[0], facts.claims[2]) == (mine.claims[0], mine.claims[2])
    assert facts.claims[1].p is None  # the local probability no longer speaks for it
    assert (facts.claims[1].start, facts.claims[1].end, facts.claims[1].n) == (73, 135, 2)
    assert (facts.address, facts.refuse) == (mine.address, mine.refuse)


@pytest.mark.parametrize("text", [f"{SURE} {ABSURD}", SURE, ABSURD])
def test_a_sure_answer_costs_no_call(text: str) -> None:
    """Where the local judge is sure of every claim the model is not asked, and the facts are the local ones."""
    inputs = VerifyAnswer(QUERY, PASSAGES, text)
    facts, asked = judged(inputs)
    assert asked == []
    assert facts == local(inputs)


def test_without_passages_nothing_is_asked() -> None:
    """There is nothing to look for: no call, whether passages are none or not recorded."""
    for passages in ((), None):
        facts, asked = judged(VerifyAnswer(QUERY, passages, MIDDLE))
        assert asked == []
        assert facts == local(VerifyAnswer(QUERY, passages, MIDDLE))


def test_reference_claims_keep_their_numbers() -> None:
    """Of reference claims too only the middle is asked; what the model decides goes back to its own number."""
    inputs = VerifyReference(QUERY, (SURE, MIDDLE, ABSURD), PASSAGES)
    mine = local(inputs)
    assert isinstance(mine, ReferenceFacts)
    unsure = [claim.n for claim in mine.claims if JUDGE.is_unsure(claim.p)]
    facts, asked = judged(inputs)
    assert unsure
    assert len(asked) == 1
    assert [claim.n for claim in facts.claims] == [1, 2, 3]
    assert [claim.text for claim in facts.claims] == [SURE, MIDDLE, ABSURD]
    assert [claim.n for claim in facts.claims if claim.p is None] == unsure


@pytest.mark.parametrize("kind", [RatePassages, RateSentences])
def test_ratings_keep_their_places(kind: Any) -> None:
    """Of passages or sentences only uncertain ratings are taken from the model, each for its own place."""
    inputs = kind(QUERY, (PASSAGES[0], "It rains. " + PASSAGES[1]))
    mine = local(inputs)
    assert isinstance(mine, RelevanceFacts)
    unsure = {(one.passage, one.sentence) for one in mine.ratings if JUDGE.is_unsure(one.p)}
    sure = {(one.passage, one.sentence) for one in mine.ratings} - unsure
    facts, asked = judged(inputs, contradicts)
    assert unsure
    assert sure
    assert len(asked) == 1
    for before, after in zip(mine.ratings, facts.ratings, strict=True):
        place = (before.passage, before.sentence)
        assert after == (before if place in sure else replace(before, relevant=True, p=None))


def test_the_answer_goes_to_the_model_whole() -> None:
    """Of the answer's sentences, too, only uncertain ratings are the model's; it reads them in the whole answer."""
    inputs = RateAnswer(QUERY, f"{PASSAGES[0]} It rains. {PASSAGES[1]}")
    mine = local(inputs)
    assert isinstance(mine, RelevanceFacts)
    unsure = [one.sentence for one in mine.ratings if JUDGE.is_unsure(one.p)]
    facts, asked = judged(inputs, contradicts)
    assert 0 < len(unsure) < len(mine.ratings)
    assert len(asked) == 1
    assert [one.sentence for one in facts.ratings if one.p is None] == unsure


def test_agreement_is_counted_where_both_judged() -> None:
    """Of what both judged it is counted how often the model decides as the local judge leant; a failure counts not."""
    for inputs in (
        VerifyReference(QUERY, (SURE, MIDDLE, ABSURD), PASSAGES),
        RatePassages(QUERY, PASSAGES),
        VerifyAnswer(QUERY, PASSAGES, f"{SURE} {MIDDLE} {ABSURD}"),
    ):
        mine: Any = local(inputs)
        rates = isinstance(mine, RelevanceFacts)  # the model rates every passage relevant, contradicts every claim
        items = mine.ratings if rates else mine.claims
        leaning = [bool(one.relevant if rates else one.supporting) for one in items if JUDGE.is_unsure(one.p)]
        assert leaning
        facts, _ = judged(inputs, contradicts)
        assert (facts.both, facts.same) == (len(leaning), leaning.count(rates))
        lost, _ = judged(inputs, Reply("failed", reason="too_long: the prompt is too long"))
        assert (lost.both, lost.same) == (0, 0)
    sure, _ = judged(VerifyAnswer(QUERY, PASSAGES, SURE))
    assert (sure.both, sure.same) == (0, 0)


def test_what_the_local_judge_has_no_probability_for_is_asked() -> None:
    """Aspects are the model's alone."""
    facts, asked = judged(CoverAspects(QUERY, ("the year",), SURE))
    assert len(asked) == 1
    assert len(facts.met) == 1


def test_a_failed_call_fails_the_middle_alone_with_its_reason() -> None:
    """When the model cannot be had, sure claims keep their verdicts and the middle fails, in the call's own words."""
    inputs = VerifyAnswer(QUERY, PASSAGES, f"{SURE} {MIDDLE} {ABSURD}")
    facts, asked = judged(inputs, Reply("failed", reason="too_long: the prompt is too long"))
    assert len(asked) == 1
    assert [claim.status for claim in facts.claims] == ["ok", "failed", "ok"]
    assert facts.claims[1].reason == "too_long: the prompt is too long"


def test_its_id_changes_with_either_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another model, another local judge or another band is another judge; none shares evidence with either half."""
    inputs = VerifyAnswer(QUERY, PASSAGES, SURE)
    ids = {JUDGE.judge_id, HybridJudge.of("hybrid:openai:gpt-5").judge_id, ModelJudge.of("openai:gpt-5-mini").judge_id}
    ids |= {HybridJudge.of("hybrid:openai:gpt-5-mini,temperature=none").judge_id, JUDGE.local.judge_id}
    wider = HybridJudge.of("hybrid:openai:gpt-5-mini")
    wider.band = (0.1, 0.9)
    ids.add(wider.judge_id)
    monkeypatch.setattr(type(JUDGE.local), "judge_id", property(lambda _: "local@other"))
    ids.add(JUDGE.judge_id)
    assert len(ids) == 7
    assert len({build_evidence_key(one, 1, inputs) for one in ids}) == 7
    assert HybridJudge.of("hybrid:openai:gpt-5-mini").judge_id == JUDGE.judge_id


def test_its_versions_change_with_either_judge() -> None:
    """A question's version is another one when either half asks it otherwise."""
    for question in ("verify_answer", "rate_passages"):
        both = JUDGE.version(question)
        assert both == 100 * JUDGE.local.version(question) + JUDGE.model.version(question)
        assert JUDGE.model.version(question) < 100


def test_calls_saved() -> None:
    """Of thirty answers of which ten have a middle, ten calls are made where the model alone makes thirty."""
    answers = [f"{SURE} {MIDDLE}"] * 10 + [SURE] * 10 + [ABSURD] * 10
    calls = sum(len(judged(VerifyAnswer(QUERY, PASSAGES, text))[1]) for text in answers)
    assert calls == 10
