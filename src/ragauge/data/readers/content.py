"""What a file of labels or rankings holds, as bytes and as lines, whatever it is packed in."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.data.readers.lines import BOM, PARQUET, decoded, opened
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl

GAP, FIELD = r"[ \t\r\f\v]+", r"[^ \t\r\f\v]+"      # blanks as trec_eval takes them: ASCII only


def is_parquet(path: Path) -> bool:
    """Whether the file starts as Parquet does; False where it cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.read(4) == PARQUET
    except OSError:
        return False


def read_bytes(path: Path) -> bytes:
    """The file's content, unpacked where it is gzip or zstandard (known by content) and without a byte order mark.

    Raises:
        DataError: no such file, a directory, not readable, empty, or packed data that is broken.
    """
    source = str(path)
    try:
        with opened(path) as file:
            content = file.read()
    except FileNotFoundError:
        raise DataError("there is no such file.", source=source) from None
    except IsADirectoryError:
        raise DataError("expected a file, found a directory.", source=source) from None
    except PermissionError:
        raise DataError("may not be opened: permission denied.", source=source) from None
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"the packed data is broken or cut short ({error}).", source=source) from None
    content = content.removeprefix(BOM)
    if not content[:4096].strip() and not content.strip():
        raise DataError("the file is empty.", source=source)
    return content


def check_text(content: bytes, source: str) -> None:
    """Refuses what is not UTF-8 text.

    Raises:
        DataError: with the line of the first byte that is not UTF-8.
    """
    at = content.find(b"\0")
    if at >= 0:
        problem = "expected UTF-8 text (or gzip, or Parquet), found binary data or UTF-16."
        raise DataError(problem, source=source, line=content.count(b"\n", 0, at) + 1)
    if content.isascii():
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        begin = content.rfind(b"\n", 0, error.start) + 1
        decoded(Path(source), content.count(b"\n", 0, begin) + 1, content[begin:].partition(b"\n")[0])


def first_line(content: bytes) -> str:
    """The first line that is not blank."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        line = content[start:end].strip()
        if line:
            return line.decode(errors="replace")
        start = end + 1
    return ""


def numbered_lines(content: bytes) -> pl.DataFrame:
    """Columns line (from 1) and text, blank lines left out."""
    import polars as pl

    lines = pl.DataFrame({"text": content.decode().split("\n")})
    return lines.with_row_index("line", 1).filter(pl.col("text").str.contains(r"\S"))
