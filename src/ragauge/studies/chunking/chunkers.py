"""Chunkers by name: our own by tokens, sentences and separators, a library's, a user's, or a file."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.class_lookup import load_class, load_object
from ragauge.core.errors import DataError, UnknownName, UsageError, find_nearest
from ragauge.core.example import Span
from ragauge.readers import jsonl
from ragauge.studies.chunking.alignment import ReturnedChunk
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import count_tokens, list_token_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int64]


class TokenizedDocument:
    """A document and where each of its cl100k tokens ends.

    Attributes:
        doc_id: of the document.
        text: as it is.
        first: shape (tokens,), the character that holds a token's first byte.
        last: shape (tokens,), the character that holds its last byte: a span that holds it holds the token.
    """

    def __init__(self, doc_id: str, text: str) -> None:
        import numpy as np

        self.doc_id, self.text = doc_id, text
        end_bytes = np.cumsum(np.array(list_token_bytes(text), dtype=np.int64))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), end_bytes[:-1]]) if end_bytes.size else end_bytes
        self.first: Places = starts
        self.last: Places = end_bytes - 1
        if not text.isascii():
            points = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
            width = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
            after = np.cumsum(width)  # bytes up to and with each character
            self.first, self.last = (
                np.searchsorted(after, starts, "right"),
                np.searchsorted(after, end_bytes - 1, "right"),
            )

    def __len__(self) -> int:
        return int(self.last.size)

    def to_token_span(self, start: int, end: int) -> Span:
        """The tokens whose last character lies in [start, end)."""
        import numpy as np

        low, high = np.searchsorted(self.last, [start, end], "left")
        return Span(self.doc_id, int(low), int(high))


SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
TextRange = tuple[int, int]  # start and end of a part of a text


def split_by_tokens(document: TokenizedDocument, size: int = 400, overlap: int = 0) -> list[ReturnedChunk]:
    """Windows of `size` tokens of the whole document, each beginning size − overlap tokens after the one before."""
    _check_sizes("token", size, overlap)
    pieces, n = [], len(document)
    for start in range(0, n, size - overlap):
        first, last = int(document.first[start]), int(document.last[min(start + size, n) - 1])
        pieces.append(ReturnedChunk(document.text[first : last + 1], first))
        if start + size >= n:
            break
    return pieces


def split_by_sentences(document: TokenizedDocument, size: int = 400, overlap: int = 0) -> list[ReturnedChunk]:
    """Whole sentences, as many as `size` tokens hold, the last ones of a chunk repeated up to `overlap` tokens.

    A sentence that is longer stands alone.
    """
    _check_sizes("sentence", size, overlap)
    text = document.text
    return _trim_ranges(
        text, _pack_ranges(text, [(sentence.start, sentence.end) for sentence in split_sentences(text)], size, overlap)
    )


def split_by_separators(document: TokenizedDocument, size: int = 400, overlap: int = 0) -> list[ReturnedChunk]:
    """Parts between paragraphs, else lines, sentence ends, words, characters, packed to at most `size` tokens.

    A part that is too long is cut at the next finer separator. Parts of a chunk are repeated up to `overlap` tokens.
    Source: the recursive splitter of LangChain with Chroma's separators.
    """
    _check_sizes("recursive", size, overlap)
    text = document.text
    return _trim_ranges(text, _split_recursively(text, (0, len(text)), SEPARATORS, size, overlap))


CUTTERS: dict[str, Callable[..., Sequence[ReturnedChunk]]] = {
    "token": split_by_tokens,
    "sentence": split_by_sentences,
    "recursive": split_by_separators,
}


def _check_sizes(name: str, size: int, overlap: int) -> None:
    if size < 1:
        raise UsageError(f"{name}: size must be at least 1, got {size}.")
    if not 0 <= overlap < size:
        raise UsageError(f"{name}: overlap must be at least 0 and below size={size}, got {overlap}.")


def _trim_ranges(text: str, ranges: Sequence[TextRange]) -> list[ReturnedChunk]:
    """The parts without the white space around them; what is then empty is left out."""
    pieces = []
    for start, end in ranges:
        range_text = text[start:end]
        bare = range_text.strip()
        if bare:
            pieces.append(ReturnedChunk(bare, start + len(range_text) - len(range_text.lstrip())))
    return pieces


def _split_recursively(
    text: str, bounds: TextRange, separators: Sequence[str], size: int, overlap: int
) -> list[TextRange]:
    separator_index = next(
        n for n, separator in enumerate(separators) if separator == "" or text.find(separator, *bounds) >= 0
    )
    finer = separators[separator_index + 1 :]
    ranges: list[TextRange] = []
    good: list[TextRange] = []
    for text_range in _split_at(text, bounds, separators[separator_index]):
        if count_tokens(text[text_range[0] : text_range[1]]) < size:
            good.append(text_range)
            continue
        ranges += _pack_ranges(text, good, size, overlap)
        good = []
        ranges += _split_recursively(text, text_range, finer, size, overlap) if finer else [text_range]
    return ranges + _pack_ranges(text, good, size, overlap)


def _split_at(text: str, bounds: TextRange, separator: str) -> list[TextRange]:
    """Parts that begin with the separator, but for the first."""
    start, end = bounds
    if not separator:
        return [(n, n + 1) for n in range(start, end)]
    edges, offset = [start], text.find(separator, start, end)
    while offset >= 0:
        edges.append(offset)
        offset = text.find(separator, offset + len(separator), end)
    return [(a, b) for a, b in zip(edges, [*edges[1:], end], strict=True) if a < b]


def _pack_ranges(text: str, ranges: Sequence[TextRange], size: int, overlap: int) -> list[TextRange]:
    """Neighbouring parts joined while they hold at most `size` tokens, counted part by part."""
    packed: list[TextRange] = []
    current: list[tuple[TextRange, int]] = []
    total = 0
    for text_range in ranges:
        length = count_tokens(text[text_range[0] : text_range[1]])
        if current and total + length > size:
            packed.append((current[0][0][0], current[-1][0][1]))
            while current and (total > overlap or total + length > size):
                total -= current.pop(0)[1]
        current.append((text_range, length))
        total += length
    return [*packed, (current[0][0][0], current[-1][0][1])] if current else packed


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
