"""Questions for chunking: Chroma's question, references (JSON: content, start_index, end_index), corpus_id; or quotes.

Whole documents as offsets count them: every character of a text, nothing stripped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError, find_nearest
from ragauge.core.example import EvalSet, Example, Span
from ragauge.core.messages import format_count
from ragauge.readers import jsonl, tabular
from ragauge.readers.corpus import SUFFIXES, find_text_file, match_label_names, read_corpus
from ragauge.readers.options import warn_user
from ragauge.readers.passages import DOC_KEYS, TEXT_KEYS

QUOTES = ("quote", *TEXT_KEYS)
COLUMNS = ("question", "references", "corpus_id")


def is_chroma(path: Path) -> bool:
    """Whether a file has Chroma's header."""
    if path.suffix != ".csv" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return set(COLUMNS) <= {cell.strip() for cell in file.readline().split(",")}


def read_chroma(path: Path, name: str = "") -> EvalSet:
    """The questions with their gold spans; q1, q2 … by row, the segment `corpus` is the document.

    Raises:
        DataError: references that are not a list of such objects.
    """
    examples: list[Example] = []
    for n, row in tabular.read_csv(path).rows:
        doc_id = str(row["corpus_id"])
        try:
            references = json.loads(str(row["references"]))
            spans = tuple(Span(doc_id, int(span["start_index"]), int(span["end_index"])) for span in references)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            problem = f"references must be JSON: [{{content, start_index, end_index}}], got {row['references']!r:.60}."
            raise DataError(problem, source=str(path), line=n, unit="row") from error
        examples.append(
            Example(f"q{len(examples) + 1}", str(row["question"]), gold_spans=spans, segments={"corpus": doc_id})
        )
    return EvalSet(name or path.stem, tuple(examples))


