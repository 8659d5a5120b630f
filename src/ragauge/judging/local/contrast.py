"""Where two short statements say nearly the same and one thing differs: a number, a date, a name, a negation."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.judging.local.conflicts import EXACT, conflict
from ragauge.judging.local.index import Mode, carries_content, indexed, units_of
from ragauge.judging.local.overlap import wanted
from ragauge.text.specifics import Kind, Specific, find
from ragauge.text.tokens import stem, words

NAME: tuple[Kind, ...] = ("name",)
_NEGATIONS = "not no never neither nor none without cannot nobody nothing hardly"
NEGATIONS = frozenset(_NEGATIONS.split())
SAME = 0.8     # share of the shorter statement's content that the longer one holds
ALIKE = 0.8    # share of the longer one's that the shorter holds


def contrast(claim: str, reference: str, mode: Mode) -> str:
    """What differs between near-copies, in words; "" where nothing plainly does.

    >>> contrast("The lid is not made of steel.", "The lid is made of steel.", "words")
    'one is negated'
    >>> contrast("Ada wrote the manual in Porto.", "Ada wrote the manual in Leeds.", "words")
    "'Porto' against 'Leeds'"
    """
    return _number(claim, reference, mode) or _name(claim, reference, mode) or _negation(claim, reference, mode)


def _number(claim: str, reference: str, mode: Mode) -> str:
    """One number differs, and but for it one statement holds all of the other.

    Where two differ, or each has a word that the other has not, they speak of different things: Hub 2 and 24 hours,
    Hub 3 and 72 hours.
    """
    own = find(claim, EXACT)
    mine, theirs = _content(claim, "", mode), _content(reference, "", mode)
    apart = [{unit for unit in rest if not unit[0].isdigit()} for rest in (mine - theirs, theirs - mine)]
    if all(apart) or _changed(own, find(reference, EXACT)) != 1:
        return ""
    for segment in indexed(reference, mode).segments:
        found = conflict(claim, wanted(claim, mode), own, reference, segment)
        if found is not None:
            return f"{found.claim!r} against {found.passage!r}"
    return ""


def _changed(mine: Sequence[Specific], theirs: Sequence[Specific]) -> int:
    """How many numbers and dates stand on both sides with other values."""
    ours, others = ({one.normal for one in side} for side in (mine, theirs))
    return min(len(ours - others), len(others - ours))


def _name(claim: str, reference: str, mode: Mode) -> str:
    mine, theirs = find(claim, NAME), find(reference, NAME)
    only_mine = [one for one in mine if not _holds(reference, one.normal)]
    only_theirs = [one for one in theirs if not _holds(claim, one.normal)]
    if len(only_mine) != 1 or len(only_theirs) != 1:
        return ""
    rest = _content(claim, only_mine[0].text, mode)
    if len(rest) < 2 or rest != _content(reference, only_theirs[0].text, mode):
        return ""
    return f"{only_mine[0].text!r} against {only_theirs[0].text!r}"


def _negation(claim: str, reference: str, mode: Mode) -> str:
    if mode != "words" or _negated(claim) == _negated(reference):
        return ""
    mine, theirs = _content(claim, "", mode) - NEGATIONS, _content(reference, "", mode) - NEGATIONS
    shorter, longer = sorted((mine, theirs), key=len)
    both = len(shorter & longer)
    if len(shorter) < 2 or both < SAME * len(shorter) or both < ALIKE * len(longer):
        return ""
    return "one is negated"


def _negated(text: str) -> bool:
    return sum(word in NEGATIONS or word.endswith("n't") for word in words(text)) % 2 == 1


def _content(text: str, without: str, mode: Mode) -> set[str]:
    left = set(units_of(without, mode))
    found = {unit for unit in units_of(text, mode) if carries_content(unit, mode)} - left
    return {unit for unit in found if not unit.endswith("n't")}


def _holds(text: str, name: str) -> bool:
    there = {stem(word) for word in words(text)}
    return any(stem(word) in there for word in words(name))
