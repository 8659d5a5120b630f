"""A question is named in a few lists; one that a list leaves out is printed here."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

import pytest

from ragauge.core.codec import FACTS
from ragauge.engine.estimate import TOKENS_PER_ITEM
from ragauge.judges.inputs import Inputs
from ragauge.judges.local.judge import QUESTIONS as LOCAL
from ragauge.judges.model.judge import ASKED, MODEL_QUESTIONS
from ragauge.metrics.catalogue import QUESTIONS
from ragauge.metrics.facts import JUDGE_FACTS as GIVEN

NAMES = {one.question for one in get_args(Inputs)}


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("judging.model.judge.ASKED", ASKED),
        ("data.codec.FACTS", FACTS),
        ("metrics.catalogue.QUESTIONS", QUESTIONS),
        ("metrics.facts.ASKED", {fact.partition(".")[0] for fact in GIVEN}),
    ],
)
def test_every_question_is_named(where: str, names: Collection[str]) -> None:
    """The inputs of a question, its generator, its facts and its place in a plan stand in their lists by one name."""
    assert set(names) == NAMES, where


def test_every_call_of_a_question_has_an_expected_length() -> None:
    """A dry run estimates the tokens of every question that a model may be named for."""
    assert set(TOKENS_PER_ITEM) == set(MODEL_QUESTIONS)


def test_the_local_judge_answers_no_other_questions() -> None:
    """Whatever the local judge answers, a model judge answers too: a hybrid judge puts every question to either."""
    assert set(LOCAL) <= NAMES
