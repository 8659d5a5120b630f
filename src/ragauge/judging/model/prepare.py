"""prepare: claims of a reference and aspects of a question, once per eval set."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from ragauge.data.ask import Ask, Reply
from ragauge.judging.model.asking import Asked, Settings
from ragauge.judging.model.fences import DATA, Block, fenced
from ragauge.judging.model.reading import structured, written

VERSION = 1
PREPARING = f"""You prepare a question and its reference answer for an evaluation. {DATA}
claims: the statements of the reference answer, in order: short, each checkable by itself (names instead of pronouns, \
one fact each), nothing left out and nothing added. [] if there is no reference answer.
aspects: the parts that a full answer to the question has to treat, as short phrases; one if the question has one part.
Reply with JSON only."""
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "array", "items": {"type": "string"}} for name in ("claims", "aspects")},
    "required": ["claims", "aspects"], "additionalProperties": False,
}  # fmt: skip


class Prepared(NamedTuple):
    """What was found; None = could not be had, and the reason."""

    claims: tuple[str, ...] | None
    aspects: tuple[str, ...] | None
    reason: str = ""


def prepare(
    query: str, reference: str, settings: Settings, judge_repeat: int = 0
) -> Generator[list[Ask], list[Reply], Prepared]:
    """Asked once, and once more where the reply holds no lists. A reference without a claim found counts as missing."""
    asked = Asked("prepare", VERSION, settings, judge_repeat)
    text = fenced([Block("question", [("", query)]), Block("reference answer", [("", reference)])])
    reason = ""
    for attempt in (1, 2):
        (reply,) = yield [asked.chat(PREPARING, text, SCHEMA, attempt)]
        value = structured(reply) or {}
        claims, aspects = _texts(value.get("claims")), _texts(value.get("aspects"))
        if aspects and (claims or not reference.strip()):
            return Prepared(claims or (), aspects)
        reason = reply.reason or "the reply holds no lists of claims and aspects"
        if reply.status == "failed" and reply.finish != "length":
            break
    return Prepared(None, None, reason)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(text for one in value if (text := written(one))))
