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
from ragauge.judging.local.wordings import compiled
from ragauge.text.language import guess
from ragauge.text.patterns import ADDRESS, BRACKETED, BULLET, MARKDOWN, matches
from ragauge.text.sentences import split
from ragauge.text.specifics import DATE, EXACT, NUMBER, PERCENT, Kind, find
from ragauge.text.tokens import answer_tokens

Check = Callable[[str], bool]

_SMALL = "zero one two three four five six seven eight nine ten eleven twelve"
SPELLED = {word: n for n, word in enumerate(_SMALL.split())} | {"a": 1, "an": 1, "single": 1, "fifteen": 15}
SPELLED |= {"twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100}
LANGUAGES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv", "polish": "pl", "turkish": "tr", "chinese": "zh", "japanese": "ja", "korean": "ko",
    "russian": "ru", "arabic": "ar", "greek": "el", "hebrew": "he", "hindi": "hi",
}  # fmt: skip

WORD = re.compile(r"\S*\w\S*")
PHONE = re.compile(r"(?<![\w.])\+?\(?\d[\d\s()/.-]{5,18}\d(?!\w)")
MAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.\w")
QUOTED = re.compile(r"[\"“”«»„][^\"“”«»„]{3,}[\"“”«»]|(?m:^\s*>\s)")
SOURCE = re.compile(
    r"\b(?:according to|as (?:stated|described) in|source:|sources:|references:|see (?:the |section|page|chapter))"
    r"|\((?:see |cf\.? |source:)[^)]+\)",
    re.IGNORECASE,
)
CODE = re.compile(r"```|`[^`\n]+`")
TABLE = re.compile(r"(?m)^\s*\|?.*\|.*\n\s*\|?\s*:?-{2,}")
NUMBERED = re.compile(r"(?m)^\s*\(?\d{1,3}[.)]\s+\S")
HEADING = re.compile(r"(?m)^\s{0,3}#{1,6}\s+\S|^\s*\*\*[^*\n]+\*\*\s*$")
EMOJI = re.compile(r"[\U0001f300-\U0001faff\u2600-\u27bf]")
ASKED = re.compile(r"[?？؟][\"'”’»)]*\s*(?:$|\n|\s)")
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

_N = rf"(?:an? (?=single))?(\d[\d,]*|{'|'.join(SPELLED)})"
_UNIT = r"[\s-]*(word|sentence|character|letter|paragraph|line|bullet)s?(?:\s+points?)?"
_VERBS = """
    is are be has have contains? consists? uses? answers? responds? replies stays? keeps? it fits? comes? written given
    limited kept
"""
_VERB = rf"(?:\s*\b(?:{'|'.join(_VERBS.split())})\b)*"
_IN = r"(?:\s*\b(?:in|to|with|within|of|using)\b)?\s*"
_TAIL = r"(?:\s+(?:long|short|in length|in total|overall|only|or so))*\W*"
_MOST = r"(?:at most|(?:no|not) more than|(?:no|not) longer than|up to|within|(?:a )?max(?:imum)?(?: of)?)"
_BELOW = r"(?:fewer than|less than|under|below|shorter than)"
_LEAST = r"(?:at least|no fewer than|no less than|not less than|(?:a )?min(?:imum)?(?: of)?)"
_ABOVE = r"(?:more than|over|above|longer than|exceeds?)"
_LIMITS: tuple[tuple[str, Callable[[int], tuple[int, float]]], ...] = (
    (rf"{_MOST}\s+{_N}{_UNIT}|{_N}{_UNIT}\s+(?:or (?:less|fewer|shorter)|at most|max(?:imum)?)", lambda n: (0, n)),
    (rf"{_BELOW}\s+{_N}{_UNIT}", lambda n: (0, n - 1)),
    (rf"{_LEAST}\s+{_N}{_UNIT}|{_N}{_UNIT}\s+(?:or (?:more|longer)|at least|min(?:imum)?)", lambda n: (n, inf)),
    (rf"{_ABOVE}\s+{_N}{_UNIT}", lambda n: (n + 1, inf)),
    (rf"(?:exactly |precisely |only |just |not more and not less than )?{_N}{_UNIT}", lambda n: (n, n)),
)
LIMITS = tuple((re.compile(rf"{_VERB}{_IN}(?:{text}){_TAIL}", re.IGNORECASE), bounds) for text, bounds in _LIMITS)
BETWEEN = re.compile(
    rf"{_VERB}{_IN}(?:between|from)?\s*{_N}\s*(?:and|to|-|–)\s*{_N}{_UNIT}{_TAIL}", re.IGNORECASE
)


