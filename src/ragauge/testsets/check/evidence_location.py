"""Where evidence stands in a corpus that was edited, and the words that carry a question."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ragauge.core.json_keys import json_keys
from ragauge.engine.retrievers import STOP_WORDS
from ragauge.testsets.unspaced_words import SHINGLE_WORDS, hash_run, hash_shingles, locate_words
from ragauge.text.language import guess_language, list_frequent_words
from ragauge.text.tokens import split_words, stem_word

MIN_HOME_SHARE = 0.2  # share of its shingles by which evidence is found again in its own document
MIN_OTHER_SHARE = 0.8  # and in another, where it has to be the same text and not one that resembles it
MAX_STRETCH = 1.5  # how much longer evidence may have become
SHORT_WORDS = 8  # evidence of fewer words is told by what stands around it
AROUND_WORDS, REACH_CHARS = 8, 400  # words kept on either side of it, and characters that are looked at for them
MIN_AROUND_HOME, MIN_AROUND_OTHER = 0.25, 0.5  # share of what stood around it: in its own document, and in another
MIN_CHANGED_SHARE, MIN_CHANGED_RUNS = (
    0.5,
    2,
)  # of changed evidence, where nothing tells what stood around it: a share, or runs
MAX_SLIP_WORDS = 2  # words by which what stands around it may have shifted


@dataclass(frozen=True)
class EvidenceSpan:
    """A stretch of a document that answers a question."""

    doc_id: str  #: where it stood.
    start: int  #: first character, where known; -1 = a whole document.
    end: int  #: after the last character.
    words: int  #: how many.
    runs: tuple[str, ...]  #: its shingles in order.
    #: characters before its first word, such as a quotation mark; below 0 = it begins so far inside the word.
    lead: int = 0
    tail: int = 0  #: characters after its last word, such as a full stop; below 0 = it ends so far inside the word.
    #: the shingles of its surroundings, in order, "" where they lie within it; () = not known.
    around: tuple[str, ...] = ()
    before: int = 0  #: words of its surroundings before it.
    #: other documents that held it too when the set was frozen; None = no lock tells.
    held: tuple[str, ...] | None = None

    @property
    def is_short(self) -> bool:
        """Whether its words alone identify no place."""
        return self.words < SHORT_WORDS

    @property
    def telling_shingles(self) -> frozenset[int]:
        """Which shingles of its surroundings do not lie within it."""
        inside = range(self.before, self.before + self.words - SHINGLE_WORDS + 1)
        return frozenset(n for n in range(len(self.around)) if n not in inside)


def build_evidence(doc_id: str, start: int, end: int, text: str) -> EvidenceSpan:
    """Evidence by its text."""
    placed = locate_words(text)
    lead, tail = (placed[0][1], len(text) - placed[-1][2]) if placed else (0, 0)
    words = [word for word, _, _ in placed]
    return EvidenceSpan(doc_id, start, end, len(words), tuple(hash_shingles(words)), lead, tail)


def read_evidence(text: str, doc_id: str, start: int, end: int) -> EvidenceSpan:
    """Evidence by its place in a document's text: its words, those whole that it cuts, and what stands around them."""
    low, high = max(0, start - REACH_CHARS), min(len(text), end + REACH_CHARS)
    placed = [(word, low + first, low + last) for word, first, last in locate_words(text[low:high])]
    preceding = [word for word, _, last in placed if last <= start]
    covered = [entry for entry in placed if entry[2] > start and entry[1] < end]
    if not covered:
        return build_evidence(doc_id, start, end, text[start:end])
    after = [word for word, first, _ in placed if first >= end]
    preceding, after = (
        preceding[low > 0 :][-AROUND_WORDS:],
        after[: len(after) - (high < len(text))][:AROUND_WORDS],
    )  # whole words
    covered_words = [word for word, _, _ in covered]
    words = [*preceding, *covered_words, *after]
    around = tuple(hash_shingles(words)) if len(words) >= SHINGLE_WORDS else ()
    span = EvidenceSpan(
        doc_id,
        start,
        end,
        len(covered_words),
        tuple(hash_shingles(covered_words)),
        covered[0][1] - start,
        end - covered[-1][2],
        around,
        len(preceding),
    )
    inside = frozenset(range(len(around))) - span.telling_shingles
    return replace(span, around=tuple("" if n in inside else run for n, run in enumerate(around)))


