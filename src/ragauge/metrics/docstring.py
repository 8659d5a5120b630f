"""A metric's docstring in its parts: what help, reports and the documentation page show.

The order in a docstring: a sentence; the formula; its symbols, two spaces before their meaning; then statements, each
from the start of a line: parameters (`by=reference counts …`), notes, undefined cases, the source; an example last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from inspect import cleandoc

from ragauge.metrics.base import Metric, shown

SYMBOL = re.compile(r"^(\S(?:\S| (?! ))*) {2,}(\S.*)$")
LINE = re.compile(r"^(?P<name>[a-z0-9_]+)(?P<parameters>(?::[a-z_]+=[^\s:@]+)*)(?:@\w+)?(?:, \S+)*\s+=\s")
CASE = re.compile(r"\bundefined\b|\bnot applicable\b|^0 (when|where)\b", re.IGNORECASE)
BEGINS = re.compile(r"Source:|Undefined\b|Not applicable\b|Never undefined\b|0 (when|where)\b|[a-z_]+=\S")


@dataclass(frozen=True, slots=True)
class DocstringParts:
    """What a metric's docstring says.

    Attributes:
        sentence: what is measured.
        formula: one line or more; a line may be for one value of a parameter.
        symbols: (symbol, meaning) of the formula.
        parameters: statements that begin with parameter=value.
        notes: other statements.
        cases: when it is undefined, not applicable or 0.
        source: where the definition is from.
        example: the executed example.
    """

    sentence: str
    formula: str
    symbols: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...]
    notes: tuple[str, ...]
    cases: str
    source: str
    example: str


def parts(cls: type[Metric]) -> DocstringParts:
    """The parts of a metric's docstring; a part that it lacks is empty."""
    text, arrow, example = cleandoc(cls.__doc__ or "").partition("\n>>>")
    sentence, formula, rest = (*text.split("\n\n", 2), "", "")[:3]
    symbols: list[tuple[str, str]] = []
    statements = [""]
    for line in rest.splitlines():
        symbol = SYMBOL.match(line)
        if symbol and not statements[-1]:
            symbols.append((symbol[1], symbol[2]))
        elif line.startswith("  ") and symbols and not statements[-1]:
            symbols[-1] = (symbols[-1][0], f"{symbols[-1][1]} {line.strip()}")
        elif not line.strip() or (statements[-1].endswith(".") and _begins(line, statements[-1])):
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


def described(metric: Metric) -> tuple[str, str, str]:
    """Sentence, formula and source, as they hold for the metric's parameters."""
    sections = parts(type(metric))
    given = {part.name: shown(getattr(metric, part.name)) for part in fields(metric)}
    changed = [
        f"{part.name}={given[part.name]} " for part in fields(metric) if getattr(metric, part.name) != part.default
    ]
    stated = [
        parameter
        for parameter in sections.parameters
        if parameter.startswith(tuple(changed)) and "is required" not in parameter
    ]
    return " ".join([sections.sentence, *stated]), _formula(sections.formula, given), sections.source


def _formula(formula: str, given: dict[str, str]) -> str:
    """The lines that are about these parameters: those that name most of them, else all."""
    groups: list[tuple[int, list[str]]] = []
    for line in formula.splitlines():
        begins = LINE.match(line)
        if begins:
            named = dict(part.split("=") for part in begins["parameters"].split(":")[1:])
            fits = all(given.get(key) == value for key, value in named.items())
            groups.append((len(named) if fits else -1, [line]))
        elif groups:
            groups[-1][1].append(line)
        else:
            return formula
    most = max((fit for fit, _ in groups), default=-1)
    return "\n".join(line for fit, lines in groups if fit == most for line in lines) if most >= 0 else formula


def _begins(line: str, before: str) -> bool:
    """Whether a line that follows a full stop begins a statement of its own."""
    return bool(BEGINS.match(line)) or (_is_parameter(before) and line[:1].isupper())


def _is_parameter(statement: str) -> bool:
    return bool(re.match(r"[a-z_]+=\S", statement))
