"""Sentences and headings with their offsets, and Markdown taken off them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ragauge.text.characters import UNSPACED
from ragauge.text.word_files import read_patterns, read_sets, read_words

CLOSING_CHARS = "」』】〉》）)\\]\"”’»'"
# ideographic, Arabic and Urdu, Devanagari, Armenian, Ethiopic, Myanmar, Khmer, Tibetan
ENDERS = "。！？｡؟۔।॥։።။៕។།"
STOP_MARK = re.compile(rf"[{ENDERS}]+[{CLOSING_CHARS}]*(?!\s*[{ENDERS}])")
GLUED_STOP = re.compile(rf"(?<=[{UNSPACED}])[.!?]+[{CLOSING_CHARS}]*(?=[{UNSPACED}])")
MIN_SPACE_ENDED_CHARS = 10

FORMS = read_patterns(__file__, "sentences")
PLACEHOLDER, FENCE, CODE = FORMS["placeholder"], FORMS["fence"], FORMS["code"]
SOURCE = f"(?:{read_words(__file__, 'sentences')['parts']['SOURCE']})"
ABBREVIATIONS, LOOSE_ABBREVIATIONS = read_sets(__file__, "sentences", "before_anything before_small")
(LEFT_TO_MODEL,) = read_sets(__file__, "sentences", "left_to_model")
OPENING_CHARS = "([\"'“‘„«"


def find_other_stops(piece: str) -> set[int]:
    """Offsets one past the sentence ends that are not written with a Latin full stop and a space."""
    stops = set()
    for match in STOP_MARK.finditer(piece):
        if match[0][-1] not in "」』" or not FORMS["quoted_on"].match(piece, match.end()):
            stops.add(match.end())
    for pattern in (GLUED_STOP, FORMS["footnoted"], FORMS["greek_question"]):
        stops.update(match.end() for match in pattern.finditer(piece))
    begin = 0
    for match in FORMS["space_ended"].finditer(piece):
        if match.start() - begin >= MIN_SPACE_ENDED_CHARS:
            stops.add(match.end())
            begin = match.end()
    return stops


def find_plain_stops(piece: str) -> set[int]:
    """Offsets behind full stops that follow an ordinary word and stand before a capital.

    >>> find_plain_stops("It cures cancer. Nobody knew. Prof. Roe said so.")
    {16, 29}
    """
    stops = set()
    for match in FORMS["before_capital"].finditer(piece):
        text_before = piece[max(0, match.start() - 24) : match.start()]
        if not text_before[-1:].isalpha() or not match[1].isupper():
            continue
        word = text_before.rsplit(None, 1)[-1].lstrip(OPENING_CHARS)
        ordinary = len(word) >= 5 or (len(word) >= 3 and word.islower())
        if ordinary and word.isalpha() and word.lower() not in LEFT_TO_MODEL:
            stops.add(match.end())
    return stops


def is_continued(piece: str, stop: int) -> bool:
    """Whether the mark before this offset ends no sentence: an abbreviation, an ordinal, a list number, code.

    >>> (is_continued("Am 3. Januar kam er.", 6), is_continued("Das ist z.B. gut.", 13),
    ...     is_continued("It is 3. It was.", 9))
    (True, True, False)
    >>> is_continued("WHERE id = ? AND b > 3", 12), is_continued("x ? y : z", 3), is_continued("Is it so? Yes.", 9)
    (True, True, False)
    """
    if stop >= len(piece):
        return False
    text_before = piece[max(0, stop - 24) : stop].rstrip()
    if text_before.endswith("?"):
        return PLACEHOLDER.search(text_before) is not None or (
            text_before.endswith(" ?") and FORMS["ternary"].match(piece, len(piece[:stop].rstrip())) is not None
        )
    if not text_before.endswith("."):
        return False
    word = text_before.rsplit(None, 1)[-1].lstrip(OPENING_CHARS).casefold()
    if word in ABBREVIATIONS:
        return True
    following = piece[stop : stop + 20].lstrip()
    small = following[:1].islower()
    if word in LOOSE_ABBREVIATIONS:
        return small or following[:1].isdigit()
    if len(word) > 3 or not word[:-1].isdigit():
        return False
    if small or FORMS["month"].match(following):
        return True
    return any(FORMS[kind].search(text_before) for kind in ("german_lead", "enumerator"))


_CODE_MARK = "\ue000"  # stands for a code span while the rest is read; of the private use area


def remove_markup(sentence: str, remove: Callable[[str], str]) -> str:
    """A sentence without list markers, emphasis and the marks of code spans.

    What stands in a code span is as written; so are names with underscores, `*args`, `*.py`, and a star between
    spaces.

    Args:
        sentence: one sentence.
        remove: takes out what else is no part of it, though not within code spans.

    >>> remove_markup("- **Set** `A_*` and __init__ of _this_ to 2 * 3", str)
    'Set A_* and __init__ of this to 2 * 3'
    """
    sentence = sentence.replace(_CODE_MARK, " ")
    text = remove(FORMS["list"].sub("", remove(FORMS["span"].sub(_CODE_MARK, sentence))))
    text = FORMS["underlined"].sub(lambda line: line[0] if FORMS["dunder"].fullmatch(line[0]) else line[2], text)
    text = FORMS["ticks"].sub("", FORMS["stars"].sub(_remove_star, text))
    for span in FORMS["span"].finditer(sentence):
        text = text.replace(_CODE_MARK, span[2], 1)
    return text


def _remove_star(match: re.Match[str]) -> str:
    character_before, character_after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    word = [char.isalnum() or char == "_" for char in (character_before, character_after)]
    operator = character_before == character_after == " " and len(match[0]) < 3
    return match[0] if all(word) or operator or FORMS["starred"].match(match.string, match.end()) else ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text[start:end]` of the whole, numbered from 1."""

    n: int
    text: str
    start: int
    end: int


