"""Whether a gate looks at retrieval where examples have labels for it: rules are often written before labels come."""

from __future__ import annotations

from ragauge.gating.rules import Rules
from ragauge.gating.size import LEAST, points
from ragauge.metrics.base import Metric

USUAL_METRIC = "recall@5"


def of_labels(metric: Metric) -> bool:
    """Whether a metric measures retrieval by relevance labels.

    >>> from ragauge.metrics.catalogue import parse
    >>> of_labels(parse("recall@5")), of_labels(parse("context_recall")), of_labels(parse("empty_result_rate"))
    (True, False, False)
    """
    return metric.measures == "retrieval" and any(fact.startswith("labels.") for fact in metric.needs.values())


def unused(rules: Rules, labelled: int, metric: str = USUAL_METRIC) -> str:
    """What to say where examples are labelled and no rule looks at it, with the line to add; "" where one does.

    Args:
        rules: of the gate.
        labelled: examples with relevance labels; fewer than a rule can decide on are no reason to write one.
        metric: the one to look at.
    """
    if labelled < LEAST or any(map(of_labels, rules.metrics)):
        return ""
    return (
        f"{labelled:,} examples have relevance labels, and no rule looks at retrieval by them: a system that finds "
        f"less passes. Add this line to gate.rules: - {{metric: {metric}, max_drop: {points(labelled)} points}}"
    )
