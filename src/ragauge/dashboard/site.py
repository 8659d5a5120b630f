"""What all pages share: store, addresses, frame and forms; and a page that is one list."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ragauge.comparison.history.verb import MAX_NOTE_CHARS
from ragauge.core.errors import RagaugeError, StoreError, UnknownName, UsageError, find_nearest
from ragauge.core.json_keys import format_json
from ragauge.core.messages import format_command, format_duration
from ragauge.dashboard.security import Access
from ragauge.evaluation.overview.verb import open_baseline_run
from ragauge.evaluation.runs.run_rows import RunPaces
from ragauge.evaluation.runs.verb import OpenRun, open_run
from ragauge.evaluation.scorecard import html as report
from ragauge.evaluation.scorecard.page_cache import ChartCache, PageCache
from ragauge.rendering.charts.svg import render_with_cache
from ragauge.rendering.lists import ServedLinks, format_query
from ragauge.rendering.sections import ReportSection
from ragauge.rendering.writers.html import render_sections

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.datastructures import QueryParams


# path and name of what the head of every page leads to
SECTIONS = (
    ("", "Overview"),
    ("runs", "Runs"),
    ("history", "History"),
    ("sets", "Sets"),
    ("studies", "Studies"),
    ("judges", "Judges"),
    ("label", "Labels"),
    ("glossary", "Glossary"),
)
MONITOR = ("monitor", "Monitor")
MAX_NEAREST = 5  # names of runs in a refusal
JSON = "application/json"
HTML = "text/html; charset=utf-8"
Table = tuple[list[str], list[dict[str, Any]]]  # columns and rows of a page's other forms


@dataclass(frozen=True)
class Address:
    """One page."""

    path: str  #: with the names of its parts in braces.
    page: Callable[..., Any]  #: makes what it shows from the site, the parts of the path and what is asked for.
    about: str  #: of it, in the schema.
    schema: str = ""  #: of its JSON form; "" where there is none.
    table: Callable[..., Any] | None = None  #: makes columns and all rows of its other forms; None where it has none.


class NoSuchPage(RagaugeError):  # noqa: N818 - what happened
    """An address that shows nothing, such as that of a run that is not there."""


class AddressMoved(RagaugeError):  # noqa: N818 - what happened
    """What an address asks for has an address of its own: the same path, and this behind it."""


def get_status(error: RagaugeError) -> int:
    """The status of an answer that an error ends."""
    if isinstance(error, NoSuchPage):
        return 404
    return 400 if isinstance(error, UsageError) else 503 if isinstance(error, StoreError) else 500


@cache
def get_environment() -> Environment:
    """Where pages are rendered: the report's templates, in the frame of what is served."""
    from jinja2 import ChoiceLoader, PackageLoader

    made = report.get_environment()
    made = made.overlay(loader=ChoiceLoader([PackageLoader("ragauge.dashboard"), PackageLoader("ragauge.rendering")]))
    made.globals.update(
        quoted=lambda name: quote(str(name), safe=""),
        question=format_query,
        clock=format_duration,
        command=format_command,
    )
    return made


@cache
def load_static_files() -> Mapping[str, tuple[str, bytes]]:
    """What pages load beside themselves: name -> content type and bytes."""
    sheet = report.read_style_sheet()[0] + get_environment().get_template("served.css").render()
    script = (resources.files("ragauge.dashboard") / "static" / "ui.js").read_bytes()
    return {"ui.css": ("text/css; charset=utf-8", sheet.encode()), "ui.js": ("text/javascript; charset=utf-8", script)}


@cache
def hash_static_files() -> str:
    """What the addresses of these change with, so that a browser may keep them."""
    return hashlib.sha256(b"".join(body for _, body in load_static_files().values())).hexdigest()[:12]


