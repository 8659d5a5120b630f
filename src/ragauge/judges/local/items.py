"""A sentence as a row of items: words, and names, numbers and dates each in one piece."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from ragauge.judges.local.english import (
    CONTRACTED_FORMS,
    FUNCTION_WORDS,
    MONTHS,
    NEGATIONS,
    PHRASES,
    find_base_form,
    find_sense,
)
from ragauge.judges.local.index import STOP_UNITS
from ragauge.judges.local.measures import FORMS, Measure, find_unit, is_year
from ragauge.text.names import fold_case, normalize_name, split_name
from ragauge.text.specifics import COMPARED_KINDS, Specific, find_specifics
from ragauge.text.tokens import OPENERS, PARTICLES, TITLES, WEEKDAYS, stem_word

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
COMMON_ENDINGS = ("s", "ing", "ed", "ly", "er", "est", "ion", "ment", "ity", "ness", "ers", "ful", "ive", "al", "able")
MAX_ITEMS = 240  # items of a text that are looked at
SENTENCE_OPENING = re.compile(r"[.!?:…\n|•*#]\s*[\"“‘'(\[]*$")  # a sentence begins
INNER_CAPITALS = re.compile(r"(?<=[A-Za-z0-9,;] )[A-Z][^\W_]+(?:'s)?")
SMALL_WORD = re.compile(r"\b[a-z]+")
BRACKETS = re.compile(r"\([^()]{0,200}\)")
NO_HEADS = STOP_UNITS | OPENERS
NO_CONTENT = STOP_UNITS | NEGATIONS
NO_NAMES = OPENERS | WEEKDAYS | set(MONTHS)
NO_PARTS = PARTICLES | TITLES | {"of", "the", "and"}
# ranks that are no parts as well: "a third" may be either
_RANKS = "eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
ORDINALS = {word: rank for rank, word in enumerate(_RANKS.split(), 11)}
SHORT_FORMS = {"st": "saint", "mt": "mount", "ft": "fort"}


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a sentence: characters [start, end)."""

    kind: Literal["word", "name", "number", "date"]  # what it is
    text: str  # as written
    start: int  # first character
    end: int  # one past the last
    key: str  # what it is compared by
    stem: str  # the second form to compare by: "found" may be of "find" or of "found"
    content: bool  # whether it says something by itself
    parts: tuple[str, ...] = ()  # words of a name; readings of a date
    measure: Measure | None = None  # of a number
    figure: str = ""  # of a number, without its unit
    capital: bool = False  # a word that may be a name: only its place may ask for the capital
    label: bool = False  # a number that only tells things of a kind apart: Hub 3

    @property
    def keys(self) -> tuple[str, ...]:
        """What an equal item may be found by."""
        if self.kind == "word":
            forms = (self.key,) if self.key == self.stem else (self.key, self.stem)
            return (*forms, sense) if (sense := find_sense(self.key)) else forms
        return (find_base_form(self.parts[0]),) if self.kind == "name" and len(self.parts) == 1 else ()

    @property
    def is_negation(self) -> bool:
        """Whether it is a word of negation."""
        return self.key in NEGATIONS and self.kind == "word"


def read_sentence(text: str, known_names: Collection[str], small: Collection[str]) -> tuple[Item, ...]:
    """The items of a sentence, with its first word as a name where it is one.

    `known_names` are words, folded, that have a capital inside a sentence elsewhere; `small` such as occur without one.
    """
    return tuple(
        [
            replace(item, kind="name") if _is_opening_name(item, known_names, small) else item
            for item in list_items(text)
        ]
    )


