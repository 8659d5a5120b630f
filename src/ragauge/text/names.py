"""Names: capitalised words and sequences, acronyms, codes, addresses and titles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from ragauge.text.dates import MONTHS
from ragauge.text.marks import Mark
from ragauge.text.stopwords import ENGLISH, OPENERS, PARTICLES, TITLES, WEEKDAYS
from ragauge.text.units import SHORT_SCALES, UNITS

ADDRESS = re.compile(r"https?://[^\s<>\"）」]+|www\.[^\s<>\"）」]+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+")
CJK_TITLE = re.compile(r"《([^《》\n]{1,80})》")
ACRONYM = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){2,}(?:[^\W\d_](?![^\W_]))?")
PIECE = re.compile(r"[^\W_]+")
OPENING = re.compile(r"(?:^|[\n.!?:…。！？•|>*#\"“«(\[]|[-–—] |[\"'”’)\]] )[\s\"'“‘«(\[*_#]*$")
LOWER = re.compile(r"[a-zà-ÿ]")
LONGEST_SHOUT = 3
CAPITALS_END = 0x2FFF     # beyond lie scripts without capitals


def _pattern(capital: str) -> re.Pattern[str]:
    word = rf"{capital}[\w]*(?:['’&.\-‑/](?=\w)[\w]+)*"
    gap = r"[ \u00a0]"
    title = r"(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Sen|Rep|Gov|Lt|Col|Capt)\.)"
    part = rf"(?:{title}|{capital}\.(?={gap}?{capital})|{word})"
    link = rf"{gap}(?:(?:{'|'.join(PARTICLES)}|of(?:{gap}the)?){gap}){{0,2}}|{gap}&{gap}|(?<=\.)(?={capital})"
    return re.compile(rf"{part}(?:(?:{link}){part})*")


ASCII = _pattern("[A-Z]")


@cache
def _unicode() -> re.Pattern[str]:
    """The pattern for capitals of every script; built when a text first needs it."""
    capitals = "".join(chr(c) for c in range(CAPITALS_END) if chr(c).isupper() or unicodedata.category(chr(c)) == "Lt")
    return _pattern(f"[{capitals}]")


def find(text: str, *, nouns_capitalised: bool) -> Iterator[Mark]:
    """The names in a text, in order.

    Args:
        text: any text.
        nouns_capitalised: as in German; then a single capitalised word is no name.
    """
    taken = []
    if "://" in text or "www." in text or "@" in text:
        for found in ADDRESS.finditer(text):
            end = found.start() + len(found[0].rstrip(".,;:!?)'*]"))
            taken.append((found.start(), end))
            yield Mark("name", found.start(), end, canonical(text[found.start() : end]))
    if "《" in text:
        for found in CJK_TITLE.finditer(text):
            taken.append((found.start(1), found.end(1)))
            yield Mark("name", found.start(1), found.end(1), canonical(found[1]))
    seen = _Seen(text)
    for found in (ASCII if text.isascii() else _unicode()).finditer(text):
        start, end = _whole_word(text, found.start()), found.end()
        if any(a < end and start < b for a, b in taken):
            continue
        mark = _name(text, start, end, seen, nouns_capitalised=nouns_capitalised)
        if mark is not None:
            yield mark


class _Seen:
    """Words that occur with a small letter, and those capitalised inside a sentence; made when first asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._inside: set[str] | None = None

    def capitalised_inside(self, word: str) -> bool:
        """Whether the word occurs capitalised where position does not ask for it."""
        if self._inside is None:
            pattern = ASCII if self._text.isascii() else _unicode()
            self._inside = {
                part
                for found in pattern.finditer(self._text)
                for n, part in enumerate(PIECE.findall(found[0]))
                if n or not opens(self._text, found.start())
            }
        return word in self._inside


