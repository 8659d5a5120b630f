"""Numbers, percentages and dates, read into one form whatever their separators, digits, multipliers or words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ragauge.text import dates
from ragauge.text.characters import HANGUL, SPACED_UNTIL, UNSPACED, Mark
from ragauge.text.tokens import ENGLISH, OPENERS, WEEKDAYS
from ragauge.text.word_files import read_patterns, read_words

WORDS = read_words(__file__, "units")


def _invert_words(kind: str) -> dict[str, str]:
    return {name: key for key, names in WORDS[kind].items() for name in names.split()}


UNITS, CURRENCIES = _invert_words("units"), _invert_words("currencies")
CJK_UNITS = {name: unit for name, unit in UNITS.items() if ord(name[0]) > 0x2E80}
# with capitals these are codes (5G, 4K), in small letters words ("5 ad campaigns")
SMALL_ONLY = frozenset(["g", "h", "l", "m", "s", "t", "x"])
CAPITAL_ONLY = frozenset(["ad", "bc", "bce", "ce", "v", "w"])

# powers of ten
SCALES, SHORT_SCALES, CJK_SCALES = (
    {name: int(power) for name, power in _invert_words(kind).items()}
    for kind in ("scales", "short_scales", "cjk_scales")
)
CERTAIN_SCALES = ("k", "bn", "mn", "tn")  # "5m" may be metres and "5b" a label

PERCENT = frozenset(["%", "percent", "pct", "prozent", "procent"])
# first word -> the rest
PERCENT_PHRASES = {"per": " cent", "pour": " cent", "por": " ciento", "percentage": " points"}
ONES, TENS, ORDINALS = (
    {name: n * step for n, name in enumerate(WORDS["in_order"][kind].split(), first)}
    for kind, first, step in (("ones", 0, 1), ("tens", 2, 10), ("ordinals", 1, 1))
)
WORD_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9, "trillion": 10**12}

LABEL = read_patterns(__file__, "units")["label"]  # words before such a number
NO_LABELS = ENGLISH | OPENERS | WEEKDAYS | dates.MONTHS.keys()
LABELED_NUMBER = re.compile(rf"(?:{LABEL.pattern}|(?<![^\W_])[^\W\d_]*[A-Z][^\W\d_]*[a-z]|(?<!\w)v\.?) ?$")


def is_labeled(text: str, start: int) -> bool:
    """Whether the number that starts here tells things apart, by the word before it: Version 2.10, Python 3.10."""
    text_before = text[max(0, start - 24) : start]
    match = LABELED_NUMBER.search(text_before)
    return match is not None and match[0].strip().lower() not in NO_LABELS


def format_version(written: str) -> str:
    """A decimal as a version: with the zeros at its end, but for one that is all of its fraction.

    >>> format_version("2.10"), format_version("3.0")
    ('2.10', '3')
    """
    whole, _, fraction = written.partition(".")
    return f"{whole}.{fraction}" if fraction.strip("0") else whole


def needs_label(query: str) -> bool:
    """Whether a question asks for a number that tells things apart: which version, which section."""
    return LABEL.search(query) is not None


_SIGN = r"(?:US)?[$€£¥₹](?!\d)|%|°[CcFf]|[ap]\.m\.?"
SUFFIX = re.compile(rf" ?-?({_SIGN}|[^\W\d_{UNSPACED}{HANGUL}]+(?:/[a-z]+)?|[{UNSPACED}{HANGUL}]{{1,3}})")
ORDINAL_ENDINGS = ("st", "nd", "rd", "th")


class NumberSuffix(NamedTuple):
    """What a number's neighbours to the right say."""

    end: int  # where the number itself ends: behind its multiplier, its ordinal ending and its per cent
    shift: int = 0  # the power of ten to multiply by
    other: int | None = None  # the power of ten in the other reading, None where there is one reading
    unit: str = ""  # what is counted
    percent: bool = False  # whether it is a percentage


