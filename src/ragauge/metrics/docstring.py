"""A metric's docstring in its parts: what help, reports and the documentation page show.

The order in a docstring: a sentence; the formula; its symbols, two spaces before their meaning; then statements, each
from the start of a line: parameters (`by=reference counts …`), notes, undefined cases, the source; an example last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from inspect import cleandoc

from ragauge.metrics.base import Metric, format_parameter

SYMBOL = re.compile(r"^(\S(?:\S| (?! ))*) {2,}(\S.*)$")
LINE = re.compile(r"^(?P<name>[a-z0-9_]+)(?P<parameters>(?::[a-z_]+=[^\s:@]+)*)(?:@\w+)?(?:, \S+)*\s+=\s")
CASE = re.compile(r"\bundefined\b|\bnot applicable\b|^0 (when|where)\b", re.IGNORECASE)
BEGINS = re.compile(r"Source:|Undefined\b|Not applicable\b|Never undefined\b|0 (when|where)\b|[a-z_]+=\S")


@dataclass(frozen=True, slots=True)
class DocstringParts:
    """What a metric's docstring says."""

    sentence: str  #: what is measured.
    formula: str  #: one line or more; a line may be for one value of a parameter.
    symbols: tuple[tuple[str, str], ...]  #: (symbol, meaning) of the formula.
    parameters: tuple[str, ...]  #: statements that begin with parameter=value.
    notes: tuple[str, ...]  #: other statements.
    cases: str  #: when it is undefined, not applicable or 0.
    source: str  #: where the definition is from.
    example: str  #: the executed example.


def parse_docstring(cls: type[Metric]) -> DocstringParts:
    """The parts of a metric's docstring; a part that it lacks is empty."""
    text, arrow, example = cleandoc(cls.__doc__ or "").partition("\n>>>")
    sentence, formula, remaining = (*text.split("\n\n", 2), "", "")[:3]
    symbols: list[tuple[str, str]] = []
    statements = [""]
    for line in remaining.splitlines():
        symbol = SYMBOL.match(line)
        if symbol and not statements[-1]:
            symbols.append((symbol[1], symbol[2]))
        elif line.startswith("  ") and symbols and not statements[-1]:
            symbols[-1] = (symbols[-1][0], f"{symbols[-1][1]} {line.strip()}")
        elif not line.strip() or (statements[-1].endswith(".") and _is_statement_start(line, statements[-1])):
            statements.append(line.strip())
        else:
            statements[-1] = f"{statements[-1]} {line.strip()}".strip()
    lines = [statement for statement in statements if statement]
    source = next((line.removeprefix("Source:").strip() for line in lines if line.startswith("Source:")), "")
    other = [line for line in lines if not line.startswith("Source:") and not _is_parameter(line)]
    return DocstringParts(
        sentence=" ".join(sentence.split()),
        formula=formula.rstrip(),
        symbols=tuple(symbols),
        parameters=tuple(line for line in lines if _is_parameter(line)),
        notes=tuple(line for line in other if not CASE.search(line)),
        cases=" ".join(line for line in other if CASE.search(line)),
        source=source,
        example=f"{arrow.strip()}{example}".strip(),
    )


def describe_from_docstring(metric: Metric) -> tuple[str, str, str]:
    """Sentence, formula and source, as they hold for the metric's parameters."""
    sections = parse_docstring(type(metric))
    values = {param_field.name: format_parameter(getattr(metric, param_field.name)) for param_field in fields(metric)}
    changed = [
        f"{param_field.name}={values[param_field.name]} "
        for param_field in fields(metric)
        if getattr(metric, param_field.name) != param_field.default
    ]
    stated = [
        parameter
        for parameter in sections.parameters
        if parameter.startswith(tuple(changed)) and "is required" not in parameter
    ]
    return " ".join([sections.sentence, *stated]), _select_formula(sections.formula, values), sections.source


def _select_formula(formula: str, values: dict[str, str]) -> str:
    """The lines that are about these parameters: those that name most of them, else all."""
    groups: list[tuple[int, list[str]]] = []
    for line in formula.splitlines():
        begins = LINE.match(line)
        if begins:
            named_values = dict(assignment.split("=") for assignment in begins["parameters"].split(":")[1:])
            fits = all(values.get(key) == value for key, value in named_values.items())
            groups.append((len(named_values) if fits else -1, [line]))
        elif groups:
            groups[-1][1].append(line)
        else:
            return formula
    best_fit = max((fit for fit, _ in groups), default=-1)
    return "\n".join(line for fit, lines in groups if fit == best_fit for line in lines) if best_fit >= 0 else formula


def _is_statement_start(line: str, previous: str) -> bool:
    """Whether a line that follows a full stop begins a statement of its own."""
    return bool(BEGINS.match(line)) or (_is_parameter(previous) and line[:1].isupper())


def _is_parameter(statement: str) -> bool:
    return bool(re.match(r"[a-z_]+=\S", statement))
