"""Chunkers by name: our own, a library's class, a function of the user's, or a file of chunks."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ragauge.components.chunking.alignment import Piece
from ragauge.components.chunking.cutting import CUTTERS
from ragauge.components.chunking.tokens import TokenisedDocument
from ragauge.data.readers import jsonl
from ragauge.engine.studies.importing import load, named_class
from ragauge.errors import DataError, UnknownName, UsageError

Cut = Callable[[TokenisedDocument], Sequence[Piece]]
LIBRARIES = {     # prefix -> modules that a class is looked for in, and what has to be installed
    "langchain": (("langchain_text_splitters",), "langchain-text-splitters"),
    "llamaindex": (("llama_index.core.node_parser",), "llama-index-core"),
    "chonkie": (("chonkie",), "chonkie"),
    "semantic-text-splitter": (("semantic_text_splitter",), "semantic-text-splitter"),
}


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


def chunker_of(parameters: Mapping[str, Any]) -> Cut:
    """What cuts documents, by the parameters of a trial.

    Raises:
        UnknownName: no chunker, class or parameter of this name.
        UsageError: a library that is not installed, or a value that it does not take.
    """
    name = str(parameters["chunker"])
    given = {key: value for key, value in parameters.items() if key != "chunker"}
    prefix, _, rest = name.partition(":")
    if name in CUTTERS:
        cutter = CUTTERS[name]
        known = [key for key in inspect.signature(cutter).parameters if key != "document"]
        for key in given:
            if key not in known:
                raise UnknownName(f"parameter of {name}", key, known)
        return lambda document: cutter(document, **given)
    if prefix in LIBRARIES:
        return _of_library(prefix, rest, given)
    if Path(name).is_file():
        return _of_file(Path(name))
    if ":" not in name:
        raise UnknownName("chunker", name, [*CUTTERS, *LIBRARIES], "A function is named module:name.")
    made = load(name)
    function = made(**given) if isinstance(made, type) else made
    extra = {} if isinstance(made, type) else given
    return lambda document: [_piece(one) for one in function(document.text, **extra)]


def _of_library(prefix: str, class_name: str, given: Mapping[str, Any]) -> Cut:
    modules, package = LIBRARIES[prefix]
    cls = named_class(modules, class_name or "TextSplitter", package)
    from_tokens = getattr(cls, "from_tiktoken_encoder", None) if "encoding_name" in given else None
    if prefix == "semantic-text-splitter":
        made = cls(given.get("capacity", 400), **{key: one for key, one in given.items() if key != "capacity"})
        return lambda document: [Piece(text, start) for start, text in made.chunk_indices(document.text)]
    made = (from_tokens or cls)(**given)
    match prefix:
        case "langchain":
            return lambda document: [Piece(text) for text in made.split_text(document.text)]
        case "llamaindex":
            return lambda document: _of_nodes(made, document.text)
    return lambda document: [_piece(one) for one in made(document.text)]


def _of_nodes(made: Any, text: str) -> list[Piece]:
    if hasattr(made, "split_text"):
        return [Piece(one) for one in made.split_text(text)]
    from llama_index.core import Document

    nodes = made.get_nodes_from_documents([Document(text=text)])
    return [Piece(node.text, node.start_char_idx) for node in nodes]


def _of_file(path: Path) -> Cut:
    """Chunks of a JSONL file: doc_id, text, and start where it is known; in the order of each document."""
    by_document: dict[str, list[Piece]] = {}
    for n, row in jsonl.read(path).rows:
        text, doc_id, start = row.get("text"), row.get("doc_id"), row.get("start")
        if not isinstance(text, str) or doc_id is None or not (start is None or isinstance(start, int)):
            problem = f"a chunk has doc_id, text, and perhaps start; found: {', '.join(row)}."
            raise DataError(problem, source=str(path), line=n, hint='Write {"doc_id": "a", "text": "…", "start": 0}.')
        by_document.setdefault(str(doc_id), []).append(Piece(text, start))
    return lambda document: by_document.get(document.doc_id, [])


def _piece(one: Any) -> Piece:
    """A chunk as a function or library may return it: a text, (start, end), a mapping, or an object with text."""
    if isinstance(one, str):
        return Piece(one)
    if isinstance(one, Mapping):
        return Piece(str(one["text"]), one.get("start", one.get("start_index")))
    text = getattr(one, "text", None) or getattr(one, "page_content", None)
    if not isinstance(text, str):
        raise UsageError(f"a chunk must be a text, a mapping or an object with text, got {type(one).__name__}.")
    start = getattr(one, "start_index", None)
    return Piece(text, start if isinstance(start, int) else None)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def name_of(parameters: Mapping[str, Any]) -> str:
    """A trial's name: its chunker with the parameters in the order of the alphabet.

    >>> name_of({"chunker": "token", "size": 400, "overlap": 0})
    'token:overlap=0:size=400'
    """
    rest = sorted((key, value) for key, value in parameters.items() if key != "chunker")
    return ":".join([str(parameters["chunker"]), *(f"{key}={value}" for key, value in rest)])
