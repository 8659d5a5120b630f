"""How criteria are worded: what they speak of, what they ask the answer to do, and what shows that it does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from ragauge.judging.local.checkable import holds, names_money
from ragauge.judging.local.english import NEGATIONS
from ragauge.judging.local.short_answers import plain_units
from ragauge.text.specifics import DATE, EXACT, NAME, PERCENT

Act = Literal["mention", "state", "urge", "promise", "warn", "explain"]


def _any(listed: str) -> str:
    return f"(?:{'|'.join(listed.split())})"


# left out: "The answer should always …"
_SUBJECT = _any("answer response reply output assistant bot system model text it agent")
_MUST = r"(?:should|must|shall|will|has to|have to|needs to|need to|is expected to|ought to)"
_HOW = _any("also always clearly explicitly correctly briefly specifically directly")
SUBJECT = re.compile(
    rf"^\W*(?:(?:the |this |its |your |a good )?{_SUBJECT}\s+)?(?:{_MUST}\s+(?=\w))?(?:{_HOW}\s+)*", re.IGNORECASE
)

# the criterion denies what follows; some of these words are followed by a noun: avoids tables, has no tables
_NOT = r"(?:does|do|should|must|may|can|is|are|has|have)(?:\s+not|n['’]t)|not|never"
_AVOIDS = r"avoids?|refrains? from|omits?|leaves? out|is free (?:of|from)"
_HAS_NO = r"(?:has|contains?|includes?|makes?|is) (?:no|without)"
_BOUND = _any("more less longer fewer shorter later earlier")
DENIED = re.compile(
    rf"^(?:{_NOT}|(?P<noun>{_AVOIDS}|{_HAS_NO}|without|no))\b(?!\s+{_BOUND}\b)\s*"
    r"(?:(?:any|to|be in|be|the use of|mentions? of)\b\s*)*",
    re.IGNORECASE,
)
NEITHER = re.compile(r"\bneither\b\s*(.+?)\s+\bnor\b\s*", re.IGNORECASE)
JOINED = re.compile(r",?\s+and\s+(?:(?:it )?(?:also )?)", re.IGNORECASE)

# what the answer is asked to do; the first that fits counts
_USER = r"(?:(?:the |its )?(?:users?|readers?|customers?|person|clients?|asker|them|people)|the \w+)"
_TO = rf"(?: {_USER}(?= (?:to|that|about|of|against)\b))?"
_TELLS = r"(?:tells?|informs?|reminds?|assures?)"
_URGES = (
    r"recommends?|recommending|suggests?|suggesting|advis(?:es?|ing)|encourag(?:es?|ing)|urg(?:es?|ing)|proposes?"
    r"|endorses?"
)
_SAYS = (
    r"says?|saying|states?|stating|mention\w*|explain\w*|notes?|noting|points? out|makes? (?:it )?clear|clarif\w+"
    r"|confirm\w*|acknowledg\w*|admits?|adds?|indicat\w*|emphasi[sz]\w*|stress\w*|claim\w*|concludes?|specif\w+|implies"
    r"|imply\w*|reports?"
)
_NAMES = (
    r"mention\w*|nam(?:es?|ing)|lists?|listing|giv(?:es?|ing)|includ\w+|contain\w*|provid\w+|identif\w+"
    r"|points? (?:to|out)|specif\w+|indicat\w+|outlin\w+|cit(?:es?|ing)|reports?|presents?|defin\w+|shows?|ha(?:s|ve)"
    r"|stat(?:es?|ing)|says?|talk\w* (?:about|of)|speaks? (?:about|of)|discuss\w*|explain\w*|describ\w*|covers?"
    r"|address\w*|tells?(?: about| of)?|compares?|quotes?|offers?"
)
_EXPLAINS = (
    r"explain\w*|describ\w*|says?|states?|stating|gives?|shows?|clarif\w+|covers?|address\w*"
    r"|discuss\w*|outlines?|mention\w*"
)
_WH = _any("how why what when where who which whether")
_ACTS: tuple[tuple[Act, str], ...] = (
    ("state", rf"(?:warns?|cautions?)(?: {_USER})? that\b"),
    ("warn", rf"(?:warns?|cautions?|raises? a warning){_TO}(?: (?:against|of|about))?"),
    ("urge", rf"(?:{_URGES}){_TO}(?: to| that)?"),
    ("promise", rf"(?:promis(?:es?|ing)|guarante(?:es?|eing)|commits? to){_TO}(?: to| that)?"),
    ("state", rf"(?:{_TELLS}|asks?|instructs?|directs?|invites?|refers?|points?) {_USER} (?:to|that|towards?)"),
    ("explain", rf"(?:{_TELLS}(?: {_USER})?|{_EXPLAINS}) (?={_WH}\b)"),
    ("state", rf"(?:(?:{_TELLS} {_USER}|{_SAYS}) that\b)"),
    ("mention", rf"(?:{_NAMES}|refer\w* (?:{_USER} )?to|{_TELLS} {_USER} about)"),
)
ACTS = tuple((act, re.compile(rf"^(?:{text})\b\s*:?\s*", re.IGNORECASE)) for act, text in _ACTS)
POLAR = re.compile(
    r"^(?:answers?|says?|replies|responds?|states?)(?: with| in the)?\W*(yes|no|affirmative|negative)\W*$",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"\b(?:is|are|was|were|can|cannot|will|must|does|do|may|takes?|costs?|lasts?|needs?|applies)\b")
UNKNOWN = re.compile(r"^[a-z]+(?<!s)s\s+\S")       # a verb that is not known: "prioritises safety"

# how the answer is written, or whether what it holds is good: that takes reading
_SEEMING = """
    is be are sounds? reads? remains? stays? keeps? feels? looks? maintains? follows? adheres? respects? demonstrates?
