"""guess_questions: the questions that an answer would answer, compared with the one that was asked."""

from __future__ import annotations

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import GuessedFacts
from ragauge.judging.cosines import cosines
from ragauge.judging.inputs import GuessQuestions
from ragauge.judging.judge import Asking
from ragauge.judging.model.asking import Asked, Settings
from ragauge.judging.model.fences import DATA, Block, fenced
from ragauge.judging.model.reading import structured, written

VERSION = 1
QUESTIONS = 3     # the paper averages over n guesses; its code takes 3
GUESSING = f"""You read an answer and guess its question. {DATA}
Write {QUESTIONS} different questions that this answer would answer fully, in the answer's language. \
Reply with JSON only."""
SCHEMA = {
    "type": "object", "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
    "required": ["questions"], "additionalProperties": False,
}  # fmt: skip


def guess_questions(inputs: GuessQuestions, settings: Settings, judge_repeat: int = 0) -> Asking:
    """The question itself is never shown. Fewer questions than asked for are asked for once more; missing ones fail.

    Source: RAGAS, arXiv:2309.15217, section 3: mean cosine of the question with the questions guessed from the answer.
    """
    asked = Asked("guess_questions", VERSION, settings, judge_repeat)
    text = fenced([Block("answer", [("", inputs.answer)])])
    guessed: list[str] = []
    for attempt in (1, 2):
        (reply,) = yield [asked.chat(GUESSING, text, SCHEMA, attempt)]
        guessed = max(guessed, _guessed(reply), key=len)
        if len(guessed) >= QUESTIONS or (reply.status == "failed" and reply.finish != "length"):
            break
    if not guessed:
        return GuessedFacts((None,) * QUESTIONS)
    messages = tuple(("text", one) for one in (inputs.query, *guessed[:QUESTIONS]))
    (vectors,) = yield [Ask("embed", "guess_questions", VERSION, messages, judge_repeat=judge_repeat)]
    found = cosines(vectors, len(guessed[:QUESTIONS]))
    return GuessedFacts((*found, *[None] * (QUESTIONS - len(found))))


def _guessed(reply: Reply) -> list[str]:
    found = (structured(reply) or {}).get("questions")
    return [text for one in found if (text := written(one))] if isinstance(found, list) else []
