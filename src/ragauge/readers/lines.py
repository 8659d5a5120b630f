"""Files as lines of text: unpacked, decoded, counted; what cannot be read is named by line and byte.

What a file of labels or rankings holds, as bytes and as lines, whatever it is packed in.

What every format yields: numbered rows of named values.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ragauge.core.errors import DataError
from ragauge.core.origin import build_install_command
from ragauge.core.values import BadValue, Notes

if TYPE_CHECKING:
    import polars as pl


MAX_LINE_BYTES = 256 * 1024 * 1024
MAX_WHOLE_BYTES = 1024 * 1024 * 1024  # of a JSON file that is not one object a line, unpacked
GZIP, ZSTD, PARQUET, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"PK\x03\x04"
BOM = b"\xef\xbb\xbf"
PACKED_ENDINGS = ("", ".gz", ".zst")
WIDE_BOMS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
TO_UTF8 = "Save it as UTF-8, for example with: iconv -f {encoding} -t UTF-8 {name} > utf8-{name}"


def open_file(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where it is gzip or zstandard by content, and UTF-16 or UTF-32 as UTF-8."""
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(GZIP):
        return _convert_to_utf8(path, cast(IO[bytes], gzip.open(path, "rb")))
    return _convert_to_utf8(path, _open_zstd(path) if start == ZSTD else path.open("rb"))


def _convert_to_utf8(path: Path, file: IO[bytes]) -> IO[bytes]:
    """The file, or its text as UTF-8 where it starts with the byte-order mark of UTF-16 or UTF-32."""
    start = _read_packed(path, 0, lambda: cast(io.BufferedReader, file).peek(4))[:4]
    encoding = next((encoding for mark, encoding in WIDE_BOMS.items() if start.startswith(mark)), "")
    if not encoding:
        return file
    with file:
        raw = _read_packed(path, 0, lambda: file.read(MAX_WHOLE_BYTES + 1))
    if len(raw) > MAX_WHOLE_BYTES:
        problem = f"a file in {encoding} may have at most {MAX_WHOLE_BYTES // 1024**2} MB."
        raise DataError(problem, source=str(path), hint=TO_UTF8.format(encoding=encoding, name=path.name))
    try:
        return io.BytesIO(raw.decode(encoding).encode())
    except UnicodeDecodeError as error:
        problem = f"not valid {encoding} at byte {error.start + 1}: {error.reason}."
        raise DataError(problem, source=str(path), hint="The file may be truncated. Copy it again.") from None


def _open_zstd(path: Path) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return cast(IO[bytes], zstd.open(path, "rb"))
    try:
        import pyarrow
    except ImportError:
        raise DataError(
            "the file is compressed with zstandard, which needs Python 3.14 or pyarrow.",
            source=str(path),
            hint=f"Decompress it with: zstd -d FILE. Or install: {build_install_command('pandas')}",
        ) from None
    return cast(IO[bytes], io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd")))


def _read_packed(path: Path, n: int, read: Callable[[], bytes]) -> bytes:
    """Reads on, naming what is wrong with a packed file."""
    try:
        return read()
    except EOFError:
        problem = f"the compressed data ends after {n} complete lines: the file is truncated."
        raise DataError(problem, source=str(path), hint="Copy or download it again.") from None
    except (OSError, zlib.error) as error:  # gzip.BadGzipFile is an OSError
        problem = f"cannot be read after line {n}: {error}."
        raise DataError(problem, source=str(path), hint="Check the file, or copy it again.") from None


def read_head(path: Path, size: int = 4096) -> bytes:
    """The first bytes, unpacked."""
    with open_file(path) as file:
        return _read_packed(path, 0, lambda: file.read(size))


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number from 1, line with its end) of a UTF-8 file; a byte-order mark at its start is dropped."""
    with open_file(path) as file:
        n = 0
        while raw := _read_packed(path, n, lambda: file.readline(MAX_LINE_BYTES + 1)):
            n += 1
            if n == 1:
                _refuse_utf16(path, raw)
                raw = raw.removeprefix(BOM)
            if len(raw) > MAX_LINE_BYTES:
                raise DataError(
                    f"the line is longer than {MAX_LINE_BYTES // 1024**2} MB, the maximum for one example.",
                    source=str(path),
                    line=n,
                    hint="Check that the file has one example per line.",
                )
            yield n, decode_line(path, n, raw)


def read_text(path: Path) -> str:
    """The text of a file that has to be read at once."""
    with open_file(path) as file:
        raw = _read_packed(path, 0, lambda: file.read(MAX_WHOLE_BYTES + 1))
    if len(raw) > MAX_WHOLE_BYTES:
        raise DataError(
            f"a JSON file that is not one object per line may have at most {MAX_WHOLE_BYTES // 1024**2} MB.",
            source=str(path),
            hint="Write one object per line, for example with: jq -c '.[]' FILE > FILE.jsonl",
        )
    _refuse_utf16(path, raw[:64])
    return "".join(decode_line(path, n, line) for n, line in enumerate(io.BytesIO(raw.removeprefix(BOM)), 1))


def decode_line(path: Path, n: int, raw: bytes) -> str:
    """The line as text."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte 0x{raw[error.start]:02X} at position {error.start + 1} is not UTF-8 "
            "(Latin-1 or Windows-1252 text has such bytes).",
            source=str(path),
            line=n,
            hint=TO_UTF8.format(encoding="WINDOWS-1252", name=path.name),
        ) from None


