"""Whether a text as a whole says that there is no answer: "The documents do not say.", "N/A", "I don't know.".

It is meant for reference answers, which decide what a question is taken for: only wordings that leave no doubt count. A
name or a plain word that may be an answer ("Unknown", "None", "Nothing") never does.
"""

from __future__ import annotations

import re
from functools import cache

from ragauge.text.sentences import split
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "declining"), read_patterns(__file__, "declining")

LONGEST = 600           # characters: a longer text says more than that there is no answer
MOST_SENTENCES = 4
ENDS = " \t\n.!?…。！？\"'“”‘’«»()[]<>*_-"


def declines(text: str) -> bool:
    """Whether every sentence of a text says that the answer is not known or not there, and nothing else is said.

    >>> [declines(one) for one in ("The documents do not say.", "N/A", "I don't know", "Not enough information")]
    [True, True, True, True]
    >>> [declines(one) for one in ("NOT IN DOCS", "NO_ANSWER", "-", "(none)")]
    [True, True, True, True]
    >>> [declines(one) for one in ("Unknown", "None", "No.", "The manual does not contain a plan.", "")]
    [False, False, False, False, False]
    """
    text = " ".join(text[: LONGEST + 1].replace("’", "'").split())
    if FORMS["placeholder"].fullmatch(text):
        return True
    if not text.strip(ENDS) or len(text) > LONGEST:
        return False
    sentences = split(text)
    return len(sentences) <= MOST_SENTENCES and all(_declines(sentence.text) for sentence in sentences)


def _declines(sentence: str) -> bool:
    plain = sentence.strip(ENDS).lower().replace("_", " ")
    rest = FORMS["lead"].sub("", plain).strip(ENDS)
    return any(_pattern().fullmatch(form) for form in dict.fromkeys((plain, rest)))


@cache
def _pattern() -> re.Pattern[str]:
    """Every wording in one expression: most references match none, and one call says so."""
    wordings = [*(sentence % WORDS["names"] for sentence in WORDS["sentences"]), *WORDS["others"]]
    return re.compile("|".join(f"(?:{one})" for one in wordings))
