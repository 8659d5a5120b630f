"""A sentence as a row of items: words, and names, numbers and dates each in one piece."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from ragauge.judges.local.english import FUNCTION_WORDS, MONTHS, NEGATIONS, PHRASES, SHORTENED, base, sense_of
from ragauge.judges.local.index import STOPS
from ragauge.judges.local.measures import FORMS, Measure, is_year, unit_of
from ragauge.text.names import canonical, fold, pieces
from ragauge.text.specifics import EVERY, Specific, find
from ragauge.text.tokens import OPENERS, PARTICLES, TITLES, WEEKDAYS, stem

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
COMMON_ENDINGS = ("s", "ing", "ed", "ly", "er", "est", "ion", "ment", "ity", "ness", "ers", "ful", "ive", "al", "able")
MOST = 240  # items of a text that are looked at
OPENING = re.compile(r"[.!?:…\n|•*#]\s*[\"“‘'(\[]*$")  # a sentence begins
INSIDE = re.compile(r"(?<=[A-Za-z0-9,;] )[A-Z][^\W_]+(?:'s)?")
SMALL = re.compile(r"\b[a-z]+")
BRACKETS = re.compile(r"\([^()]{0,200}\)")
NO_HEADS = STOPS | OPENERS
NO_CONTENT = STOPS | NEGATIONS
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
            return (*forms, sense) if (sense := sense_of(self.key)) else forms
        return (base(self.parts[0]),) if self.kind == "name" and len(self.parts) == 1 else ()

    @property
    def negates(self) -> bool:
        """Whether it is a word of negation."""
        return self.key in NEGATIONS and self.kind == "word"


def read(text: str, known: Collection[str], small: Collection[str]) -> tuple[Item, ...]:
    """The items of a sentence, with its first word as a name where it is one.

    `known` are words, folded, that have a capital inside a sentence elsewhere; `small` such as occur without one.
    """
    return tuple([replace(item, kind="name") if _opens_as_name(item, known, small) else item for item in items(text)])


@lru_cache(maxsize=512)
def seen(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Words with a capital inside a sentence, which are names wherever they stand, and words without one; folded."""
    known = frozenset(fold(piece) for run in INSIDE.findall(text) for piece in pieces(run))
    return known, frozenset(SMALL.findall(text))


def _opens_as_name(item: Item, known: Collection[str], small: Collection[str]) -> bool:
    """Whether a first word is known as a name or looks like one: nowhere without a capital, no plural and no verb."""
    if item.kind != "word" or not item.capital:
        return False
    word = item.text.lower()
    looks = word.endswith(("'s", "’s")) or (item.parts[0] not in small and not word.endswith(COMMON_ENDINGS))
    return item.parts[0] in known or looks


@lru_cache(maxsize=512)
def items(text: str) -> tuple[Item, ...]:
    """The items of a sentence in order."""
    read_items: list[Item] = []
    at = 0
    for specific in find(text, EVERY):
        slot = _slot(text, specific)
        if slot is None or slot.start < at:
            continue
        read_items.extend(_words(text, at, slot.start))
        read_items.append(slot)
        at = slot.end
        if len(read_items) > MOST:
            break
    read_items.extend(_words(text, at, len(text)))
    return tuple(_phrased(read_items[:MOST]))


def unglossed(text: str, row: Sequence[Item]) -> tuple[Item, ...] | None:
    """The items of a sentence without those in brackets; None where none are: "2,000 km (1,200 mi)"."""
    spans = [match.span() for match in BRACKETS.finditer(text)]
    kept = tuple(word for word in row if not any(start < word.start < end for start, end in spans))
    return kept if len(kept) < len(row) else None


def _slot(text: str, specific: Specific) -> Item | None:
    if specific.kind == "name":
        parts = tuple(SHORT_FORMS.get(part, part) for part in specific.normal.split())
        own = tuple(part for part in parts if part not in NO_PARTS)
        return Item("name", specific.text, specific.start, specific.end, " ".join(own), "", True, own) if own else None
    if specific.kind == "date":
        readings = tuple(form for form in (specific.normal, specific.other) if form)
        return Item("date", specific.text, specific.start, specific.end, "/".join(readings), "", True, readings)
    return _number(text, specific)


