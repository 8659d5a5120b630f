"""The local judge as a whole: its identity, and that nothing upsets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.ask import Ask, Reply
from ragauge.core.errors import JudgeError
from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.response import Passage, Response
from ragauge.judges.inputs import (
    Agree,
    CoverAspects,
    CoverCriteria,
    GuessQuestions,
    Inputs,
    RatePassages,
    RateSentences,
    VerifyAnswer,
    VerifyReference,
    build_evidence_key,
    build_inputs,
)
from ragauge.judges.judge import Judge, answer_asks
from ragauge.judges.local.judge import QUESTIONS, LocalJudge

ANYTHING = st.text(st.characters(), max_size=120)
SOME = st.lists(ANYTHING, max_size=3).map(tuple)


def alone(inputs: Inputs) -> JudgeFacts:
    """The facts without vectors."""
    return answer_asks(LocalJudge().ask(inputs), lambda asks: [Reply("failed") for _ in asks])


def test_it_is_a_judge_that_names_its_weights() -> None:
    """The judge's id holds the generation of the code and a hash of the weights."""
    judge: Judge = LocalJudge()
    assert re.fullmatch(r"local:overlap-\d+-[0-9a-f]{8}", judge.judge_id)
    assert judge.judge_id == LocalJudge().judge_id


def test_what_it_answers() -> None:
    """It answers ten questions and declines the one that takes writing."""
    judge = LocalJudge()
    rated = {"rate_passages", "rate_sentences", "rate_answer"}
    covers = {"cover_aspects", "cover_criteria", "meet_criteria", "similarity"}
    assert set(QUESTIONS) == {"verify_answer", "verify_reference", "agree", *rated, *covers}
    assert all(judge.answers(question) and judge.version(question) >= 1 for question in QUESTIONS)
    assert not judge.answers("guess_questions")
    with pytest.raises(JudgeError, match="use a model judge"):
        judge.ask(GuessQuestions("q", "a"))


@given(query=ANYTHING, passages=st.none() | SOME, answer=ANYTHING)
@settings(deadline=None)
def test_any_answer_is_verified(query: str, passages: tuple[str, ...] | None, answer: str) -> None:
    """Any characters give facts whose numbers and offsets hold."""
    facts = alone(VerifyAnswer(query, passages, answer))
    assert isinstance(facts, AnswerFacts)
    assert facts.support_asked is (passages is not None)
    assert [claim.n for claim in facts.claims] == list(range(1, len(facts.claims) + 1))
    for claim in facts.claims:
        assert 0 <= claim.start < claim.end <= len(answer)
        assert claim.text
        assert claim.p is None if passages is None else claim.p is not None and 0 <= claim.p <= 1
        assert all(1 <= n <= len(passages or ()) for n in (*claim.supporting, *claim.contradicting))
        assert not claim.joint or len(claim.supporting) > 1
        if claim.window is not None and passages:
            assert 0 <= claim.window.start <= claim.window.end <= len(passages[claim.window.passage - 1])


@given(one=ANYTHING, some=SOME, others=SOME)
@settings(deadline=None)
def test_any_text_is_judged(one: str, some: tuple[str, ...], others: tuple[str, ...]) -> None:
    """No question raises, and every claim, passage and aspect has its verdict."""
    reference, rated, agreed, covered = (
        alone(VerifyReference(one, some, others)),
        alone(RatePassages(one, some)),
        alone(Agree((*some, None), others)),
        alone(CoverAspects(one, some, one)),
    )
    criteria = alone(CoverCriteria(one, (*some, f"mentions {one}", f"does not say that {one}"), one))
    assert len(criteria.met) == len(some) + 2  # type: ignore[union-attr]
    full = alone(Agree((*some, None), others, one, some, one))
    assert (len(full.answer), len(full.reference)) == (len(some) + 1, len(others))  # type: ignore[union-attr]
    alone(RateSentences(one, some))
    assert len(reference.claims) == len(rated.ratings) == len(covered.met) == len(some)  # type: ignore[union-attr]
    assert (len(agreed.answer), len(agreed.reference)) == (len(some) + 1, len(others))  # type: ignore[union-attr]


