"""The symbols of formulas with their values, by the fact that they come from.

A metric says which facts it needs; its docstring says which symbols its formula has. The first of its facts that
knows a symbol gives the value, so that a new metric over known facts is explained without a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from ragauge.diagnosis.explain.causes import ExampleCase, format_indexed, format_list, format_mark, format_set
from ragauge.diagnosis.explain.causes import format_supporting as format_found_passages
from ragauge.diagnosis.explain.ranks import NEIGHBOR_SYMBOLS, RANKING_SYMBOLS, SymbolFormatter, build_span_symbols
from ragauge.metrics.answer.token_f1 import count_common_words
from ragauge.metrics.base import Metric, format_number, format_parameter
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.metrics.docstring import parse_docstring
from ragauge.metrics.facts import Absent
from ragauge.metrics.specifics import find_cited_passages, list_targets
from ragauge.scores.results.explanation import Symbol
from ragauge.text.specifics import find_specifics
from ragauge.text.tokens import count_tokens, normalize_answer, split_answer_tokens

PARAMETER = "parameter"  # what stands for the meaning of a parameter
FUNCTION = ""  # a symbol that is a function has no value of its own
DECISIONS: Mapping[Any, str] = {True: "yes", False: "no", None: "?", "yes": "yes", "no": "no", "open": "unclear"}


def list_symbols(metric: Metric, case: ExampleCase) -> tuple[Symbol, ...]:
    """The symbols of a metric's formula with their values on this example, and its parameters."""
    _, formula, _ = get_definition(metric)
    parameters = {
        field.name: format_parameter(getattr(metric, field.name))
        for field in fields(metric)
        if getattr(metric, field.name) is not None
    }
    formula_symbols = [
        Symbol(name, meaning, _format_value(name, metric, case) or parameters.get(name, FUNCTION))
        for name, meaning in parse_docstring(type(metric)).symbols
        if name in parameters or any(_is_in_formula(symbol, formula) for symbol in (name, *name.split(", ")))
    ]
    formula_names = {symbol.name for symbol in formula_symbols}
    more_parameters = (Symbol(name, PARAMETER, value) for name, value in parameters.items())
    other_symbols = (
        Symbol(name, meaning, show(case.read_fact(fact), case, metric))
        for fact, (name, meaning, show) in SYMBOLS_OUTSIDE_FORMULA.items()
        if fact in metric.needs.values() and case.has_fact(fact)
    )
    return (
        *(symbol for symbol in more_parameters if symbol.name not in formula_names),
        *formula_symbols,
        *(symbol for symbol in other_symbols if symbol.name not in formula_names),
    )


