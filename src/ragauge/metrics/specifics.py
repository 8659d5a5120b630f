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
    found, missing = _all(answer, query, tuple(passage.text or "" for passage in passages))
    if kind == "any":
        return found, missing
    return tuple(one for one in found if one[0].kind == kind), tuple(one for one in missing if one[0].kind == kind)


@lru_cache(maxsize=64)
def _all(answer: str, query: str, texts: tuple[str, ...]) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
    """For all kinds at once: several metrics ask for one answer in a row."""
    distinct: dict[tuple[str, str, str], list[Specific]] = {}
    for one in find(answer, ALL):
        distinct.setdefault((one.kind, one.normal, one.unit), []).append(one)
    haystack = Haystack.of([query, *texts])
    found = tuple(map(tuple, distinct.values()))
    return found, tuple(places for places in found if not found_in(places[0], haystack))
