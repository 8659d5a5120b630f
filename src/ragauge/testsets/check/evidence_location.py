"""Where evidence stands in a corpus that was edited: by runs of four words, so that few changed words do no harm.

A short stretch alone, such as a number, identifies no place: it is told by the words that stood around it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ragauge.testsets.shingles import RUN, placed_words, run_hash, shingles

LEAST = 0.2  # share of its shingles by which evidence is found again in its own document
NEARLY = 0.8  # and in another, where it has to be the same text and not one that resembles it
STRETCH = 1.5  # how much longer evidence may have become
SHORT = 8  # evidence of fewer words is told by what stands around it
AROUND, REACH = 8, 400  # words kept on either side of it, and characters that are looked at for them
HERE, ELSEWHERE = 0.25, 0.5  # share of what stood around it: in its own document, and in another
SIMILAR, FEW_RUNS = 0.5, 2  # of changed evidence, where nothing tells what stood around it: a share, or runs
SLIP = 2  # words by which what stands around it may have shifted


@dataclass(frozen=True)
class EvidenceSpan:
    """A stretch of a document that answers a question.

    Attributes:
        doc_id: where it stood.
        start: first character, where known; -1 = a whole document.
        end: after the last character.
        words: how many.
        runs: its shingles in order.
        lead: characters before its first word, such as a quotation mark; below 0 = it begins so far inside the word.
        tail: characters after its last word, such as a full stop; below 0 = it ends so far inside the word.
        around: the shingles of its surroundings, in order, "" where they lie within it; () = not known.
        before: words of its surroundings before it.
        held: other documents that held it too when the set was frozen; None = no lock tells.
    """

    doc_id: str
    start: int
    end: int
    words: int
    runs: tuple[str, ...]
    lead: int = 0
    tail: int = 0
    around: tuple[str, ...] = ()
    before: int = 0
    held: tuple[str, ...] | None = None

    @property
    def short(self) -> bool:
        """Whether its words alone identify no place."""
        return self.words < SHORT

    @property
    def telling(self) -> frozenset[int]:
        """Which shingles of its surroundings do not lie within it."""
        inside = range(self.before, self.before + self.words - RUN + 1)
        return frozenset(n for n in range(len(self.around)) if n not in inside)


def evidence_of(doc_id: str, start: int, end: int, text: str) -> EvidenceSpan:
    """Evidence by its text."""
    placed = placed_words(text)
    lead, tail = (placed[0][1], len(text) - placed[-1][2]) if placed else (0, 0)
    words = [word for word, _, _ in placed]
    return EvidenceSpan(doc_id, start, end, len(words), tuple(shingles(words)), lead, tail)


def evidence_in(text: str, doc_id: str, start: int, end: int) -> EvidenceSpan:
    """Evidence by its place in a document's text: its words, those whole that it cuts, and what stands around them."""
    low, high = max(0, start - REACH), min(len(text), end + REACH)
    placed = [(word, low + first, low + last) for word, first, last in placed_words(text[low:high])]
    before = [word for word, _, last in placed if last <= start]
    held = [one for one in placed if one[2] > start and one[1] < end]
    if not held:
        return evidence_of(doc_id, start, end, text[start:end])
    after = [word for word, first, _ in placed if first >= end]
    before, after = before[low > 0 :][-AROUND:], after[: len(after) - (high < len(text))][:AROUND]  # whole words
    own = [word for word, _, _ in held]
    words = [*before, *own, *after]
    around = tuple(shingles(words)) if len(words) >= RUN else ()
    found = EvidenceSpan(
        doc_id, start, end, len(own), tuple(shingles(own)), held[0][1] - start, end - held[-1][2], around, len(before)
    )
    inside = frozenset(range(len(around))) - found.telling
    return replace(found, around=tuple("" if n in inside else run for n, run in enumerate(around)))


@dataclass(frozen=True)
class Located:
    """Where evidence was found.

    Attributes:
        doc_id: in which document.
        start: first character.
        end: after the last character.
        alike: share of its shingles that stand there, in (0, 1]; 1 = every word in its order.
        sure: False where short evidence stands at several places, and nothing tells which is meant.
    """

    doc_id: str
    start: int
    end: int
    alike: float
    sure: bool = True


