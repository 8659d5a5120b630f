"""Words of a corpus without spaces, stretches widened to whole words, and texts as hashed runs of words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from math import inf, log

from ragauge.text.characters import UNSPACED, build_mark_ranges

UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
MAX_LETTERS = 8  # of a word, a letter with its marks counted once
VIRAMA = 9  # class of the signs that join the next letter to the one before
MIN_COUNT = 2  # occurrences below which a stretch of letters is no word
COHESION = 2.5  # log of how much likelier a word is than its parts beside each other by chance
MAX_CHARS = 200_000  # of a corpus that words are learned from
MAX_ROUNDS = 3  # of cutting the corpus by the words known so far
MAX_SHARE = 0.4  # share of the documents above which a word tells nothing about one
MIN_DOCUMENTS = 5  # of a corpus, for that share to mean something


class UnspacedWords:
    """Cuts texts where words end, as a corpus of them suggests.

    The words are those that make the corpus most likely, were they drawn independently: log p(w) = log(n(w) / N), where
    n(w) counts w in the best cut of the corpus so far. Stretches of letters start as words where they recur, and do so
    more than their parts would by chance: log p(ab) − log p(a) p(b) is 2.5 or more for each way to part them. No cut
    joins two scripts, such as Han and Hiragana.

    Args:
        texts: of the corpus.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(text for text in texts if not text.isascii())

    def words(self, text: str) -> list[str]:
        """The words of two letters or more of a text's unspaced scripts, in order, without those of most documents."""
        return [word for word in self._cut_text(text) if word not in self._frequent_words]

    def _cut_text(self, text: str) -> list[str]:
        cut = (_cut_run(letters, self._word_weights) for letters in _split_runs(text))
        return [word for run_words in cut for word in run_words if len(_split_letters(word)) > 1]

    @cached_property
    def _word_weights(self) -> Mapping[str, float]:
        """Word -> log of its share."""
        runs: Counter[tuple[str, ...]] = Counter()
        room = MAX_CHARS
        for text in self._texts:
            runs.update(map(tuple, _split_runs(text[:room])))
            room -= len(text)
            if room <= 0:
                break
        counts: Counter[str] = Counter()
        for letters, times in runs.items():
            for start in range(len(letters)):
                for end in range(start + 1, min(len(letters), start + MAX_LETTERS) + 1):
                    counts["".join(letters[start:end])] += times
        total = sum(n for word, n in counts.items() if len(_split_letters(word)) == 1)
        weights = _compute_log_shares({word: n for word, n in counts.items() if _is_cohesive(word, counts, total)})
        for _ in range(MAX_ROUNDS):
            used: Counter[str] = Counter()
            for letters, times in runs.items():
                for word in _cut_run(list(letters), weights):
                    used[word] += times
            weights = _compute_log_shares(
                {word: n for word, n in used.items() if n >= MIN_COUNT or len(_split_letters(word)) == 1}
            )
        return weights

    @cached_property
    def _frequent_words(self) -> frozenset[str]:
        """Words that most documents have, as particles and verbs of every sentence."""
        if len(self._texts) < MIN_DOCUMENTS:
            return frozenset()
        document_counts = Counter(word for text in self._texts for word in set(self._cut_text(text)))
        return frozenset(word for word, n in document_counts.items() if n > MAX_SHARE * len(self._texts))


def _split_runs(text: str) -> Iterator[list[str]]:
    """The letters, with their marks, of every stretch of one unspaced script."""
    for match in UNSPACED_RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run: list[str] = []
        for letter in _split_letters(match[0]):
            if run and _find_script(letter) != _find_script(run[-1]):
                yield run
                run = []
            run.append(letter)
        yield run


def _split_letters(run: str) -> list[str]:
    """Each letter with the signs on, under or after it, and the letters that a sign puts under it."""
    letters: list[str] = []
    for sign in run:
        joined = bool(letters) and unicodedata.combining(letters[-1][-1]) == VIRAMA
        if letters and (joined or unicodedata.category(sign).startswith("M")):
            letters[-1] += sign
        else:
            letters.append(sign)
    return letters


