"""Whether a passage states a claim, or has a near-copy of it in which one thing differs.

Whether a statement stands in a text word for word, said as it says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragauge.judges.judge import normalize_text
from ragauge.judges.local.differences import (
    AMOUNT_KINDS,
    Difference,
    align_texts,
    find_difference,
    is_absent_elsewhere,
    is_stated,
)
from ragauge.judges.local.english import NEGATIONS
from ragauge.judges.local.index import IndexedText, Mode
from ragauge.judges.local.items import find_capitalized, read_sentence, remove_glosses
from ragauge.judges.local.overlap import PreparedClaim
from ragauge.text.language import guess_language
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import split_words
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "checks")

MIN_SHARE = 0.5  # share of the claim's content that a sentence holds for a closer look
MIN_NEXT_SHARE = 0.8  # of what the best sentence holds: others that hold so much are looked at too
MAX_SENTENCES = 3


class OpposedSpan(NamedTuple):
    """Characters [start, end) of a passage that say almost what a claim says, and what differs."""

    start: int
    end: int
    difference: Difference


def check_claim(claim: str, want: PreparedClaim, text: str, passage: IndexedText, mode: Mode) -> OpposedSpan | bool:
    """What a passage says in almost the words of the claim; True where it states it, False without a near-copy of it.

    A sentence that states the claim counts before one that differs from it. Outside English only numbers and dates are
    compared.
    """
    spans = _find_closest(want, passage)
    if not spans:
        return False
    english = mode == "words" or guess_language(claim) == "en"
    known_names, small = (
        claim_words | passage_words
        for claim_words, passage_words in zip(find_capitalized(claim), find_capitalized(text), strict=True)
    )
    row = read_sentence(claim, known_names, small)
    glossed = "(" in claim
    worst: OpposedSpan | None = None
    for start, end in spans:
        passage_items = read_sentence(text[start:end], known_names, small)
        alignment = align_texts(row, passage_items)
        if alignment is None:
            continue
        if is_stated(alignment):
            return True
        differs = find_difference(alignment)
        bare = remove_glosses(text[start:end], passage_items) if differs is None and not glossed else None
        if bare is not None:
            alignment = align_texts(row, bare)
            if alignment is not None and is_stated(alignment):
                return True
            differs = (
                find_difference(alignment)
                if alignment is not None and is_absent_elsewhere(alignment, passage_items)
                else None
            )
        if differs and worst is None and (english or differs.kind in AMOUNT_KINDS):
            worst = OpposedSpan(start, end, differs)
    return worst or False


def _find_closest(want: PreparedClaim, passage: IndexedText) -> list[tuple[int, int]]:
    """Where the sentences begin and end that hold most of the claim, best first."""
    counts = Counter(segment for unit in want.distinct for segment in passage.places.get(unit, ()))
    order = sorted(counts, key=lambda n: (-counts[n], len(passage.segments[n].units), n))[:MAX_SENTENCES]
    if not order or counts[order[0]] < MIN_SHARE * sum(not unit[0].isdigit() for unit in want.distinct):
        return []
    enough = min(MIN_NEXT_SHARE * counts[order[0]], counts[order[0]] - 1)
    return [passage.segments[n][:2] for n in order if counts[n] >= enough]


MIN_STATEMENT_WORDS = 3  # words of a statement that may be a part of a sentence; a shorter one has to be the whole
MAX_TEXT_CHARS = 20_000  # characters of a text
TURNING_WORDS = NEGATIONS.union(WORDS["turning"].split())


class Wording:
    """Texts, ready to be searched for statements."""

    def __init__(self, texts: Sequence[str]) -> None:
        cut = (normalize_text(sentence.text) for text in texts for sentence in split_sentences(text[:MAX_TEXT_CHARS]))
        self.sentences = list(dict.fromkeys(cut))
        self.whole = {*self.sentences, *map(normalize_text, texts)} - {""}

    def has_statement(self, statement: str) -> bool:
        """Whether a sentence is the statement, or says it among other things and takes nothing back.

        >>> text = Wording(["The pump was built in Porto in 1910.", "It is not true that the lamp is red."])
        >>> (text.has_statement("The pump was built in Porto."), text.has_statement("the lamp is red"),
        ...     text.has_statement("Built in Porto in 1910."))
        (True, False, True)
        """
        normalized = normalize_text(statement)
        if normalized in self.whole:
            return True
        if len(normalized.split(" ")) < MIN_STATEMENT_WORDS:
            return False
        for sentence in self.sentences:
            before, within, after = f" {sentence} ".partition(normalized)
            is_separate = within and not before[-1:].isalnum() and not after[:1].isalnum()
            if (
                is_separate
                and "n't" not in before + after
                and TURNING_WORDS.isdisjoint([*split_words(before), *split_words(after)])
            ):
                return True
        return False
