"""Edits of single words: a quantifier, a comparative, or a word for its opposite. See `planter`."""

from __future__ import annotations

import re
from random import Random

from planter import Context, Planted

QUANTIFIERS = (
    (r"\b([Aa])ll (?=(?:of |the |its |their |other )?[a-z]+s\b)", ("no ", "few "), "all"),
    (r"\b([Ee])very (?=[a-z]{4,})", ("no ",), "every"),
    (r"\b([Mm])ost (?=(?:of the )?[a-z]+s\b)", ("few ", "no "), "most"),
    (r"\b([Mm])any (?=(?:of the )?[a-z]+s\b)", ("few ", "no "), "many"),
    (r"\b([Ss])ome (?=(?:of the )?[a-z]+s\b)", ("all ", "no "), "some"),
    (r"\b([Ss])everal (?=[a-z]+s\b)", ("no ", "all "), "several"),
    (r"(?<!\b[Aa] )\b([Ff])ew (?=[a-z]+s\b)", ("most ", "many "), "few"),
    (r"(?<= )(a)lways (?=[a-z])", ("never ", "rarely "), "always"),
    (r"(?<= )(o)ften (?=[a-z])", ("rarely ", "never "), "often"),
    (r"(?<= )(u)sually (?=[a-z])", ("rarely ", "never "), "usually"),
    (r"(?<= )(r)arely (?=[a-z])", ("often ", "always "), "rarely"),
)
COMPARATIVES = (
    "more than/less than|fewer than/more than|less than/more than|at least/at most|higher/lower|larger/smaller|"
    "bigger/smaller|greater/smaller|older/younger|earlier/later|better/worse|longer/shorter|faster/slower|"
    "stronger/weaker|cheaper/more expensive|before/after|above/below|over/under|first/last|highest/lowest|"
    "largest/smallest|oldest/youngest|best/worst|longest/shortest|most/least|up to/at least|richer/poorer|"
    "heavier/lighter|closer/farther|easier/harder|warmer/colder"
)
OPPOSITES = (
    "increase/decrease|increased/decreased|increases/decreases|increasing/decreasing|rose/fell|risen/fallen|"
    "rising/falling|won/lost|win/lose|winning/losing|north/south|northern/southern|east/west|eastern/western|"
    "male/female|men/women|boys/girls|father/mother|son/daughter|brother/sister|husband/wife|hot/cold|"
    "warm/cool|high/low|large/small|big/small|new/old|young/old|early/late|open/closed|opened/closed|"
    "public/private|left/right|positive/negative|success/failure|successful/unsuccessful|allow/forbid|"
    "allows/forbids|allowed/forbidden|accepted/rejected|accept/reject|began/ended|begins/ends|start/end|"
    "started/ended|beginning/end|true/false|strong/weak|rich/poor|day/night|inside/outside|upper/lower|"
    "major/minor|internal/external|permanent/temporary|legal/illegal|possible/impossible|domestic/foreign|"
    "urban/rural|indoor/outdoor|common/rare|easy/difficult|safe/dangerous|active/inactive|able/unable|"
    "known/unknown|likely/unlikely|important/unimportant|with/without|support/oppose|supported/opposed|"
    "supports/opposes|approved/rejected|gained/lost|added/removed|born/died|above/below|ancient/modern|"
    "long/short|deep/shallow|thick/thin|heavy/light|wide/narrow|fast/slow|full/empty|dry/wet|"
    "majority/minority|maximum/minimum|arrived/departed|bought/sold|attack/defend|attacked/defended|"
    "created/destroyed|agree/disagree|agreed/disagreed|include/exclude|includes/excludes|included/excluded|"
    "simple/complex|acquired/sold"
)
SUPERLATIVE = re.compile(r"\bthe $|\b(?:a|at|after|in|above|not|of|very|nearly|almost|just) $", re.IGNORECASE)


def _both_ways(pairs: str) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for pair in pairs.split("|"):
        first, last = pair.split("/")
        table.setdefault(first, []).append(last)
        table.setdefault(last, []).append(first)
    return table


def quantifier(sentence: str, context: Context, draw: Random) -> Planted | None:  # noqa: ARG001 - every edit takes it
    """All, every, most, many, some, few, always, often … for one that cannot be true with it."""
    ways = []
    for pattern, instead, was in QUANTIFIERS:
        for found in re.finditer(pattern, sentence):
            if not SUPERLATIVE.search(sentence[: found.start()]):
                now = draw.choice(instead)
                of = sentence[found.end() :].startswith("of ")
                ways.append((found, "none " if of and now == "no " else now, was))
    if not ways:
        return None
    found, now, was = draw.choice(ways)
    now = now.capitalize() if found[1].isupper() else now
    return Planted(sentence[: found.start()] + now + sentence[found.end() :], was, now.strip())


def comparative(sentence: str, context: Context, draw: Random) -> Planted | None:  # noqa: ARG001
    """More than for less than, at least for at most, higher for lower, before for after and the like."""
    return _swapped(sentence, _both_ways(COMPARATIVES), draw)


def antonym(sentence: str, context: Context, draw: Random) -> Planted | None:  # noqa: ARG001
    """A word for its opposite."""
    return _swapped(sentence, _both_ways(OPPOSITES), draw)


def _swapped(sentence: str, table: dict[str, list[str]], draw: Random) -> Planted | None:
    names = "|".join(sorted(table, key=len, reverse=True))
    ways = [found for found in re.finditer(rf"(?<![\w'’-])(?:{names})(?![\w'’-])", sentence) if _plain(sentence, found)]
    if not ways:
        return None
    found = draw.choice(ways)
    now = draw.choice(table[found[0]])
    return Planted(sentence[: found.start()] + now + sentence[found.end() :], found[0], now)


def _plain(sentence: str, found: re.Match[str]) -> bool:
    """Whether the word has its usual sense here, as far as its neighbours tell."""
    before, after = sentence[max(0, found.start() - 12) : found.start()], sentence[found.end() : found.end() + 12]
    word = found[0]
    if word in ("over", "under", "up to", "at least", "at most") and not re.match(r" [\d$€£]", after):
        return False
    if word in ("most", "least") and not before.endswith("the "):
        return False
    if word in ("left", "right", "light", "end", "last", "first", "late", "cool") and not before.endswith("the "):
        return False
    if word in ("upper", "lower") and after.startswith(" than"):
        return False
    if word == "after" and after.startswith(" all"):
        return False
    if word in ("above", "below") and not re.match(r" (?:the|a|\d)", after):
        return False
    return not (word == "lost" and before.endswith("the "))
