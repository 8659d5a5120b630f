"""What a question is written from: passages drawn evenly over a corpus, or pairs that belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

from ragauge.core.document import Chunk, Document, chunk
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.draft import CONTRACTS, QuestionType, SourcePassage
from ragauge.testsets.whole_words import word_around
from ragauge.text import specifics

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

WINDOW = 4_000  # characters of a document in one call
TOKENS = 256  # of a chunk whose edges `boundary` is about
LONG = 1_500  # tokens of a document whose last third is hard to find
RARE = 8  # documents that hold a name or number which links them, at most
NEIGHBOURS = 5  # nearest documents that may be asked about together
COPY = 0.95  # cosine from which two documents say the same
ROWS = 1_024  # vectors compared with all others at a time
LINKING = re.compile(r"\b(?:[^\W\d_]*[A-Z]\w{2,}|\d[\d.,:/-]*\d)\b")  # words with a capital, and numbers


class Drawing:
    """Draws passages for each type of question; equal seeds draw equal ones, whatever else is drawn.

    Args:
        corpus: what is drawn from.
        seed: of the drawing.
        only: doc_ids that may be drawn (the first of a pair); None = all.
    """

    def __init__(self, corpus: CorpusView, seed: int, only: Collection[str] | None = None) -> None:
        self._corpus, self._seed = corpus, seed
        self._only = None if only is None else frozenset(only)

    def passages(self, kind: QuestionType, key: str = "") -> Iterator[tuple[SourcePassage, ...]]:
        """Passages for one call each, without end; none at all where no document will do."""
        rng = Random(f"{self._seed}:{kind}:{key}")  # noqa: S311 - draws documents, no secret
        vain = 0
        for document in self._corpus.drawn(rng):
            drawn = self._of(kind, document, rng) if self._only is None or document.doc_id in self._only else ()
            if drawn:
                vain = 0
                yield drawn
            elif (vain := vain + 1) > 2 * len(self._corpus.ids):
                return  # every document came by since the last that would do

    def _of(self, kind: QuestionType, document: Document, rng: Random) -> tuple[SourcePassage, ...]:
        draws = CONTRACTS[kind].draws
        if draws == "edge":
            return self._edge(document, rng)
        first = _window(document, rng)
        if draws == "one":
            return (first,)
        if draws == "dated":
            return (first,) if specifics.find(first.text, {"date"}) else ()
        others = (self.linked if draws == "linked" else self.near).get(document.doc_id, ())
        if not others:
            return ()
        return first, _window(self._corpus.documents[rng.choice(others)], rng)

    @staticmethod
    def _edge(document: Document, rng: Random) -> tuple[SourcePassage, ...]:
        """A passage of the last third of a long document, or two on both sides of an edge of a chunk."""
        pieces = chunk(document, TOKENS)
        if len(pieces) < 2:
            return ()
        if len(pieces) >= LONG / TOKENS:
            late = [piece for piece in pieces if piece.start >= 2 * len(document.text) / 3]
            if late:
                return (_piece(rng.choice(late)),)
        n = rng.randrange(len(pieces) - 1)
        return _piece(pieces[n]), _piece(pieces[n + 1])

    @cached_property
    def linked(self) -> Mapping[str, Sequence[str]]:
        """doc_id -> documents that share rare names or numbers with it, else its neighbours; never copies."""
        holders: dict[str, list[str]] = defaultdict(list)
        for doc_id, document in self._corpus.documents.items():
            for term in sorted(set(LINKING.findall(document.text))):
                holders[term].append(doc_id)
        weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for names in holders.values():
            if 2 <= len(names) <= RARE:
                for one, other in combinations(names, 2):
                    weights[one][other] += 1 / len(names)
                    weights[other][one] += 1 / len(names)
        place = {doc_id: n for n, doc_id in enumerate(self._corpus.ids)}
        vectors = self._corpus.vectors
        found: dict[str, Sequence[str]] = {}
        for doc_id in self._corpus.ids:
            ranked = sorted(weights[doc_id].items(), key=lambda item: (-item[1], item[0]))[: 2 * NEIGHBOURS]
            own = vectors[place[doc_id]]
            kept = [other for other, _ in ranked if float(own @ vectors[place[other]]) < COPY]
            found[doc_id] = kept[:NEIGHBOURS] or self.near[doc_id]
        return found

    @cached_property
    def near(self) -> Mapping[str, Sequence[str]]:
        """doc_id -> the nearest documents by embedding that are no copies."""
        import numpy as np

        ids, vectors = self._corpus.ids, self._corpus.vectors
        found: dict[str, Sequence[str]] = {}
        for begin in range(0, len(ids), ROWS):
            scores = vectors[begin : begin + ROWS] @ vectors.T
            scores[scores >= COPY] = -1  # itself and its copies
            most = min(NEIGHBOURS, len(ids) - 1)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :most] if most else np.empty((len(scores), 0), int)
            for row, near in enumerate(best.tolist()):
                found[ids[begin + row]] = [ids[n] for n in near if scores[row, n] > 0]
        return found


def _window(document: Document, rng: Random) -> SourcePassage:
    """A document whole, or whole chunks of it in a row where it is long."""
    if len(document.text) <= WINDOW:
        return SourcePassage(document.doc_id, 0, document.text)
    pieces = chunk(document, TOKENS)
    n = rng.randrange(len(pieces))
    start, end = pieces[n].start, pieces[n].end
    for piece in pieces[n + 1 :]:
        if piece.end - start > WINDOW:
            break
        end = piece.end
    end = min(end, start + 2 * WINDOW)
    cut = word_around(document.text, end)
    return SourcePassage(document.doc_id, start, document.text[start : end if cut is None else max(cut[0], start + 1)])


def _piece(piece: Chunk) -> SourcePassage:
    return SourcePassage(piece.doc_id, piece.start, piece.body)
