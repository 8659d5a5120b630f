"""Chunkers by name: our own, a library's class, a function of the user's, or a file of chunks."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ragauge.core.class_lookup import load_class, load_object
from ragauge.core.errors import DataError, UnknownName, UsageError, find_nearest
from ragauge.readers import jsonl
from ragauge.studies.chunking.alignment import ReturnedChunk
from ragauge.studies.chunking.splitters import CUTTERS
from ragauge.studies.chunking.tokens import TokenizedDocument
from ragauge.text.tokens import count_tokens, list_token_bytes

CutDocument = Callable[[TokenizedDocument], Sequence[ReturnedChunk]]
# prefix -> module that a class is looked for in, what has to be installed, how its classes are told to count tokens
LIBRARIES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "langchain": ("langchain_text_splitters", "langchain-text-splitters", {"length_function": count_tokens}),
    "llamaindex": ("llama_index.core.node_parser", "llama-index-core", {"tokenizer": list_token_bytes}),
    "chonkie": ("chonkie", "chonkie", {"tokenizer": count_tokens}),
    "semantic-text-splitter": ("semantic_text_splitter", "semantic-text-splitter", {"callback": count_tokens}),
}
LENGTH_KEY = "length"  # of a library's class: length=token counts as we do
START_KEY = "start_index"  # as LangChain and Chonkie call an offset
RETURN_HINT = "A chunker must return a list of strings, of {text, start}, or of objects with a text attribute."


def parse_grid(spec: str) -> list[dict[str, Any]]:
    """A chunker as it is named on the command line, lists of values multiplied: the parameters of each trial.

    >>> parse_grid("token:size=200,400:overlap=0")
    [{'chunker': 'token', 'size': 200, 'overlap': 0}, {'chunker': 'token', 'size': 400, 'overlap': 0}]
    """
    fields = spec.split(":")
    split_at = next((n for n, field_text in enumerate(fields) if "=" in field_text), len(fields))
    name, assignments = ":".join(fields[:split_at]), [field_text.partition("=") for field_text in fields[split_at:]]
    if not name or any(not sign for _, sign, _ in assignments):
        raise UsageError(f"{spec!r} is not a chunker. Use NAME:param=value, such as token:size=200,400:overlap=0.")
    lists = [[(key, _parse_value(text)) for text in values.split(",")] for key, _, values in assignments]
    return [{"chunker": name, **dict(choice)} for choice in product(*lists)]


def make_chunker(parameters: Mapping[str, Any], known_ids: Collection[str] | None = None) -> CutDocument:
    """What cuts documents, by the parameters of a trial.

    Args:
        parameters: chunker, and what its constructor or function takes; `length=token` makes a library's class count
            cl100k tokens where it would count characters.
        known_ids: ids of the documents; a file with chunks of another is refused. None = any.

    Raises:
        UnknownName: no chunker, class or parameter of this name.
        MissingExtra: a library that is not installed.
        UsageError: a length that is not token or char.
        DataError: a file of chunks that cannot be read.
    """
    name = str(parameters["chunker"])
    options = {key: value for key, value in parameters.items() if key != "chunker"}
    prefix, _, class_name = name.partition(":")
    if name in CUTTERS:
        cutter = CUTTERS[name]
        takes = [key for key in inspect.signature(cutter).parameters if key != "document"]
        for key in options:
            if key not in takes:
                raise UnknownName(f"parameter of {name}", key, takes)
        return lambda document: cutter(document, **options)
    if prefix in LIBRARIES:
        return _make_library_chunker(prefix, class_name, options)
    path = Path(name)
    if path.suffix in (".jsonl", ".json") or path.is_file():
        return _read_chunk_file(path, known_ids)
    if ":" not in name:
        raise UnknownName("chunker", name, [*CUTTERS, *LIBRARIES], "To use your own function, write module:name.")
    made = load_object(name)
    function = made(**options) if isinstance(made, type) else partial(made, **options)
    return lambda document: _convert_chunks(function(document.text), name)


def _make_library_chunker(prefix: str, class_name: str, options: Mapping[str, Any]) -> CutDocument:
    module, package, counting = LIBRARIES[prefix]
    made_of = load_class(module, class_name or "TextSplitter", package)
    length = options.get(LENGTH_KEY, "char")
    if length not in ("token", "char"):
        raise UsageError(f"{prefix}: {LENGTH_KEY} must be token or char, got {length}.")
    options = {key: value for key, value in options.items() if key != LENGTH_KEY}
    counted = counting if length == "token" else {}
    if prefix == "semantic-text-splitter":
        if "size" in options:
            valid_names = ["capacity", "overlap", "trim", LENGTH_KEY]
            raise UnknownName(f"parameter of {prefix}", "size", valid_names, meant=["capacity"])
        capacity = options.pop("capacity", 400)
        splitter = made_of.from_callback(count_tokens, capacity, **options) if counted else made_of(capacity, **options)
        return lambda document: [ReturnedChunk(text, start) for start, text in splitter.chunk_indices(document.text)]
    return partial(_CUTS[prefix], made_of(**options, **counted))


def _split_with_langchain(splitter: Any, document: TokenizedDocument) -> list[ReturnedChunk]:
    """Documents where the class makes them, so that an offset which add_start_index asks for is read."""
    cut = getattr(splitter, "create_documents", None)
    pieces = cut([document.text]) if cut else splitter.split_text(document.text)
    return [
        ReturnedChunk(chunk)
        if isinstance(chunk, str)
        else ReturnedChunk(chunk.page_content, chunk.metadata.get(START_KEY))
        for chunk in pieces
    ]


def _split_with_llamaindex(parser: Any, document: TokenizedDocument) -> list[ReturnedChunk]:
    from llama_index.core import Document

    nodes = parser.get_nodes_from_documents([Document(text=document.text)])
    return [ReturnedChunk(node.text, node.start_char_idx) for node in nodes]


def _split_with_chonkie(chunker: Any, document: TokenizedDocument) -> list[ReturnedChunk]:
    return _convert_chunks(chunker(document.text), type(chunker).__name__)


_CUTS: Mapping[str, Callable[[Any, TokenizedDocument], Sequence[ReturnedChunk]]] = {
    "langchain": _split_with_langchain,
    "llamaindex": _split_with_llamaindex,
    "chonkie": _split_with_chonkie,
}


def _read_chunk_file(path: Path, known_ids: Collection[str] | None) -> CutDocument:
    """Chunks of a JSONL file: doc_id, text, and start where it is known; in the order of each document."""
    if not path.is_file():
        raise DataError("the file of chunks does not exist.", source=str(path), hint="Use a .jsonl file.")
    by_document: dict[str, list[ReturnedChunk]] = {}
    for n, row in jsonl.read(path).rows:
        text, doc_id, start = row.get("text"), row.get("doc_id"), row.get("start")
        if not isinstance(text, str) or doc_id is None or not (start is None or type(start) is int):
            problem = f"a chunk needs doc_id and text, and may have start (a whole number); found: {', '.join(row)}."
            raise DataError(problem, source=str(path), line=n, hint='Write {"doc_id": "a", "text": "…", "start": 0}.')
        if known_ids is not None and str(doc_id) not in known_ids:
            near = find_nearest(str(doc_id), known_ids)
            message = f"{doc_id!r} is not a document of the corpus{f'; nearest: {near[0]}' if near else ''}."
            raise DataError(message, source=str(path), line=n, hint="Use the corpus from which the chunks were made.")
        by_document.setdefault(str(doc_id), []).append(ReturnedChunk(text, start))
    return lambda document: by_document.get(document.doc_id, [])


def _convert_chunks(pieces: Any, name: str) -> list[ReturnedChunk]:
    """What a function or a library's chunker returned."""
    if isinstance(pieces, str | bytes) or not isinstance(pieces, Iterable):
        raise UsageError(f"{name} returned {type(pieces).__name__}. {RETURN_HINT}")
    return [_convert_chunk(chunk, name) for chunk in pieces]


def _convert_chunk(chunk: Any, name: str) -> ReturnedChunk:
    """A chunk as it may be returned: a text, a mapping, or an object with text; with its start where it says one."""
    if isinstance(chunk, str):
        return ReturnedChunk(chunk)
    if isinstance(chunk, Mapping):
        text, start = chunk.get("text"), chunk.get("start", chunk.get(START_KEY))
    else:
        text = getattr(chunk, "text", None) or getattr(chunk, "page_content", None)
        start = getattr(chunk, START_KEY, None)
    if not isinstance(text, str):
        raise UsageError(f"{name} returned a chunk that has no text: {type(chunk).__name__}. {RETURN_HINT}")
    return ReturnedChunk(text, start if isinstance(start, int) else None)


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def format_name(parameters: Mapping[str, Any]) -> str:
    """A trial's name: its chunker with the parameters in the order of the alphabet.

    >>> format_name({"chunker": "token", "size": 400, "overlap": 0})
    'token:overlap=0:size=400'
    """
    ordered = sorted((key, value) for key, value in parameters.items() if key != "chunker")
    return ":".join([str(parameters["chunker"]), *(f"{key}={value}" for key, value in ordered)])
