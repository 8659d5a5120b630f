"""A name, a date or a number exchanged for another of the corpus that stands nowhere beside the rest of the question.

The question stays on a subject of the corpus, and asks for what no document tells: a near miss, to be refused.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ragauge.core.document import Document
from ragauge.engine.retrievers import build_local_embedder
from ragauge.testsets.check.content_words import extract_content_stems
from ragauge.testsets.vary.base import Variation
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
