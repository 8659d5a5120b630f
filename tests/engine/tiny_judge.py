"""A small deterministic judge, and runs for it. Worker processes build it by its spec.

It answers by words: a claim is a sentence, and a passage supports it when it holds all of its words. Every question
that it answers is noted as a line of the file that TINY_JUDGE_LOG names.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Example, Relevant
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    Claim,
    GuessedFacts,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.response import Passage, Response
from ragauge.judges.inputs import (
    Agree,
    GuessQuestions,
    Inputs,
    RatePassages,
    VerifyAnswer,
    VerifyReference,
    build_evidence_key,
)
from ragauge.judges.judge import AskGenerator

LOG = "TINY_JUDGE_LOG"
SPEC = "tests.engine.tiny_judge:TinyJudge"
SLOW = "tests.engine.tiny_judge:SlowJudge"
IDLE = "tests.engine.tiny_judge:IdleJudge"
RAISE, DIE, CUT = "raisenow", "dienow", "cutnow"  # words of an answer that make the judge misbehave


class TinyJudge:
    """Answers by words."""

    judge_id = "tiny@1"
    seconds = 0.0

    def version(self, question: str) -> int:
        return 1

    def answers(self, question: str) -> bool:
        return question in ("verify_answer", "verify_reference", "rate_passages", "agree", "guess_questions")

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        note(build_evidence_key(self.judge_id, 1, inputs, judge_repeat), inputs.question)
        if self.seconds:
            time.sleep(self.seconds)
        if isinstance(inputs, VerifyAnswer):
            misbehave(inputs.answer)
        if isinstance(inputs, GuessQuestions):
            (reply,) = yield [Ask("embed", "guess_questions", 1, (("text", inputs.query), ("text", inputs.answer)))]
            return GuessedFacts((float(reply.vectors[0] @ reply.vectors[1]),))
        return judged(inputs)


class SlowJudge(TinyJudge):
    """Takes its time, so that a kill finds it at work."""

    judge_id = "slow@1"
    seconds = 0.002


class IdleJudge(TinyJudge):
    """Finds the same few facts for everything: what is left is the engine's own work."""

    judge_id = "idle@1"

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        yield from ()
        if isinstance(inputs, VerifyAnswer):
            return AnswerFacts((Claim(1, "claim", 0, 5, supporting=(1,), strength="direct", p=0.9),), "fully", False)
        return judged(inputs)


def judged(inputs: Inputs) -> JudgeFacts:
    """The facts, by words."""
    match inputs:
        case VerifyAnswer():
            passages = inputs.passages or ()
            claims = tuple(
                Claim(n, text, supporting=found, strength="direct" if found else None)
                for n, text in enumerate(sentences(inputs.answer), 1)
                for found in [supporting(text, passages)]
            )
            return AnswerFacts(claims, "fully" if claims else "no", not claims, inputs.passages is not None)
        case VerifyReference():
            return ReferenceFacts(
                tuple(ReferenceClaim(n, c, supporting(c, inputs.passages)) for n, c in enumerate(inputs.claims, 1))
            )
        case RatePassages():
            words = set(inputs.query.split())
            return RelevanceFacts(
                tuple(Rating(n, bool(words & set(text.split()))) for n, text in enumerate(inputs.passages, 1))
            )
        case Agree():
            return AgreementFacts(
                tuple("agrees" if claim in inputs.reference_claims else "absent" for claim in inputs.answer_claims),
                tuple(claim in inputs.answer_claims for claim in inputs.reference_claims),
            )
    raise ValueError(f"no answer to {inputs.question}")


def sentences(text: str) -> list[str]:
    return [part.strip() for part in text.split(".") if part.strip()]


def supporting(claim: str, passages: tuple[str, ...]) -> tuple[int, ...]:
    words = set(claim.lower().split())
    return tuple(n for n, passage in enumerate(passages, 1) if words <= set(passage.lower().split()))


def misbehave(answer: str) -> None:
    """What the words of the answer ask for."""
    if RAISE in answer:
        raise ValueError(f"cannot read {answer!r}")
    if DIE in answer:
        os.kill(os.getpid(), signal.SIGKILL)


def note(key: str, question: str) -> None:
    """One line per question answered; short appends are atomic between processes."""
    path = os.environ.get(LOG)
    if path:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(descriptor, f"{question} {key}\n".encode())
        os.close(descriptor)


def notes(path: Path) -> list[str]:
    """What was answered so far: lines of "question key"."""
    return path.read_text().splitlines() if path.exists() else []


def answering(asks: list[Ask]) -> list[Reply]:
    """For judges that ask nothing of models."""
    raise AssertionError(f"asked {asks}")


def passage(n: int, words: str = "") -> Passage:
    return Passage(f"p{n}", f"d{n}", f"number {n} {words}")


def records(n: int) -> Iterator[tuple[Example, Response]]:
    """Examples with labels, references and answers of different quality."""
    for i in range(n):
        example = Example(
            f"q{i}",
            f"what is number {i}",
            references=(f"it is number {i}",),
            reference_claims=(f"number {i}",),
            relevant=(Relevant((f"d{i}",)), Relevant((f"d{i + 1}",))),
            segments={"half": "first" if i < n // 2 else "second"},
        )
        passages = tuple(passage(i + j * (1 + i % 3)) for j in range(4))
        answer = f"number {i}." + (f" something unheard {i}." if i % 3 == 0 else "")
        yield example, Response(f"q{i}", passages=passages, answer=answer)


class TalkingJudge(TinyJudge):
    """Prints while it works."""

    judge_id = "talking@1"

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        os.write(1, b"to the descriptor\n")
        sys.stdout.write("to the stream\n")
        return super().ask(inputs, judge_repeat)
