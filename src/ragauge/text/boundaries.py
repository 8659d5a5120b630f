"""Where a sentence ends in scripts without a Latin full stop, and full stops that do not end one."""

from __future__ import annotations

import re

CLOSING = "」』】〉》）)\\]\"”’»'"
# ideographic, Arabic and Urdu, Devanagari, Armenian, Ethiopic, Khmer, Myanmar, Tibetan
STOP = re.compile(rf"[。！？｡؟۔।॥։።។။།]+[{CLOSING}]*(?!\s*[。！？｡؟۔।॥])")
QUOTED_ON = re.compile(r"\s*(?:と|って|という)")     # 「…。」と goes on
GREEK_QUESTION = re.compile(r"(?<=[Ͱ-Ͽἀ-῿])[;\u037e](?=\s)")
THAI_SPACE = re.compile(r"(?<=[\u0e00-\u0e7f])[ \u00a0]+(?=[\u0e00-\u0e7f])")
SHORTEST_THAI = 10

LAST_WORD = re.compile(r"(\S{1,20})\s*$")
ORDINAL = re.compile(
    r"(?:^|\s)(?:am|der|dem|den|die|das|des|im|vom|zum|zur|ab|bis|seit|und|d)?\s*\d{1,2}\.$", re.IGNORECASE
)
MONTH = re.compile(
    r"(?:jan|feb|m[aä]r|apr|ma[ijy]|jun|jul|aug|sep|okt|oct|nov|de[cz]|sty|lut|kwi|cze|lip|sie|wrz|pa[zź]|lis|gru)"
    r"\w*\b",
    re.IGNORECASE,
)
GERMAN_LEAD = re.compile(r"\b(?:am|der|dem|den|im|vom|zum|zur|seit|ab)\s+\d{1,2}\.$", re.IGNORECASE)
ABBREVIATIONS = frozenset(
    "z.b. d.h. u.a. u.u. o.ä. i.d.r. z.t. v.a. s.o. s.u. bzw. ca. nr. vgl. evtl. ggf. inkl. zzgl. str. abs. art. prof. "
    "sr. sra. srta. dra. dr. ud. uds. pág. págs. núm. p.ej. aprox. av. avda. ee.uu. "
    "mme. mlle. mgr. p.ex. env. éd. chap. "
    "sig. sig.ra dott. ing. avv. pag. pagg. es. ecc. n.b. "
    "dhr. mevr. bijv. o.a. d.w.z. enz. nl. "
    "t.ex. bl.a. d.v.s. m.fl. s.k. "
    "np. tj. tzn. m.in. itp. itd. ul. im. "
    "vb. örn. bkz. sn. yrd. doç.".split()
)


def other_stops(piece: str) -> set[int]:
    """Offsets one past the sentence ends that are not written with a Latin full stop."""
    stops = set()
    for match in STOP.finditer(piece):
        closed = match[0][-1] in "」』"
        if not (closed and QUOTED_ON.match(piece, match.end())):
            stops.add(match.end())
    stops.update(match.end() for match in GREEK_QUESTION.finditer(piece))
    begin = 0
    for match in THAI_SPACE.finditer(piece):
        if match.start() - begin >= SHORTEST_THAI:
            stops.add(match.end())
            begin = match.end()
    return stops


def continues(piece: str, stop: int) -> bool:
    """Whether the full stop before this offset belongs to an abbreviation or an ordinal number.

    >>> continues("Am 3. Januar kam er.", 6), continues("Das ist z.B. gut.", 13), continues("It is 3. It was.", 9)
    (True, True, False)
    """
    if stop >= len(piece):
        return False
    last = LAST_WORD.search(piece, max(0, stop - 40), stop)
    if last is None or not last[1].endswith("."):
        return False
    word = last[1].lstrip("([\"'“„«").casefold()
    if word in ABBREVIATIONS:
        return True
    if not word[:-1].isdigit() or len(word) > 3:
        return False
    before = piece[max(0, stop - 40) : last.end(1)]
    following = piece[stop : stop + 20].lstrip()
    return bool(MONTH.match(following) or following[:1].islower() or GERMAN_LEAD.search(before))