def holds(text: str, kinds: Collection[Kind]) -> bool:
    """Whether a text has a specific of one of these kinds."""
    return bool(find(text, kinds))


def names_money(text: str) -> bool:
    """Whether a text names an amount of money."""
    return any(mark.unit in MONEY for mark in find(text, NUMBER))


def cites(text: str) -> bool:
    """Whether a text cites anything, by a mark, an address or words."""
    return any(sign.search(text) is not None for sign in (BRACKETED, ADDRESS, SOURCE))


_HAVING = """
    contains? has have includes? uses? gives? provides? shows? states? names? mentions? adds? offers? asks? is be
    quotes? cites? makes?
"""
_HAVE = (
    rf"(?:{'|'.join(_HAVING.split())}|(?:ends?|closes?) with|(?:formatted|written|given|presented) as"
    r"|answers? (?:as|with|in))"
)
_ONE = (
    r"(?:\s*\b(?:an?|any|the|some|at least one|one|more|its|their|as|valid|relevant|clickable|follow-?up|clarifying"
    r"|exact|specific|concrete|in-?text|inline|in the form of)\b)*"
)
_KINDS: tuple[tuple[str, Check], ...] = (
    (r"citations?|sources?|references?|footnotes?|source references?", cites),
    (r"links?|urls?|hyperlinks?|web ?(?:address|site|link|page)(?:es|s)?", lambda text: bool(ADDRESS.search(text))),
    (r"e-?mail(?: address(?:es)?)?", lambda text: MAIL.search(text) is not None),
    (r"(?:tele)?phone numbers?", lambda text: PHONE.search(text) is not None),
    (r"bullets?|bullet(?:ed)?[ -](?:points?|lists?)|lists?", lambda text: COUNTED["bullet"](text) > 0),
    (r"numbered (?:lists?|steps?)|numbered steps|steps? numbers?", lambda text: NUMBERED.search(text) is not None),
    (r"tables?", lambda text: TABLE.search(text) is not None),
    (r"code(?: blocks?| snippets?| examples?)?", lambda text: CODE.search(text) is not None),
    (r"headings?|headlines?|titles?", lambda text: HEADING.search(text) is not None),
    (r"emojis?|emoticons?", lambda text: EMOJI.search(text) is not None),
    (r"markdown(?: formatting)?", lambda text: MARKDOWN.search(text) is not None),
    (r"quot(?:e|es|ations?)", lambda text: QUOTED.search(text) is not None),
    (r"questions?|question marks?", lambda text: ASKED.search(text) is not None),
    (r"exclamation marks?", lambda text: "!" in text or "！" in text),
    (r"(?:numbers?|figures?|digits?|numerical values?)", lambda text: holds(text, EXACT)),
    (r"percent(?:age)?s?", lambda text: holds(text, PERCENT)),
    (r"dates?", lambda text: holds(text, DATE)),
    (r"years?", lambda text: re.search(r"(?<!\d)[12]\d{3}(?!\d)", text) is not None),
    (r"prices?|costs?|fees?|(?:amounts? of money|sums? of money)", names_money),
    (r"json(?: object)?", lambda text: matches("json_block", text)),
)  # fmt: skip
FORMS = range(1, 8)     # of the kinds above, those that are forms rather than facts
_FOR = r"(?:\s(?:to|for|of|with|from) [^,;]{1,80})?"     # a link to the form: that there is one is what is checked
KINDS = tuple(
    (re.compile(rf"{_HAVE}{_ONE}\s*(?:{noun}){_FOR if n in FORMS else ''}\W*", re.IGNORECASE), check)
    for n, (noun, check) in enumerate(_KINDS)
)
LANGUAGE = re.compile(
    rf"(?:is|be|are|answers?|responds?|replies|written|given|uses?|\s)*\bin\s+({'|'.join(LANGUAGES)})(?: language)?\W*",
    re.IGNORECASE,
)
LITERAL = re.compile(
    r"(starts?|begins?|opens?|ends?|closes?)?\b.{0,40}?[\"“”«„']([^\"“”«»„]{1,200})[\"“”»']\W*",
    re.IGNORECASE,
)
LITERAL_VERB = re.compile(
    r"(?:contains?|includes?|uses?|has|says?|mentions?|starts? with|begins? with|opens? with|ends? with|closes? with)"
    r"(?: (?:the|a|exact|exactly|literal|word|words|phrase|term|sentence|string|text|expression))*\s*$",
    re.IGNORECASE,
)