class Place(NamedTuple):
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

    def __init__(self, texts: Mapping[str, str], wanted: Iterable[EvidenceSpan]) -> None:
        self._texts = texts
        known = {run for one in wanted for run in (*one.runs, *one.around) if run}
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
                yield n, run_hash(" ".join(words[n : n + length]))

    def find(self, evidence: EvidenceSpan, homes: Sequence[str], settled: Collection[str] = ()) -> Located | None:
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
        if found := self._unchanged(evidence, homes, past.union(settled)):
            return found
        if evidence.words < RUN:
            return None
        edited = [home for home in homes if not self._cut_out(evidence, home)]
        inside = (self._longest(evidence, self._in(evidence, {home}), LEAST) for home in edited)
        found = next((one for one in inside if one is not None and self._supported(evidence, one)), None)
        if found is not None or evidence.short:
            return found
        others = {name for name in self._words if name not in past}
        return self._longest(evidence, self._in(evidence, others), NEARLY)

    def _cut_out(self, evidence: EvidenceSpan, doc_id: str) -> bool:
        """Whether what stood before evidence and what stood after it stand side by side in a document."""
        near = self._near(evidence).get(doc_id, {})
        after = evidence.before + evidence.words
        return any(
            any(n + RUN <= evidence.before for n in runs)
            and any(n >= after for n in near.get(place - evidence.words, ()))
            for place, runs in near.items()
        )

    def _supported(self, evidence: EvidenceSpan, found: Located) -> bool:
        """Whether changed words are those of the evidence: among what stood around it, else half or two runs of it."""
        if not evidence.around:
            return found.alike >= min(SIMILAR, FEW_RUNS / len(set(evidence.runs)))
        place = bisect_right([end for _, _, end in self._words[found.doc_id]], found.start)
        near = self._near(evidence).get(found.doc_id, {})
        slip = max(SLIP, evidence.words // 2)
        return self._share(near, evidence, place, slip) >= HERE

    def holding(self, evidence: EvidenceSpan) -> tuple[str, ...]:
        """The other documents that hold evidence: nearly its words, or where it is short also half of what is around.

        Args:
            evidence: one of those that were wanted, as it stands in its own document.
        """
        if evidence.short:
            near = self._near(evidence)
            shares = [(name, self._share(near.get(name, {}), evidence, n)) for name, n in self._exact(evidence)]
            found = {name for name, share in shares if share >= ELSEWHERE} if evidence.around else set()
        else:
            hits = self._in(evidence, self._words)
            found = {name for name in hits if self._placed(evidence, name, hits[name]).alike >= NEARLY}
        return tuple(sorted(found - {evidence.doc_id}))

    def stands(self, evidence: EvidenceSpan, doc_id: str) -> bool:
        """Whether around the place where evidence stood is, in a document, what stood there; True where not known."""
        if not evidence.around:
            return True
        words = self._words.get(doc_id, [])
        place = bisect_right([end for _, _, end in words], evidence.start)
        return self._share(self._near(evidence).get(doc_id, {}), evidence, place) >= HERE

    def _unchanged(self, evidence: EvidenceSpan, own: Collection[str], past: Collection[str]) -> Located | None:
        """Where all words of evidence stand in their order in its own document, short ones among what was around them.

        Short evidence may have moved to another document too, where it is known what stood around it.
        """
        places = []
        near = self._near(evidence)
        for doc_id, place in self._exact(evidence):
            if doc_id in own or (evidence.short and evidence.around and doc_id not in past):
                around = near.get(doc_id, {})
                share = self._share(around, evidence, place)
                if not evidence.short or share >= (HERE if doc_id in own else ELSEWHERE):
                    places.append(Place(share, len(around.get(place, ())), doc_id == evidence.doc_id, doc_id, place))
        inside = [one for one in places if one.doc_id in own]
        if not inside and len({one.doc_id for one in places}) > 1:
            return None  # a phrase of many documents
        best = max(inside or places, default=None)
        if best is None:
            return None
        sure = sum(one[:4] == best[:4] for one in places) == 1
        words, length = self._words[best.doc_id], len(self._texts[best.doc_id])
        start, end = words[best.word][1], words[best.word + evidence.words - 1][2]
        return Located(best.doc_id, max(0, start - evidence.lead), min(length, end + evidence.tail), 1.0, sure)

    def _exact(self, evidence: EvidenceSpan) -> Iterator[tuple[str, int]]:
        """(document, number of its first word) wherever all words stand in their order."""
        if not evidence.runs:
            return
        rest = [set(self._hits.get(run, ())) for run in evidence.runs[1:]]
        for doc_id, place in self._hits.get(evidence.runs[0], ()):
            if all((doc_id, place + n) in found for n, found in enumerate(rest, 1)):
                yield doc_id, place

    def _near(self, evidence: EvidenceSpan) -> dict[str, dict[int, set[int]]]:
        """Document -> place that a shingle of the surroundings there gives the evidence -> those shingles."""
        found: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for n in evidence.telling:
            for doc_id, place in self._hits.get(evidence.around[n], ()):
                found[doc_id][place - n + evidence.before].add(n)
        return found

    @staticmethod
    def _share(near: Mapping[int, set[int]], evidence: EvidenceSpan, place: int, slip: int = SLIP) -> float:
        """The share of the surroundings that stands around a place; 1 where they are not known."""
        told = set().union(*(near.get(place + n, ()) for n in range(-slip, slip + 1)))
        return len(told) / len(evidence.telling) if evidence.telling else 1.0

    def _in(self, evidence: EvidenceSpan, only: Collection[str]) -> dict[str, list[tuple[int, int]]]:
        """Document -> (place, which of the shingles) of all that stand in it."""
        by_document: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for n, run in enumerate(evidence.runs):
            for doc_id, place in self._hits.get(run, ()):
                if doc_id in only:
                    by_document[doc_id].append((place, n))
        return by_document

    def _longest(
        self, evidence: EvidenceSpan, by_document: Mapping[str, list[tuple[int, int]]], least: float
    ) -> Located | None:
        """Where the largest share of its shingles stands together; None where less than that share does."""
        best: tuple[tuple[float, bool, int], Located] | None = None
        for doc_id, hits in by_document.items():
            found = self._placed(evidence, doc_id, hits)
            # of equal finds the own document, then the nearest place
            rank = (round(found.alike, 9), doc_id == evidence.doc_id, -abs(found.start - evidence.start))
            if best is None or rank > best[0]:
                best = rank, found
        return None if best is None or best[1].alike < least else best[1]

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
            offset = -abs((first[0] - first[1]) - (place - run))  # a place whose ends agree before one that drifts
            if (len(counted), offset) > best[:2]:
                best = len(counted), offset, (*first, *hits[n])
        number, _, (first_place, first_run, last_place, last_run) = best
        words, length = self._words[doc_id], len(self._texts[doc_id])
        opening = max(0, first_place - first_run)
        closing = max(opening, min(len(words), last_place + evidence.words - last_run) - 1)
        start, end = max(0, words[opening][1] - evidence.lead), min(length, words[closing][2] + evidence.tail)
        return Located(doc_id, start, end, number / len(set(evidence.runs)))
