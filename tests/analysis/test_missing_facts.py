"""What is not known of failed examples, in sentences."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from tests.analysis.test_overviews import made_up

from ragauge.core.response import Readability
from ragauge.diagnosis.causes.attribution import attribute_failure, describe_missing
from ragauge.metrics.base import explain_unread

FACTS = ("verify_answer.support", "verify_reference", "rate_passages", "verify_answer.address", "agree")


def reasons() -> list[str]:
    """Everything that causes of failures of every kind lack, and what a judge cannot read."""
    every = made_up(1, 400)
    lacking = Counter(fact for facts in every if (cause := attribute_failure(facts)) for fact in cause.lacking)
    readings = [Readability(language, layout) for language in ("nl", "und") for layout in ("prose", "table", "cells")]
    returned = next(facts.response for facts in every if facts.response.passages)
    unread = [explain_unread(fact, reading, returned) for fact in FACTS for reading in readings]
    return [*lacking, *(reason.reason for reason in unread if reason is not None)]


@pytest.mark.parametrize("seed", range(20))
def test_missing_facts_read_as_sentences(seed: int) -> None:
    """Any facts that causes lack make sentences: none begins as a list does, and each fact that is named is whole."""
    draw, known = Random(seed), reasons()
    facts = draw.sample(known, draw.randint(1, 6))
    text = describe_missing(facts, Counter({fact: draw.randint(1, 9) for fact in facts}), max_n=9)
    sentences = re.split(r"(?<=\.) (?=[A-Z])", text)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)
    assert len([sentence for sentence in sentences if sentence.startswith("It is unclear")]) <= 1
    assert len([sentence for sentence in sentences if sentence.startswith("This would help")]) <= 1
    for fact in facts:
        assert fact.removeprefix("no ")[1:] in text
        assert ("It is unclear" in text) or not fact.startswith(("whether", "which", "where"))
    assert not re.search(r"unclear (?:no |this judge|not )", text, re.IGNORECASE)


def test_few_facts_of_a_kind_are_named() -> None:
    """The first three of a kind are named, equal ones once; nothing missing makes no words."""
    text = describe_missing(["whether a", "whether a", "whether b", "whether c", "whether d", "labels"])
    assert text == "It is unclear whether a, whether b or whether c. This would help: labels."
    assert describe_missing([]) == ""
