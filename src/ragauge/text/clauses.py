"""A sentence cut into its clauses, each a statement of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragauge.text.language import guess
from ragauge.text.stopwords import ENGLISH
from ragauge.text.verbs import (
    AUXILIARIES,
    DETERMINERS,
    PAST,
    PREPOSITIONS,
    PRONOUNS,
    THIRD,
    finite,
    gerund,
    participle,
)

LONGEST = 1_200        # characters: a longer sentence is a list or a run-on text, and stays one
FEWEST = 2             # words with content that each part has of its own
DEEPEST = 4            # clauses within clauses
LONGEST_SUBJECT = 14   # words; a longer one was not understood

# a quotation, a bracket or a number is one token: nothing is cut inside
TOKEN = re.compile(
    r"""["“„«][^"“”„«»\n]{1,600}["”“»]|\([^()\n]{0,400}\)|\[[^\[\]\n]{0,200}\]
    |\d+(?:[.,:/]\d+){1,12}|\w+(?:[.'’&/-]\w+){0,12}|[,;:—]|(?<=\s)[–-](?=\s)""",
    re.VERBOSE,
)
SEPARATORS = frozenset([",", "—", "–", "-"])
RELATIVE = frozenset(["who", "which", "whose", "whom", "where"])
ADVERBIAL = frozenset(["because", "although", "though", "whereas", "while", "after", "before", "since", "as"])
ALWAYS_CLAUSE = frozenset(["although", "though", "whereas"])
LOOSE = frozenset("also later then subsequently eventually finally soon once thus thereby often now still".split())
JOINING = frozenset(["and", "but", "so", "yet"])
CONDITIONAL = frozenset(["if", "unless", "whether", "otherwise", "suppose", "assuming", "provided", "lest"])
SAYING = frozenset(
    """
    said says say saying claimed claims claim claiming argued argues argue arguing believed believes believe thought
    thinks think alleged alleges allege suggested suggests suggest hoped hopes hope feared fears asked asks wondered
    denied denies doubted doubts speculated assumed assumes assume
    """.split()
)
Words = tuple[int | str, ...]     # numbers of tokens, and words that are put between them


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement of a sentence.

    Attributes:
        text: the statement; a subject or antecedent that the cut took away is put back.
        start: first character of the clause's own part of the sentence.
        end: one past its last; what is inserted in it lies between.
    """

    text: str
    start: int
    end: int


def clauses(sentence: str) -> tuple[Clause, ...]:
    """The statements of a sentence, in the order of their own parts; one with the whole text where nothing is cut.

    Cut are independent clauses, coordinated verb phrases, relative and participial clauses behind a comma,
    appositions, and adverbial clauses (because, although, while, after). Conditionals, reported speech, what stands in
    quotation marks or brackets, alternatives ("or") and things joined without verbs of their own stay together.
    Outside English only semicolons divide. Where the words leave it open, nothing is cut. Never fails.

    >>> [one.text for one in clauses("Ada, who was born in 1815, wrote notes and met Babbage.")]
    ['Ada wrote notes', 'Ada was born in 1815', 'Ada met Babbage']
    >>> [one.text for one in clauses("If it rains, the pump stops and the lamp turns red.")]
    ['If it rains, the pump stops and the lamp turns red.']
    """
    whole = (Clause(sentence, 0, len(sentence)),)
    if len(sentence) > LONGEST:
        return whole
    found = _Cutter(sentence).all()
    if len(found) < 2:
        return whole
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def _worded(tokens: Iterable[str]) -> list[str]:
    """Tokens to be compared: the first in small letters, so that a later capital ("May", "United") is no verb."""
    words = [token.replace("’", "'") for token in tokens]
    return [words[0].lower(), *words[1:]] if words else []


class _Cutter:
    """One sentence on its way into pieces. Places are numbers of tokens."""

    def __init__(self, sentence: str) -> None:
        self.text = sentence
        self.spans = [found.span() for found in TOKEN.finditer(sentence)]
        self.words = _worded(sentence[start:end] for start, end in self.spans)
        self.stop = len(self.words)     # nothing is cut from here on

    def all(self) -> list[Clause]:
        """Every clause; fewer than two where nothing can be cut."""
        parts = list(self._between(0, len(self.words), (";",)))
        if len(parts) > 1 and not all(self._content(range(*part)) >= FEWEST for part in parts):
            return []
        if guess(self.text) not in ("en", "und"):
            return [self._clause(tuple(range(*part)), part[0], part[1] - 1) for part in parts]
        if len(parts) > 1 and not all(self._verb(range(*part)) is not None for part in parts):
            return []
        out: list[Clause] = []
        for low, high in parts:
            out += self._part(low, high)
        return out

    def _part(self, low: int, high: int) -> list[Clause]:
        """The clauses of what stands between semicolons."""
        words = self.words[low:high]
        self.stop = low + words.index(":") if ":" in words else high
        said = any(word in SAYING for word in words)
        if said or not CONDITIONAL.isdisjoint(words):
            return [self._clause(tuple(range(low, high)), low, high - 1)]
        return self._unit(low, high, (), 0)

    # --- units ------------------------------------------------------------------------------------------------------

    def _unit(self, low: int, high: int, lead: Words, depth: int) -> list[Clause]:
        """The clauses of a stretch with one main clause, to which these words are restored."""
        parts = list(self._between(low, high, SEPARATORS))
        main: list[int] = []
        out: list[Clause] = []
        n = 0
        if depth > DEEPEST or not parts:
            return [self._clause((*lead, *range(low, high)), low, high - 1)]
        front = self._fronted(parts)
        if front:
            n = front
        while n < len(parts):
            start, end = parts[n]
            if n and main and start < self.stop:
                if self._joins(parts, n, main, lead):
                    out += self._joined(start, high, main, lead, depth)
                    break
                until = self._until(parts, n, main, lead)
                if until:
                    out += self._aside(start, parts[until - 1][1], main, lead, depth)
                    n = until
                    continue
            main.extend(range(start, end))
            n += 1
        if front:
            out += self._opening(parts[0][0], parts[front - 1][1], main, lead)
        return self._within(main, lead, depth) + out

    def _within(self, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        """The clauses of a main clause that no comma divides."""
        at = next((k for k in range(1, len(main) - 1) if self._divides(main, k, lead)), None)
        if at is None or depth > DEEPEST:
            return [self._clause((*lead, *main), main[0], main[-1])]
        left, right = main[:at], main[at + 1 :]
        kept = self._clause((*lead, *left), left[0], left[-1])
        needs = self.words[right[0]] not in PRONOUNS and self._leads(right) is not None
        subject = self._restored(left, lead, right) if needs else ()
        return [kept, *self._within(right, subject or (), depth + 1)]

    def _divides(self, main: Sequence[int], at: int, lead: Words) -> bool:
        """Whether the word at this place of a main clause joins two statements."""
        word, left, right = self.words[main[at]], main[:at], main[at + 1 :]
        if main[at] >= self.stop or (word not in ("and", "but") and word not in ADVERBIAL) or word == "as":
            return False
        if main[at] - main[at - 1] > 1 and word in ("and", "but"):
            return False     # behind a comma: looked at before
        if self._verb(left) is None or min(self._content(left), self._content(right)) < FEWEST:
            return False
        if word in ("and", "but"):
            return self._coordinates(left, right, lead)
        following = self.words[right[0]]
        if following == "of" or self._related(left):
            return False
        if gerund(following):
            return self._subject(left, lead) is not None
        return following not in PREPOSITIONS and self._verb(right) is not None and self._leads(right) is None

    def _coordinates(self, left: Sequence[int], right: Sequence[int], lead: Words) -> bool:
        """Whether "and" joins two verb phrases of one subject, or two clauses."""
        if self._leads(right) is not None:
            return self._restored(left, lead, right) is not None
        return self._has_own(right) and not self._related(left)

    # --- what begins behind a comma ---------------------------------------------------------------------------------

    def _joins(self, parts: Sequence[tuple[int, int]], n: int, main: Sequence[int], lead: Words) -> bool:
        """Whether a part behind a comma is joined on as a statement of its own."""
        start, end = parts[n]
        if end - start < 2 or self._verb(main) is None:
            return False
        right = self._joined_part(start, end)
        if start == right[0] and not self._in_series(parts, n):
            return False
        if self._content(right) < FEWEST:
            return False
        if self._leads(right) is not None:
            return self._restored(main, lead, right) is not None
        return self._has_own(right, far=True)

    def _joined_part(self, start: int, end: int) -> range:
        return range(start + (self.words[start] in JOINING), end)

    def _in_series(self, parts: Sequence[tuple[int, int]], n: int) -> bool:
        """Whether part n begins with a verb, and so does a later one behind "and" or "but": "has A, is B, and does C"."""
        if self._leads(range(*parts[n])) != 0:
            return False
        later = [part for part in parts[n + 1 :] if self.words[part[0]] in ("and", "but")]
        return any(end - start > 1 and self._leads(range(start + 1, end)) is not None for start, end in later)

    def _joined(self, start: int, high: int, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        right = self._joined_part(start, high)
        subject = self._restored(main, lead, right) if self._leads(right) is not None else ()
        return self._unit(right[0], high, subject or (), depth + 1)

    def _until(self, parts: Sequence[tuple[int, int]], n: int, main: Sequence[int], lead: Words) -> int | None:
        """Where an aside that begins with part n ends: one past its last part; None where it is none."""
        start, end = parts[n]
        kind = self._kind(start, end, parts, n)
        if kind is None or self._antecedent(main) is None:
            return None
        if self._verb(main) is None and not lead:
            after = [k for k in range(n + 1, len(parts)) if self._leads(range(*parts[k])) is not None]
            if not after or (kind == "apposition" and after[0] > n + 1):
                return None
            return after[0]
        until = n + 1
        if kind == "apposition":
            return until
        while until < len(parts) and not self._returns(*parts[until], parts, until):
            until += 1
        return until

    def _returns(self, start: int, end: int, parts: Sequence[tuple[int, int]], n: int) -> bool:
        """Whether a part behind an aside is no more of it."""
        word = self.words[start]
        if word in PREPOSITIONS or self._kind(start, end, parts, n) in ("relative", "adverbial", "participial"):
            return True
        return word in JOINING and self._has_own(range(start + 1, end), far=True)

    def _kind(self, start: int, end: int, parts: Sequence[tuple[int, int]], n: int) -> str | None:
        """What opens behind a comma."""
        words = self.words[start:end]
        if len(words) < 2 or self._content(range(start, end)) < FEWEST:
            return None
        if self._pronoun(start, end) is not None:
            return "relative" if self._verb(range(start, end)) is not None else None
        first = 1 if words[0] in LOOSE or words[0].endswith("ly") else 0
        word, following = words[first], words[first + 1] if first + 1 < len(words) else ""
        if word in ADVERBIAL and following != "of":
            clause = self._verb(range(start + first + 1, end)) is not None and following not in PREPOSITIONS
            clause = clause and word != "as"
            return "adverbial" if clause or (gerund(following) and word != "as") else None
        if gerund(word) or (participle(word) and (following in PREPOSITIONS or following == "to")):
            return "participial" if not self._listed(parts, n) else None
        if words[0] in ("a", "an", "the", "one") and self._verb(range(start, end)) is None:
            return "apposition" if not self._listed(parts, n) else None
        return None

    def _listed(self, parts: Sequence[tuple[int, int]], n: int) -> bool:
        """Whether a part is a member of a list: one that follows begins with "and" or "or", or holds it."""
        following = parts[n + 1 : n + 4]
        if any(self.words[start] in ("and", "or", "&") for start, _ in following):
            return True
        return bool({"and", "or"} & set(self.words[parts[n][0] : parts[n][1]])) and n > 1

    def _pronoun(self, start: int, end: int) -> int | None:
        """The place of the relative pronoun of "who", "in which", "many of whom"; None where there is none."""
        for at in range(start, min(start + 4, end - 1)):
            word = self.words[at]
            if word in RELATIVE:
                return at
            if word not in PREPOSITIONS and word not in ("of", "all", "some", "most", "many", "both", "one", "each"):
                return None
        return None

    def _aside(self, start: int, end: int, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        """A clause behind a comma, with what it speaks of in front of it or in the place of its pronoun."""
        of = self._antecedent(main) or ()
        if not self._verb(main) and lead:
            of = lead
        kind = self._kind(start, end, ((start, end),), 0)
        pronoun = self._pronoun(start, end)
        if kind == "relative" and pronoun is not None:
            if pronoun == start and self._leads(range(start + 1, end)) is not None:
                return self._unit(start + 1, end, of, depth + 1)
            word = self.words[pronoun]
            instead: Words = (*of, "'s") if word == "whose" else ("in", *of) if word == "where" else of
            own = (*range(start, pronoun), *instead, *range(pronoun + 1, end))
            return [self._clause(own, start, end - 1)]
        if kind == "adverbial":
            return self._adverbial(start, end, main, lead)
        if kind == "apposition":
            return [self._clause((*of, "is", *range(start, end)), start, end - 1)]
        return [self._clause((*self._doer(start, main, lead, of), *range(start, end)), start, end - 1)]

    def _doer(self, start: int, main: Sequence[int], lead: Words, of: Words) -> Words:
        """Who or what a participle speaks of."""
        acting = any(gerund(word) for word in self.words[start : start + 2])
        subject = self._subject(main, lead) if self._verb(main) is not None else None
        return (subject or of) if acting else (*of, "was")

    def _adverbial(self, start: int, end: int, main: Sequence[int], lead: Words) -> list[Clause]:
        own = range(start + 1 if self.words[start] in ADVERBIAL else start + 2, end)
        subject = (self._subject(main, lead) or ()) if gerund(self.words[own[0]]) else ()
        return self._within(tuple(own), subject, DEEPEST) if own else []

    def _fronted(self, parts: Sequence[tuple[int, int]]) -> int:
        """How many parts at the start are a clause of their own before the main one."""
        start, end = parts[0]
        if len(parts) < 2 or self._kind(start, end, parts[:1], 0) not in ("adverbial", "participial"):
            return 0
        rest = next((n for n in range(1, len(parts)) if self._has_own(range(*parts[n]), far=True)), 0)
        return rest if rest == 1 else 0

    def _opening(self, start: int, end: int, main: Sequence[int], lead: Words) -> list[Clause]:
        if self.words[start] in ADVERBIAL:
            return self._adverbial(start, end, main, lead)
        subject = self._subject(main, lead) or ()
        acting = any(gerund(word) for word in self.words[start : start + 2])
        return [self._clause((*subject, *(() if acting else ("was",)), *range(start, end)), start, end - 1)]

    # --- subjects and verbs -----------------------------------------------------------------------------------------

    def _verb(self, ids: Sequence[int]) -> int | None:
        """The position of the first finite verb among these tokens."""
        words = [self.words[at] for at in ids]
        return next((k for k in range(len(words)) if finite(words, k)), None)

    def _leads(self, ids: Sequence[int]) -> int | None:
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

    def _has_own(self, ids: Sequence[int], *, far: bool = False) -> bool:
        """Whether a part begins with a subject that has a finite verb near by."""
        verb = self._verb(ids)
        if not verb or self._pronoun(ids[0], ids[-1] + 1) is not None:
            return False
        first = self.words[ids[0]]
        return verb <= 3 if first in PRONOUNS else verb <= (10 if far else 6) and (far or first in DETERMINERS)

    def _related(self, ids: Sequence[int]) -> bool:
        """Whether a clause that only narrows ("the man who ...") is among these tokens."""
        return any(self.words[at] in RELATIVE or self.words[at] == "that" for at in ids)

    def _subject(self, ids: Sequence[int], lead: Words) -> Words | None:
        """The subject of a main clause; None where it is not plain."""
        if lead:
            return lead
        begin = next((k + 1 for k in range(len(ids)) if k and self.words[ids[k]] == "that"
                      and finite([self.words[at] for at in ids], k - 1)), 0)  # fmt: skip
        verb = self._verb(ids[begin:])
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
        if not own or len(own) > LONGEST_SUBJECT or self._related(own):
            return None
        return tuple(own)

    def _restored(self, left: Sequence[int], lead: Words, right: Sequence[int]) -> Words | None:
        """The subject for a second verb phrase, with the auxiliary that both share."""
        subject = self._subject(left, lead)
        leads = self._leads(right)
        if subject is None or leads is None:
            return None
        word = self.words[right[leads]]
        verb = self._verb(left)
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

    def _antecedent(self, ids: Sequence[int]) -> Words | None:
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

    def _content(self, ids: Sequence[int]) -> int:
        return sum(self.words[at].lower() not in ENGLISH and self.words[at][0].isalnum() for at in ids)

    def _between(self, low: int, high: int, marks: Sequence[str] | frozenset[str]) -> Iterator[tuple[int, int]]:
        """Stretches of tokens between marks, empty ones left out."""
        start = low
        for at in range(low, high):
            if self.words[at] in marks and at < self.stop:
                if at > start:
                    yield start, at
                start = at + 1
        if high > start:
            yield start, high

    def _clause(self, words: Words, first: int, last: int) -> Clause:
        return Clause(" ".join(self._runs(words)).replace(" 's ", "'s "), self.spans[first][0], self.spans[last][1])

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
        return word in DETERMINERS or word in PRONOUNS - {"i"} or word in PREPOSITIONS or participle(word) or gerund(word)

    def _follows(self, before: int, one: int) -> bool:
        return one == before + 1 or (one == before + 2 and self.words[before + 1] in SEPARATORS)
