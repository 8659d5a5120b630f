"""What labels' questions see, for every question and every metric that people can score."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.building import example, response

from ragauge.core.errors import RagaugeError, UnknownName, UsageError
from ragauge.core.example import Turn
from ragauge.core.label import SCORE_PREFIX, VALUES, Label
from ragauge.engine.label_questions import (
    build_key,
    build_label_task,
    build_scale,
    list_choices,
    list_seen_inputs,
    measure_from_labels,
    resolve_question,
)
from ragauge.judges.people import PeopleJudge
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.store.responses import StoredResponse


def item(answer: str = "It is 3 m. Really.", references: tuple[str, ...] = ("3 m",)) -> StoredResponse:
    """A response with two passages."""
    return StoredResponse(1, replace(example(), references=references), response(["d1", "d2"], answer))


def scorable() -> list[str]:
    """The question for each metric that people can score."""
    found = []
    for metric in list_samples():
        try:
            found.append(build_scale(f"{SCORE_PREFIX}{metric}").question)
        except UsageError:
            continue
    return found


SCORES = scorable()


@pytest.mark.parametrize("question", [*VALUES, *SCORES])
def test_the_key_is_of_what_is_seen(question: str) -> None:
    """The key changes with what people see and with nothing else, and the page shows just that."""
    here, seen = item(), list_seen_inputs(question)
    changed = {
        "answer": item("It is 4 m. Really."),
        "references": item(references=("4 m",)),
        "passages": replace(here, response=response(["d1", "d2", "d3"], here.response.answer)),
        "query": replace(here, example=replace(here.example, query="Another?")),
    }
    assert build_key(question, here) is not None
    for name, other in changed.items():
        assert (build_key(question, other) != build_key(question, here)) == (name in seen), name
    task = build_label_task(question, here, is_whole=False)
    assert (bool(task.passages), bool(task.references)) == ("passages" in seen, "references" in seen)
    assert task.key == build_key(question, here)


def test_who_labels_sees_the_earlier_turns() -> None:
    """A task of a conversation shows its earlier turns with who spoke, and its key is of them too."""
    alone = item()
    turns = (Turn("system", "Be kind."), Turn("user", "Which tower?"))
    talked = replace(alone, example=replace(alone.example, history=turns))
    shown, lone = (build_label_task("support", one, is_whole=False) for one in (talked, alone))
    assert shown is not None
    assert lone is not None
    assert (shown.history, lone.history) == (("user: Which tower?",), ())
    assert shown.key != lone.key == build_key("support", alone)


@pytest.mark.parametrize("question", SCORES)
def test_choices_are_scores_of_the_metric(question: str) -> None:
    """What the page offers lies within the metric's range and reaches both ends."""
    values = [float(value) for value, _ in list_choices(question)]
    scale = build_scale(question)
    assert (min(values), max(values)) == (scale.low, scale.high)
    assert len(values) == (2 if scale.rate else 5)


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("score:latency", "no minimum and maximum"),
        ("score:tokens", "no minimum and maximum"),
        ("score:faithfullness", "faithfulness"),
        ("suport", "support"),
    ],
)
def test_what_cannot_be_asked_is_named(question: str, wrong: str) -> None:
    """Amounts, metrics and questions that are not known are refused with what is."""
    with pytest.raises(RagaugeError, match=wrong):
        resolve_question(question)
    assert resolve_question("score:groundedness") == "score:faithfulness"  # an alias is one question with its metric


def test_what_is_not_recorded_has_no_key() -> None:
    """Without the answer, the passages or an accepted answer a question that sees it has no key; others have."""
    bare = replace(item(), response=replace(item().response, passages=None))
    assert build_key("support", bare) is None
    assert build_key("address", bare) is not None
    assert build_key("score:answer_contains", item(references=())) is None
    unanswered = replace(item(), response=replace(item().response, answer=None))
    assert build_key("refuse", unanswered) is None
    assert build_key("relevance", unanswered) is not None


def judge_of(question: str, *values: str) -> PeopleJudge:
    """What several people said of the response."""
    key = build_key(question, item()) or ""
    return PeopleJudge([Label(key, None, question, value, f"a{n}") for n, value in enumerate(values)], "", "0" * 8)


def test_peoples_scores_count_as_they_are() -> None:
    """Scores are averaged; of a rate most decide and a tie is failed; what nobody scored is not applicable."""
    mean = measure_from_labels(judge_of("score:token_f1", "1", "0.5"), parse_metric("token_f1"), item())
    most = measure_from_labels(
        judge_of("score:answer_contains", "1", "1", "0"), parse_metric("answer_contains"), item()
    )
    tie = measure_from_labels(judge_of("score:answer_contains", "1", "0"), parse_metric("answer_contains"), item())
    other = measure_from_labels(judge_of("score:answer_contains", "1"), parse_metric("answer_contains"), item("No."))
    assert [one and (one.status, one.value) for one in (mean, most, tie, other)] == [
        ("scored", 0.75),
        ("scored", 1.0),
        ("failed", None),
        ("not_applicable", None),
    ]
    assert other is not None
    assert other.reason == "no labels with a score of answer_contains"


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("support", "faithfulness"),
        ("relevance", "context_precision"),
        ("address", "answer_relevance"),
        ("refuse", "refusal_correctness"),
    ],
)
def test_all_labels_missing_is_not_applicable(question: str, metric: str) -> None:
    """An answer without a label of a question has no score of its metrics, for a reason; with one it is computed."""
    judge = judge_of(question, next(iter(VALUES[question])))
    assert measure_from_labels(judge, parse_metric(metric), item()) is None
    other = StoredResponse(2, example(), response(["d7"], "Another."))
    found = measure_from_labels(judge, parse_metric(metric), other)
    assert found is not None
    assert (found.status, found.reason[:7]) == ("not_applicable", "no labe")
    assert measure_from_labels(None, parse_metric(metric), other) is None


def test_unknown_metric_of_a_score_names_the_nearest() -> None:
    """A metric that there is not is told with the nearest."""
    with pytest.raises(UnknownName):
        build_scale("score:nothing_like_it")
