"""Plants one wrong thing in a true sentence: negations, numbers, dates and units. See `planted_edits` for the whole.

An edit is one that a careful reader of the context would call contradicted. The sentences are read by patterns of
their own, not by those of the judge that is measured with them.

What is made sure: one edit a sentence; a negation goes behind an auxiliary, or do-support is built with a base form
that occurs in the data; a swapped name or number comes from the same context, is of the same kind, no part of the old
one, not in the sentence yet and not within 15 % of it; a changed date stands nowhere in the context; a changed unit is
never another spelling of the same amount; and no other sentence of the context holds the new name or number beside
most of the other words.

What cannot be made sure: that the whole reads well; that the negated clause is the main one; that a name is of the
same kind (people, places and organisations are told apart by the words around them); that the new sentence is nowhere
said in other words; that a quantifier or a comparative carries the point of its sentence. Every sentence is a copy
but for its edit: how often a judge sees the same thing in a paraphrase is not measured by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple


class Planted(NamedTuple):
    """An edited sentence, and what was put in the place of what."""

    text: str
    was: str
    now: str


class Context(NamedTuple):
    """What the sentence was taken from.

    Attributes:
        sentences: of the context, in order.
        text: the same in one piece.
        small: in how many contexts of the data each word occurs in small letters.
    """

    sentences: tuple[str, ...]
    text: str
    small: Counter[str]


Edit = Callable[[str, Context, Random], Planted | None]

WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|\d[\d.,]*")


def said_elsewhere(text: str, now: str, sentence: str, context: Context) -> bool:
    """Whether another sentence of the context holds the new item beside 6 in 10 of the other long words."""
    if text in context.text:
        return True
    rest = {word.lower() for word in WORD.findall(text) if len(word) > 3 and word not in now}
    for other in context.sentences:
        if other != sentence and now in other:
            there = {word.lower() for word in WORD.findall(other)}
            if len(rest & there) >= 0.6 * len(rest):
                return True
    return False


# --- negation ---------------------------------------------------------------------------------------------------------

NEGATED = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hardly)\b|n['’ ]?t\b", re.IGNORECASE
)
_BEFORE = r"(?<=[a-z\d,)’'\"] )"
AUXILIARY = re.compile(rf"{_BEFORE}(is|are|was|were|can|could|will|would|should|must|does|did)(?= [a-z\d])")
_PARTICIPLE = r"[a-z]{2,}ed|been|become|made|had|won|taken|given|seen|shown|found|written|held"
PERFECT = re.compile(rf"{_BEFORE}(has|have|had)(?= (?:{_PARTICIPLE}) )")
NO_PLACE = re.compile(r" (?:also|only|just|simply|merely|be\b|it\b|he\b|she\b|they\b|you\b|we\b|the\b)")
SHORT = {
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "could": "couldn't",
    "would": "wouldn't",
    "should": "shouldn't",
    "does": "doesn't",
    "did": "didn't",
    "has": "hasn't",
    "have": "haven't",
    "had": "hadn't",
    "can": "can't",
    "will": "won't",
    "must": "mustn't",
}
_PAST = """
went go made make took take won win became become began begin wrote write gave give came come had have held hold led
lead left leave lost lose met meet said say saw see sold sell told tell grew grow kept keep built build brought bring
bought buy ran run spent spend stood stand
"""
PAST = dict(zip(_PAST.split()[::2], _PAST.split()[1::2], strict=True))
FINITE = re.compile(r"(?:(?<=^)|(?<= ))(?:He|She|It|They|We|he|she|it|they|we|who) ([a-z]{2,})(?= (?!by\b)[\w\"'])")
HAS = re.compile(r"(?<= )(has|have) (?=(?:a|an|the|two|three|many|several|some) )")
_NO_VERBS = "is was has does this its as us also always often still then even just only now thus"
NO_VERBS = frozenset(_NO_VERBS.split())


def negation(sentence: str, context: Context, draw: Random) -> Planted | None:
    """Not, n't or never behind an auxiliary, or do-support for a plain verb behind a pronoun or for `has a`."""
    if NEGATED.search(sentence):
        return None
    ways = [found for pattern in (AUXILIARY, PERFECT) for found in pattern.finditer(sentence)]
    ways = [found for found in ways if not NO_PLACE.match(sentence, found.end())]
    supported = [way for found in FINITE.finditer(sentence) if (way := _supported(found, context))]
    has = {"has": "does not have", "have": "do not have"}
    supported += [(found[1], has[found[1]], found.start(1)) for found in HAS.finditer(sentence)]
    if ways and (not supported or draw.random() < 0.7):
        found = draw.choice(ways[:2])
        word = found[1]
        now = draw.choices([f"{word} not", SHORT[word], f"{word} never"], [6, 3, 1])[0].replace("can not", "cannot")
        return Planted(sentence[: found.start()] + now + sentence[found.end() :], word, now)
    if not supported:
        return None
    was, now, start = draw.choice(supported)
    return Planted(sentence[:start] + now + sentence[start + len(was) :], was, now)


