"""A framework's document as the dictionary that `returned` makes a passage of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from ragauge.data.readers.passages import MADE, METADATA_KEYS
from ragauge.data.response import Passage

NAMES_DOCUMENT = ("doc_id", "document_id")
DATED = ("updated_at", "superseded_by")
COUNTED = {"input": ("input_tokens", "prompt_tokens"), "output": ("output_tokens", "completion_tokens")}
RETRIEVED_ONLY = {"answer": "retrieval only"}


def document(
    text: str | None, ids: Sequence[str | None], metadata: Mapping[str, Any], score: Any = None, *,
    key: str | None = None, start: Any = None,
) -> dict[str, Any]:     # fmt: skip
    """A document as a dictionary with text, score, metadata, and its id where the framework gives one.

    The doc_id is the first of these: metadata[key]; metadata's doc_id or document_id; an id of the framework that a
    person gave; what `data.readers.passages` finds in the metadata; an id that the framework made up (a UUID, a SHA-256
    of the content); a hash of the text. The framework's own id of the piece is its passage_id.

    Args:
        text: its content.
        ids: the framework's ids, of the document that it was cut from first, of the piece itself last.
        metadata: read for ids, for updated_at and superseded_by, and for a reranker's relevance_score.
        score: higher is better; what is not a finite number counts as none.
        key: a key of the metadata that names the document; metadata without it go by the other rules.
        start: the first character of the text in its document, where it is known.
    """
    out: dict[str, Any] = {"text": text}
    piece = ids[-1] if ids else None
    named = [name for name in ids if name and not MADE.fullmatch(name)]
    found = next((metadata[name] for name in (key, *NAMES_DOCUMENT) if name and metadata.get(name) is not None), None)
    if found is None and named:
        found = named[0]
    searched = {name: metadata[name] for name in METADATA_KEYS if metadata.get(name) is not None}
    if found is None and not searched:
        found = next((name for name in ids if name), None)
    if found is not None:
        out["doc_id"] = found
    elif searched:
        out["metadata"] = searched
    if piece:
        out["passage_id"] = piece
    known = finite(metadata.get("relevance_score") if score is None else score)
    if known is not None:
        out["score"] = known
    if text is not None and isinstance(start, int) and start >= 0:
        out["span"] = {"start": start, "end": start + len(text)}
    return out | {name: metadata[name] for name in DATED if metadata.get(name) is not None}


def finite(score: Any) -> float | None:
    """A score as a number; None where it is none.

    >>> finite("0.5"), finite(float("nan")), finite(None), finite(True)
    (0.5, None, None, None)
    """
    if score is None or isinstance(score, bool):
        return None
    try:
        found = float(score)
    except (TypeError, ValueError):
        return None
    return found if isfinite(found) else None


def bases(target: object, package: str) -> set[str]:
    """The names of the classes of an object that come from a package, without importing it; none of a class itself.

    >>> import json
    >>> bases(json.JSONDecoder(), "json"), bases(json.JSONDecoder, "json"), bases(1, "json")
    ({'JSONDecoder'}, set(), set())
    """
    if isinstance(target, type):
        return set()
    return {cls.__name__ for cls in type(target).__mro__ if cls.__module__.split(".")[0] == package}


def union(lists: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Several retrieval steps as one list: in order, the first copy of a piece kept, each with its hop."""
    if len(lists) == 1:
        return list(lists[0])
    seen: set[tuple[str, ...]] = set()
    out = []
    for hop, found in enumerate(lists):
        for one in found:
            if (mark := identity(one)) not in seen:
                seen.add(mark)
                out.append({**one, "hop": hop})
    return out


def identity(one: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a piece from another."""
    return tuple(str(one.get(name)) for name in ("passage_id", "doc_id", "text"))


def deeper(candidates: Sequence[dict[str, Any]], passages: Sequence[dict[str, Any]]) -> bool:
    """Whether a list is the ranking that the passages were chosen from: another order, or more of them."""
    return bool(candidates) and list(map(identity, candidates)) != list(map(identity, passages))


def as_metadata(passage: Passage, taken: Collection[str] = ()) -> dict[str, Any]:
    """What a document made of a handed passage says of itself; `source` too, since prompts like to show it."""
    values = {"doc_id": passage.doc_id, "source": passage.doc_id, "passage_id": passage.passage_id}
    return {name: value for name, value in values.items() if name not in taken}


def counted(*usages: Any) -> dict[str, int]:
    """Token counts of model calls, summed, under one spelling: input, output.

    >>> counted({"prompt_tokens": 7, "completion_tokens": 2}, {"input_tokens": 1, "output_tokens": 1}, None)
    {'input': 8, 'output': 3}
    """
    out: dict[str, int] = {}
    for usage in usages:
        for kind, value in _counts(usage):
            out[kind] = out.get(kind, 0) + value
    return out


def _counts(usage: Any) -> Iterator[tuple[str, int]]:
    for kind, names in COUNTED.items():
        for name in names:
            value = usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                yield kind, value
                break
