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
from ragauge.engine.retrievers import local_embedder
from ragauge.testsets.check.content_words import content_stems
from ragauge.testsets.vary.base import Variation
from ragauge.text.specifics import Kind, Specific, find
from ragauge.text.tokens import stem, words

if TYPE_CHECKING:
    from random import Random

    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

SWAPPED: tuple[Kind, ...] = ("name", "date", "number", "percent")
FEWEST_DIGITS = 2  # of a number or date
HALF = 0.5  # share of the rest's words from which on a document may answer the question put otherwise
NEAREST = 40  # candidates that are tried, the most like what they replace first
FIRST = 8  # of them, in a drawn order
WINDOW, SEEN = 24, 8  # characters to either side that tell what a specific is, and how many of its places are read
Shape = tuple[str, str, str]  # kind, unit, and how it is written


class _Known(NamedTuple):
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
    does: ClassVar = "a name, date or number replaced: unanswerable"
    missing: ClassVar = "no name, date or number of the corpus that can be replaced"
    keeps_labels: ClassVar = False

    def __init__(self, documents: Sequence[Document]) -> None:
        self._texts = [f"{one.title}\n{one.text}" for one in documents]
        self._embedder = local_embedder()

    def question(self, query: str, rng: Random) -> str | None:
        """The question with one of its specifics replaced."""
        found = [one for one in find(query, SWAPPED) if one.normal in self._places and _telling(one)]
        found += self._small(query) if query == query.lower() else []
        rng.shuffle(found)
        for old in found:
            parts = re.split(rf"(?<!\w){re.escape(old.text)}(?!\w)", query)  # it may stand there twice
            rest = content_stems(" ".join(parts)) - set(map(stem, words(old.text)))
            if not rest or len(parts) < 2:
                continue
            beside = self._sharing(rest)
            for new in self._candidates(old, query, rng):
                if not beside & self._holding(new):
                    return (new.lower() if query == query.lower() else new).join(parts)
        return None

    def _small(self, query: str) -> list[Specific]:
        """Names of two or three words in a question without capitals, which only the corpus tells for names."""
        parts = list(re.finditer(r"\w+", query))
        found: list[Specific] = []
        for first, start in enumerate(parts):
            for last in parts[first + 2 : first : -1]:
                text = query[start.start() : last.end()]
                if text in self._names and not any(one.end > start.start() for one in found):
                    found.append(Specific("name", text, start.start(), last.end(), text))
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        """Canonical names of the corpus."""
        return frozenset(normal for shape, known in self._known.items() if shape[0] == "name" for normal in known)

    @cached_property
    def _places(self) -> dict[str, set[int]]:
        """Canonical form of a specific -> the documents that hold it."""
        found: dict[str, set[int]] = defaultdict(set)
        for n, text in enumerate(self._texts):
            for one in find(text, SWAPPED):
                found[one.normal].add(n)
        return dict(found)

    @cached_property
    def _words(self) -> dict[str, set[int]]:
        """Word -> the documents that hold it."""
        found: dict[str, set[int]] = defaultdict(set)
        for n, text in enumerate(self._texts):
            for word in set(words(text)):
                found[word].add(n)
        return dict(found)

    @cached_property
    def _stems(self) -> dict[str, set[int]]:
        """Stem -> the documents that hold a word of it."""
        found: dict[str, set[int]] = defaultdict(set)
        for word, places in self._words.items():
            found[stem(word)] |= places
        return dict(found)

    @cached_property
    def _known(self) -> dict[Shape, dict[str, _Known]]:
        """Shape -> canonical form -> what the corpus writes and where."""
        found: dict[Shape, dict[str, _Known]] = defaultdict(dict)
        for text in self._texts:
            for one in find(text, SWAPPED):
                if "\n" not in one.text:
                    known = found[_shape(one)].setdefault(one.normal, _Known(one.text, []))
                    if len(known.beside) < SEEN:
                        known.beside.append(_beside(text, one))
        return dict(found)

    @cached_property
    def _vectors(self) -> dict[Shape, Vectors]:
        """Shape -> a row a specific, of what stands beside it; made when first needed."""
        return {}

    def _candidates(self, old: Specific, query: str, rng: Random) -> list[str]:
        """What may stand for a specific, the most like it first."""
        shape, asked = _shape(old), set(words(query))
        known = self._known.get(shape, {})
        texts = [one.text for one in known.values()]
        if shape not in self._vectors:
            self._vectors[shape] = self._embedder.embed([" ".join(one.beside) for one in known.values()])
        mine = [*(known[old.normal].beside if old.normal in known else ()), _beside(query, old)]
        alike = (self._vectors[shape] @ self._embedder.embed([" ".join(mine)])[0]).tolist()
        fits = [n for n, text in enumerate(texts) if asked.isdisjoint(words(text)) and not text.startswith("0")]
        nearest = sorted(fits, key=lambda n: (-alike[n], n))[:NEAREST]
        return [texts[n] for n in (*rng.sample(nearest[:FIRST], len(nearest[:FIRST])), *nearest[FIRST:])]

    def _holding(self, text: str) -> set[int]:
        """The documents that hold a specific, or all words of it."""
        each = [self._words.get(word, set()) for word in words(text)]
        together = set.intersection(*each) if each else set()
        return together.union(*(self._places.get(one.normal, set()) for one in find(text, SWAPPED)))

    def _sharing(self, rest: set[str]) -> set[int]:
        """The documents that have half of some stems, or more."""
        counts: dict[int, int] = defaultdict(int)
        for one in rest:
            for place in self._stems.get(one, ()):
                counts[place] += 1
        return {place for place, n in counts.items() if n >= HALF * len(rest)}


def _telling(one: Specific) -> bool:
    """Whether a question asks for something else with another: small numbers, as in "three stages", only count."""
    return one.kind in ("name", "percent") or sum(map(str.isdigit, one.text)) >= FEWEST_DIGITS


def _beside(text: str, one: Specific) -> str:
    """What stands to the left and to the right of a specific."""
    return f"{text[max(0, one.start - WINDOW) : one.start]} {text[one.end : one.end + WINDOW]}"


def _shape(one: Specific) -> Shape:
    """What is exchanged for each other: names of as many words, in capitals or not; numbers and dates written alike."""
    if one.kind == "name":
        return (one.kind, "", f"{len(one.normal.split())} {one.text.isupper()}")
    written = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", one.text))
    return (one.kind, one.unit, written)
