"""Whether two names may be of one thing."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

_NICKNAMES = """
william bill will billy|robert bob rob bobby|richard dick rick|james jim jimmy|john jack johnny|thomas tom
tommy|michael mike|joseph joe|charles charlie chuck|edward ed ted eddie|elizabeth liz beth betty eliza|
margaret maggie peggy meg|katherine kate kathy catherine cathy|david dave|daniel dan danny|samuel sam|benjamin
ben|anthony tony|christopher chris|alexander alex|andrew andy|steven steve stephen|matthew matt|nicholas
nick|patricia pat patty|jennifer jen jenny|timothy tim|gregory greg|kenneth ken|ronald ron|lawrence larry|
frederick fred|theodore ted teddy|susan sue|deborah debbie|us usa america american|uk britain british england|
eu europe european|holland netherlands dutch|france french|spain spanish|germany german|italy italian|ireland
irish|china chinese|japan japanese|greece greek|wales welsh|poland polish|burma myanmar|bombay mumbai|
calcutta kolkata|peking beijing|saigon minh|ny york|la angeles|dc washington
"""
NICKNAMES: dict[str, frozenset[str]] = {}
for _line in _NICKNAMES.replace("\n", " ").split("|"):
    _names = frozenset(_line.split())
    for _name in _names:
        NICKNAMES[_name] = NICKNAMES.get(_name, frozenset()) | _names
MISSPELLED = 0.8      # likeness from which on two words are two spellings of one
SHORTEST = 4          # letters of a name that another may begin with


@lru_cache(maxsize=2_048)
def same_name(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names, each as its folded words, may be of one thing.

    One may be a part of the other, its initials, a nickname, an inflected form or another spelling.

    >>> same_name(("barack", "obama"), ("obama",)), same_name(("bbc",), ("british", "broadcasting", "corporation"))
    (True, True)
    >>> same_name(("john", "smith"), ("mary", "smith")), same_name(("j", "smith"), ("john", "smith"))
    (False, True)
    """
    if "".join(one) == "".join(other):
        return True
    mine = [word for word in one if word not in other]
    its = [word for word in other if word not in one]
    if not mine or not its:
        return True
    if _initials(one) == "".join(other) or _initials(other) == "".join(one):
        return True
    if _initials(mine) == "".join(its) or _initials(its) == "".join(mine):
        return True
    shorter, longer = sorted((mine, its), key=len)
    shared = len(mine) < len(one)
    return all(any(_alike(word, there, shared=shared) for there in longer) for word in shorter)


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words)


def _alike(one: str, other: str, *, shared: bool) -> bool:
    """Whether two words may be one; an initial counts where the names share another word."""
    if other in NICKNAMES.get(one, ()):
        return True
    shorter, longer = sorted((one, other), key=len)
    if ((shared and len(shorter) == 1) or len(shorter) >= SHORTEST) and longer.startswith(shorter):
        return True
    if shorter.isdigit() or len(shorter) < SHORTEST or one[0] != other[0]:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= MISSPELLED
