"""The symbols of formulas with their values, by the fact that they come from.

A metric says which facts it needs; its docstring says which symbols its formula has. The first of its facts that
knows a symbol gives the value, so that a new metric over known facts is explained without a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields

from ragauge.diagnosis.explain.causes import ExampleCase, format_list, format_number
from ragauge.diagnosis.explain.fact_symbols import (
    FORMATTERS_BY_FACT,
    FUNCTION,
    SYMBOLS_OF_ALL_FACTS,
    _build_scalar_formatter,
)
from ragauge.metrics.base import Metric, format_parameter
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.metrics.docstring import parse_docstring
from ragauge.metrics.facts import Absent
from ragauge.scores.results.explanation import Symbol

PARAMETER = "parameter"  # what stands for the meaning of a parameter
# facts that a value may turn on although the formula has no symbol for them
SYMBOLS_OUTSIDE_FORMULA: Mapping[str, tuple[str, str]] = {
    "verify_answer.addressed": ("address", "how fully the answer addresses the question"),
    "verify_answer.refuse": ("refuse", "the answer declines to answer"),
    "set.answerable": ("answerable", "the example's labels say that the corpus contains the answer"),
}


def list_symbols(metric: Metric, case: ExampleCase) -> tuple[Symbol, ...]:
    """The symbols of a metric's formula with their values on this example, and its parameters."""
    _, formula, _ = get_definition(metric)
    formula_symbols = [
        Symbol(name, meaning, _format_value(name, metric, case))
        for name, meaning in parse_docstring(type(metric)).symbols
        if any(_is_in_formula(symbol, formula) for symbol in (name, *name.split(", "))) or _is_parameter(name, metric)
    ]
    formula_names = {symbol.name for symbol in formula_symbols}
    parameters = [
        Symbol(field.name, PARAMETER, format_parameter(getattr(metric, field.name)))
        for field in fields(metric)
        if getattr(metric, field.name) is not None and field.name not in formula_names
    ]
    other_symbols = [
        Symbol(
            name,
            meaning,
            (_format_address if fact == "verify_answer.addressed" else _build_scalar_formatter(fact))(case, metric),
        )
        for fact, (name, meaning) in SYMBOLS_OUTSIDE_FORMULA.items()
        if fact in metric.needs.values() and name not in formula_names and case.has_fact(fact)
    ]
    return (*parameters, *formula_symbols, *other_symbols)


def _is_in_formula(name: str, formula: str) -> bool:
    """Whether a symbol is one of this form of the metric: parameters choose among several formulas."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![A-Za-z_])", formula) is not None


def list_covered_symbols(metric: Metric) -> Iterator[tuple[str, bool]]:
    """Each symbol of a metric's docstring, and whether something here knows its value."""
    for name, _ in parse_docstring(type(metric)).symbols:
        yield (
            name,
            any(name in FORMATTERS_BY_FACT.get(fact, {}) for fact in metric.needs.values())
            or _is_parameter(name, metric),
        )


def _format_value(name: str, metric: Metric, case: ExampleCase) -> str:
    for fact in metric.needs.values():
        format_symbol = FORMATTERS_BY_FACT.get(fact, {}).get(name)
        if format_symbol is not None:
            missing = next((case.read_fact(need) for need in metric.needs.values() if not case.has_fact(need)), None)
            if not case.has_fact(fact) or (missing is not None and (fact, name) in SYMBOLS_OF_ALL_FACTS):
                reason = case.read_fact(fact) if not case.has_fact(fact) else missing
                return f"unknown: {reason.reason}" if isinstance(reason, Absent) else "unknown"
            return format_symbol(case, metric)
    return format_parameter(getattr(metric, name)) if _is_parameter(name, metric) else FUNCTION


def _is_parameter(name: str, metric: Metric) -> bool:
    return any(field.name == name for field in fields(metric))


# ---- claims of the answer ----


# ---- passages ----


# ---- reference ----


# ---- citations ----


# ---- words of the answer ----


def _format_address(case: ExampleCase, _: Metric) -> str:
    fully, partly, no = case.read_fact("verify_answer.addressed")
    levels = {"fully": fully, "partly": partly, "no": no}
    certain = next((name for name, p in levels.items() if p == 1), "")
    return certain or format_list(f"{name} {format_number(p)}" for name, p in levels.items())
