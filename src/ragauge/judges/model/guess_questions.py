"""guess_questions: the questions that an answer would answer, compared with the one that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.core.facts import GuessedFacts
from ragauge.judges.inputs import GuessQuestions
from ragauge.judges.judge import AskGenerator
from ragauge.judges.model.prompt_blocks import Block, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import TEXTS, QuestionSpec, build_object
from ragauge.judges.model.reply_parser import parse_texts
from ragauge.judges.model.verdicts import ask_retry
from ragauge.judges.similarity import build_embed_ask, compute_cosines

VERSION = 2
N_QUESTIONS = 3  # the paper averages over n guesses; its code takes 3
GUESS_PROMPT = Prompt(
    "guess_questions",
    f"""Read the answer and guess its question.
Write {N_QUESTIONS} different questions that this answer would answer fully, in the answer's language.""",
    f"Give questions: a list of {N_QUESTIONS} texts.",
    ("answer",),
    "Write questions as its user would go on with.",
)
SCHEMA = build_object(questions=TEXTS)


def guess_questions(inputs: GuessQuestions, question_spec: QuestionSpec) -> AskGenerator:
    """The question itself is never shown. Fewer questions than asked for are asked for once more; missing ones fail.

    Source: RAGAS, arXiv:2309.15217, section 3: mean cosine of the question with the questions guessed from the answer.
    """
    worded = question_spec.build_texts(
        GUESS_PROMPT, *build_turn_blocks(inputs.history), Block.of("answer", inputs.answer)
    )
    attempts, _ = yield from ask_retry(
        question_spec, worded, SCHEMA, _parse_guesses, lambda guesses: len(guesses) >= N_QUESTIONS
    )
    guessed = max(attempts, key=len)[:N_QUESTIONS]
    if not guessed:
        return GuessedFacts((None,) * N_QUESTIONS)
    (reply,) = yield [
        build_embed_ask(
            question_spec.question, question_spec.version, (inputs.query, *guessed), question_spec.judge_repeat
        )
    ]
    return GuessedFacts((*compute_cosines(reply, len(guessed)), *[None] * (N_QUESTIONS - len(guessed))))


def _parse_guesses(value: Mapping[str, Any]) -> list[str]:
    return parse_texts(value.get("questions"))