HOSTILE = {
    "prose": "The oak fell in 1998 near Leeds. ",
    "one sentence": "alpha beta ",
    "digits": "1234567 ",
    "kanji": "東京大阪名古屋",
    "lines": "\n",
    "stops": ". ",
    "brackets": "[1] ",
    "quotes": '"a ',
    "mixed": "naïve café 3,5 % am 3. Januar 2024 – ",
    "escapes": "\x00\x1b[31m\u202e",
    "negations": "not no never ",
    "questions": "?! ",
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear(part: str) -> None:
    """Eight times the text, as passage, answer, query and reference, takes far less than sixty-four times as long."""

    def seconds(size: int) -> float:
        text = part * (size // len(part))
        started = time.process_time()
        alone(VerifyAnswer("What fell in 1998?", (text, "The oak."), "The oak fell in 1998. 東京は大きい。"))
        alone(VerifyAnswer("What fell in 1998?", ("The oak fell.",), text))
        alone(RatePassages(text, ("The oak fell.",)))
        alone(Agree(("The oak fell.",), (text,), "What fell?", (text,), text))
        alone(Agree((text,), ("The oak", "It fell in 1998."), text, ("oak",), text))
        alone(CoverCriteria(text, ("mentions the oak", "says that the oak fell", f"mentions {text}"), text))
        return time.process_time() - started

    seconds(1_000)
    assert seconds(80_000) < 30 * max(seconds(10_000), 0.02)


SCRIPT = """
import json, sys
from ragauge.core.ask import Reply
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.judges.inputs import Agree, RatePassages, VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.judge import LocalJudge
given = json.load(sys.stdin)
asked = [
    VerifyAnswer(given["query"], tuple(given["passages"]), given["answer"]),
    RatePassages(given["query"], tuple(given["passages"])),
    Agree(tuple(given["passages"]), tuple(given["passages"])),
]
found = [answer_asks(LocalJudge().ask(one), lambda asks: [Reply("failed") for _ in asks]) for one in asked]
print(to_canonical_json(to_json_value(found)), LocalJudge().judge_id)
"""


def test_the_same_facts_in_every_process() -> None:
    """Processes with different hash seeds find the same facts to the last digit, and have the same id."""
    given = {
        "query": "Who founded the company, when and where?",
        "passages": [
            "Lena Ortiz founded the company in 1998 in Porto with three friends and a loan of 20,000 euros.",
            "The company employs 340 people. It has offices in Spain and Chile, a depot in Leeds and a shop.",
            "Porto is a city in Portugal. Ortiz moved there as a student of chemistry, and stayed for good.",
        ],
        "answer": "Lena Ortiz founded it in 1998. It employs 340 people in Spain, Chile and Peru. Porto is a city.",
    }
    printed = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert "Ortiz" in printed.pop()


def test_asking_twice_finds_the_same(embedded: Callable[[Sequence[Ask]], list[Reply]]) -> None:
    """What was judged before, and in what company, changes nothing."""
    inputs = VerifyAnswer("Who?", ("Ada Brown planted 47 yews in Porto.",), "Ada Brown planted yews. She is old.")
    first = answer_asks(LocalJudge().ask(inputs), embedded)
    alone(VerifyAnswer("What?", ("Yews grow.", "Ada Brown planted 47 yews in Porto."), "Yews grow in Porto."))
    assert to_canonical_json(to_json_value(answer_asks(LocalJudge().ask(inputs), embedded))) == to_canonical_json(
        to_json_value(first)
    )


def test_a_question_sees_only_its_inputs() -> None:
    """The reference changes neither verify_answer nor rate_passages; the answer changes neither of the other two."""
    example = Example("q1", "Who planted yews?", references=("Ada Brown planted yews.",))
    response = Response("q1", passages=(Passage("p1", "d1", "Ada Brown planted 47 yews."),), answer="Ada Brown did.")
    other = replace(example, references=("Bea Green did.",), answerable=True, tags=frozenset({"golden"}))
    rewritten = replace(response, answer="Nobody knows it.", latency_ms={"total": 3.0}, cost=0.1)

    def key(question: str, example: Example, response: Response) -> str:
        inputs = build_inputs(question, example, response, {})
        assert inputs is not None
        judge = LocalJudge()
        return build_evidence_key(judge.judge_id, judge.version(question), inputs)

    for question in ("verify_answer", "rate_passages"):
        assert key(question, example, response) == key(question, other, response)
    for question in ("verify_reference", "rate_passages"):
        assert key(question, example, response) == key(question, example, rewritten)
    assert key("verify_answer", example, response) != key("verify_answer", example, rewritten)
    assert key("verify_reference", example, response) != key("verify_reference", other, response)


def test_nothing_heavy_and_no_network_is_loaded() -> None:
    """Importing the judge loads no numpy; judging without vectors loads none either, and never opens a socket."""
    script = (
        "import sys\n"
        "from ragauge.core.ask import Reply\n"
        "from ragauge.judges.inputs import VerifyAnswer\n"
        "from ragauge.judges.judge import answer_asks\n"
        "from ragauge.judges.local.judge import LocalJudge\n"
        "assert not {'numpy', 'scipy', 'polars', 'tokenizers', 'asyncio'} & set(sys.modules)\n"
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('a connection was tried')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "asked = VerifyAnswer('Who?', ('Ada did it.',), 'Ada did it.')\n"
        "print(answer_asks(LocalJudge().ask(asked), lambda asks: [Reply('failed') for _ in asks]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "supporting=(1,)" in done.stdout
