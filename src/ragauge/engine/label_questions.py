"""What a label's question sees of a response, and what the labels of a metric make of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isfinite

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import select_visible_turns
from ragauge.core.label import (
    GUIDELINES,
    QUESTION_BY_METRIC,
    SCORE_PREFIX,
    UNKNOWN_KIND_NOTE,
    UNSUPPORTED_KIND_METRICS,
    VALUES,
    VISIBLE_FIELDS,
    WHOLE_ANSWER_QUESTIONS,
    Label,
    LabelTask,
    Part,
    ScoreScale,
    build_label_key,
)
from ragauge.core.response import REDACTED
from ragauge.judges.judge import Judge
from ragauge.judges.people import SPLIT, PeopleJudge, collect_votes, find_majority, is_unclear
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.metrics.facts import FACT_INPUTS
from ragauge.store.responses import StoredResponse
from ragauge.text.markup import blank_markup
from ragauge.text.sentences import split_sentences

SEEN_INPUTS = {  # what a fact rests on -> what people see
    "answer": "answer",
    "texts": "passages",
    "passages": "passages",
    "reference": "references",
    "reference text": "references",
}
VALID_QUESTIONS = (*VALUES, f"{SCORE_PREFIX}METRIC")
UNLABELED_REASONS = {  # question -> why a metric has no score where nobody answered it
    "support": "no labels for its support",
    "relevance": "no labels for the relevance of its passages",
    "address": "no labels for whether it addresses the question",
    "refuse": "no labels for whether it declines",
}


@cache
def build_scale(question: str) -> ScoreScale:
    """What people can say of a metric, and what they see for it.

    Args:
        question: score: and a metric's name; an alias is read as what it stands for.

    Raises:
        UnknownName: no such metric.
        UsageError: an amount, which has no bounds, or a metric of what people cannot see.
    """
    metric = parse_metric(question.removeprefix(SCORE_PREFIX))
    low, high = metric.range
    seen_inputs = {
        SEEN_INPUTS[input_name]
        for fact in metric.needs.values()
        for input_name in FACT_INPUTS.get(fact, ())
        if input_name in SEEN_INPUTS
    }
    if metric.scale == "amount" or not (isfinite(low) and isfinite(high)):
        raise UsageError(f"{question}: {metric} has no minimum and maximum, so human scores cannot correct it.")
    if seen_inputs.isdisjoint(("answer", "passages")):
        raise UsageError(
            f"{question}: {metric} uses neither the answer nor the passages, which are all that annotators see."
        )
    return ScoreScale(
        f"{SCORE_PREFIX}{metric}", low, high, metric.scale == "rate", tuple(sorted({*seen_inputs, "query"}))
    )


def resolve_question(question: str) -> str:
    """A label's question as it is stored.

    Raises:
        UnknownName: no such question or metric.
    """
    if question.startswith(SCORE_PREFIX):
        return build_scale(question).question
    if question not in VALUES:
        raise UnknownName("question of labels", question, VALID_QUESTIONS)
    return question


def build_instructions(question: str) -> str:
    """Our instructions for a question."""
    if not question.startswith(SCORE_PREFIX):
        return GUIDELINES[question]
    metric = parse_metric(question.removeprefix(SCORE_PREFIX))
    return f"{metric}: {get_definition(metric)[0]} Say what you find, whatever the wording. Do not look anything up."


def list_choices(question: str) -> list[tuple[str, str]]:
    """(value, words) of what can be said of it, in the order of the page's keys.

    >>> list_choices("score:answer_contains")
    [('1', 'yes'), ('0', 'no')]
    >>> [value for value, _ in list_choices("score:faithfulness")]
    ['0', '0.25', '0.5', '0.75', '1']
    """
    if not question.startswith(SCORE_PREFIX):
        return list(VALUES[question].items())
    scale = build_scale(question)
    if scale.rate:
        return [("1", "yes"), ("0", "no")]
    words = ("not at all", "a little", "half", "mostly", "wholly")
    steps = len(words) - 1
    return [(f"{scale.low + (scale.high - scale.low) * n / steps:g}", word) for n, word in enumerate(words)]


def list_seen_inputs(question: str) -> tuple[str, ...]:
    """What people see for a question: answer, passages, query, references."""
    return build_scale(question).seen if question.startswith(SCORE_PREFIX) else VISIBLE_FIELDS[question]


def is_about_whole_answer(question: str) -> bool:
    """Whether a question is about an answer as a whole, whoever asks."""
    return question in WHOLE_ANSWER_QUESTIONS or question.startswith(SCORE_PREFIX)


def build_key(question: str, item: StoredResponse) -> str | None:
    """The key of what a label's question sees of a response; None where part of that is not recorded."""
    seen_inputs, response = list_seen_inputs(question), item.response
    answered = response.answer is not None and response.answer != REDACTED
    if response.error is not None or ("answer" in seen_inputs and not answered):
        return None
    if ("passages" in seen_inputs and not response.has_passage_texts) or (
        "references" in seen_inputs and not item.example.references
    ):
        return None
    passages, references = _select_seen_texts(seen_inputs, item)
    return build_label_key(
        question,
        item.example.query,
        passages,
        response.answer or "",
        references=references,
        visible_fields=seen_inputs,
        history=select_visible_turns(item.example.history),
    )


