"""Where a value stands in JSON: the part of JSONPath that a mapping needs, and nothing that looks like more.

    $               the whole
    $.data.answer   keys; "$." may be left out
    $['a key']      a key in quotes
    $.hits[0]       a place in a list; [-1] is the last
    $.hits[*].id    of every item of a list

Filters, slices and recursive descent are refused when the path is read.

Texts and JSON with {{placeholders}} and ${ENVIRONMENT} variables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Passage
from ragauge.systems.base import Question

STEP = re.compile(
    r"\.?(?P<key>[^.\[\]'\"()?*@\s]+)|\[(?P<place>-?\d+)\]|\[(?P<every>\*)\]"
    r"|\[(?P<quote>['\"])(?P<named>.*?)(?P=quote)\]"
)
Step = str | int | None  # a key, a place, or None for every item


class NoValue(LookupError):  # noqa: N818 - what was found
    """There is nothing at a path; the text says how far it leads and what stands there."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path that was read."""

    text: str  #: as written.
    steps: tuple[Step, ...]  #: keys, places, and None for every item.

    @staticmethod
    def parse(text: Any, where: str) -> JsonPath:
        """The path of a text.

        Raises:
            UsageError: not of the supported part of JSONPath.
        """
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{where}: expected a path such as $.data.answer, got {text!r}.")
        remaining = text.strip().removeprefix("$")
        steps: list[Step] = []
        while remaining:
            match = STEP.match(remaining)
            if match is None:
                raise UsageError(
                    f"{where}: {text!r} is not a supported path, at {remaining[:20]!r}. Supported are keys, "
                    "['a key'], [0], [-1] and [*], such as $.hits[*].text."
                )
            if match["place"] is not None:
                steps.append(int(match["place"]))
            else:
                steps.append(None if match["every"] else match["named"] if match["quote"] else match["key"])
            remaining = remaining[match.end() :]
        return JsonPath(text, tuple(steps))

    def of(self, value: Any) -> Any:
        """What stands at the path; a list where it holds [*].

        Raises:
            NoValue: nothing stands there.

        >>> JsonPath.parse("$.hits[*].id", "").of({"hits": [{"id": 1}, {"id": 2}]})
        [1, 2]
        """
        return _walk_steps(value, self.steps, self.text)

    def find_value(self, value: Any) -> Any:
        """What stands at the path; None where nothing does."""
        try:
            return self.of(value)
        except NoValue:
            return None


def _walk_steps(value: Any, steps: Sequence[Step], text: str) -> Any:
    for n, step in enumerate(steps):
        if step is None:
            if not isinstance(value, list):
                raise NoValue(f"no list at {text} (found {_describe_value(value)})")
            return [_walk_steps(item, steps[n + 1 :], text) for item in value]
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                raise NoValue(f"no item [{step}] at {text} (found {_describe_value(value)})")
            value = value[step]
        else:
            if not isinstance(value, Mapping) or step not in value:
                raise NoValue(f"no {step!r} at {text} (found {_describe_value(value)})")
            value = value[step]
    return value


def _describe_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, list(value)[:10])) or 'nothing'}"
    return f"a list of {len(value)}" if isinstance(value, list) else f"{type(value).__name__}"


PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
QUESTION_PLACEHOLDERS = ("query", "query_id", "repeat", "history")
PASSAGE_PLACEHOLDERS = ("passages", "texts")
LIST_PLACEHOLDERS = ("history", "passages")  # lists of objects: a placeholder for them stands alone in its text


def check_placeholders(template: Any, valid_names: Collection[str], where: str) -> None:
    """Refuses a placeholder that nothing fills.

    Raises:
        UnknownName: the placeholder, with the nearest.
        UsageError: a list inside a longer text.
    """
    if isinstance(template, Mapping):
        for key, value in template.items():
            check_placeholders(value, valid_names, f"{where}.{key}")
    elif isinstance(template, list | tuple):
        for n, value in enumerate(template):
            check_placeholders(value, valid_names, f"{where}[{n}]")
    elif isinstance(template, str):
        for match in PLACEHOLDER.finditer(template):
            if match[1] not in valid_names:
                raise UnknownName(f"placeholder in {where}", match[1], valid_names, "Write {{query}}.")
            if match[1] in LIST_PLACEHOLDERS and match[0] != template.strip():
                raise UsageError(
                    f"{where}: {{{{{match[1]}}}}} is a list and must be the whole value, got {template!r}."
                )


def has_placeholder(template: Any, names: Collection[str]) -> bool:
    """Whether one of these placeholders stands in the template."""
    if isinstance(template, Mapping):
        return any(has_placeholder(value, names) for value in template.values())
    if isinstance(template, list | tuple):
        return any(has_placeholder(value, names) for value in template)
    return isinstance(template, str) and any(match[1] in names for match in PLACEHOLDER.finditer(template))


def build_values(question: Question, passages: Sequence[Passage] | None) -> dict[str, Any]:
    """Placeholder -> what fills it."""
    texts = [passage.text or "" for passage in passages or ()]
    return {
        "query": question.query,
        "query_id": question.query_id,
        "repeat": question.repeat,
        "history": [{"role": turn.role, "content": turn.text} for turn in question.history],
        "passages": [
            {"doc_id": handed.doc_id, "passage_id": handed.passage_id, "text": handed.text or "", "score": handed.score}
            for handed in passages or ()
        ],
        "texts": texts,
    }


def fill_template(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with values in the places: alone in a text the value as it is, within one as text.

    >>> fill_template({"q": "{{query}}", "n": "{{repeat}}", "p": "Answer: {{query}}"}, {"query": "Why?", "repeat": 0})
    {'q': 'Why?', 'n': 0, 'p': 'Answer: Why?'}
    """
    if isinstance(template, Mapping):
        return {key: fill_template(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(value, values) for value in template]
    if not isinstance(template, str):
        return template
    alone = PLACEHOLDER.fullmatch(template.strip())
    if alone is not None:
        return values[alone[1]]
    return PLACEHOLDER.sub(lambda match: _format_value(values[match[1]]), template)


def fill_url(template: str, values: Mapping[str, Any]) -> str:
    """The same of a URL, values percent-encoded."""
    return PLACEHOLDER.sub(lambda match: quote(_format_value(values[match[1]]), safe=""), template)


def expand_environment(template: Any, where: str) -> tuple[Any, list[str]]:
    """The template with every ${NAME} read from the environment, and the values that came from there.

    Raises:
        UsageError: such a variable is not set.
    """
    values: list[str] = []

    def expand(value: Any, where: str) -> Any:
        if isinstance(value, Mapping):
            return {key: expand(item, f"{where}.{key}" if where else str(key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [expand(item, f"{where}[{n}]") for n, item in enumerate(value)]
        return VARIABLE.sub(lambda match: read_variable(match[1], where), value) if isinstance(value, str) else value

    def read_variable(name: str, where: str) -> str:
        value = os.environ.get(name, "")
        if not value:
            raise UsageError(f"{where} needs the environment variable {name}, which is not set.")
        values.append(value)
        return value

    return expand(template, where), values


def _format_value(value: Any) -> str:
    return "\n\n".join(map(str, value)) if isinstance(value, list) else str(value)
