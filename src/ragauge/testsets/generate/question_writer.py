"""Who writes and checks the questions of a set, and pieces of prompts, for test sets, which see no judges or models."""

from __future__ import annotations

from ragauge.core.errors import UsageError
from ragauge.core.example import Example
from ragauge.engine.estimate import CostEstimate, estimate_asks
from ragauge.engine.judges import build_judge
from ragauge.engine.session import Session
from ragauge.judges.inputs import VerifyReference, list_reference_claims
from ragauge.judges.judge import AskGenerator, Judge, can_ask_models
from ragauge.judges.model.judge import ModelJudge
from ragauge.judges.model.prompt_blocks import DATA_NOTICE, Block, RequestTexts, fence_blocks
from ragauge.judges.model.question_spec import INTEGER, TEXT, QuestionSpec, build_enum, build_list, build_object
from ragauge.judges.model.reply_parser import list_objects, parse_text, parse_whole_number, parse_word
from ragauge.judges.model.verdicts import NO_VERDICT_REASON, ParsedVerdicts, VerdictList, ask_each, ask_retry

__all__ = [
    "DATA_NOTICE",
    "INTEGER",
    "NO_VERDICT_REASON",
    "TEXT",
    "Block",
    "CostEstimate",
    "Judge",
    "ModelJudge",
    "ParsedVerdicts",
    "QuestionSpec",
    "RequestTexts",
    "Session",
    "VerdictList",
    "ask_each",
    "ask_retry",
    "ask_support",
    "build_enum",
    "build_list",
    "build_object",
    "build_question_spec",
    "build_writer",
    "can_ask_models",
    "estimate_asks",
    "fence_blocks",
    "list_objects",
    "parse_text",
    "parse_whole_number",
    "parse_word",
]


def build_writer(spec: str) -> ModelJudge:
    """The model that writes questions, by its spec as judges are named.

    Raises:
        UsageError: no model: the local judge writes nothing, a hybrid one is no writer.
        UnknownName: no such provider.
    """
    judge = build_judge(spec)
    if not isinstance(judge, ModelJudge):
        raise UsageError(f"--model {spec}: expected a language model that writes questions, such as openai:MODEL.")
    return judge


def build_question_spec(writer: ModelJudge, question: str, version: int) -> QuestionSpec:
    """A question of a test set's own, as this model is asked it."""
    return QuestionSpec(question, version, writer.spec.settings)


def ask_support(judge: Judge, example: Example, passages: tuple[str, ...]) -> AskGenerator:
    """Which passages state each claim of an example's reference."""
    claims = list_reference_claims(example)
    return judge.ask(VerifyReference(example.query, claims, passages))
