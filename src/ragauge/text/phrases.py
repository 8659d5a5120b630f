"""A sentence read by its words: where its verbs stand, what their subjects are, and how parts of it are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from ragauge.text.language import guess_language
from ragauge.text.tokens import ENGLISH
from ragauge.text.word_files import read_patterns, read_sets

AUXILIARIES, PAST, THIRD_PERSON, BASE, PARTICIPLES = read_sets(
    __file__, "verbs", "auxiliaries past third base participles"
)
NOT_PAST, NOT_GERUNDS, NOT_THIRD, LOOSE, SAYING_VERBS = read_sets(
    __file__, "verbs", "not_ed not_ing not_third loose saying"
)
DETERMINERS, PREPOSITIONS, PRONOUNS = read_sets(__file__, "verbs", "determiners prepositions pronouns")
RELATIVE, JOINING_WORDS, ADVERBIAL, BEHIND_VERB = read_sets(__file__, "verbs", "relative joining adverbial behind_verb")
SUBJECTS, OBLIQUE, QUANTITY, ELSEWHERE = read_sets(__file__, "verbs", "subjects oblique quantity elsewhere")
TOKEN = read_patterns(__file__, "phrases")["token"]
MAX_THING_WORDS = 5  # words of a member of a list
MAX_SUBJECT_WORDS = 20  # words; a longer one was not understood
SEPARATORS = frozenset([",", "—", "–"])
GOVERNING_WORDS = DETERMINERS | PREPOSITIONS
BEFORE_NOUN = GOVERNING_WORDS - PRONOUNS
# "opened in May" may have its subject before it; "the roof built by masons" is a noun with what is said of it
BEHIND_PARTICIPLE = PREPOSITIONS.difference(*read_sets(__file__, "verbs", "behind_nouns"))
SMALL_WORDS = (GOVERNING_WORDS | PRONOUNS) - {"i"}
NARROWING_WORDS = RELATIVE | {"that"}
OPENING_WORDS = PREPOSITIONS | ADVERBIAL | LOOSE | {"when", "however", "moreover", "therefore"}
PLAINLY_ENGLISH = {word for word in ENGLISH if len(word) > 2} - ELSEWHERE
Words = tuple[int | str, ...]  # numbers of tokens, and words that are put between them


def is_regular_past(word: str) -> bool:
    """Whether a word in small letters ends as a regular past form does.

    >>> is_regular_past("moved"), is_regular_past("hundred"), is_regular_past("moves")
    (True, False, False)
    """
    return len(word) >= 4 and word.endswith("ed") and word not in NOT_PAST and not word.endswith("eed")


def is_participle(word: str) -> bool:
    """Whether a word may be a past participle."""
    return word in PARTICIPLES or is_regular_past(word)


def is_third_person(word: str) -> bool:
    """Whether a word in small letters ends as a third person does; most nouns in the plural do too."""
    ends_in_s = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return len(word) >= 4 and ends_in_s and word not in NOT_THIRD


def is_gerund(word: str) -> bool:
    """Whether a word may be a present participle.

    >>> is_gerund("leaving"), is_gerund("morning")
    (True, False)
    """
    return len(word) >= 5 and word.endswith("ing") and word not in NOT_GERUNDS and not word.endswith("thing")


def is_finite(words: Sequence[str], index: int) -> bool:
    """Whether the word at a place is plainly a finite verb, by its form and its neighbours.

    >>> is_finite("the old port closed in 1990".split(), 3), is_finite("the closed port".split(), 1)
    (True, False)
    """
    word, word_before = words[index], words[index - 1] if index else ""
    word_after = words[index + 1] if index + 1 < len(words) else ""
    if word in AUXILIARIES:
        return True
    if word_before in BEFORE_NOUN:
        return False
    if word in PAST or word in THIRD_PERSON:
        return True
    if word_before in ("it", "he", "she", "which", "who") and word.islower() and is_third_person(word):
        return True
    if is_third_person(word) and word_after in BEHIND_VERB and word_before and word_before not in ("and", "or"):
        return True
    if word in BASE:
        return word_before.endswith("s") or word_before in ("they", "we", "you", "i", "which", "who", "that")
    return (
        is_regular_past(word)
        and word_before != ""
        and not (word_before in AUXILIARIES or word_before in ("and", "or", "by"))
    )


class TokenizedSentence:
    """One sentence by its tokens; places and ids are their numbers, from 0."""

    def __init__(self, sentence: str) -> None:
        self.text = sentence
        self.spans = [match.span() for match in TOKEN.finditer(sentence)]  # characters [start, end) of each token
        self.words = [sentence[start:end].replace("’", "'") for start, end in self.spans]
        self.words[:1] = map(str.lower, self.words[:1])  # so that a later capital ("May", "United") is no verb
        self.stop = len(self.words)  # nothing is cut from here on

    def is_english(self) -> bool:
        """Whether the rules apply; of a short sentence the language is often guessed wrong, so its own words count."""
        return len(PLAINLY_ENGLISH.intersection(self.words)) >= 2 or guess_language(self.text) in ("en", "und")

    def find_verb(self, ids: Sequence[int]) -> int | None:
        """The position of the first finite verb among these tokens."""
        words = [self.words[index] for index in ids]
        return next((k for k in range(len(words)) if is_finite(words, k)), None)

    def find_strong_verb(self, ids: Sequence[int]) -> int | None:
        """The same, where it cannot be a participle that belongs to the noun before it ("the contact achieved by")."""
        words = [self.words[index] for index in ids]
        for k, word in enumerate(words):
            following = words[k + 1] if k + 1 < len(words) else ""
            behind = is_participle(word) and following in BEHIND_PARTICIPLE and words[k - 1] not in PRONOUNS
            if is_finite(words, k) and not behind:
                return k
        return None

    def find_leading_verb(self, ids: Sequence[int]) -> int | None:
        """The position of the verb that a part begins with, adverbs aside; None where it begins otherwise."""
        words = [self.words[index] for index in ids]
        for k, word in enumerate(words[:3]):
            if word in AUXILIARIES or word in PAST or word in THIRD_PERSON:
                return k
            if is_participle(word) and k + 1 < len(words):
                first = self.text[self.spans[ids[k + 1]][0]]
                if words[k + 1] in GOVERNING_WORDS or first.isupper() or first.isdigit():
                    return k
            if is_third_person(word) and k + 1 < len(words) and words[k + 1] in BEHIND_VERB:
                return k
            if word not in LOOSE and not word.endswith("ly") and word not in ("not", "never"):
                return None
        return None

    def has_own_subject(self, ids: Sequence[int], *, far: bool = False) -> bool:
        """Whether a part begins with a subject that has a finite verb near by."""
        verb = self.find_strong_verb(ids)
        if not verb or self.find_pronoun(ids[0], ids[-1] + 1) is not None:
            return False
        preceding = [self.words[index] for index in ids[:verb]]
        if not {"what", *NARROWING_WORDS}.isdisjoint(preceding) or (verb > 1 and preceding[-1] in PRONOUNS):
            return False
        if preceding[0] in PRONOUNS:
            return verb <= 3
        return verb <= (10 if far else 6) and (far or preceding[0] in DETERMINERS)

    def name(self, index: int) -> bool:
        """Whether a token is written with a capital, as names are."""
        return index >= 0 and self.text[self.spans[index][0]].isupper()

    def find_subject(self, ids: Sequence[int], lead: Words, *, outer: bool = False) -> Words | None:
        """The subject of a main clause; None where it is not plain.

        `lead` is the subject that was put back already, () = none. With `outer`, of "results showed that the drug
        failed" the results are wanted, not the drug.
        """
        if lead:
            end = len(lead)
            while end > 1 and (self.words[last] if isinstance(last := lead[end - 1], int) else last) in AUXILIARIES:
                end -= 1
            return lead[:end]
        ids = self._skip_opening(ids)
        words = [self.words[index] for index in ids]
        positions = () if outer else range(1, len(words))
        begin = next((k + 1 for k in positions if words[k] == "that" and is_finite(words, k - 1)), 0)
        verb = self.find_strong_verb(ids[begin:]) or self.find_verb(ids[begin:])
        if not verb:
            return None
        for _ in range(sum(word in NARROWING_WORDS for word in words[begin : begin + verb])):  # "men who had ... were"
            later = (k for k in range(begin + verb + 1, len(words)) if is_finite(words, k))
            verb = next(later, begin) - begin
        subject_ids = self._trim_subject(ids[begin : begin + verb])
        return tuple(subject_ids) if subject_ids and len(subject_ids) <= MAX_SUBJECT_WORDS else None

    def _trim_subject(self, ids: Sequence[int]) -> Sequence[int]:
        first, last = 0, len(ids)
        while first < last and (self.words[ids[first]] in JOINING_WORDS or self._is_adverb(ids[first])):
            first += 1
        if first < last and self.words[ids[first]] in SUBJECTS:
            return ids[first : first + 1]
        while last > first and self._is_adverb(ids[last - 1]):
            last -= 1
        return ids[first:last]

    def _is_adverb(self, index: int) -> bool:
        return self.words[index] in LOOSE or (self.words[index].endswith("ly") and not self.name(index))

    def _skip_opening(self, ids: Sequence[int]) -> Sequence[int]:
        """The tokens behind "In 1990," or "However,"; all of them where they begin otherwise."""
        gap = next((k for k, (a, b) in enumerate(pairwise(ids), 1) if b - a > 1), None)
        return ids[gap:] if gap is not None and self.is_opening(ids[0]) else ids

    def is_opening(self, index: int) -> bool:
        """Whether a phrase that begins here tells when, where or how, and is no subject."""
        word = self.words[index]
        return word in OPENING_WORDS or word.endswith("ly")

    def restore_subject(
        self, left: Sequence[int], lead: Words, right: Sequence[int], *, outer: bool = False
    ) -> Words | None:
        """The subject for a second verb phrase, with the auxiliary that both share."""
        subject = self.find_subject(left, lead, outer=outer)
        leads = self.find_leading_verb(right)
        if subject is None or leads is None:
            return None
        word = self.words[right[leads]]
        verb = self.find_verb(left)
        after = right[leads + 1 : leads + 2]
        # "was sold and lost its roof"
        active = word in PAST and any(self.words[index] in DETERMINERS for index in after)
        if verb is None or active or not is_participle(word):
            return subject
        only = word in PARTICIPLES and word not in PAST  # "known" needs its "is"
        if self.words[left[verb]] not in AUXILIARIES:
            return (*subject, "was") if only else subject
        shared = [left[verb]]
        for index in left[verb + 1 : verb + 4]:
            if is_participle(self.words[index]):
                return (*subject, *shared)
            if self.words[index] in ("been", "being", "be"):
                shared.append(index)
            elif self.words[index] not in LOOSE and not self.words[index].endswith("ly"):
                break
        being = self.words[left[verb]] in ("is", "are", "was", "were", "been")
        return (*subject, *(shared if being else ("was",))) if only else subject

    def find_antecedent(self, ids: Sequence[int]) -> Words | None:
        """The noun phrase at the end of what stands before a comma, or all of it where no verb is in it yet."""
        words = [self.words[index] for index in ids]
        if self.find_verb(ids) is None:
            noun_ids = list(self._skip_opening(ids))
            return (
                None
                if not noun_ids or self.is_opening(noun_ids[0]) or len(noun_ids) > MAX_SUBJECT_WORDS
                else tuple(noun_ids)
            )
        noun_ids = []
        for k in range(len(ids) - 1, max(-1, len(ids) - 10), -1):
            word = words[k]
            if not noun_ids and (word in LOOSE or word.endswith("ly")):
                continue
            if word in AUXILIARIES or (word in PREPOSITIONS and word != "of"):
                break
            if is_finite(words, k) and not self.name(ids[k]):
                break
            noun_ids.append(ids[k])
            if word in DETERMINERS and (k == 0 or words[k - 1] != "of"):
                break
        noun_ids = noun_ids[::-1]
        while noun_ids and self.words[noun_ids[0]] in ("and", "or", "of"):
            noun_ids = noun_ids[1:]
        if len(noun_ids) == 1 and (self.words[noun_ids[0]] in OBLIQUE or self.words[noun_ids[0]].isdigit()):
            return None
        return tuple(noun_ids) or None

    def is_thing(self, ids: Sequence[int]) -> bool:
        """Whether a member of a list is one thing, without a verb or a place or time of its own."""
        words = [self.words[index] for index in ids]
        is_plain = (PREPOSITIONS | JOINING_WORDS | {"or"}).isdisjoint(words)
        is_plain = is_plain and not (
            words and (is_gerund(words[0]) or words[0].endswith("ly") or words[0] == "including")
        )
        return (
            0 < len(ids) <= MAX_THING_WORDS and is_plain and self.count_content(ids) > 0 and self.find_verb(ids) is None
        )

    def count_content(self, ids: Sequence[int]) -> int:
        """How many of these tokens carry content."""
        return sum(self.words[index].lower() not in ENGLISH and self.words[index][0].isalnum() for index in ids)

    def split_between(self, low: int, high: int, marks: Set[str]) -> Iterator[tuple[int, int]]:
        """Stretches of tokens between marks, empty ones left out."""
        start = low
        for index in range(low, high):
            if self.words[index] in marks and index < self.stop:
                if index > start:
                    yield start, index
                start = index + 1
        if high > start:
            yield start, high

    def _join_runs(self, words: Words) -> Iterator[str]:
        """The words as they stand in the sentence, neighbours with what is between them."""
        start, previous, n_yielded = -1, -1, 0
        for word in (*words, ""):
            if isinstance(word, int) and start >= 0 and self._is_next(previous, word):
                previous = word
                continue
            if start >= 0:
                run = self.text[self.spans[start][0] : self.spans[previous][1]]
                first = self.words[0]
                small = (
                    n_yielded > 0 and start == 0 and (first in SMALL_WORDS or is_participle(first) or is_gerund(first))
                )
                yield run[0].lower() + run[1:] if small else run
                n_yielded += 1
            start = -1
            if isinstance(word, int):
                start = previous = word
            elif word:
                yield word
                n_yielded += 1

    def _is_next(self, previous: int, word: int) -> bool:
        return word == previous + 1 or (word == previous + 2 and self.words[previous + 1] in SEPARATORS)

    def find_pronoun(self, start: int, end: int) -> int | None:
        """The place of the relative pronoun of "who", "in which", "many of whom"; None where there is none."""
        for index in range(start, min(start + 4, end - 1)):
            word = self.words[index]
            if word in RELATIVE:
                return index
            if word not in PREPOSITIONS | QUANTITY:
                return None
        return None

    def shown(self, words: Words) -> str:
        """The words as one text."""
        return " ".join(self._join_runs(words)).replace(" 's ", "'s ")
