"""What a system returned, as a Response: the one place where its many forms are read.

A text; a pair (answer, passages); a list of passages, as a retriever returns it; an object or dictionary with answer,
passages, contexts and so on under any name that files may use too; our own Response. Passages are texts, dictionaries,
pairs (document, score), or objects with a text.

A framework's document as the dictionary that `returned` makes a passage of.

What comes in pieces, put together: generators, async generators and streams of events.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from ragauge.core.identity import plain
from ragauge.core.response import Passage, Response
from ragauge.core.values import BadValue, Notes, described
from ragauge.readers.aliases import RESPONSE_FIELDS, names_of, plan_for
from ragauge.readers.fields import response_of as response_of_fields
from ragauge.readers.passages import DOC_KEYS, MADE, METADATA_KEYS, PASSAGE_KEYS, SCORE_KEYS, TEXT_KEYS
from ragauge.readers.passages import passages as passages_of_values
from ragauge.readers.payloads import returned as payload_of
from ragauge.systems.base import Question, SystemTrouble
from ragauge.text.citation_marks import where_cited

NAMES_DOCUMENT = ("doc_id", "document_id")
DATED = ("updated_at", "superseded_by")
COUNTED = {"input": ("input_tokens", "prompt_tokens"), "output": ("output_tokens", "completion_tokens")}
RETRIEVED_ONLY = {"answer": "retrieval only"}


def document(
    text: str | None,
    ids: Sequence[str | None],
    metadata: Mapping[str, Any],
    score: Any = None,
    *,
    key: str | None = None,
    start: Any = None,
) -> dict[str, Any]:
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


ACCEPTED = (
    "a text, (answer, passages), a list of passages, a dictionary with answer and passages, or a ragauge Response "
    "(ragauge docs systems)"
)
OURS = frozenset({"query_id", "repeat", "weight"})  # ours to say, whatever the system's own ids and counts are
SPENT = ("latency_ms", "latency_s", "tokens", "cost")  # what a reply may say that is no response otherwise
NAMES: Sequence[str] = tuple(
    dict.fromkeys(name for field in RESPONSE_FIELDS if field not in OURS for name in names_of(field))
)
EXPLICIT = frozenset({*DOC_KEYS})
PAIR = 2


def response_of(returned: Any, question: Question, *, passages: Sequence[Passage] | None = None) -> Response:
    """The response that a system's return value stands for.

    A passage without a doc_id gets one by the rules of `data.readers.passages`: its metadata's id, doc_id, chunk_id,
    doc_uri or source, else a hash of its text. Where that happened, `missing["doc_id"]` says which rule. Numbers in the
    answer, such as [1] and [2, 3], are its citations where it gives none itself; see `data.citing`.

    Args:
        returned: what the system returned.
        question: what it was asked.
        passages: those that its generator was handed, where it was; they stand for what it says of passages.

    Raises:
        SystemTrouble: of kind unreadable: nothing in it is an answer or passages, or a value is not what it must be.
    """
    if isinstance(returned, Response):
        found = replace(returned, query_id=question.query_id, repeat=question.repeat)
    else:
        notes = Notes()
        fields = _fields(returned)
        try:
            found = response_of_fields(fields, {name: name for name in fields}, question.query_id, notes)
        except BadValue as bad:
            raise SystemTrouble("unreadable", f"{bad} {bad.hint}".strip()) from None
        found = replace(found, repeat=question.repeat, missing={**found.missing, **derived(notes)})
        found = where_cited(found if passages is None else replace(found, passages=tuple(passages)))
    if found.error is not None:
        raise SystemTrouble("reported", found.error, spent=found)
    if passages is None:
        return found
    missing = {name: why for name, why in found.missing.items() if name not in ("passages", "doc_id")}
    return replace(found, passages=tuple(passages), candidates=None, missing=missing)


def spent_of(returned: Any) -> Response | None:
    """The latency, tokens and cost that a reply carries which is no response otherwise; None where it carries none."""
    record = _record(returned)
    if record is None:
        return None
    plan = plan_for(record, {}).columns
    found = {name: record[plan[name]] for name in SPENT if plan.get(name) and record[plan[name]] is not None}
    try:
        return response_of_fields(found, {name: name for name in found}, "", Notes()) if found else None
    except BadValue:
        return None


def passages_of(returned: Any) -> tuple[tuple[Passage, ...], Mapping[str, str]]:
    """The passages that a retriever's return value stands for, and {"doc_id": rule} where their ids were derived.

    Raises:
        SystemTrouble: of kind unreadable.
    """
    notes = Notes()
    try:
        return passages_of_values(_items(returned), "passages", notes), derived(notes)
    except BadValue as bad:
        raise SystemTrouble("unreadable", f"{bad} {bad.hint}".strip()) from None


def derived(notes: Notes) -> dict[str, str]:
    """Which rules gave the ids, where they were not given as such; nothing where all were."""
    rules = [rule for rule in notes.id_rules if rule not in EXPLICIT]
    words = {"text": "from a hash of the text", "place": "from the place in the list"}
    return {"doc_id": ", ".join(words.get(rule, f"from {rule}") for rule in rules)} if rules else {}


def _fields(returned: Any) -> dict[str, Any]:
    """Our field -> value."""
    if isinstance(returned, str):
        return {"answer": returned}
    if _is_pair(returned):
        answer, passages = returned
        return {**({} if answer is None else {"answer": answer}), "passages": _items(passages)}
    if isinstance(returned, list):
        if returned and all(isinstance(one, Mapping) and "role" in one for one in returned):  # a chat
            return _fields({"messages": returned})
        return {"passages": _items(returned), "missing": RETRIEVED_ONLY}
    record = _record(returned)
    if record is None:
        raise SystemTrouble("unreadable", f"it returned {described(returned)}. Return {ACCEPTED}.")
    plan = plan_for(record, {}).columns
    found = {
        field: record[column]
        for field, column in plan.items()
        if field in RESPONSE_FIELDS and field not in OURS and record[column] is not None
    }
    found = {**payload_of({key: value for key, value in record.items() if key not in plan.values()}), **found}
    if not {"answer", "passages", "retrieved_ids", "error"} & found.keys() and not _said(plan):
        raise SystemTrouble(
            "unreadable", f"neither answer nor passages in what it returned ({described(record)}). Return {ACCEPTED}."
        )
    return {name: _items(value) if name in ("passages", "candidates") else value for name, value in found.items()}


def _is_pair(returned: Any) -> bool:
    """(answer, passages), which in JSON is a list."""
    if not isinstance(returned, tuple | list) or len(returned) != PAIR or hasattr(returned, "_fields"):
        return False
    return isinstance(returned, tuple) or (isinstance(returned[0], str) and isinstance(returned[1], list))


def _said(plan: Mapping[str, str]) -> bool:
    """Whether the answer or the passages stand there, though they are null."""
    return "answer" in plan or "passages" in plan


def _record(returned: Any) -> Mapping[str, Any] | None:
    """The named values of a dictionary or of an object."""
    if isinstance(returned, Mapping):
        return {str(key): value for key, value in returned.items()}
    if isinstance(returned, str | bytes | list | tuple | int | float) and not hasattr(returned, "_asdict"):
        return None
    for method in ("model_dump", "_asdict"):  # pydantic, named tuples
        dump: Callable[[], Any] | None = getattr(returned, method, None)
        if callable(dump):
            return dict(dump())
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        return {part.name: getattr(returned, part.name) for part in dataclasses.fields(returned)}
    values = {name: getattr(returned, name, None) for name in NAMES}
    return {name: value for name, value in values.items() if value is not None and not callable(value)} or None


def _items(passages: Any) -> Any:
    """Passages as the reader takes them: texts and dictionaries."""
    if passages is None or isinstance(passages, str | bytes | Mapping) or not isinstance(passages, Iterable):
        return passages
    return [_item(passage) for passage in passages]


def _item(one: Any) -> Any:
    if isinstance(one, Passage):
        return {"passage_id": one.passage_id, "doc_id": one.doc_id, **plain(one)}
    if isinstance(one, str | Mapping | int | float) or one is None:
        return one
    if isinstance(one, tuple | list) and len(one) == PAIR and isinstance(one[1], int | float):
        found = _item(one[0])
        return {**({"text": found} if isinstance(found, str) else found), "score": float(one[1])}
    keys = (*TEXT_KEYS, *DOC_KEYS, *PASSAGE_KEYS, *SCORE_KEYS, "metadata")
    values = {key: getattr(one, key, None) for key in keys}
    return {key: value for key, value in values.items() if value is not None and not callable(value)} or one


def read_out(returned: Any) -> Any:
    """What an iterator gives, put together; anything else as it is. It blocks as long as the iterator does."""
    return whole(list(returned)) if isinstance(returned, Iterator) else returned


async def awaited(returned: Any) -> Any:
    """What an async iterator gives, put together; anything else as it is."""
    return whole([piece async for piece in returned]) if isinstance(returned, AsyncIterator) else returned


def whole(pieces: Sequence[Any]) -> Any:
    """Texts joined are the answer, and dictionaries among them say the rest; without any text, a list.

    >>> whole(["Two ", "pounds."]), whole(["Two.", {"passages": ["It weighs two."]}]), whole([{"doc_id": "d1"}])
    ('Two pounds.', {'passages': ['It weighs two.'], 'answer': 'Two.'}, [{'doc_id': 'd1'}])
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    said = [piece for piece in pieces if isinstance(piece, Mapping)]
    if not texts or len(texts) + len(said) < len(pieces):
        return list(pieces)
    answer = "".join(texts)
    return {**{key: value for one in said for key, value in one.items()}, "answer": answer} if said else answer
