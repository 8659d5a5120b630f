"""Format ok."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ragauge.metrics.base import Metric
from ragauge.text.patterns import get_pattern, matches_pattern


@dataclass(frozen=True, slots=True)
class FormatOk(Metric):
    """1 where the answer has a required form, else 0.

    format_ok = [the answer matches the pattern]

    pattern  name of a form: json, url_free, no_markdown, bullet_list, single_sentence, ends_with_punctuation,
             cites_brackets, or one named in the configuration

    Not applicable when the answer was not recorded.
    Source: instructions that a program can verify, IFEval, arXiv:2311.07911.

    >>> FormatOk("json").value('{"answer": 42}')
    1.0
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"answer": "response.answer"}
    scale: ClassVar = "rate"

    pattern: str = field(metadata={"sample": "json"})

    def check(self) -> None:
        get_pattern(self.pattern)

    def value(self, answer: str) -> float:
        return float(matches_pattern(self.pattern, answer))