def read_suffix(text: str, end: int, *, currency: bool = False) -> NumberSuffix | None:
    """What follows the number that ends here; None where a letter is glued to it, so that it is a code (3D)."""
    match = SUFFIX.match(text, end)
    if match is None:
        return None if text[end : end + 1] == "_" else NumberSuffix(end)
    tail = _read_multiplier(match, end, currency=currency)
    if tail.end > end:
        match = SUFFIX.match(text, tail.end)
        if match is None:
            return tail
    last = _find_per_cent_end(text, match)
    if last:
        return tail._replace(end=last, percent=True)
    unit = _find_unit(match[1])
    letter = text[end]
    if tail.end == end and not unit and letter.isalpha() and ord(letter) < SPACED_UNTIL:
        return None
    return tail._replace(unit=unit)


def _read_multiplier(match: re.Match[str], end: int, *, currency: bool) -> NumberSuffix:
    word, glued = match[1].lower(), match.start(1) == end
    if word in SCALES:
        full_stop = match.string[match.end() : match.end() + 1] == "." and len(word) <= 3  # Mio.
        return NumberSuffix(match.end() + full_stop, SCALES[word])
    if word in SHORT_SCALES and (glued or currency or word in CERTAIN_SCALES):
        return NumberSuffix(match.end(), SHORT_SCALES[word], None if currency or word in CERTAIN_SCALES else 0)
    if word[0] in CJK_SCALES:
        return NumberSuffix(match.start(1) + 1, CJK_SCALES[word[0]])
    return NumberSuffix(match.end() if glued and word in ORDINAL_ENDINGS else end)


def _find_per_cent_end(text: str, match: re.Match[str]) -> int:
    word = match[1].lower()
    if word in PERCENT:
        return match.end()
    phrase = PERCENT_PHRASES.get(word)
    if phrase and text[match.end() : match.end() + len(phrase)].lower() == phrase:
        last = match.end() + len(phrase)
        return 0 if text[last : last + 1].isalpha() else last
    return 0


def _find_unit(word: str) -> str:
    small = word.lower()
    if small in SMALL_ONLY and word != small:
        return ""
    if small in CAPITAL_ONLY and word == small:
        return ""
    if small in UNITS:
        return UNITS[small]
    return next((unit for name, unit in CJK_UNITS.items() if word.startswith(name)), "")


def _build_case_pattern(names: Iterable[str]) -> str:
    return "|".join(f"[{name[0]}{name[0].upper()}]{name[1:]}" for name in names)


_SCALE = "|".join(WORD_SCALES)
PHRASE = re.compile(
    rf"(?<!\w)(?:{_build_case_pattern([*TENS, *ONES])}|[aA]n?(?=[ ](?:{_SCALE})\b))\b"
    rf"(?:(?:[ -]|[ ]and[ ])(?i:{'|'.join([*TENS, *ONES, *WORD_SCALES])})\b){{0,12}}"
)
ORDINAL = re.compile(rf"(?<!\w)(?:{_build_case_pattern(ORDINALS)})\b")
ENGLISH_WORD = re.compile(r"[A-Za-z]+")
VAGUE_WORDS = ("one", "zero")  # "one of them" is no number to check
UNBOUNDED = 10**15


def find_spelled(text: str, *, liberal: bool = False) -> Iterator[Mark]:
    """Numbers in words, percentages among them.

    `liberal`: also "one", "zero" and ordinals ("first"), wherever they stand.
    """
    for phrase in PHRASE.finditer(text):
        for start, end, value in _read_numbers(text, *phrase.span()):
            tail = read_suffix(text, end)
            vague = text[start:end].lower() in VAGUE_WORDS and not liberal
            if tail is None or (vague and not tail.percent):
                continue
            if tail.percent:
                yield Mark("percent", start, tail.end, f"{value}%")
            else:
                yield Mark("number", start, end, str(value), tail.unit)
    if liberal:
        for match in ORDINAL.finditer(text):
            yield Mark("number", match.start(), match.end(), str(ORDINALS[match[0].lower()]))


