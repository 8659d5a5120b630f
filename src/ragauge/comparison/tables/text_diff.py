"""Which words of an answer another one lacks."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

MAX_WORD_PAIRS = 250_000  # pairs of words of two answers, beyond which their differences are not looked for


def mark_differences(text: str, other: str) -> list[tuple[str, bool]]:
    """A text in pieces: as it is, and whether the other one lacks these words there.

    >>> mark_differences("sent in 30 days", "sent in 3 days")
    [('sent in ', False), ('30 ', True), ('days', False)]
    """
    own_words, other_words = (re.findall(r"\S+\s*|\s+", source) for source in (text, other))
    if len(own_words) * len(other_words) > MAX_WORD_PAIRS:
        return [(text, False)]
    matcher = SequenceMatcher(
        None, [word.strip() for word in own_words], [word.strip() for word in other_words], autojunk=False
    )
    steps = matcher.get_opcodes()
    return [("".join(own_words[start:end]), how != "equal") for how, start, end, _, _ in steps if end > start]
