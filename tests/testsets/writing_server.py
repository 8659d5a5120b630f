"""A model that writes questions by script: facts of a small corpus, and faults where a test wants them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.loopback.answers import BLOCK, _items, answer

from ragauge.core.document import Document

THINGS = (
    "harbour",
    "crane",
    "violin",
    "sonata",
    "enzyme",
    "membrane",
    "glacier",
    "volcano",
    "parliament",
    "cathedral",
    "locomotive",
    "telescope",
    "orchard",
    "vineyard",
    "lighthouse",
    "aqueduct",
    "monastery",
    "shipyard",
    "quarry",
    "observatory",
)
PLACES = ("Aldmoor", "Brennick", "Corvale", "Dunmere", "Eastwick", "Farnholt", "Glenrose", "Hartley", "Ivybridge")
ASKED = ("received guests", "sheltered sailors", "welcomed pilgrims")
Fault = Callable[[dict[str, Any], Sequence[str]], dict[str, Any]]


def corpus(n: int = 40) -> list[Document]:
    """Pages of four facts each, about things in places; neighbours share the name of their keeper."""
    found = []
    for k in range(n):
        name = f"{THINGS[k % len(THINGS)]} of {PLACES[k % len(PLACES)]}"  # no two alike below 180
        keeper = f"Ingrid Tarn{k // 2:02d}"
        text = (
            f"The {name} was opened in {1801 + k} by merchants. Its height is {30 + k} metres above the water. "
            f"The keeper of the {name} is {keeper}. Visitors pay {5 + k} crowns at the gate on weekdays."
        )
        found.append(Document(f"d{k}", "", text))
    return found


def subject(passage: str) -> str:
    """What a page is about."""
    return passage.partition(" was opened")[0].removeprefix("The ")


def written(passages: Sequence[str], kind: str, n: int) -> dict[str, Any]:
    """A right question about a page, or two, of one of three facts."""
    first, number = passages[0], 0 if "depends on a date" in kind else n % 3
    name = subject(first)
    if "can only be answered by facts of both" in kind or "compares" in kind:
        years = [one.partition("opened in ")[2][:4] for one in passages]
        return {
            "question": f"Which {ASKED[number]} earlier, the {name} or the {subject(passages[1])}?",
            "answer": f"The {name}: {years[0]}. The {subject(passages[1])}: {years[1]}.",
            "evidence": [{"passage": k, "quote": one.partition(". ")[0] + "."} for k, one in enumerate(passages, 1)],
        }
    if "answer and evidence stay empty" in kind:
        return {"question": f"Which {ASKED[number]} painter decorated the {name}?", "answer": "", "evidence": []}
    if "takes for granted" in kind:
        year = first.partition("opened in ")[2][:4]
        return {
            "question": f"Why did soldiers {ASKED[number]} the {name} back in 1650?",
            "answer": f"The {name} was opened in {year} by merchants.",
            "evidence": [{"passage": 1, "quote": first.partition(". ")[0] + "."}],
        }
    sentences = [part if part.endswith(".") else part + "." for part in first.split(". ")]
    asked = (
        f"When did people first enter the {name}?",
        f"How far does the {name} rise over the sea?",
        f"Who looks after the {name}?",
    )
    return {
        "question": asked[number],
        "answer": sentences[number],
        "evidence": [{"passage": 1, "quote": sentences[number]}],
    }


def writing(fault: Fault | None = None, every: int = 1) -> Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]:
    """The reply of a server: writes questions, says that nothing else answers, and judges by words.

    Args:
        fault: changes an item of a reply, given the passages.
        every: a fault in each so-manyth question.
    """
    counted = 0

    def reply(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal counted
        fields = schema.get("properties", {})
        if "answers" in fields:
            return {"answers": "yes" if "looks after" in user else "no", "sentence": ""}
        if "questions" not in fields or "evidence" not in str(fields):
            return answer(system, user, schema)
        blocks = {name: _items(text) for name, _, text in BLOCK.findall(user)}
        passages = list(blocks["passages"].values())
        items = []
        for place, kind in _items_of(user).items():
            item = written(passages, kind, int(place[1:]))
            counted += 1
            items.append({"n": int(place[1:]), **(fault(item, passages) if fault and counted % every == 0 else item)})
        return {"questions": items}

    return reply


def _items_of(user: str) -> dict[str, str]:
    found = {}
    for name, _, text in BLOCK.findall(user):
        if name == "questions":
            for line in text.split("\n"):
                place, _, told = line[1:].partition("] ")
                found[place] = told
    return found
