"""The formula with the numbers put in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragauge.analysis.explaining.case import ExampleCase, number
from ragauge.analysis.explaining.ranks import WORKED as OF_RANKS
from ragauge.data.score import Score
from ragauge.metrics.base import Metric
from ragauge.text.tokens import answer_tokens


def arithmetic(metric: Metric, score: Score, case: ExampleCase) -> str:
    """Such as "2 / 3 = 0.667"; of a failed score its bounds; "" where there is no value."""
    if score.status == "failed" and score.low is not None and score.high is not None:
        return f"between {number(score.low)} and {number(score.high)}, whatever the missing verdicts are"
    if score.value is None:
        return ""
    if score.numerator is not None and score.denominator is not None:
        return f"{number(score.numerator)} / {number(score.denominator)} = {number(score.value)}"
    terms = _terms(metric, case)
    return f"{terms} = {number(score.value)}" if terms else f"= {number(score.value)}"


def _terms(metric: Metric, case: ExampleCase) -> str:
    """The terms of a formula that is no plain share; "" where one of its facts is not known."""
    write = {**OF_RANKS, **WORKED}.get(metric.name())
    if write is None or not all(case.known(fact) for fact in metric.needs.values()):
        return ""
    return write(case, metric)


def _harmonic(p: str, r: str) -> Callable[[ExampleCase, Metric], str]:
    """2 P R / (P + R) of two other metrics; "" where there is no P, or R is 0."""

    def terms(case: ExampleCase, _: Metric) -> str:
        found = [case.result(name).value for name in (p, r)]
        if not all(found):
            return ""
        one, two = (number(value or 0) for value in found)
        return f"2 · {one} · {two} / ({one} + {two})"

    return terms


def _ranked(case: ExampleCase, metric: Metric) -> str:
    """Precision at each useful passage, over their number."""
    if not getattr(metric, "ranked", False):
        return ""
    marks = case.fact(metric.needs["useful"])
    if None in marks or not any(marks):
        return ""
    certain = all(v in (0.0, 1.0) for v in marks)
    terms = [
        f"{number(sum(marks[:n]))}/{n}" if certain else f"{number(v)} · {number(1 + sum(marks[: n - 1]))}/{n}"
        for n, v in enumerate(marks, 1)
        if v
    ]
    return f"({' + '.join(terms)}) / {number(sum(marks))}"


def _token_f1(case: ExampleCase, _: Metric) -> str:
    """Twice the common words over all words, of the closest reference."""
    from collections import Counter

    given = Counter(answer_tokens(case.fact("response.answer")))
    every = [Counter(answer_tokens(reference)) for reference in case.fact("set.references")]
    sizes = [((given & one).total(), given.total() + one.total()) for one in every]
    common, words = max(sizes, key=lambda pair: pair[0] / pair[1] if pair[1] else 0.0)
    return f"2 · {common} / {words}" if words else ""


def _mean(case: ExampleCase, metric: Metric) -> str:
    if getattr(metric, "method", "") != "questions":
        return ""
    cosines = case.fact("guess_questions.cosines")
    return f"({' + '.join(number(c) for c in cosines)}) / {len(cosines)}" if cosines and None not in cosines else ""


WORKED: Mapping[str, Callable[[ExampleCase, Metric], str]] = {
    "answer_correctness": _harmonic("answer_precision", "answer_recall"),
    "citation_f1": _harmonic("citation_precision", "citation_recall"),
    "context_precision": _ranked,
    "token_f1": _token_f1,
    "answer_relevance": _mean,
}
