"""Which numbers, dates, names and quotes of an answer stand in nothing that it was given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragauge.data.response import Passage
from ragauge.text.specifics import ALL, Haystack, Specific, find, found_in

Places = tuple[Specific, ...]      # one specific, everywhere that the answer has it


def unfounded(
    answer: str, query: str, passages: Sequence[Passage], kind: str
) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
    """The distinct specifics of an answer, and those of them that stand in no passage nor in the question.

    Args:
        answer: whose specifics.
        query: repeating the question invents nothing.
        passages: with their texts.
        kind: number, date, name, percent or quote; any = all of them.
    """
    supported, missing = _all(answer, query, tuple(passage.text or "" for passage in passages))
    if kind == "any":
        return supported, missing
    return tuple(marks for marks in supported if marks[0].kind == kind), tuple(
        marks for marks in missing if marks[0].kind == kind
    )


@lru_cache(maxsize=64)
def _all(answer: str, query: str, texts: tuple[str, ...]) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
    """For all kinds at once: several metrics ask for one answer in a row."""
    distinct: dict[tuple[str, str, str], list[Specific]] = {}
    for specific in find(answer, ALL):
        distinct.setdefault((specific.kind, specific.normal, specific.unit), []).append(specific)
    haystack = Haystack.of([query, *texts])
    distinct_marks = tuple(map(tuple, distinct.values()))
    return distinct_marks, tuple(places for places in distinct_marks if not found_in(places[0], haystack))