def _supported(found: re.Match[str], context: Context) -> tuple[str, str, int] | None:
    """A finite verb, the same with do-support, and its place."""
    verb = found[1]
    if verb in NO_VERBS:
        return None
    if verb in PAST:
        return verb, f"did not {PAST[verb]}", found.start(1)
    if verb.endswith("ed") and len(verb) > 4:
        base = _base(verb, ("ed", "d", "ied"), context)
        return (verb, f"did not {base}", found.start(1)) if base else None
    if verb.endswith("s") and not verb.endswith("ss") and found[0].split()[0].lower() in ("he", "she", "it", "who"):
        base = _base(verb, ("s", "es", "ies"), context)
        return (verb, f"does not {base}", found.start(1)) if base else None
    return None


def _base(verb: str, endings: Sequence[str], context: Context) -> str:
    """The base form that the texts use most often; "" where they use none."""
    forms = [verb.removesuffix(end) + ("y" if end.startswith("ie") else "") for end in endings if verb.endswith(end)]
    forms += [form[:-1] for form in forms if len(form) > 3 and form[-1] == form[-2]]
    best = max(forms, key=lambda form: context.small[form])
    return best if context.small[best] > 1 else ""


# --- numbers, dates, units --------------------------------------------------------------------------------------------

FIGURE = re.compile(
    r"(?<![\w.,:/$€£#\[(+-])(?<!\[ )([$€£]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?( ?%| percent| per cent)?"
    r"(?![\w.,:/\])-]*\d|[\w\])-])"
)
_SPELLED = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty forty fifty
"""
SPELLED = _SPELLED.split()
VALUES = (*range(2, 16), 20, 30, 40, 50)
SPELLED_NUMBER = re.compile(rf"(?<![\w-])(?:{'|'.join(SPELLED)})(?![\w-])(?! (?:hundred|thousand|million|billion))")
LABELLED = re.compile(
    r"(?:[A-Z][\w-]*|version|section|chapter|page|figure|table|type|level|phase|part|number|no|season|episode|volume|vol"
    r"|step|item|grade)\.? $"
)
ODD_AFTER = re.compile(r" ?(?:st|nd|rd|th|[ap]\.?m|million|billion|thousand|o'clock)")
RANGED = re.compile(r"\bto $|\band $|- $")
_MONTHS = "January February March April May June July August September October November December"
MONTHS = _MONTHS.split()
MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b")
DAY = re.compile(rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})(?=[,\s.]|$)(?! ?-)|\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b")
SPAN_OF_DAYS = re.compile(r"\d\s?(?:-|–|to|and)\s?\d{1,2}\b")
YEAR = re.compile(r"(?<![\w/.,$€£-])(1[5-9]\d\d|20[0-2]\d)(?![\w/%'’-]|[.,]\d)")
DATED = re.compile(rf"(?:\b(?:in|since|by|of|until|after|before|late|early|{'|'.join(MONTHS)})|,|\() ?$")


def figures(text: str) -> list[tuple[str, str, int, int]]:
    """Shape, text and place of every number that is no year, no label and no part of a code or date."""
    found = []
    for match in FIGURE.finditer(text):
        before, after = text[: match.start()], text[match.end() : match.end() + 12]
        year = re.fullmatch(r"1\d{3}|20\d\d", match[0]) is not None
        if year or LABELLED.search(before[-16:]) or MONTH.search(before[-12:] + "|" + after) or match[2] == "1":
            continue
        if ODD_AFTER.match(after) or RANGED.search(before[-5:]):
            continue
        shape = "money" if match[1] else "percent" if match[4] else "plain"
        found.append((shape, match[0], match.start(), match.end()))
    found += [
        ("spelled", match[0], match.start(), match.end())
        for match in SPELLED_NUMBER.finditer(text)
        if not LABELLED.search(text[max(0, match.start() - 16) : match.start()])
    ]
    return found


def value(text: str) -> float:
    """The value of a number as it is written."""
    if text in SPELLED:
        return float(VALUES[SPELLED.index(text)])
    return float(re.sub(r"[^\d.]", "", text).rstrip(".") or 0)


def number(sentence: str, context: Context, draw: Random) -> Planted | None:
    """A number for another number of the context, of the same shape and clearly of another value."""
    pool = sorted({(shape, text) for one in context.sentences for shape, text, _, _ in figures(one)})
    own = figures(sentence)
    there = {value(text) for _, text, _, _ in own} | {value(t) for t in re.findall(r"\d[\d,]*(?:\.\d+)?", sentence)}
    draw.shuffle(own)
    for shape, was, start, end in own:
        others = [text for sort, text in pool if sort == shape and value(text) not in there and _far(was, text)]
        draw.shuffle(others)
        for now in others:
            text = sentence[:start] + now + sentence[end:]
            if not said_elsewhere(text, now, sentence, context):
                return Planted(text, was, now)
    return None


def _far(was: str, now: str) -> bool:
    """Whether no rounding makes the two the same."""
    first, second = value(was), value(now)
    return abs(first - second) > 0.15 * max(first, second)


def date(sentence: str, context: Context, draw: Random) -> Planted | None:
    """Another year, another month or another day; spans of days are left alone."""
    ways: list[tuple[str, str, int]] = []
    for found in YEAR.finditer(sentence):
        if DATED.search(sentence[: found.start()]):
            shift = draw.choice([-11, -7, -4, -3, -2, -1, 1, 2, 3, 4, 7, 11])
            ways.append((found[0], str(int(found[0]) + shift), found.start()))
    for found in DAY.finditer(sentence):
        if SPAN_OF_DAYS.search(sentence[max(0, found.start() - 7) : found.end() + 8]):
            continue
        month, day = (found[1], found[2]) if found[1] else (found[4], found[3])
        ways.append((month, draw.choice([m for m in MONTHS if m != month]), sentence.index(month, found.start())))
        other = str(draw.choice([d for d in range(1, 29) if d != int(day)]))
        ways.append((day, other, sentence.index(day, found.start())))
    draw.shuffle(ways)
    for was, now, at in ways:
        text = sentence[:at] + now + sentence[at + len(was) :]
        if text[max(0, at - 10) : at + len(now)] not in context.text and (len(now) != 4 or now not in context.text):
            return Planted(text, was, now)
    return None


UNITS = (
    "kilometers miles meters feet yards|kilometres miles metres feet yards|km mi|inches centimeters millimeters|cm mm|"
    "kg lbs|kilograms pounds tons|grams ounces|hours days weeks minutes months|years months decades weeks|"
    "seconds minutes|days weeks hours|million billion|thousand million|billion trillion|acres hectares|gallons liters|"
    "MB GB|GB TB|kilometer mile|meter foot|inch centimeter|hour minute|year month|week day"
)
OTHER_UNIT: dict[str, list[str]] = {}
for _group in UNITS.split("|"):
    for _unit in _group.split():
        OTHER_UNIT.setdefault(_unit, []).extend(other for other in _group.split() if other != _unit)
MEASURE = re.compile(
    rf"(?<![\w.,])(\d[\d,.]*|{'|'.join(SPELLED)})([ -])({'|'.join(sorted(OTHER_UNIT, key=len, reverse=True))})(?!\w)"
)
MONEY = re.compile(r"(?<![A-Z])([$€£])(?=\d)")


def unit(sentence: str, context: Context, draw: Random) -> Planted | None:  # noqa: ARG001 - every edit takes it
    """Another unit, another currency or another power of ten beside the same number; years are no numbers."""
    measures = [found for found in MEASURE.finditer(sentence) if not YEAR.match(found[1])]
    ways = [(found[3], draw.choice(OTHER_UNIT[found[3]]), found.start(3)) for found in measures]
    ways += [(f[1], draw.choice([c for c in "$€£" if c != f[1]]), f.start(1)) for f in MONEY.finditer(sentence)]
    if not ways:
        return None
    was, now, at = draw.choice(ways)
    return Planted(sentence[:at] + now + sentence[at + len(was) :], was, now)
