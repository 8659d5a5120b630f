"""`/sets`, `/sets/S/V` and `/sets/S/diff`: the test sets of the store, and what changed between their versions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ragauge.core.errors import UnknownName, UsageError
from ragauge.dashboard.list_page import ListPage
from ragauge.dashboard.site import NoSuchPage, Site, Table, asked_of, number_of
from ragauge.rendering.lists import ServedLinks, question, set_part
from ragauge.rendering.writers.html import sections_html
from ragauge.testsets.curate.set_inventory import stored_examples, stored_set, stored_set_diff, stored_sets
from ragauge.testsets.curate.tables import example_row, list_sections, set_sections, set_value
from ragauge.testsets.curate.verb import SetDiff
from ragauge.testsets.tables import difference_rows, difference_sections

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LIMIT = 50  # examples of a page
MOST = 200  # examples of a difference


@dataclass(frozen=True)
class SetPage:
    """A version of a set.

    Attributes:
        site: what is served.
        found: what the store knows of it.
        turn: page of its examples, from 1.
    """

    site: Site
    found: Any
    turn: int

    @property
    def value(self) -> dict[str, Any]:
        """Every number, and a page of the examples."""
        return set_value(self.found)

    def html(self) -> str:
        """The page."""
        about, root = self.found.about, self.site.root
        links = ServedLinks(root, self.found.run)
        here, last = links.link("set", about.name, about.version), -(-about.n // LIMIT)
        return self.site.render(
            "list.html",
            "sets",
            title=f"{about.name or 'set without a name'} ({about.version})",
            sections=sections_html(set_sections(self.found), links, 1),
            above=[(f"{root}/sets", "Sets")],
            before=here + (question({"page": str(self.turn - 1)}) if self.turn > 2 else "") if self.turn > 1 else "",
            behind=here + question({"page": str(self.turn + 1)}) if self.turn < last else "",
        )


@dataclass(frozen=True)
class DiffPage:
    """What changed between two versions of a set.

    Attributes:
        site: what is served.
        found: added, removed and changed examples.
    """

    site: Site
    found: SetDiff

    @property
    def value(self) -> Any:
        """Every change."""
        return self.found.found

    def html(self) -> str:
        """The page."""
        differs, links = self.value, ServedLinks(self.site.root, "")
        above = [(f"{self.site.root}/sets", "Sets")]
        above += [
            (links.link("set", name, version), version)
            for name, version in ((differs.old, differs.old_version), (differs.new, differs.new_version))
        ]
        return self.site.render(
            "list.html",
            "sets",
            above=above,
            title=f"What changed in {differs.new or 'a set without a name'}",
            sections=sections_html(difference_sections(differs, most=MOST), links, 1),
        )


def _named(site: Site, part: str) -> str:
    """The set that a part of an address names.

    Raises:
        NoSuchPage: there is none; the nearest names are in the text.
    """
    names = list(dict.fromkeys(one.name for one in stored_sets(store=site.store)))
    found = next((name for name in names if set_part(name) == quote(part, safe="")), None)
    if found is None:
        raise NoSuchPage(str(UnknownName("set", part, names)))
    return found


def page(site: Site, given: QueryParams) -> ListPage:
    """The list of sets."""
    asked_of(given, ())
    return ListPage(site, "sets", "Sets", stored_sets(store=site.store), list_sections)


def table(site: Site, given: QueryParams) -> Table:
    """A row a version."""
    rows = [asdict(one) for one in page(site, given).value]
    return list(rows[0]) if rows else [], rows


def one(site: Site, given: QueryParams, name: str, version: str) -> SetPage:
    """The version of a set that an address names.

    Raises:
        NoSuchPage: no such set or version.
        UsageError: a page that is no number, or that the set does not have.
    """
    turn = number_of(asked_of(given, ("page",)), "page", 1, 1)
    found = _there(
        lambda: stored_set(_named(site, name), version, first=(turn - 1) * LIMIT, limit=LIMIT, store=site.store)
    )
    if turn > max(1, -(-found.about.n // LIMIT)):
        raise UsageError(f"page {turn}: the set has {found.about.n:,} examples, {LIMIT} a page.")
    return SetPage(site, found, turn)


def _there(read: Any) -> Any:
    """What is read; of what is not there, the page that says so."""
    try:
        return read()
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def examples_table(site: Site, given: QueryParams, name: str, version: str) -> Table:
    """Every example of a version, whatever the page."""
    asked_of(given, ("page",))
    held = _there(lambda: stored_examples(_named(site, name), version, store=site.store))
    rows = [dict(example_row(example)) for example in held]
    return list(dict.fromkeys(column for row in rows for column in row)), rows


def diff(site: Site, given: QueryParams, name: str) -> DiffPage:
    """What changed between two versions of a set; without `old` since the version before, without `new` to the newest.

    Raises:
        NoSuchPage: no such set.
        UsageError: no such version, or none before.
    """
    asked = asked_of(given, ("old", "new"))
    found = _named(site, name)
    return DiffPage(site, stored_set_diff(found, asked.get("old", ""), asked.get("new", ""), store=site.store))


def diff_table(site: Site, given: QueryParams, name: str) -> Table:
    """A row an added or removed example, and a field that changed."""
    rows = list(difference_rows(diff(site, given, name).value))
    return ["query_id", "what", "before", "now"], rows
