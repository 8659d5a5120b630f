"""Which words of an answer another one lacks."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

MOST_COMPARED = 250_000  # pairs of words of two answers, beyond which their differences are not looked for


def differing(text: str, other: str) -> list[tuple[str, bool]]:
    """A text in pieces: as it is, and whether the other one lacks these words there.

    >>> differing("sent in 30 days", "sent in 3 days")
    [('sent in ', False), ('30 ', True), ('days', False)]
    """
    mine, theirs = (re.findall(r"\S+\s*|\s+", one) for one in (text, other))
    if len(mine) * len(theirs) > MOST_COMPARED:
        return [(text, False)]
    matcher = SequenceMatcher(None, [word.strip() for word in mine], [word.strip() for word in theirs], autojunk=False)
    steps = matcher.get_opcodes()
    return [("".join(mine[start:end]), how != "equal") for how, start, end, _, _ in steps if end > start]
