"""What the test server answers: a judge that compares words, so that right and wrong answers score differently."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

ITEM = re.compile(r"^\[([SCPRA]?\d+(?:\.\d+)?)\] (.*)$")
BLOCK = re.compile(r"<<<([a-z ]+) ([0-9a-f]{8})\n(.*?)\n?\2>>>", re.DOTALL)
ONLY = re.compile(r"\nOnly ([SCPRA\d., ]+)\.\s*$")
WORD = re.compile(r"\w+")
SAME = 0.7  # share of a text's words that another holds, to be said by it


def answer(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A whole, valid answer to any of the judge's questions, by the words that texts share."""
    blocks = {name: _items(text) for name, _, text in BLOCK.findall(user)}
    asked = ONLY.search(user)
    only = set(asked[1].replace(" ", "").split(",")) if asked else None
    wanted = {
        name: {n: text for n, text in items.items() if only is None or n in only or not n[:1].isalpha()}
        for name, items in blocks.items()
    }
    fields = schema.get("properties", {})
    if set(fields) == {"reply"}:
        return {"reply": answer(system, user, _form(user, blocks, fields["reply"]["anyOf"]))}
    if "better" in fields:
        return {"better": _better(blocks)}
    if "addresses" in fields:
        return _verify(wanted, blocks, checked="passages" in blocks)
    if "reference" in fields:
        return _agree(wanted, blocks)
    if "claims" in fields and "aspects" in fields:
        texts = [text for text in blocks.get("reference answer", {}).values() if text]
        return {"claims": _sentences(texts), "aspects": list(blocks.get("question", {}).values())[:1]}
    if "claims" in fields:
        places = blocks.get("passages", {})
        return {"claims": [{"n": _n(n), **_verdict(text, places)} for n, text in wanted.get("claims", {}).items()]}
    if "questions" in fields:
        return {"questions": [f"What about {word}?" for word in ("this", "that", "it")]}
    return _yes_or_no(wanted, blocks, fields, only)


def _form(user: str, blocks: Mapping[str, Any], forms: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Which of several forms of a reply a task asks for."""
    task = user.rsplit(">>>", 1)[1]
    name = next((name for name in ("claims", "addresses") if name.replace("addresses", "answer") in blocks), "")
    name = name or ("passages" if "P1, P2" in task else "sentences")
    alone = name == "sentences"
    return next(form for form in forms if name in form["properties"] and (not alone or len(form["properties"]) == 1))


def _items(text: str) -> dict[str, str]:
    """The numbered texts of a block; one without numbers has the number ""."""
    found: dict[str, str] = {}
    number = ""
    for line in text.split("\n"):
        item = ITEM.match(line)
        if item:
            number = item[1]
        found[number] = f"{found[number]}\n{line}" if number in found else (item[2] if item else line)
    return found


def _verify(wanted: Mapping[str, Mapping[str, str]], blocks: Any, *, checked: bool) -> dict[str, Any]:
    places = blocks.get("passages", {})
    sentences = []
    for n, text in wanted.get("answer", {}).items():
        states = len(WORD.findall(text)) > 2 and not text.rstrip().endswith("?")
        claim = {"text": text, **(_verdict(text, places) if checked else {})}
        sentences.append({"n": _n(n), "claims": [claim] if states else []})
    whole = " ".join(blocks.get("answer", {}).values()).lower()
    refuses = any(words in whole for words in ("do not say", "not contain", "cannot answer", "no information"))
    return {"sentences": sentences, "addresses": "no" if refuses else "fully", "refuses": refuses}


def _verdict(text: str, places: Mapping[str, str]) -> dict[str, Any]:
    by = [place for place, sentence in places.items() if _held(text, sentence) >= SAME]
    return {"verdict": "supported" if by else "absent", "by": by, "against": [], "together": False, "direct": True}


def _agree(wanted: Mapping[str, Mapping[str, str]], blocks: Any) -> dict[str, Any]:
    answers, references = blocks.get("answer claims", {}), blocks.get("reference claims", {})
    return {
        "answer": [
            {"n": _n(n), "verdict": "agrees" if _any(text, references.values()) else "absent"}
            for n, text in wanted.get("answer claims", {}).items()
        ],
        "reference": [
            {"n": _n(n), "stated": _any(text, answers.values())}
            for n, text in wanted.get("reference claims", {}).items()
        ],
    }


def _better(blocks: Mapping[str, Mapping[str, str]]) -> str:
    """The answer that holds more of the question's words."""
    question = " ".join(blocks.get("question", {}).values())
    first, second = (_held(question, text) for text in list(blocks.get("answers", {}).values())[:2])
    return "same" if first == second else "first" if first > second else "second"


def _yes_or_no(
    wanted: Mapping[str, Mapping[str, str]], blocks: Any, fields: Mapping[str, Any], only: Set[str] | None
) -> dict[str, Any]:
    """One yes or no a numbered item: relevance by the question's words, parts by the answer's."""
    name = next(iter(fields), "")
    if "passages" in blocks:
        return {name: _ratings(name, blocks, only)}
    word = "met" if name in ("parts", "criteria") else "relevant"
    other = " ".join(blocks.get("answer" if word == "met" else "question", {}).values())
    items = wanted.get(name, {}).items()
    found: list[dict[str, Any]] = [
        {"n": _n(n), word: _held(text if word == "met" else other, other if word == "met" else text) >= 0.5}
        for n, text in items
    ]
    if "reason" in fields.get(name, {}).get("items", {}).get("properties", {}):
        found = [{"reason": "By the words.", **one} for one in found]
    return {name: found}


def _ratings(name: str, blocks: Mapping[str, Mapping[str, str]], only: Set[str] | None) -> list[dict[str, Any]]:
    """Whether passages, or sentences of them, hold half of the question's words."""
    question = " ".join(blocks.get("question", {}).values())
    texts: dict[str, str] = {}
    for number, text in blocks["passages"].items():
        place = number if name == "sentences" else f"P{number.partition('.')[0]}"
        texts[place] = f"{texts[place]} {text}" if place in texts else text
    return [
        {"n": _n(place) if name == "passages" else place, "relevant": _held(question, text) >= 0.5}
        for place, text in texts.items()
        if only is None or place in only
    ]


def _any(text: str, others: Any) -> bool:
    return any(_held(text, other) >= SAME for other in others)


def _held(text: str, other: str) -> float:
    """Share of a text's words that another holds."""
    words, there = set(WORD.findall(text.lower())), set(WORD.findall(other.lower()))
    return len(words & there) / len(words) if words else 0.0


def _sentences(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def _n(number: str) -> int:
    return int(re.sub(r"\D", "", number) or 0)
