"""Lines appended to a file that several processes may share, durable when written, rotated when large."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

NEWLINE = b"\n"


class RotatingLines:
    """A file that lines are appended to.

    Each batch is one write at the end of the file, so that lines of several processes do not mix, and it is on disk
    when `append` returns. A file that would grow beyond the limit is renamed to NAME.TIME-PROCESS.ENDING first.

    Args:
        path: its folder is made where it is missing.
        most_bytes: of one file; a single batch may be larger.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path, self._most = path, most_bytes
        self._file: int | None = None

    def append(self, lines: Sequence[str]) -> None:
        """Writes the lines.

        Raises:
            OSError: nothing of the batch is in the file, or as little as could not be taken back.
        """
        data = b"".join(line.encode("utf-8", "replace") + NEWLINE for line in lines)
        file = self._opened(len(data))
        start = os.fstat(file).st_size
        if start and not _ends_line(self._path, start):     # a line that a crash cut short must not spoil the next
            data = NEWLINE + data
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
            os.fsync(file)
        except OSError:
            with suppress(OSError):
                if written and os.fstat(file).st_size == start + written:     # nobody else wrote meanwhile
                    os.ftruncate(file, start)
            self.close()
            raise

    def close(self) -> None:
        """Closes the file; the next line opens it again."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _opened(self, more: int) -> int:
        """The file that the path names now: another process may have rotated it."""
        if self._file is not None and not self._still_there(self._file):
            self.close()
        if self._file is None:
            self._file = self._open()
        size = os.fstat(self._file).st_size
        if size and size + more > self._most:
            self._path.rename(self._rotated())
            self.close()
            self._file = self._open()
        return self._file

    def _open(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def _still_there(self, file: int) -> bool:
        try:
            named = self._path.stat()
        except OSError:
            return False
        mine = os.fstat(file)
        return (named.st_ino, named.st_dev) == (mine.st_ino, mine.st_dev)

    def _rotated(self) -> Path:
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        return self._path.with_name(f"{self._path.stem}.{time}-{os.getpid()}{self._path.suffix}")


def _ends_line(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == NEWLINE
