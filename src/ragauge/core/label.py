"""What one person said of one thing that was seen: it belongs to what was seen, not to a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.example import Turn
from ragauge.core.identity import hash_json, to_json_value
from ragauge.text.markup import blank_markup

Part = tuple[int, int] | int | None  # characters [first, last + 1) of the answer; a passage, from 1; the whole

NO_CLAIM, UNSURE = "no_claim", "unsure"
NOT_SUPPORTED = "not_supported"  # of files that do not say whether it is contradicted or not in the passages
ANNOTATOR_JUDGE_PREFIX = "people:"  # how the id of people as a judge begins
ADJUDICATOR = "adjudicator"  # whose label wins over all others of the same thing

# question -> what can be said, in the order of the page's keys
VALUES: Mapping[str, Mapping[str, str]] = {
    "support": {
        "supported": "the passages say so",
        "contradicted": "the passages say otherwise",
        "not_in_context": "the passages do not say",
        NO_CLAIM: "nothing to check",
        UNSURE: "cannot tell",
    },
    "relevance": {"relevant": "helps to answer", "not_relevant": "does not help", UNSURE: "cannot tell"},
    "address": {
        "fully": "answers the question",
        "partly": "answers part of it",
        "no": "does not answer it",
        UNSURE: "cannot tell",
    },
    "refuse": {"yes": "declines to answer", "no": "does not decline", UNSURE: "cannot tell"},
}
VISIBLE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "support": ("answer", "passages", "query"),
    "relevance": ("passages", "query"),
    "address": ("answer", "query"),
    "refuse": ("answer", "query"),
}
SCORE_PREFIX = "score:"  # how a question for the score of a metric begins
SCORE_VISIBLE_FIELDS: tuple[str, ...] = ("answer", "passages", "query", "references")  # what such a question can see
WHOLE_ANSWER_QUESTIONS = ("address", "refuse")  # questions about the answer as a whole, as every score is
SUPPORT_METRICS = ("faithfulness", "unsupported")  # metrics that labels supported or not tell of
UNSUPPORTED_KIND_METRICS = ("contradicted", "not_in_context")  # those that need to know which of both is meant
UNKNOWN_KIND_NOTE = f"{NOT_SUPPORTED}, which does not distinguish {' from '.join(UNSUPPORTED_KIND_METRICS)}"
# metric -> the question whose labels tell of it; a score of any metric tells of that one
QUESTION_BY_METRIC: Mapping[str, str] = {
    **dict.fromkeys((*SUPPORT_METRICS, *UNSUPPORTED_KIND_METRICS), "support"),
    "context_precision": "relevance",
    "answer_relevance": "address",
    **dict.fromkeys(("refusal_correctness", "over_refusal", "missed_refusal"), "refuse"),
}
GUIDELINES: Mapping[str, str] = {
    "support": (
        "Read the passages, then each sentence of the answer. Supported: the passages together say all of it, or it "
        "follows from them at once. Contradicted: they say something that cannot be true beside it. Not in the "
        "passages: anything else, also what you know to be true. A greeting, a question, a heading or a refusal has "
        "nothing to check. Do not look anything up."
    ),
    "relevance": (
        "Read the question, then each passage. Relevant: it holds something that an answer to the question needs. Not "
        "relevant: it is about the same subject and no more, or about another one."
    ),
    "address": (
        "Does the answer address what was asked? Whether it is true does not matter here. An answer that declines to "
        "answer does not."
    ),
    "refuse": "Does the answer decline to answer, whatever the reason it gives?",
}


@dataclass(frozen=True, slots=True)
class Label:
    """One person's label."""

    key: str  #: SHA-256, in hex, of the question and of all that it sees: the same text has it in every run.
    part: Part  #: of what was seen; see `Part`.
    question: str  #: support, relevance, address, refuse, or score:METRIC.
    value: str  #: what was said, one of VALUES; of score:METRIC a number in text, within the metric's range.
    annotator: str = ""  #: who said so; "" = not known.
    #: when, ISO 8601; "" = not known, before all that is. Of what one person says of one thing the latest counts.
    at: str = ""
    guideline: str = ""  #: hash of the instructions; labels of two are never pooled. "" = not known.


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """What people can say of a metric, and what of an answer they see for it: what the metric reads."""

    question: str  #: score: and the printed name of the metric.
    low: float  #: its least value.
    high: float  #: its greatest.
    rate: bool  #: whether there is nothing between both.
    seen: tuple[str, ...]  #: of SCORED.


