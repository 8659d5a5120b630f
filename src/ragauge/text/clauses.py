"""A sentence cut into its clauses, each a statement of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ragauge.text import phrases as verbs
from ragauge.text.phrases import SEPARATORS, TokenizedSentence, Words, finite, gerund, participle
from ragauge.text.sentences import CODE

LONGEST = 1_200  # characters: a longer sentence is a list or a run-on text, and stays one
FEWEST = 2  # words with content that each part has of its own
LONGEST_NAME = 14  # words of an apposition
FARTHEST_VERB = 10  # words before the verb of an adverbial clause
DEEPEST = 4  # clauses within clauses

# what follows holds only if something else does
CONDITIONAL = frozenset(["if", "unless", "whether", "otherwise", "suppose", "assuming", "provided", "lest"])
JOINS_CLAUSES = verbs.ADVERBIAL | {"but", "which", "who", "that"}
BEFORE_VERB = verbs.PRONOUNS | verbs.DETERMINERS
NOT_IN_NAMES = verbs.AUXILIARIES | verbs.THIRD | verbs.PAST


class Clause(NamedTuple):
    """One statement of a sentence."""

    text: str  # the statement; a subject or antecedent that the cut took away is put back
    own: str  # the same without what was put back
    start: int  # first character of the clause's own part of the sentence
    end: int  # one past its last; what is inserted in it lies between


def clauses(sentence: str) -> tuple[Clause, ...]:
    """The statements of a sentence, in the order of their own parts; one with the whole text where nothing is cut.

    Cut are independent clauses, coordinated verb phrases, relative and participial clauses behind a comma,
    appositions, adverbial clauses (because, although, while, after), and a list of three or more things that ends a
    clause. Conditionals, reported speech, what stands in quotation marks or brackets, alternatives ("or") and two
    things joined without verbs of their own stay together. Outside English only semicolons divide. Where the words
    leave it open, nothing is cut. Never fails.

    >>> [one.text for one in clauses("Ada, who was born in 1815, wrote notes and met Babbage.")]
    ['Ada wrote notes', 'Ada was born in 1815', 'Ada met Babbage']
    >>> [one.text for one in clauses("If it rains, the pump stops and the lamp turns red.")]
    ['If it rains, the pump stops and the lamp turns red.']
    """
    whole = (Clause(sentence, sentence, 0, len(sentence)),)
    if len(sentence) > LONGEST:
        return whole
    cut = _Cutter(sentence).all()
    code = [span.span() for span in CODE.finditer(sentence)] if "`" in sentence else []
    ends = [end for clause in cut for end in (clause.start, clause.end)]
    if len(cut) < 2 or any(low < end < high for end in ends for low, high in code):
        return whole
    return tuple(sorted(cut, key=lambda clause: (clause.start, clause.end)))


class _Cutter:
    """One sentence on its way into pieces. Places are numbers of tokens."""

    def __init__(self, sentence: str) -> None:
        self.read = TokenizedSentence(sentence)
        self.words = self.read.words
        self.asides_only = False  # what hangs on a condition is not divided

    def all(self) -> list[Clause]:
        """Every clause; fewer than two where nothing can be cut."""
        parts = list(self.read.between(0, len(self.words), frozenset(";")))
        if len(parts) > 1 and not all(self.read.content(range(*part)) >= FEWEST for part in parts):
            return []
        if not self.read.english():
            return [self._clause(tuple(range(*part)), part[0], part[1] - 1) for part in parts]
        if len(parts) > 1 and not all(self.read.verb(range(*part)) is not None for part in parts):
            return []
        out: list[Clause] = []
        for low, high in parts:
            out += self._part(low, high)
        return out

    def _part(self, low: int, high: int) -> list[Clause]:
        words = self.words[low:high]
        self.read.stop = low + words.index(":") if ":" in words else high
        if self.read.stop < high - 1 and self._two_at(low, self.read.stop, high):
            first, self.read.stop = self.read.stop, high
            return self._part(low, first) + self._part(first + 1, high)
        held = next((at for at in range(low, high) if self._holds(at)), high)
        self.asides_only = held < high
        self.read.stop = min(self.read.stop, held)
        return self._unit(low, high, (), 0)

    def _holds(self, at: int) -> bool:
        after = self.words[at + 1] if at + 1 < len(self.words) else ""
        return self.words[at].lower() in CONDITIONAL or (self.words[at] in verbs.SAYING and after != "to")

    def _two_at(self, low: int, colon: int, high: int) -> bool:
        """Whether a statement of its own stands before a colon, and one behind it."""
        before, after = range(low, colon), range(colon + 1, high)
        if min(self.read.content(before), self.read.content(after)) < FEWEST or self.read.strong(before) is None:
            return False
        verb = self.read.strong(after)
        if verb is None or not SEPARATORS.isdisjoint(self.words[colon + 1 : colon + 1 + verb]):
            return False
        return self.read.has_own(after, far=True)

    def _unit(self, low: int, high: int, lead: Words, depth: int) -> list[Clause]:
        """The clauses of a stretch with one main clause, to which these words are restored."""
        parts = list(self.read.between(low, high, SEPARATORS))
        main: list[int] = []
        out: list[Clause] = []
        n = 0
        if depth > DEEPEST or not parts:
            return [self._clause((*lead, *range(low, high)), low, high - 1)]
        front = 0 if self.asides_only else self._fronted(parts)
        if front:
            n = front
        while n < len(parts):
            start, end = parts[n]
            if n and main and start < self.read.stop:
                if not self.asides_only and self._joins(parts, n, main, lead):
                    right = range(start + (self.words[start] in verbs.JOINING), high)
                    leads = self.read.leads(right) is not None
                    subject = self.read.restored(main, lead, right, outer=True) if leads else ()
                    out += self._unit(right[0], high, subject or (), depth + 1)
                    break
                until = self._until(parts, n, main, lead)
                if until:
                    out += self._aside(start, parts[until - 1][1], main, lead, depth)
                    n = until
                    continue
            main.extend(range(start, end))
            n += 1
        if front:
            first, last = parts[0][0], parts[front - 1][1]
            if self.words[first] in verbs.ADVERBIAL:
                out += self._adverbial(first, last, main, lead)
            else:
                out.append(self._participial(first, last, main, lead, self.read.subject(main, lead) or ()))
        return self._within(main, lead, depth) + out

    def _within(self, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        places = () if self.asides_only else range(1, len(main) - 1)
        at = next((k for k in places if self._divides(main, k, lead)), None)
        if at is None or depth > DEEPEST:
            return self._members(main, lead) or [self._clause((*lead, *main), main[0], main[-1])]
        left, right = main[:at], main[at + 1 :]
        kept = self._clause((*lead, *left), left[0], left[-1])
        needs = self.words[right[0]] not in verbs.PRONOUNS and self.read.leads(right) is not None
        subject = self.read.restored(left, lead, right) if needs else ()
        return [kept, *self._within(right, subject or (), depth + 1)]

    def _members(self, main: Sequence[int], lead: Words) -> list[Clause]:
        """A statement for each of three or more things that end a clause as a list, with the words before them."""
        words = [self.words[at] for at in main]
        gaps = [k for k in range(1, len(main)) if main[k] - main[k - 1] > 1]
        if len(gaps) < FEWEST or self.asides_only:
            return []
        parts = [main[a:b] for a, b in pairwise([0, *gaps, len(main)])]
        last = parts[-1][1:] if self.words[parts[-1][0]] == "and" else ()
        head = next((k for k in range(gaps[0] - 1, 0, -1) if words[k] in verbs.PREPOSITIONS or finite(words, k)), 0) + 1
        listed = [main[head : gaps[0]], *parts[1:-1], last]
        shared = all(len(run) == 1 for run in listed[:-1]) and len(last) > 1  # "the first, second and third"
        if shared or self.read.strong(main[:head]) is None or not all(map(self.read.thing, listed)):
            return []
        own = [self._clause((*lead, *main[: gaps[0]]), main[0], main[gaps[0] - 1])]
        return own + [self._clause((*lead, *main[:head], *run), run[0], run[-1]) for run in listed[1:]]

    def _divides(self, main: Sequence[int], at: int, lead: Words) -> bool:
        word, left, right = self.words[main[at]], main[:at], main[at + 1 :]
        if main[at] >= self.read.stop or (word not in ("and", "but") and word not in verbs.ADVERBIAL):
            return False
        if main[at] - main[at - 1] > 1 and word in ("and", "but"):
            return False  # behind a comma: looked at before
        if word not in ("and", "but") and self.words[main[at - 1]] in ("as", "even", "ever"):
            return False
        verb = self.read.strong(left)
        if verb is None or verb == len(left) - 1 or min(self.read.content(left), self.read.content(right)) < FEWEST:
            return False
        if word in ("and", "but"):
            if self.read.leads(right) is not None:
                return self.read.restored(left, lead, right) is not None
            narrows = any(self.words[at] in verbs.NARROWING for at in left)  # "the man who ..."
            return self.read.has_own(right) and not narrows
        return self._full(right) and (self._finite(right) or self.read.subject(left, lead) is not None)

    def _full(self, ids: Sequence[int]) -> bool:
        """Whether "after" or "because" opens a clause with these tokens, not a phrase ("after the interview")."""
        if len(ids) < FEWEST or self.words[ids[0]] in verbs.PREPOSITIONS:
            return False
        return self._finite(ids) or gerund(self.words[ids[0]]) or participle(self.words[ids[0]])

    def _finite(self, ids: Sequence[int]) -> bool:
        """Whether a clause has a subject and a verb of its own; that of "an interview she gave" is not."""
        verb = self.read.strong(ids)
        if verb is None or not 0 < verb <= FARTHEST_VERB:
            return False
        before = [self.words[at] for at in ids[:verb]]
        return (verb == 1 or before[-1] not in verbs.PRONOUNS) and JOINS_CLAUSES.isdisjoint(before)

    def _joins(self, parts: Sequence[tuple[int, int]], n: int, main: Sequence[int], lead: Words) -> bool:
        start, end = parts[n]
        if end - start < 2 or self.read.verb(main) is None:
            return False
        right = range(start + (self.words[start] in verbs.JOINING), end)
        if start == right[0]:  # "has A, is B, and does C"
            later = [range(low + 1, high) for low, high in parts[n + 1 :] if self.words[low] in ("and", "but")]
            if self.read.leads(right) != 0 or not any(each and self.read.leads(each) is not None for each in later):
                return False
        if self.read.content(right) < FEWEST:
            return False
        if self.read.leads(right) is not None:
            return self.read.restored(main, lead, right, outer=True) is not None
        return self.read.has_own(right, far=True)

    def _until(self, parts: Sequence[tuple[int, int]], n: int, main: Sequence[int], lead: Words) -> int | None:
        """Where an aside that begins with part n ends: one past its last part; None where it is none."""
        start, end = parts[n]
        kind = self._kind(start, end, parts, n)
        if kind is None or (self.asides_only and kind == "adverbial") or end > self.read.stop:
            return None
        if self.read.antecedent(main) is None and self.read.subject(main, lead) is None:
            return None
        if self.read.verb(main) is None and not lead:
            after = [k for k in range(n + 1, len(parts)) if self.read.leads(range(*parts[k])) is not None]
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
        word = self.words[start]
        if word in verbs.PREPOSITIONS or self.read.leads(range(start, end)) == 0:
            return True
        if self._kind(start, end, parts, n) in ("relative", "adverbial", "participial"):
            return True
        return word in verbs.JOINING and self.read.has_own(range(start + 1, end), far=True)

    def _kind(self, start: int, end: int, parts: Sequence[tuple[int, int]], n: int) -> str | None:
        words = self.words[start:end]
        if len(words) < 2 or self.read.content(range(start, end)) < FEWEST:
            return None
        if self.read.pronoun(start, end) is not None:
            acts = self.read.verb(range(start, end)) is not None or self._acts(start)
            return "relative" if acts else None
        first = 1 if words[0] in verbs.LOOSE or words[0].endswith("ly") else 0
        word, following = words[first], words[first + 1] if first + 1 < len(words) else ""
        if word in verbs.ADVERBIAL and following != "of":
            return "adverbial" if self._full(range(start + first + 1, end)) else None
        if gerund(word) and following in ("and", "or"):
            return None
        if gerund(word) or (participle(word) and following in verbs.PREPOSITIONS):
            return "participial" if not self._listed(parts, n) else None
        if words[0] in ("a", "an", "the", "one") and self._names(start, end):
            return "apposition" if not self._listed(parts, n) else None
        return None

    def _acts(self, at: int) -> bool:
        """Whether "who" or "which" stands here, and no subject of another verb behind it: any small word may be one."""
        after = self.words[at + 1]
        return self.words[at] in ("who", "which") and after.islower() and after not in BEFORE_VERB

    def _names(self, start: int, end: int) -> bool:
        """Whether a part without a verb of its own tells what the thing before it is."""
        words = self.words[start:end]
        if len(words) > LONGEST_NAME or not NOT_IN_NAMES.isdisjoint(words):
            return False
        single = words[1] in ("only", "first", "last", "sole") or words[1].endswith("est")
        return words[0] != "the" or single or "of" in words or start == 0 or self.read.name(start - 2)

    def _listed(self, parts: Sequence[tuple[int, int]], n: int) -> bool:
        """Whether a part is a member of a list: one that follows begins with "and" or "or", or holds it."""
        for start, end in parts[n + 1 : n + 4]:
            if self.words[start] in ("and", "or", "&"):
                return True
            if self.read.leads(range(start, end)) is not None:
                return False
        joined = not {"and", "or"}.isdisjoint(self.words[parts[n][0] : parts[n][1]])
        before = range(*parts[n - 1])
        return joined and n > 1 and self.read.verb(before) is None and not self.words[before[0]].endswith("ly")

    def _aside(self, start: int, end: int, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        """A clause behind a comma, with what it speaks of in front of it or in the place of its pronoun."""
        of = self.read.antecedent(main) or self.read.subject(main, lead) or ()
        if not self.read.verb(main) and lead:
            of = self.read.subject(main, lead) or ()
        kind = self._kind(start, end, ((start, end),), 0)
        pronoun = self.read.pronoun(start, end)
        if kind == "relative" and pronoun is not None:
            if pronoun == start and self._acts(start):
                return self._unit(start + 1, end, of, depth + 1)
            word = self.words[pronoun]
            instead: Words = (*of, "'s") if word == "whose" else ("in", *of) if word == "where" else of
            own = (*range(start, pronoun), *instead, *range(pronoun + 1, end))
            return [self._clause(own, start, end - 1)]
        if kind == "adverbial":
            return self._adverbial(start, end, main, lead)
        if kind == "apposition":
            return [self._clause((*of, "is", *range(start, end)), start, end - 1)]
        return [self._participial(start, end, main, lead, of)]

    def _participial(self, start: int, end: int, main: Sequence[int], lead: Words, of: Words) -> Clause:
        acting = any(map(gerund, self.words[start : start + 2]))
        subject = self.read.subject(main, lead) if acting and self.read.verb(main) is not None else None
        doer = (subject or of) if acting else (*of, "was")
        return self._clause((*doer, *range(start, end)), start, end - 1)

    def _adverbial(self, start: int, end: int, main: Sequence[int], lead: Words) -> list[Clause]:
        own = range(start + 1 if self.words[start] in verbs.ADVERBIAL else start + 2, end)
        subject: Words = ()
        if not self._finite(own):
            subject = (*(self.read.subject(main, lead) or ()), *(("was",) if participle(self.words[own[0]]) else ()))
        return self._within(tuple(own), subject, DEEPEST) if own else []

    def _fronted(self, parts: Sequence[tuple[int, int]]) -> int:
        """How many parts at the start are a clause of their own before the main one."""
        start, end = parts[0]
        if len(parts) < 2 or self._kind(start, end, parts[:1], 0) not in ("adverbial", "participial"):
            return 0
        first = range(*parts[1])
        if self.words[start] not in verbs.ADVERBIAL and self.read.strong(range(start, end)) is not None:
            return 0
        verb = any(self.read.strong(range(*part)) is not None for part in parts[1:])
        joins = self.words[first[0]] in verbs.JOINING | verbs.ADVERBIAL
        return int(verb and not joins and self.read.leads(first) is None)

    def _clause(self, words: Words, first: int, last: int) -> Clause:
        own = tuple(word for word in words if isinstance(word, int) and first <= word <= last)
        return Clause(self.read.shown(words), self.read.shown(own), self.read.spans[first][0], self.read.spans[last][1])
