"""Whether an answer states a short reference: a name, a number, a date, a phrase of few words, a list of such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from ragauge.judges.local.align import has_same_amount, is_standalone_number
from ragauge.judges.local.english import NEGATIONS
from ragauge.judges.local.index import STOP_UNITS, build_haystack
from ragauge.judges.local.items import list_measures
from ragauge.judges.local.measures import find_unit_after, is_same_amount
from ragauge.judges.local.statements import strip_marks
from ragauge.text.names import find_codes, fold_case, has_code, list_written_words
from ragauge.text.numerals import CURRENCIES, format_version, needs_label
from ragauge.text.specifics import EXACT_KINDS, Specific, find_specifics, is_found_in
from ragauge.text.tokens import stem_word
from ragauge.text.word_files import read_patterns, read_words

MAX_PHRASE_WORDS = 8  # of a phrase
MAX_SENTENCE_WORDS = 3  # of one that ends as a sentence does
MAX_CLAIM_CHARS = 4_000  # characters of a claim
REACH_WORDS = 3  # words that may stand between those of a phrase, and as many again as it has words
MIN_LONG_WORD_CHARS = 7  # letters from which on one may differ
MIN_COMPOUND_CHARS = 4  # letters from which on a phrase may be written in one word
NEGATION_REACH_WORDS = 3  # words before a mention that may negate it
MAX_READINGS = 8
MIN_ROUND_ZEROS = 2  # at the end of a number that is taken for a rounded one

WORDS, FORMS = read_words(__file__, "short_answers"), read_patterns(__file__, "short_answers")
EITHER, EACH = FORMS["either"], FORMS["each"]
SPELLED_DIGITS = {
    "one": "1",
    "zero": "0",
}  # no numbers to check elsewhere ("one of them"), but they are as a whole answer
ARTICLES = frozenset(WORDS["articles"].split())
CODE_MARK = "\ue000"  # stands around the number of an identifier; of the private use area


class ReferencePart(NamedTuple):
    """One member of a short reference."""

    words: tuple[str, ...]  # stems of its words with content, numbers left out; of all its words where none has any
    numbers: tuple[Specific, ...]  # its numbers, dates and percentages
    joined: str  # its words in one
    compound: bool = True  # whether that is long enough to be looked for as it is
    codes: tuple[str, ...] = ()  # its identifiers of code, which have to stand there as they are

    @property
    def is_bare(self) -> bool:
        """Whether it is one number and nothing else: no word, no unit, no scale."""
        return not self.words and len(self.numbers) == 1 and is_figure(self.numbers[0])

    @property
    def amount(self) -> str:
        """Its first number as it may be written, with its unit."""
        first = self.numbers[0]
        return f"{first.unit}{first.text}" if first.unit in CURRENCIES else f"{first.text} {first.unit}".strip()

    def is_repeated_in(self, query: frozenset[str]) -> bool:
        """Whether the part has no word that the question, given by its stems, has not."""
        return not self.numbers and query.issuperset(self.words) and not STOP_UNITS.issuperset(self.words)


def is_short(reference: str) -> bool:
    """Whether a reference is a phrase rather than a statement.

    >>> is_short("Paris"), is_short("8 May 1945"), is_short("The warranty lasts two years.")
    (True, True, False)
    """
    count = len(list_written_words(reference[:MAX_CLAIM_CHARS]))
    return 0 < count <= (MAX_SENTENCE_WORDS if FORMS["ends"].search(reference) else MAX_PHRASE_WORDS)


@lru_cache(maxsize=512)
def list_readings(reference: str, *, labels: bool = False) -> tuple[tuple[ReferencePart, ...], ...]:
    """What a short reference accepts: any of these, each of which needs all its parts.

    `labels`: its decimals only tell things apart, as versions do.

    >>> [[part.joined for part in each] for each in list_readings("Chile and Peru")]
    [['chile', 'peru']]
    >>> [[part.joined for part in each] for each in list_readings("the sea (or ocean)")]
    [['thesea'], ['ocean']]
    """
    members = (
        [_build_part(each, labels=labels) for each in EACH.split(text)] for text in _list_alternatives(reference)
    )
    parts = (tuple(part for part in each if part is not None) for each in members)
    return tuple(dict.fromkeys(filter(None, parts)))[:MAX_READINGS]


def _list_alternatives(reference: str) -> Iterator[str]:
    text = strip_marks(reference).strip(" \t\"'“”‘’«».")
    inner = [first or second for first, second in FORMS["round"].findall(text)]
    outer = " ".join(FORMS["round"].sub(" ", text).split())
    for alternative in [FORMS["gloss"].sub("", outer), *inner]:
        gloss = alternative is not outer and alternative in inner and outer
        if gloss and not (FORMS["also"].match(alternative) or FORMS["initials"].match(alternative)):
            continue
        yield from (FORMS["also"].sub("", part) for part in _split_either(alternative))


def _split_either(text: str) -> list[str]:
    """The alternatives of a text; the slashes of a path are none."""
    identifiers = find_codes(text)
    for index, code in enumerate(identifiers):
        text = text.replace(code, f"{CODE_MARK}{index}{CODE_MARK}")
    alternatives = EITHER.split(text)
    for index, code in enumerate(identifiers):
        alternatives = [alternative.replace(f"{CODE_MARK}{index}{CODE_MARK}", code) for alternative in alternatives]
    return alternatives


def _build_part(text: str, *, labels: bool) -> ReferencePart | None:
    text = SPELLED_DIGITS.get(text.strip().lower(), text)
    numbers = _find_exact(text, labels=labels)
    characters = list(text)
    for number in numbers:
        end = find_unit_after(text, number.end)[1]
        characters[number.start : end] = " " * (end - number.start)
    own_words = list_plain_words("".join(characters))
    content = [_stem_word(word) for word in own_words if word not in STOP_UNITS and word not in ARTICLES]
    if not content and not numbers:
        content = [_stem_word(word) for word in list_plain_words(text)]
    pieces = [fold_case(word) for word in list_written_words(text)]
    joined = "".join(pieces)
    compound = len(joined) >= MIN_COMPOUND_CHARS or (len(joined) > 2 and len(joined) == len(pieces))
    return ReferencePart(tuple(content), numbers, joined, compound, find_codes(text)) if content or numbers else None


def _find_exact(text: str, *, labels: bool) -> tuple[Specific, ...]:
    """The numbers, dates and percentages of a text; decimals without a unit as labels where they are such."""
    numbers = find_specifics(text, EXACT_KINDS)
    if not labels:
        return numbers
    return tuple(
        replace(mark, normal=format_version(mark.text), other="") if _is_label(mark) else mark for mark in numbers
    )


def _is_label(specific: Specific) -> bool:
    return specific.kind == "number" and not specific.unit and FORMS["dotted"].fullmatch(specific.text) is not None


def list_plain_words(text: str) -> list[str]:
    """The words of a text, folded, without the endings of owners."""
    return [fold_case(word) for word in list_written_words(FORMS["owner"].sub("", text))]


def list_plain_units(text: str) -> list[str]:
    """The stems of a text's words with content, as parts are compared by."""
    return [_stem_word(word) for word in list_plain_words(text) if word not in STOP_UNITS]