Spans = list[tuple[int, int]]
BREAKS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
LINE, LINE_BREAK = re.compile(f"[^{BREAKS}]+"), re.compile(f"[{BREAKS}]")
MIN_WRAP_CHARS, MAX_WRAP_CHARS = 50, 132
MAX_REMEMBERED_CHARS = 4_000_000  # characters after which the splitter forgets what it decided: about a megabyte


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order.

    A line break, a list item, a heading and a table row end a sentence; the line breaks of a paragraph that was
    wrapped at a fixed width do not, nor does a full stop in a code span. A bracketed citation after a full stop belongs
    to the sentence before. A piece without letters or digits is part of its neighbour. No sentence begins or ends with
    white space, and every other character is in exactly one. Never fails.

    >>> [sentence.text for sentence in split_sentences("Dr. Lee paid $3.5 million. [1] It rained!")]
    ['Dr. Lee paid $3.5 million. [1]', 'It rained!']
    >>> [sentence.text for sentence in split_sentences("他来了。她走了！")]
    ['他来了。', '她走了！']
    """
    spans = _join_wordless(text, [span for piece in _split_pieces(text) for span in _split_piece(text, *piece)])
    return tuple(Sentence(n, text[start:end], start, end) for n, (start, end) in enumerate(spans, 1))


@cache
def _load_latin_splitter() -> Callable[[str], Iterable[tuple[int, int]]]:
    """The splitter for scripts that end a sentence with a full stop; its model is in the package."""
    import nupunkt
    from nupunkt.core import tokens

    splitter = nupunkt.load("default")
    words: dict[str, object] = getattr(tokens, "_derived_cache", {})  # of its own it forgets none of 65,536
    remembered = 0

    def split_spans(piece: str) -> Iterable[tuple[int, int]]:
        nonlocal remembered
        remembered += len(piece)
        if remembered > MAX_REMEMBERED_CHARS:
            splitter.clear_decision_cache()
            words.clear()
            remembered = 0
        return splitter.span_tokenize(piece)

    return split_spans


def _split_pieces(text: str) -> Iterator[tuple[int, int]]:
    """Lines; a paragraph wrapped at a fixed width is one piece."""
    if LINE_BREAK.search(text) is None:
        yield 0, len(text)
        return
    block: Spans = []
    for line in LINE.finditer(text):
        filled = bool(line[0].strip())
        if block and (not filled or text.count("\n", block[-1][1], line.start()) > 1):
            yield from _unwrap_lines(text, block)
            block = []
        if filled:
            block.append(line.span())
    yield from _unwrap_lines(text, block)


def _unwrap_lines(text: str, lines: Spans) -> Spans:
    if len(lines) < 2:
        return lines
    widths = [len(text[start:end].strip()) for start, end in lines]
    widest = max(widths)
    if not MIN_WRAP_CHARS <= widest <= MAX_WRAP_CHARS or min(widths[:-1]) < max(MIN_WRAP_CHARS - 10, 0.7 * widest):
        return lines
    following = lines[1:]
    starts = (FORMS["lower_start"].match(text, start, end) for start, end in following)
    small = any(match and match[0][-1].islower() for match in starts)
    marked = any(FORMS["marker"].match(text, start, end) for start, end in following)
    return [(lines[0][0], lines[-1][1])] if small and not marked else lines


def _split_piece(text: str, start: int, end: int) -> Spans:
    piece = text[start:end]
    stops = set()
    if any(sign in piece for sign in ".!?…"):
        masked = FORMS["long_run"].sub(lambda run: run[0][:40] + "x" * (len(run[0]) - 80) + run[0][-40:], piece)
        stops = {stop for _, stop in _load_latin_splitter()(masked)} | find_plain_stops(piece)
        stops = {stop for stop in stops if not is_continued(piece, stop)}
    if not piece.isascii():
        stops |= find_other_stops(piece)
    if stops and "`" in piece:
        stops = {stop for stop in stops if not any(span.start() < stop < span.end() for span in CODE.finditer(piece))}
    spans, begin = [], 0
    for boundary in sorted(stops | {len(piece)}):
        if boundary < begin:
            continue
        stop = _skip_citations(piece, boundary) if boundary < len(piece) else boundary
        body = piece[begin:stop]
        if stripped := body.strip():
            first = start + begin + len(body) - len(body.lstrip())
            spans.append((first, first + len(stripped)))
        begin = stop
    return spans


def _skip_citations(piece: str, stop: int) -> int:
    """Moves a boundary behind the citations that follow it, unless they open the next sentence ("[1] shows that")."""
    position = len(piece[:stop].rstrip())
    match = FORMS["cited"].match(piece, position)
    if match is None:
        return stop
    after = FORMS["next"].match(piece, match.end())
    glued = not piece[position].isspace()
    return match.end() if glued or after is None or not after[1].islower() else stop


def _join_wordless(text: str, spans: Spans) -> Spans:
    """Joins spans without a letter or digit to the one before, or to the next where there is none before."""
    joined: Spans = []
    for span in spans:
        if joined and any(FORMS["word"].search(text, *bounds) is None for bounds in (joined[-1], span)):
            joined[-1] = (joined[-1][0], span[1])
        else:
            joined.append(span)
    return joined


class Unit(NamedTuple):
    """A heading or a sentence."""

    text: str  # `whole[start:end]`; of a heading, its words without the marks
    start: int  # first character
    end: int  # one past the last character
    left: int  # where a piece that begins with this unit begins: before the mark of a heading or list item
    level: int  # 1 to 6 for a heading, 0 for a sentence
    # the headings that a sentence stands under, outermost first; a heading's own are those above it
    headings: tuple[str, ...]


def build_outline(text: str) -> tuple[Unit, ...]:
    """The headings and sentences of a text, in order.

    Headings are lines that open with one to six ``#``. A list item and a table row are blocks of their own, so that
    no sentence runs over two of them; inside a code fence nothing is a heading.
    """
    units: list[Unit] = []
    stack: list[tuple[int, str]] = []
    for left, start, end, level in _split_blocks(text):
        if level:
            while stack and stack[-1][0] >= level:
                stack.pop()
            units.append(Unit(text[start:end], start, end, left, level, tuple(words for _, words in stack)))
            stack.append((level, text[start:end]))
            continue
        above = tuple(words for _, words in stack)
        for number, sentence in enumerate(split_sentences(text[start:end])):
            first, last = start + sentence.start, start + sentence.end
            units.append(Unit(text[first:last], first, last, first if number else left, 0, above))
    return tuple(units)


def _split_blocks(text: str) -> Iterator[tuple[int, int, int, int]]:
    """(left, start, end, level) of each heading, list item, table row and paragraph."""
    pending: tuple[int, int, int] | None = None
    position, fenced = 0, False
    for line in text.split("\n"):
        here, position = position, position + len(line) + 1
        bare = line.rstrip()
        fence = FORMS["code_fence"].match(line) is not None
        heading = None if fenced or fence else FORMS["heading"].match(bare)
        item = None if fenced else FORMS["item"].match(line)
        if pending and (not bare or fence or heading or item or bare.lstrip().startswith("|")):
            yield (*pending, 0)
            pending = None
        fenced ^= fence
        if heading:
            yield here, here + heading.start(2), here + heading.end(2), len(heading.group(1))
        elif bare and not fence:
            left = here + len(line) - len(line.lstrip())
            opening = pending[:2] if pending else (left, here + item.end() if item else left)
            pending = (*opening, here + len(bare))
    if pending:
        yield (*pending, 0)