def opens(text: str, at: int) -> bool:
    """Whether a sentence, a line or a quotation begins here, as far as can be seen without splitting the text."""
    return OPENING.search(text, max(0, at - 12), at) is not None if at else True


def _whole_word(text: str, start: int) -> int:
    """The word's first letter: a capital may stand inside (iPhone, 5G)."""
    while start and (text[start - 1].isalnum() or text[start - 1] == "_") and ord(text[start - 1]) < 0x0E00:
        start -= 1
    return start


def _name(text: str, start: int, end: int, seen: _Seen, *, nouns_capitalised: bool) -> Mark | None:
    words = [(start + m.start(), m[0]) for m in re.finditer(r"[^\s]+", text[start:end])]
    first = opens(text, start)
    while len(words) > 1 and (words[0][1].lower().rstrip(".") in TITLES or _opener(words[0][1])):
        first = False
        words = words[1:]
        while words and words[0][1] in PARTICLES | {"of", "the", "&"}:
            words = words[1:]
    if not words:
        return None
    start = words[0][0]
    end = _without_tail(text, start, end)
    body = text[start:end]
    normal = canonical(body)
    if len(normal) < 2:
        return None
    if len(words) == 1:
        return _single(text, start, end, normal, seen, first=first, nouns_capitalised=nouns_capitalised)
    if len(words) > LONGEST_SHOUT and not LOWER.search(body):
        return None
    return Mark("name", start, end, normal)


def _opener(word: str) -> bool:
    return word.lower() in ENGLISH or word.lower() in OPENERS


def _without_tail(text: str, start: int, end: int) -> int:
    for tail in ("'s", "’s"):
        if text[start:end].endswith(tail):
            return end - 2
    return end


def _single(
    text: str, start: int, end: int, normal: str, seen: _Seen, *, first: bool, nouns_capitalised: bool
) -> Mark | None:
    body = text[start:end]
    marked = any(c.isdigit() for c in body) or any(c.isupper() for c in body[1:])
    if text[max(0, start - 2) : start].rstrip()[-1:].isdigit() and body.lower() in UNITS:
        return None
    if not marked:
        if nouns_capitalised or normal in WEEKDAYS or normal in MONTHS or _opener(body):
            return None
        if first and not seen.capitalised_inside(body):
            return None
    elif body.isupper() and _shouted(text, start, end):
        return None
    elif body[0].isdigit() and _measure(body.lstrip("0123456789")):
        return None
    return Mark("name", start, end, normal)


def _measure(glued: str) -> bool:
    return glued != "G" and (glued.lower() in UNITS or glued.lower() in SHORT_SCALES or glued[:1] in "-:.,/%")


def _shouted(text: str, start: int, end: int) -> bool:
    """Whether the line is written in capitals throughout."""
    line = text[text.rfind("\n", max(0, start - 80), start) + 1 or max(0, start - 80) : end + 80].partition("\n")[0]
    letters = [c for c in line if c.isalpha()]
    return len(letters) > 20 and all(c.isupper() for c in letters)


@lru_cache(maxsize=65_536)
def canonical(name: str) -> str:
    """A name for comparing: words in small letters without accents, a space between; dots of acronyms left out.

    >>> canonical("ACME Corp."), canonical("U.S."), canonical("São  Paulo"), canonical("X-200")
    ('acme corp', 'us', 'sao paulo', 'x 200')
    """
    return " ".join(pieces(name))


def pieces(text: str) -> list[str]:
    """The folded words that names are compared by."""
    return PIECE.findall(fold(_undotted(text)))


def written(text: str) -> list[str]:
    """The words that names are looked for among, as written."""
    return PIECE.findall(_undotted(text))


def _undotted(text: str) -> str:
    return ACRONYM.sub(lambda found: found[0].replace(".", "") + " ", text)


def fold(text: str) -> str:
    """Small letters without accents, compatible characters made the same; marks of other scripts are kept."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", re.sub(r"[\u0300-\u036f]", "", decomposed)).casefold()
