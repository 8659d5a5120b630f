"""Where evidence stands in a corpus that was edited: by runs of four words, so that few changed words do no harm."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from hashlib import blake2b

from ragauge.text.characters import UNSPACED

RUN = 4     # words of a shingle
LEAST = 0.2     # share of its shingles by which evidence is found again
WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
STRETCH = 1.5     # how much longer evidence may have become
ALIKE = 0.9     # of a quotation that is not verbatim, at least


def placed_words(text: str) -> list[tuple[str, int, int]]:
    """(word, start, end) of each word: folded as NFKC and by case, punctuation aside."""
    found = ((match.group(), match.start(), match.end()) for match in WORD.finditer(text))
    return [(_folded(word), start, end) for word, start, end in found]


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


def shingles(words: Sequence[str]) -> list[str]:
    """The hash of each run of four words, 16 hexadecimal digits; of fewer words one hash.

    >>> len(shingles("the hub has two lights".split())), len(shingles(["hub"])), shingles([])
    (2, 1, [])
    """
    if len(words) < RUN:
        return [_hash(" ".join(words))] if words else []
    return [_hash(" ".join(words[n : n + RUN])) for n in range(len(words) - RUN + 1)]


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True)
class EvidenceSpan:
    """A stretch of a document that answers a question.

    Attributes:
        doc_id: where it stood.
        start: first character, where known; -1 = a whole document.
        end: after the last character.
        words: how many.
        runs: its shingles in order.
        lead: characters before its first word, such as a quotation mark.
        tail: characters after its last word, such as a full stop.
    """

    doc_id: str
    start: int
    end: int
    words: int
    runs: tuple[str, ...]
    lead: int = 0
    tail: int = 0


def evidence_of(doc_id: str, start: int, end: int, text: str) -> EvidenceSpan:
    """Evidence by its text."""
    placed = placed_words(text)
    lead, tail = (placed[0][1], len(text) - placed[-1][2]) if placed else (0, 0)
    words = [word for word, _, _ in placed]
    return EvidenceSpan(doc_id, start, end, len(words), tuple(shingles(words)), lead, tail)


@dataclass(frozen=True)
class Located:
    """Where evidence was found.

    Attributes:
        doc_id: in which document.
        start: first character.
        end: after the last character.
        alike: share of its shingles that stand there, in (0, 1]; 1 = every word in its order.
    """

    doc_id: str
    start: int
    end: int
    alike: float


class Locator:
    """Finds evidence in a corpus, all of it in one pass over the documents.

    Args:
        texts: doc_id -> text.
        wanted: all evidence that will be asked for.
    """

    def __init__(self, texts: Mapping[str, str], wanted: Iterable[EvidenceSpan]) -> None:
        self._texts = texts
        known = {run for one in wanted for run in one.runs}
        short = {one.words for one in wanted if one.words < RUN}
        self._hits: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._words: dict[str, list[tuple[str, int, int]]] = {}
        for doc_id, text in texts.items():
            placed = placed_words(text)
            words = [word for word, _, _ in placed]
            for n, run in self._runs(words, short):
                if run in known:
                    self._hits[run].append((doc_id, n))
                    self._words[doc_id] = placed

    @staticmethod
    def _runs(words: Sequence[str], short: Iterable[int]) -> Iterator[tuple[int, str]]:
        if len(words) >= RUN:
            yield from enumerate(shingles(words))
        for length in short:
            for n in range(len(words) - length + 1):
                yield n, _hash(" ".join(words[n : n + length]))

    def find(self, evidence: EvidenceSpan) -> Located | None:
        """Where most of the evidence stands together, its own document before others; None where it is gone."""
        by_document: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for n, run in enumerate(evidence.runs):
            for doc_id, place in self._hits.get(run, ()):
                by_document[doc_id].append((place, n))
        best: tuple[tuple[float, bool, int], Located] | None = None
        for doc_id, hits in by_document.items():
            found = self._placed(evidence, doc_id, hits)
            # of equal finds the own document, then the nearest place
            rank = (round(found.alike, 9), doc_id == evidence.doc_id, -abs(found.start - evidence.start))
            if best is None or rank > best[0]:
                best = rank, found
        if best is None or best[1].alike < LEAST:
            return None
        if best[1].doc_id != evidence.doc_id and evidence.words < 2 * RUN and best[1].alike < 1:
            return None     # a few common words elsewhere
        return best[1]

    def _placed(self, evidence: EvidenceSpan, doc_id: str, hits: list[tuple[int, int]]) -> Located:
        """The place in one document that holds most distinct shingles, told from where the first and last stand."""
        hits.sort()
        room = max(len(evidence.runs) * STRETCH, len(evidence.runs) + RUN)
        best: tuple[int, int, tuple[int, int, int, int]] = (0, 0, (0, 0, 0, 0))
        counted: dict[int, int] = defaultdict(int)
        begin = 0
        for n, (place, run) in enumerate(hits):
            counted[run] += 1
            while place - hits[begin][0] > room:
                counted[hits[begin][1]] -= 1
                if not counted[hits[begin][1]]:
                    del counted[hits[begin][1]]
                begin += 1
            first = hits[begin]
            offset = -abs((first[0] - first[1]) - (place - run))     # a place whose ends agree before one that drifts
            if (len(counted), offset) > best[:2]:
                best = len(counted), offset, (*first, *hits[n])
        number, _, (first_place, first_run, last_place, last_run) = best
        words, length = self._words[doc_id], len(self._texts[doc_id])
        opening = max(0, first_place - first_run)
        closing = max(opening, min(len(words), last_place + evidence.words - last_run) - 1)
        start, end = max(0, words[opening][1] - evidence.lead), min(length, words[closing][2] + evidence.tail)
        return Located(doc_id, start, end, number / len(set(evidence.runs)))


def quoted(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation: verbatim, else where its words stand in their order, as alike as 0.9.

    Alike = m / max(q, t) with m words in common order, q words of the quotation, t of the stretch found.

    Returns:
        (start, end) in characters; None where it holds none such.

    >>> quoted("hub is grey", "The hub is grey."), quoted("The Hub, is grey!", "See: the hub is grey."), quoted("a", "")
    ((4, 15), (5, 20), None)
    """
    if quote and (start := text.find(quote)) >= 0:
        return start, start + len(quote)
    own, there = placed_words(quote), placed_words(text)
    wanted, words = [word for word, _, _ in own], [word for word, _, _ in there]
    seed = SequenceMatcher(None, wanted, words, autojunk=False).find_longest_match()
    if not seed.size:
        return None
    slack = max(2, len(wanted) // 5)
    low = max(0, seed.b - seed.a - slack)
    high = min(len(words), seed.b - seed.a + len(wanted) + slack)
    matched = SequenceMatcher(None, wanted, words[low:high], autojunk=False).get_matching_blocks()[:-1]
    first, last = low + matched[0].b, low + matched[-1].b + matched[-1].size
    if sum(block.size for block in matched) < ALIKE * max(len(wanted), last - first):
        return None
    start, end = there[first][1], there[last - 1][2]
    tail = quote[own[-1][2] :].strip()
    return start, end + len(tail) * text.startswith(tail, end)
