"""What a system returned, as a Response: the one place where its many forms are read.

A text; a pair (answer, passages); a list of passages, as a retriever returns it; an object or dictionary with answer,
passages, contexts and so on under any name that files may use too; our own Response. Passages are texts, dictionaries,
pairs (document, score), or objects with a text.

A framework's document as the dictionary that `returned` makes a passage of.

What the adapters of frameworks share.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar

from ragauge.core.identity import to_json_value
from ragauge.core.response import Passage, Response, Variant
from ragauge.core.values import BadValue, Notes, describe_value
from ragauge.readers.aliases import RESPONSE_FIELDS, list_field_names, plan_columns
from ragauge.readers.fields import build_response as response_of_fields
from ragauge.readers.messages import parse_output as payload_of
from ragauge.readers.passages import DOC_KEYS, GENERATED_ID, METADATA_KEYS, PASSAGE_KEYS, SCORE_KEYS, TEXT_KEYS
from ragauge.readers.passages import parse_passages as passages_of_values
from ragauge.systems.base import Question, System, SystemTrouble, check_setting_names, parse_citation_setting
from ragauge.text.citation_marks import add_answer_citations, add_citations_if_cited

DOCUMENT_ID_KEYS = ("doc_id", "document_id")
DATE_KEYS = ("updated_at", "superseded_by")
TOKEN_KEYS = {"input": ("input_tokens", "prompt_tokens"), "output": ("output_tokens", "completion_tokens")}
RETRIEVED_ONLY = {"answer": "retrieval only"}


def build_passage_item(
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
    passage_id = ids[-1] if ids else None
    given_ids = [name for name in ids if name and not GENERATED_ID.fullmatch(name)]
    doc_id = next(
        (metadata[name] for name in (key, *DOCUMENT_ID_KEYS) if name and metadata.get(name) is not None), None
    )
    if doc_id is None and given_ids:
        doc_id = given_ids[0]
    searched = {name: metadata[name] for name in METADATA_KEYS if metadata.get(name) is not None}
    if doc_id is None and not searched:
        doc_id = next((name for name in ids if name), None)
    if doc_id is not None:
        out["doc_id"] = doc_id
    elif searched:
        out["metadata"] = searched
    if passage_id:
        out["passage_id"] = passage_id
    number = parse_score(metadata.get("relevance_score") if score is None else score)
    if number is not None:
        out["score"] = number
    if text is not None and isinstance(start, int) and start >= 0:
        out["span"] = {"start": start, "end": start + len(text)}
    return out | {name: metadata[name] for name in DATE_KEYS if metadata.get(name) is not None}


def parse_score(score: Any) -> float | None:
    """A score as a number; None where it is none.

    >>> parse_score("0.5"), parse_score(float("nan")), parse_score(None), parse_score(True)
    (0.5, None, None, None)
    """
    if score is None or isinstance(score, bool):
        return None
    try:
        number = float(score)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None


def list_base_names(target: object, package: str) -> set[str]:
    """The names of the classes of an object that come from a package, without importing it; none of a class itself.

    >>> import json
    >>> (list_base_names(json.JSONDecoder(), "json"), list_base_names(json.JSONDecoder, "json"),
    ...     list_base_names(1, "json"))
    ({'JSONDecoder'}, set(), set())
    """
    if isinstance(target, type):
        return set()
    return {cls.__name__ for cls in type(target).__mro__ if cls.__module__.split(".")[0] == package}


def merge_hops(lists: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Several retrieval steps as one list: in order, the first copy of a piece kept, each with its hop."""
    if len(lists) == 1:
        return list(lists[0])
    visited: set[tuple[str, ...]] = set()
    out = []
    for hop, items in enumerate(lists):
        for item in items:
            if (mark := build_identity(item)) not in visited:
                visited.add(mark)
                out.append({**item, "hop": hop})
    return out


