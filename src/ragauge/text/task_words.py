"""Whether a question names a topic at all: a greeting, or a request about the text that is given, does not."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from ragauge.text.tokens import ENGLISH, stem, words


@cache
def _task_words() -> tuple[frozenset[str], tuple[str, ...]]:
    """Words for texts, for what is done with them, of greetings, of grammar; of unspaced scripts the longest first."""
    table = json.loads((resources.files("ragauge.text") / "task_words.json").read_text(encoding="utf-8"))
    spaced, unspaced = (" ".join(table[kind]).split() for kind in ("spaced", "unspaced"))
    return frozenset(words(" ".join(spaced))), tuple(unspaced)


def has_topic(question: str) -> bool:
    """Whether a question has a word that only passages about something could share.

    Of a question of nothing but grammar (Which?) nothing is known: it may go on from another one.

    >>> has_topic("Please summarise this document."), has_topic("Summarise the merger."), has_topic("请翻译这篇文章")
    (False, True, False)
    """
    spaced, unspaced = _task_words()
    text = question.casefold()
    if not text.isascii():
        for word in unspaced:
            text = text.replace(word, " ")
    found = set(words(text))
    return not spaced.issuperset(found) or (bool(found) and found <= ENGLISH)


def content_of(request: str) -> frozenset[str]:
    """The stems of a request's words with content, names and numbers included; of nothing but grammar, all its words.

    >>> content_of("What is the plot of the story?") == content_of("Plots of these stories")
    True
    """
    request_words = words(request)
    return frozenset(stem(word) for word in request_words if word not in ENGLISH) or frozenset(request_words)
