"""Chunkers by name: our own, a library's class, a function of the user's, or a file of chunks."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ragauge.core.class_lookup import load, named_class
from ragauge.core.errors import DataError, UnknownName, UsageError, nearest
from ragauge.readers import jsonl
from ragauge.studies.chunking.alignment import Piece
from ragauge.studies.chunking.splitters import CUTTERS
from ragauge.studies.chunking.tokens import TokenisedDocument
from ragauge.text.tokens import count, token_bytes

Cut = Callable[[TokenisedDocument], Sequence[Piece]]
# prefix -> module that a class is looked for in, what has to be installed, how its classes are told to count tokens
LIBRARIES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "langchain": ("langchain_text_splitters", "langchain-text-splitters", {"length_function": count}),
    "llamaindex": ("llama_index.core.node_parser", "llama-index-core", {"tokenizer": token_bytes}),
    "chonkie": ("chonkie", "chonkie", {"tokenizer": count}),
    "semantic-text-splitter": ("semantic_text_splitter", "semantic-text-splitter", {"callback": count}),
}
LENGTH = "length"  # of a library's class: length=token counts as we do
START = "start_index"  # as LangChain and Chonkie call an offset
FORMS = "A chunker returns a list of texts, of {text, start}, or of objects with text."


def grid_of(spec: str) -> list[dict[str, Any]]:
    """A chunker as it is named on the command line, lists of values multiplied: the parameters of each trial.

    >>> grid_of("token:size=200,400:overlap=0")
    [{'chunker': 'token', 'size': 200, 'overlap': 0}, {'chunker': 'token', 'size': 400, 'overlap': 0}]
    """
    parts = spec.split(":")
    split_at = next((n for n, part in enumerate(parts) if "=" in part), len(parts))
    name, given = ":".join(parts[:split_at]), [part.partition("=") for part in parts[split_at:]]
    if not name or any(not sign for _, sign, _ in given):
        raise UsageError(f"{spec!r} is no chunker. Write NAME:param=value, such as token:size=200,400:overlap=0.")
    lists = [[(key, _value(text)) for text in values.split(",")] for key, _, values in given]
    return [{"chunker": name, **dict(choice)} for choice in product(*lists)]


def chunker_of(parameters: Mapping[str, Any], known: Collection[str] | None = None) -> Cut:
    """What cuts documents, by the parameters of a trial.

    Args:
        parameters: chunker, and what its constructor or function takes; `length=token` makes a library's class count
            cl100k tokens where it would count characters.
        known: ids of the documents; a file with chunks of another is refused. None = any.

    Raises:
        UnknownName: no chunker, class or parameter of this name.
        MissingExtra: a library that is not installed.
        UsageError: a length that is not token or char.
        DataError: a file of chunks that cannot be read.
    """
    name = str(parameters["chunker"])
    given = {key: value for key, value in parameters.items() if key != "chunker"}
    prefix, _, rest = name.partition(":")
    if name in CUTTERS:
        cutter = CUTTERS[name]
        takes = [key for key in inspect.signature(cutter).parameters if key != "document"]
        for key in given:
            if key not in takes:
                raise UnknownName(f"parameter of {name}", key, takes)
        return lambda document: cutter(document, **given)
    if prefix in LIBRARIES:
        return _of_library(prefix, rest, given)
    path = Path(name)
    if path.suffix in (".jsonl", ".json") or path.is_file():
        return _of_file(path, known)
    if ":" not in name:
        raise UnknownName("chunker", name, [*CUTTERS, *LIBRARIES], "A function is named module:name.")
    made = load(name)
    function = made(**given) if isinstance(made, type) else partial(made, **given)
    return lambda document: _pieces(function(document.text), name)


def _of_library(prefix: str, class_name: str, given: Mapping[str, Any]) -> Cut:
    module, package, counting = LIBRARIES[prefix]
    made_of = named_class(module, class_name or "TextSplitter", package)
    length = given.get(LENGTH, "char")
    if length not in ("token", "char"):
        raise UsageError(f"{prefix}: {LENGTH} must be token or char, got {length}.")
    given = {key: value for key, value in given.items() if key != LENGTH}
    counted = counting if length == "token" else {}
    if prefix == "semantic-text-splitter":
        if "size" in given:
            known = ["capacity", "overlap", "trim", LENGTH]
            raise UnknownName(f"parameter of {prefix}", "size", known, meant=["capacity"])
        capacity = given.pop("capacity", 400)
        splitter = made_of.from_callback(count, capacity, **given) if counted else made_of(capacity, **given)
        return lambda document: [Piece(text, start) for start, text in splitter.chunk_indices(document.text)]
    return partial(_CUTS[prefix], made_of(**given, **counted))


def _by_langchain(splitter: Any, document: TokenisedDocument) -> list[Piece]:
    """Documents where the class makes them, so that an offset which add_start_index asks for is read."""
    cut = getattr(splitter, "create_documents", None)
    pieces = cut([document.text]) if cut else splitter.split_text(document.text)
    return [
        Piece(piece) if isinstance(piece, str) else Piece(piece.page_content, piece.metadata.get(START))
        for piece in pieces
    ]


def _by_llamaindex(parser: Any, document: TokenisedDocument) -> list[Piece]:
    from llama_index.core import Document

    nodes = parser.get_nodes_from_documents([Document(text=document.text)])
    return [Piece(node.text, node.start_char_idx) for node in nodes]


def _by_chonkie(chunker: Any, document: TokenisedDocument) -> list[Piece]:
    return _pieces(chunker(document.text), type(chunker).__name__)


_CUTS: Mapping[str, Callable[[Any, TokenisedDocument], Sequence[Piece]]] = {
    "langchain": _by_langchain,
    "llamaindex": _by_llamaindex,
    "chonkie": _by_chonkie,
}


def _of_file(path: Path, known: Collection[str] | None) -> Cut:
    """Chunks of a JSONL file: doc_id, text, and start where it is known; in the order of each document."""
    if not path.is_file():
        raise DataError("there is no such file of chunks.", source=str(path), hint="Name a .jsonl file.")
    by_document: dict[str, list[Piece]] = {}
    for n, row in jsonl.read(path).rows:
        text, doc_id, start = row.get("text"), row.get("doc_id"), row.get("start")
        if not isinstance(text, str) or doc_id is None or not (start is None or type(start) is int):
            problem = f"a chunk has doc_id, text, and perhaps start, a whole number; found: {', '.join(row)}."
            raise DataError(problem, source=str(path), line=n, hint='Write {"doc_id": "a", "text": "…", "start": 0}.')
        if known is not None and str(doc_id) not in known:
            near = nearest(str(doc_id), known)
            told = f"{doc_id!r} is no document of the corpus{f'; nearest: {near[0]}' if near else ''}."
            raise DataError(told, source=str(path), line=n, hint="Hand in the corpus that was cut.")
        by_document.setdefault(str(doc_id), []).append(Piece(text, start))
    return lambda document: by_document.get(document.doc_id, [])


def _pieces(pieces: Any, name: str) -> list[Piece]:
    """What a function or a library's chunker returned."""
    if isinstance(pieces, str | bytes) or not isinstance(pieces, Iterable):
        raise UsageError(f"{name} returned {type(pieces).__name__}. {FORMS}")
    return [_piece(piece, name) for piece in pieces]


def _piece(piece: Any, name: str) -> Piece:
    """A chunk as it may be returned: a text, a mapping, or an object with text; with its start where it says one."""
    if isinstance(piece, str):
        return Piece(piece)
    if isinstance(piece, Mapping):
        text, start = piece.get("text"), piece.get("start", piece.get(START))
    else:
        text = getattr(piece, "text", None) or getattr(piece, "page_content", None)
        start = getattr(piece, START, None)
    if not isinstance(text, str):
        raise UsageError(f"{name} returned a chunk without text: {type(piece).__name__}. {FORMS}")
    return Piece(text, start if isinstance(start, int) else None)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def name_of(parameters: Mapping[str, Any]) -> str:
    """A trial's name: its chunker with the parameters in the order of the alphabet.

    >>> name_of({"chunker": "token", "size": 400, "overlap": 0})
    'token:overlap=0:size=400'
    """
    rest = sorted((key, value) for key, value in parameters.items() if key != "chunker")
    return ":".join([str(parameters["chunker"]), *(f"{key}={value}" for key, value in rest)])
