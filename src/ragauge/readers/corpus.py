"""Documents from whatever a corpus stands in: a folder of pages, a corpus file, a BEIR folder, a table, a mapping."""

from __future__ import annotations

import datetime
import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.values import describe_value
from ragauge.readers import jsonl, squad, tabular
from ragauge.readers.lines import BOM, PARQUET, Row, Rows, find_packed_file, read_head, read_text
from ragauge.readers.passages import DOC_KEYS, TEXT_KEYS

FENCE, CORPUS_FILE = "---", "corpus.jsonl"
# files about a folder, no documents
EXPLANATORY_FILES = ("README", "LICENSE", "LICENCE", "SOURCE", "NOTICE", "CHANGELOG")
SUFFIXES = (".md", ".txt", ".rst")
ENDINGS = "*.md, *.txt, *.rst"
FIRST_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
ACCEPTED = (
    f"Accepted: .jsonl, .csv, .tsv or .parquet with a column {' or '.join(DOC_KEYS)} and a column "
    f"{' or '.join(TEXT_KEYS)}, a BEIR folder with corpus.jsonl, a text file or a folder of them ({ENDINGS}), "
    "a table in memory, or a mapping of id and text."
)


def read_corpus(
    source: Any, undecoded: list[str] | None = None, *, ids: Literal["stem", "path"] = "stem"
) -> tuple[Document, ...]:
    """Every document of a corpus, in the order of the source.

    - A folder with corpus.jsonl (also packed as .gz or .zst) is read as BEIR's: `_id`, `title`, `text`. Text files
      beside it are no documents; unless they only explain the folder (README and the like), a warning says so.
    - Any other folder: its text files (.md, .txt, .rst) and those of the folders below, in the order of their names;
      names that begin with a dot are passed by. A file may open with front matter: YAML between two lines that hold
      only ``---``. Its keys title, kind, updated_at and superseded_by are read, others are ignored. Without a title
      there, the first heading is the title, and without a heading the file's name. doc_id is the file's path in the
      folder without its ending; the text is everything after the front matter, without the white space around it.
    - One text file is read as a folder that holds nothing else.
    - Any other file or a table in memory: a column of ids, one of texts, and title, kind, updated_at and superseded_by
      where they are given.
    - A mapping of id and text.

    Args:
        source: one of these.
        undecoded: receives the names of a folder's text files that are not UTF-8, then left out; None = an error.
        ids: of text files: their paths in the folder without their endings (stem), or with them (path).

    Raises:
        DataError: with its place (file, line or document): nothing of that name, no document, none with a text, an
            id that two documents have, bytes that are not UTF-8, front matter that cannot be read.

    A document without a text stays in, its text "": whoever cuts or indexes documents counts it as empty.
    """
    if (page := find_text_file(source)) is not None:
        return _check_texts((_parse_page(page.name, _decode_text(str(page), page.read_bytes()), ids),), str(page))
    folder = _find_folder(source)
    if folder is not None:
        return _check_texts(tuple(_read_pages(folder, undecoded, ids)), str(folder), undecoded or ())
    if unread := list_unread_files(source):
        message = f"{source}: only corpus.jsonl is read; skipped: {', '.join(unread[:3])}{' …' if unread[3:] else ''}."
        warnings.warn(f"{message} If these are the documents, give another folder.", UserWarning, stacklevel=2)
    rows = _read_rows(source)
    documents: dict[str, Document] = {}
    row_numbers: dict[str, int] = {}
    for n, row in rows.rows:
        document = _parse_document(rows, n, row)
        if document.doc_id in documents:
            same = f"{rows.unit} {row_numbers[document.doc_id]}"
            raise rows.error(
                f"has the same doc_id as {same}: {document.doc_id!r}.", n, "Give every document its own id."
            )
        documents[document.doc_id], row_numbers[document.doc_id] = document, n
    if not documents:
        raise rows.error("it contains no documents.", hint=ACCEPTED)
    return _check_texts(tuple(documents.values()), rows.source)


def match_label_names(doc_ids: Collection[str], labels: Iterable[str]) -> dict[str, str]:
    """doc_id -> the file name that labels call it by, such as guides/pairing -> guides/pairing.md.

    The doc_id of a text file has no ending; people label what they see in the folder. Only labels that are no document
    as they stand, and are one without an ending of a text file, rename it, unless other labels use the doc_id itself.
    """
    labeled_ids = set(labels)
    names: dict[str, str] = {}
    for label in sorted(labeled_ids.difference(doc_ids)):
        stem = next((label.removesuffix(suffix) for suffix in SUFFIXES if label.endswith(suffix)), label)
        if stem in doc_ids and stem not in labeled_ids:
            names.setdefault(stem, label)
    return names


