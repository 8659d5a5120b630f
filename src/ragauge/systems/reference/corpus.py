"""Documents, and a folder of text files read as documents."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.errors import DataError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FENCE = "---"
SUFFIXES = (".md", ".txt", ".rst")
ENDINGS = "*.md, *.txt, *.rst"
FIRST_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """One page of a corpus.

    Attributes:
        doc_id: identity, which is what labels name.
        title: what the page is called; it is handed on with every passage.
        text: the body; every span counts characters of it.
        updated_at: ISO date of this version.
        superseded_by: doc_id of the version that replaced it.
        kind: such as manual or policy.
    """

    doc_id: str
    title: str
    text: str
    updated_at: str | None = None
    superseded_by: str | None = None
    kind: str | None = None


def load_folder(path: str | Path | Traversable) -> tuple[Document, ...]:
    """The text files (.md, .txt, .rst) of a folder and of those below as documents, in the order of their names.

    A file may open with front matter: YAML between two lines that hold only ``---``. Its keys title, kind, updated_at
    and superseded_by are read, others are ignored. Without a title there, the first heading is the title, and
    without a heading the file's name. doc_id is the file's path in the folder without its ending; the text is
    everything after the front matter, without the white space around it.

    Args:
        path: a folder; names that begin with a dot are passed by.

    Raises:
        DataError: the path is no folder, it holds no text file, two files differ in their ending only, or a file is
            not UTF-8, is empty or has front matter that cannot be read.
    """
    folder = Path(path) if isinstance(path, str) else path
    if not folder.is_dir():
        raise DataError("not a folder.", source=str(path), hint=f"Name a folder that holds {ENDINGS}.")
    files = dict(sorted(_below(folder, "")))
    if not files:
        raise DataError(f"no text file ({ENDINGS}) in this folder.", source=str(path), hint="Name the pages' folder.")
    found = [_document(name, _decoded(name, file.read_bytes())) for name, file in files.items()]
    seen: dict[str, str] = {}
    for name, document in zip(files, found, strict=True):
        if document.doc_id in seen:
            other = seen[document.doc_id]
            raise DataError(f"has the doc_id of {other}: {document.doc_id!r}.", source=name, hint="Rename one of them.")
        seen[document.doc_id] = name
    return tuple(found)


def _below(folder: Path | Traversable, prefix: str) -> Iterator[tuple[str, Path | Traversable]]:
    """(path in the folder, file) of every text file."""
    for one in folder.iterdir():
        if one.name.startswith("."):
            continue
        if one.is_dir():
            yield from _below(one, f"{prefix}{one.name}/")
        elif one.name.endswith(SUFFIXES) and one.is_file():
            yield f"{prefix}{one.name}", one


def _decoded(name: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"expected UTF-8, got byte 0x{raw[error.start]:02x} at offset {error.start}.",
            source=name,
            hint="Save the file as UTF-8.",
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _document(name: str, text: str) -> Document:
    meta, body = _parted(name, text)
    body = body.strip()
    if not body:
        raise DataError("the page has no text.", source=name, hint="Write a body or remove the file.")
    heading = FIRST_HEADING.search(body)
    stem = name.rpartition(".")[0]
    return Document(
        doc_id=stem,
        title=_word(name, meta, "title") or (heading.group(1) if heading else stem),
        text=body,
        updated_at=_date(name, meta),
        superseded_by=_word(name, meta, "superseded_by"),
        kind=_word(name, meta, "kind"),
    )


def _parted(name: str, text: str) -> tuple[Mapping[str, Any], str]:
    """The front matter as a mapping, and what follows it."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return {}, text
    closing = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE), None)
    if closing is None:
        raise DataError(
            f"the front matter is opened with {FENCE} and never closed.", source=name, line=1,
            hint=f"Close it with a line that holds only {FENCE}.",
        )  # fmt: skip
    import yaml

    try:
        meta = yaml.safe_load("\n".join(lines[1:closing]))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        line = mark.line + 2 if mark is not None else None
        raise DataError(
            f"the front matter is not valid YAML: {problem}.", source=name, line=line, hint="Put the value in quotes."
        ) from error
    if meta is not None and not isinstance(meta, Mapping):
        raise DataError(
            f"the front matter must be a mapping, got {type(meta).__name__}.", source=name, line=2,
            hint="Write key: value lines, such as title: Opening hours.",
        )  # fmt: skip
    return meta or {}, "\n".join(lines[closing + 1 :])


def _word(name: str, meta: Mapping[str, Any], key: str) -> str | None:
    value = meta.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | datetime.date):
        return str(value)
    raise DataError(f"{key} must be text, got {type(value).__name__}.", source=name, hint="Put the value in quotes.")


def _date(name: str, meta: Mapping[str, Any]) -> str | None:
    value = meta.get("updated_at")
    if value is None:
        return None
    if isinstance(value, datetime.date):      # a datetime is a date too
        return value.isoformat()
    try:
        datetime.datetime.fromisoformat(str(value))
    except ValueError as error:
        raise DataError(
            f"updated_at must be an ISO date, got {value!r}.", source=name, hint="Write it as 2025-03-31."
        ) from error
    return str(value)
