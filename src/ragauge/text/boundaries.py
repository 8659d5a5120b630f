"""Sentence ends that are not a Latin full stop before a space, and full stops that end no sentence."""

from __future__ import annotations

import re

from ragauge.text.alphabets import UNSPACED

CLOSING = "」』】〉》）)\\]\"”’»'"
# ideographic, Arabic and Urdu, Devanagari, Armenian, Ethiopic, Myanmar, Khmer, Tibetan
ENDERS = "。！？｡؟۔।॥։።။៕។།"
STOP = re.compile(rf"[{ENDERS}]+[{CLOSING}]*(?!\s*[{ENDERS}])")
GLUED = re.compile(rf"(?<=[{UNSPACED}])[.!?]+[{CLOSING}]*(?=[{UNSPACED}])")
PLACEHOLDER = re.compile(r"[=<>(,|&+]\s?\?[)\s]*$|\s\?\?\s*$")     # id = ?, f(?, a ?? b: code, and no question
TERNARY = re.compile(r"\s[^\s:?][^:?]{0,60}\s:\s")               # a ? b : c
FOOTNOTED = re.compile(r"(?<=[.!?])(?:[¹²³⁰⁴-⁹]+|【[^】\n]{1,40}】)+(?=\s)")
GREEK_QUESTION = re.compile(r"(?<=[Ͱ-Ͽἀ-῿])[;\u037e](?=\s)")
QUOTED_ON = re.compile(r"\s*(?:と|って|という)")     # 「…。」 and the sentence goes on
SPACE_ENDED = re.compile(r"(?<=[\u0e00-\u0eff])[ \u00a0]+(?=[\u0e00-\u0eff])")     # Thai and Lao
SHORTEST_SPACE_ENDED = 10

MONTH = re.compile(
    r"(?:jan|feb|m[aä]r|apr|ma[ijy]|jun|jul|aug|sep|okt|oct|nov|de[cz]|sty|lut|kwi|cze|lip|sie|wrz|pa[zź]|lis|gru)"
    r"\w*\b",
    re.IGNORECASE,
)
GERMAN_LEAD = re.compile(r"\b(?:am|der|dem|den|im|vom|zum|zur|seit|ab)\s+\d{1,2}\.$", re.IGNORECASE)
ENUMERATOR = re.compile(r"(?:^|[.!?:;])\s*\(?\d{1,2}\.$")
_BEFORE_ANYTHING = """
z.b. d.h. u.a. i.d.r. z.t. v.a. bzw. nr. vgl. evtl. ggf. zzgl. prof.
sr. sra. srta. dra. dr. d. págs. núm. p.ej. ee.uu. avda. mme. mlle. m. p.ex. sig. dott. avv. mevr. dhr. bijv. d.w.z.
t.ex. bl.a. d.v.s. m.in. tzn. tj. np. bkz. yrd. doç. т.е. т.к. см. рис. डॉ. प्रो. श्री.
"""
_BEFORE_SMALL = """
ca. str. abs. art. ud. uds. pág. aprox. av. env. éd. chap. pag. ecc. n.b. o.a. enz. m.fl. s.k. itp. itd. ul. vb. örn.
г. гг. в. вв. им. ул. т.д. т.п. др. руб. млн. млрд. тыс. u.s.w. usw. etc.
"""
# before a capital, only these are left to the model: it has learnt "cancer" and "century" as abbreviations too
_LEFT_TO_MODEL = """
mr mrs messrs mme mlle drs prof rev hon pres gov sen rep gen col maj capt cmdr cdr sgt cpl pvt brig adm ste esq supt
insp dir asst assoc atty ing dept univ inst acad natl int intl proc soc assn bros inc corp ltd llc plc mfg viz etc
approx est fig figs eqs eqn nos vol vols chap sec sect eds ref refs art arts app appx para ser supp suppl tab def cit
jan feb mar apr jun jul aug sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd hwy apt bldg rte
ala ariz ark calif colo conn fla ill ind kan mich minn miss mont neb nev okla ore penn tenn tex wash wis wyo mass del
biol chem phys med sci clin eng math econ hist psychol surg pharm spp subsp var min max temp avg misc dist div exec
govt hosp lab lib mgr mus nat org phil pub tech trans treas ibid seq vgl
"""
LEFT_TO_MODEL = frozenset(_LEFT_TO_MODEL.split())
BEFORE_CAPITAL = re.compile(r"\.[\"'”’)\]]*(?=\s+[\"'“‘(\[]?([^\W\d_]))")
OPENING = "([\"'“‘„«"
ABBREVIATIONS = frozenset(_BEFORE_ANYTHING.split())
LOOSE_ABBREVIATIONS = frozenset(_BEFORE_SMALL.split())


def other_stops(piece: str) -> set[int]:
    """Offsets one past the sentence ends that are not written with a Latin full stop and a space."""
    stops = set()
    for match in STOP.finditer(piece):
        if match[0][-1] not in "」』" or not QUOTED_ON.match(piece, match.end()):
            stops.add(match.end())
    for pattern in (GLUED, FOOTNOTED, GREEK_QUESTION):
        stops.update(match.end() for match in pattern.finditer(piece))
    begin = 0
    for match in SPACE_ENDED.finditer(piece):
        if match.start() - begin >= SHORTEST_SPACE_ENDED:
            stops.add(match.end())
            begin = match.end()
    return stops


def plain_stops(piece: str) -> set[int]:
    """Offsets behind full stops that follow an ordinary word and stand before a capital.

    >>> plain_stops("It cures cancer. Nobody knew. Prof. Roe said so.")
    {16, 29}
    """
    stops = set()
    for match in BEFORE_CAPITAL.finditer(piece):
        before = piece[max(0, match.start() - 24) : match.start()]
        if not before[-1:].isalpha() or not match[1].isupper():
            continue
        word = before.rsplit(None, 1)[-1].lstrip(OPENING)
        ordinary = len(word) >= 5 or (len(word) >= 3 and word.islower())
        if ordinary and word.isalpha() and word.lower() not in LEFT_TO_MODEL:
            stops.add(match.end())
    return stops


def continues(piece: str, stop: int) -> bool:
    """Whether the mark before this offset ends no sentence: an abbreviation, an ordinal, a list number, code.

    >>> continues("Am 3. Januar kam er.", 6), continues("Das ist z.B. gut.", 13), continues("It is 3. It was.", 9)
    (True, True, False)
    >>> continues("WHERE id = ? AND b > 3", 12), continues("x ? y : z", 3), continues("Is it so? Yes.", 9)
    (True, True, False)
    """
    if stop >= len(piece):
        return False
    before = piece[max(0, stop - 24) : stop].rstrip()
    if before.endswith("?"):
        return PLACEHOLDER.search(before) is not None or (before.endswith(" ?") and _ternary(piece, stop))
    if not before.endswith("."):
        return False
    word = before.rsplit(None, 1)[-1].lstrip(OPENING).casefold()
    if word in ABBREVIATIONS:
        return True
    following = piece[stop : stop + 20].lstrip()
    small = following[:1].islower()
    if word in LOOSE_ABBREVIATIONS:
        return small or following[:1].isdigit()
    if len(word) > 3 or not word[:-1].isdigit():
        return False
    return bool(small or MONTH.match(following) or GERMAN_LEAD.search(before) or ENUMERATOR.search(before))


def _ternary(piece: str, stop: int) -> bool:
    return TERNARY.match(piece, len(piece[:stop].rstrip())) is not None
