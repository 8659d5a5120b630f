"""The dashboard as files: the same pages, with links from file to file, for an archive or a static server."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urljoin

from ragauge.core.errors import RagaugeError
from ragauge.core.messages import format_count
from ragauge.dashboard.site import SECTIONS, Site
from ragauge.evaluation.runs.verb import runs
from ragauge.rendering.lists import format_query
from ragauge.verbs.files import write_text

if TYPE_CHECKING:
    from starlette.types import ASGIApp

FIRST_ADDRESSES = ("/", *(f"/{path}" for path, _ in SECTIONS if path))
LINK = re.compile(r' (href|src)="([^"]*)"')
MAX_NAMED_PAGES = 5  # pages that could not be made, named
MAX_SLUG_CHARS = 40  # characters of a name that a file's name repeats


@dataclass
class Export:
    """Pages on their way to files.

    Args:
        app: which answers for the pages.
        chosen: ids of the runs whose pages are written -> version of the set that each is over.
        limit: examples of each run at most.
    """

    app: ASGIApp
    chosen: Mapping[str, str]
    limit: int
    files: dict[str, str] = field(default_factory=dict)  #: address -> its file, of all pages that are written.
    _todo: deque[str] = field(default_factory=deque)
    _examples: Counter[str] = field(default_factory=Counter)

    def write(self, folder: Path) -> int:
        """Writes every page that the first ones lead to; returns how many.

        Raises:
            UsageError: the folder cannot be made, or a file in it not be written.
            RagaugeError: pages were refused, or ended in a fault; every other page is written before.
        """
        for address in FIRST_ADDRESSES:
            self.find_file(address)
        n_done, dead = 0, []
        while self._todo:
            address = self._todo.popleft()
            status, body = asyncio.run(request_page(self.app, address))
            if status != 200:
                dead.append(f"{address} answered {status}")
                continue
            here = self.files[address]
            text = (
                body.decode() if here.endswith((".css", ".js")) else self._rewrite_links(body.decode(), address, here)
            )
            write_text(folder / here, text)
            n_done += 1
        if dead:
            named_pages = dead[:MAX_NAMED_PAGES]
            more = f" and {len(dead) - len(named_pages):,} more" if len(dead) > len(named_pages) else ""
            raise RagaugeError(
                f"wrote {format_count(n_done, 'file')} to {folder}, but {format_count(len(dead), 'page')} could not "
                f"be written: {'; '.join(named_pages)}{more}. Links to them are broken. Open these addresses in "
                "`ragauge ui` to see why."
            )
        return n_done

    def _rewrite_links(self, text: str, address: str, here: str) -> str:
        """A page whose links lead to files; a link to what is not written is none.

        Lists of examples lead to each other in every combination of filters: those that reports lead to are written.
        """
        of_list = "/examples?" in address

        def replace_link(match: re.Match[str]) -> str:
            name, to = match[1], unescape(match[2])
            if to.startswith("#"):
                return match[0]
            target, sign, fragment = urljoin(address, to).partition("#")
            file = self.files.get(target, "") if of_list and "/examples?" in target else self.find_file(target)
            return f' {name}="{escape(_relative_link(file, here) + sign + fragment)}"' if file else ""

        return LINK.sub(replace_link, text)

    def find_file(self, address: str) -> str:
        """The file that an address is written to, which it then is; "" for what is not written."""
        path, _, asked_for = address.partition("?")
        keys = dict(parse_qsl(asked_for, keep_blank_values=True))
        path_parts = [unquote(path_part) for path_part in path.split("/")[1:]]
        if (
            path_parts[:1] == ["runs"] and len(path_parts) > 3 and path_parts[2] == "examples"
        ):  # once, whichever list leads to it
            keys = {name: value for name, value in keys.items() if name in ("repeat", "judge")}
        address = path + format_query(keys)
        if address not in self.files:
            if not self._is_exported(path_parts, keys):
                return ""
            self.files[address] = _build_file_name(path, path_parts, format_query(keys))
            self._todo.append(address)
        return self.files[address]

    def _is_exported(self, path_parts: list[str], keys: dict[str, str]) -> bool:
        """Whether a page is written: those of the chosen runs, and what is about all."""
        match path_parts:
            case ["static", _, _] | ["glossary", *_] | ["history"]:
                return True
            case [""] | ["runs"] | ["sets"] | ["label"] | ["studies" | "judges", *_]:
                return not keys
            case ["sets", _, "diff"]:
                return set(keys) == {"old", "new"} and set(keys.values()) <= set(self.chosen.values())
            case ["sets", _, version]:
                return version in self.chosen.values() and not keys
            case ["compare"]:
                return set(keys) == {"base", "new"} and set(keys.values()) <= self.chosen.keys()
            case ["runs", run_id] | ["runs", run_id, "examples"]:
                return run_id in self.chosen and "page" not in keys
            case ["runs", run_id, "examples", *_] if run_id in self.chosen and self._examples[run_id] < self.limit:
                self._examples[run_id] += 1
                return True
        return False


def _build_file_name(path: str, path_parts: list[str], asked_for: str) -> str:
    """The name of a file: readable, safe everywhere, and no other address's."""
    if path_parts[0] == "static":
        return f"static/{path_parts[-1]}"
    if path_parts == [""]:
        return "index.html"
    safe_parts = [
        re.sub(r"[^A-Za-z0-9_-]+", "-", path_part)[:MAX_SLUG_CHARS].strip("-") or "page" for path_part in path_parts
    ]
    exact = not asked_for and safe_parts == path_parts
    mark = "" if exact else f"-{hashlib.sha256((path + asked_for).encode()).hexdigest()[:10]}"
    return f"{'/'.join(safe_parts)}{mark}.html"


def _relative_link(file: str, here: str) -> str:
    return quote(os.path.relpath(file, Path(here).parent).replace(os.sep, "/"))


async def request_page(app: ASGIApp, address: str) -> tuple[int, bytes]:
    """Status and body of what an application answers, without a network."""
    path, _, asked_for = address.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": asked_for.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"accept", b"text/html")],
        "client": None,
        "server": ("localhost", 80),
    }
    status, body_parts = 500, []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        body_parts.append(message.get("body", b""))

    try:
        await app(scope, receive, send)
    except Exception:  # an application passes its fault on after it has answered 500
        return 500, b"".join(body_parts)
    return status, b"".join(body_parts)


def export_pages(site: Site, app: ASGIApp, folder: Path, names: tuple[str, ...], limit: int) -> int:
    """Writes the pages of some runs into a folder; returns how many files there are.

    Args:
        site: what is written.
        app: which answers for its pages.
        folder: where; it is made.
        names: of the runs; () = the newest ones.
        limit: runs at most where none is named, and examples of each.

    Raises:
        NoSuchPage: no such run.
        UsageError: the folder cannot be written to.
    """
    exported_runs = [site.run(name).run for name in names] or runs(limit=limit, store=site.store)
    return Export(app, {run.run_id: run.set_version for run in exported_runs}, limit).write(folder)
