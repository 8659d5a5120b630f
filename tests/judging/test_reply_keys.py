"""The keys under which paid replies and evidence are stored: a changed key pays for everything again."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from typing import Any

import pytest

from ragauge.core.ask import Ask, ModelName, Reply, build_reply_key
from ragauge.core.facts import Criterion
from ragauge.core.human_labels import AnswerPair
from ragauge.core.identity import hash_json
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
    Similarity,
    VerifyAnswer,
    VerifyReference,
    build_evidence_key,
)
from ragauge.judges.model.judge import ASKED, ModelJudge

QUERY, ANSWER = "How long is it?", "It lasts a day. It costs 5 dollars. Ask for more."
PASSAGES = (
    "It lasts a day. [S1] It is free.",
    "".join(f"Part {n} of a long page says {'word ' * 20}here. " for n in range(10)),
    "No more.",
)
ANY = ModelName("openai", "any")
SPECS = ("openai:any", "openai:any,mode=per_claim", "openai:any,pack=1000")
CLAIM = {"verdict": "supported", "by": ["1.1"], "against": [], "together": False, "direct": True}
FIRST = {
    "sentences": [{"n": 1, "relevant": True, "claims": [{"text": "It lasts a day.", **CLAIM}]}],
    "claims": [{"n": 1, **CLAIM}],
    "passages": [{"n": 1, "relevant": True}],
    "answer": [{"n": 1, "verdict": "agrees"}],
    "reference": [{"n": 1, "stated": True}],
    "parts": [{"n": 1, "met": True}],
    "criteria": [{"n": 1, "met": True}],
    "questions": ["How long?"],
    "addresses": "fully",
    "refuses": False,
}
REPLIES = (
    Reply("ok", json.dumps(FIRST), finish="stop"),  # the others are asked for alone
    Reply("ok", "I cannot tell.", finish="stop"),  # all are asked for again
    Reply("failed", reason="cut off", finish="length"),  # all are asked for in halves
)
INPUTS: Mapping[str, Inputs] = {
    "verify_answer": VerifyAnswer(QUERY, PASSAGES, ANSWER),
    "verify_answer, no passages": VerifyAnswer(QUERY, None, ANSWER),
    "verify_reference": VerifyReference(QUERY, ("A day.", "Free.", "Long."), PASSAGES),
    "rate_passages": RatePassages(QUERY, PASSAGES),
    "rate_sentences": RateSentences(QUERY, PASSAGES),
    "rate_answer": RateAnswer(QUERY, ANSWER),
    "agree": Agree(("A day.", None, "5 dollars."), ("A week.", "It is free."), QUERY, ("Two days.",), ANSWER),
    "agree, without a question": Agree(("A day.", "5 dollars."), ("A week.",)),
    "cover_aspects": CoverAspects(QUERY, ("length", "price", "place"), ANSWER),
    "cover_criteria": CoverCriteria(QUERY, ("It is polite.", "It is short."), ANSWER),
    "meet_criteria": MeetCriteria(
        (
            Criterion("polite", "It is polite."),
            Criterion("tone", "Tone", ("answer",), ("rude", "kind"), 2),
            Criterion("based", "It rests on them.", ("query", "passages", "answer")),
        ),
        QUERY,
        ANSWER,
        PASSAGES,
    ),
    "guess_questions": GuessQuestions(QUERY, ANSWER),
    "similarity": Similarity(ANSWER, "A day."),
}
EVIDENCE: Mapping[str, str] = {
    "verify_answer": "38a6a1c67d0ff70b",
    "verify_answer, no passages": "c0a3b9d7493ee87c",
    "verify_reference": "6ee1a78c24a1a298",
    "rate_passages": "b8a7973b3ce21cbd",
    "rate_sentences": "b69efecee987007f",
    "rate_answer": "ad7ca9896549b290",
    "agree": "bc8268ae35a6e11c",
    "agree, without a question": "14c79878fb897b46",
    "cover_aspects": "d25247c9c1cf8096",
    "cover_criteria": "75213ed59d982ee3",
    "meet_criteria": "238ffe60bf19a989",
    "guess_questions": "fd8f1afb69b61d51",
    "similarity": "42945cbfbafc6a63",
}
SENT: Mapping[str, tuple[str, ...]] = {  # one a spec
    "verify_answer": ("becc2bc58dc2a70a", "71c2bc1d9c6d40be", "07a20e36944c4c30"),
    "verify_answer, no passages": ("f95ba23ce8fb3e81",) * 3,
    "verify_reference": ("f65a84d11b11f7d7", "d548b66f2500b61b", "04ddf52cb1bf7ad4"),
    "rate_passages": ("ba6d4da187fcb584", "ba6d4da187fcb584", "732eb3203aec29b5"),
    "rate_sentences": ("a0857e9b93cb8a0f", "a0857e9b93cb8a0f", "e1bf1405183d367e"),
    "rate_answer": ("b097c7b34ac1397f",) * 3,
    "agree": ("09a239c6a9b00c90",) * 3,
    "agree, without a question": ("37229ea26fa70b8f",) * 3,
    "cover_aspects": ("86c434e41bef9994",) * 3,
    "cover_criteria": ("f485b8185c527afe",) * 3,
    "meet_criteria": ("a8971e9762da7a3f",) * 3,
    "guess_questions": ("33d3d92227d49a01",) * 3,
    "similarity": ("96626ed3e6ff11a6",) * 3,
    "prepare": ("eb979020c0f84039",) * 3,
    "prefer": ("6e4622ed5dbe657d",) * 3,
}


def told(ask: Ask) -> list[Any]:
    """An ask as it is keyed and as it is sent: the order of a schema's fields is part of what a model reads."""
    return [
        build_reply_key(ANY, ask),
        ask.question,
        ask.version,
        json.dumps([ask.messages, ask.schema, dict(ask.params)]),
    ]