# of the answer as a whole, in the notation of `wordings.py`
DECLINING = """
    ^(?:declines?|refuses?|abstains?)(?: .{0,60})?$
    ^(?:{SAY} )(?:that )?(?:it|the (?:assistant|system|bot|answer)|i|we) {NOT} (?:know|answer|find|help).{0,80}$
    ^{NOT} (?:know|answer the question|have enough information).{0,60}$
    ^(?:{SAY} )(?:that )?.{0,40}{SOURCE}.{0,40}(?:{NOT}|no |lacks?).{0,80}$
    ^(?:{SAY} )(?:that )?.{0,40}(?:question|it|this) (?:cannot|can not|can't|could not) be answered.{0,60}$
    ^(?:{SAY} )(?:that )?(?:the )?(?:answer|information) is (?:not|un)\\W?{GIVEN}.{0,60}$
"""
THANKING = "^thanks? (?:the )?(?:user|customer|reader|person|them)?.{0,30}$"
SORRY = "^(?:apologi[sz]es?|is sorry|says sorry|expresses regret|regrets?)(?: .{0,60})?$"
GREETING = "^(?:greets?|says hello|welcomes?)(?: .{0,40})?$"
_WORDS = {
    "SAY": """
        says?|admits?|acknowledges?|states?|makes (?:it )?clear|tells?(?: the (?:user|reader|customer))?|notes?
        explains?|indicates?
    """,
    "GIVEN": "known|available|given|there|provided",
    "NOT": "does(?: not|n't)|do(?: not|n't)|can(?:not| not|'t)|could(?: not|n't)|is(?: not|n't)|are(?: not|n't)",
    "SOURCE": "documents?|documentation|context|passages?|sources?|information|knowledge base|corpus|texts?",
}
POLITE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (THANKING, re.compile(r"\bthank(?:s| you)\b", re.IGNORECASE)),
    (SORRY, re.compile(r"\b(?:sorry|apologi|regret|unfortunately)", re.IGNORECASE)),
    (GREETING, re.compile(r"^\W*(?:hi|hello|hey|dear|welcome|good (?:morning|afternoon|evening))\b", re.IGNORECASE)),
)


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
    both = BETWEEN.fullmatch(criterion)
    if both is not None:
        return _number(both[1]) <= COUNTED[both[3].lower()](answer) <= _number(both[2])
    for pattern, bounds in LIMITS:
        match = pattern.fullmatch(criterion)
        if match is not None:
            number, unit = [group for group in match.groups() if group is not None][:2]
            low, high = bounds(_number(number))
            return low <= COUNTED[unit.lower()](answer) <= high
    return None


def _number(text: str) -> int:
    return SPELLED.get(text.lower()) or int(text.replace(",", ""))


def _literal(criterion: str, answer: str) -> bool | None:
    """The criterion quotes words that have to stand in the answer, at its start or at its end."""
    match = LITERAL.fullmatch(criterion)
    if match is None or not LITERAL_VERB.fullmatch(criterion[: match.start(2) - 1].strip()):
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
    match = LANGUAGE.fullmatch(criterion)
    code = guess(answer) if match is not None else "und"
    return None if match is None or code == "und" else code == LANGUAGES[match[1].lower()]


def _kind(criterion: str, answer: str) -> bool | None:
    for pattern, check in KINDS:
        if pattern.fullmatch(criterion):
            return check(answer)
    return None


def _manner(criterion: str, answer: str) -> bool | None:
    if _declining().search(criterion):
        return declines(answer)
    for wording, sign in POLITE:
        if re.match(wording, criterion, re.IGNORECASE):
            return sign.search(answer) is not None
    return None


@cache
def _declining() -> re.Pattern[str]:
    return compiled(DECLINING, _WORDS)