def _is_in_formula(name: str, formula: str) -> bool:
    """Whether a symbol is one of this form of the metric: parameters choose among several formulas."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![A-Za-z_])", formula) is not None


def _format_value(name: str, metric: Metric, case: ExampleCase) -> str:
    """A symbol's value by the first of the metric's facts that knows it; "" where none does."""
    fact = next((fact for fact in metric.needs.values() if name in FORMATTERS_BY_FACT.get(fact, {})), None)
    if fact is None:
        return FUNCTION
    needed = (fact, *metric.needs.values()) if name in SYMBOLS_OF_ALL_FACTS else (fact,)
    absent = next((case.read_fact(need) for need in needed if not case.has_fact(need)), None)
    if isinstance(absent, Absent):
        return f"unknown: {absent.reason}"
    return FORMATTERS_BY_FACT[fact][name](case.read_fact(fact), case, metric)


# ---- forms that several symbols share ----


def _show_each(symbol: str, show: Callable[[Any], str] = format_mark) -> SymbolFormatter:
    return lambda values, *_: format_indexed(symbol, values, show)


def _show_count(unit: str = "") -> SymbolFormatter:
    return lambda values, *_: f"{len(values)}{unit}"


def _show_numbers(name: str) -> Callable[[Any], str]:
    """The passages that a claim names under some attribute."""
    return lambda claim: "?" if claim.status == "failed" else format_set(getattr(claim, name))


def _show_amounts(amounts: Mapping[str, float], *_: object) -> str:
    return format_list(f"{name} {format_number(amount)}" for name, amount in amounts.items())


def _show_scalar(value: Any, *_: object) -> str:
    return DECISIONS[value] if isinstance(value, bool) else str(value)


def _show_met(values: Any, *_: object) -> str:
    return f"{len(values)}, met: {format_list(map(format_mark, values))}"


def _show_submetric(name: str) -> SymbolFormatter:
    """The value of another metric, with its fraction where it is one."""

    def show_value(_: object, case: ExampleCase, __: Metric) -> str:
        measured = case.compute_result(name)
        if measured.value is None:
            return f"{measured.status}: {measured.reason}"
        numbers = [measured.numerator, measured.denominator, measured.value]
        ratio = " / ".join(format_number(number) for number in numbers[:2] if number is not None)
        return " = ".join(filter(None, (ratio, format_number(measured.value))))

    return show_value


# ---- symbols of their own ----


def _show_used(marks: Any, *_: object) -> str:
    unknown = [str(n) for n, used in enumerate(marks, 1) if used is None]
    more = f", unknown for {format_list(unknown)}" if unknown else ""
    return format_set(n for n, used in enumerate(marks, 1) if used) + more


def _show_precisions(marks: Any, *_: object) -> str:
    if None in marks:
        return FUNCTION
    return format_list(f"prec@{n} = {format_number(sum(marks[:n]))}/{n}" for n, useful in enumerate(marks, 1) if useful)


def _show_entities(references: Any, *_: object) -> str:
    specifics = find_specifics(references[0], ("name", "number", "date", "percent"))
    texts_by_entity = {(specific.kind, specific.normal, specific.unit): specific.text for specific in specifics}
    return f"{len(texts_by_entity)}: {format_list(texts_by_entity.values())}"


def _show_pairs(citations: Any, case: ExampleCase, _: Metric) -> str:
    claims = case.read_fact("verify_answer.support")
    pairs = [f"({claim.n}, {target})" for claim in claims for target in list_targets(claim, citations)]
    return f"{len(pairs)}: {format_list(pairs)}"


def _show_cited(citations: Any, case: ExampleCase, _: Metric) -> str:
    passages = case.read_fact("response.passages")
    return format_indexed(
        "Z",
        case.read_fact("verify_answer.support"),
        lambda claim: format_set(find_cited_passages(claim, citations, passages)),
    )


def _show_specifics(_: object, case: ExampleCase, metric: Metric) -> str:
    texts, missing = (
        [marks[0].text for marks in group] for group in case.find_unfounded(getattr(metric, "kind", "any"))
    )
    nowhere = f"; in neither the passages nor the question: {format_list(missing)}" if missing else ""
    return f"{len(texts)}: {format_list(texts)}{nowhere}"


def _show_normal(references: Any, case: ExampleCase, _: Metric) -> str:
    normal_references = format_list(f"reference {normalize_answer(reference)!r}" for reference in references)
    return f"answer {normalize_answer(case.read_fact('response.answer'))!r}; {normal_references}"


def _show_word_counts(references: Any, case: ExampleCase, _: Metric) -> str:
    n_answer, *sizes = (len(split_answer_tokens(text)) for text in (case.read_fact("response.answer"), *references))
    plural = "s" if len(references) > 1 else ""
    return f"{n_answer} in the answer; {', '.join(map(str, sizes))} in the reference{plural}"


def _show_common(references: Any, case: ExampleCase, _: Metric) -> str:
    answer, *words = (split_answer_tokens(text) for text in (case.read_fact("response.answer"), *references))
    return format_list(f"{count_common_words(answer, of)} of {len(answer)} and {len(of)} words" for of in words)


def _show_address(levels: tuple[float, float, float], *_: object) -> str:
    """How fully the question is addressed: the certain level, or the probability of each."""
    shares = dict(zip(("fully", "partly", "no"), levels, strict=True))
    return next((level for level, p in shares.items() if p == 1), "") or _show_amounts(shares)


def _show_decisions(states: Any, case: ExampleCase, _: Metric) -> str:
    return format_indexed("B", range(1, len(states) + 1), lambda n: DECISIONS[case.seen.is_stated(n)])


def _show_passage_tokens(passages: Any, *_: object) -> str:
    return format_list(f"#t of passage {n} = {count_tokens(p.text or '')}" for n, p in enumerate(passages, 1))


AGREEMENT: Mapping[str, SymbolFormatter] = {
    "c": _show_count(),
    "R[i]": lambda _, case, __: format_indexed("R", case.read_fact("agree.answer"), lambda verdict: verdict or "?"),
}
MARKS: Mapping[str, SymbolFormatter] = {"v[j]": _show_each("v"), "n": _show_count(), "prec@j": _show_precisions}
FORMATTERS_BY_FACT: Mapping[str, Mapping[str, SymbolFormatter]] = {
    "labels.ranking": RANKING_SYMBOLS,
    "labels.chunks": RANKING_SYMBOLS,
    "labels.token_spans": build_span_symbols("token"),
    "labels.char_spans": build_span_symbols("character"),
    "labels.neighbours": NEIGHBOR_SYMBOLS,
    "verify_answer.support": {
        "c": _show_count(),
        "S[i]": _show_each("S", _show_numbers("supporting")),
        "X[i]": _show_each("X", _show_numbers("contradicting")),
        "p[i]": _show_each("p", lambda claim: format_mark(None if claim.status == "failed" else claim.chance)),
    },
    "verify_answer.used": {**MARKS, "U": _show_used},
    "verify_answer.refuse": {"refuse": _show_scalar},
    "verify_reference.claims": {
        "m": _show_count(),
        "T[h]": lambda claims, case, _: format_indexed(
            "T", claims, lambda claim: format_found_passages(claim, case.seen)
        ),
        "t[h]": _show_each("t", lambda claim: format_mark(None if claim.supporting is None else claim.chance)),
    },
    "verify_reference.useful": {
        **MARKS,
        "E": lambda marks, *_: format_set(n for n, useful in enumerate(marks, 1) if useful),
    },
    "rate_passages.relevant": {
        "q[1]": lambda marks, *_: format_mark(marks[0]) if marks else "there is no first passage"
    },
    "rate_passages.chance": MARKS,
    "rate_sentences.chance": {**MARKS, "n": _show_count(" sentences")},
    "rate_answer.chance": {"s[j]": _show_each("s"), "n": _show_count(" sentences")},
    "agree.answer": AGREEMENT,
    "agree.agrees": {**AGREEMENT, "r[i]": _show_each("r")},
    "agree.reference": {"m": _show_count(), "B[h]": _show_each("B", DECISIONS.__getitem__)},
    "agree.states": {
        "m": _show_count(),
        "B[h]": _show_decisions,
        "b[h]": _show_each("b"),
        "P": _show_submetric("answer_precision"),
        "R": _show_submetric("answer_recall"),
    },
    "cover_aspects.met": {"aspects": _show_met},
    "cover_criteria.met": {"criteria": _show_met},
    "guess_questions.cosines": {
        "g": _show_count(),
        "cos": lambda cosines, *_: format_list(format_number(cosine) for cosine in cosines if cosine is not None),
    },
    "set.answerable": {"answerable": _show_scalar},
    "set.references": {
        "E": _show_entities,
        "normal": _show_normal,
        "tokens": _show_word_counts,
        "common": _show_common,
    },
    "response.passages": {"n": _show_count()},
    "response.texts": {"t": _show_passage_tokens, "A": _show_specifics},
    "response.citations": {
        "Z[i]": _show_cited,
        "(i, z)": _show_pairs,
        "z": lambda citations, *_: f"{len(citations)}: {format_list(citation.target for citation in citations)}",
        "P": _show_submetric("citation_precision"),
        "R": _show_submetric("citation_recall"),
    },
    "response.answer": {"t": lambda answer, *_: f"{count_tokens(answer)} tokens", "A": _show_specifics},
    "response.latency_ms": {
        "stage": lambda stages, _, metric: f"{getattr(metric, 'stage', 'total')}; recorded: {_show_amounts(stages)}"
    },
    "response.tokens": {"t": _show_amounts, "of": _show_amounts},
    "response.cost": {"c": lambda cost, *_: format_number(cost)},
}
# values that are computed from more than their own fact
SYMBOLS_OF_ALL_FACTS = frozenset({"A", "normal", "tokens", "common", "Z[i]", "(i, z)"})
# facts that a value may turn on although the formula has no symbol for them
SYMBOLS_OUTSIDE_FORMULA: Mapping[str, tuple[str, str, SymbolFormatter]] = {
    "verify_answer.addressed": ("address", "how fully the answer addresses the question", _show_address),
    "verify_answer.refuse": ("refuse", "the answer declines to answer", _show_scalar),
    "set.answerable": ("answerable", "the example's labels say that the corpus contains the answer", _show_scalar),
}
