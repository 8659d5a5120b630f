"""guess_questions: the questions that an answer would answer, compared with the one that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.core.facts import GuessedFacts
from ragauge.judges.inputs import GuessQuestions
from ragauge.judges.judge import Asking
from ragauge.judges.model.prompt_blocks import Block, Prompt, earlier_turns
from ragauge.judges.model.question_spec import TEXTS, QuestionSpec, an_object
from ragauge.judges.model.reply_parser import texts
from ragauge.judges.model.verdicts import ask_retry
from ragauge.judges.similarity import cosines, embed

VERSION = 2
QUESTIONS = 3  # the paper averages over n guesses; its code takes 3
GUESSING = Prompt(
    "guess_questions",
    f"""Read the answer and guess its question.
Write {QUESTIONS} different questions that this answer would answer fully, in the answer's language.""",
    f"Give questions: a list of {QUESTIONS} texts.",
    ("answer",),
    "Write questions as its user would go on with.",
)
SCHEMA = an_object(questions=TEXTS)


def guess_questions(inputs: GuessQuestions, asked: QuestionSpec) -> Asking:
    """The question itself is never shown. Fewer questions than asked for are asked for once more; missing ones fail.

    Source: RAGAS, arXiv:2309.15217, section 3: mean cosine of the question with the questions guessed from the answer.
    """
    worded = asked.worded(GUESSING, *earlier_turns(inputs.history), Block.of("answer", inputs.answer))
    attempts, _ = yield from ask_retry(asked, worded, SCHEMA, _guessed, lambda guesses: len(guesses) >= QUESTIONS)
    guessed = max(attempts, key=len)[:QUESTIONS]
    if not guessed:
        return GuessedFacts((None,) * QUESTIONS)
    (reply,) = yield [embed(asked.question, asked.version, (inputs.query, *guessed), asked.judge_repeat)]
    return GuessedFacts((*cosines(reply, len(guessed)), *[None] * (QUESTIONS - len(guessed))))


def _guessed(value: Mapping[str, Any]) -> list[str]:
    return texts(value.get("questions"))
