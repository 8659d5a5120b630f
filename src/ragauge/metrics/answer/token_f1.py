"""Token F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import ComputedNumber, Metric
from ragauge.text.tokens import split_answer_tokens


@dataclass(frozen=True, slots=True)
class TokenF1(Metric):
    """Overlap of the answer's words with those of the closest accepted reference.

    token_f1 = max over references of 2PR / (P + R), with P = common / words of the answer, R = common / words of it

    common  words in both, counted with their multiplicity, after normalising

    Where one of the two has no word, 1 if both have none, else 0. Not applicable when there is no reference or the
    answer was not recorded.
    Source: the SQuAD rule, arXiv:1606.05250; characters for scripts written without spaces.

    >>> TokenF1().value("the red fox", ["a red dog", "fox"])
    0.6666666666666666
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"answer": "response.answer", "references": "set.references"}

    def value(self, answer: str, references: Sequence[str]) -> float:
        answer_words = split_answer_tokens(answer)
        return max(compute_token_f1(answer_words, split_answer_tokens(reference)) for reference in references)


def compute_token_f1(answer_words: Sequence[str], reference_words: Sequence[str]) -> float:
    """F1 of two lists of words as multisets."""
    if not answer_words or not reference_words:
        return float(answer_words == reference_words)
    common = count_common_words(answer_words, reference_words)
    n_words = len(answer_words) + len(reference_words)
    return ComputedNumber(2 * common / n_words, lambda: f"2 · {common} / {n_words}")


def count_common_words(answer_words: Sequence[str], reference_words: Sequence[str]) -> int:
    """Words in both lists, counted with their multiplicity."""
    return (Counter(answer_words) & Counter(reference_words)).total()