def locate_quotes(source: Any, texts: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """The rows of a JSON file, or a list of rows, with offsets in place of the quotes that are gold spans.

    A quote {doc_id, quote} is looked for as it stands, then with any white space for its own. Of several places the
    first is taken, and a warning counts such quotes. None where no gold span is a quote.

    Raises:
        DataError: a quote that is not in its document, or whose document is not in the corpus; names the example.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_file() or path.suffix not in (".jsonl", ".json", ".ndjson"):
            return None
        rows = [dict(row) for _, row in jsonl.read(path).rows]
    elif isinstance(source, list) and all(isinstance(row, Mapping) for row in source):
        rows = [dict(row) for row in source]
    else:
        return None
    quotes = [span for row in rows for span in _list_spans(row) if _find_quote(span)]
    if not quotes:
        return None
    names = match_label_names(texts, [_get_document_id(span) for span in quotes])
    texts_by_label, several = {names.get(doc_id, doc_id): text for doc_id, text in texts.items()}, 0
    for n, row in enumerate(rows, 1):
        spans = list(_list_spans(row))
        for index, span in enumerate(spans):
            if quote := _find_quote(span):
                start, end, n_places = _locate_quote(
                    quote, _get_document_id(span), texts_by_label, f"example {row.get('query_id', n)}"
                )
                several += n_places > 1
                spans[index] = {"doc_id": _get_document_id(span), "start": start, "end": end}
        if spans:
            row["gold_spans"] = spans
    if several:
        verb = "stands" if several == 1 else "stand"
        warn_user(
            f"{format_count(several, 'quote')} of gold spans {verb} more than once in the document; the first is used."
        )
    return rows


def _list_spans(row: Mapping[str, Any]) -> Iterator[Any]:
    spans = row.get("gold_spans")
    return iter(spans if isinstance(spans, list) else ())


def _find_quote(span: Any) -> str:
    """The text of a gold span that has no offsets; "" where it has."""
    if not isinstance(span, Mapping) or span.get("start") is not None or span.get("end") is not None:
        return ""
    return next((text for key in QUOTES if isinstance(text := span.get(key), str) and text.strip()), "")


def _get_document_id(span: Mapping[str, Any]) -> str:
    return next((str(span[key]) for key in DOC_KEYS if span.get(key) is not None), "")


def _locate_quote(quote: str, doc_id: str, texts: Mapping[str, str], source: str) -> tuple[int, int, int]:
    """(start, end) of a quote in its document, and in how many places it stands."""
    if doc_id not in texts:
        near = ", ".join(find_nearest(doc_id, texts, 3, 0.0))
        raise DataError(f"the quote of {doc_id!r} is not in any document. Closest text: {near} …", source=source)
    text = texts[doc_id]
    positions = [(match.start(), match.end()) for match in re.finditer(re.escape(quote), text)]
    positions = positions or [
        (match.start(), match.end()) for match in re.finditer(r"\s+".join(map(re.escape, quote.split())), text)
    ]
    if not positions:
        preview, hint = " ".join(quote.split())[:60], "Quote the document word for word, or give start and end."
        raise DataError(f"the gold quote {preview!r} is not in the document {doc_id!r}.", source=source, hint=hint)
    return (*positions[0], len(positions))


def read_texts(source: Any, undecoded: list[str] | None = None) -> dict[str, str]:
    """doc_id -> text of every document. Of text files every character counts, front matter too.

    A line end is one character, CRLF too, as `Path.read_text` has it; a warning counts the files with CRLF.

    Args:
        source: a folder of text files (doc_id is the path in it without the ending), one text file, or whatever
            `read_corpus` reads.
        undecoded: receives the names of a folder's text files that are not UTF-8, which are then left out; None = such
            a file is an error.

    Raises:
        DataError: there is no document, none has a text, one is not UTF-8, or two share an id.
    """
    if (page := find_text_file(source)) is not None:
        return _check_texts({page.stem: _read_utf8(page)}, [page], page)
    folder = Path(source) if isinstance(source, str | Path) else None
    if folder is None or not folder.is_dir() or any(folder.glob("corpus.jsonl*")):
        return {document.doc_id: document.text for document in read_corpus(source)}
    by_name: dict[str, str] = {}
    pages = sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    for path in pages:
        doc_id = path.relative_to(folder).with_suffix("").as_posix()
        if doc_id in by_name:
            hint = "The id of a text file is its path without the extension. Rename one of them."
            raise DataError(f"two documents have the id {doc_id!r}.", source=str(path), hint=hint)
        try:
            by_name[doc_id] = _read_utf8(path)
        except DataError:
            if undecoded is None:
                raise
            undecoded.append(path.relative_to(folder).as_posix())
    if undecoded and not by_name:
        problem = f"no UTF-8 text file in this folder; skipped: {', '.join(undecoded[:3])}."
        raise DataError(problem, source=str(folder), hint="Save the files as UTF-8.")
    if not by_name:
        raise DataError(f"no text file ({', '.join(SUFFIXES)}) in this folder.", source=str(folder))
    return _check_texts(by_name, pages, folder)


def _check_texts(texts: dict[str, str], pages: Sequence[Path], source: Path) -> dict[str, str]:
    """The texts, if any is not blank; a warning where offsets counted on bytes would not fit."""
    if not any(text.strip() for text in texts.values()):
        raise DataError("none of its documents has text.", source=str(source), hint="Use another corpus.")
    if crlf_pages := [page for page in pages if b"\r\n" in page.read_bytes()]:
        message = (
            f"{source}: {format_count(len(crlf_pages), 'text file')} with CRLF line ends, such as "
            f"{crlf_pages[0].name}. Offsets count"
        )
        warn_user(f"{message} such a line ending as one character; spans that count two are too far right.")
    return texts


def _read_utf8(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8, got byte 0x{error.object[error.start]:02x} at offset {error.start}."
        raise DataError(problem, source=str(path), hint="Save the file as UTF-8.") from error