@json_keys("doc_id start end alike")
@dataclass(frozen=True)
class EvidenceLocation:
    """Where evidence was found."""

    doc_id: str  #: in which document.
    start: int  #: first character.
    end: int  #: after the last character.
    alike: float  #: share of its shingles that stand there, in (0, 1]; 1 = every word in its order.
    sure: bool = True  #: False where short evidence stands at several places, and nothing tells which is meant.


class WholeStretch(NamedTuple):
    """Where a stretch of evidence would stand with whole words."""

    start: int  #: first character.
    end: int  #: after the last.
    text: str  #: what stands there.


class EvidenceMatch(NamedTuple):
    """Where the words of short evidence stand, and the share of its surroundings there: shifted a little, and not."""

    share: float
    unshifted: int
    own: bool
    doc_id: str
    word: int


class Locator:
    """Finds evidence in a corpus, all of it in one pass over the documents.

    Args:
        texts: doc_id -> text.
        wanted: all evidence that will be asked for.
    """

    def __init__(self, texts: Mapping[str, str], evidence: Iterable[EvidenceSpan]) -> None:
        self._texts = texts
        known_runs = {run for span in evidence for run in (*span.runs, *span.around) if run}
        short = {span.words for span in evidence if span.words < SHINGLE_WORDS}
        self._hits: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._words: dict[str, list[tuple[str, int, int]]] = {}
        for doc_id, text in texts.items():
            placed = locate_words(text)
            words = [word for word, _, _ in placed]
            for n, run in self._list_runs(words, short):
                if run in known_runs:
                    self._hits[run].append((doc_id, n))
                    self._words[doc_id] = placed

    @staticmethod
    def _list_runs(words: Sequence[str], short: Iterable[int]) -> Iterator[tuple[int, str]]:
        if len(words) >= SHINGLE_WORDS:
            yield from enumerate(hash_shingles(words))
        for length in short:
            for n in range(len(words) - length + 1):
                yield n, hash_run(" ".join(words[n : n + length]))

    def find_evidence(
        self, evidence: EvidenceSpan, homes: Sequence[str], settled: Collection[str] = ()
    ) -> EvidenceLocation | None:
        """Where most of the evidence stands together, its own document before others; None where it is gone.

        In its own document all words in their order come first, and of several such places the one among what stood
        around it; then a place where a fifth of its shingles stands together, among a quarter of what stood around it
        where that is known. In another document four fifths of its shingles have to stand, and it is none that held
        the text already when the set was frozen.

        Args:
            evidence: one of those that were wanted.
            homes: names under which its own document may stand now, the likeliest first.
            settled: documents that are as they were: short evidence did not move to one of them.
        """
        past = frozenset(evidence.held or ())
        if location := self._find_unchanged(evidence, homes, past.union(settled)):
            return location
        if evidence.words < SHINGLE_WORDS:
            return None
        edited = [home for home in homes if not self._is_cut_out(evidence, home)]
        inside = (self._find_longest(evidence, self._find_hits(evidence, {home}), MIN_HOME_SHARE) for home in edited)
        location = next(
            (candidate for candidate in inside if candidate is not None and self._is_supported(evidence, candidate)),
            None,
        )
        if location is not None or evidence.is_short:
            return location
        others = {name for name in self._words if name not in past}
        return self._find_longest(evidence, self._find_hits(evidence, others), MIN_OTHER_SHARE)

    def _is_cut_out(self, evidence: EvidenceSpan, doc_id: str) -> bool:
        """Whether what stood before evidence and what stood after it stand side by side in a document."""
        near = self._find_near(evidence).get(doc_id, {})
        after = evidence.before + evidence.words
        return any(
            any(n + SHINGLE_WORDS <= evidence.before for n in runs)
            and any(n >= after for n in near.get(position - evidence.words, ()))
            for position, runs in near.items()
        )

    def _is_supported(self, evidence: EvidenceSpan, location: EvidenceLocation) -> bool:
        """Whether changed words are those of the evidence: among what stood around it, else half or two runs of it."""
        if not evidence.around:
            return location.alike >= min(MIN_CHANGED_SHARE, MIN_CHANGED_RUNS / len(set(evidence.runs)))
        position = bisect_right([end for _, _, end in self._words[location.doc_id]], location.start)
        near = self._find_near(evidence).get(location.doc_id, {})
        slip = max(MAX_SLIP_WORDS, evidence.words // 2)
        return self._compute_share(near, evidence, position, slip) >= MIN_AROUND_HOME

    def find_holders(self, evidence: EvidenceSpan) -> tuple[str, ...]:
        """The other documents that hold evidence: nearly its words, or where it is short also half of what is around.

        Args:
            evidence: one of those that were wanted, as it stands in its own document.
        """
        if evidence.is_short:
            near = self._find_near(evidence)
            shares = [
                (name, self._compute_share(near.get(name, {}), evidence, n)) for name, n in self._find_exact(evidence)
            ]
            holders = {name for name, share in shares if share >= MIN_AROUND_OTHER} if evidence.around else set()
        else:
            hits = self._find_hits(evidence, self._words)
            holders = {name for name in hits if self._locate_hits(evidence, name, hits[name]).alike >= MIN_OTHER_SHARE}
        return tuple(sorted(holders - {evidence.doc_id}))

    def is_in_place(self, evidence: EvidenceSpan, doc_id: str) -> bool:
        """Whether around the place where evidence stood is, in a document, what stood there; True where not known."""
        if not evidence.around:
            return True
        words = self._words.get(doc_id, [])
        position = bisect_right([end for _, _, end in words], evidence.start)
        return self._compute_share(self._find_near(evidence).get(doc_id, {}), evidence, position) >= MIN_AROUND_HOME

    def _find_unchanged(
        self, evidence: EvidenceSpan, homes: Collection[str], past: Collection[str]
    ) -> EvidenceLocation | None:
        """Where all words of evidence stand in their order in its own document, short ones among what was around them.

        Short evidence may have moved to another document too, where it is known what stood around it.
        """
        matches = []
        near = self._find_near(evidence)
        for doc_id, position in self._find_exact(evidence):
            if doc_id in homes or (evidence.is_short and evidence.around and doc_id not in past):
                around = near.get(doc_id, {})
                share = self._compute_share(around, evidence, position)
                if not evidence.is_short or share >= (MIN_AROUND_HOME if doc_id in homes else MIN_AROUND_OTHER):
                    matches.append(
                        EvidenceMatch(share, len(around.get(position, ())), doc_id == evidence.doc_id, doc_id, position)
                    )
        inside = [match for match in matches if match.doc_id in homes]
        if not inside and len({match.doc_id for match in matches}) > 1:
            return None  # a phrase of many documents
        best = max(inside or matches, default=None)
        if best is None:
            return None
        sure = sum(match[:4] == best[:4] for match in matches) == 1
        words, length = self._words[best.doc_id], len(self._texts[best.doc_id])
        start, end = words[best.word][1], words[best.word + evidence.words - 1][2]
        return EvidenceLocation(best.doc_id, max(0, start - evidence.lead), min(length, end + evidence.tail), 1.0, sure)

    def _find_exact(self, evidence: EvidenceSpan) -> Iterator[tuple[str, int]]:
        """(document, number of its first word) wherever all words stand in their order."""
        if not evidence.runs:
            return
        following = [set(self._hits.get(run, ())) for run in evidence.runs[1:]]
        for doc_id, position in self._hits.get(evidence.runs[0], ()):
            if all((doc_id, position + n) in hits for n, hits in enumerate(following, 1)):
                yield doc_id, position

    def _find_near(self, evidence: EvidenceSpan) -> dict[str, dict[int, set[int]]]:
        """Document -> place that a shingle of the surroundings there gives the evidence -> those shingles."""
        by_document: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for n in evidence.telling_shingles:
            for doc_id, position in self._hits.get(evidence.around[n], ()):
                by_document[doc_id][position - n + evidence.before].add(n)
        return by_document

    @staticmethod
    def _compute_share(
        near: Mapping[int, set[int]], evidence: EvidenceSpan, position: int, slip: int = MAX_SLIP_WORDS
    ) -> float:
        """The share of the surroundings that stands around a place; 1 where they are not known."""
        matched = set().union(*(near.get(position + n, ()) for n in range(-slip, slip + 1)))
        return len(matched) / len(evidence.telling_shingles) if evidence.telling_shingles else 1.0

    def _find_hits(self, evidence: EvidenceSpan, only: Collection[str]) -> dict[str, list[tuple[int, int]]]:
        """Document -> (place, which of the shingles) of all that stand in it."""
        by_document: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for n, run in enumerate(evidence.runs):
            for doc_id, position in self._hits.get(run, ()):
                if doc_id in only:
                    by_document[doc_id].append((position, n))
        return by_document

    def _find_longest(
        self, evidence: EvidenceSpan, by_document: Mapping[str, list[tuple[int, int]]], min_share: float
    ) -> EvidenceLocation | None:
        """Where the largest share of its shingles stands together; None where less than that share does."""
        best: tuple[tuple[float, bool, int], EvidenceLocation] | None = None
        for doc_id, hits in by_document.items():
            location = self._locate_hits(evidence, doc_id, hits)
            # of equal finds the own document, then the nearest place
            rank = (round(location.alike, 9), doc_id == evidence.doc_id, -abs(location.start - evidence.start))
            if best is None or rank > best[0]:
                best = rank, location
        return None if best is None or best[1].alike < min_share else best[1]

    def _locate_hits(self, evidence: EvidenceSpan, doc_id: str, hits: list[tuple[int, int]]) -> EvidenceLocation:
        """The place in one document that holds most distinct shingles, told from where the first and last stand."""
        hits.sort()
        room = max(len(evidence.runs) * MAX_STRETCH, len(evidence.runs) + SHINGLE_WORDS)
        best: tuple[int, int, tuple[int, int, int, int]] = (0, 0, (0, 0, 0, 0))
        counted: dict[int, int] = defaultdict(int)
        begin = 0
        for n, (position, run) in enumerate(hits):
            counted[run] += 1
            while position - hits[begin][0] > room:
                counted[hits[begin][1]] -= 1
                if not counted[hits[begin][1]]:
                    del counted[hits[begin][1]]
                begin += 1
            first = hits[begin]
            offset = -abs((first[0] - first[1]) - (position - run))  # a place whose ends agree before one that drifts
            if (len(counted), offset) > best[:2]:
                best = len(counted), offset, (*first, *hits[n])
        number, _, (first_place, first_run, last_place, last_run) = best
        words, length = self._words[doc_id], len(self._texts[doc_id])
        opening = max(0, first_place - first_run)
        closing = max(opening, min(len(words), last_place + evidence.words - last_run) - 1)
        start, end = max(0, words[opening][1] - evidence.lead), min(length, words[closing][2] + evidence.tail)
        return EvidenceLocation(doc_id, start, end, number / len(set(evidence.runs)))


def list_common_words(text: str) -> frozenset[str]:
    """Words that say little, in the language of a text: question words and the most frequent ones."""
    language = guess_language(text)
    return STOP_WORDS if language in ("en", "und") else list_frequent_words(language)


def extract_content_stems(text: str) -> set[str]:
    """The stems of a text's other words.

    >>> sorted(extract_content_stems("How many of the computers were paired?"))
    ['computer', 'pair']
    """
    common = list_common_words(text)
    return {stem_word(word) for word in split_words(text) if word not in common}
