"""`/sets`, `/sets/S/V` and `/sets/S/diff`: the test sets of the store, and what changed between their versions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ragauge.core.errors import UnknownName, UsageError
from ragauge.dashboard.site import Address, ListPage, NoSuchPage, Site, Table, parse_number, parse_options
from ragauge.rendering.lists import ServedLinks, encode_set_name, format_query
from ragauge.rendering.writers.html import render_sections
from ragauge.testsets.curate.tables import build_example_row, build_list_sections, build_set_sections, encode_set
from ragauge.testsets.curate.verb import (
    SetDiff,
    diff_stored_sets,
    list_stored_sets,
    load_stored_examples,
    load_stored_set,
)
from ragauge.testsets.tables import build_difference_sections, list_differences

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

PAGE_SIZE = 50  # examples of a page
MAX_DIFFERENCES = 200  # examples of a difference


@dataclass(frozen=True)
class SetPage:
    """A version of a set."""

    site: Site  #: what is served.
    data: Any  #: what the store knows of it.
    turn: int  #: page of its examples, from 1.

    @property
    def value(self) -> dict[str, Any]:
        """Every number, and a page of the examples."""
        return encode_set(self.data)

    def html(self) -> str:
        """The page."""
        about, root = self.data.about, self.site.root
        links = ServedLinks(root, self.data.run)
        here, last = links.link("set", about.name, about.version), -(-about.n // PAGE_SIZE)
        return self.site.render(
            "list.html",
            "sets",
            title=f"{about.name or 'unnamed set'} ({about.version})",
            sections=render_sections(build_set_sections(self.data), links, 1),
            above=[(f"{root}/sets", "Sets")],
            before=here + (format_query({"page": str(self.turn - 1)}) if self.turn > 2 else "")
            if self.turn > 1
            else "",
            behind=here + format_query({"page": str(self.turn + 1)}) if self.turn < last else "",
        )


@dataclass(frozen=True)
class DiffPage:
    """What changed between two versions of a set."""

    site: Site  #: what is served.
    diff: SetDiff  #: added, removed and changed examples.

    @property
    def value(self) -> Any:
        """Every change."""
        return self.diff.data

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
            title=f"Changes in {differs.new or 'an unnamed set'}",
            sections=render_sections(build_difference_sections(differs, max_rows=MAX_DIFFERENCES), links, 1),
        )


def _find_set_name(site: Site, address_part: str) -> str:
    """The set that a part of an address names.

    Raises:
        NoSuchPage: there is none; the nearest names are in the text.
    """
    names = list(dict.fromkeys(set_version.name for set_version in list_stored_sets(store=site.store)))
    set_name = next((name for name in names if encode_set_name(name) == quote(address_part, safe="")), None)
    if set_name is None:
        raise NoSuchPage(str(UnknownName("set", address_part, names)))
    return set_name


def build_page(site: Site, params: QueryParams) -> ListPage:
    """The list of sets."""
    parse_options(params, ())
    return ListPage(site, "sets", "Sets", list_stored_sets(store=site.store), build_list_sections)


def build_table(site: Site, params: QueryParams) -> Table:
    """A row a version."""
    rows = [asdict(set_version) for set_version in build_page(site, params).value]
    return list(rows[0]) if rows else [], rows


def build_set_page(site: Site, params: QueryParams, name: str, version: str) -> SetPage:
    """The version of a set that an address names.

    Raises:
        NoSuchPage: no such set or version.
        UsageError: a page that is no number, or that the set does not have.
    """
    turn = parse_number(parse_options(params, ("page",)), "page", 1, 1)
    loaded_set = _read_or_refuse(
        lambda: load_stored_set(
            _find_set_name(site, name), version, first=(turn - 1) * PAGE_SIZE, limit=PAGE_SIZE, store=site.store
        )
    )
    if turn > max(1, -(-loaded_set.about.n // PAGE_SIZE)):
        raise UsageError(f"no page {turn}: the set has {loaded_set.about.n:,} examples, {PAGE_SIZE} per page.")
    return SetPage(site, loaded_set, turn)


def _read_or_refuse(read: Any) -> Any:
    """What is read; of what is not there, the page that says so."""
    try:
        return read()
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def build_examples_table(site: Site, params: QueryParams, name: str, version: str) -> Table:
    """Every example of a version, whatever the page."""
    parse_options(params, ("page",))
    examples = _read_or_refuse(lambda: load_stored_examples(_find_set_name(site, name), version, store=site.store))
    rows = [dict(build_example_row(example)) for example in examples]
    return list(dict.fromkeys(column for row in rows for column in row)), rows


def build_diff_page(site: Site, params: QueryParams, name: str) -> DiffPage:
    """What changed between two versions of a set; without `old` since the version before, without `new` to the newest.

    Raises:
        NoSuchPage: no such set.
        UsageError: no such version, or none before.
    """
    options = parse_options(params, ("old", "new"))
    set_name = _find_set_name(site, name)
    return DiffPage(site, diff_stored_sets(set_name, options.get("old", ""), options.get("new", ""), store=site.store))


def build_diff_table(site: Site, params: QueryParams, name: str) -> Table:
    """A row an added or removed example, and a field that changed."""
    rows = list(list_differences(build_diff_page(site, params, name).value))
    return ["query_id", "what", "before", "now"], rows


ADDRESSES = (
    Address("/sets", build_page, "All versions of all eval sets.", table=build_table),
    Address(
        "/sets/{name:text}/diff", build_diff_page, "What changed between two versions of a set.", table=build_diff_table
    ),
    Address(
        "/sets/{name:text}/{version}",
        build_set_page,
        "One version of a set: labels, runs, examples, and what it can detect.",
        table=build_examples_table,
    ),
)