def build_identity(item: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a piece from another."""
    return tuple(str(item.get(name)) for name in ("passage_id", "doc_id", "text"))


def is_candidate_ranking(candidates: Sequence[dict[str, Any]], passages: Sequence[dict[str, Any]]) -> bool:
    """Whether a list is the ranking that the passages were chosen from: another order, or more of them."""
    return bool(candidates) and list(map(build_identity, candidates)) != list(map(build_identity, passages))


def build_metadata(passage: Passage, taken: Collection[str] = ()) -> dict[str, Any]:
    """What a document made of a handed passage says of itself; `source` too, since prompts like to show it."""
    values = {"doc_id": passage.doc_id, "source": passage.doc_id, "passage_id": passage.passage_id}
    return {name: value for name, value in values.items() if name not in taken}


def sum_token_counts(*usages: Any) -> dict[str, int]:
    """Token counts of model calls, summed, under one spelling: input, output.

    >>> sum_token_counts({"prompt_tokens": 7, "completion_tokens": 2}, {"input_tokens": 1, "output_tokens": 1}, None)
    {'input': 8, 'output': 3}
    """
    out: dict[str, int] = {}
    for usage in usages:
        for kind, value in _list_token_counts(usage):
            out[kind] = out.get(kind, 0) + value
    return out


def _list_token_counts(usage: Any) -> Iterator[tuple[str, int]]:
    for kind, names in TOKEN_KEYS.items():
        for name in names:
            value = usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                yield kind, value
                break


ACCEPTED = (
    "a text, (answer, passages), a list of passages, a dictionary with answer and passages, or a ragauge Response "
    "(ragauge docs systems)"
)
OWN_FIELDS = frozenset({"query_id", "repeat", "weight"})  # ours to say, whatever the system's own ids and counts are
USAGE_FIELDS = ("latency_ms", "latency_s", "tokens", "cost")  # what a reply may say that is no response otherwise
NAMES: Sequence[str] = tuple(
    dict.fromkeys(name for field in RESPONSE_FIELDS if field not in OWN_FIELDS for name in list_field_names(field))
)
EXPLICIT = frozenset({*DOC_KEYS})
PAIR = 2


def response_of(returned: Any, question: Question, *, passages: Sequence[Passage] | None = None) -> Response:
    """The response that a system's return value stands for.

    A passage without a doc_id gets one by the rules of `data.readers.passages`: its metadata's id, doc_id, chunk_id,
    doc_uri or source, else a hash of its text. Where that happened, `missing["doc_id"]` says which rule. Numbers in the
    answer, such as [1] and [2, 3], are its citations where it gives none itself; see `text.citation_marks`.

    Args:
        returned: what the system returned.
        question: what it was asked.
        passages: those that its generator was handed, where it was; they stand for what it says of passages.

    Raises:
        SystemTrouble: of kind unreadable: nothing in it is an answer or passages, or a value is not what it must be.
    """
    if isinstance(returned, Response):
        response = replace(returned, query_id=question.query_id, repeat=question.repeat)
    else:
        notes = Notes()
        fields = _read_fields(returned)
        try:
            response = response_of_fields(fields, {name: name for name in fields}, question.query_id, notes)
        except BadValue as bad:
            raise SystemTrouble("unreadable", f"{bad} {bad.hint}".strip()) from None
        response = replace(
            response, repeat=question.repeat, missing={**response.missing, **describe_derived_ids(notes)}
        )
        response = add_citations_if_cited(response if passages is None else replace(response, passages=tuple(passages)))
    if response.error is not None:
        raise SystemTrouble("reported", response.error, spent=response)
    if passages is None:
        return response
    missing = {name: reason for name, reason in response.missing.items() if name not in ("passages", "doc_id")}
    return replace(response, passages=tuple(passages), candidates=None, missing=missing)


def find_usage(returned: Any) -> Response | None:
    """The latency, tokens and cost that a reply carries which is no response otherwise; None where it carries none."""
    record = _read_record(returned)
    if record is None:
        return None
    plan = plan_columns(record, {}).columns
    usage = {name: record[plan[name]] for name in USAGE_FIELDS if plan.get(name) and record[plan[name]] is not None}
    try:
        return response_of_fields(usage, {name: name for name in usage}, "", Notes()) if usage else None
    except BadValue:
        return None


def read_passages(returned: Any) -> tuple[tuple[Passage, ...], Mapping[str, str]]:
    """The passages that a retriever's return value stands for, and {"doc_id": rule} where their ids were derived.

    Raises:
        SystemTrouble: of kind unreadable.
    """
    notes = Notes()
    try:
        return passages_of_values(_normalize_passages(returned), "passages", notes), describe_derived_ids(notes)
    except BadValue as bad:
        raise SystemTrouble("unreadable", f"{bad} {bad.hint}".strip()) from None


def describe_derived_ids(notes: Notes) -> dict[str, str]:
    """Which rules gave the ids, where they were not given as such; nothing where all were."""
    rules = [rule for rule in notes.id_rules if rule not in EXPLICIT]
    words = {"text": "from a hash of the text", "place": "from the position in the list"}
    return {"doc_id": ", ".join(words.get(rule, f"from {rule}") for rule in rules)} if rules else {}


def _read_fields(returned: Any) -> dict[str, Any]:
    """Our field -> value."""
    if isinstance(returned, str):
        return {"answer": returned}
    if _is_pair(returned):
        answer, passages = returned
        return {**({} if answer is None else {"answer": answer}), "passages": _normalize_passages(passages)}
    if isinstance(returned, list):
        if returned and all(isinstance(turn, Mapping) and "role" in turn for turn in returned):  # a chat
            return _read_fields({"messages": returned})
        return {"passages": _normalize_passages(returned), "missing": RETRIEVED_ONLY}
    record = _read_record(returned)
    if record is None:
        raise SystemTrouble("unreadable", f"it returned {describe_value(returned)}. Return {ACCEPTED}.")
    plan = plan_columns(record, {}).columns
    values = {
        field: record[column]
        for field, column in plan.items()
        if field in RESPONSE_FIELDS and field not in OWN_FIELDS and record[column] is not None
    }
    values = {**payload_of({key: value for key, value in record.items() if key not in plan.values()}), **values}
    if not {"answer", "passages", "retrieved_ids", "error"} & values.keys() and not _has_response_keys(plan):
        raise SystemTrouble(
            "unreadable", f"it returned neither an answer nor passages ({describe_value(record)}). Return {ACCEPTED}."
        )
    return {
        name: _normalize_passages(value) if name in ("passages", "candidates") else value
        for name, value in values.items()
    }


def _is_pair(returned: Any) -> bool:
    """(answer, passages), which in JSON is a list."""
    if not isinstance(returned, tuple | list) or len(returned) != PAIR or hasattr(returned, "_fields"):
        return False
    return isinstance(returned, tuple) or (isinstance(returned[0], str) and isinstance(returned[1], list))


def _has_response_keys(plan: Mapping[str, str]) -> bool:
    """Whether the answer or the passages stand there, though they are null."""
    return "answer" in plan or "passages" in plan


def _read_record(returned: Any) -> Mapping[str, Any] | None:
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
        return {field.name: getattr(returned, field.name) for field in dataclasses.fields(returned)}
    values = {name: getattr(returned, name, None) for name in NAMES}
    return {name: value for name, value in values.items() if value is not None and not callable(value)} or None


def _normalize_passages(passages: Any) -> Any:
    """Passages as the reader takes them: texts and dictionaries."""
    if passages is None or isinstance(passages, str | bytes | Mapping) or not isinstance(passages, Iterable):
        return passages
    return [_normalize_passage(passage) for passage in passages]


def _normalize_passage(passage: Any) -> Any:
    if isinstance(passage, Passage):
        return {"passage_id": passage.passage_id, "doc_id": passage.doc_id, **to_json_value(passage)}
    if isinstance(passage, str | Mapping | int | float) or passage is None:
        return passage
    if isinstance(passage, tuple | list) and len(passage) == PAIR and isinstance(passage[1], int | float):
        item = _normalize_passage(passage[0])
        return {**({"text": item} if isinstance(item, str) else item), "score": float(passage[1])}
    keys = (*TEXT_KEYS, *DOC_KEYS, *PASSAGE_KEYS, *SCORE_KEYS, "metadata")
    values = {key: getattr(passage, key, None) for key in keys}
    return {key: value for key, value in values.items() if value is not None and not callable(value)} or passage


class FrameworkSystem(System):
    """A system behind an object of a framework; an adapter supplies `ask_target`.

    Args:
        target: the framework's object.
        name: of the system.
        config: its settings, for the record.
        settings: id_key (a key of the metadata that names the document), citations ("numbered": [1] in the answer), and
            what the adapter reads itself.
        variants: what it can do beside "own".
    """

    framework: ClassVar[str] = ""  #: in the record.
    setting_names: ClassVar[tuple[str, ...]] = ("name", "config", "id_key", "citations")  #: what can be set.

    def __init__(
        self,
        target: Any,
        name: str,
        config: Mapping[str, Any] | None,
        settings: Mapping[str, Any] | None,
        variants: Collection[Variant],
    ) -> None:
        super().__init__(name, config, variants)
        options = settings or {}
        self._target, self._id_key = target, options.get("id_key")
        self._numbered = parse_citation_setting(options.get("citations"))

    @abstractmethod
    async def ask_target(self, question: Question, passages: Sequence[Passage] | None) -> Any:
        """What the object returns, as `response_of` reads it; passages that are not None stand for its retrieval."""

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        if passages is not None:
            self.check_variant("replayed")
        response = response_of(await self.ask_target(question, passages), question, passages=passages)
        return add_answer_citations(response) if self._numbered else response

    @classmethod
    def adapt(cls, target: Any, name: str, settings: Mapping[str, Any]) -> System:
        """The system behind an object.

        Raises:
            UnknownName: a setting that nothing reads.
            UsageError: the object will not do.
        """
        check_setting_names(settings, cls.setting_names, f"a {cls.__name__.removesuffix('System')} system")
        kind = {"framework": cls.framework, "kind": type(target).__name__}
        config = {**kind, **(settings.get("config") or {})}
        return cls(target, str(settings.get("name") or name), config, settings)  # type: ignore[call-arg]
