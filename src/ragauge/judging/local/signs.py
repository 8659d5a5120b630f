"""What is more than its words: signs and operators ("x < 3", "-5", "C++"), identifiers of code ("--no-cache", "a_b").

Those of a claim have to be in its evidence.
"""

from __future__ import annotations

import re

from ragauge.text.code import codes, stands

LONGEST = 20_000     # characters of a passage that are looked at
_SIGN = re.compile(
    r"(?:[<>≤≥]=?|[!=]=|=[<>])\s*[\w.]+"             # a comparison and what follows it
    r"|(?<![\w.,)\]])(?<!\d\s)[-+]\s?\d[\d.,]*"      # a signed number, or one added or taken away
    r"|\b[A-Za-z](?:\+\+|#)(?!\w)|\b[A-Z][+-](?![\w-])"     # C++, C#, A+
)
_SAME = str.maketrans({"−": "-", "–": "-", "‐": "-", "≤": "<=", "≥": ">="})


def signs(text: str) -> tuple[str, ...]:
    """The signs of a text with what they belong to, without spaces, and its identifiers of code.

    >>> signs("if x < 3 and it is -5 degrees, C++ says 3-5"), signs("from 3 - 5 pm (see section 2 - notes)")
    (('<3', '-5', 'C++'), ())
    >>> signs("use --no-cache")
    ('--no-cache',)
    """
    if text.isalnum():
        return ()
    found = (one[0].replace(" ", "").rstrip(".,") for one in _SIGN.finditer(text.translate(_SAME)))
    return tuple(dict.fromkeys((*found, *codes(text))))


def held(wanted: tuple[str, ...], text: str) -> bool:
    """Whether a text holds every one of these signs.

    >>> held(("<3",), "while x < 3"), held(("<3",), "while x > 3"), held(("-5",), "at minus 5 degrees")
    (True, False, True)
    """
    there = {*signs(text[:LONGEST]), *signs(re.sub(r"\bminus\s+(?=\d)", "-", text[:LONGEST], flags=re.IGNORECASE))}
    return all(one in there or (one in codes(one) and stands(one, text[:LONGEST])) for one in wanted)
