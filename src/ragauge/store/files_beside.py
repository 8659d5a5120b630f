"""Files in the store's folder: whether they hold certain texts, in whichever encoding, also within what is packed."""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ragauge.store import sqlite

HEAD = 262  # bytes that say what a file is: of a tar they end with its mark
MOST_PACKED = 5  # times that something is packed within something
OWN = ("", "-wal", "-shm", "-journal")  # endings of the store's own files
NOT_LOOKED_INTO = {b"7z\xbc\xaf": "7z", b"Rar!": "rar"}
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)


@dataclass(slots=True)
class FoundBeside:
    """What was found beside the store.

    Attributes:
        files: path -> bytes that are copies of a text.
        unread: path -> why nobody can say what is in it.
        lines: how many lines of .jsonl files were taken out.
    """

    files: dict[str, int] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    lines: int = 0


def take_out(url: str, texts: Iterable[str]) -> FoundBeside:
    """Takes lines that hold any of some texts out of .jsonl files in UTF-8, and looks for the texts in all files."""
    plain, found = [one.encode("utf-8", "surrogatepass") for one in _written(texts)], FoundBeside()
    for path in _files(url):
        if path.suffix == ".jsonl" and sqlite.count_bytes(path, plain):
            lines = path.read_bytes().splitlines(True)
            kept = [line for line in lines if not any(one in line for one in plain)]
            found.lines += len(lines) - len(kept)
            path.write_bytes(b"".join(kept))
    look = look_for(url, texts)
    return FoundBeside(look.files, look.unread, found.lines)


def look_for(url: str, texts: Iterable[str], *, alone: bool = False) -> FoundBeside:
    """Looks for texts in the files of the store's folder, in UTF-8 and UTF-16, also as JSON and HTML write them.

    Files that gzip, bzip2, xz, zip and tar made are looked into, also within each other, and tables of Parquet.

    Args:
        url: of the store.
        texts: what is looked for.
        alone: only where no letter or digit stands beside it.
    """
    needles, found = _needles(texts), FoundBeside()
    for path in _files(url):
        try:
            with path.open("rb") as file:
                n = sum(_count(one, needles, alone=alone) for one in _contents(file))
        except FileNotFoundError:  # a lock that was given back
            continue
        except UNREADABLE as error:
            found.unread[str(path)] = str(error) or type(error).__name__
            n = sqlite.count_bytes(path, needles) if path.is_file() and not alone else 0
        if n:
            found.files[str(path)] = n
    return found


def _files(url: str) -> list[Path]:
    """Files in a store's folder, at any depth, that are none of the store's own."""
    own = sqlite.path_of(url)
    mine = {own.with_name(f"{own.name}{end}") for end in OWN}
    return sorted(
        path for path in own.parent.rglob("*") if path.is_file() and not path.is_symlink() and path not in mine
    )


def _written(texts: Iterable[str]) -> list[str]:
    """Texts as they are, as JSON writes them with and without other letters, and as HTML does."""
    found = set(texts) - {""}
    found |= {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in found for ascii in (True, False)}
    return sorted(found | {html.escape(one, quote=quote) for one in found for quote in (True, False)})


def _needles(texts: Iterable[str]) -> list[bytes]:
    return [
        one.encode(encoding, "surrogatepass")
        for one in _written(texts)
        for encoding in ("utf-8", "utf-16-le", "utf-16-be")
    ]


def _count(file: IO[bytes], needles: Sequence[bytes], *, alone: bool) -> int:
    """How many bytes of what a file holds are copies of a needle."""
    if not alone:
        return sqlite.count_in(file, needles)
    word = rb"[0-9A-Za-z_]"
    patterns = [re.compile(rb"(?<!%b)(?<!%b\x00)%b(?!\x00?%b)" % (word, word, re.escape(one), word)) for one in needles]
    found, overlap, before = 0, max(map(len, needles), default=1) + 1, b""
    while part := file.read(sqlite.READ_AT_ONCE):
        whole = before + part
        matches = (match for pattern in patterns for match in pattern.finditer(whole))
        found += sum(len(match[0]) for match in matches if match.end() > len(before))
        before = whole[-overlap:]
    return found


def _contents(file: IO[bytes], depth: int = 0) -> Iterator[IO[bytes]]:
    """What a file holds: itself, or what is packed in it and how that is called.

    Raises:
        ValueError: it is packed in a way that cannot be looked into.
    """
    head = file.read(HEAD)
    file.seek(0)
    if depth > MOST_PACKED:
        raise ValueError(f"it is packed more than {MOST_PACKED} times")
    if name := next((name for mark, name in NOT_LOOKED_INTO.items() if head.startswith(mark)), ""):
        raise ValueError(f"{name} is not looked into")
    if head.startswith(b"PAR1"):
        import polars as pl

        yield io.BytesIO(pl.read_parquet(file.read()).write_ndjson().encode())
    elif head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(file) as whole:
            yield io.BytesIO("\n".join(whole.namelist()).encode("utf-8", "surrogatepass"))
            for member in whole.infolist():
                with whole.open(member) as part:
                    yield from _contents(part, depth + 1)
    elif head[257:262] == b"ustar":
        with tarfile.open(fileobj=file) as archive:
            for entry in archive:
                yield io.BytesIO(entry.name.encode("utf-8", "surrogatepass"))
                if (inner := archive.extractfile(entry)) is not None:
                    yield from _contents(inner, depth + 1)
    elif (unpacked := _unpacked(file, head)) is not None:
        yield from _contents(unpacked, depth + 1)
    else:
        yield file


def _unpacked(file: IO[bytes], head: bytes) -> Any:
    """What gzip, bzip2, xz or zstd packed, unpacked as it is read; None where a file is nothing of these."""
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if head.startswith((b"\xfd7zXZ\x00", b"\x5d\x00\x00")):
        return lzma.LZMAFile(file)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            from compression import zstd
        except ImportError:
            raise ValueError("this version of Python does not read zstd") from None
        return zstd.ZstdFile(file)
    return None