@lru_cache(maxsize=512)
def find_capitalized(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Words with a capital inside a sentence, which are names wherever they stand, and words without one; folded."""
    capitalized = frozenset(
        fold_case(name_piece) for run in INNER_CAPITALS.findall(text) for name_piece in split_name(run)
    )
    return capitalized, frozenset(SMALL_WORD.findall(text))


def _is_opening_name(item: Item, known_names: Collection[str], small: Collection[str]) -> bool:
    """Whether a first word is known as a name or looks like one: nowhere without a capital, no plural and no verb."""
    if item.kind != "word" or not item.capital:
        return False
    word = item.text.lower()
    looks = word.endswith(("'s", "’s")) or (item.parts[0] not in small and not word.endswith(COMMON_ENDINGS))
    return item.parts[0] in known_names or looks


@lru_cache(maxsize=512)
def list_items(text: str) -> tuple[Item, ...]:
    """The items of a sentence in order."""
    read_items: list[Item] = []
    position = 0
    for specific in find_specifics(text, COMPARED_KINDS):
        slot = _build_slot_item(text, specific)
        if slot is None or slot.start < position:
            continue
        read_items.extend(_split_words(text, position, slot.start))
        read_items.append(slot)
        position = slot.end
        if len(read_items) > MAX_ITEMS:
            break
    read_items.extend(_split_words(text, position, len(text)))
    return tuple(_merge_phrases(read_items[:MAX_ITEMS]))


def remove_glosses(text: str, row: Sequence[Item]) -> tuple[Item, ...] | None:
    """The items of a sentence without those in brackets; None where none are: "2,000 km (1,200 mi)"."""
    spans = [match.span() for match in BRACKETS.finditer(text)]
    remaining = tuple(word for word in row if not any(start < word.start < end for start, end in spans))
    return remaining if len(remaining) < len(row) else None


def _build_slot_item(text: str, specific: Specific) -> Item | None:
    if specific.kind == "name":
        name_words = tuple(SHORT_FORMS.get(name_word, name_word) for name_word in specific.normal.split())
        own_words = tuple(name_word for name_word in name_words if name_word not in NO_PARTS)
        return (
            Item("name", specific.text, specific.start, specific.end, " ".join(own_words), "", True, own_words)
            if own_words
            else None
        )
    if specific.kind == "date":
        readings = tuple(form for form in (specific.normal, specific.other) if form)
        return Item("date", specific.text, specific.start, specific.end, "/".join(readings), "", True, readings)
    return _build_number_item(text, specific)


def _build_number_item(text: str, specific: Specific) -> Item:
    start = specific.start
    unit, end = find_unit(text, specific)
    if symbol := FORMS["currency"].search(text, max(0, start - 4), start):
        start = symbol.start()
    figure = text[start : specific.end]
    label = not unit and _is_label(text[max(0, specific.start - 30) : specific.start], figure)
    readings = tuple(form.removesuffix("%") for form in (specific.normal, specific.other) if form)
    rough = FORMS["rounded"].search(text[max(0, start - 20) : start]) is not None
    measure = Measure(readings, unit, rough, year=not unit and is_year(figure, text[end : end + 12]))
    return Item(
        "number", text[start:end], start, end, specific.normal, "", True, readings, measure, figure, label=label
    )


def list_measures(text: str) -> tuple[Measure, ...]:
    """The numbers of a text with their units, in order."""
    return tuple(item.measure for item in list_items(text) if item.measure is not None)


def _is_label(text_before: str, figure: str) -> bool:
    """Whether the word before a number makes it a label; one in words is none behind a mere capital: "Leaping nine"."""
    head = FORMS["label"].search(text_before)
    if head is None or head[1].lower() in NO_HEADS or head[1].endswith("ly"):
        return False
    return figure[-1:].isdigit() or not head[1].istitle()


def _split_words(text: str, start: int, end: int) -> Iterator[Item]:
    for match in WORD.finditer(text, start, end):
        written = match[0]
        word = written.lower().replace("’", "'")
        if word == "s" and text[match.start() - 1 : match.start()] in ("'", "’"):
            continue
        if word == "no" and text[match.end() : match.end() + 1] in (".", ","):
            continue  # an answer of its own, or short for number
        if word.endswith("n't") or word == "cannot":
            head = word.removesuffix("n't").removesuffix("not")
            if head:
                yield _build_word_item(text, match.start(), match.end(), CONTRACTED_FORMS.get(head, head))
            yield Item("word", written, match.start(), match.end(), "not", "not", False)
        elif word in CONTRACTED_FORMS and text[match.end() : match.end() + 4].lstrip().lower().startswith(
            ("n't", "n’t")
        ):
            yield _build_word_item(text, match.start(), match.end(), CONTRACTED_FORMS[word])
        else:
            yield _build_word_item(text, match.start(), match.end(), word)


def _build_word_item(text: str, start: int, end: int, word: str) -> Item:
    written = text[start:end]
    if word == "one":
        return Item("number", written, start, end, "1", "", False, ("1",), Measure(("1",), "", False), written)
    if word in ORDINALS:
        rank = str(ORDINALS[word])
        return Item("number", written, start, end, rank, "", True, (rank,), Measure((rank,), "", False), written)
    key = find_base_form(word)
    other = stem_word(word) if word not in FUNCTION_WORDS else key
    other = key if other in FUNCTION_WORDS else other
    content = not {word, key} & NO_CONTENT and not (len(word) == 1 and word.isalpha())
    capital = written[0].isupper() and content and word not in NO_NAMES
    parts = (normalize_name(word.removesuffix("'s")),) if capital else ()
    inside = capital and start > 0 and SENTENCE_OPENING.search(text, max(0, start - 4), start) is None
    return Item("name" if inside else "word", written, start, end, key, other, content, parts, capital=capital)


def _merge_phrases(row: list[Item]) -> Iterator[Item]:
    """Phrases that mean one thing as one item."""
    index = 0
    while index < len(row):
        for words, key in _BY_FIRST.get(row[index].key, ()):
            candidate = row[index : index + len(words)]
            counted = words[-1] == "#"
            pairs = zip(candidate, words, strict=False)
            fits = (word == item.key or (word == "#" and item.kind == "number") for item, word in pairs)
            if len(candidate) == len(words) and all(fits):
                last = candidate[-2] if counted else candidate[-1]
                if key:
                    text = " ".join(word.text for word in candidate[: len(words) - counted])
                    yield Item("word", text, candidate[0].start, last.end, key, key, False)
                index += len(words) - counted
                break
        else:
            yield row[index]
            index += 1


# first word -> the phrases that begin with it, longest first, and what each is read as
_BY_FIRST: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _phrase, _meaning in sorted(PHRASES.items(), key=lambda entry: -len(entry[0].split())):
    _first, *_rest = (word if word == "#" else find_base_form(word) for word in _phrase.split())
    _BY_FIRST.setdefault(_first, []).append(
        ((_first, *_rest), find_base_form(_meaning) if _meaning.isalpha() else _meaning)
    )
