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

HEAD_BYTES = 262  # bytes that say what a file is: of a tar they end with its mark
MAX_NESTING = 5  # times that something is packed within something
STORE_FILE_ENDINGS = ("", "-wal", "-shm", "-journal")  # endings of the store's own files
UNSUPPORTED_ARCHIVES = {b"7z\xbc\xaf": "7z", b"Rar!": "rar"}
READ_ERRORS = (
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
class FileSearchResult:
    """What was found beside the store."""

    files: dict[str, int] = field(default_factory=dict)  #: path -> bytes that are copies of a text.
    unread: dict[str, str] = field(default_factory=dict)  #: path -> why nobody can say what is in it.
    lines: int = 0  #: how many lines of .jsonl files were taken out.


def remove_lines(url: str, texts: Iterable[str]) -> FileSearchResult:
    """Takes lines that hold any of some texts out of .jsonl files in UTF-8, and looks for the texts in all files."""
    needles, removal = (
        [needle.encode("utf-8", "surrogatepass") for needle in _list_spellings(texts)],
        FileSearchResult(),
    )
    for path in _list_files(url):
        if path.suffix == ".jsonl" and sqlite.count_bytes(path, needles):
            lines = path.read_bytes().splitlines(True)
            kept_lines = [line for line in lines if not any(needle in line for needle in needles)]
            removal.lines += len(lines) - len(kept_lines)
            path.write_bytes(b"".join(kept_lines))
    search = search_files(url, texts)
    return FileSearchResult(search.files, search.unread, removal.lines)


def search_files(url: str, texts: Iterable[str], *, alone: bool = False) -> FileSearchResult:
    """Looks for texts in the files of the store's folder, in UTF-8 and UTF-16, also as JSON and HTML write them.

    Files that gzip, bzip2, xz, zip and tar made are looked into, also within each other, and tables of Parquet.

    Args:
        url: of the store.
        texts: what is looked for.
        alone: only where no letter or digit stands beside it.
    """
    needles, search = _encode_needles(texts), FileSearchResult()
    for path in _list_files(url):
        try:
            with path.open("rb") as file:
                n = sum(_count_matching_bytes(content, needles, alone=alone) for content in _iter_contents(file))
        except FileNotFoundError:  # a lock that was given back
            continue
        except READ_ERRORS as error:
            search.unread[str(path)] = str(error) or type(error).__name__
            n = sqlite.count_bytes(path, needles) if path.is_file() and not alone else 0
        if n:
            search.files[str(path)] = n
    return search


def _list_files(url: str) -> list[Path]:
    """Files in a store's folder, at any depth, that are none of the store's own."""
    store_path = sqlite.get_path(url)
    own_paths = {store_path.with_name(f"{store_path.name}{end}") for end in STORE_FILE_ENDINGS}
    return sorted(
        path
        for path in store_path.parent.rglob("*")
        if path.is_file() and not path.is_symlink() and path not in own_paths
    )


def _list_spellings(texts: Iterable[str]) -> list[str]:
    """Texts as they are, as JSON writes them with and without other letters, and as HTML does."""
    spellings = set(texts) - {""}
    spellings |= {json.dumps(text_item, ensure_ascii=ascii)[1:-1] for text_item in spellings for ascii in (True, False)}
    return sorted(
        spellings | {html.escape(text_item, quote=quote) for text_item in spellings for quote in (True, False)}
    )


def _encode_needles(texts: Iterable[str]) -> list[bytes]:
    return [
        spelling.encode(encoding, "surrogatepass")
        for spelling in _list_spellings(texts)
        for encoding in ("utf-8", "utf-16-le", "utf-16-be")
    ]


def _count_matching_bytes(file: IO[bytes], needles: Sequence[bytes], *, alone: bool) -> int:
    """How many bytes of what a file holds are copies of a needle."""
    if not alone:
        return sqlite.count_bytes_in_stream(file, needles)
    word = rb"[0-9A-Za-z_]"
    patterns = [
        re.compile(rb"(?<!%b)(?<!%b\x00)%b(?!\x00?%b)" % (word, word, re.escape(needle), word)) for needle in needles
    ]
    n_bytes, overlap, previous = 0, max(map(len, needles), default=1) + 1, b""
    while block := file.read(sqlite.READ_BLOCK_BYTES):
        window = previous + block
        matches = (match for pattern in patterns for match in pattern.finditer(window))
        n_bytes += sum(len(match[0]) for match in matches if match.end() > len(previous))
        previous = window[-overlap:]
    return n_bytes


def _iter_contents(file: IO[bytes], depth: int = 0) -> Iterator[IO[bytes]]:
    """What a file holds: itself, or what is packed in it and how that is called.

    Raises:
        ValueError: it is packed in a way that cannot be looked into.
    """
    head = file.read(HEAD_BYTES)
    file.seek(0)
    if depth > MAX_NESTING:
        raise ValueError(f"it is compressed more than {MAX_NESTING} times over")
    if name := next((name for mark, name in UNSUPPORTED_ARCHIVES.items() if head.startswith(mark)), ""):
        raise ValueError(f"{name} is not read")
    if head.startswith(b"PAR1"):
        import polars as pl

        yield io.BytesIO(pl.read_parquet(file.read()).write_ndjson().encode())
    elif head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(file) as zip_archive:
            yield io.BytesIO("\n".join(zip_archive.namelist()).encode("utf-8", "surrogatepass"))
            for member in zip_archive.infolist():
                with zip_archive.open(member) as member_file:
                    yield from _iter_contents(member_file, depth + 1)
    elif head[257:262] == b"ustar":
        with tarfile.open(fileobj=file) as archive:
            for entry in archive:
                yield io.BytesIO(entry.name.encode("utf-8", "surrogatepass"))
                if (inner := archive.extractfile(entry)) is not None:
                    yield from _iter_contents(inner, depth + 1)
    elif (unpacked := _open_unpacked(file, head)) is not None:
        yield from _iter_contents(unpacked, depth + 1)
    else:
        yield file


def _open_unpacked(file: IO[bytes], head: bytes) -> Any:
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
            raise ValueError("this version of Python cannot read zstd") from None
        return zstd.ZstdFile(file)
    return None
