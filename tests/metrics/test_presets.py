"""Named selections of metrics."""

from __future__ import annotations

import pytest

from ragauge.core.errors import UnknownName
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import PRESETS, QUESTIONS, list_questions, parse_metric, select_metrics


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_parses(preset: str) -> None:
    """Every name of every preset is a metric, written as it prints or by an alias, and none comes twice."""
    chosen = select_metrics([preset])
    assert [parse_metric(name) for name in PRESETS[preset]] == chosen
    assert len(set(chosen)) == len(PRESETS[preset])
    assert all(isinstance(metric, Metric) for metric in chosen)


def test_presets_mix_with_names_in_order() -> None:
    """Presets and names may be mixed; each metric comes once, where it is first named."""
    assert [str(metric) for metric in select_metrics(["recall@5", "triad", "faithfulness", "groundedness", "mrr"])] == [
        "recall@5",
        "context_precision",
        "faithfulness",
        "answer_relevance",
        "mrr",
    ]


def test_unknown_selection_names_metrics_and_presets() -> None:
    """A name that is neither metric nor preset is refused with the nearest of both."""
    for name, meant in (
        ("recal@5", "recall@5, "),
        ("Recall@10", "recall@10, "),
        ("context recal", "context_recall, "),
        ("precission:unit=chunk@5", "precision:unit=chunk@5, "),
        ("hitrate@5", "hit_rate@5, hit@5"),
        ("faithfullness@5", "faithfulness, "),
    ):
        with pytest.raises(UnknownName) as told:
            select_metrics([name])
        assert f"no metric or preset {name!r}; nearest: {meant}" in str(told.value)
    with pytest.raises(UnknownName, match="no metric or preset 'traid'; nearest: triad"):
        select_metrics(["traid"])


def test_cheap_presets_ask_little() -> None:
    """The triad asks two questions of a judge, a selection of label metrics none, and agree brings verify_answer."""
    assert list_questions(select_metrics(["triad"])) == ("verify_answer", "rate_passages")
    assert list_questions(select_metrics(["recall@5", "mrr"])) == ()
    assert list_questions([parse_metric("answer_recall")]) == ("verify_answer", "agree")
    four = select_metrics(["faithfulness", "answer_relevance", "context_precision", "context_recall"])
    assert list_questions(four) == QUESTIONS[:3]
