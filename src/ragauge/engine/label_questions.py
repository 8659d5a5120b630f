"""What a label's question sees of a response, and what the labels of a metric make of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isfinite

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import seen_turns
from ragauge.core.label import (
    BY_KIND,
    GUIDELINES,
    SCORE,
    SEEN,
    TOLD,
    VALUES,
    WHICH_NOT_SAID,
    WHOLE,
    Label,
    LabelTask,
    Part,
    ScoreScale,
    label_key,
)
from ragauge.core.response import REDACTED
from ragauge.judges.judge import Judge
from ragauge.judges.people.judge import SPLIT, PeopleJudge, decided, unclear, votes
from ragauge.metrics.base import Measured, Metric
from ragauge.metrics.catalogue import describe, parse
from ragauge.metrics.facts import INPUTS
from ragauge.store.responses import Loaded
from ragauge.text.markup import blank_markup
from ragauge.text.sentences import split

READ = {  # what a fact rests on -> what people see
    "answer": "answer",
    "texts": "passages",
    "passages": "passages",
    "reference": "references",
    "reference text": "references",
}
KNOWN = (*VALUES, f"{SCORE}METRIC")
UNLABELLED = {  # question -> why a metric has no score where nobody answered it
    "support": "nobody labelled its support",
    "relevance": "nobody labelled the relevance of its passages",
    "address": "nobody labelled whether it addresses the question",
    "refuse": "nobody labelled whether it declines",
}


@cache
def scale_of(question: str) -> ScoreScale:
    """What people can say of a metric, and what they see for it.

    Args:
        question: score: and a metric's name; an alias is read as what it stands for.

    Raises:
        UnknownName: no such metric.
        UsageError: an amount, which has no bounds, or a metric of what people cannot see.
    """
    metric = parse(question.removeprefix(SCORE))
    low, high = metric.range
    read = {READ[one] for fact in metric.needs.values() for one in INPUTS.get(fact, ()) if one in READ}
    if metric.scale == "amount" or not (isfinite(low) and isfinite(high)):
        raise UsageError(f"{question}: {metric} has no least and greatest value, so people's scores rectify nothing.")
    if read.isdisjoint(("answer", "passages")):
        raise UsageError(f"{question}: {metric} reads neither answer nor passages, and people see nothing else.")
    return ScoreScale(f"{SCORE}{metric}", low, high, metric.scale == "rate", tuple(sorted({*read, "query"})))


def question_named(question: str) -> str:
    """A label's question as it is stored.

    Raises:
        UnknownName: no such question or metric.
    """
    if question.startswith(SCORE):
        return scale_of(question).question
    if question not in VALUES:
        raise UnknownName("question of labels", question, KNOWN)
    return question


def instructions_of(question: str) -> str:
    """Our instructions for a question."""
    if not question.startswith(SCORE):
        return GUIDELINES[question]
    metric = parse(question.removeprefix(SCORE))
    return f"{metric}: {describe(metric)[0]} Say what you find, whatever the wording. Do not look anything up."


def choices_of(question: str) -> list[tuple[str, str]]:
    """(value, words) of what can be said of it, in the order of the page's keys.

    >>> choices_of("score:answer_contains")
    [('1', 'yes'), ('0', 'no')]
    >>> [value for value, _ in choices_of("score:faithfulness")]
    ['0', '0.25', '0.5', '0.75', '1']
    """
    if not question.startswith(SCORE):
        return list(VALUES[question].items())
    scale = scale_of(question)
    if scale.rate:
        return [("1", "yes"), ("0", "no")]
    words = ("not at all", "a little", "half", "mostly", "wholly")
    steps = len(words) - 1
    return [(f"{scale.low + (scale.high - scale.low) * n / steps:g}", word) for n, word in enumerate(words)]


def seen_by(question: str) -> tuple[str, ...]:
    """What people see for a question: answer, passages, query, references."""
    return scale_of(question).seen if question.startswith(SCORE) else SEEN[question]


def of_whole(question: str) -> bool:
    """Whether a question is about an answer as a whole, whoever asks."""
    return question in WHOLE or question.startswith(SCORE)


def key_of(question: str, item: Loaded) -> str | None:
    """The key of what a label's question sees of a response; None where part of that is not recorded."""
    seen, response = seen_by(question), item.response
    answered = response.answer is not None and response.answer != REDACTED
    if response.error is not None or ("answer" in seen and not answered):
        return None
    if ("passages" in seen and not response.texts_recorded) or ("references" in seen and not item.example.references):
        return None
    passages, references = _beside(seen, item)
    return label_key(
        question,
        item.example.query,
        passages,
        response.answer or "",
        references=references,
        seen=seen,
        history=seen_turns(item.example.history),
    )


def task_of(question: str, item: Loaded, *, whole: bool) -> LabelTask:
    """What people see of a response; its sentences, its passages, or the whole of its answer are labelled.

    Args:
        question: a label's.
        item: the response with its example.
        whole: label the answer as a whole, where the question can be asked of sentences.
    """
    passages, references = _beside(seen_by(question), item)
    answer = item.response.answer or ""
    parts: tuple[Part, ...] = (None,)
    if question == "relevance":
        parts = tuple(range(1, len(passages) + 1))
    elif not whole and not of_whole(question):
        parts = tuple((one.start, one.end) for one in split(blank_markup(answer))) or (None,)
    turns = tuple(f"{turn.role}: {turn.text}" for turn in seen_turns(item.example.history))
    return LabelTask(key_of(question, item) or "", item.example.query, passages, answer, parts, references, turns)


def _beside(seen: tuple[str, ...], item: Loaded) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The passages' texts and the accepted answers, where a question sees them."""
    texts = tuple(one.text or "" for one in item.response.passages or ())
    return texts if "passages" in seen else (), item.example.references if "references" in seen else ()


def said(judge: Judge | None, metric: Metric, item: Loaded) -> Measured | None:
    """What people say of a metric's score themselves, or that nobody labelled what tells of it.

    Several people's scores are averaged; of a rate most decide, and a tie is failed. None where the metric is computed,
    as it is from the evidence of every judge.
    """
    name = str(metric)
    if not isinstance(judge, PeopleJudge) or not judge.tells(name):
        return None
    if judge.scores(name) and (labels := judge.labels(key_of(SCORE + name, item) or "")):
        return _scored(metric, labels)
    if name in TOLD and (labels := judge.labels(key_of(TOLD[name], item) or "")):
        lost = name in BY_KIND and unclear(labels)
        return Measured.failed(f"people say {WHICH_NOT_SAID}", metric.range) if lost else None
    return Measured("not_applicable", reason=UNLABELLED.get(TOLD.get(name, ""), f"nobody gave it a score of {name}"))


def _scored(metric: Metric, labels: Sequence[Label]) -> Measured:
    found = votes(labels).get(None, [])
    if metric.scale == "rate":
        found = [one] if (one := decided(found)) else []
    if not found:
        return Measured.failed(SPLIT, metric.range)
    return Measured.of(sum(map(float, found)) / len(found))
