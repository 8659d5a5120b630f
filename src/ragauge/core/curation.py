"""What is known of an example beside its content: its state, how it came to be, where its evidence stands.

It stands in a line of a set's file under `meta`, and never enters the content hash: reviewing a set makes no new
version of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from ragauge.core.errors import DataError
from ragauge.core.identity import to_json_value

META = "meta"
State = Literal["draft", "reviewed", "golden", "rejected"]
STATES: tuple[State, ...] = get_args(State)
SetForm = Literal["beir", "ragas", "deepeval"]  # of other tools, in which a set can be written


@dataclass(frozen=True, slots=True)
class Origin:
    """How an example came to be."""

    method: str  #: model, known_item, vary:KIND of a question put otherwise, run or a name of the user's.
    model: str = ""  #: who wrote it, such as openai:gpt-5-mini; "" = nobody.
    type: str = ""  #: of the question, such as multi_hop.
    persona: str = ""  #: who it was written as; "" = nobody in particular.
    seed: int | None = None  #: of the drawing.
    passages: tuple[str, ...] = ()  #: doc_ids that it was written from.
    run: str = ""  #: id of the run that it was taken from; "" = none.
    weight: float | None = None  #: how many answers of that run it stands for, where it was drawn; None = it was not.


@dataclass(frozen=True, slots=True)
class Anchor:
    """Evidence as it stood when the example was made: characters [start, end) of a document, and their text."""

    doc_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Curation:
    """The `meta` of a line."""

    state: State = "draft"  #: draft (nobody looked), reviewed, golden (fit to gate releases) or rejected.
    by: str = ""  #: who set the state.
    at: str = ""  #: when, as an ISO time.
    note: str = ""  #: why.
    origin: Origin | None = None  #: how the example came to be; None = not known.
    anchors: tuple[Anchor, ...] = ()  #: its evidence, quoted.
    other: Mapping[str, Any] = field(default_factory=dict)  #: keys that are not ours, kept as they are.


KEYS = frozenset({"state", "by", "at", "note", "origin", "anchors"})


def is_rejected(value: Any) -> bool:
    """Whether a value under `meta` says that the example was rejected."""
    return isinstance(value, Mapping) and value.get("state") == "rejected"


def is_curation(value: Any) -> bool:
    """Whether a value under `meta` is ours: an object with a state, an origin or anchors."""
    return isinstance(value, Mapping) and not KEYS.isdisjoint(value)


def parse_curation(value: Any, source: str = "") -> Curation:
    """The `meta` of a line.

    Raises:
        DataError: no object, an unknown state, or an origin or anchor that lacks something; with its place.
    """
    if value is None:
        return Curation()
    if not isinstance(value, Mapping):
        raise DataError(f"meta: expected an object, got {type(value).__name__}.", source=source)
    state = value.get("state", "draft")
    if state not in STATES:
        raise DataError(f"meta.state: expected one of {', '.join(STATES)}, got {state!r}.", source=source)
    try:
        origin, anchors = value.get("origin"), value.get("anchors", ())
        parsed_origin = None if origin is None else Origin(**{**origin, "passages": tuple(origin.get("passages", ()))})
        parsed_anchors = tuple(Anchor(**anchor) for anchor in anchors)
    except (TypeError, AttributeError, ValueError) as error:
        origin_keys = "method, model, type, persona, seed, passages, run, weight"
        hint = f"An origin has {origin_keys}; an anchor doc_id, start, end, quote."
        raise DataError(f"meta: {error}.", source=source, hint=hint) from None
    words = {name: str(value.get(name) or "") for name in ("by", "at", "note")}
    other = {key: item for key, item in value.items() if key not in KEYS}
    return Curation(state, **words, origin=parsed_origin, anchors=parsed_anchors, other=other)


def curation_to_dict(curation: Curation) -> dict[str, Any]:
    """The same as JSON types; what holds its default is left out, but for the state."""
    fields = to_json_value(replace(curation, other={}))
    return {"state": curation.state, **fields, **curation.other}


@dataclass(frozen=True, slots=True)
class SetVersion:
    """One version of a set."""

    name: str  #: of the set.
    version: str  #: content hash of the examples.
    n: int  #: how many examples.
    created_at: str  #: when it was stored first, ISO 8601.
    runs: int  #: how many runs are over it, trials of studies aside.
    newest: str  #: run_id of the newest of these; "" for none.
    newest_name: str = ""  #: what people call it.
