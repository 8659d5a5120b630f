"""Numbers written in English words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ragauge.text.marks import Mark
from ragauge.text.number_suffixes import after, spelled
from ragauge.text.units import ONES, ORDINALS, TENS, WORD_SCALES


def _trie(names: Iterable[str]) -> str:
    """The names as one pattern, which gives up at the first letter that fits none of them."""
    branches: dict[str, list[str]] = {}
    for name in names:
        branches.setdefault(name[:1], []).append(name[1:])
    parts = [first + _trie(rest) if first else r"(?!\w)" for first, rest in sorted(branches.items(), reverse=True)]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _either_case(names: Iterable[str]) -> str:
    """As _trie, the first letters small or capital; what stands before a find has to be looked at."""
    firsts: dict[str, list[str]] = {}
    for name in names:
        firsts.setdefault(name[0], []).append(name[1:])
    return "|".join(f"[{first}{first.upper()}]{_trie(rest)}" for first, rest in firsts.items())


_SCALE = spelled(WORD_SCALES)
PHRASE = re.compile(
    rf"(?:{_either_case([*TENS, *ONES])}|[aA]n?(?=[ ](?:{_SCALE})\b))"
    rf"(?:(?:[ -]|[ ]and[ ])(?i:{spelled([*TENS, *ONES, *WORD_SCALES])})\b){{0,12}}"
)
ORDINAL = re.compile(_either_case(ORDINALS))
WORD = re.compile(r"[A-Za-z]+")
VAGUE = ("one", "zero")     # "one of them" is no number to check
UNBOUNDED = 10**15


def find(plain: str, *, liberal: bool = False) -> Iterator[Mark]:
    """Numbers in words, percentages among them.

    Args:
        plain: the text.
        liberal: also "one", "zero" and ordinals ("first"), wherever they stand.
    """
    for first, last in _phrases(plain):
        for start, end, value in _numbers(plain, first, last):
            tail = after(plain, end)
            vague = plain[start:end].lower() in VAGUE and not liberal
            if tail is None or (vague and not tail.percent):
                continue
            if tail.percent:
                yield Mark("percent", start, tail.end, f"{value}%")
            else:
                yield Mark("number", start, end, str(value), tail.unit)
    if liberal:
        for found in ORDINAL.finditer(plain):
            if not _inside_word(plain, found.start()):
                yield Mark("number", found.start(), found.end(), str(ORDINALS[found[0].lower()]))


def _phrases(plain: str) -> Iterator[tuple[int, int]]:
    """Where words stand that may make a number; the end of "written" is none, nor part of one ("written two")."""
    at = 0
    while found := PHRASE.search(plain, at):
        if _inside_word(plain, found.start()):
            word = WORD.match(plain, found.start())
            at = word.end() if word else found.end()
        else:
            at = found.end()
            yield found.span()


def _inside_word(plain: str, start: int) -> bool:
    return start > 0 and (plain[start - 1].isalnum() or plain[start - 1] == "_")


def _numbers(plain: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The longest numbers that the words make, one after another: "two three" is two of them."""
    words = [match.span() for match in WORD.finditer(plain, start, end)]
    at = 0
    while at < len(words):
        best: tuple[int, int] | None = None
        for to in range(at + 1, len(words) + 1):
            value = _value(plain[words[at][0] : words[to - 1][1]].lower())
            if value is not None:
                best = (to, value)
        if best is None:
            at += 1
            continue
        yield words[at][0], words[best[0] - 1][1], best[1]
        at = best[0]


@lru_cache(maxsize=4_096)
def _value(phrase: str) -> int | None:
    """The value of a number in words; None where the words are no single number.

    >>> _value("two hundred and five"), _value("twenty-one"), _value("one two")
    (205, 21, None)
    """
    words = phrase.replace("-", " ").split()
    if words[-1] in ("and", "a", "an") or words[0] == "and":
        return None
    total, group, least = 0, 0, UNBOUNDED      # the next word must be worth less than `least`
    for word in words:
        if word in ("a", "an"):
            group = 1
        elif word == "hundred":
            group, least = (group or 1) * 100, 100
        elif word in WORD_SCALES:
            total, group, least = total + (group or 1) * WORD_SCALES[word], 0, UNBOUNDED
        elif word != "and":
            value = TENS.get(word, ONES.get(word, 0))
            if value >= least:
                return None
            group, least = group + value, 10 if word in TENS else 0
    return total + group
