"""What is more than its words: signs and operators ("x < 3", "-5", "C++"), identifiers of code ("--no-cache", "a_b").

Those of a claim have to be in its evidence.

Signs and their names: ";" is a semicolon, whichever of the two an answer and its reference use.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ragauge.judges.local.english import NEGATIONS
from ragauge.text.names import codes, stands
from ragauge.text.tokens import words
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "signs"), read_patterns(__file__, "signs")

LONGEST = 20_000  # characters of a passage that are looked at
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
    written = (match[0].replace(" ", "").rstrip(".,") for match in FORMS["sign"].finditer(text.translate(_SAME)))
    return tuple(dict.fromkeys((*written, *codes(text))))


def held(wanted: tuple[str, ...], text: str) -> bool:
    """Whether a text holds every one of these signs.

    >>> held(("<3",), "while x < 3"), held(("<3",), "while x > 3"), held(("-5",), "at minus 5 degrees")
    (True, False, True)
    """
    there = {*signs(text[:LONGEST]), *signs(FORMS["minus"].sub("-", text[:LONGEST]))}
    return all(sign in there or (sign in codes(sign) and stands(sign, text[:LONGEST])) for sign in wanted)


LONGEST_SIGN = 4  # characters of a sign
SHORTEST = 3  # letters of a name that is no sign alone, as "dot" in "dot product"
BEFORE = 3  # words before a mention that may negate it
LOOKED_AT = 4_000  # characters of an answer

NAMES: dict[str, tuple[str, ...]] = {sign: tuple(names.split(", ")) for sign, names in WORDS["names"].items()}
SIGN_OF = {name: sign for sign, names in NAMES.items() for name in names}
AROUND = "`'\"“”‘’«» \t\n"
PROSE = frozenset("-/&.,:;!?+=|*\"'()<>[]")  # what prose uses alone: only quoted or in brackets are they meant


@lru_cache(maxsize=1_024)
def sign_of(text: str) -> str:
    """The sign that a text is or names as a whole; "" where it is anything else.

    >>> sign_of("`;`"), sign_of("A semicolon."), sign_of("The pipe character (|)"), sign_of("Use a comma")
    (';', ';', '|', ',')
    >>> sign_of("two signs"), sign_of("N/A")
    ('', '')
    """
    opening = FORMS["lead"].sub("", " ".join(text.split()))
    marked = opening.rstrip(".") if len(opening) > 1 and opening[0] == "`" else opening
    for form in (marked.strip(AROUND), marked.strip("`"), opening):
        if 0 < len(form) <= LONGEST_SIGN and all(unicodedata.category(char)[0] in "PS" for char in form):
            return form
    name = FORMS["aside"].sub("", marked).strip(AROUND + ".").casefold()
    return SIGN_OF.get(name) or SIGN_OF.get(FORMS["article"].sub("", FORMS["article"].sub("", name)), "")


def says(sign: str, text: str) -> bool:
    """Whether a text, as it is written, has a sign or names it, and does not deny that.

    >>> says(";", "It ends with `;`."), says(";", "A semicolon does."), says(";", "A comma, not a semicolon.")
    (True, True, False)
    >>> says("-", "A line - or two"), says("#", "They start with #.")
    (False, True)
    """
    places = (match.start() for match in _pattern(sign).finditer(text[:LOOKED_AT]))
    return any(NEGATIONS.isdisjoint(words(text[max(0, at - 40) : at])[-BEFORE:]) for at in places)


@lru_cache(maxsize=256)
def _pattern(sign: str) -> re.Pattern[str]:
    plain = re.escape(sign)
    forms = [rf"(?<!`)`{{1,2}} ?{plain} ?`{{1,2}}(?!`)", rf"[\"'“‘«(]{plain}[\"'”’»)]", rf"\A\W?{plain}\W?\Z"]
    if sign not in PROSE:
        forms.append(rf"(?:(?<=\s)|\A){plain}(?=[\s.,;:!?)]|\Z)")
    names = [name for name in NAMES.get(sign, ()) if len(name) > SHORTEST]
    forms += [rf"(?<![\w-]){re.escape(name)}s?(?![\w-])" for name in names]
    return re.compile("|".join(forms), re.IGNORECASE)
