"""Where links lead: ids of a page that stands alone, or addresses where pages are served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

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
        self._pointed: dict[tuple[object, ...], str] = {}

    def add(self, kind: str, *names: object) -> str:
        """The id of a thing that the page holds; the same when it is asked for again."""
        key = (kind, *names)
        if key not in self._ids:
            plain = (re.sub(r"[^A-Za-z0-9_]+", "-", str(name))[:MOST].strip("-") or "none" for name in names)
            wanted = anchor = "-".join((kind, *plain))
            count = 1
            while anchor in self._taken:
                count += 1
                anchor = f"{wanted}-{count}"
            self._taken.add(anchor)
            self._ids[key] = anchor
        return self._ids[key]

    def link(self, kind: str, *names: object) -> str:
        """A link to a thing; "" when the page does not hold it."""
        anchor = self._ids.get((kind, *names))
        return self._pointed.get((kind, *names), "") if anchor is None else f"#{anchor}"

    def point(self, kind: str, *names: object, at: str) -> None:
        """Lets a thing that has no place of its own be found where something else is."""
        self._pointed[kind, *names] = at


class ServedLinks:
    """Addresses of things where pages are served, below an address that every page shares.

    Args:
        root: the address, without a slash at its end.
        run_id: of the run that the things are of.

    >>> links = ServedLinks("/ragauge", "r1")
    >>> links.link("ex", "q 1", 0), links.link("def", "recall@5"), links.link("bin", "recall@5", 3)
    ('/ragauge/runs/r1/examples/q%201?repeat=0', '/ragauge/metrics/recall%405', '')
    """

    PATHS: Mapping[str, str] = {     # kind -> path, with a place for each name
        "def": "/metrics/{}", "run": "/runs/{}", "ex": "/runs/{run}/examples/{}?repeat={}",
        "cause": "/runs/{run}/examples?cause={}", "seg": "/runs/{run}/examples?segment.{}={}",
        "low": "/runs/{run}/examples?sort={}",
    }     # fmt: skip

    def __init__(self, root: str, run_id: str) -> None:
        self._root, self._run = root, quote(run_id, safe="")

    def link(self, kind: str, *names: object) -> str:
        """The address of a thing; "" for one that has no page."""
        path = self.PATHS.get(kind)
        return "" if path is None else self._root + path.format(*(quote(str(n), safe="") for n in names), run=self._run)
