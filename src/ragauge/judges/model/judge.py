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
from ragauge.core.identity import hash_json, to_json_value
from ragauge.judges import similarity
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import AskGenerator
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
from ragauge.judges.model.prompt_blocks import GIVEN_PREFIX, Prompt, read_templates
from ragauge.judges.model.question_spec import ModelSpec, QuestionSpec, build_union, parse_spec
from ragauge.scores.results.scorecard import JudgeNote

ASKED: Mapping[str, tuple[int, Callable[[Any, QuestionSpec], AskGenerator]]] = {
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
    "similarity": (
        similarity.VERSION,
        lambda inputs, question_spec: similarity.measure_similarity(inputs, question_spec.judge_repeat),
    ),
}
PROMPTS: Mapping[str, Prompt] = {
    question.name: question
    for question in (
        verify_answer.CHECK_PROMPT,
        verify_answer.LIST_PROMPT,
        verify_reference.CHECK_PROMPT,
        rate_passages.PASSAGES_PROMPT,
        rate_passages.SENTENCES_PROMPT,
        rate_passages.ANSWER_PROMPT,
        agree.AGREE_PROMPT,
        cover.ASPECTS_PROMPT,
        cover.CRITERIA_PROMPT,
        meet_criteria.CHECK_PROMPT,
        guess_questions.GUESS_PROMPT,
        prepare.PREPARE_PROMPT,
        prefer.PREFERENCE,
    )
}
# how replies may look to all questions that see passages
FAMILY = build_union(
    verify_answer.CHECK_SCHEMA,
    verify_reference.SCHEMA,
    rate_passages.PASSAGES_SCHEMA,
    rate_passages.SENTENCES_SCHEMA,
    *meet_criteria.SCHEMAS,
)
# questions that may have a model of their own; vectors are the embedder's
MODEL_QUESTIONS = (*(name for name in ASKED if name != "similarity"), "prepare")
EMBEDDER_QUESTIONS = ("guess_questions", "similarity")  # questions whose vectors the judge's embedder makes


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
        spec = parse_spec(text, MODEL_QUESTIONS)
        if spec.prompts:
            spec = replace(spec, settings=replace(spec.settings, wording=read_templates(spec.prompts, PROMPTS)))
        return ModelJudge(spec)

    @cached_property
    def judge_id(self) -> str:
        """Such as "openai:gpt-5-mini#1f3a9c0e": the main model, and a hash over all that changes a verdict."""
        spec = self.spec  # who holds the key is no part of a verdict
        default = replace(spec.default, key_env="")
        own_models = {key: replace(name, key_env="") for key, name in spec.own.items()}
        embedder = "" if spec.embedder is None else to_json_value(replace(spec.embedder, key_env=""))
        everything = to_json_value(replace(spec, prompts="", own=own_models)) | {
            "default": to_json_value(default),
            "embedder": embedder,
        }
        return f"{self.spec.default.provider}:{self.spec.default.model}#{hash_json(everything)[:8]}"

    def version(self, question: str) -> int:
        """Version of the question as this judge asks it: of prompt, schema and reading; 0 for an unknown one."""
        return ASKED[question][0] if question in ASKED else 0

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""
        return question in ASKED

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
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
        return self.spec.embedder if ask.question in EMBEDDER_QUESTIONS else None

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
            PROMPTS[name].check_template(template)
        return ModelJudge(replace(self.spec, settings=replace(self.spec.settings, wording=templates)))

    def prepare(
        self, query: str, reference: str, history: Sequence[Turn] = ()
    ) -> Generator[list[Ask], list[Reply], prepare.PreparationResult]:
        """The generator of `prepare`: claims of a reference and aspects of a question."""
        return prepare.prepare(query, reference, QuestionSpec("prepare", prepare.VERSION, self.spec.settings), history)


STEERED_LIMIT = (
    "A language model can be influenced by the text that it judges, and is biased toward long, fluent "
    "and familiar answers and toward its own answers."
)
VARIES_LIMIT = "Its verdicts vary between calls. Evaluate with --judge-repeats 3 to measure how much."
LIMITS = (STEERED_LIMIT, VARIES_LIMIT)
MODES: Mapping[bool, str] = {
    False: "all claims of an answer in one call (mode fused)",
    True: "each claim in a separate call (mode per_claim)",
}


def build_judge_note(judge_id: str, spec: str, versions: Mapping[str, tuple[int, ...]]) -> JudgeNote:
    """What is to be said of a model judge.

    Args:
        judge_id: whose verdicts.
        spec: the text that it is built from; "" where it is not known.
        versions: question -> the versions in which it was asked.
    """
    questions = ", ".join(
        f"{question} {'/'.join(map(str, versions_asked))}" for question, versions_asked in versions.items()
    )
    sentences = [
        describe_models(judge_id, spec),
        f"Judge questions, with their versions: {questions}." if questions else "",
    ]
    return JudgeNote(judge_id, " ".join(sentence for sentence in sentences if sentence), LIMITS)


def describe_models(judge_id: str, spec: str) -> str:
    """One or two sentences: which models answer, at which place, and how they are asked; never a key."""
    if not spec:
        return f"A language model judges: {judge_id.partition('#')[0]}."
    parsed: ModelSpec = parse_spec(spec, MODEL_QUESTIONS)
    own_text = "".join(f", {question} to {model}" for question, model in parsed.own.items())
    if parsed.embedder is not None:
        own_text += f", vectors to {parsed.embedder}"
    settings = ", ".join(f"{name} {value:g}" for name, value in parsed.settings.params.items()) or "no temperature set"
    wording = f" Its prompts come from {_describe_source(parsed.prompts)}." if parsed.prompts else ""
    checks = f"It checks {MODES[parsed.settings.per_claim]}, {settings}."
    return f"A language model judges: {parsed.default}{own_text}. {checks}{wording}"


def _describe_source(prompts: str) -> str:
    return "templates passed from Python" if prompts.startswith(GIVEN_PREFIX) else prompts
