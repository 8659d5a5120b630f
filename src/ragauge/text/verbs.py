"""Forms of English verbs that tell without a parser where a clause has its verb."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "verbs")


AUXILIARIES = frozenset(WORDS["auxiliaries"].split())
PAST, THIRD, BASE = (frozenset(WORDS[kind].split()) for kind in ("past", "third", "base"))
PARTICIPLES = frozenset(WORDS["participles"].split())
NOT_ED, NOT_ING = frozenset(WORDS["not_ed"].split()), frozenset(WORDS["not_ing"].split())
DETERMINERS, PREPOSITIONS = frozenset(WORDS["determiners"].split()), frozenset(WORDS["prepositions"].split())
PRONOUNS = frozenset(["he", "she", "it", "they", "we", "i", "you", "this", "there", "these", "those"])
LOOSE = frozenset(WORDS["loose"].split())     # adverbs that stand before a verb
JOINING = frozenset(["and", "but", "so", "yet"])
ADVERBIAL = frozenset(["because", "although", "though", "whereas", "while", "after", "before", "since"])
NOT_THIRD = frozenset(["always", "perhaps", "towards", "afterwards", "besides", "across", "whereas", "years", "days"])
SUBJECT_OF_THIRD = frozenset(["it", "he", "she", "which", "who"])
BEHIND_VERB = frozenset(["a", "an", "the", "its", "his", "her", "their"])     # seldom behind a noun in the plural
BEFORE_NOUN = DETERMINERS | PREPOSITIONS | {"and", "or"}


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
    if before in BEFORE_NOUN and before not in PRONOUNS and before not in ("and", "or"):
        return False
    if word in PAST or word in THIRD:
        return True
    if before in SUBJECT_OF_THIRD and word.islower() and third(word):
        return True
    if third(word) and after in BEHIND_VERB and before and before not in ("and", "or"):
        return True
    if word in BASE:
        return before.endswith("s") or before in ("they", "we", "you", "i", "which", "who", "that")
    return regular_past(word) and before != "" and not (before in AUXILIARIES or before in ("and", "or", "by"))