def asks(asking: Generator[list[Ask], list[Reply], Any], said: Reply) -> list[Any]:
    """Everything that a generator asks where every chat ask gets the same reply, and embed asks fail."""
    found = []
    try:
        turn = next(asking)
        while True:
            found.append([told(ask) for ask in turn])
            turn = asking.send([said if ask.kind == "chat" else Reply("failed") for ask in turn])
    except StopIteration:
        return found


def everything(start: Callable[[ModelJudge], Generator[list[Ask], list[Reply], Any]]) -> tuple[str, ...]:
    """By spec, one digest over what a question asks, first and again, whatever the reply."""
    judges = [ModelJudge.of(spec) for spec in SPECS]
    return tuple(hash_json([asks(start(judge), said) for said in REPLIES])[:16] for judge in judges)


@pytest.mark.parametrize("name", INPUTS)
def test_no_reply_that_was_paid_for_is_lost(name: str) -> None:
    """Prompts, schemas and keys are those under which replies are stored; who changes one raises VERSION and this."""
    assert everything(lambda judge: judge.ask(INPUTS[name], 1)) == SENT[name]


def test_no_reply_beside_the_questions_is_lost() -> None:
    """The same of the two that give no evidence: preparing a set, and preferring one of two answers."""
    pair = AnswerPair("a", QUERY, (ANSWER, "A day."))
    assert everything(lambda judge: judge.prepare(QUERY, ANSWER)) == SENT["prepare"]
    assert everything(lambda judge: judge.prefer(pair, 1)) == SENT["prefer"]


@pytest.mark.parametrize("name", INPUTS)
def test_no_evidence_is_lost(name: str) -> None:
    """Evidence is found again under the key that it was stored under."""
    judge, inputs = ModelJudge.of(SPECS[0]), INPUTS[name]
    key = build_evidence_key(judge.judge_id, judge.version(inputs.question), inputs, 1)
    assert key[:16] == EVIDENCE[name]


def test_every_question_is_pinned() -> None:
    """The list above leaves no question out."""
    assert {inputs.question for inputs in INPUTS.values()} == set(ASKED)
