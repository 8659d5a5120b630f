"""Files that were read before: known again by their bytes, so that a repeated command reads nothing twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ragauge.core.response import Run
from ragauge.store.store_access import Store

FileState = tuple[int, int, int]


@dataclass
class SourceFiles:
    """The files of a source, as they are before they are read."""

    paths: Sequence[Path]  #: of them.
    digest: bytes  #: hash of their bytes and of everything that decides what is read from them.
    states: Sequence[FileState]  #: number, size and time of change of each.
    warn: Callable[[str], None]  #: receives what reading them tells.
    messages: list[str] = field(default_factory=list, init=False)  #: that.

    @classmethod
    def of(cls, items: Sequence[Any], how: Sequence[object], warn: Callable[[str], None]) -> SourceFiles | None:
        """The files of a source; None where a part of it is a folder or no file.

        Args:
            items: paths, or anything else.
            how: what else decides what is read from them, as JSON types.
            warn: as above.
        """
        from ragauge.core.identity import to_canonical_json

        if not all(isinstance(item, str | Path) and Path(item).is_file() for item in items):
            return None
        paths = [Path(item) for item in items]
        try:
            states = [_read_state(path) for path in paths]
            shas = [_compute_sha(path) for path in paths]
        except OSError:
            return None  # the reader says what is wrong
        content = to_canonical_json([_hash_readers().hex(), *how, shas]).encode("utf-8", "surrogatepass")
        return cls(paths, hashlib.sha256(content).digest(), states, warn)

    def add_warning(self, message: str) -> None:
        """Hands a warning on."""
        self.messages.append(message)
        self.warn(message)

    def before(self, store: Store, name: str) -> Run | None:
        """The run that they became before, now called by this name too; what reading them told is told again."""
        run = store.imports.find_import(self.digest, name)
        if run is None:
            return None
        for message in run.warnings:
            self.warn(message)
        return run.run

    def save_run(self, store: Store, run: Run) -> None:
        """Keeps that these files are this run, unless one changed meanwhile."""
        if [_read_state(path) for path in self.paths if path.is_file()] == self.states:
            store.imports.save_import(self.digest, run.run_id, self.messages)


def _read_state(path: Path) -> FileState:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _compute_sha(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _hash_readers() -> bytes:
    """Hash of the code that reads: another version may read something else from the same bytes."""
    import ragauge.readers

    folder, digest = Path(ragauge.readers.__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()
