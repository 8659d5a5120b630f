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
from ragauge.core.messages import plural
from ragauge.dashboard.site import SECTIONS, Site
from ragauge.evaluation.runs.verb import runs
from ragauge.rendering.lists import question
from ragauge.verbs.files import write_text

if TYPE_CHECKING:
    from starlette.types import ASGIApp

FIRST = ("/", *(f"/{path}" for path, _ in SECTIONS if path))
LINK = re.compile(r' (href|src)="([^"]*)"')
MOST_DEAD = 5  # pages that could not be made, named
SLUG = 40  # characters of a name that a file's name repeats


@dataclass
class Export:
    """Pages on their way to files.

    Args:
        app: which answers for the pages.
        chosen: ids of the runs whose pages are written -> version of the set that each is over.
        limit: examples of each run at most.

    Attributes:
        files: address -> its file, of all pages that are written.
    """

    app: ASGIApp
    chosen: Mapping[str, str]
    limit: int
    files: dict[str, str] = field(default_factory=dict)
    _todo: deque[str] = field(default_factory=deque)
    _examples: Counter[str] = field(default_factory=Counter)

    def write(self, folder: Path) -> int:
        """Writes every page that the first ones lead to; returns how many.

        Raises:
            UsageError: the folder cannot be made, or a file in it not be written.
            RagaugeError: pages were refused, or ended in a fault; every other page is written before.
        """
        for address in FIRST:
            self.file_of(address)
        done, dead = 0, []
        while self._todo:
            address = self._todo.popleft()
            status, body = asyncio.run(asked(self.app, address))
            if status != 200:
                dead.append(f"{address} answered {status}")
                continue
            here = self.files[address]
            text = body.decode() if here.endswith((".css", ".js")) else self._rewritten(body.decode(), address, here)
            write_text(folder / here, text)
            done += 1
        if dead:
            shown = dead[:MOST_DEAD]
            more = f" and {len(dead) - len(shown):,} more" if len(dead) > len(shown) else ""
            raise RagaugeError(
                f"wrote {plural(done, 'file')} to {folder}, but {plural(len(dead), 'page')} could not be made: "
                f"{'; '.join(shown)}{more}. Links to them lead nowhere. Open these addresses in `ragauge ui`, which "
                "says why."
            )
        return done

    def _rewritten(self, text: str, address: str, here: str) -> str:
        """A page whose links lead to files; a link to what is not written is none.

        Lists of examples lead to each other in every combination of filters: those that reports lead to are written.
        """
        of_list = "/examples?" in address

        def link(found: re.Match[str]) -> str:
            name, to = found[1], unescape(found[2])
            if to.startswith("#"):
                return found[0]
            target, sign, part = urljoin(address, to).partition("#")
            file = self.files.get(target, "") if of_list and "/examples?" in target else self.file_of(target)
            return f' {name}="{escape(_relative(file, here) + sign + part)}"' if file else ""

        return LINK.sub(link, text)

    def file_of(self, address: str) -> str:
        """The file that an address is written to, which it then is; "" for what is not written."""
        path, _, asked_for = address.partition("?")
        keys = dict(parse_qsl(asked_for, keep_blank_values=True))
        parts = [unquote(part) for part in path.split("/")[1:]]
        if parts[:1] == ["runs"] and len(parts) > 3 and parts[2] == "examples":  # once, whichever list leads to it
            keys = {name: value for name, value in keys.items() if name in ("repeat", "judge")}
        address = path + question(keys)
        if address not in self.files:
            if not self._wanted(parts, keys):
                return ""
            self.files[address] = _file(path, parts, question(keys))
            self._todo.append(address)
        return self.files[address]

    def _wanted(self, parts: list[str], keys: dict[str, str]) -> bool:
        """Whether a page is written: those of the chosen runs, and what is about all."""
        match parts:
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


def _file(path: str, parts: list[str], asked_for: str) -> str:
    """The name of a file: readable, safe everywhere, and no other address's."""
    if parts[0] == "static":
        return f"static/{parts[-1]}"
    if parts == [""]:
        return "index.html"
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "-", part)[:SLUG].strip("-") or "page" for part in parts]
    exact = not asked_for and plain == parts
    mark = "" if exact else f"-{hashlib.sha256((path + asked_for).encode()).hexdigest()[:10]}"
    return f"{'/'.join(plain)}{mark}.html"


def _relative(file: str, here: str) -> str:
    return quote(os.path.relpath(file, Path(here).parent).replace(os.sep, "/"))


async def asked(app: ASGIApp, address: str) -> tuple[int, bytes]:
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
    status, parts = 500, []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        parts.append(message.get("body", b""))

    try:
        await app(scope, receive, send)
    except Exception:  # an application passes its fault on after it has answered 500
        return 500, b"".join(parts)
    return status, b"".join(parts)


def export(site: Site, app: ASGIApp, folder: Path, names: tuple[str, ...], limit: int) -> int:
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
    found = [site.run(name).run for name in names] or runs(limit=limit, store=site.store)
    return Export(app, {one.run_id: one.set_version for one in found}, limit).write(folder)
