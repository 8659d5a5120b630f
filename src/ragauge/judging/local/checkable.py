"""Criteria that can be checked exactly: length, form, language, wording, and whether a kind of thing is there.

A criterion is answered here only where all of it is plainly recognised; the rest is left to others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from math import inf

from ragauge.judging.local.refusals import is_refusal
from ragauge.judging.local.statements import statements
from ragauge.text.language import guess
from ragauge.text.patterns import ADDRESS, BRACKETED, BULLET, MARKDOWN, matches
from ragauge.text.sentences import split
from ragauge.text.specifics import DATE, EXACT, NUMBER, PERCENT, Kind, find
from ragauge.text.tokens import answer_tokens
from ragauge.text.word_files import compiled, read_patterns, read_words

Check = Callable[[str], bool]

WORDS, FORMS = read_words(__file__, "checkable"), read_patterns(__file__, "checkable")
LANGUAGES = dict(entry.split() for entry in WORDS["languages"].replace("\n", ",").split(",") if entry.strip())
SPELLED = dict(entry.split() for entry in WORDS["numbers"].replace("\n", ",").split(",") if entry.strip())
WORD = re.compile(r"\S*\w\S*")
MONEY = frozenset("$€£¥₹₩₽") | {"CHF", "cents"}

COUNTED: Mapping[str, Callable[[str], int]] = {
    "word": lambda text: len(WORD.findall(text)),
    "sentence": lambda text: sum(WORD.search(sentence.text) is not None for sentence in split(text)),
    "character": lambda text: len(text.strip()),
    "letter": lambda text: sum(map(str.isalpha, text)),
    "paragraph": lambda text: sum(bool(block.strip()) for block in re.split(r"\n\s*\n", text)),
    "line": lambda text: sum(bool(line.strip()) for line in text.splitlines()),
    "bullet": lambda text: sum(BULLET.match(line) is not None for line in text.splitlines()),
}
LIMITS: Mapping[str, Callable[[int], tuple[int, float]]] = {     # in the order in which they are tried
    "most": lambda n: (0, n),
    "below": lambda n: (0, n - 1),
    "least": lambda n: (n, inf),
    "above": lambda n: (n + 1, inf),
    "exactly": lambda n: (n, n),
}


def holds(text: str, kinds: Collection[Kind]) -> bool:
    """Whether a text has a specific of one of these kinds."""
    return bool(find(text, kinds))


def names_money(text: str) -> bool:
    """Whether a text names an amount of money."""
    return any(mark.unit in MONEY for mark in find(text, NUMBER))


def cites(text: str) -> bool:
    """Whether a text cites anything, by a mark, an address or words."""
    return any(sign.search(text) is not None for sign in (BRACKETED, ADDRESS, FORMS["sign_cites"]))


# of kinds that no single pattern shows
CHECKS: Mapping[str, Check] = {
    "cites": cites,
    "link": lambda text: ADDRESS.search(text) is not None,
    "bullets": lambda text: COUNTED["bullet"](text) > 0,
    "markdown": lambda text: MARKDOWN.search(text) is not None,
    "number": lambda text: holds(text, EXACT),
    "percentage": lambda text: holds(text, PERCENT),
    "date": lambda text: holds(text, DATE),
    "price": names_money,
    "json": lambda text: matches("json_block", text),
}


def checked(criterion: str, answer: str) -> bool | None:
    """Whether the answer meets a criterion that can be checked exactly; None where it is no such criterion.

    >>> checked("is at most 5 words", "It costs 49 euros."), checked("is polite", "Thanks!")
    (True, None)
    """
    for check in (_length, _literal, _language, _kind, _manner):
        outcome = check(criterion, answer)
        if outcome is not None:
            return outcome
    return None


def declines(answer: str) -> bool:
    """Whether an answer declines, wholly or in some sentence."""
    spoken = statements(answer)
    return spoken.refuses or spoken.declined or is_refusal(answer)


def _length(criterion: str, answer: str) -> bool | None:
    both = FORMS["between"].fullmatch(criterion)
    if both is not None:
        return _number(both[1]) <= COUNTED[both[3].lower()](answer) <= _number(both[2])
    for name, bounds in LIMITS.items():
        match = FORMS[name].fullmatch(criterion)
        if match is not None:
            number, unit = [group for group in match.groups() if group is not None][:2]
            low, high = bounds(_number(number))
            return low <= COUNTED[unit.lower()](answer) <= high
    return None


def _number(text: str) -> int:
    return int(SPELLED.get(text.lower(), text.replace(",", "")))


def _literal(criterion: str, answer: str) -> bool | None:
    """The criterion quotes words that have to stand in the answer, at its start or at its end."""
    match = FORMS["literal"].fullmatch(criterion)
    if match is None or not FORMS["literal_verb"].fullmatch(criterion[: match.start(2) - 1].strip()):
        return None
    wanted, given = answer_tokens(match[2]), answer_tokens(answer)
    where = (match[1] or "").lower()[:1]
    if not wanted:
        return match[2] in answer
    if where in ("s", "b", "o"):
        return given[: len(wanted)] == wanted
    if where in ("e", "c"):
        return given[-len(wanted) :] == wanted
    return f" {' '.join(wanted)} " in f" {' '.join(given)} "


def _language(criterion: str, answer: str) -> bool | None:
    match = FORMS["language"].fullmatch(criterion)
    wanted = LANGUAGES.get(match[1].lower()) if match is not None else None
    code = guess(answer) if wanted is not None else "und"
    return None if code == "und" else code == wanted


def _kind(criterion: str, answer: str) -> bool | None:
    for name, form in FORMS.items():
        head, _, kind = name.partition("_")
        if head == "kind" and form.fullmatch(criterion):
            return CHECKS[kind](answer) if kind in CHECKS else FORMS[f"sign_{kind}"].search(answer) is not None
    return None


def _manner(criterion: str, answer: str) -> bool | None:
    if _declining().search(criterion):
        return declines(answer)
    for act in ("thanks", "sorry", "greets"):
        if FORMS[f"polite_{act}"].match(criterion):
            return FORMS[f"shown_{act}"].search(answer) is not None
    return None


@cache
def _declining() -> re.Pattern[str]:
    return compiled(WORDS["declining"], WORDS["declining_words"])
