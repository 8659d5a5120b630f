"""A page as a browser would read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

import pytest

from ragauge.evaluation.scorecard.html import render_report
from ragauge.scores.results.scorecard import ScorecardData

VOID = {"meta", "br", "wbr", "link", "hr", "img", "input"}


class Node:
    """One element: its tag, attributes, children and text in order."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes = tag, attributes
        self.parts: list[Node | str] = []

    def all(self, *tags: str) -> Iterator[Node]:
        for part in self.parts:
            if isinstance(part, Node):
                if not tags or part.tag in tags:
                    yield part
                yield from part.all(*tags)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def with_class(self, name: str) -> list[Node]:
        return [node for node in self.all() if name in node.classes]

    def by_id(self) -> dict[str, Node]:
        counted = Counter(node.attributes["id"] for node in self.all() if "id" in node.attributes)
        assert [found for found, count in counted.items() if count > 1] == []
        return {node.attributes["id"]: node for node in self.all() if "id" in node.attributes}

    def check_links(self) -> None:
        ids = self.by_id()
        links = [node.attributes["href"] for node in self.all("a") if "href" in node.attributes]
        assert links
        assert {link for link in links if not link.startswith("#") or link[1:] not in ids} == set()
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", found) for found in ids)
        named = {node.attributes["aria-labelledby"] for node in self.all() if "aria-labelledby" in node.attributes}
        assert named <= set(ids)

    def check_closed(self) -> None:
        """No script, handler, style attribute or address outside the page."""
        assert not {"script", "iframe", "img", "object", "link", "form", "base", "use", "image", "foreignobject"} & {
            node.tag for node in self.all()
        }
        for node in self.all():
            for name, value in node.attributes.items():
                assert not name.startswith("on"), name
                assert name not in ("style", "src", "srcset", "srcdoc", "action", "xlink:href"), name
                assert "//" not in value or name == "aria-label", (name, value)
        (style,) = self.all("style")
        assert "url(" not in style.text
        assert "@import" not in style.text


class Tree(HTMLParser):
    """Reads a page into nodes; an element that is never closed or closed wrongly fails the test."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("page", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert [node.tag for node in self.open] == ["page"], "elements left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice on {tag}"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


@pytest.fixture
def tree() -> Callable[[ScorecardData], Node]:
    """Makes the page of a scorecard and reads it."""
    return lambda card: Tree(render_report(card)).root


@pytest.fixture(scope="module")
def pages() -> dict[int, Node]:
    """Pages made already, by number of examples."""
    return {}


@pytest.fixture
def page(whole: Callable[[int], ScorecardData], tree: Callable[[ScorecardData], Node], pages: dict[int, Node]) -> Node:
    """The page of a full scorecard of 60 examples, made once a module."""
    if 60 not in pages:
        pages[60] = tree(whole(60))
    return pages[60]
