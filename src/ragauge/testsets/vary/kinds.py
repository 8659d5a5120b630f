"""The kinds of variation by name: entities, typing errors, keywords and case."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ragauge.core.document import Document
from ragauge.core.errors import UnknownName, UsageError
from ragauge.engine.retrievers import build_local_embedder
from ragauge.testsets.check.evidence_location import extract_content_stems, list_common_words
from ragauge.testsets.vary.variant_set import Variation
from ragauge.text.characters import UNSPACED
from ragauge.text.specifics import Kind, Specific, find_specifics
from ragauge.text.tokens import split_words, stem_word

if TYPE_CHECKING:
    from random import Random

    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]


SWAPPED: tuple[Kind, ...] = ("name", "date", "number", "percent")
MIN_DIGITS = 2  # of a number or date
MIN_SHARED = 0.5  # share of the rest's words from which on a document may answer the question put otherwise
MAX_CANDIDATES = 40  # candidates that are tried, the most like what they replace first
MAX_SHUFFLED = 8  # of them, in a drawn order
WINDOW_CHARS, MAX_CONTEXTS = (
    24,
    8,
)  # characters to either side that tell what a specific is, and how many of its places are read
Shape = tuple[str, str, str]  # kind, unit, and how it is written


class _KnownSpecific(NamedTuple):
    """A specific of the corpus: as first written, and what stands beside it."""

    text: str
    beside: list[str]


class Entity(Variation):
    """One name, date or number replaced by one of the same kind and length that the corpus holds elsewhere.

    No document that holds the new one has half of the other content words of the question. Both are held by the
    corpus. Those are tried first that stand beside the same words as the old one does, by embeddings: places as
    places do, people as people. The labels are those of a question without an answer.

    Args:
        documents: the corpus.
    """

    name: ClassVar = "entity"
    does: ClassVar = "a name, date or number replaced, so unanswerable"
    missing: ClassVar = "no replaceable name, date or number from the corpus"
    keeps_labels: ClassVar = False

    def __init__(self, documents: Sequence[Document]) -> None:
        self._texts = [f"{document.title}\n{document.text}" for document in documents]
        self._embedder = build_local_embedder()

    def question(self, query: str, rng: Random) -> str | None:
        """The question with one of its specifics replaced."""
        specifics = [
            specific
            for specific in find_specifics(query, SWAPPED)
            if specific.normal in self._documents_by_specific and _is_telling(specific)
        ]
        specifics += self._find_lowercase_names(query) if query == query.lower() else []
        rng.shuffle(specifics)
        for old in specifics:
            fragments = re.split(rf"(?<!\w){re.escape(old.text)}(?!\w)", query)  # it may stand there twice
            other_stems = extract_content_stems(" ".join(fragments)) - set(map(stem_word, split_words(old.text)))
            if not other_stems or len(fragments) < 2:
                continue
            sharing_ids = self._find_sharing(other_stems)
            for new in self._list_candidates(old, query, rng):
                if not sharing_ids & self._find_holders(new):
                    return (new.lower() if query == query.lower() else new).join(fragments)
        return None

    def _find_lowercase_names(self, query: str) -> list[Specific]:
        """Names of two or three words in a question without capitals, which only the corpus tells for names."""
        tokens = list(re.finditer(r"\w+", query))
        specifics: list[Specific] = []
        for first, start in enumerate(tokens):
            for last in tokens[first + 2 : first : -1]:
                text = query[start.start() : last.end()]
                if text in self._corpus_names and not any(specific.end > start.start() for specific in specifics):
                    specifics.append(Specific("name", text, start.start(), last.end(), text))
        return specifics

    @cached_property
    def _corpus_names(self) -> frozenset[str]:
        """Canonical names of the corpus."""
        return frozenset(
            normal for shape, forms in self._specifics_by_shape.items() if shape[0] == "name" for normal in forms
        )

    @cached_property
    def _documents_by_specific(self) -> dict[str, set[int]]:
        """Canonical form of a specific -> the documents that hold it."""
        documents: dict[str, set[int]] = defaultdict(set)
        for n, text in enumerate(self._texts):
            for specific in find_specifics(text, SWAPPED):
                documents[specific.normal].add(n)
        return dict(documents)

    @cached_property
    def _documents_by_word(self) -> dict[str, set[int]]:
        """Word -> the documents that hold it."""
        documents: dict[str, set[int]] = defaultdict(set)
        for n, text in enumerate(self._texts):
            for word in set(split_words(text)):
                documents[word].add(n)
        return dict(documents)

    @cached_property
    def _documents_by_stem(self) -> dict[str, set[int]]:
        """Stem -> the documents that hold a word of it."""
        documents: dict[str, set[int]] = defaultdict(set)
        for word, indices in self._documents_by_word.items():
            documents[stem_word(word)] |= indices
        return dict(documents)

    @cached_property
    def _specifics_by_shape(self) -> dict[Shape, dict[str, _KnownSpecific]]:
        """Shape -> canonical form -> what the corpus writes and where."""
        by_shape: dict[Shape, dict[str, _KnownSpecific]] = defaultdict(dict)
        for text in self._texts:
            for specific in find_specifics(text, SWAPPED):
                if "\n" not in specific.text:
                    entry = by_shape[_build_shape(specific)].setdefault(
                        specific.normal, _KnownSpecific(specific.text, [])
                    )
                    if len(entry.beside) < MAX_CONTEXTS:
                        entry.beside.append(_read_context(text, specific))
        return dict(by_shape)

    @cached_property
    def _vectors_by_shape(self) -> dict[Shape, Vectors]:
        """Shape -> a row a specific, of what stands beside it; made when first needed."""
        return {}

    def _list_candidates(self, old: Specific, query: str, rng: Random) -> list[str]:
        """What may stand for a specific, the most like it first."""
        shape, query_words = _build_shape(old), set(split_words(query))
        entries = self._specifics_by_shape.get(shape, {})
        texts = [entry.text for entry in entries.values()]
        if shape not in self._vectors_by_shape:
            self._vectors_by_shape[shape] = self._embedder.embed([" ".join(entry.beside) for entry in entries.values()])
        contexts = [*(entries[old.normal].beside if old.normal in entries else ()), _read_context(query, old)]
        similarities = (self._vectors_by_shape[shape] @ self._embedder.embed([" ".join(contexts)])[0]).tolist()
        fits = [
            n for n, text in enumerate(texts) if query_words.isdisjoint(split_words(text)) and not text.startswith("0")
        ]
        nearest = sorted(fits, key=lambda n: (-similarities[n], n))[:MAX_CANDIDATES]
        return [
            texts[n]
            for n in (*rng.sample(nearest[:MAX_SHUFFLED], len(nearest[:MAX_SHUFFLED])), *nearest[MAX_SHUFFLED:])
        ]

    def _find_holders(self, text: str) -> set[int]:
        """The documents that hold a specific, or all words of it."""
        each = [self._documents_by_word.get(word, set()) for word in split_words(text)]
        together = set.intersection(*each) if each else set()
        return together.union(
            *(self._documents_by_specific.get(specific.normal, set()) for specific in find_specifics(text, SWAPPED))
        )

    def _find_sharing(self, stems: set[str]) -> set[int]:
        """The documents that have half of some stems, or more."""
        counts: dict[int, int] = defaultdict(int)
        for term in stems:
            for index in self._documents_by_stem.get(term, ()):
                counts[index] += 1
        return {index for index, n in counts.items() if n >= MIN_SHARED * len(stems)}


def _is_telling(specific: Specific) -> bool:
    """Whether a question asks for something else with another: small numbers, as in "three stages", only count."""
    return specific.kind in ("name", "percent") or sum(map(str.isdigit, specific.text)) >= MIN_DIGITS


def _read_context(text: str, specific: Specific) -> str:
    """What stands to the left and to the right of a specific."""
    return (
        f"{text[max(0, specific.start - WINDOW_CHARS) : specific.start]} "
        f"{text[specific.end : specific.end + WINDOW_CHARS]}"
    )


def _build_shape(specific: Specific) -> Shape:
    """What is exchanged for each other: names of as many words, in capitals or not; numbers and dates written alike."""
    if specific.kind == "name":
        return (specific.kind, "", f"{len(specific.normal.split())} {specific.text.isupper()}")
    written = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", specific.text))
    return (specific.kind, specific.unit, written)


MIN_LETTERS = 4  # letters of a word that is mistyped
WORDS_A_SLIP = 6  # one slip in so many words, at least one in a question
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORD = re.compile(rf"(?<![\w'’])(?:(?![{UNSPACED}])[^\W\d_]){{{MIN_LETTERS},}}(?![\w'’])")


class Typos(Variation):
    """One word in six mistyped once, at least one; the first letter stays, as it does with most typing errors.

    Numbers, words in capitals and words of fewer than four letters stay as they are.

    >>> from random import Random
    >>> Typos().question("How long can a hub be returned?", Random(7))
    'How long can a hub be returne?'
    """

    name: ClassVar = "typos"
    does: ClassVar = "a typo in one of six words"
    missing: ClassVar = "no word of at least four letters"

    def question(self, query: str, rng: Random) -> str | None:
        """The question with its slips."""
        candidates = [word for word in WORD.finditer(query) if not word[0].isupper()]
        if not candidates:
            return None
        slips = min(len(candidates), max(1, round(len(query.split()) / WORDS_A_SLIP)))
        for word in sorted(rng.sample(candidates, slips), key=lambda match: -match.start()):
            query = query[: word.start()] + _mistype_word(word[0], rng) + query[word.end() :]
        return query


def _mistype_word(word: str, rng: Random) -> str:
    """The word with one slip, other than it was."""
    positions = list(range(1, len(word)))
    rng.shuffle(positions)
    slips = [_swap_letters, _drop_letter, _double_letter, _hit_neighbor_key]
    rng.shuffle(slips)
    tried = (slip(word, position, rng) for slip in slips for position in positions)
    return next(put for put in tried if put != word)


def _swap_letters(word: str, position: int, _: Random) -> str:
    return (
        word
        if position + 1 == len(word)
        else word[:position] + word[position + 1] + word[position] + word[position + 2 :]
    )


def _drop_letter(word: str, position: int, _: Random) -> str:
    return word[:position] + word[position + 1 :]


def _double_letter(word: str, position: int, _: Random) -> str:
    return word[: position + 1] + word[position:]


def _hit_neighbor_key(word: str, position: int, rng: Random) -> str:
    """A letter from a key beside the right one; the word as it is where the key is not known."""
    row = next((row for row in ROWS if word[position] in row), "")
    if not row:
        return word
    column = row.index(word[position])
    return (
        word[:position]
        + rng.choice([row[n] for n in (column - 1, column + 1) if 0 <= n < len(row)])
        + word[position + 1 :]
    )


MIN_WORDS = 2  # words that are left


class Keywords(Variation):
    """The question without the most frequent words of its language and without signs around words.

    >>> from random import Random
    >>> Keywords().question("How long can a hub be returned?", Random(1))
    'long hub returned'
    """

    name: ClassVar = "keywords"
    does: ClassVar = "keywords only: no question words, stop words or punctuation"
    missing: ClassVar = "nothing to remove, or fewer than two words left"

    def question(self, query: str, rng: Random) -> str | None:  # noqa: ARG002 - nothing is drawn
        """The words that are left, in their order and spelling."""
        common = list_common_words(query)
        tokens = query.split()
        kept_words = [
            bare
            for token in tokens
            if (token_words := split_words(token)) and not common.issuperset(token_words)
            if (bare := _strip_signs(token))
        ]
        fewer = len(kept_words) < sum(bool(split_words(token)) for token in tokens)
        return " ".join(kept_words) if fewer and len(kept_words) >= MIN_WORDS else None


def _strip_signs(token: str) -> str:
    """A word without the signs around it; what stands before a number or after it stays."""
    first = next((n for n, sign in enumerate(token) if sign.isalnum()), len(token))
    last = next((n for n, sign in enumerate(reversed(token)) if sign.isalnum()), 0)
    if first and token[first].isdigit() and token[first - 1] in "$€£¥-":
        first -= 1
    if last and token[len(token) - last] == "%":
        last -= 1
    return token[first : len(token) - last]


class Case(Variation):
    """The same words in small letters; where they are small already, in capitals.

    >>> from random import Random
    >>> Case().question("Who wrote Faust?", Random(1)), Case().question("who wrote faust", Random(1))
    ('who wrote faust?', 'WHO WROTE FAUST')
    """

    name: ClassVar = "case"
    does: ClassVar = "lowercase, or uppercase if already lowercase"
    missing: ClassVar = "no letters with a case"

    def question(self, query: str, rng: Random) -> str | None:  # noqa: ARG002 - nothing is drawn
        """The question in small letters or in capitals."""
        small = query.lower()
        put = query.upper() if small == query else small
        return put if put != query else None


KINDS: dict[str, type[Variation]] = {kind.name: kind for kind in (Typos, Keywords, Case, Entity)}


def build_variations(names: Sequence[str], documents: Sequence[Document] | None = None) -> tuple[Variation, ...]:
    """The kinds of some names.

    Args:
        names: of kinds; () = all, without a corpus all that keep the labels.
        documents: the corpus, which `entity` draws from.

    Raises:
        UnknownName: no such kind.
        UsageError: entity without a corpus.
    """
    for name in names:
        if name not in KINDS:
            raise UnknownName("kind of variation", name, KINDS)
    if Entity.name in names and documents is None:
        raise UsageError("testset vary: entity needs the documents, none of which may answer it: --corpus CORPUS.")
    selected = names or [name for name in KINDS if name != Entity.name or documents is not None]
    made: list[Variation] = []
    for name in dict.fromkeys(selected):
        kind = KINDS[name]
        made.append(Entity(documents or ()) if kind is Entity else kind())
    return tuple(made)