def find_text_file(source: Any) -> Path | None:
    """The one text file that is meant; None where the source is anything else."""
    path = Path(source) if isinstance(source, str | Path) else None
    return path if path is not None and path.suffix in SUFFIXES and path.is_file() else None


def list_unread_files(source: Any) -> list[str]:
    """Names of text files that stand in a folder beside its corpus.jsonl, and so are not read."""
    folder = Path(source) if isinstance(source, str | Path) else None
    if folder is None or not folder.is_dir() or find_packed_file(folder, CORPUS_FILE) is None:
        return []
    return sorted(name for name, _ in _list_text_files(folder, "") if Path(name).stem.upper() not in EXPLANATORY_FILES)


def _check_texts(documents: tuple[Document, ...], source: str, left_out: Sequence[str] = ()) -> tuple[Document, ...]:
    """The documents, if any has a text."""
    if not any(document.text.strip() for document in documents):
        other = f"; not UTF-8: {', '.join(left_out[:3])}{' …' if left_out[3:] else ''}" if left_out else ""
        raise DataError(
            f"none of its documents has text{other}.", source=source, hint="Add texts, or use another corpus."
        )
    return documents


def read_document_texts(source: Any, doc_ids: Collection[str]) -> dict[str, str]:
    """The texts of some documents; those that the corpus does not have are left out.

    A file is read until all have been found; of two documents with one id the first counts.

    Args:
        source: as for `read_corpus`.
        doc_ids: their ids.

    Raises:
        DataError: what cannot be read as a corpus.
    """
    if isinstance(source, Mapping):
        return {doc_id: str(source[doc_id]) for doc_id in doc_ids if doc_id in source}
    folder = _find_folder(source)
    if folder is not None:
        return {document.doc_id: document.text for document in _read_pages(folder) if document.doc_id in doc_ids}
    texts: dict[str, str] = {}
    n_read = 0
    rows = _read_rows(source)
    for n, row in rows.rows:
        n_read += 1
        document = _parse_document(rows, n, row)
        if document.doc_id in doc_ids:
            texts.setdefault(document.doc_id, document.text)
            if len(texts) == len(doc_ids):
                break
    if not n_read:
        raise rows.error("it contains no documents.", hint=ACCEPTED)
    return texts


def _find_folder(source: Any) -> Path | Traversable | None:
    """The folder of pages that is meant; None where the source is anything else."""
    folder = Path(source) if isinstance(source, str) else source
    if not isinstance(folder, Path | Traversable) or not folder.is_dir():
        return None
    return None if isinstance(folder, Path) and find_packed_file(folder, CORPUS_FILE) is not None else folder


def _read_rows(source: Any) -> Rows:
    if isinstance(source, Mapping):
        entries = ({"doc_id": doc_id, "text": text} for doc_id, text in source.items())
        return Rows("corpus", iter(enumerate(entries, 1)), unit="document")
    if not isinstance(source, str | Path):
        if tabular.is_frame(source) or tabular.is_list(source):
            return tabular.read_table(source)
        raise DataError(f"cannot read a corpus from {describe_value(source)}.", hint=ACCEPTED)
    path = Path(source)
    if path.is_dir():
        path = find_packed_file(path, CORPUS_FILE) or path
    if not path.is_file():
        raise DataError("there is no such file or folder.", source=str(path), hint=ACCEPTED)
    start = read_head(path)
    if start.startswith(PARQUET):
        return tabular.read_parquet(path)
    if (articles := _read_squad_articles(path)) is not None:
        return Rows(str(path), iter(enumerate(squad.read_documents(articles), 1)), unit="paragraph")
    return jsonl.read(path) if start.removeprefix(BOM).lstrip()[:1] in (b"{", b"[") else tabular.read_csv(path)


def _read_squad_articles(path: Path) -> list[Any] | None:
    """The articles of a file in SQuAD's form; None of any other."""
    if not path.name.removesuffix(".gz").removesuffix(".zst").endswith(".json"):
        return None
    try:
        articles = json.loads(text)["data"] if all(mark in (text := read_text(path)) for mark in squad.MARKS) else None
    except (ValueError, KeyError, TypeError):  # whoever reads it next says what is wrong with it
        return None
    return articles if isinstance(articles, list) and squad.is_squad(articles) else None


