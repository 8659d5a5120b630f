"""Where a value stands in JSON: the part of JSONPath that a mapping needs, and nothing that looks like more.

    $               the whole
    $.data.answer   keys; "$." may be left out
    $['a key']      a key in quotes
    $.hits[0]       a place in a list; [-1] is the last
    $.hits[*].id    of every item of a list

Filters, slices and recursive descent are refused when the path is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.errors import UsageError

STEP = re.compile(
    r"\.?(?P<key>[^.\[\]'\"()?*@\s]+)|\[(?P<place>-?\d+)\]|\[(?P<every>\*)\]"
    r"|\[(?P<quote>['\"])(?P<named>.*?)(?P=quote)\]"
)
Step = str | int | None     # a key, a place, or None for every item


class NoValue(LookupError):  # noqa: N818 - what was found
    """There is nothing at a path; the text says how far it leads and what stands there."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path that was read.

    Attributes:
        text: as written.
        steps: keys, places, and None for every item.
    """

    text: str
    steps: tuple[Step, ...]

    @staticmethod
    def parse(text: Any, where: str) -> JsonPath:
        """The path of a text.

        Raises:
            UsageError: not of the supported part of JSONPath.
        """
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{where}: expected a path such as $.data.answer, got {text!r}.")
        rest = text.strip().removeprefix("$")
        steps: list[Step] = []
        while rest:
            found = STEP.match(rest)
            if found is None:
                raise UsageError(
                    f"{where}: {text!r} is not a path that is read here, at {rest[:20]!r}. Supported are keys, "
                    "['a key'], [0], [-1] and [*], such as $.hits[*].text."
                )
            if found["place"] is not None:
                steps.append(int(found["place"]))
            else:
                steps.append(None if found["every"] else found["named"] if found["quote"] else found["key"])
            rest = rest[found.end() :]
        return JsonPath(text, tuple(steps))

    def of(self, value: Any) -> Any:
        """What stands at the path; a list where it holds [*].

        Raises:
            NoValue: nothing stands there.

        >>> JsonPath.parse("$.hits[*].id", "").of({"hits": [{"id": 1}, {"id": 2}]})
        [1, 2]
        """
        return _reached(value, self.steps, self.text)

    def find(self, value: Any) -> Any:
        """What stands at the path; None where nothing does."""
        try:
            return self.of(value)
        except NoValue:
            return None


def _reached(value: Any, steps: Sequence[Step], text: str) -> Any:
    for n, step in enumerate(steps):
        if step is None:
            if not isinstance(value, list):
                raise NoValue(f"no list at {text} (found {_seen(value)})")
            return [_reached(item, steps[n + 1 :], text) for item in value]
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                raise NoValue(f"no item [{step}] at {text} (found {_seen(value)})")
            value = value[step]
        else:
            if not isinstance(value, Mapping) or step not in value:
                raise NoValue(f"no {step!r} at {text} (found {_seen(value)})")
            value = value[step]
    return value


def _seen(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, list(value)[:10])) or 'nothing'}"
    return f"a list of {len(value)}" if isinstance(value, list) else f"{type(value).__name__}"