def build_label_key(
    question: str,
    query: str,
    passages: Sequence[str],
    answer: str,
    *,
    references: Sequence[str] = (),
    visible_fields: Sequence[str] | None = None,
    history: Sequence[Turn] = (),
) -> str:
    """The key of what a question sees: texts alone, no run and no judge.

    Args:
        question: support, relevance, address, refuse, or score:METRIC.
        query: the question that was asked.
        passages: their texts, in order.
        answer: the answer.
        references: accepted answers.
        visible_fields: of a score, which of these; see `ScoreScale`. None = as the question has it.
        history: the earlier turns that are seen; part of the key where there are some.

    >>> build_label_key("refuse", "Who?", ["a"], "No.") == build_label_key("refuse", "Who?", ["b"], "No.")
    True
    """
    texts = {"query": query, "passages": list(passages), "references": list(references)}
    visible_texts = texts | {"answer": blank_markup(answer)}  # as a judge sees it
    key_parts: list[Any] = [
        question,
        {
            name: visible_texts[name]
            for name in visible_fields or VISIBLE_FIELDS.get(question, VISIBLE_FIELDS["support"])
        },
    ]
    return hash_json([*key_parts, to_json_value(history)] if history else key_parts)


def hash_guideline(text: str) -> str:
    r"""The hash that names instructions: white space at the ends of lines aside.

    >>> hash_guideline("Read it. ") == hash_guideline("Read it.\n")
    True
    """
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def format_part(part: Part) -> str:
    """A part as text: 12-40, a passage's number, or "" for the whole.

    >>> format_part((12, 40)), format_part(3), format_part(None)
    ('12-40', '3', '')
    """
    return "" if part is None else f"{part[0]}-{part[1]}" if isinstance(part, tuple) else str(part)


def parse_part(text: str) -> Part:
    """The part that a text names.

    Raises:
        UsageError: it names none.

    >>> parse_part("12-40"), parse_part("3"), parse_part("")
    ((12, 40), 3, None)
    """
    first, dash, last = text.strip().partition("-")
    if not first and not dash:
        return None
    if first.isdecimal() and (last.isdecimal() if dash else int(first) > 0):
        start = int(first)
        if not dash:
            return start
        if int(last) > start:
            return start, int(last)
    raise UsageError(f"a part must be a range such as 12-40, a passage number, or empty, got {text!r}.")


def parse_timestamp(timestamp: str) -> datetime:
    """The instant of a time in ISO 8601; one without an offset is in UTC.

    Raises:
        ValueError: it is no such time.

    >>> parse_timestamp("2026-01-02T00:30:00+02:00") < parse_timestamp("2026-01-01T23:00:00Z")
    True
    """
    moment = datetime.fromisoformat(timestamp)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _get_timestamp(label: Label) -> float:
    """When a label was given, in seconds; one of a time that cannot be read, as older stores hold, is not known."""
    try:
        return parse_timestamp(label.at).timestamp()
    except (ValueError, OverflowError):
        return -inf


def select_latest_labels(labels: Sequence[Label]) -> list[Label]:
    """What counts of some labels: of what one person said of one part the latest; where someone adjudicated, that."""
    latest: dict[tuple[str, Part, str, str, str], Label] = {}
    for label in sorted(labels, key=_get_timestamp):
        latest[label.key, label.part, label.question, label.guideline, label.annotator] = label
    adjudicated = {key[:4] for key in latest if key[4] == ADJUDICATOR}
    return [label for key, label in latest.items() if key[4] == ADJUDICATOR or key[:4] not in adjudicated]


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One answer to be labelled: what is seen, and nothing of system or judge."""

    key: str  #: of what the question sees.
    query: str  #: the question that was asked.
    passages: tuple[str, ...]  #: their texts, in order.
    answer: str  #: the answer.
    parts: tuple[Part, ...]  #: what is labelled, in order.
    references: tuple[str, ...] = ()  #: accepted answers, where the question sees them.
    history: tuple[str, ...] = ()  #: the earlier turns, each with who spoke.


@dataclass(frozen=True, slots=True)
class DrawProgress:
    """A draw, and how far people are with it."""

    draw: int  #: its number.
    run_id: str  #: of the run that it was drawn from.
    run: str  #: name of that run.
    question: str  #: that people answer.
    guideline: str  #: hash of their instructions.
    scheme: str  #: how it was drawn.
    by: str  #: sentence or answer.
    at: str  #: when, ISO 8601.
    answers: int  #: texts to label, equal ones once.
    parts: int  #: of them that are labelled.
    labelled: Mapping[str, int]  #: annotator -> parts that they labelled, most first.
