"""The model judge: the same questions, answered by any language model.

What a report says about a model judge: who answers, how it is asked, and what it cannot be trusted with.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.example import Turn
from ragauge.core.human_labels import AnswerPair, Preference
from ragauge.core.identity import digest, plain
from ragauge.judges import similarity
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import Asking
from ragauge.judges.model import (
    agree,
    cover,
    guess_questions,
    meet_criteria,
    prefer,
    prepare,
    rate_passages,
    verify_answer,
    verify_reference,
)
from ragauge.judges.model.prompt_blocks import HANDED, Prompt, worded
from ragauge.judges.model.question_spec import ModelSpec, QuestionSpec, any_of, read_spec
from ragauge.scores.results.scorecard import JudgeNote

ASKED: Mapping[str, tuple[int, Callable[[Any, QuestionSpec], Asking]]] = {
    "verify_answer": (verify_answer.VERSION, verify_answer.verify_answer),
    "verify_reference": (verify_reference.VERSION, verify_reference.verify_reference),
    "rate_passages": (rate_passages.VERSION, rate_passages.rate_passages),
    "rate_sentences": (rate_passages.VERSION, rate_passages.rate_sentences),
    "rate_answer": (rate_passages.VERSION, rate_passages.rate_sentences),
    "agree": (agree.VERSION, agree.agree),
    "cover_aspects": (cover.VERSION, cover.cover_aspects),
    "cover_criteria": (cover.VERSION, cover.cover_criteria),
    "meet_criteria": (meet_criteria.VERSION, meet_criteria.meet_criteria),
    "guess_questions": (guess_questions.VERSION, guess_questions.guess_questions),
    "similarity": (similarity.VERSION, lambda inputs, asked: similarity.similarity(inputs, asked.judge_repeat)),
}
PROMPTS: Mapping[str, Prompt] = {
    question.name: question
    for question in (
        verify_answer.CHECKING,
        verify_answer.LISTING,
        verify_reference.CHECKING,
        rate_passages.RATING,
        rate_passages.RATING_SENTENCES,
        rate_passages.RATING_ANSWER,
        agree.COMPARING,
        cover.ASPECTS,
        cover.CRITERIA,
        meet_criteria.CHECKING,
        guess_questions.GUESSING,
        prepare.PREPARING,
        prefer.PREFERENCE,
    )
}
# how replies may look to all questions that see passages
FAMILY = any_of(
    verify_answer.CHECKED,
    verify_reference.SCHEMA,
    rate_passages.RATED,
    rate_passages.RATED_SENTENCES,
    *meet_criteria.SCHEMAS,
)
# questions that may have a model of their own; vectors are the embedder's
NAMED = (*(name for name in ASKED if name != "similarity"), "prepare")
EMBEDDED_BY = ("guess_questions", "similarity")  # questions whose vectors the judge's embedder makes


class ModelJudge:
    """Judges by asking a language model; one to three calls an answer.

    It never calls anything: it yields asks, and `model_of` says who is to answer each.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec

    @staticmethod
    def of(text: str) -> ModelJudge:
        """The judge that a spec names, such as openai:gpt-5-mini.

        Raises:
            UsageError: it names none.
            DataError: its file of prompts cannot be used.
        """
        spec = read_spec(text, NAMED)
        if spec.prompts:
            spec = replace(spec, settings=replace(spec.settings, wording=worded(spec.prompts, PROMPTS)))
        return ModelJudge(spec)

    @cached_property
    def judge_id(self) -> str:
        """Such as "openai:gpt-5-mini#1f3a9c0e": the main model, and a hash over all that changes a verdict."""
        spec = self.spec  # who holds the key is no part of a verdict
        default = replace(spec.default, key_env="")
        own = {key: replace(name, key_env="") for key, name in spec.own.items()}
        embedder = "" if spec.embedder is None else plain(replace(spec.embedder, key_env=""))
        everything = plain(replace(spec, prompts="", own=own)) | {"default": plain(default), "embedder": embedder}
        return f"{self.spec.default.provider}:{self.spec.default.model}#{digest(everything)[:8]}"

    def version(self, question: str) -> int:
        """Version of the question as this judge asks it: of prompt, schema and reading; 0 for an unknown one."""
        return ASKED[question][0] if question in ASKED else 0

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""
        return question in ASKED

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> Asking:
        """A generator that yields lists of chat asks (and embed asks for guess_questions), and returns the facts."""
        return ASKED[inputs.question][1](inputs, self.asked(inputs.question, judge_repeat))

    def asked(self, question: str, judge_repeat: int = 0) -> QuestionSpec:
        """One question as this judge asks it."""
        return QuestionSpec(question, self.version(question), self.spec.settings, judge_repeat, FAMILY)

    def model_of(self, ask: Ask) -> ModelName:
        """Who answers a chat ask."""
        return self.spec.model(ask.question)

    def embedder_of(self, ask: Ask) -> ModelName | None:
        """Who answers an embed ask; None = the embedded embedder."""
        return self.spec.embedder if ask.question in EMBEDDED_BY else None

    def models(self) -> tuple[ModelName, ...]:
        """Every model that may be asked, the embedder included."""
        embedder = () if self.spec.embedder is None else (self.spec.embedder,)
        return tuple(dict.fromkeys((self.spec.default, *self.spec.own.values(), *embedder)))

    def prefer(self, pair: AnswerPair, judge_repeat: int = 0) -> Generator[list[Ask], list[Reply], Preference]:
        """The generator of `prefer`: which of two answers is better, in both orders."""
        return prefer.prefer(pair, QuestionSpec("prefer", prefer.VERSION, self.spec.settings, judge_repeat))

    def reworded(self, templates: Mapping[str, str]) -> ModelJudge | None:
        """The same judge by other templates, name of a prompt -> template; None where it has wording of its own."""
        if self.spec.prompts:
            return None
        for name, template in templates.items():
            PROMPTS[name].check(template)
        return ModelJudge(replace(self.spec, settings=replace(self.spec.settings, wording=templates)))

    def prepare(
        self, query: str, reference: str, history: Sequence[Turn] = ()
    ) -> Generator[list[Ask], list[Reply], prepare.Prepared]:
        """The generator of `prepare`: claims of a reference and aspects of a question."""
        return prepare.prepare(query, reference, QuestionSpec("prepare", prepare.VERSION, self.spec.settings), history)


STEERED = (
    "A language model can be steered by the text that it judges, and is biased: towards long, fluent and familiar "
    "answers, and towards answers of its own kind."
)
VARIES = "Its verdicts vary between askings; evaluating with --judge-repeats 3 says how far."
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
    asked = ", ".join(
        f"{question} {'/'.join(map(str, versions_asked))}" for question, versions_asked in versions.items()
    )
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
