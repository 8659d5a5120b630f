"""Ids of the page: what a link can land on."""

from __future__ import annotations

import re

MOST = 40     # characters of a name that an id repeats


class Anchors:
    """Hands out ids, so that no two things share one and no link leads nowhere.

    A thing is named by its kind and its names, which may hold anything; its id is made of letters, digits, hyphens
    and underscores.

    >>> anchors = Anchors()
    >>> anchors.add("bin", "recall@5", 3), anchors.add("bin", "recall 5", 3)
    ('bin-recall-5-3', 'bin-recall-5-3-2')
    >>> anchors.link("bin", "recall@5", 3), anchors.link("bin", "mrr", 3)
    ('#bin-recall-5-3', '')
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[object, ...], str] = {}
        self._taken: set[str] = set()

    def add(self, kind: str, *names: object) -> str:
        """The id of a thing that the page holds; the same when it is asked for again."""
        key = (kind, *names)
        if key not in self._ids:
            plain = (re.sub(r"[^A-Za-z0-9_]+", "-", str(name))[:MOST].strip("-") or "none" for name in names)
            wanted = found = "-".join((kind, *plain))
            count = 1
            while found in self._taken:
                count += 1
                found = f"{wanted}-{count}"
            self._taken.add(found)
            self._ids[key] = found
        return self._ids[key]

    def link(self, kind: str, *names: object) -> str:
        """A link to a thing; "" when the page does not hold it."""
        found = self._ids.get((kind, *names))
        return "" if found is None else f"#{found}"
