"""Texts cut into segments of units that can be compared: stems of English words, pieces of words elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ragauge.text.language import guess
from ragauge.text.sentences import split
from ragauge.text.specifics import Haystack
from ragauge.text.tokens import ENGLISH, stem, words

Mode = Literal["words", "grams"]

LONGEST_SEGMENT = 600  # characters: a sentence without end is cut, so that a window stays a window
MOST_PLACES = 1_000  # segments kept for one unit: more than that tells nothing about where to look
SAMPLE = 2_000  # characters read to tell the language
BIG = 8_000  # characters: of longer texts only a few are kept ready
GRAM = 4
KIN = 5  # first letters that two words of one family share: "founder", "foundation"
STOPS = ENGLISH | {stem(word) for word in ENGLISH}


class Segment(NamedTuple):
    """A sentence, or a piece of an endless one: characters [start, end) and its units in order."""

    start: int
    end: int
    units: tuple[str, ...]


class Indexed(NamedTuple):
    """A text made ready for comparison."""

    segments: tuple[Segment, ...]  # in order; those without a unit are left out
    places: Mapping[str, Sequence[int]]  # unit -> numbers of the segments that hold it, ascending
    size: int  # units in all
    # first letters of a word -> numbers of the segments with a word that begins so; words only
    kin: Mapping[str, Collection[int]]


def mode_of(texts: Sequence[str]) -> Mode:
    """How the texts of one question are compared: by words, or by pieces of words where most of it is not English."""
    english = foreign = 0
    for text in texts:
        sample = text[:SAMPLE]
        code = guess(sample)
        if code == "en":
            english += len(sample)
        elif code != "und":
            foreign += len(sample)
    if not english and not foreign:  # short texts, which tell more together than each for itself
        foreign = guess("\n".join(texts)[:SAMPLE]) not in ("en", "und")
    return "grams" if foreign > english else "words"


def units_of(text: str, mode: Mode) -> tuple[str, ...]:
    """The units of a text, in order.

    >>> units_of("Two cities stopped", "words"), units_of("東京は Straße", "grams")
    (('two', 'city', 'stop'), ('東', '東京', '京は', 'stra', 'tras', 'rass', 'asse'))
    """
    split_words = words(text)
    return tuple([stem(word) for word in split_words] if mode == "words" else _grams(split_words))


def _grams(tokens: Sequence[str]) -> Iterator[str]:
    """Pairs of neighbours where a word is one character, pieces of four letters elsewhere."""
    before = ""
    for word in tokens:
        if len(word) == 1 and not word.isascii():
            yield before + word
            before = word
        else:
            before = ""
            yield from pieces(word)


@lru_cache(maxsize=4_096)
def pieces(word: str) -> tuple[str, ...]:
    """A word's pieces of four letters; a short word or a number is one piece."""
    if len(word) <= GRAM or word[0].isdigit():
        return (word,)
    return tuple([word[at : at + GRAM] for at in range(len(word) - GRAM + 1)])


def carries_content(unit: str, mode: Mode) -> bool:
    """Whether a unit says something by itself."""
    return mode == "grams" or unit not in STOPS


def indexed(text: str, mode: Mode) -> Indexed:
    """The text, ready for comparison; kept, so that the questions about one response share it."""
    return _kept(text, mode) if len(text) <= BIG else _big(text, mode)


def haystack(text: str) -> Haystack:
    """The text, ready to be searched for specifics; kept likewise."""
    return _kept_haystack(text) if len(text) <= BIG else _big_haystack(text)


def build(text: str, mode: Mode) -> Indexed:
    """Indexes a text, in time linear in its length."""
    segments = tuple(
        Segment(start, end, units) for start, end in _spans(text) if (units := units_of(text[start:end], mode))
    )
    places: dict[str, list[int]] = {}
    for number, segment in enumerate(segments):
        for unit in segment.units:
            where = places.setdefault(unit, [])
            if len(where) < MOST_PLACES and (not where or where[-1] != number):
                where.append(number)
    kin: dict[str, set[int]] = {}
    for unit, where in places.items() if mode == "words" else ():
        if len(unit) >= KIN:
            kin.setdefault(unit[:KIN], set()).update(where)
    return Indexed(segments, places, sum(len(segment.units) for segment in segments), kin)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for sentence in split(text):
        start = sentence.start
        while sentence.end - start > LONGEST_SEGMENT:
            space = text.rfind(" ", start + 1, start + LONGEST_SEGMENT)
            cut = space if space > start else start + LONGEST_SEGMENT
            yield start, cut
            start = cut
        yield start, sentence.end


_kept = lru_cache(maxsize=256)(build)
_big = lru_cache(maxsize=4)(build)


def _searchable(text: str) -> Haystack:
    if len(text) <= SAMPLE:
        return Haystack.of((text,))
    return Haystack.of(tuple([text[start:end] for start, end in _spans(text)]))  # linear in any long text


_kept_haystack = lru_cache(maxsize=256)(_searchable)
_big_haystack = lru_cache(maxsize=4)(_searchable)
