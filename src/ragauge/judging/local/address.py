"""Whether an answer addresses the question: by relevance, by the kind of thing asked for, and part by part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from ragauge.data.facts import Address
from ragauge.judging.local.index import Mode, carries_content, units_of
from ragauge.judging.local.kinds import EXACT, NAME, TIME
from ragauge.judging.local.relevance import LEXICAL, Asked, chosen
from ragauge.judging.local.statements import Statements, bare
from ragauge.judging.local.weights import stored
from ragauge.text.specifics import find
from ragauge.text.tokens import words

Wanted = Literal["number", "time", "name", "yes or no"]

SHORT = 5              # words with content: too few to tell by relevance
LOOKED_AT = 20_000     # characters of an answer; what it is about shows by then
LONGEST_QUERY = 2_000
FEWEST_GRAMS = 0.1     # share of the question's pieces of words in the answer, where there are no vectors
MOST_PARTS = 6

_NUMBER = re.compile(
    r"\bhow (?:many|much|old|tall|high|deep|far|large|big|long|often|fast|heavy|loud)\b"
    r"|\bwhat (?:percentage|proportion|number|fraction)\b"
    r"|\bwhat(?:['’]s| is| was) the (?:price|cost|fee|weight|height|population|capacity|number|amount)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?:^|\band |[,;] )when\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?:^|\band |[,;] )(?:who|whom|whose|where)\b|\b(?:what|which) (?:city|country|person|town|state)\b", re.IGNORECASE
)
POLAR = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)\b", re.IGNORECASE
)
_YES_NO = re.compile(r"^\W*(?:yes|no|true|false|ja|nein|oui|non|s[ií]|no|sim|não|是|不是|はい|いいえ)\b", re.IGNORECASE)
_PART = re.compile(r"\?+\s+(?=\S)|,?\s+and\s+(?=(?:who|whom|whose|what|when|where|which|why|how)\b)", re.IGNORECASE)

_AMOUNTS = """
    none no several many few dozens hundreds thousands millions half both single once twice never all most unlimited one
    every each always daily weekly monthly yearly annually rarely often
"""
_TIMES = """
    before after during since until when while day days week weeks month months year years decade century centuries
    time times early late later today yesterday tomorrow now currently spring summer autumn fall winter morning evening
    night noon midnight immediately once then soon annually daily weekly monthly monday tuesday wednesday thursday
    friday saturday sunday january february march april may june july august september october november december ago
    period era birth death end beginning start age stage war reign season upon within always never every
"""
AMOUNTS, TIMES = frozenset(_AMOUNTS.split()), frozenset(_TIMES.split())


def address(query: str, said: Statements, answer: str, cosine: float | None, mode: Mode) -> Address:
    """Whether the answer addresses the question fully, partly, or not.

    Args:
        query: the question.
        said: the answer by sentence.
        answer: the whole answer.
        cosine: of question and answer; None where there are no vectors.
        mode: how texts are compared.
    """
    if said.refuses:
        return "no"
    if not said.claims:
        return "fully" if wanted_kind(query) in ("yes or no", None) and _YES_NO.match(bare(answer)) else "no"
    if not any(carries_content(unit, mode) for unit in units_of(query, mode)):
        return "fully"
    query, shown = query[:LONGEST_QUERY], said.shown[:LOOKED_AT]
    short = sum(carries_content(unit, "words") for unit in units_of(shown[:400], "words")) <= SHORT
    lacks = mode == "words" and not carries(wanted_kind(query), shown)
    low, high = stored()["address"]
    features = Asked(query, mode).features(shown, cosine)
    p = chosen("relevance", cosine).p(features)
    if short and not said.declined:
        if lacks:
            return "partly" if p >= high else "no"
        return "no" if cosine is not None and p < low / 2 else "fully"
    if p < low if cosine is not None else features[LEXICAL.index("grams")] < FEWEST_GRAMS:
        return "no"
    if lacks or said.declined or (p < high and cosine is not None):
        return "partly"
    return "fully" if mode == "grams" or _every_part(query, shown) else "partly"


def wanted_kind(query: str) -> Wanted | None:
    """The kind of thing that a question asks for; None where it is not plain."""
    if POLAR.match(query):
        return "yes or no"
    if _NUMBER.search(query):
        return "number"
    if _TIME.search(query):
        return "time"
    return "name" if _NAME.search(query) else None


def carries(wanted: Wanted | None, answer: str) -> bool:
    """Whether the answer has the kind of thing asked for; where that is not plain, it has."""
    if wanted == "number":
        return bool(find(answer, EXACT)) or not AMOUNTS.isdisjoint(words(answer))
    if wanted == "time":
        return bool(find(answer, TIME)) or not TIMES.isdisjoint(words(answer))
    if wanted == "name":
        return any(any(map(str.isalpha, word)) for word in words(answer))
    return True


def _every_part(query: str, answer: str) -> bool:
    """Whether each of several questions in one finds a word of its own, or the kind of thing it asks for, answered."""
    parts = [part for part in _PART.split(query) if part and part.strip()][:MOST_PARTS]
    if len(parts) < 2:
        return True
    units = [{unit for unit in units_of(part, "words") if carries_content(unit, "words")} for part in parts]
    there = set(units_of(answer, "words"))
    return all(
        not own or not own.isdisjoint(there) or _answered(part, query, answer)
        for part, own in zip(parts, _distinct(units), strict=True)
    )


def _answered(part: str, query: str, answer: str) -> bool:
    wanted = wanted_kind(part)
    if wanted == "name":
        asked = {one.normal for one in find(query, NAME)}
        return any(one.normal not in asked for one in find(answer, NAME))
    return wanted in ("number", "time") and carries(wanted, answer)


def _distinct(units: Sequence[set[str]]) -> list[set[str]]:
    """Of each part, the units that no other part has."""
    return [
        own - set().union(*(other for m, other in enumerate(units) if m != n)) for n, own in enumerate(units)
    ]
