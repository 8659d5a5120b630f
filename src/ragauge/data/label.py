"""What one person said of one thing that was seen: it belongs to what was seen, not to a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragauge.data.identity import digest
from ragauge.errors import UsageError

Part = tuple[int, int] | int | None     # characters [first, last + 1) of the answer; a passage, from 1; the whole

NO_CLAIM, UNSURE = "no_claim", "unsure"
ADJUDICATOR = "adjudicator"     # whose label wins over all others of the same thing

# question -> what can be said, in the order of the page's keys
VALUES: Mapping[str, Mapping[str, str]] = {
    "support": {
        "supported": "the passages say so", "contradicted": "the passages say otherwise",
        "not_in_context": "the passages do not say", NO_CLAIM: "nothing to check", UNSURE: "cannot tell",
    },
    "relevance": {"relevant": "helps to answer", "not_relevant": "does not help", UNSURE: "cannot tell"},
    "address": {"fully": "answers the question", "partly": "answers part of it", "no": "does not answer it"},
    "refuse": {"yes": "declines to answer", "no": "does not decline"},
}     # fmt: skip
SEEN: Mapping[str, tuple[str, ...]] = {
    "support": ("answer", "passages", "query"), "relevance": ("passages", "query"),
    "address": ("answer", "query"), "refuse": ("answer", "query"),
}     # fmt: skip
BY_SUPPORT = ("faithfulness", "unsupported")     # metrics that labels supported or not tell of
BY_KIND = ("contradicted", "not_in_context")      # those that need to know which of both is meant
BY_RELEVANCE = ("context_precision",)
TOLD = (*BY_SUPPORT, *BY_KIND, *BY_RELEVANCE)
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
    "address": "Does the answer address what was asked? Whether it is true does not matter here.",
    "refuse": "Does the answer decline to answer, whatever the reason it gives?",
}


@dataclass(frozen=True, slots=True)
class Label:
    """One person's label.

    Attributes:
        key: SHA-256, in hex, of the question and of all that it sees: the same text has it in every run.
        part: of what was seen; see `Part`.
        question: support, relevance, address, refuse, or score:METRIC.
        value: what was said, one of VALUES; of score:METRIC a number in text.
        annotator: who said so; "" = not known.
        at: when, ISO 8601; "" = not known. Of what one person says of one thing the latest counts.
        guideline: hash of the instructions; labels of two are never pooled. "" = not known.
    """

    key: str
    part: Part
    question: str
    value: str
    annotator: str = ""
    at: str = ""
    guideline: str = ""


def label_key(question: str, query: str, passages: Sequence[str], answer: str) -> str:
    """The key of what a question sees: texts alone, no run and no judge.

    >>> label_key("refuse", "Who?", ["a"], "No.") == label_key("refuse", "Who?", ["b"], "No.")
    True
    """
    given = {"query": query, "passages": list(passages), "answer": answer}
    return digest([question, {name: given[name] for name in SEEN.get(question, SEEN["support"])}])


def guideline_of(text: str) -> str:
    r"""The hash that names instructions: white space at the ends of lines aside.

    >>> guideline_of("Read it. ") == guideline_of("Read it.\n")
    True
    """
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def part_text(part: Part) -> str:
    """A part as text: 12-40, a passage's number, or "" for the whole.

    >>> part_text((12, 40)), part_text(3), part_text(None)
    ('12-40', '3', '')
    """
    return "" if part is None else f"{part[0]}-{part[1]}" if isinstance(part, tuple) else str(part)


def part_of(text: str) -> Part:
    """The part that a text names.

    Raises:
        UsageError: it names none.

    >>> part_of("12-40"), part_of("3"), part_of("")
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
    raise UsageError(f"a part must be characters such as 12-40, a passage's number or empty, got {text!r}.")


def last_said(labels: Sequence[Label]) -> list[Label]:
    """What counts of some labels: of what one person said of one part the latest; where someone adjudicated, that."""
    latest: dict[tuple[str, Part, str, str, str], Label] = {}
    for one in sorted(labels, key=lambda label: label.at):
        latest[one.key, one.part, one.question, one.guideline, one.annotator] = one
    settled = {place[:4] for place in latest if place[4] == ADJUDICATOR}
    return [one for place, one in latest.items() if place[4] == ADJUDICATOR or place[:4] not in settled]


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One answer to be labelled: what is seen, and nothing of system or judge.

    Attributes:
        key: of what the question sees.
        query: the question that was asked.
        passages: their texts, in order.
        answer: the answer.
        parts: what is labelled, in order.
    """

    key: str
    query: str
    passages: tuple[str, ...]
    answer: str
    parts: tuple[Part, ...]
