"""Files that an exporter appends to: every line is taken once, however often the server is killed."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import BinaryIO

from ragauge.core.errors import StoreError
from ragauge.monitoring.intake import lines
from ragauge.monitoring.intake.bodies import MEBIBYTE, UNPACKED, Refused
from ragauge.monitoring.intake.body_parser import Sent, Taken, Taking
from ragauge.store.inbox import Batch, Patience, TailPlace
from ragauge.store.store_access import Store

PIECE = 4 * MEBIBYTE  # bytes that are read and kept at a time
HEAD = 1024  # bytes by which a file is known again


@dataclass(frozen=True, slots=True)
class _WholeLines:
    """The next whole lines of a file."""

    body: bytes
    after: TailPlace


class GrowingFile:
    """A file of JSON lines that grows: requests of OTLP/JSON (spans, log records), or responses.

    How far it was read is kept with what it held, in one transaction. A file that another one has taken the place of is
    read to its end under its new name, where that begins with the old one's stem and is in the same folder; then those
    that took its place and were renamed before they were looked at.

    Args:
        store: with the inbox.
        path: of the file; it need not be there yet.
        taking: reads lines.
        patience: how long a trace waits for more.
        say: told what is left out.

    Attributes:
        path: of the file, as it was named.
    """

    def __init__(
        self, store: Store, path: Path, taking: Taking, patience: Patience, say: Callable[[str], None]
    ) -> None:
        self._store, self.path, self._path = store, path, path.absolute()
        self._taking, self._patience, self._say = taking, patience, say

    def read(self) -> int:
        """Takes the whole lines that have come; returns how many bytes."""
        name, taken = str(self._path), 0
        while True:
            before = self._store.inbox.tail(name)
            piece = self._next(before)
            if piece is None:
                return taken
            batches = self._batches(piece.body, before.offset)
            self._store.inbox.add_tail(name, before, piece.after, batches, self._patience)
            taken += len(piece.body)

    def _next(self, before: TailPlace) -> _WholeLines | None:
        """What is to be taken next; None where nothing has come. Of a file that was replaced its last lines first."""
        try:
            here = self._path.open("rb")
        except FileNotFoundError:
            here = None
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror}.") from error
        if here is not None:
            with here:
                if _is(here, before):
                    return _piece(here, before)
        if here is None and not before.head:
            return None
        old = self._renamed(before)
        for path in () if old is None else (old, *self._between(old)):
            with path.open("rb") as there:
                piece = _piece(there, before if path == old else TailPlace(), whole=here is not None)
            if piece is not None or here is None:
                return piece
        if here is None:
            return None
        if old is None:
            self._say(
                f"{self._path} is another file now, and the one before it is not found beside it: "
                "what came into that after it was read last is not taken."
            )
        return _WholeLines(b"", TailPlace())

    def _renamed(self, before: TailPlace) -> Path | None:
        """The file that was read up to a place, under another name beside it."""
        for path in sorted(self._path.parent.glob(f"{escape(self._path.stem)}*")):
            if path != self._path and path.is_file():
                with path.open("rb") as file:
                    if _is(file, before):
                        return path
        return None

    def _between(self, old: Path) -> list[Path]:
        """The files that stood here after one that was read, the oldest first: by the number or time in their names."""
        mine = self._rotated(old)
        if mine is None:
            return []
        beside = self._path.parent.glob(f"{escape(self._path.stem)}*")
        found = [(place, path) for path in beside if (place := self._rotated(path)) is not None]
        return [path for place, path in sorted(found) if place[0] == mine[0] and place > mine]

    def _rotated(self, path: Path) -> tuple[bool, int, str] | None:
        """Where a file comes among those that were renamed, the oldest first; None = its name is none of a rotation.

        Of `spans.jsonl` these are spans.jsonl.2, spans.jsonl.1, and spans-2026-01-31T10-00-00.000.jsonl, with the time.
        """
        stem, ending = re.escape(self._path.stem), re.escape(self._path.suffix)
        if match := re.fullmatch(rf"{stem}{ending}\.(\d{{1,6}})", path.name):
            return True, -int(match[1]), ""
        if match := re.fullmatch(rf"{stem}(?:{ending})?[-.](\d[\dTZ:._-]*?)(?:{ending})?", path.name):
            return False, 0, match[1]
        return None

    def _batches(self, body: bytes, offset: int) -> list[Batch]:
        """What lines hold; those that cannot be read are left out, and the user is told."""
        batches: list[Batch] = []
        responses: list[bytes] = []
        wrong: list[str] = []
        for line in body.splitlines(keepends=True):
            offset += len(line)
            taken, why = self._taken(line)
            if taken is None and not why:
                responses.append(line)
            elif taken is not None and taken.batch is not None:
                batches.append(taken.batch)
            if why:
                wrong.append(f"the line that ends at byte {offset:,}: {why}")
        if responses:
            taken = self._taking.responses(Sent("json", b"".join(responses), time.time(), ""))
            batches += [taken.batch] if taken.batch is not None else []
        if wrong:
            verb = "is" if len(wrong) == 1 else "are"
            self._say(f"{self._path}: left out {verb} {lines.several(wrong)}.")
        return batches

    def _taken(self, line: bytes) -> tuple[Taken | None, str]:
        """What a line of OTLP holds, and why something of it is left out; (None, "") = it is a response, or empty."""
        if not line.strip():
            return None, ""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            return None, f"it is no JSON ({str(error)[:100]})"
        if not isinstance(row, Mapping):
            return None, lines.no_response(row)
        ways = {
            "resourceSpans": self._taking.traces,
            "resourceLogs": self._taking.logs,
            "resourceMetrics": self._taking.metrics,
        }
        take = next((way for key, way in ways.items() if key in row), None)
        if take is None:
            return None, lines.no_response(row)
        try:
            taken = take(Sent("json", line, time.time(), ""))
        except Refused as refused:
            return None, refused.why.rstrip(".")
        return taken, taken.left.first


def _is(file: BinaryIO, place: TailPlace) -> bool:
    """Whether a file is the one that was read up to a place."""
    file.seek(0)
    head = file.read(min(HEAD, place.offset))
    return _head(head) == place.head and file.seek(0, 2) >= place.offset


def _head(first: bytes) -> str:
    return hashlib.sha256(first).hexdigest()[:32] if first else ""


def _piece(file: BinaryIO, before: TailPlace, *, whole: bool = False) -> _WholeLines | None:
    """The whole lines after a place, some megabytes at most; with `whole` a last line without its end is one too.

    A line of more than 64 MiB is cut there: neither part can be read, and both are told.
    """
    file.seek(before.offset)
    body, end = b"", 0
    while not end and len(body) < UNPACKED:
        more = file.read(PIECE)
        body += more
        end = body.rfind(b"\n") + 1
        if not more:
            break
    end = end or (len(body) if whole or len(body) >= UNPACKED else 0)
    if not end:
        return None
    offset = before.offset + end
    file.seek(0)
    return _WholeLines(body[:end], TailPlace(offset, _head(file.read(min(HEAD, offset)))))
