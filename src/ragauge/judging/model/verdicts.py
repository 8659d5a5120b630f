"""One verdict for every number: what is missing is asked again, once, and then failed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ragauge.data.ask import Ask, Reply
from ragauge.judging.model.reading import objects, structured, whole_number

T = TypeVar("T")
NO_VERDICT = "no verdict, asked twice"
HOPELESS = frozenset({"content_filter"})     # asked again it would be the same


class Found(NamedTuple):
    """Verdicts by number, why the others have none, and every reply."""

    by_number: Mapping[int, Any]
    reason: str
    replies: tuple[Reply, ...]


Numbering = Generator[list[Ask], list[Reply], Found]


def each(
    numbers: Sequence[int],
    ask: Callable[[Sequence[int], int], Ask],
    read: Callable[[Reply, Sequence[int]], Mapping[int, Any]],
) -> Numbering:
    """Asks for a verdict on every number, and once more for those that are missing.

    A few that are missing are asked for one by one; all of them together, or in halves where the reply was cut off.
    Nothing is asked again where the call itself failed or was filtered.

    Args:
        numbers: what was numbered.
        ask: makes the ask for some of the numbers; the attempt (1 or 2) is in it.
        read: the verdicts of a reply on numbers that were sent.
    """
    (first,) = yield [ask(numbers, 1)]
    found = dict(read(first, numbers))
    missing = [n for n in numbers if n not in found]
    if not missing:
        return Found(found, "", (first,))
    if first.finish in HOPELESS or (first.status == "failed" and first.finish != "length"):
        return Found(found, first.reason or "the call failed", (first,))
    parts = _parts(missing, everything=len(missing) == len(numbers), cut_off=first.finish == "length")
    again = yield [ask(part, 2) for part in parts]
    for part, reply in zip(parts, again, strict=True):
        found |= read(reply, part)
    reason = next((reply.reason for reply in again if reply.reason), NO_VERDICT)
    return Found(found, reason, (first, *again))


def _parts(missing: Sequence[int], *, everything: bool, cut_off: bool) -> list[Sequence[int]]:
    if not everything:
        return [[n] for n in missing]
    if cut_off and len(missing) > 1:
        half = (len(missing) + 1) // 2
        return [missing[:half], missing[half:]]
    return [missing]


def listed(
    reply: Reply, name: str, sent: Sequence[int], verdict: Callable[[Mapping[str, Any]], T | None]
) -> dict[int, T]:
    """Verdicts of a reply's list, by its items' `n`.

    Numbers never sent are dropped. A number that comes twice with two verdicts has none.
    """
    value = structured(reply)
    found: dict[int, T] = {}
    torn: set[int] = set()
    for item in objects(value.get(name)) if value is not None else []:
        n, said = whole_number(item.get("n")), verdict(item)
        if n is None or n not in sent or said is None:
            continue
        if n in found and found[n] != said:
            torn.add(n)
        found[n] = said
    return {n: said for n, said in found.items() if n not in torn}


def together(generators: Sequence[Generator[list[Ask], list[Reply], T]]) -> Generator[list[Ask], list[Reply], list[T]]:
    """Runs several generators side by side: what they ask at one time is one list."""
    waiting: dict[int, list[Ask]] = {}
    results: dict[int, T] = {}
    for place, generator in enumerate(generators):
        _advance(place, generator, None, waiting, results)
    while waiting:
        turn = list(waiting.items())
        replies = yield [ask for _, asks in turn for ask in asks]
        waiting, at = {}, 0
        for place, asks in turn:
            _advance(place, generators[place], replies[at : at + len(asks)], waiting, results)
            at += len(asks)
    return [results[place] for place in range(len(generators))]


def _advance(
    place: int,
    generator: Generator[list[Ask], list[Reply], T],
    replies: list[Reply] | None,
    waiting: dict[int, list[Ask]],
    results: dict[int, T],
) -> None:
    try:
        waiting[place] = next(generator) if replies is None else generator.send(replies)
    except StopIteration as done:
        results[place] = done.value


def array_of(name: str, fields: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """The schema of an object with a list of objects, every field required: what strict modes take."""
    item = {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}
    properties = {name: {"type": "array", "items": item}, **others}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


INTEGER: Mapping[str, Any] = {"type": "integer"}
TEXT: Mapping[str, Any] = {"type": "string"}
YES_NO: Mapping[str, Any] = {"type": "boolean"}
NUMBERS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}


def one_of(*words: str) -> Mapping[str, Any]:
    """The schema of one of some words."""
    return {"type": "string", "enum": list(words)}
