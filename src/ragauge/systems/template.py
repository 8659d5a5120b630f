"""Texts and JSON with {{placeholders}} and ${ENVIRONMENT} variables."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ragauge.data.response import Passage
from ragauge.errors import UnknownName, UsageError
from ragauge.systems.base import Question

PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
ASKED = ("query", "query_id", "repeat", "history")
HANDED = ("passages", "texts")
WHOLE = ("history", "passages")     # lists of objects: a placeholder for them stands alone in its text


def check(template: Any, known: Collection[str], where: str) -> None:
    """Refuses a placeholder that nothing fills.

    Raises:
        UnknownName: the placeholder, with the nearest.
        UsageError: a list inside a longer text.
    """
    if isinstance(template, Mapping):
        for key, value in template.items():
            check(value, known, f"{where}.{key}")
    elif isinstance(template, list | tuple):
        for n, value in enumerate(template):
            check(value, known, f"{where}[{n}]")
    elif isinstance(template, str):
        for found in PLACEHOLDER.finditer(template):
            if found[1] not in known:
                raise UnknownName(f"placeholder in {where}", found[1], known, "Write {{query}}.")
            if found[1] in WHOLE and found[0] != template.strip():
                raise UsageError(f"{where}: {{{{{found[1]}}}}} is a list and must stand alone, got {template!r}.")


def holds(template: Any, names: Collection[str]) -> bool:
    """Whether one of these placeholders stands in the template."""
    if isinstance(template, Mapping):
        return any(holds(value, names) for value in template.values())
    if isinstance(template, list | tuple):
        return any(holds(value, names) for value in template)
    return isinstance(template, str) and any(found[1] in names for found in PLACEHOLDER.finditer(template))


def values_of(question: Question, passages: Sequence[Passage] | None) -> dict[str, Any]:
    """Placeholder -> what fills it."""
    texts = [passage.text or "" for passage in passages or ()]
    return {
        "query": question.query,
        "query_id": question.query_id,
        "repeat": question.repeat,
        "history": [{"role": turn.role, "content": turn.text} for turn in question.history],
        "passages": [
            {"doc_id": one.doc_id, "passage_id": one.passage_id, "text": one.text or "", "score": one.score}
            for one in passages or ()
        ],
        "texts": texts,
    }


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with values in the places: alone in a text the value as it is, within one as text.

    >>> filled({"q": "{{query}}", "n": "{{repeat}}", "p": "Answer: {{query}}"}, {"query": "Why?", "repeat": 0})
    {'q': 'Why?', 'n': 0, 'p': 'Answer: Why?'}
    """
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    alone = PLACEHOLDER.fullmatch(template.strip())
    if alone is not None:
        return values[alone[1]]
    return PLACEHOLDER.sub(lambda found: _words(values[found[1]]), template)


def filled_url(template: str, values: Mapping[str, Any]) -> str:
    """The same of a URL, values percent-encoded."""
    return PLACEHOLDER.sub(lambda found: quote(_words(values[found[1]]), safe=""), template)


def with_environment(template: Any, where: str) -> tuple[Any, list[str]]:
    """The template with every ${NAME} read from the environment, and the values that came from there.

    Raises:
        UsageError: such a variable is not set.
    """
    values: list[str] = []

    def read(value: Any, where: str) -> Any:
        if isinstance(value, Mapping):
            return {key: read(item, f"{where}.{key}" if where else str(key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [read(item, f"{where}[{n}]") for n, item in enumerate(value)]
        return VARIABLE.sub(lambda found: _variable(found[1], where), value) if isinstance(value, str) else value

    def _variable(name: str, where: str) -> str:
        found = os.environ.get(name, "")
        if not found:
            raise UsageError(f"{where} needs the environment variable {name}, which is not set.")
        values.append(found)
        return found

    return read(template, where), values


def _words(value: Any) -> str:
    return "\n\n".join(map(str, value)) if isinstance(value, list) else str(value)
