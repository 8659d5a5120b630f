"""A text as runs of four words, hashed: so that what stood where is compared without keeping the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

from ragauge.text.characters import UNSPACED

SHINGLE_WORDS = 4  # words of a shingle
CLUSTERS = re.compile(r"\S+|\s+")  # nothing is composed across white space
WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")


def locate_words(text: str) -> list[tuple[str, int, int]]:
    r"""(word, start, end) of each word: folded as NFKC and by case, punctuation aside; places are those in the text.

    A letter and its accents are one letter, whether the text writes them as one character (NFC) or as several (NFD).

    >>> locate_words("Caf\u00e9 Noir"), locate_words("Cafe\u0301 Noir")
    ([('café', 0, 4), ('noir', 5, 9)], [('café', 0, 5), ('noir', 6, 10)])
    """
    if unicodedata.is_normalized("NFC", text):
        matches = ((match.group(), match.start(), match.end()) for match in WORD.finditer(text))
    else:
        form, edges = _compose_text(text)
        matches = ((match.group(), edges[match.start()], edges[match.end()]) for match in WORD.finditer(form))
    return [(_fold_word(word), start, end) for word, start, end in matches]


def _compose_text(text: str) -> tuple[str, list[int]]:
    """A text as NFC, and the place in the text that each of its characters and its end begins at."""
    forms: list[str] = []
    edges: list[int] = []
    for match in CLUSTERS.finditer(text):
        for start, letter in _split_letters(match.group()):
            form, begin = unicodedata.normalize("NFC", letter), match.start() + start
            forms.append(form)
            if form == letter:
                edges += range(begin, begin + len(letter))
            else:  # what is left beside the letter ends with it
                edges += [begin, *[begin + len(letter)] * (len(form) - 1)]
    return "".join(forms), [*edges, len(text)]


def _split_letters(text: str) -> Iterator[tuple[int, str]]:
    """(start, characters) that NFC looks at together: a letter with its accents, the parts of a Hangul syllable."""
    if unicodedata.is_normalized("NFC", text):
        yield 0, text
        return
    start, form = 0, ""
    for n, sign in enumerate(text):
        longer = unicodedata.normalize("NFC", text[start : n + 1])
        alone = not unicodedata.combining(sign) and longer == form + unicodedata.normalize("NFC", sign)
        if n and alone:
            yield start, text[start:n]
            start, longer = n, unicodedata.normalize("NFC", sign)
        form = longer
    yield start, text[start:]


@lru_cache(maxsize=65_536)
def _fold_word(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


def hash_shingles(words: Sequence[str]) -> list[str]:
    """The hash of each run of four words, 16 hexadecimal digits; of fewer words one hash.

    >>> len(hash_shingles("the hub has two lights".split())), len(hash_shingles(["hub"])), hash_shingles([])
    (2, 1, [])
    """
    if len(words) < SHINGLE_WORDS:
        return [hash_run(" ".join(words))] if words else []
    return [hash_run(" ".join(words[n : n + SHINGLE_WORDS])) for n in range(len(words) - SHINGLE_WORDS + 1)]


def hash_run(text: str) -> str:
    """Of words with a space between them, 16 hexadecimal digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
