"""Who writes and checks the questions of a set, and pieces of prompts, for test sets, which see no judges or models."""

from __future__ import annotations

from ragauge.core.errors import UsageError
from ragauge.core.example import Example
from ragauge.engine.estimate import CostEstimate, estimate_askings
from ragauge.engine.judges import build_judge
from ragauge.engine.session import Session
from ragauge.judges.inputs import VerifyReference, reference_claims
from ragauge.judges.judge import Asking, Judge, asks_models
from ragauge.judges.model.judge import ModelJudge
from ragauge.judges.model.prompt_blocks import DATA, Block, Worded, fenced_blocks
from ragauge.judges.model.question_spec import INTEGER, TEXT, QuestionSpec, a_list, an_object, one_of
from ragauge.judges.model.reply_parser import objects, whole_number, word, written
from ragauge.judges.model.verdicts import NO_VERDICT, Listing, VerdictsRead, ask_each, ask_retry

__all__ = [
    "DATA",
    "INTEGER",
    "NO_VERDICT",
    "TEXT",
    "Block",
    "CostEstimate",
    "Judge",
    "Listing",
    "ModelJudge",
    "QuestionSpec",
    "Session",
    "VerdictsRead",
    "Worded",
    "a_list",
    "an_object",
    "ask_each",
    "ask_retry",
    "asked_by",
    "asks_models",
    "build_writer",
    "estimate_askings",
    "fenced_blocks",
    "objects",
    "one_of",
    "supports",
    "whole_number",
    "word",
    "written",
]


def build_writer(spec: str) -> ModelJudge:
    """The model that writes questions, by its spec as judges are named.

    Raises:
        UsageError: no model: the local judge writes nothing, a hybrid one is no writer.
        UnknownName: no such provider.
    """
    found = build_judge(spec)
    if not isinstance(found, ModelJudge):
        raise UsageError(f"--model {spec}: expected a language model that writes questions, such as openai:MODEL.")
    return found


def asked_by(writer: ModelJudge, question: str, version: int) -> QuestionSpec:
    """A question of a test set's own, as this model is asked it."""
    return QuestionSpec(question, version, writer.spec.settings)


def supports(judge: Judge, example: Example, passages: tuple[str, ...]) -> Asking:
    """Which passages state each claim of an example's reference."""
    claims = reference_claims(example)
    return judge.ask(VerifyReference(example.query, claims, passages))
