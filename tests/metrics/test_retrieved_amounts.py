"""empty_result_rate, no_retrieval_rate and context_tokens: what came back, without labels."""

from __future__ import annotations

import pytest
from tests.building import example, passage, response

from ragauge.core.errors import UsageError
from ragauge.core.response import Passage
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric


def scored(name: str, passages: list[Passage] | None, error: str | None = None) -> MetricResult:
    return measure_metric(parse_metric(name), Facts(example(), response(passages, error=error)))


def test_empty_results() -> None:
    """Nothing returned counts as empty; passages that were not recorded do not."""
    assert scored("empty_result_rate", []).value == 1
    assert scored("empty_result_rate", [passage()]).value == 0
    assert scored("empty_result_rate", None).status == "not_applicable"


def test_text_does_not_matter_for_emptiness() -> None:
    """Passages without text are results too."""
    assert scored("empty_result_rate", [passage(text=None)]).value == 0


def test_failed_system_is_not_an_empty_result() -> None:
    """A response that failed has no value, rather than an empty retrieval."""
    assert scored("empty_result_rate", None, error="boom").status == "failed"


@pytest.mark.parametrize(("scores", "value"), [([0.2, 0.49], 1), ([0.2, 0.5], 0), ([0.9], 0), ([], 1), ([-3.0], 1)])
def test_no_passage_scores_enough(scores: list[float], value: float) -> None:
    """It counts where no score reaches min_score, an empty retrieval included; the threshold itself is enough."""
    passages = [passage(f"d{n}", score=score) for n, score in enumerate(scores)]
    assert scored("no_retrieval_rate:min_score=0.5", passages).value == value


def test_missing_score_is_not_applicable() -> None:
    """One passage without a score leaves it not_applicable."""
    result = scored("no_retrieval_rate:min_score=0.5", [passage("d1", score=0.9), passage("d2")])
    assert (result.status, result.reason) == ("not_applicable", "scores of the passages not recorded")


def test_threshold_is_required() -> None:
    """Scores of retrievers are not comparable, so there is no default."""
    with pytest.raises(UsageError, match="no_retrieval_rate needs min_score"):
        parse_metric("no_retrieval_rate")


def test_context_tokens_add_up() -> None:
    """The tokens of all passages are added; an empty retrieval has none."""
    # 6 and 7 tokens, as OpenAI's cookbook prints for cl100k_base
    assert scored("context_tokens", [passage("a", "tiktoken is great!"), passage("b", "2 + 2 = 4")]).value == 13
    assert scored("context_tokens", []).value == 0
