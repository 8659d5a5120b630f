"""The codec's round trip, over every type that is stored."""

from __future__ import annotations

import dataclasses
import json
import math
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core import facts as facts_module
from ragauge.core.codec import FACTS, decode_json, encode_json
from ragauge.core.errors import DataError
from ragauge.core.example import Example, Relevant, Span, Turn
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    Claim,
    CoverFacts,
    CriteriaFacts,
    CriterionVerdict,
    GuessedFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
    Window,
)
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.response import Citation, Passage, Response
from ragauge.metrics.catalogue import QUESTIONS
from ragauge.readers.chats import SplitPrompt
from ragauge.scores.results.scorecard import Cause, Interval, Summary

text = st.text(st.characters(), max_size=12)  # lone surrogates and NUL included
real = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.lists(st.integers(1, 9), max_size=3).map(tuple)
maybe = st.none() | st.booleans()
p = st.none() | st.floats(0, 1)


def tuples(part: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(part, max_size=3).map(tuple)


windows = st.builds(Window, st.integers(1, 9), st.integers(0), st.integers(0), tuples(text))
claims = st.builds(
    Claim,
    st.integers(1),
    st.none() | text,
    st.integers(0),
    st.integers(0),
    st.sampled_from(["ok", "failed"]),
    numbers,
    st.booleans(),
    numbers,
    st.sampled_from([None, "direct", "implied"]),
    p,
    st.none() | windows,
    text,
)
FACT_STRATEGIES: dict[type[Any], st.SearchStrategy[Any]] = {
    AnswerFacts: st.builds(
        AnswerFacts, tuples(claims), st.sampled_from([None, "fully", "partly", "no"]), maybe, st.booleans()
    ),
    ReferenceFacts: st.builds(
        ReferenceFacts, tuples(st.builds(ReferenceClaim, st.integers(1), text, st.none() | numbers, p))
    ),
    RelevanceFacts: st.builds(
        RelevanceFacts,
        tuples(st.builds(Rating, st.integers(1), maybe, st.none() | st.integers(1), p)),
        st.sampled_from(["passage", "sentence"]),
    ),
    AgreementFacts: st.builds(
        AgreementFacts, tuples(st.sampled_from([None, "agrees", "contradicts", "absent"])), tuples(maybe)
    ),
    CoverFacts: st.builds(CoverFacts, tuples(maybe)),
    CriteriaFacts: st.builds(CriteriaFacts, tuples(st.builds(CriterionVerdict, text, text, maybe, text))),
    GuessedFacts: st.builds(GuessedFacts, tuples(st.none() | real)),
    SimilarityFacts: st.builds(SimilarityFacts, st.none() | real, st.booleans()),
}
spans = st.builds(Span, text, st.integers(0), st.integers(0))
examples = st.builds(
    Example,
    query_id=text,
    query=text,
    history=tuples(st.builds(Turn, st.sampled_from(["user", "assistant", "system"]), text)),
    references=tuples(text),
    reference_claims=st.none() | tuples(text),
    aspects=st.none() | tuples(text),
    criteria=st.none() | tuples(text),
    relevant=st.none() | tuples(st.builds(Relevant, tuples(text), real)),
    gold_spans=st.none() | tuples(spans),
    answerable=maybe,
    segments=st.dictionaries(text, text, max_size=2),
    tags=st.frozensets(text, max_size=2),
    cluster=st.none() | text,
)
passages = st.builds(
    Passage,
    text,
    text,
    st.none() | text,
    st.none() | real,
    st.none() | spans,
    st.integers(0, 3),
    st.none() | text,
    st.none() | text,
)
responses = st.builds(
    Response,
    query_id=text,
    repeat=st.integers(0, 5),
    passages=st.none() | tuples(passages),
    candidates=st.none() | tuples(passages),
    answer=st.none() | text,
    citations=st.none() | tuples(st.builds(Citation, st.integers(0), st.integers(0), text)),
    latency_ms=st.dictionaries(text, real, max_size=2),
    tokens=st.dictionaries(text, st.integers(0), max_size=2),
    cost=st.none() | real,
    outcome=st.dictionaries(text, real | st.booleans() | text, max_size=2),
    weight=real,
    missing=st.dictionaries(text, text, max_size=2),
    error=st.none() | text,
)


@pytest.mark.parametrize("cls", FACT_STRATEGIES, ids=lambda cls: cls.__name__)
@given(data=st.data())
@settings(deadline=None)
def test_facts_survive(cls: type[Any], data: st.DataObject) -> None:
    """Facts of every question are read back equal."""
    value = data.draw(FACT_STRATEGIES[cls])
    assert decode_json(cls, encode_json(value)) == value


@given(examples)
@settings(deadline=None)
def test_example_survives(example: Example) -> None:
    """An example is read back equal, with the hash that it had."""
    again = decode_json(Example, encode_json(example))
    assert again == example
    assert again.content_hash == example.content_hash


@given(responses)
@settings(deadline=None)
def test_response_survives(response: Response) -> None:
    """A response is read back equal, with the hash that it had."""
    again = decode_json(Response, encode_json(response))
    assert again == response
    assert again.content_hash == response.content_hash


def test_scorecard_parts_survive() -> None:
    """A cause and a summary are read back equal, keys that are numbers included."""
    cause = Cause("ignored", "U is empty", "reorder", "generation", "noise", ("labels",))
    summary = Summary("latency", "end_to_end", "lower", "amount", 3, 3, 0, 0, 0, 2.0, Interval(1.0, 3.0, "t"))
    summary = dataclasses.replace(summary, quantiles={0.5: 2.0, 0.95: 3.0}, reasons={"no text": 1})
    assert decode_json(Cause, encode_json(cause)) == cause
    assert decode_json(Summary, encode_json(summary)) == summary


def test_every_question_has_its_facts() -> None:
    """Every question of the catalogue is decoded to a type of facts, and every type of facts is some question's."""
    assert set(FACTS) == set(QUESTIONS)
    kinds = {c for c in vars(facts_module).values() if isinstance(c, type) and c.__name__.endswith("Facts")}
    kinds.remove(facts_module.LabelFacts)  # of labels, which nobody is asked for
    assert set(FACTS.values()) == kinds == set(FACT_STRATEGIES)


def test_text_is_canonical() -> None:
    """What is encoded is the canonical JSON that hashes are made of."""
    example = Example("q", "é", segments={"b": "1", "a": "2"}, tags=frozenset({"z", "a"}))
    assert encode_json(example) == to_canonical_json(to_json_value(example))
    assert json.loads(encode_json(example)) == {
        "query": "é",
        "query_id": "q",
        "segments": {"a": "2", "b": "1"},
        "tags": ["a", "z"],
    }


def test_plain_goes_through_what_types_are_made_of() -> None:
    """Keys become text, sets sorted lists, named tuples lists and other mappings dictionaries, however deep."""
    value = {10: (1, [Relevant(("d",))]), 2: frozenset({"b", "a"}), True: MappingProxyType({0.5: None})}
    assert to_json_value(value) == {"10": [1, [{"doc_ids": ["d"]}]], "2": ["a", "b"], "True": {"0.5": None}}
    assert to_canonical_json(to_json_value(value)) == '{"10":[1,[{"doc_ids":["d"]}]],"2":["a","b"],"True":{"0.5":null}}'
    assert to_json_value(SplitPrompt("u", ["v"])) == ["u", ["v"]]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_number_that_is_not_finite_is_refused(score: float) -> None:
    """NaN and infinity are refused by name of the type: JSON has no such numbers."""
    with pytest.raises(DataError, match="Passage cannot be written"):
        encode_json(Passage("p", "d", score=score))


@pytest.mark.parametrize("wrong", ["", "[1", "[]", '{"passage_id": "p"}', '{"passage_id":"p","doc_id":"d","x":1}'])
def test_other_text_is_refused(wrong: str) -> None:
    """Text that is not JSON, lacks a field or has an unknown one is refused, not half read."""
    with pytest.raises(DataError, match="not a valid Passage in JSON"):
        decode_json(Passage, wrong)
