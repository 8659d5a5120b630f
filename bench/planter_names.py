"""Edits of names: a name for another name of the same context, and two names that change places. See `planter`."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

from planter import Context, Planted, said_elsewhere

CAPITAL = r"[A-Z][a-z]+(?:-[A-Z][a-z]+)?|[A-Z]{2,5}|[A-Z]\."
NAME = re.compile(rf"(?<![\w.’'-])(?:{CAPITAL})(?: (?:of |of the |de |von |van )?(?:{CAPITAL})(?![\w]))*(?![\w’-])")
OPENS = re.compile(r"[.!?:\n\"“(*#|]\s*$")
_NO_NAME = """
The A An In On At He She It They We I You This That These Those But And Or If When While As For From To By With
After Before During Since However Although Though Because So Then There Here His Her Its Their Our My Your Who What
Which Where How Why Not No Yes All Some Many Most Each Every Both One Two Three Four Five First Second Third New
Also Other Such January February March April May June July August September October November December Jan Feb Mar
Apr Jun Jul Aug Sep Sept Oct Nov Dec Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mr Mrs Ms Dr St Title
Wikipedia
"""
NO_NAME = frozenset(_NO_NAME.split())
SPEAKING = r"(?:said|says|wrote|told|added|was born|died|married|played|joined|became|announced|argued|believes)"
ORGANISED = re.compile(
    r"\b(?:University|College|Inc|Corp|Company|Group|Club|Party|Council|Association|Institute|School|Records|Bank|Press"
    r"|Museum|Church|Court|Department|Ministry|Academy|League|Society|Agency)\b"
)
PEOPLES = re.compile(r"^[A-Z][a-z]+(?:ian|ean|can|ish|ese|nch|man|tch|iss|aeli|aqi|ani)s?$")
TITLED = r"(?:Mr|Mrs|Ms|Dr|Sir|President|actor|actress|singer|author|coach)\.?"
RARE = 3  # contexts with the word in small letters, from which on it is no name
_TRANSITIVE = """
acquired bought sold defeated beat founded criticized criticised praised replaced succeeded hired sued attacked
invaded conquered killed taught influenced inspired supported told asked invited directed produced wrote published
commissioned sponsored funded owns owned leads led follows followed surpassed outsold represented beats informed
accused thanked helped visited appointed nominated recruited signed invented discovered designed gave sent
"""
TRANSITIVE = frozenset(_TRANSITIVE.split())


def titled(text: str) -> bool:
    """Whether a line is written like a heading, with capitals throughout."""
    words = [word for word in text.split() if word[0].isalpha() and len(word) > 3]
    return sum(word[0].isupper() for word in words) > 0.6 * len(words)


def names(text: str, context: Context) -> list[re.Match[str]]:
    """Capitalised runs that are names: of one word not where a sentence begins, never a word that is often small."""
    found = []
    for match in NAME.finditer(text):
        first = match[0].split()[0]
        opens = match.start() == 0 or OPENS.search(text[: match.start()][-3:]) is not None
        if first in NO_NAME or (opens and " " not in match[0]) or len(match[0]) < 3:
            continue
        if text[match.end() : match.end() + 2].strip()[:1].isdigit():  # a label such as Hub 3
            continue
        if any(context.small[word.lower()] < RARE for word in match[0].split() if word[0].isupper()):
            found.append(match)
    return found


def kind(name: str, text: str) -> str:
    """Person, place, organisation, people or other: a guess from the words around the name in the context."""
    if ORGANISED.search(name) or name.isupper():
        return "organisation"
    if PEOPLES.match(name):
        return "people"
    here = re.escape(name)
    if re.search(rf"\b{TITLED} {here}\b|\b{here}(?:,? who\b| {SPEAKING}\b)", text):
        return "person"
    if re.search(rf"\b(?:in|near|outside|throughout|moved to|city of|born in) {here}\b", text):
        return "place"
    return f"other {min(2, name.count(' '))}"


def name(sentence: str, context: Context, draw: Random) -> Planted | None:
    """A name for another name of the context, of the same kind; headings are left alone."""
    if titled(sentence):
        return None
    pool = sorted({found[0] for one in context.sentences if not titled(one) for found in names(one, context)})
    own = names(sentence, context)
    draw.shuffle(own)
    for found in own:
        was = found[0]
        if sentence.count(was) > 1:
            continue
        sort = kind(was, context.text)
        others = [new for new in pool if _apart(was, new, sentence, context) and kind(new, context.text) == sort]
        draw.shuffle(others)
        for now in others:
            text = sentence[: found.start()] + now + sentence[found.end() :]
            if not said_elsewhere(text, now, sentence, context):
                return Planted(text, was, now)
    return None


def _apart(was: str, now: str, sentence: str, context: Context) -> bool:
    """Whether two names share no word and no initials, and are not given as two names of one thing."""
    mine, its = set(was.lower().split()), set(now.lower().split())
    if mine & its or now in sentence or was.lower() in now.lower() or now.lower() in was.lower() or was[:4] == now[:4]:
        return False
    initials = {"".join(word[0] for word in one.split() if word[0].isupper()).lower() for one in (was, now)}
    if initials & {was.lower().replace(".", ""), now.lower().replace(".", "")}:
        return False
    link = r",? ?\(?(?:or|also known as|formerly|aka)? ?"
    first, last = re.escape(was), re.escape(now)
    return re.search(f"{first}{link}{last}|{last}{link}{first}", context.text) is None


def roles(sentence: str, context: Context, draw: Random) -> Planted | None:
    """Two names of one kind on the two sides of a verb that is not symmetric change places."""
    own = names(sentence, context)
    pairs = list(pairwise(own))
    draw.shuffle(pairs)
    for first, last in pairs:
        between = sentence[first.end() : last.start()]
        inside = between.split()
        if not 1 <= len(inside) <= 6 or "," in between or {"and", "or", "by", "with", "was", "were"} & set(inside):
            continue
        if kind(first[0], context.text) != kind(last[0], context.text) or not TRANSITIVE & set(inside):
            continue
        if first[0] in last[0] or last[0] in first[0] or sentence[last.end() : last.end() + 4] in (" and", ", an"):
            continue
        text = sentence[: first.start()] + last[0] + between + first[0] + sentence[last.end() :]
        return Planted(text, f"{first[0]} … {last[0]}", f"{last[0]} … {first[0]}")
    return None