@lru_cache(maxsize=4_096)
def _stem_word(word: str) -> str:
    """A word's stem; of a very short stem the word itself, so that "one" is not "on"."""
    stemmed = stem_word(word)
    return stemmed if len(stemmed) > 2 else word


class AnswerClaim:
    """A claim of the answer, made ready for looking up.

    Args:
        claim: its text.
        query: the question, which tells how a number is meant; "" where it is not known.
    """

    def __init__(self, claim: str, query: str = "") -> None:
        self.text = claim[:MAX_CLAIM_CHARS]
        self.query = query
        self.labels = needs_label(query)
        raw = list_plain_words(self.text)
        self.words = [glued[1] if (glued := FORMS["glued"].match(word)) else word for word in raw]
        self.places: dict[str, list[int]] = {}
        for index, word in enumerate(self.words):
            for unit in {_stem_word(word), _stem_word(raw[index])}:
                self.places.setdefault(unit, []).append(index)
        pieces = [fold_case(word) for word in list_written_words(self.text)]
        self.joined = "".join(pieces)
        self.edges = set(accumulate(map(len, pieces), initial=0))

    def says(self, part: ReferencePart) -> bool:
        """Whether the claim names a part, and does not deny it."""
        if not all(has_code(code, self.text) for code in part.codes):
            return False
        single = part.numbers[0] if not part.words and len(part.numbers) == 1 else None
        if not self._has_numbers(part):
            if self.labels or single is None or single.kind == "date":
                return False
            if has_same_amount(part.amount, self.text, self.query):
                return True
            target = list_measures(part.amount)[0]  # 5 km for 5,000 m
            others = (measure for measure in list_measures(self.text) if measure.unit not in ("", target.unit))
            return bool(target.unit) and any(is_same_amount(target, measure) for measure in others)
        if not part.words:
            count = single is not None and single.kind == "number" and not single.unit
            return not count or is_standalone_number(part.numbers[0], self.text, self.query)
        positions = [self.where(word) for word in part.words]
        reach = 2 * len(positions) + REACH_WORDS if len(positions) > 1 else 0
        first = min(positions, key=len)  # where all the words stand near each other
        near = (index for index in first if all(any(abs(other - index) <= reach for other in row) for row in positions))
        position = next(near, None)
        if position is None:  # whatever is put between them: seashells, sea-shells, sea shells
            starts = (index for index in self.edges if index + len(part.joined) in self.edges)
            return part.compound and any(self.joined.startswith(part.joined, index) for index in starts)
        words_before = self.words[max(0, position - NEGATION_REACH_WORDS) : position]
        return not NEGATIONS.isdisjoint(part.words) or NEGATIONS.isdisjoint(words_before) or "only" in words_before

    def has_exact_part(self, part: ReferencePart) -> bool:
        """Whether the claim has a part as it is written, forms of its words and spellings of its numbers aside."""
        return part.joined in self.joined if part.words else self._has_numbers(part)

    def has_other_number(self, part: ReferencePart) -> bool:
        """Whether the words of a part stand before another number than the part's: Python 3.1 for Python 3.10."""
        if not part.words or not part.numbers or self._has_numbers(part):
            return False
        positions = [self.where(word) for word in part.words]
        return all(positions) and any("".join(self.words[index + 1 : index + 2]).isdigit() for index in positions[-1])

    def _has_numbers(self, part: ReferencePart) -> bool:
        return all(self.counts(number) or (part.is_bare and self.scales(number)) for number in part.numbers)

    def counts(self, specific: Specific) -> bool:
        """Whether a number or date is there, and counts the same; a round one also where the exact one is."""
        if self.labels and _is_label(specific):
            return any(specific.normal == other.normal for other in self.numbers)
        if not is_found_in(specific, build_haystack(self.text)):
            return specific.kind == "number" and any(_is_rounded(other, specific) for other in self.numbers)
        if not specific.unit:
            return True
        same = {specific.normal, specific.other} - {""}
        units = {other.unit for other in self.numbers if same & {other.normal, other.other}}
        return not units or "" in units or specific.unit in units

    def scales(self, specific: Specific) -> bool:
        """Whether the figures of a bare number stand there with a scale, a currency or per cent: "1,577" in "$1,577m".

        A negative one may be told as a fall: "-0.2" in "a decrease of $0.2 million".
        """
        normals = {specific.normal}
        if specific.normal.startswith("-") and FORMS["falling"].search(self.text):
            normals.add(specific.normal[1:])
        return any(normals & list_figures(other) for other in self.numbers)

    @cached_property
    def numbers(self) -> tuple[Specific, ...]:
        """The claim's numbers, dates and percentages."""
        return _find_exact(self.text, labels=self.labels)

    def where(self, unit: str) -> Sequence[int]:
        """Places of a word, or of one spelled nearly so."""
        exact = self.places.get(unit)
        if exact is not None:
            return exact
        return [
            position for other, positions in self.places.items() if _is_same_word(unit, other) for position in positions
        ]

    def compute_share(self, part: ReferencePart) -> float:
        """Share of the letters of a part's words that the claim has; one character of several only beside its next."""
        positions = [set(self.where(word)) for word in part.words]
        if any(len(word) > 1 for word in part.words) or len(part.words) == 1:
            shared = sum(len(word) for word, own_positions in zip(part.words, positions, strict=True) if own_positions)
        else:
            pairs = [any(start + 1 in after for start in own_positions) for own_positions, after in pairwise(positions)]
            shared = sum(before or after for before, after in zip([False, *pairs], [*pairs, False], strict=True))
        return shared / max(1, sum(map(len, part.words)))


