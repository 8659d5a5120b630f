"""Files as lines of text: unpacked, decoded, counted; what cannot be read is named by line and byte."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from ragauge.errors import DataError

LONGEST_LINE = 256 * 1024 * 1024
LONGEST_WHOLE = 1024 * 1024 * 1024      # of a JSON file that is not one object a line, unpacked
GZIP, ZSTD, PARQUET, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"PK\x03\x04"
BOM = b"\xef\xbb\xbf"
WIDE_BOMS = {
    b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}
TO_UTF8 = "Save it as UTF-8, for example with: iconv -f {encoding} -t UTF-8 {name} > utf8-{name}"


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where it is gzip or zstandard by content."""
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(GZIP):
        return cast(IO[bytes], gzip.open(path, "rb"))
    if start == ZSTD:
        return _unzstd(path)
    return path.open("rb")


def _unzstd(path: Path) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return cast(IO[bytes], zstd.open(path, "rb"))
    try:
        import pyarrow
    except ImportError:
        raise DataError(
            "the file is packed with zstandard, which needs Python 3.14 or pyarrow.",
            source=str(path),
            hint="Unpack it with: zstd -d FILE. Or install: pip install 'ragauge[pandas]'",
        ) from None
    return cast(IO[bytes], io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd")))


def _reading(path: Path, n: int, read: Callable[[], bytes]) -> bytes:
    """Reads on, naming what is wrong with a packed file."""
    try:
        return read()
    except EOFError:
        problem = f"the packed data ends early, after {n} whole lines: the file is cut off."
        raise DataError(problem, source=str(path), hint="Copy or download it again.") from None
    except (OSError, zlib.error) as error:      # gzip.BadGzipFile is an OSError
        problem = f"cannot be read after line {n}: {error}."
        raise DataError(problem, source=str(path), hint="Check the file, or copy it again.") from None


def head(path: Path, size: int = 4096) -> bytes:
    """The first bytes, unpacked."""
    with opened(path) as file:
        return _reading(path, 0, lambda: file.read(size))


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number from 1, line with its end) of a UTF-8 file; a byte-order mark at its start is dropped."""
    with opened(path) as file:
        n = 0
        while raw := _reading(path, n, lambda: file.readline(LONGEST_LINE + 1)):
            n += 1
            if n == 1:
                _refuse_wide(path, raw)
                raw = raw.removeprefix(BOM)
            if len(raw) > LONGEST_LINE:
                raise DataError(
                    f"the line is longer than {LONGEST_LINE // 1024**2} MB, the most that one example may take.",
                    source=str(path), line=n, hint="Is it one example a line?",
                )
            yield n, decoded(path, n, raw)


def whole(path: Path) -> str:
    """The text of a file that has to be read at once."""
    with opened(path) as file:
        raw = _reading(path, 0, lambda: file.read(LONGEST_WHOLE + 1))
    if len(raw) > LONGEST_WHOLE:
        raise DataError(
            f"a JSON file that is not one object a line may have {LONGEST_WHOLE // 1024**2} MB.",
            source=str(path), hint="Write one object a line, for example with: jq -c '.[]' FILE > FILE.jsonl",
        )
    _refuse_wide(path, raw[:64])
    return "".join(decoded(path, n, line) for n, line in enumerate(io.BytesIO(raw.removeprefix(BOM)), 1))


def decoded(path: Path, n: int, raw: bytes) -> str:
    """The line as text."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte 0x{raw[error.start]:02X} at position {error.start + 1} is not UTF-8 "
            "(Latin-1 or Windows-1252 text has such bytes).",
            source=str(path), line=n, hint=TO_UTF8.format(encoding="WINDOWS-1252", name=path.name),
        ) from None


def _refuse_wide(path: Path, raw: bytes) -> None:
    """UTF-16 and UTF-32, by their mark or by the zero bytes that they put beside every plain letter."""
    for mark, encoding in WIDE_BOMS.items():
        if raw.startswith(mark):
            shown = " ".join(f"{byte:02X}" for byte in mark)
            raise DataError(
                f"the file is {encoding} (it starts with the bytes {shown}), expected UTF-8.",
                source=str(path), line=1, hint=TO_UTF8.format(encoding=encoding, name=path.name),
            )
    start = raw[:64]
    if len(start) >= 4 and (not any(start[0:8:2]) or not any(start[1:8:2])):
        raise DataError(
            "the file looks like UTF-16 (every second byte is 0), expected UTF-8.",
            source=str(path), line=1, hint=TO_UTF8.format(encoding="UTF-16", name=path.name),
        )