"""
_SEEMS = _any(_SEEMING)
_STYLE = _any("tone style language voice wording manner structure register words")
_PARTS = """
    code tone explanation steps? calculations? formatting structure wording language style summary advice facts?
    information reasoning order
"""
_WHOLE = _any(_PARTS)
TONE = re.compile(
    rf"^{_SEEMS}\b|^shows? (?:empathy|understanding|respect|care)\b"
    rf"|^(?:uses?|has|have|keeps?|adopts?|strikes?)\b.{{0,40}}\b{_STYLE}\b|^the {_WHOLE}\b"
    r"|^(?:at least|at most|exactly|no more than|more than|fewer than)\b"
    r"|^(?:answers?|addresses) the (?:question|query)\b",
    re.IGNORECASE,
)

# within what is to be mentioned
BOTH = re.compile(r"^(?:both|either|all of|each of)\s+", re.IGNORECASE)
EMPTY = re.compile(r"^(?:anything|something|a thing|it|this|that|one)?\W*$", re.IGNORECASE)
RELATIVE = re.compile(
    r"\s+(?:(?:that|which|who|whom|whose|where)\b|as (?:the|an?|its)\b|to (?=[a-z]+\b)).*", re.IGNORECASE
)
# something that is only described may be there under any name
DESCRIBED = re.compile(r"^(?:an?|some|another|at least one|one)\s+\S+\s+\S+$|\s(?:that|which|who)\s", re.IGNORECASE)
COUNTED = re.compile(r"^(?:at least|at most|exactly|more than|no more than|fewer than|up to)\b", re.IGNORECASE)
MANNER = re.compile(r"\s+(?:by name|explicitly|clearly|correctly|in passing|at least once|somewhere)$", re.IGNORECASE)
HOW_TO = re.compile(r"^how (?:to|one|you|the user)\b", re.IGNORECASE)
ONE = re.compile(r"\b(?:one|a single)(?=[ -](?:minute|hour|day|week|month|year)s?\b)", re.IGNORECASE)

# what shows in an answer that it recommends, promises or warns
_URGED = (
    r"recommend|suggest|advis|should|ought|consider|please|try|need to|needs to|must|have to|has to|best to|better to"
    r"|would be wise|make sure|be sure|we propose|you (?:can|could|may|might)"
)
_PROMISED = r"promis|guarante|assur|definitely|certainly|you have (?:my|our) word|rest assured"
_WARNED = (
    r"warn|careful|caution|beware|note|attention|important|risk|danger|never|avoid|otherwise|must not|do not|don['’]t"
    r"|should not|shouldn['’]t|will have to|unless"
)
CUES: dict[Act, re.Pattern[str]] = {
    "urge": re.compile(rf"\b(?:{_URGED})", re.IGNORECASE),
    "promise": re.compile(rf"\b(?:{_PROMISED})", re.IGNORECASE),
    "warn": re.compile(rf"\b(?:{_WARNED})", re.IGNORECASE),
}
_ORDERS = """
    ask call contact send use take go check keep leave fill pay move choose select click open visit see read return
    request get have buy wait talk speak write make put press hold set turn restart install update switch report tell
    find learn practise practice start begin look follow add remove copy run type enter bring apply register book order
    download upload save sign log remember stop replace plug connect drink eat prefer avoid change move back
"""
IMPERATIVE = re.compile(rf"^\W*{_any(_ORDERS)}\b", re.IGNORECASE)
TURNS = re.compile(
    r"[;:–—]\s|,\s+(?:and|but|so|yet|while|though|although|because|instead)\s|\s(?:but|because|instead)\s"
)
DENIALS = NEGATIONS | {"impossible", "unable", "nobody", "forbidden", "prohibited", "unavailable"}

# words that need not be there, or may be there in another form
POSSIBLE = frozenset(
    plain_units("possible impossible allowed permitted available offered able can may could might there exist get")
)
META = frozenset(plain_units("source answer response document text"))
PERIODS = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annual": "year", "hourly": "hour"}
ENDINGS = re.compile(r"(?:ations?|ments?|ings?|ions?|ances?|ences?|ables?|ers?|als?|ed|e)$")
DAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:today|tomorrow)\b", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
# a noun that stands for a kind of thing: it need not be said where such a thing is
_AMOUNTS = """
    limit period duration length number count quantity size weight height distance age capacity value figure total rate
    threshold maximum minimum percentage
"""
_KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("price cost fee charge fine amount sum discount salary", lambda text: names_money(text) or holds(text, PERCENT)),
    ("date deadline", lambda text: holds(text, DATE) or DAY.search(text) is not None),
    ("year", lambda text: YEAR.search(text) is not None),
    (_AMOUNTS, lambda text: holds(text, EXACT)),
    ("name city town country person author place company street river", lambda text: holds(text, NAME)),
)
KINDS = {unit: check for nouns, check in _KINDS for unit in plain_units(nouns)}
