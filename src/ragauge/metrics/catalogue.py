"""Every metric there is, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ragauge.errors import UnknownName
from ragauge.metrics import answer, context, retrieval
from ragauge.metrics.base import Metric
from ragauge.metrics.facts import question_of
from ragauge.metrics.naming import read
from ragauge.metrics.presets import PRESETS

FAMILIES: Mapping[str, Sequence[type[Metric]]] = {
    "retrieval": retrieval.METRICS,
    "context": context.METRICS,
    "answer": answer.METRICS,
}


@cache
def classes() -> dict[str, type[Metric]]:
    """Name -> class, of every family, in order."""
    return {cls.name(): cls for family in FAMILIES.values() for cls in family}


@cache
def aliases() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Other name -> (name, parameters)."""
    return {alias: (cls.name(), given) for cls in classes().values() for alias, given in cls.aliases.items()}


@cache
def parse(name: str) -> Metric:
    """The metric that a printed name or an alias stands for.

    Raises:
        UnknownName: no such metric or parameter; the nearest names are in the text.
        UsageError: a value that the parameter does not take.

    >>> parse("groundedness") == parse("faithfulness")
    True
    >>> str(parse("context_utilization"))
    'context_precision:by=answer:ranked=true'
    """
    return read(name, classes(), aliases())


def select(names: Sequence[str]) -> list[Metric]:
    """Metrics of names and presets, in order, each once.

    >>> [str(metric) for metric in select(["triad", "faithfulness"])]
    ['context_precision', 'faithfulness', 'answer_relevance']
    """
    chosen: dict[Metric, None] = {}
    for name in names:
        if name in PRESETS:
            chosen.update(dict.fromkeys(parse(part) for part in PRESETS[name]))
            continue
        try:
            chosen[parse(name)] = None
        except UnknownName as error:
            if error.name == name:
                raise UnknownName("metric or preset", name, [*classes(), *aliases(), *PRESETS]) from None
            raise
    return list(chosen)


def questions(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The questions that have to be asked for these metrics, in the order of asking."""
    asked = {question_of(fact) for metric in metrics for fact in metric.needs.values()}
    if "agree" in asked:
        asked.add("verify_answer")
    return tuple(question for question in QUESTIONS if question in asked)


QUESTIONS = (
    "verify_answer",
    "verify_reference",
    "rate_passages",
    "rate_sentences",
    "agree",            # on the claims of verify_answer
    "cover_aspects",
    "cover_criteria",
    "guess_questions",
)
