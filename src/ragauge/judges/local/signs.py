"""What is more than its words: signs and operators ("x < 3", "-5", "C++"), identifiers of code ("--no-cache", "a_b").

Those of a claim have to be in its evidence.

Signs and their names: ";" is a semicolon, whichever of the two an answer and its reference use.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ragauge.judges.local.english import NEGATIONS
from ragauge.text.names import find_codes, has_code
from ragauge.text.tokens import split_words
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "signs"), read_patterns(__file__, "signs")

MAX_PASSAGE_CHARS = 20_000  # characters of a passage that are looked at
_SAME = str.maketrans({"−": "-", "–": "-", "‐": "-", "≤": "<=", "≥": ">="})


def find_signs(text: str) -> tuple[str, ...]:
    """The signs of a text with what they belong to, without spaces, and its identifiers of code.

    >>> find_signs("if x < 3 and it is -5 degrees, C++ says 3-5"), find_signs("from 3 - 5 pm (see section 2 - notes)")
    (('<3', '-5', 'C++'), ())
    >>> find_signs("use --no-cache")
    ('--no-cache',)
    """
    if text.isalnum():
        return ()
    written = (match[0].replace(" ", "").rstrip(".,") for match in FORMS["sign"].finditer(text.translate(_SAME)))
    return tuple(dict.fromkeys((*written, *find_codes(text))))


def has_signs(required: tuple[str, ...], text: str) -> bool:
    """Whether a text holds every one of these signs.

    >>> has_signs(("<3",), "while x < 3"), has_signs(("<3",), "while x > 3"), has_signs(("-5",), "at minus 5 degrees")
    (True, False, True)
    """
    present = {*find_signs(text[:MAX_PASSAGE_CHARS]), *find_signs(FORMS["minus"].sub("-", text[:MAX_PASSAGE_CHARS]))}
    return all(
        sign in present or (sign in find_codes(sign) and has_code(sign, text[:MAX_PASSAGE_CHARS])) for sign in required
    )


MAX_SIGN_CHARS = 4  # characters of a sign
MIN_NAME_CHARS = 3  # letters of a name that is no sign alone, as "dot" in "dot product"
NEGATION_REACH_WORDS = 3  # words before a mention that may negate it
MAX_ANSWER_CHARS = 4_000  # characters of an answer

NAMES_BY_SIGN: dict[str, tuple[str, ...]] = {sign: tuple(names.split(", ")) for sign, names in WORDS["names"].items()}
SIGN_BY_NAME = {name: sign for sign, names in NAMES_BY_SIGN.items() for name in names}
SURROUNDING_CHARS = "`'\"“”‘’«» \t\n"
PROSE_SIGNS = frozenset("-/&.,:;!?+=|*\"'()<>[]")  # what prose uses alone: only quoted or in brackets are they meant


@lru_cache(maxsize=1_024)
def find_sign(text: str) -> str:
    """The sign that a text is or names as a whole; "" where it is anything else.

    >>> find_sign("`;`"), find_sign("A semicolon."), find_sign("The pipe character (|)"), find_sign("Use a comma")
    (';', ';', '|', ',')
    >>> find_sign("two signs"), find_sign("N/A")
    ('', '')
    """
    opening = FORMS["lead"].sub("", " ".join(text.split()))
    marked = opening.rstrip(".") if len(opening) > 1 and opening[0] == "`" else opening
    for form in (marked.strip(SURROUNDING_CHARS), marked.strip("`"), opening):
        if 0 < len(form) <= MAX_SIGN_CHARS and all(unicodedata.category(char)[0] in "PS" for char in form):
            return form
    name = FORMS["aside"].sub("", marked).strip(SURROUNDING_CHARS + ".").casefold()
    return SIGN_BY_NAME.get(name) or SIGN_BY_NAME.get(FORMS["article"].sub("", FORMS["article"].sub("", name)), "")


def has_sign(sign: str, text: str) -> bool:
    """Whether a text, as it is written, has a sign or names it, and does not deny that.

    >>> (has_sign(";", "It ends with `;`."), has_sign(";", "A semicolon does."),
    ...     has_sign(";", "A comma, not a semicolon."))
    (True, True, False)
    >>> has_sign("-", "A line - or two"), has_sign("#", "They start with #.")
    (False, True)
    """
    starts = (match.start() for match in _compile_pattern(sign).finditer(text[:MAX_ANSWER_CHARS]))
    return any(
        NEGATIONS.isdisjoint(split_words(text[max(0, start - 40) : start])[-NEGATION_REACH_WORDS:]) for start in starts
    )


@lru_cache(maxsize=256)
def _compile_pattern(sign: str) -> re.Pattern[str]:
    escaped = re.escape(sign)
    forms = [rf"(?<!`)`{{1,2}} ?{escaped} ?`{{1,2}}(?!`)", rf"[\"'“‘«(]{escaped}[\"'”’»)]", rf"\A\W?{escaped}\W?\Z"]
    if sign not in PROSE_SIGNS:
        forms.append(rf"(?:(?<=\s)|\A){escaped}(?=[\s.,;:!?)]|\Z)")
    names = [name for name in NAMES_BY_SIGN.get(sign, ()) if len(name) > MIN_NAME_CHARS]
    forms += [rf"(?<![\w-]){re.escape(name)}s?(?![\w-])" for name in names]
    return re.compile("|".join(forms), re.IGNORECASE)
