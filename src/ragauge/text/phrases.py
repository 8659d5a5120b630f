"""A sentence read by its words: where its verbs stand, what their subjects are, and how parts of it are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from ragauge.text.language import guess
from ragauge.text.tokens import ENGLISH
from ragauge.text.word_files import read_patterns, read_sets

AUXILIARIES, PAST, THIRD, BASE, PARTICIPLES = read_sets(__file__, "verbs", "auxiliaries past third base participles")
NOT_ED, NOT_ING, NOT_THIRD, LOOSE, SAYING = read_sets(__file__, "verbs", "not_ed not_ing not_third loose saying")
DETERMINERS, PREPOSITIONS, PRONOUNS = read_sets(__file__, "verbs", "determiners prepositions pronouns")
RELATIVE, JOINING, ADVERBIAL, BEHIND_VERB = read_sets(__file__, "verbs", "relative joining adverbial behind_verb")
SUBJECTS, OBLIQUE, QUANTITY, ELSEWHERE = read_sets(__file__, "verbs", "subjects oblique quantity elsewhere")
TOKEN = read_patterns(__file__, "phrases")["token"]
LONGEST_THING = 5  # words of a member of a list
LONGEST_SUBJECT = 20  # words; a longer one was not understood
SEPARATORS = frozenset([",", "—", "–"])
GOVERNED = DETERMINERS | PREPOSITIONS
BEFORE_NOUN = GOVERNED - PRONOUNS
# "opened in May" may have its subject before it; "the roof built by masons" is a noun with what is said of it
BEHIND_PARTICIPLE = PREPOSITIONS.difference(*read_sets(__file__, "verbs", "behind_nouns"))
SMALL = (GOVERNED | PRONOUNS) - {"i"}
NARROWING = RELATIVE | {"that"}
OPENING = PREPOSITIONS | ADVERBIAL | LOOSE | {"when", "however", "moreover", "therefore"}
PLAINLY_ENGLISH = {word for word in ENGLISH if len(word) > 2} - ELSEWHERE
Words = tuple[int | str, ...]  # numbers of tokens, and words that are put between them


def regular_past(word: str) -> bool:
    """Whether a word in small letters ends as a regular past form does.

    >>> regular_past("moved"), regular_past("hundred"), regular_past("moves")
    (True, False, False)
    """
    return len(word) >= 4 and word.endswith("ed") and word not in NOT_ED and not word.endswith("eed")


def participle(word: str) -> bool:
    """Whether a word may be a past participle."""
    return word in PARTICIPLES or regular_past(word)


def third(word: str) -> bool:
    """Whether a word in small letters ends as a third person does; most nouns in the plural do too."""
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return len(word) >= 4 and ends and word not in NOT_THIRD


def gerund(word: str) -> bool:
    """Whether a word may be a present participle.

    >>> gerund("leaving"), gerund("morning")
    (True, False)
    """
    return len(word) >= 5 and word.endswith("ing") and word not in NOT_ING and not word.endswith("thing")


def finite(words: Sequence[str], at: int) -> bool:
    """Whether the word at a place is plainly a finite verb, by its form and its neighbours.

    >>> finite("the old port closed in 1990".split(), 3), finite("the closed port".split(), 1)
    (True, False)
    """
    word, before = words[at], words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in AUXILIARIES:
        return True
    if before in BEFORE_NOUN:
        return False
    if word in PAST or word in THIRD:
        return True
    if before in ("it", "he", "she", "which", "who") and word.islower() and third(word):
        return True
    if third(word) and after in BEHIND_VERB and before and before not in ("and", "or"):
        return True
    if word in BASE:
        return before.endswith("s") or before in ("they", "we", "you", "i", "which", "who", "that")
    return regular_past(word) and before != "" and not (before in AUXILIARIES or before in ("and", "or", "by"))


class TokenizedSentence:
    """One sentence by its tokens; places and ids are their numbers, from 0."""

    def __init__(self, sentence: str) -> None:
        self.text = sentence
        self.spans = [match.span() for match in TOKEN.finditer(sentence)]  # characters [start, end) of each token
        self.words = [sentence[start:end].replace("’", "'") for start, end in self.spans]
        self.words[:1] = map(str.lower, self.words[:1])  # so that a later capital ("May", "United") is no verb
        self.stop = len(self.words)  # nothing is cut from here on

    def english(self) -> bool:
        """Whether the rules apply; of a short sentence the language is often guessed wrong, so its own words count."""
        return len(PLAINLY_ENGLISH.intersection(self.words)) >= 2 or guess(self.text) in ("en", "und")

    def verb(self, ids: Sequence[int]) -> int | None:
        """The position of the first finite verb among these tokens."""
        words = [self.words[at] for at in ids]
        return next((k for k in range(len(words)) if finite(words, k)), None)

    def strong(self, ids: Sequence[int]) -> int | None:
        """The same, where it cannot be a participle that belongs to the noun before it ("the contact achieved by")."""
        words = [self.words[at] for at in ids]
        for k, word in enumerate(words):
            following = words[k + 1] if k + 1 < len(words) else ""
            behind = participle(word) and following in BEHIND_PARTICIPLE and words[k - 1] not in PRONOUNS
            if finite(words, k) and not behind:
                return k
        return None

    def leads(self, ids: Sequence[int]) -> int | None:
        """The position of the verb that a part begins with, adverbs aside; None where it begins otherwise."""
        words = [self.words[at] for at in ids]
        for k, word in enumerate(words[:3]):
            if word in AUXILIARIES or word in PAST or word in THIRD:
                return k
            if participle(word) and k + 1 < len(words):
                first = self.text[self.spans[ids[k + 1]][0]]
                if words[k + 1] in GOVERNED or first.isupper() or first.isdigit():
                    return k
            if third(word) and k + 1 < len(words) and words[k + 1] in BEHIND_VERB:
                return k
            if word not in LOOSE and not word.endswith("ly") and word not in ("not", "never"):
                return None
        return None

    def has_own(self, ids: Sequence[int], *, far: bool = False) -> bool:
        """Whether a part begins with a subject that has a finite verb near by."""
        verb = self.strong(ids)
        if not verb or self.pronoun(ids[0], ids[-1] + 1) is not None:
            return False
        before = [self.words[at] for at in ids[:verb]]
        if not {"what", *NARROWING}.isdisjoint(before) or (verb > 1 and before[-1] in PRONOUNS):
            return False
        if before[0] in PRONOUNS:
            return verb <= 3
        return verb <= (10 if far else 6) and (far or before[0] in DETERMINERS)

    def name(self, at: int) -> bool:
        """Whether a token is written with a capital, as names are."""
        return at >= 0 and self.text[self.spans[at][0]].isupper()

    def subject(self, ids: Sequence[int], lead: Words, *, outer: bool = False) -> Words | None:
        """The subject of a main clause; None where it is not plain.

        `lead` is the subject that was put back already, () = none. With `outer`, of "results showed that the drug
        failed" the results are wanted, not the drug.
        """
        if lead:
            end = len(lead)
            while end > 1 and (self.words[last] if isinstance(last := lead[end - 1], int) else last) in AUXILIARIES:
                end -= 1
            return lead[:end]
        ids = self._behind_opening(ids)
        words = [self.words[at] for at in ids]
        positions = () if outer else range(1, len(words))
        begin = next((k + 1 for k in positions if words[k] == "that" and finite(words, k - 1)), 0)
        verb = self.strong(ids[begin:]) or self.verb(ids[begin:])
        if not verb:
            return None
        for _ in range(sum(word in NARROWING for word in words[begin : begin + verb])):  # "men who had ... were"
            later = (k for k in range(begin + verb + 1, len(words)) if finite(words, k))
            verb = next(later, begin) - begin
        own = self._trimmed(ids[begin : begin + verb])
        return tuple(own) if own and len(own) <= LONGEST_SUBJECT else None

    def _trimmed(self, ids: Sequence[int]) -> Sequence[int]:
        first, last = 0, len(ids)
        while first < last and (self.words[ids[first]] in JOINING or self._adverb(ids[first])):
            first += 1
        if first < last and self.words[ids[first]] in SUBJECTS:
            return ids[first : first + 1]
        while last > first and self._adverb(ids[last - 1]):
            last -= 1
        return ids[first:last]

    def _adverb(self, at: int) -> bool:
        return self.words[at] in LOOSE or (self.words[at].endswith("ly") and not self.name(at))

    def _behind_opening(self, ids: Sequence[int]) -> Sequence[int]:
        """The tokens behind "In 1990," or "However,"; all of them where they begin otherwise."""
        gap = next((k for k, (a, b) in enumerate(pairwise(ids), 1) if b - a > 1), None)
        return ids[gap:] if gap is not None and self.opens(ids[0]) else ids

    def opens(self, at: int) -> bool:
        """Whether a phrase that begins here tells when, where or how, and is no subject."""
        word = self.words[at]
        return word in OPENING or word.endswith("ly")

    def restored(self, left: Sequence[int], lead: Words, right: Sequence[int], *, outer: bool = False) -> Words | None:
        """The subject for a second verb phrase, with the auxiliary that both share."""
        subject = self.subject(left, lead, outer=outer)
        leads = self.leads(right)
        if subject is None or leads is None:
            return None
        word = self.words[right[leads]]
        verb = self.verb(left)
        after = right[leads + 1 : leads + 2]
        # "was sold and lost its roof"
        active = word in PAST and any(self.words[at] in DETERMINERS for at in after)
        if verb is None or active or not participle(word):
            return subject
        only = word in PARTICIPLES and word not in PAST  # "known" needs its "is"
        if self.words[left[verb]] not in AUXILIARIES:
            return (*subject, "was") if only else subject
        shared = [left[verb]]
        for at in left[verb + 1 : verb + 4]:
            if participle(self.words[at]):
                return (*subject, *shared)
            if self.words[at] in ("been", "being", "be"):
                shared.append(at)
            elif self.words[at] not in LOOSE and not self.words[at].endswith("ly"):
                break
        being = self.words[left[verb]] in ("is", "are", "was", "were", "been")
        return (*subject, *(shared if being else ("was",))) if only else subject

    def antecedent(self, ids: Sequence[int]) -> Words | None:
        """The noun phrase at the end of what stands before a comma, or all of it where no verb is in it yet."""
        words = [self.words[at] for at in ids]
        if self.verb(ids) is None:
            own = list(self._behind_opening(ids))
            return None if not own or self.opens(own[0]) or len(own) > LONGEST_SUBJECT else tuple(own)
        own = []
        for k in range(len(ids) - 1, max(-1, len(ids) - 10), -1):
            word = words[k]
            if not own and (word in LOOSE or word.endswith("ly")):
                continue
            if word in AUXILIARIES or (word in PREPOSITIONS and word != "of"):
                break
            if finite(words, k) and not self.name(ids[k]):
                break
            own.append(ids[k])
            if word in DETERMINERS and (k == 0 or words[k - 1] != "of"):
                break
        own = own[::-1]
        while own and self.words[own[0]] in ("and", "or", "of"):
            own = own[1:]
        if len(own) == 1 and (self.words[own[0]] in OBLIQUE or self.words[own[0]].isdigit()):
            return None
        return tuple(own) or None

    def thing(self, ids: Sequence[int]) -> bool:
        """Whether a member of a list is one thing, without a verb or a place or time of its own."""
        words = [self.words[at] for at in ids]
        plain = (PREPOSITIONS | JOINING | {"or"}).isdisjoint(words)
        plain = plain and not (words and (gerund(words[0]) or words[0].endswith("ly") or words[0] == "including"))
        return 0 < len(ids) <= LONGEST_THING and plain and self.content(ids) > 0 and self.verb(ids) is None

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
        for word in (*words, ""):
            if isinstance(word, int) and start >= 0 and self._follows(before, word):
                before = word
                continue
            if start >= 0:
                run = self.text[self.spans[start][0] : self.spans[before][1]]
                first = self.words[0]
                small = shown > 0 and start == 0 and (first in SMALL or participle(first) or gerund(first))
                yield run[0].lower() + run[1:] if small else run
                shown += 1
            start = -1
            if isinstance(word, int):
                start = before = word
            elif word:
                yield word
                shown += 1

    def _follows(self, before: int, word: int) -> bool:
        return word == before + 1 or (word == before + 2 and self.words[before + 1] in SEPARATORS)

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
