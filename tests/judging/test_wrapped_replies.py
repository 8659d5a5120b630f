"""Replies that a model put into one object or string too many, read over a real server on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any

import pytest
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.facts import Criterion
from ragauge.core.human_labels import AnswerPair
from ragauge.judges.inputs import (
    Agree,
    CoverAspects,
    CoverCriteria,
    GuessQuestions,
    Inputs,
    MeetCriteria,
    RateAnswer,
    RatePassages,
    RateSentences,
    VerifyAnswer,
    VerifyReference,
)
from ragauge.judges.model.judge import ASKED, ModelJudge
from ragauge.models.build import build_model
from ragauge.models.model import CallError, ChatModel

JUDGE = ModelJudge.of("openai-chat:any")
QUERY, PASSAGES = "How long does the trial last?", ("The trial lasts 30 days. It is free.", "The trial ends.")
SAID = "The trial lasts 30 days. It costs 5 dollars."
INPUTS: list[Inputs] = [
    VerifyAnswer(QUERY, PASSAGES, SAID),
    VerifyAnswer(QUERY, None, SAID),
    VerifyReference(QUERY, ("The trial lasts 30 days.", "It has rules."), PASSAGES),
    RatePassages(QUERY, PASSAGES),
    RateSentences(QUERY, PASSAGES),
    RateAnswer(QUERY, SAID),
    Agree(("The trial lasts 30 days.", "It costs."), ("The trial lasts 30 days.", "It is free."), QUERY),
    CoverAspects(QUERY, ("the trial", "the weather in winter"), SAID),
    CoverCriteria(QUERY, ("It costs 5 dollars.", "names a city"), SAID),
    GuessQuestions(QUERY, SAID),
    MeetCriteria((Criterion("polite", "Is polite"),), query=QUERY, answer=SAID),
]
Asking = Generator[list[Ask], list[Reply], Any]
STARTS: Mapping[str, Callable[[], Asking]] = {
    **{f"{one.question} {n}": partial(JUDGE.ask, one) for n, one in enumerate(INPUTS)},
    "prepare": lambda: JUDGE.prepare(QUERY, SAID),
    "prefer": lambda: JUDGE.prefer(AnswerPair("a", QUERY, (SAID, "It is free."))),
}
WRAPS: Mapping[str, Callable[[Any], Any]] = {
    "reply": lambda value: {"reply": value},
    "response": lambda value: {"response": value},
    "result": lambda value: {"result": value},
    "its own field": lambda value: {next(iter(value)): value},
    "twice": lambda value: {"output": {"json": value}},
    "string": lambda value: json.dumps(json.dumps(value)),
    "string inside": lambda value: {"result": json.dumps(value)},
    "whole in a string": lambda value: json.dumps(json.dumps({"reply": value})),
    "after reasoning": lambda value: f"<think>Easy.</think>\n```json\n{json.dumps({'result': value})}\n```\nDone.",
}


async def said(model: ChatModel, ask: Ask) -> Reply:
    """What a model replies, once it has learned how to be asked; there is no embedder."""
    while ask.kind == "chat":
        try:
            return await model.reply(ask, 5)
        except CallError as error:
            if not error.learned:
                raise
    return Reply("failed")


def asked(start: Callable[[], Asking], wrap: Callable[[Any], Any], mode: str = "native") -> tuple[Any, int]:
    """What a question finds where the model wraps every reply, and how many calls it took."""

    def wrapped(system: str, user: str, schema: Mapping[str, Any]) -> Any:
        return wrap(answer(system, user, schema))

    async def found(model: ChatModel) -> Any:
        asking = start()
        try:
            asks = next(asking)
            while True:
                asks = asking.send([await said(model, ask) for ask in asks])
        except StopIteration as done:
            return done.value
        finally:
            await model.close()

    with FaultyServer(reply=wrapped, schema_modes=[mode]) as server:
        return asyncio.run(found(build_model(ModelName("openai-chat", "any", server.url)))), len(server.requests)


@pytest.fixture(scope="module")
def plain() -> Mapping[str, tuple[Any, int]]:
    """What each question finds where nothing is wrapped, and how many calls it takes."""
    return {name: asked(start, lambda value: value) for name, start in STARTS.items()}


@pytest.mark.server
@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_wrapped_reply_is_as_good(name: str, wrap: str, plain: Mapping[str, tuple[Any, int]]) -> None:
    """One object or string around a reply changes neither what is found nor how often is asked."""
    assert asked(STARTS[name], WRAPS[wrap]) == plain[name]


@pytest.mark.server
@pytest.mark.parametrize("mode", ["tool", "prompted"])
def test_so_however_the_schema_is_given(mode: str, plain: Mapping[str, tuple[Any, int]]) -> None:
    """The same where the schema is given as a tool or in the prompt: no verdict costs a second asking."""
    for name in ("verify_answer 0", "rate_passages 3", "prepare"):
        assert asked(STARTS[name], WRAPS["reply"], mode)[0] == plain[name][0]
        assert asked(STARTS[name], WRAPS["reply"], mode)[1] == asked(STARTS[name], lambda value: value, mode)[1]


def test_every_question_is_looked_at() -> None:
    """The list above leaves no question out; similarity has no reply to read."""
    assert {one.question for one in INPUTS} == set(ASKED) - {"similarity"}
