"""What a report says about a model judge: who answers, how it is asked, and what it cannot be trusted with."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.analysis.results.scorecard import JudgeNote
from ragauge.judging.model.judge import NAMED
from ragauge.judging.model.spec import ModelSpec, read_spec
from ragauge.judging.model.wording import HANDED

STEERED = (
    "A language model can be steered by the text that it judges, and is biased: towards long, fluent and familiar "
    "answers, and towards answers of its own kind."
)
VARIES = "Its verdicts vary between askings; ragauge evaluate RUN --judge JUDGE --judge-repeats 3 says how far."
LIMITS = (STEERED, VARIES)
MODES: Mapping[bool, str] = {
    False: "all claims of an answer in one call (mode fused)",
    True: "each claim in a call of its own (mode per_claim)",
}


def judge_note(judge_id: str, spec: str, versions: Mapping[str, tuple[int, ...]]) -> JudgeNote:
    """What is to be said of a model judge.

    Args:
        judge_id: whose verdicts.
        spec: the text that it is built from; "" where it is not known.
        versions: question -> the versions in which it was asked.
    """
    asked = ", ".join(f"{question} {'/'.join(map(str, found))}" for question, found in versions.items())
    parts = [who(judge_id, spec), f"Questions, with their versions: {asked}." if asked else ""]
    return JudgeNote(judge_id, " ".join(part for part in parts if part), LIMITS)


def who(judge_id: str, spec: str) -> str:
    """One or two sentences: which models answer, at which place, and how they are asked; never a key."""
    if not spec:
        return f"A language model judges: {judge_id.partition('#')[0]}."
    read: ModelSpec = read_spec(spec, NAMED)
    own = "".join(f", {question} to {model}" for question, model in read.own.items())
    if read.embedder is not None:
        own += f", vectors to {read.embedder}"
    settings = ", ".join(f"{name} {value:g}" for name, value in read.settings.params.items()) or "no temperature set"
    worded = f" Its questions are worded by {_source(read.prompts)}." if read.prompts else ""
    checks = f"It checks {MODES[read.settings.per_claim]}, {settings}."
    return f"A language model judges: {read.default}{own}. {checks}{worded}"


def _source(prompts: str) -> str:
    return "templates handed over in Python" if prompts.startswith(HANDED) else prompts
