"""A sentence read by its words: where its verbs stand, what their subjects are, and how parts of it are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise

from ragauge.text.stopwords import ENGLISH
from ragauge.text.verbs import (
    AUXILIARIES,
    DETERMINERS,
    JOINING,
    LOOSE,
    PAST,
    PREPOSITIONS,
    PRONOUNS,
    THIRD,
    finite,
    gerund,
    participle,
)

LONGEST_SUBJECT = 14   # words; a longer one was not understood

# a quotation, a bracket or a number is one token: nothing is cut inside
TOKEN = re.compile(
    r"""["“„«][^"“”„«»\n]{1,600}["”“»]|\([^()\n]{0,400}\)|\[[^\[\]\n]{0,200}\]
    |\d+(?:[.,:/]\d+){1,12}|\w+(?:[.'’&/-]\w+){0,12}|[,;:—]|(?<=\s)[–-](?=\s)""",
    re.VERBOSE,
)
SEPARATORS = frozenset([",", "—", "–", "-"])
RELATIVE = frozenset(["who", "which", "whose", "whom", "where"])
SMALL = (DETERMINERS | PREPOSITIONS | PRONOUNS) - {"i"}
QUANTITY = frozenset(["of", "all", "some", "most", "many", "both", "one", "each"])     # "some of which"
Words = tuple[int | str, ...]     # numbers of tokens, and words that are put between them


class Read:
    """One sentence by its tokens; places and ids are their numbers, from 0.

    Attributes:
        text: the sentence.
        spans: characters [start, end) of each token.
        words: the tokens, the first in small letters.
        stop: nothing is cut from this place on.
    """

    def __init__(self, sentence: str) -> None:
        self.text = sentence
        self.spans = [found.span() for found in TOKEN.finditer(sentence)]
        self.words = _worded(sentence[start:end] for start, end in self.spans)
        self.stop = len(self.words)     # nothing is cut from here on

    def verb(self, ids: Sequence[int]) -> int | None:
        """The position of the first finite verb among these tokens."""
        words = [self.words[at] for at in ids]
        return next((k for k in range(len(words)) if finite(words, k)), None)

    def leads(self, ids: Sequence[int]) -> int | None:
        """The position of the verb that a part begins with, adverbs aside; None where it begins otherwise."""
        words = [self.words[at] for at in ids]
        for k, word in enumerate(words[:3]):
            if word in AUXILIARIES or word in PAST or word in THIRD:
                return k
            if participle(word) and k + 1 < len(words) and self._governs(ids[k + 1]):
                return k
            if word not in LOOSE and not word.endswith("ly") and word not in ("not", "never"):
                return None
        return None

    def _governs(self, at: int) -> bool:
        """Whether a token may follow a verb, as it does not follow an adjective."""
        word = self.words[at]
        first = self.text[self.spans[at][0]]
        return word in DETERMINERS or word in PREPOSITIONS or word == "to" or first.isupper() or first.isdigit()

    def has_own(self, ids: Sequence[int], *, far: bool = False) -> bool:
        """Whether a part begins with a subject that has a finite verb near by."""
        verb = self.verb(ids)
        if not verb or self.pronoun(ids[0], ids[-1] + 1) is not None:
            return False
        first = self.words[ids[0]]
        return verb <= 3 if first in PRONOUNS else verb <= (10 if far else 6) and (far or first in DETERMINERS)

    def related(self, ids: Sequence[int]) -> bool:
        """Whether a clause that only narrows ("the man who ...") is among these tokens."""
        return any(self.words[at] in RELATIVE or self.words[at] == "that" for at in ids)

    def subject(self, ids: Sequence[int], lead: Words) -> Words | None:
        """The subject of a main clause; None where it is not plain."""
        if lead:
            return lead
        begin = next((k + 1 for k in range(len(ids)) if k and self.words[ids[k]] == "that"
                      and finite([self.words[at] for at in ids], k - 1)), 0)  # fmt: skip
        verb = self.verb(ids[begin:])
        if not verb:
            return None
        own = list(ids[begin : begin + verb])
        gap = next((k for k, (a, b) in enumerate(pairwise(own), 1) if b - a > 1), None)
        if gap is not None and (self.words[own[0]] in PREPOSITIONS or self.words[own[0]].endswith("ly") or gap == 1):
            own = own[gap:]
        if own and self.words[own[0]] in JOINING:
            own = own[1:]
        while own and (self.words[own[-1]] in LOOSE or self.words[own[-1]].endswith("ly")):
            own.pop()
        if not own or len(own) > LONGEST_SUBJECT or self.related(own):
            return None
        return tuple(own)

    def restored(self, left: Sequence[int], lead: Words, right: Sequence[int]) -> Words | None:
        """The subject for a second verb phrase, with the auxiliary that both share."""
        subject = self.subject(left, lead)
        leads = self.leads(right)
        if subject is None or leads is None:
            return None
        word = self.words[right[leads]]
        verb = self.verb(left)
        if verb is None or not participle(word) or self.words[left[verb]] not in AUXILIARIES:
            return subject
        shared = [left[verb]]
        for at in left[verb + 1 : verb + 4]:
            if participle(self.words[at]):
                return (*subject, *shared)
            if self.words[at] in ("been", "being", "be"):
                shared.append(at)
            elif self.words[at] not in LOOSE and not self.words[at].endswith("ly"):
                break
        return subject

    def antecedent(self, ids: Sequence[int]) -> Words | None:
        """The noun phrase at the end of what stands before a comma."""
        own: list[int] = []
        words = [self.words[at] for at in ids]
        for k in range(len(ids) - 1, max(-1, len(ids) - 10), -1):
            word = words[k]
            if word in AUXILIARIES or (finite(words, k) and not self.text[self.spans[ids[k]][0]].isupper()):
                break
            if word in PREPOSITIONS and word != "of":
                break
            own.append(ids[k])
            if word in DETERMINERS and (k == 0 or words[k - 1] != "of"):
                break
        own = own[::-1]
        while own and self.words[own[0]] in ("and", "or", "of"):
            own = own[1:]
        return tuple(own) or None

    # --- text -------------------------------------------------------------------------------------------------------

    def content(self, ids: Sequence[int]) -> int:
        """How many of these tokens carry content."""
        return sum(self.words[at].lower() not in ENGLISH and self.words[at][0].isalnum() for at in ids)

    def between(self, low: int, high: int, marks: Set[str]) -> Iterator[tuple[int, int]]:
        """Stretches of tokens between marks, empty ones left out."""
        start = low
        for at in range(low, high):
            if self.words[at] in marks and at < self.stop:
                if at > start:
                    yield start, at
                start = at + 1
        if high > start:
            yield start, high

    def _runs(self, words: Words) -> Iterator[str]:
        """The words as they stand in the sentence, neighbours with what is between them."""
        start, before, shown = -1, -1, 0
        for one in (*words, ""):
            if isinstance(one, int) and start >= 0 and self._follows(before, one):
                before = one
                continue
            if start >= 0:
                run = self.text[self.spans[start][0] : self.spans[before][1]]
                yield run if shown == 0 or start or not self._small() else run[0].lower() + run[1:]
                shown += 1
            start = -1
            if isinstance(one, int):
                start = before = one
            elif one:
                yield one
                shown += 1

    def _small(self) -> bool:
        """Whether the first word has its capital only because it is the first."""
        word = self.words[0]
        return word in SMALL or participle(word) or gerund(word)

    def _follows(self, before: int, one: int) -> bool:
        return one == before + 1 or (one == before + 2 and self.words[before + 1] in SEPARATORS)

    def pronoun(self, start: int, end: int) -> int | None:
        """The place of the relative pronoun of "who", "in which", "many of whom"; None where there is none."""
        for at in range(start, min(start + 4, end - 1)):
            word = self.words[at]
            if word in RELATIVE:
                return at
            if word not in PREPOSITIONS | QUANTITY:
                return None
        return None

    def shown(self, words: Words) -> str:
        """The words as one text."""
        return " ".join(self._runs(words)).replace(" 's ", "'s ")


def _worded(tokens: Iterable[str]) -> list[str]:
    """Tokens to be compared: the first in small letters, so that a later capital ("May", "United") is no verb."""
    words = [token.replace("’", "'") for token in tokens]
    return [words[0].lower(), *words[1:]] if words else []