def _find_script(letter: str) -> str:
    """The first word of a letter's name in Unicode; marks that lengthen a sound belong to Katakana."""
    name = unicodedata.name(letter[0], "").replace("-", " ").split(" ")[0]
    return "CJK" if name == "IDEOGRAPHIC" else name


def _is_cohesive(word: str, counts: Mapping[str, int], total: int) -> bool:
    """Whether a stretch recurs more often than its parts would by chance; a letter alone does."""
    letters = _split_letters(word)
    if len(letters) == 1:
        return True
    if counts[word] < MIN_COUNT:
        return False
    threshold = log(counts[word] * total) - COHESION
    splits = (("".join(letters[:n]), "".join(letters[n:])) for n in range(1, len(letters)))
    return all(log(counts[first]) + log(counts[second]) <= threshold for first, second in splits)


def _compute_log_shares(counts: Mapping[str, int]) -> dict[str, float]:
    log_total = log(max(1, sum(counts.values())))
    return {word: log(n) - log_total for word, n in counts.items() if n}


def _cut_run(letters: list[str], weights: Mapping[str, float]) -> list[str]:
    """The most likely words that a run consists of; a letter that no word has stands alone."""
    min_weight = min(weights.values(), default=0.0) - 1.0
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(letters) + 1):
        top = (-inf, end - 1)
        for start in range(max(0, end - MAX_LETTERS), end):
            weight = weights.get("".join(letters[start:end]), min_weight if end - start == 1 else -inf)
            top = max(top, (best[start][0] + weight, start))
        best.append(top)
    words, end = [], len(letters)
    while end:
        start = best[end][1]
        words.append("".join(letters[start:end]))
        end = start
    return words[::-1]


REACH_CHARS = 200  # characters on either side that are looked at: no word is longer


@cache
def _compile_word_pattern() -> re.Pattern[str]:
    """Letters with their marks, digits, and commas and points between digits; scripts without spaces have no edges."""
    return re.compile(rf"(?:[^\W_{UNSPACED}]|[{build_mark_ranges()}]|(?<=\d)[.,](?=\d))+")


def find_word_around(text: str, position: int) -> tuple[int, int] | None:
    """The word that a place between two characters lies inside of, as (start, end); None at an edge or outside."""
    if not 0 < position < len(text):
        return None
    low = max(0, position - REACH_CHARS)
    for match in _compile_word_pattern().finditer(text, low, min(len(text), position + REACH_CHARS)):
        if match.start() >= position:
            return None
        if match.end() > position:
            return match.span()
    return None


def widen_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to the edges of the words that it begins and ends in.

    >>> text = "The warranty is two years."
    >>> start, end = widen_to_words(text, 6, 22)
    >>> text[6:22], text[start:end]
    ('rranty is two ye', 'warranty is two years')
    >>> widen_to_words(text, 4, 25)
    (4, 25)
    """
    first, last = find_word_around(text, start), find_word_around(text, end)
    return (first[0] if first else start), (last[1] if last else end)


def list_cut_words(text: str, start: int, end: int) -> list[tuple[str, str]]:
    """(what the stretch holds of it, the word) of each word that it begins or ends inside of.

    >>> list_cut_words("The warranty is two years.", 6, 22)
    [('rranty', 'warranty'), ('ye', 'years')]
    """
    words = dict.fromkeys(filter(None, (find_word_around(text, start), find_word_around(text, end))))
    return [(text[max(low, start) : min(high, end)], text[low:high]) for low, high in words]


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
        for start, letter in _split_shingles_letters(match.group()):
            form, begin = unicodedata.normalize("NFC", letter), match.start() + start
            forms.append(form)
            if form == letter:
                edges += range(begin, begin + len(letter))
            else:  # what is left beside the letter ends with it
                edges += [begin, *[begin + len(letter)] * (len(form) - 1)]
    return "".join(forms), [*edges, len(text)]


def _split_shingles_letters(text: str) -> Iterator[tuple[int, str]]:
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