def _read_numbers(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The longest numbers that the words make, one after another: "two three" is two of them."""
    words = [match.span() for match in ENGLISH_WORD.finditer(text, start, end)]
    index = 0
    while index < len(words):
        best: tuple[int, int] | None = None
        for to in range(index + 1, len(words) + 1):
            value = _parse_words(text[words[index][0] : words[to - 1][1]].lower())
            if value is not None:
                best = (to, value)
        if best is None:
            index += 1
            continue
        yield words[index][0], words[best[0] - 1][1], best[1]
        index = best[0]


@lru_cache(maxsize=4_096)
def _parse_words(phrase: str) -> int | None:
    """The value of a number in words; None where the words are no single number.

    >>> _parse_words("two hundred and five"), _parse_words("twenty-one"), _parse_words("one two")
    (205, 21, None)
    """
    words = phrase.replace("-", " ").split()
    if words[-1] in ("and", "a", "an") or words[0] == "and":
        return None
    total, group, limit = 0, 0, UNBOUNDED  # the next word must be worth less than `least`
    for word in words:
        if word in ("a", "an"):
            group = 1
        elif word == "hundred":
            group, limit = (group or 1) * 100, 100
        elif word in WORD_SCALES:
            total, group, limit = total + (group or 1) * WORD_SCALES[word], 0, UNBOUNDED
        elif word != "and":
            value = TENS.get(word, ONES.get(word, 0))
            if value >= limit:
                return None
            group, limit = group + value, 10 if word in TENS else 0
    return total + group


DIGITS = re.compile(r"[0-9]+")
FORMS = read_patterns(__file__, "numerals")
NUMBER = FORMS["number"]
BRACKETS = read_patterns(__file__, "sentences")["bracketed"]
CHINESE_PERCENT = "百分之"
MAX_DIGITS = 400  # digits; a longer run is no number that anyone wrote


def find_numbers(text: str, *, liberal: bool = False) -> Iterator[Mark]:
    """Numbers, percentages and dates of a text whose digits are 0-9, not overlapping, in no fixed order.

    `liberal`: number words count wherever they stand ("one of", "first"); right for text to be searched in, wrong for
    text to be checked.
    """
    spelled = find_spelled(text, liberal=liberal)
    if "[" in text or "【" in text:
        text = BRACKETS.sub(lambda cited: "]" * len(cited[0]), text)
    pos = 0
    while digits := DIGITS.search(text, pos):
        pos = digits.start()
        mark = _read_number_at(text, pos, digits.end() - pos)
        if mark is not None:
            yield mark
        run = NUMBER.match(text, pos)
        pos = mark.end if mark is not None else run.end() if run is not None else pos + 1
    yield from spelled


def _read_number_at(text: str, pos: int, digits: int) -> Mark | None:
    """What the digit at pos begins; None inside a code such as X-200, or before a list item."""
    character_before = text[pos - 1] if pos else " "
    if character_before in "Y '" and (year := dates.find_fiscal_year(text, pos, digits)) is not None:
        return year
    if character_before == "_" or (character_before.isalpha() and ord(character_before) < SPACED_UNTIL):
        match = FORMS["dotted"].match(text, pos) if FORMS["v_before"].search(text, max(0, pos - 2), pos) else None
        return _build_number(text, pos, match) if match is not None else None
    if character_before == "-" and FORMS["code_before"].search(text, max(0, pos - 24), pos):
        return None
    date = dates.find_date_at(text, pos, digits)
    if date is not None:
        return date
    match = NUMBER.match(text, pos)
    if match is None or match.end() - pos > MAX_DIGITS:
        return None
    return None if _is_list_mark(text, pos, match) else _build_number(text, pos, match)


def _is_list_mark(text: str, pos: int, match: re.Match[str]) -> bool:
    if match.lastgroup != "whole" or match.end() - pos > 3 or not FORMS["list_mark"].match(text, match.end()):
        return False
    if text[pos - 1 : pos] == "(" and text[match.end()] == ")":
        return True
    line = text.rfind("\n", max(0, pos - 40), pos) + 1
    return (line > 0 or pos <= 40) and not text[line:pos].strip(" \t(")


def _build_number(text: str, pos: int, match: re.Match[str]) -> Mark | None:
    symbol = FORMS["currency_before"].search(text, max(0, pos - 5), pos)
    tail = read_suffix(text, match.end(), currency=symbol is not None)
    if tail is None:
        return None
    whole, fraction, other = _split_match(match)
    if fraction is None:
        return Mark("number", pos, match.end(), whole, tail.unit)
    unit = CURRENCIES[(symbol[1] or symbol[2]).lower()] if symbol else tail.unit
    number_start = symbol.start() if symbol else pos
    sign = FORMS["signed"].search(text, max(0, number_start - 8), number_start)
    minus = "-" if sign else ""
    normal = minus + normalize_number(whole, fraction, tail.shift)
    if tail.other is not None:
        other = normalize_number(whole, fraction, tail.other)
    elif other:
        other = normalize_number(other, "", tail.shift)
    other = minus + other if other else ""
    start = pos - 1 if sign and sign[0][-1] == "-" and not symbol else pos
    if match.lastgroup == "decimal" and "." in match[0] and not (symbol or tail.unit or tail.shift or tail.percent):
        version = format_version(match[0])
        if is_labeled(text, pos):
            return Mark("number", pos, match.end(), version)
        other = other or (version if version.endswith("0") else "")
    if tail.percent:
        return Mark("percent", start, tail.end, f"{normal}%", other=f"{other}%" if other else "")
    if text[max(0, start - 3) : start] == CHINESE_PERCENT:
        return Mark("percent", start - 3, tail.end, f"{normal}%")
    return Mark("number", start, tail.end, normal, unit, other)


def find_figure(text: str, start: int, end: int) -> str:
    """The number in characters [start, end) without its multiplier; "" where it has none.

    >>> find_figure("$1,577 million", 1, 14), find_figure("1,577", 0, 5)
    ('1577', '')
    """
    read = split_digits(text, start, end)
    return normalize_number(*read[:2]) if read is not None and text[read[2] : end].strip(" .-").isalpha() else ""


def split_digits(text: str, start: int, end: int) -> tuple[str, str, int] | None:
    """Whole part and fraction of the number in characters [start, end), as written, and where it ends.

    >>> split_digits("1.250,50 EUR", 0, 8), split_digits("12:30", 0, 5)
    (('1250', '50', 8), None)
    """
    first = DIGITS.search(text, start, end)
    match = NUMBER.match(text, first.start(), end) if first else None
    whole, fraction, _ = _split_match(match) if match is not None else ("", None, "")
    return None if match is None or fraction is None else (whole, fraction, match.end())


def _split_match(match: re.Match[str]) -> tuple[str, str | None, str]:
    """Whole part, fraction (None: taken as it stands) and the digits of the other reading."""
    text, kind = match[0], match.lastgroup
    if kind == "clock":
        return text.lstrip("0") if text[1] != ":" else text, None, ""
    if kind == "dotted":
        return text, None, ""
    if kind == "whole":
        return text, "", ""
    if kind == "decimal":
        whole, _, fraction = text.replace(",", ".").partition(".")
        thousands = "." in text and len(fraction) == 3 and len(whole) <= 3 and whole != "0"
        return whole, fraction, whole + fraction if thousands else ""
    mark = "," if kind == "point" or (kind in ("space", "quote") and "," in text) else "."
    whole, _, fraction = text.partition(mark)
    return re.sub(r"\D", "", whole), fraction, ""


def normalize_number(whole: str, fraction: str, shift: int = 0) -> str:
    """Digits without leading or trailing zeros, times ten to the power of shift.

    >>> normalize_number("005", "20", 6), normalize_number("0", "50"), normalize_number("1000", "")
    ('5200000', '0.5', '1000')
    """
    digits = whole + fraction
    point = len(whole) + shift
    digits = digits.ljust(point, "0")
    left, right = digits[:point].lstrip("0") or "0", digits[point:].rstrip("0")
    return f"{left}.{right}" if right else left
