"""A sentence cut into its clauses, each a statement of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ragauge.text import phrases as verbs
from ragauge.text.phrases import SEPARATORS, TokenizedSentence, Words, is_finite, is_gerund, is_participle
from ragauge.text.sentences import CODE

MAX_SENTENCE_CHARS = 1_200  # characters: a longer sentence is a list or a run-on text, and stays one
MIN_CONTENT_WORDS = 2  # words with content that each part has of its own
MAX_APPOSITION_WORDS = 14  # words of an apposition
MAX_VERB_DISTANCE_WORDS = 10  # words before the verb of an adverbial clause
MAX_DEPTH = 4  # clauses within clauses

# what follows holds only if something else does
CONDITIONAL = frozenset(["if", "unless", "whether", "otherwise", "suppose", "assuming", "provided", "lest"])
JOINS_CLAUSES = verbs.ADVERBIAL | {"but", "which", "who", "that"}
BEFORE_VERB = verbs.PRONOUNS | verbs.DETERMINERS
NOT_IN_NAMES = verbs.AUXILIARIES | verbs.THIRD_PERSON | verbs.PAST


class Clause(NamedTuple):
    """One statement of a sentence."""

    text: str  # the statement; a subject or antecedent that the cut took away is put back
    own: str  # the same without what was put back
    start: int  # first character of the clause's own part of the sentence
    end: int  # one past its last; what is inserted in it lies between


def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """The statements of a sentence, in the order of their own parts; one with the whole text where nothing is cut.

    Cut are independent clauses, coordinated verb phrases, relative and participial clauses behind a comma,
    appositions, adverbial clauses (because, although, while, after), and a list of three or more things that ends a
    clause. Conditionals, reported speech, what stands in quotation marks or brackets, alternatives ("or") and two
    things joined without verbs of their own stay together. Outside English only semicolons divide. Where the words
    leave it open, nothing is cut. Never fails.

    >>> [one.text for one in split_clauses("Ada, who was born in 1815, wrote notes and met Babbage.")]
    ['Ada wrote notes', 'Ada was born in 1815', 'Ada met Babbage']
    >>> [one.text for one in split_clauses("If it rains, the pump stops and the lamp turns red.")]
    ['If it rains, the pump stops and the lamp turns red.']
    """
    uncut = (Clause(sentence, sentence, 0, len(sentence)),)
    if len(sentence) > MAX_SENTENCE_CHARS:
        return uncut
    cut = _ClauseCutter(sentence).cut_all()
    code = [span.span() for span in CODE.finditer(sentence)] if "`" in sentence else []
    bounds = [end for clause in cut for end in (clause.start, clause.end)]
    if len(cut) < 2 or any(low < end < high for end in bounds for low, high in code):
        return uncut
    return tuple(sorted(cut, key=lambda clause: (clause.start, clause.end)))


class _ClauseCutter:
    """One sentence on its way into pieces. Places are numbers of tokens."""

    def __init__(self, sentence: str) -> None:
        self.read = TokenizedSentence(sentence)
        self.words = self.read.words
        self.asides_only = False  # what hangs on a condition is not divided

    def cut_all(self) -> list[Clause]:
        """Every clause; fewer than two where nothing can be cut."""
        parts = list(self.read.split_between(0, len(self.words), frozenset(";")))
        if len(parts) > 1 and not all(self.read.count_content(range(*part)) >= MIN_CONTENT_WORDS for part in parts):
            return []
        if not self.read.is_english():
            return [self._build_clause(tuple(range(*part)), part[0], part[1] - 1) for part in parts]
        if len(parts) > 1 and not all(self.read.find_verb(range(*part)) is not None for part in parts):
            return []
        out: list[Clause] = []
        for low, high in parts:
            out += self._cut_part(low, high)
        return out

    def _cut_part(self, low: int, high: int) -> list[Clause]:
        words = self.words[low:high]
        self.read.stop = low + words.index(":") if ":" in words else high
        if self.read.stop < high - 1 and self._has_two_statements(low, self.read.stop, high):
            first, self.read.stop = self.read.stop, high
            return self._cut_part(low, first) + self._cut_part(first + 1, high)
        condition = next((index for index in range(low, high) if self._is_binding(index)), high)
        self.asides_only = condition < high
        self.read.stop = min(self.read.stop, condition)
        return self._cut_unit(low, high, (), 0)

    def _is_binding(self, index: int) -> bool:
        after = self.words[index + 1] if index + 1 < len(self.words) else ""
        return self.words[index].lower() in CONDITIONAL or (self.words[index] in verbs.SAYING_VERBS and after != "to")

    def _has_two_statements(self, low: int, colon: int, high: int) -> bool:
        """Whether a statement of its own stands before a colon, and one behind it."""
        before, after = range(low, colon), range(colon + 1, high)
        if (
            min(self.read.count_content(before), self.read.count_content(after)) < MIN_CONTENT_WORDS
            or self.read.find_strong_verb(before) is None
        ):
            return False
        verb = self.read.find_strong_verb(after)
        if verb is None or not SEPARATORS.isdisjoint(self.words[colon + 1 : colon + 1 + verb]):
            return False
        return self.read.has_own_subject(after, far=True)

    def _cut_unit(self, low: int, high: int, lead: Words, depth: int) -> list[Clause]:
        """The clauses of a stretch with one main clause, to which these words are restored."""
        parts = list(self.read.split_between(low, high, SEPARATORS))
        main: list[int] = []
        out: list[Clause] = []
        n = 0
        if depth > MAX_DEPTH or not parts:
            return [self._build_clause((*lead, *range(low, high)), low, high - 1)]
        front = 0 if self.asides_only else self._count_fronted(parts)
        if front:
            n = front
        while n < len(parts):
            start, end = parts[n]
            if n and main and start < self.read.stop:
                if not self.asides_only and self._is_joining(parts, n, main, lead):
                    right = range(start + (self.words[start] in verbs.JOINING_WORDS), high)
                    leads = self.read.find_leading_verb(right) is not None
                    subject = self.read.restore_subject(main, lead, right, outer=True) if leads else ()
                    out += self._cut_unit(right[0], high, subject or (), depth + 1)
                    break
                until = self._find_aside_end(parts, n, main, lead)
                if until:
                    out += self._cut_aside(start, parts[until - 1][1], main, lead, depth)
                    n = until
                    continue
            main.extend(range(start, end))
            n += 1
        if front:
            first, last = parts[0][0], parts[front - 1][1]
            if self.words[first] in verbs.ADVERBIAL:
                out += self._cut_adverbial(first, last, main, lead)
            else:
                out.append(self._build_participial(first, last, main, lead, self.read.find_subject(main, lead) or ()))
        return self._cut_within(main, lead, depth) + out

    def _cut_within(self, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        candidates = () if self.asides_only else range(1, len(main) - 1)
        index = next((k for k in candidates if self._is_dividing(main, k, lead)), None)
        if index is None or depth > MAX_DEPTH:
            return self._cut_list(main, lead) or [self._build_clause((*lead, *main), main[0], main[-1])]
        left, right = main[:index], main[index + 1 :]
        left_clause = self._build_clause((*lead, *left), left[0], left[-1])
        needs = self.words[right[0]] not in verbs.PRONOUNS and self.read.find_leading_verb(right) is not None
        subject = self.read.restore_subject(left, lead, right) if needs else ()
        return [left_clause, *self._cut_within(right, subject or (), depth + 1)]

    def _cut_list(self, main: Sequence[int], lead: Words) -> list[Clause]:
        """A statement for each of three or more things that end a clause as a list, with the words before them."""
        words = [self.words[index] for index in main]
        gaps = [k for k in range(1, len(main)) if main[k] - main[k - 1] > 1]
        if len(gaps) < MIN_CONTENT_WORDS or self.asides_only:
            return []
        parts = [main[a:b] for a, b in pairwise([0, *gaps, len(main)])]
        last = parts[-1][1:] if self.words[parts[-1][0]] == "and" else ()
        head = (
            next((k for k in range(gaps[0] - 1, 0, -1) if words[k] in verbs.PREPOSITIONS or is_finite(words, k)), 0) + 1
        )
        members = [main[head : gaps[0]], *parts[1:-1], last]
        shared = all(len(run) == 1 for run in members[:-1]) and len(last) > 1  # "the first, second and third"
        if shared or self.read.find_strong_verb(main[:head]) is None or not all(map(self.read.is_thing, members)):
            return []
        statements = [self._build_clause((*lead, *main[: gaps[0]]), main[0], main[gaps[0] - 1])]
        return statements + [self._build_clause((*lead, *main[:head], *run), run[0], run[-1]) for run in members[1:]]

    def _is_dividing(self, main: Sequence[int], index: int, lead: Words) -> bool:
        word, left, right = self.words[main[index]], main[:index], main[index + 1 :]
        if main[index] >= self.read.stop or (word not in ("and", "but") and word not in verbs.ADVERBIAL):
            return False
        if main[index] - main[index - 1] > 1 and word in ("and", "but"):
            return False  # behind a comma: looked at before
        if word not in ("and", "but") and self.words[main[index - 1]] in ("as", "even", "ever"):
            return False
        verb = self.read.find_strong_verb(left)
        if (
            verb is None
            or verb == len(left) - 1
            or min(self.read.count_content(left), self.read.count_content(right)) < MIN_CONTENT_WORDS
        ):
            return False
        if word in ("and", "but"):
            if self.read.find_leading_verb(right) is not None:
                return self.read.restore_subject(left, lead, right) is not None
            narrows = any(self.words[index] in verbs.NARROWING_WORDS for index in left)  # "the man who ..."
            return self.read.has_own_subject(right) and not narrows
        return self._is_full_clause(right) and (
            self._is_finite_clause(right) or self.read.find_subject(left, lead) is not None
        )

    def _is_full_clause(self, ids: Sequence[int]) -> bool:
        """Whether "after" or "because" opens a clause with these tokens, not a phrase ("after the interview")."""
        if len(ids) < MIN_CONTENT_WORDS or self.words[ids[0]] in verbs.PREPOSITIONS:
            return False
        return self._is_finite_clause(ids) or is_gerund(self.words[ids[0]]) or is_participle(self.words[ids[0]])

    def _is_finite_clause(self, ids: Sequence[int]) -> bool:
        """Whether a clause has a subject and a verb of its own; that of "an interview she gave" is not."""
        verb = self.read.find_strong_verb(ids)
        if verb is None or not 0 < verb <= MAX_VERB_DISTANCE_WORDS:
            return False
        preceding = [self.words[index] for index in ids[:verb]]
        return (verb == 1 or preceding[-1] not in verbs.PRONOUNS) and JOINS_CLAUSES.isdisjoint(preceding)

    def _is_joining(self, parts: Sequence[tuple[int, int]], n: int, main: Sequence[int], lead: Words) -> bool:
        start, end = parts[n]
        if end - start < 2 or self.read.find_verb(main) is None:
            return False
        right = range(start + (self.words[start] in verbs.JOINING_WORDS), end)
        if start == right[0]:  # "has A, is B, and does C"
            later = [range(low + 1, high) for low, high in parts[n + 1 :] if self.words[low] in ("and", "but")]
            if self.read.find_leading_verb(right) != 0 or not any(
                each and self.read.find_leading_verb(each) is not None for each in later
            ):
                return False
        if self.read.count_content(right) < MIN_CONTENT_WORDS:
            return False
        if self.read.find_leading_verb(right) is not None:
            return self.read.restore_subject(main, lead, right, outer=True) is not None
        return self.read.has_own_subject(right, far=True)

    def _find_aside_end(self, parts: Sequence[tuple[int, int]], n: int, main: Sequence[int], lead: Words) -> int | None:
        """Where an aside that begins with part n ends: one past its last part; None where it is none."""
        start, end = parts[n]
        kind = self._classify_aside(start, end, parts, n)
        if kind is None or (self.asides_only and kind == "adverbial") or end > self.read.stop:
            return None
        if self.read.find_antecedent(main) is None and self.read.find_subject(main, lead) is None:
            return None
        if self.read.find_verb(main) is None and not lead:
            after = [k for k in range(n + 1, len(parts)) if self.read.find_leading_verb(range(*parts[k])) is not None]
            if not after or (kind == "apposition" and after[0] > n + 1):
                return None
            return after[0]
        until = n + 1
        if kind == "apposition":
            return until
        while until < len(parts) and not self._is_return(*parts[until], parts, until):
            until += 1
        return until

    def _is_return(self, start: int, end: int, parts: Sequence[tuple[int, int]], n: int) -> bool:
        word = self.words[start]
        if word in verbs.PREPOSITIONS or self.read.find_leading_verb(range(start, end)) == 0:
            return True
        if self._classify_aside(start, end, parts, n) in ("relative", "adverbial", "participial"):
            return True
        return word in verbs.JOINING_WORDS and self.read.has_own_subject(range(start + 1, end), far=True)

    def _classify_aside(self, start: int, end: int, parts: Sequence[tuple[int, int]], n: int) -> str | None:
        words = self.words[start:end]
        if len(words) < 2 or self.read.count_content(range(start, end)) < MIN_CONTENT_WORDS:
            return None
        if self.read.find_pronoun(start, end) is not None:
            acts = self.read.find_verb(range(start, end)) is not None or self._is_acting(start)
            return "relative" if acts else None
        first = 1 if words[0] in verbs.LOOSE or words[0].endswith("ly") else 0
        word, following = words[first], words[first + 1] if first + 1 < len(words) else ""
        if word in verbs.ADVERBIAL and following != "of":
            return "adverbial" if self._is_full_clause(range(start + first + 1, end)) else None
        if is_gerund(word) and following in ("and", "or"):
            return None
        if is_gerund(word) or (is_participle(word) and following in verbs.PREPOSITIONS):
            return "participial" if not self._is_listed(parts, n) else None
        if words[0] in ("a", "an", "the", "one") and self._is_apposition(start, end):
            return "apposition" if not self._is_listed(parts, n) else None
        return None

    def _is_acting(self, index: int) -> bool:
        """Whether "who" or "which" stands here, and no subject of another verb behind it: any small word may be one."""
        after = self.words[index + 1]
        return self.words[index] in ("who", "which") and after.islower() and after not in BEFORE_VERB

    def _is_apposition(self, start: int, end: int) -> bool:
        """Whether a part without a verb of its own tells what the thing before it is."""
        words = self.words[start:end]
        if len(words) > MAX_APPOSITION_WORDS or not NOT_IN_NAMES.isdisjoint(words):
            return False
        single = words[1] in ("only", "first", "last", "sole") or words[1].endswith("est")
        return words[0] != "the" or single or "of" in words or start == 0 or self.read.name(start - 2)

    def _is_listed(self, parts: Sequence[tuple[int, int]], n: int) -> bool:
        """Whether a part is a member of a list: one that follows begins with "and" or "or", or holds it."""
        for start, end in parts[n + 1 : n + 4]:
            if self.words[start] in ("and", "or", "&"):
                return True
            if self.read.find_leading_verb(range(start, end)) is not None:
                return False
        joined = not {"and", "or"}.isdisjoint(self.words[parts[n][0] : parts[n][1]])
        previous = range(*parts[n - 1])
        return joined and n > 1 and self.read.find_verb(previous) is None and not self.words[previous[0]].endswith("ly")

    def _cut_aside(self, start: int, end: int, main: Sequence[int], lead: Words, depth: int) -> list[Clause]:
        """A clause behind a comma, with what it speaks of in front of it or in the place of its pronoun."""
        antecedent = self.read.find_antecedent(main) or self.read.find_subject(main, lead) or ()
        if not self.read.find_verb(main) and lead:
            antecedent = self.read.find_subject(main, lead) or ()
        kind = self._classify_aside(start, end, ((start, end),), 0)
        pronoun = self.read.find_pronoun(start, end)
        if kind == "relative" and pronoun is not None:
            if pronoun == start and self._is_acting(start):
                return self._cut_unit(start + 1, end, antecedent, depth + 1)
            word = self.words[pronoun]
            instead: Words = (
                (*antecedent, "'s") if word == "whose" else ("in", *antecedent) if word == "where" else antecedent
            )
            tokens = (*range(start, pronoun), *instead, *range(pronoun + 1, end))
            return [self._build_clause(tokens, start, end - 1)]
        if kind == "adverbial":
            return self._cut_adverbial(start, end, main, lead)
        if kind == "apposition":
            return [self._build_clause((*antecedent, "is", *range(start, end)), start, end - 1)]
        return [self._build_participial(start, end, main, lead, antecedent)]

    def _build_participial(self, start: int, end: int, main: Sequence[int], lead: Words, antecedent: Words) -> Clause:
        acting = any(map(is_gerund, self.words[start : start + 2]))
        subject = self.read.find_subject(main, lead) if acting and self.read.find_verb(main) is not None else None
        doer = (subject or antecedent) if acting else (*antecedent, "was")
        return self._build_clause((*doer, *range(start, end)), start, end - 1)

    def _cut_adverbial(self, start: int, end: int, main: Sequence[int], lead: Words) -> list[Clause]:
        tokens = range(start + 1 if self.words[start] in verbs.ADVERBIAL else start + 2, end)
        subject: Words = ()
        if not self._is_finite_clause(tokens):
            subject = (
                *(self.read.find_subject(main, lead) or ()),
                *(("was",) if is_participle(self.words[tokens[0]]) else ()),
            )
        return self._cut_within(tuple(tokens), subject, MAX_DEPTH) if tokens else []

    def _count_fronted(self, parts: Sequence[tuple[int, int]]) -> int:
        """How many parts at the start are a clause of their own before the main one."""
        start, end = parts[0]
        if len(parts) < 2 or self._classify_aside(start, end, parts[:1], 0) not in ("adverbial", "participial"):
            return 0
        first = range(*parts[1])
        if self.words[start] not in verbs.ADVERBIAL and self.read.find_strong_verb(range(start, end)) is not None:
            return 0
        verb = any(self.read.find_strong_verb(range(*part)) is not None for part in parts[1:])
        joins = self.words[first[0]] in verbs.JOINING_WORDS | verbs.ADVERBIAL
        return int(verb and not joins and self.read.find_leading_verb(first) is None)

    def _build_clause(self, words: Words, first: int, last: int) -> Clause:
        own_words = tuple(word for word in words if isinstance(word, int) and first <= word <= last)
        return Clause(
            self.read.shown(words), self.read.shown(own_words), self.read.spans[first][0], self.read.spans[last][1]
        )