def build_label_task(question: str, item: StoredResponse, *, is_whole: bool) -> LabelTask:
    """What people see of a response; its sentences, its passages, or the whole of its answer are labelled.

    Args:
        question: a label's.
        item: the response with its example.
        is_whole: label the answer as a whole, where the question can be asked of sentences.
    """
    passages, references = _select_seen_texts(list_seen_inputs(question), item)
    answer = item.response.answer or ""
    label_parts: tuple[Part, ...] = (None,)
    if question == "relevance":
        label_parts = tuple(range(1, len(passages) + 1))
    elif not is_whole and not is_about_whole_answer(question):
        label_parts = tuple((sentence.start, sentence.end) for sentence in split_sentences(blank_markup(answer))) or (
            None,
        )
    turns = tuple(f"{turn.role}: {turn.text}" for turn in select_visible_turns(item.example.history))
    return LabelTask(
        build_key(question, item) or "", item.example.query, passages, answer, label_parts, references, turns
    )


def _select_seen_texts(seen_inputs: tuple[str, ...], item: StoredResponse) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The passages' texts and the accepted answers, where a question sees them."""
    texts = tuple(passage.text or "" for passage in item.response.passages or ())
    return texts if "passages" in seen_inputs else (), item.example.references if "references" in seen_inputs else ()


def measure_from_labels(judge: Judge | None, metric: Metric, item: StoredResponse) -> MetricResult | None:
    """What people say of a metric's score themselves, or that nobody labelled what tells of it.

    Several people's scores are averaged; of a rate most decide, and a tie is failed. None where the metric is computed,
    as it is from the evidence of every judge.
    """
    name = str(metric)
    if not isinstance(judge, PeopleJudge) or not judge.has_metric(name):
        return None
    if judge.scores(name) and (labels := judge.labels(build_key(SCORE_PREFIX + name, item) or "")):
        return _average_votes(metric, labels)
    if name in QUESTION_BY_METRIC and (labels := judge.labels(build_key(QUESTION_BY_METRIC[name], item) or "")):
        is_ambiguous = name in UNSUPPORTED_KIND_METRICS and is_unclear(labels)
        return MetricResult.failed(f"annotators say {UNKNOWN_KIND_NOTE}", metric.range) if is_ambiguous else None
    return MetricResult(
        "not_applicable",
        reason=UNLABELED_REASONS.get(QUESTION_BY_METRIC.get(name, ""), f"no labels with a score of {name}"),
    )


def _average_votes(metric: Metric, labels: Sequence[Label]) -> MetricResult:
    votes_given = collect_votes(labels).get(None, [])
    if metric.scale == "rate":
        votes_given = [majority] if (majority := find_majority(votes_given)) else []
    if not votes_given:
        return MetricResult.failed(SPLIT, metric.range)
    return MetricResult.of(sum(map(float, votes_given)) / len(votes_given))
