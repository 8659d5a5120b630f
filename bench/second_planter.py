"""Plant one wrong thing in true sentences: written apart from the first planter and from the judge.

Nothing here reads a word list or a rule of `ragauge.judges`, so what the judge finds of it is not its own reflection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from second_planter_types import Change, Copied
from second_planter_values import dates, numbers
from second_planter_verbs import negations
from second_planter_words import Names, swaps

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ASKED = ("number", "name", "date", "negation")  # kinds of which a share is asked
KINDS = (*ASKED, "noun", "adjective", "verb")
FEWEST_WORDS, MOST_WORDS = 8, 45
MOST_PASSAGE = 12_000  # characters; a web page of a book's length is no passage
ENDS = re.compile(r"(?<=[.!?])[\"”’)]?\s+(?=[\"“(]?[A-Z0-9])")
SHORTENED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Inc|Co|Corp|Ltd|vs|No|Nos|Fig|al|etc|approx|Gen|Sen|Rep|Lt|Col|Mt"
    r"|Ft|i\.e|e\.g|U\.S|U\.K|ca|cf|pp|Jan|Feb|Aug|Sept|Oct|Nov|Dec|[A-Z])\.)$"
)
WORD = re.compile(r"[^\W_]+")
LIST_LIKE = re.compile(r"[|•\t{}<>@]|https?:|www\.|\.{3}|…|\bclick\b|\bcookies?\b", re.I)


class Planted(NamedTuple):
    """A copied sentence with one thing made wrong."""

    kind: str
    copied: Copied
    text: str
    old: str
    new: str
    start: int  # of the new in the text


def passages(source: str) -> list[str]:
    """The passages of a set, each once."""
    found = {
        "clapnq": _clapnq,
        "xquad": _xquad,
        "pubmedqa": _pubmedqa,
        "wice": _wice,
        "attributionbench": _attributionbench,
        "tatqa": _tatqa,
    }[source]()
    return list(dict.fromkeys(text.strip() for text in found if 60 < len(text) <= MOST_PASSAGE))


SOURCES = ("clapnq", "wice", "attributionbench", "xquad", "pubmedqa", "tatqa")


def _lines(name: str) -> Iterator[dict[str, Any]]:
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _clapnq() -> Iterator[str]:
    for row in _lines("clapnq/clapnq_dev_answerable.jsonl"):
        yield from (one["text"] for one in row["passages"])


def _xquad() -> Iterator[str]:
    for article in json.loads((DATA / "xquad/xquad.en.json").read_text(encoding="utf-8"))["data"]:
        yield from (paragraph["context"] for paragraph in article["paragraphs"])


def _pubmedqa() -> Iterator[str]:
    for row in json.loads((DATA / "pubmedqa/ori_pqal.json").read_text(encoding="utf-8")).values():
        yield "\n".join(row["CONTEXTS"])


def _wice() -> Iterator[str]:
    for row in _lines("wice/dev.jsonl"):
        yield "\n".join(row["evidence"])


def _attributionbench() -> Iterator[str]:
    for row in _lines("attributionbench/dev_all_subset_balanced.jsonl"):
        yield from row["references"]


def _tatqa() -> Iterator[str]:
    for row in _lines("tatqa/questions.jsonl"):
        yield "\n".join(row["paragraphs"])


def sentences(passage: str) -> list[str]:
    """Whole sentences of running text: no headings, menus, lists or questions."""
    found: list[str] = []
    for line in re.split(r"[\n\r]+", passage):
        start = 0
        for end in [*(one.start() for one in ENDS.finditer(line)), len(line)]:
            if SHORTENED.search(line[start:end]):
                continue
            found.append(line[start:end].strip())
            start = end
    return [one for one in found if _whole(one)]


def _whole(sentence: str) -> bool:
    words = WORD.findall(sentence)
    capitals = sum(word[0].isupper() for word in words)
    return (
        FEWEST_WORDS <= len(words) <= MOST_WORDS
        and sentence[0].isupper()
        and sentence.endswith(".")
        and not LIST_LIKE.search(sentence)
        and capitals < 0.5 * len(words)
        and sentence.count('"') % 2 == 0
        and sentence.count("(") == sentence.count(")")
        and re.search(r"\b(?:is|are|was|were|has|have|had|will|can|does|did|[a-z]{2,}(?:ed|es|s))\b", sentence)
        is not None
    )


def copies(source: str, most: int, seed: int = 0) -> list[Copied]:
    """Sentences of a set, at most two a passage, in random order."""
    random = Random(f"{source} {seed}")
    found: list[Copied] = []
    for passage in passages(source):
        whole = sentences(passage)
        found.extend(Copied(source, passage, one) for one in random.sample(whole, min(2, len(whole))))
    random.shuffle(found)
    return found[:most]


def plant(source: str, kind: str, most: int, seed: int = 0) -> list[Planted]:
    """Up to so many edits of a kind, one a sentence, each false by its passage as far as can be told by rule."""
    random = Random(f"{source} {kind} {seed}")
    make = _maker(kind, source)
    found: list[Planted] = []
    for copied in copies(source, 100_000, seed):
        changes = [one for one in make(copied, random) if _false(one, copied)]
        if changes:
            one = random.choice(changes)
            sentence = copied.sentence
            found.append(
                Planted(kind, copied, one.applied(sentence), sentence[one.start : one.end], one.new, one.start)
            )
        if len(found) == most:
            break
    return found


def _maker(kind: str, source: str) -> Callable[[Copied, Random], Iterator[Change]]:
    if kind == "name":
        return Names(passages(source)).changes
    known: dict[str, Callable[[Copied, Random], Iterator[Change]]] = {
        "number": numbers,
        "date": dates,
        "negation": negations,
    }
    return known.get(kind) or partial(swaps, kind)


def _false(change: Change, copied: Copied) -> bool:
    """The passage says it nowhere: not word for word, nor in a sentence much like it that has the new."""
    made = change.applied(copied.sentence)
    old = copied.sentence[change.start : change.end]
    if made in copied.passage or old.strip().lower() == change.new.strip().lower():
        return False
    before = copied.sentence[: change.start]
    if before.count('"') % 2 or before.count("“") > before.count("”") or before.count("``") > before.count("''"):
        return False  # within a quotation or a title
    words = _words(copied.sentence)
    new = change.new.lower()
    for other in re.split(r"(?<=[.!?])\s+|\n", copied.passage):
        if other.strip() != copied.sentence and new in other.lower():
            shared = words & _words(other)
            if len(shared) >= 0.5 * len(words):
                return False
    return True


def _words(text: str) -> set[str]:
    return {word.lower()[:6] for word in WORD.findall(text) if len(word) > 3}


def sample(most: int, seed: int, sources: Sequence[str] = SOURCES) -> list[Planted]:
    """Edits of the asked kinds for a person to read."""
    found = [one for kind in ASKED for source in sources for one in plant(source, kind, most, seed)]
    return Random(seed).sample(found, min(most, len(found)))