def _parse_document(rows: Rows, n: int, row: Row) -> Document:
    doc_id = next((row[key] for key in DOC_KEYS if row.get(key) is not None), None)
    text = next((row[key] for key in TEXT_KEYS if isinstance(row.get(key), str)), None)
    if not isinstance(doc_id, str | int) or isinstance(doc_id, bool) or not str(doc_id).strip() or text is None:
        raise rows.error(f"no document with an id and text (found: {', '.join(list(row)[:20])}).", n, ACCEPTED)
    optional_fields = {
        key: row[key] for key in ("updated_at", "superseded_by", "kind") if isinstance(row.get(key), str)
    }
    title = row.get("title")
    return Document(str(doc_id), title if isinstance(title, str) else "", text, **optional_fields)


def _read_pages(
    folder: Path | Traversable, undecoded: list[str] | None = None, ids: Literal["stem", "path"] = "stem"
) -> Iterator[Document]:
    """The documents in the text files of a folder and of those below, in the order of their names."""
    files = dict(sorted(_list_text_files(folder, "")))
    if not files:
        raise DataError(
            f"no text file ({ENDINGS}) in this folder.", source=str(folder), hint="Give the folder with the documents."
        )
    names: dict[str, str] = {}
    for name, file in files.items():
        raw = file.read_bytes()
        if undecoded is not None and not _is_utf8(raw):
            undecoded.append(name)
            continue
        document = _parse_page(name, _decode_text(name, raw), ids)
        if document.doc_id in names:
            raise DataError(
                f"has the same doc_id as {names[document.doc_id]}: {document.doc_id!r}.",
                source=name,
                hint="The id of a text file is its path without the extension. Rename one of them.",
            )
        names[document.doc_id] = name
        yield document


def _list_text_files(folder: Path | Traversable, prefix: str) -> Iterator[tuple[str, Path | Traversable]]:
    """(path in the folder, file) of every text file."""
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _list_text_files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIXES) and entry.is_file():
            yield f"{prefix}{entry.name}", entry


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return True


def _decode_text(name: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"expected UTF-8, got byte 0x{raw[error.start]:02x} at offset {error.start}.",
            source=name,
            hint="Save the file as UTF-8.",
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse_page(name: str, text: str, ids: Literal["stem", "path"] = "stem") -> Document:
    meta, body = _split_front_matter(name, text)
    body = body.strip()
    heading = FIRST_HEADING.search(body)
    stem = name.rpartition(".")[0]
    return Document(
        doc_id=stem if ids == "stem" else name,
        title=_get_text(name, meta, "title") or (heading.group(1) if heading else stem),
        text=body,
        updated_at=_get_date(name, meta),
        superseded_by=_get_text(name, meta, "superseded_by"),
        kind=_get_text(name, meta, "kind"),
    )


def _split_front_matter(name: str, text: str) -> tuple[Mapping[str, Any], str]:
    """The front matter as a mapping, and what follows it."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return {}, text
    closing = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE), None)
    if closing is None:
        raise DataError(
            f"the front matter starts with {FENCE} but is never closed.",
            source=name,
            line=1,
            hint=f"Close it with a line that contains only {FENCE}.",
        )
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
    except RecursionError:
        raise DataError("the front matter is nested too deeply.", source=name, line=1) from None
    if meta is not None and not isinstance(meta, Mapping):
        raise DataError(
            f"the front matter must be a mapping, got {type(meta).__name__}.",
            source=name,
            line=2,
            hint="Write key: value lines, such as title: Opening hours.",
        )
    return meta or {}, "\n".join(lines[closing + 1 :])


def _get_text(name: str, meta: Mapping[str, Any], key: str) -> str | None:
    value = meta.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | datetime.date):
        return str(value)
    raise DataError(f"{key} must be text, got {type(value).__name__}.", source=name, hint="Put the value in quotes.")


def _get_date(name: str, meta: Mapping[str, Any]) -> str | None:
    value = meta.get("updated_at")
    if value is None:
        return None
    if isinstance(value, datetime.date):  # a datetime is a date too
        return value.isoformat()
    try:
        datetime.datetime.fromisoformat(str(value))
    except ValueError as error:
        raise DataError(
            f"updated_at must be an ISO date, got {value!r}.", source=name, hint="Write it as 2025-03-31."
        ) from error
    return str(value)
