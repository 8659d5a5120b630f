"""Of whom a sentence speaks: the fact of one is no support for a claim about another."""

from __future__ import annotations

from collections.abc import Collection

from ragauge.judging.local.index import Indexed
from ragauge.judging.local.items import Item, items, seen
from ragauge.judging.local.name_match import same_name
from ragauge.judging.local.overlap import Overlap

Name = tuple[str, ...]


def named(claim: str, known: Collection[str]) -> list[Name]:
    """The names of a claim in order, each as its folded words.

    Args:
        claim: the claim.
        known: words that have a capital inside a sentence elsewhere: what opens the claim may be one of them.
    """
    return [one.parts for one in items(claim) if _is_name(one, known)]


def about_another(claim: str, one: Overlap, text: str, passage: Indexed) -> bool:
    """Whether the sentence that holds most of a claim says it of somebody else.

    It does when it begins with a name that the claim does not have, a date before it aside, and a name of the claim is
    not in the window around it. A sentence that begins without a name may go on about whom the one before named.
    """
    if not one.one:
        return False
    known = seen(text)[0]
    segment = passage.segments[one.closest]
    row = items(text[segment.start : segment.end])
    first = next((item for item in row if _is_name(item, known) or (item.content and item.kind == "word")), None)
    if first is None or not _is_name(first, known):
        return False
    own = named(claim, known | seen(claim)[0])
    if not own or any(same_name(name, first.parts) for name in own):
        return False
    around = [item.parts for item in (*row, *items(text[one.start : one.end])) if _is_name(item, known)]
    return any(not any(same_name(name, other) for other in around) for name in own)


def _is_name(one: Item, known: Collection[str]) -> bool:
    return one.kind == "name" or (one.capital and one.parts[0] in known)