def is_figure(specific: Specific) -> bool:
    """Whether a number is told by its figures alone, without a unit or a scale."""
    return specific.kind == "number" and not specific.unit and FORMS["figure"].fullmatch(specific.text) is not None


def list_figures(specific: Specific) -> set[str]:
    """The figures of a number as they are written, without its scale; of one digit with a scale none.

    >>> [list_figures(one) for one in find_specifics("1,577 million and 5.46%", EXACT_KINDS)]
    [{'1577'}, {'5.46'}]
    """
    match = FORMS["figure"].match(specific.text) if specific.kind in ("number", "percent") else None
    if match is None:
        return set()
    figure = match[0].rstrip(" .,'")
    if len(figure) < 2 and figure != specific.text and specific.kind == "number":
        return set()
    if figure == specific.text:
        return {specific.normal}
    return {each.normal for each in find_specifics(figure, EXACT_KINDS) if each.kind == "number"}


def _is_rounded(exact: Specific, rough: Specific) -> bool:
    """Whether a number is the rounded form of another: 24,901 miles are 24,900 miles."""
    digits = rough.normal.rstrip("0")
    zeros = len(rough.normal) - len(digits)
    if zeros < MIN_ROUND_ZEROS or not digits.isdigit() or not exact.normal.replace(".", "", 1).isdigit():
        return False
    if exact.kind != "number" or (exact.unit and rough.unit and exact.unit != rough.unit):
        return False
    return round(float(exact.normal) / float(f"1e{zeros}")) == int(digits)


def _is_same_word(word: str, other: str) -> bool:
    """Whether two words are spellings or forms of one: one letter of a long one differs, or an ending."""
    if word[0] != other[0] or not word.isalpha() or not other.isalpha():
        return False
    short, long = sorted((word, other), key=len)
    if len(short) >= MIN_LONG_WORD_CHARS - 1 and len(long) - len(short) <= 3 and long.startswith(short):
        return True
    if len(long) < MIN_LONG_WORD_CHARS or len(long) - len(short) > 1:
        return False
    pairs = zip(short, long, strict=False)  # where they part one letter is put in, left out or changed
    split_index = next((n for n, (left, right) in enumerate(pairs) if left != right), len(short))
    return short[split_index + (len(short) == len(long)) :] == long[split_index + 1 :]