@dataclass(frozen=True)
class Site:
    """One store as it is served."""

    store: str  #: URL of the store.
    access: Access  #: who may ask.
    exported: bool = False  #: the pages become files, where no form is sent.
    regression_set: str = ""  #: path of the set that examples are added to from a page; "" = none is named.
    config: Path | None = None  #: the file with the section monitor; None = ragauge.yaml, where there is one.
    watching: bool = False  #: this server takes traces in, so that monitors are shown before the first has come.
    #: how fast runs in flight moved while somebody watched.
    paces: RunPaces = field(default_factory=RunPaces, compare=False, repr=False)
    #: held while verdicts are made that a list went without.
    filling: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @property
    def root(self) -> str:
        """What every address begins with."""
        return self.access.base_path

    @cached_property
    def served(self) -> PageCache:
        """The store as all pages read it."""
        return PageCache(self.store)

    def why_not_ready(self) -> str:
        """Why the store cannot be read; "" = it can be."""
        try:
            with self.served.open_page():
                return ""
        except RagaugeError as error:
            return str(error)

    def list_sections(self, *, watched: bool) -> list[tuple[str, str]]:
        """Address and name of what the head of every page leads to; monitors where there is traffic to watch."""
        return [(f"{self.root}/{path}", name) for path, name in (*SECTIONS, *((MONITOR,) if watched else ()))]

    def run(self, name: str) -> OpenRun:
        """The run that an address names.

        Raises:
            NoSuchPage: there is none; the nearest names are in the text.
        """
        return self._open_or_refuse(open_run, "run", name)

    def base(self, name: str) -> OpenRun:
        """The run that an address holds others against: by a baseline's name, else as `run`.

        Raises:
            NoSuchPage: there is none; the nearest names are in the text.
        """
        return self._open_or_refuse(open_baseline_run, "baseline or run", name)

    def _open_or_refuse(self, opening: Callable[..., OpenRun], kind: str, name: str) -> OpenRun:
        try:
            return opening(name, store=self.store)
        except UnknownName as error:  # the few names that are most like it, and where all are
            nearest_names = ", ".join(find_nearest(error.name, error.known, MAX_NEAREST))
            near = f"{'; nearest: ' if nearest_names else ''}{nearest_names}. All are listed on {self.root}/runs."
            raise NoSuchPage(f"no {kind} {name[:200]!r}{near}") from error
        except UsageError as error:
            raise NoSuchPage(str(error)) from error

    def build_links(self, run: OpenRun, options: Mapping[str, str] | None = None) -> ServedLinks:
        """Where what a page of a run shows leads; `options` is kept in the addresses of its examples."""
        return ServedLinks(self.root, run.run.run_id, options)

    def example(self, run_id: str, query_id: str, repeat: int) -> str:
        """The address of one example of a run."""
        return ServedLinks(self.root, run_id).example(query_id, repeat)

    def render(self, template: str, here: str, **values: Any) -> str:
        """A page of its own template, or one of a report's, in the frame of what is served.

        Args:
            template: its name.
            here: the path of the section that it belongs to.
            values: what it shows.
        """
        frame: dict[str, Any] = {
            "frame": "served.html",
            "root": self.root,
            "here": f"{self.root}/{here}",
            "digest": hash_static_files(),
            "csrf": self.access.csrf,
            "read_only": self.access.read_only,
            "now": "",
            "manage": None,
            "most_note": MAX_NOTE_CHARS,
            "exported": self.exported,
            "told": "",
            "regression_set": self.regression_set,
            "live": None,
            "logs_out": self.access.needs_token,
        }
        if "sections_of_site" not in values:
            frame["sections_of_site"] = self.list_sections(watched=self._has_monitor())
        return get_environment().get_template(template).render({**frame, **values})

    def _has_monitor(self) -> bool:
        return not self.exported and (self.watching or self.served.has_traffic())

    def shown(self, page: Callable[[], str]) -> str:
        """A page with its charts, each drawn once for all who look at it."""
        return render_with_cache(ChartCache(self.store), page)

    def get_or_render(self, key: Hashable, page: Callable[[], str]) -> str:
        """A page with its charts that was made before under this key, as all pages of this site have it.

        Args:
            key: which page, with all that it is made of, or counts of the writes that could change that.
            page: makes it.
        """
        return self.served.get_or_build(key, lambda: self.shown(page))

    def render_refusal(self, status: int, why: str, login: str = "", *, plain: bool = False) -> tuple[str, str]:
        """Content type and body of what was refused or went wrong."""
        if plain:
            return JSON, format_json({"status": status, "error": why})
        template = "login.html" if login else "refused.html"
        header_sections = self.list_sections(watched=False)  # without a look into the store, which may be what is wrong
        return HTML, self.render(template, "", status=status, why=why, to=login, sections_of_site=header_sections)


def require_known(kind: str, name: str, known_names: Iterable[str]) -> None:
    """Holds an address to what there is.

    Raises:
        NoSuchPage: the name is none of those known; the nearest ones are in the text.
    """
    names = list(known_names)
    if name not in names:
        raise NoSuchPage(str(UnknownName(kind, name, names)))


def parse_options(
    params: QueryParams, known_keys: Sequence[str], begins: Sequence[str] = (), many: Sequence[str] = ()
) -> dict[str, str]:
    """What an address asks for, checked; a key without a value counts as left out, as forms send it.

    Args:
        params: key -> value.
        known_keys: keys that the page has.
        begins: beginnings of further keys, such as "segment.".
        many: keys that may have several values, which are left to the page.

    Raises:
        UnknownName: another key; the nearest ones are in the text.
        UsageError: a key that stands there twice with different values.
    """
    options: dict[str, str] = {}
    for key, value in params.multi_items():
        if key in many:
            continue
        if key not in known_keys and not (key.startswith(tuple(begins)) and key not in begins):
            raise UnknownName("query parameter", key, (*known_keys, *many, *(f"{begin}NAME" for begin in begins)))
        if value and options.setdefault(key, value) != value:
            raise UsageError(f"{key} appears twice in the address, as {options[key]!r} and {value!r}. Leave one out.")
    return options


def parse_number(options: Mapping[str, str], key: str, minimum: int, otherwise: int) -> int:
    """The number that an address gives for a key; `otherwise` where it is left out.

    Raises:
        UsageError: no number, one below `minimum`, or one of ten digits and more.
    """
    value = options.get(key, str(otherwise))
    if key in options and not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) >= minimum):
        raise UsageError(
            f"{key}: expected a number of at least {minimum}, got {value[:40]!r}. Write {key}={max(1, minimum)}."
        )
    return int(value)


@dataclass(frozen=True)
class ListPage:
    """Everything of a kind."""

    site: Site  #: what is served.
    here: str  #: path of the section of the site that it belongs to.
    title: str  #: its heading.
    value: Any  #: what is listed, the newest first.
    sections: Callable[[Any], Iterable[ReportSection]]  #: makes the list of it.
    #: address and name of the page that leads to it; () = the head of every page does.
    above: tuple[tuple[str, str], ...] = ()

    def html(self) -> str:
        """The page."""
        rendered = render_sections(self.sections(self.value), ServedLinks(self.site.root, ""))
        return self.site.render("list.html", self.here, title=self.title, sections=rendered, above=self.above)