def _refuse_utf16(path: Path, raw: bytes) -> None:
    """UTF-16 without a byte-order mark, by the zero bytes that it puts beside every plain letter."""
    start = raw[:64]
    if len(start) >= 4 and (not any(start[0:8:2]) or not any(start[1:8:2])):
        raise DataError(
            "the file looks like UTF-16 (every second byte is 0), expected UTF-8.",
            source=str(path),
            line=1,
            hint=TO_UTF8.format(encoding="UTF-16", name=path.name),
        )


GAP, FIELD = r"[ \t\r\f\v]+", r"[^ \t\r\f\v]+"  # blanks as trec_eval takes them: ASCII only


def is_parquet(path: Path) -> bool:
    """Whether the file starts as Parquet does; False where it cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.read(4) == PARQUET
    except OSError:
        return False


def find_packed_file(folder: Path, name: str) -> Path | None:
    """The file of a name in a folder, plain or packed (NAME.gz, NAME.zst); None where there is none."""
    return next((path for end in PACKED_ENDINGS if (path := folder / f"{name}{end}").is_file()), None)


def read_bytes(path: Path) -> bytes:
    """The file's content, unpacked where it is gzip or zstandard (known by content) and without a byte order mark.

    Raises:
        DataError: no such file, a directory, not readable, empty, or packed data that is broken.
    """
    source = str(path)
    try:
        with open_file(path) as file:
            content = file.read()
    except FileNotFoundError:
        raise DataError("there is no such file.", source=source) from None
    except IsADirectoryError:
        raise DataError("expected a file, found a directory.", source=source) from None
    except PermissionError:
        raise DataError("cannot be opened: permission denied.", source=source) from None
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"the compressed data is corrupt or truncated ({error}).", source=source) from None
    content = content.removeprefix(BOM)
    if not content[:4096].strip() and not content.strip():
        raise DataError("the file is empty.", source=source)
    return content


def check_text(content: bytes, source: str) -> None:
    """Refuses what is not UTF-8 text.

    Raises:
        DataError: with the line of the first byte that is not UTF-8.
    """
    position = content.find(b"\0")
    if position >= 0:
        problem = "expected UTF-8 text (or gzip, or Parquet), found binary data or UTF-16."
        raise DataError(problem, source=source, line=content.count(b"\n", 0, position) + 1)
    if content.isascii():
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        begin = content.rfind(b"\n", 0, error.start) + 1
        decode_line(Path(source), content.count(b"\n", 0, begin) + 1, content[begin:].partition(b"\n")[0])


def find_first_line(content: bytes) -> str:
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


def build_line_table(content: bytes) -> pl.DataFrame:
    """Columns line (from 1) and text, blank lines left out."""
    import polars as pl

    lines = pl.DataFrame({"text": content.decode().split("\n")})
    return lines.with_row_index("line", 1).filter(pl.col("text").str.contains(r"\S"))


Row = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one source, read as they are asked for."""

    source: str  #: the file or table, as the user named it.
    rows: Iterator[tuple[int, Row]]  #: (number, row), numbers as the user would count them.
    unit: str = "line"  #: what is counted: line, row or entry.
    cells: bool = False  #: texts may hold JSON, as the cells of CSV and Parquet files do.
    blank: str = ""  #: why a value is null, where the format itself knows; otherwise "".
    #: columns that are there to report by; that nothing reads them is worth no word.
    offered: frozenset[str] = frozenset()
    #: what the format noticed, complete when the rows have been read; each becomes a warning.
    remarks: Sequence[str] = ()

    @property
    def units(self) -> str:
        """What is counted, in the plural."""
        return "entries" if self.unit == "entry" else f"{self.unit}s"

    def error(self, problem: str, n: int | None = None, hint: str = "") -> DataError:
        """The error about one of the rows, or about the whole source."""
        return DataError(problem, source=self.source, line=n, hint=hint, unit=self.unit)

    def parse_all(self, parse: Callable[[int, Row], T]) -> Iterator[T]:
        """What a function makes of each row, by its number and its values.

        Raises:
            DataError: the function cannot read a value (`BadValue`), with the number of its row; or there is no row.
        """
        count = 0
        for count, (n, row) in enumerate(self.rows, 1):  # noqa: B007 - the last is asked for
            try:
                yield parse(n, row)
            except BadValue as bad:
                raise self.error(str(bad), n, bad.hint) from None
        if not count:
            raise self.error("it has no rows.")


@dataclass(slots=True)
class RowContext:
    """What is known and noticed over the rows of one source, for readers of another tool's rows."""

    notes: Notes  #: for the warnings at the end.
    system: str | None = None  #: whose answers are read, where a file holds those of several.
    systems: set[str] = field(default_factory=set)  #: systems whose answers were met.


class ExportReader(Protocol):
    """What the module of a tool's exports gives."""

    def takes(self, columns: Iterable[str]) -> bool:
        """Whether the columns of a row are the tool's."""

    def read_row(self, row: Row, context: RowContext) -> Row | None:
        """A row by our names; None where it is another system's than the one that is asked for.

        Args:
            row: as it stands in the file; what the reader does not know stays as it is.
            context: of its source; the systems that were met and what is worth a warning are added to it.

        Raises:
            BadValue: a value that cannot be read.
            UsageError: rows of several systems, and none was chosen.
        """