def _number(text: str, specific: Specific) -> Item:
    start = specific.start
    unit, end = unit_of(text, specific)
    if symbol := FORMS["currency"].search(text, max(0, start - 4), start):
        start = symbol.start()
    figure = text[start : specific.end]
    label = not unit and _labels(text[max(0, specific.start - 30) : specific.start], figure)
    readings = tuple(form.removesuffix("%") for form in (specific.normal, specific.other) if form)
    rough = FORMS["rounded"].search(text[max(0, start - 20) : start]) is not None
    measure = Measure(readings, unit, rough, year=not unit and is_year(figure, text[end : end + 12]))
    return Item(
        "number", text[start:end], start, end, specific.normal, "", True, readings, measure, figure, label=label
    )


def measured(text: str) -> tuple[Measure, ...]:
    """The numbers of a text with their units, in order."""
    return tuple(item.measure for item in items(text) if item.measure is not None)


def _labels(before: str, figure: str) -> bool:
    """Whether the word before a number makes it a label; one in words is none behind a mere capital: "Leaping nine"."""
    head = FORMS["label"].search(before)
    if head is None or head[1].lower() in NO_HEADS or head[1].endswith("ly"):
        return False
    return figure[-1:].isdigit() or not head[1].istitle()


def _words(text: str, start: int, end: int) -> Iterator[Item]:
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
                yield _word(text, match.start(), match.end(), SHORTENED.get(head, head))
            yield Item("word", written, match.start(), match.end(), "not", "not", False)
        elif word in SHORTENED and text[match.end() : match.end() + 4].lstrip().lower().startswith(("n't", "n’t")):
            yield _word(text, match.start(), match.end(), SHORTENED[word])
        else:
            yield _word(text, match.start(), match.end(), word)


def _word(text: str, start: int, end: int, word: str) -> Item:
    written = text[start:end]
    if word == "one":
        return Item("number", written, start, end, "1", "", False, ("1",), Measure(("1",), "", False), written)
    if word in ORDINALS:
        rank = str(ORDINALS[word])
        return Item("number", written, start, end, rank, "", True, (rank,), Measure((rank,), "", False), written)
    key = base(word)
    other = stem(word) if word not in FUNCTION_WORDS else key
    other = key if other in FUNCTION_WORDS else other
    content = not {word, key} & NO_CONTENT and not (len(word) == 1 and word.isalpha())
    capital = written[0].isupper() and content and word not in NO_NAMES
    parts = (canonical(word.removesuffix("'s")),) if capital else ()
    inside = capital and start > 0 and OPENING.search(text, max(0, start - 4), start) is None
    return Item("name" if inside else "word", written, start, end, key, other, content, parts, capital=capital)


def _phrased(row: list[Item]) -> Iterator[Item]:
    """Phrases that mean one thing as one item."""
    at = 0
    while at < len(row):
        for words, key in _BY_FIRST.get(row[at].key, ()):
            piece = row[at : at + len(words)]
            counted = words[-1] == "#"
            pairs = zip(piece, words, strict=False)
            fits = (word == item.key or (word == "#" and item.kind == "number") for item, word in pairs)
            if len(piece) == len(words) and all(fits):
                last = piece[-2] if counted else piece[-1]
                if key:
                    text = " ".join(word.text for word in piece[: len(words) - counted])
                    yield Item("word", text, piece[0].start, last.end, key, key, False)
                at += len(words) - counted
                break
        else:
            yield row[at]
            at += 1


# first word -> the phrases that begin with it, longest first, and what each is read as
_BY_FIRST: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _phrase, _meaning in sorted(PHRASES.items(), key=lambda entry: -len(entry[0].split())):
    _first, *_rest = (word if word == "#" else base(word) for word in _phrase.split())
    _BY_FIRST.setdefault(_first, []).append(((_first, *_rest), base(_meaning) if _meaning.isalpha() else _meaning))
