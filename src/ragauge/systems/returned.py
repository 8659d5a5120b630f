"""What a system returned, as a Response: the one place where its many forms are read.

A text; a pair (answer, passages); a list of passages, as a retriever returns it; an object or dictionary with answer,
passages, contexts and so on under any name that files may use too; our own Response. Passages are texts, dictionaries,
pairs (document, score), or objects with a text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragauge.data.canonical import plain
from ragauge.data.citing import where_cited
from ragauge.data.readers.aliases import RESPONSE_FIELDS, names_of, plan_for
from ragauge.data.readers.fields import response_of as response_of_fields
from ragauge.data.readers.passages import DOC_KEYS, PASSAGE_KEYS, SCORE_KEYS, TEXT_KEYS
from ragauge.data.readers.passages import passages as passages_of_values
from ragauge.data.readers.payloads import returned as payload_of
from ragauge.data.readers.values import BadValue, Notes, described
from ragauge.data.response import Passage, Response
from ragauge.systems.base import Question
from ragauge.systems.documents import RETRIEVED_ONLY
from ragauge.systems.troubles import SystemTrouble

ACCEPTED = (
    "a text, (answer, passages), a list of passages, a dictionary with answer and passages, or a ragauge Response "
    "(docs/systems.md)"
)
OURS = frozenset({"query_id", "repeat", "weight"})     # ours to say, whatever the system's own ids and counts are
SPENT = ("latency_ms", "latency_s", "tokens", "cost")     # what a reply may say that is no response otherwise
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
        if returned and all(isinstance(one, Mapping) and "role" in one for one in returned):     # a chat
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
    for method in ("model_dump", "_asdict"):     # pydantic, named tuples
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
    return [_item(one) for one in passages]


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
