"""Texts cut into segments of units that can be compared: stems of English words, pieces of words elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ragauge.text.language import guess_language
from ragauge.text.sentences import split_sentences
from ragauge.text.specifics import Haystack
from ragauge.text.tokens import ENGLISH, split_words, stem_word

Mode = Literal["words", "grams"]

MAX_SEGMENT_CHARS = 600  # characters: a sentence without end is cut, so that a window stays a window
MAX_UNIT_SEGMENTS = 1_000  # segments kept for one unit: more than that tells nothing about where to look
SAMPLE_CHARS = 2_000  # characters read to tell the language
BIG_CHARS = 8_000  # characters: of longer texts only a few are kept ready
GRAM_CHARS = 4
KIN_CHARS = 5  # first letters that two words of one family share: "founder", "foundation"
STOP_UNITS = ENGLISH | {stem_word(word) for word in ENGLISH}


class Segment(NamedTuple):
    """A sentence, or a piece of an endless one: characters [start, end) and its units in order."""

    start: int
    end: int
    units: tuple[str, ...]


class IndexedText(NamedTuple):
    """A text made ready for comparison."""

    segments: tuple[Segment, ...]  # in order; those without a unit are left out
    places: Mapping[str, Sequence[int]]  # unit -> numbers of the segments that hold it, ascending
    size: int  # units in all
    # first letters of a word -> numbers of the segments with a word that begins so; words only
    kin: Mapping[str, Collection[int]]


def detect_mode(texts: Sequence[str]) -> Mode:
    """How the texts of one question are compared: by words, or by pieces of words where most of it is not English."""
    english = foreign = 0
    for text in texts:
        sample = text[:SAMPLE_CHARS]
        code = guess_language(sample)
        if code == "en":
            english += len(sample)
        elif code != "und":
            foreign += len(sample)
    if not english and not foreign:  # short texts, which tell more together than each for itself
        foreign = guess_language("\n".join(texts)[:SAMPLE_CHARS]) not in ("en", "und")
    return "grams" if foreign > english else "words"


def split_units(text: str, mode: Mode) -> tuple[str, ...]:
    """The units of a text, in order.

    >>> split_units("Two cities stopped", "words"), split_units("東京は Straße", "grams")
    (('two', 'city', 'stop'), ('東', '東京', '京は', 'stra', 'tras', 'rass', 'asse'))
    """
    text_words = split_words(text)
    return tuple([stem_word(word) for word in text_words] if mode == "words" else _build_grams(text_words))


def _build_grams(tokens: Sequence[str]) -> Iterator[str]:
    """Pairs of neighbours where a word is one character, pieces of four letters elsewhere."""
    previous = ""
    for word in tokens:
        if len(word) == 1 and not word.isascii():
            yield previous + word
            previous = word
        else:
            previous = ""
            yield from split_pieces(word)


@lru_cache(maxsize=4_096)
def split_pieces(word: str) -> tuple[str, ...]:
    """A word's pieces of four letters; a short word or a number is one piece."""
    if len(word) <= GRAM_CHARS or word[0].isdigit():
        return (word,)
    return tuple([word[start : start + GRAM_CHARS] for start in range(len(word) - GRAM_CHARS + 1)])


def has_content(unit: str, mode: Mode) -> bool:
    """Whether a unit says something by itself."""
    return mode == "grams" or unit not in STOP_UNITS


def index_text(text: str, mode: Mode) -> IndexedText:
    """The text, ready for comparison; kept, so that the questions about one response share it."""
    return _index_small(text, mode) if len(text) <= BIG_CHARS else _index_big(text, mode)


def build_haystack(text: str) -> Haystack:
    """The text, ready to be searched for specifics; kept likewise."""
    return _build_small_haystack(text) if len(text) <= BIG_CHARS else _build_big_haystack(text)


def build_index(text: str, mode: Mode) -> IndexedText:
    """Indexes a text, in time linear in its length."""
    segments = tuple(
        Segment(start, end, units) for start, end in _split_spans(text) if (units := split_units(text[start:end], mode))
    )
    segments_by_unit: dict[str, list[int]] = {}
    for number, segment in enumerate(segments):
        for unit in segment.units:
            where = segments_by_unit.setdefault(unit, [])
            if len(where) < MAX_UNIT_SEGMENTS and (not where or where[-1] != number):
                where.append(number)
    kin: dict[str, set[int]] = {}
    for unit, where in segments_by_unit.items() if mode == "words" else ():
        if len(unit) >= KIN_CHARS:
            kin.setdefault(unit[:KIN_CHARS], set()).update(where)
    return IndexedText(segments, segments_by_unit, sum(len(segment.units) for segment in segments), kin)


def _split_spans(text: str) -> Iterator[tuple[int, int]]:
    for sentence in split_sentences(text):
        start = sentence.start
        while sentence.end - start > MAX_SEGMENT_CHARS:
            space = text.rfind(" ", start + 1, start + MAX_SEGMENT_CHARS)
            cut = space if space > start else start + MAX_SEGMENT_CHARS
            yield start, cut
            start = cut
        yield start, sentence.end


_index_small = lru_cache(maxsize=256)(build_index)
_index_big = lru_cache(maxsize=4)(build_index)


def _build_searchable(text: str) -> Haystack:
    if len(text) <= SAMPLE_CHARS:
        return Haystack.of((text,))
    return Haystack.of(tuple([text[start:end] for start, end in _split_spans(text)]))  # linear in any long text


_build_small_haystack = lru_cache(maxsize=256)(_build_searchable)
_build_big_haystack = lru_cache(maxsize=4)(_build_searchable)
