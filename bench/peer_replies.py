"""Valid replies to the prompts of ragas 0.4 and deepeval 4, by the words that texts share; to ours by the test server.

Each tool gets a whole answer of the form that it asks for, so that none of them repairs or repeats a call.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.loopback.answers import answer

WORD = re.compile(r"\w+")
RAGAS_INPUT = re.compile(r"Now perform the same with the following input\ninput: (.*)\nOutput: $", re.DOTALL)
RAGAS_OUTPUT = re.compile(r'"title": "(\w+)", "type": "object"\}Do not use single quotes')
REASON = "The words of both were compared with each other."


def reply(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer of the form that the tool asks for."""
    if "<<<" in user:
        return answer(system, user, schema)
    found = RAGAS_INPUT.search(user)
    if found:
        wanted = RAGAS_OUTPUT.search(user)
        return _ragas(wanted[1] if wanted else "", json.loads(found[1]))
    return _deepeval(str(schema.get("title", "")), user)


def _ragas(wanted: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    match wanted:
        case "StatementGeneratorOutput":
            return {"statements": sentences(given["answer"])}
        case "NLIStatementOutput":
            judged = [
                {"statement": one, "reason": REASON, "verdict": int(held(one, given["context"]))}
                for one in given["statements"]
            ]
            return {"statements": judged}
        case "ResponseRelevanceOutput":
            return {"question": f"What about this: {given['response'][:60]}?", "noncommittal": 0}
        case "Verification":
            return {"reason": REASON, "verdict": int(held(given["answer"], given["context"], 0.3))}
        case "ContextRecallClassifications":
            judged = [
                {"statement": one, "reason": REASON, "attributed": int(held(one, given["context"]))}
                for one in sentences(given["answer"])
            ]
            return {"classifications": judged}
    raise ValueError(f"no reply to ragas's {wanted!r}")


def _deepeval(wanted: str, user: str) -> Mapping[str, Any]:
    """By the schema's title; where verdicts are asked for, by what is listed at the end of the prompt."""
    match wanted:
        case "Truths":
            return {"truths": sentences(_last(user, "Text:"))[:20]}
        case "Claims":
            return {"claims": sentences(_last(user, "AI Output:"))}
        case "Statements":
            return {"statements": sentences(_last(user, "Text:"))}
        case "Verdicts":
            return {"verdicts": [{"verdict": "yes" if n % 3 else "no", "reason": REASON} for n in range(_count(user))]}
    raise ValueError(f"no reply to deepeval's {wanted!r}")


def _count(user: str) -> int:
    """How many verdicts are asked for."""
    for name in ("\nStatements:", "\nClaims:"):
        if name in user:
            return len(_listed(_last(user, name)))
    found = re.search(r"Retrieval Context \((\d+) documents?\)", user)
    if found:
        return int(found[1])
    return len(sentences(_last(user, "Expected Output:").partition("\nRetrieval Context:")[0]))


def _listed(text: str) -> Sequence[str]:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text.splitlines()
    return found if isinstance(found, list) else [text]


def _last(user: str, name: str) -> str:
    """What stands between the last such heading and the end of the prompt."""
    return user.rpartition(name)[2].rpartition("JSON:")[0].strip()


def sentences(text: str) -> list[str]:
    """A text's sentences, roughly."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def held(text: str, other: str, share: float = 0.7) -> bool:
    """Whether another text holds that share of a text's words."""
    words, there = set(WORD.findall(text.lower())), set(WORD.findall(other.lower()))
    return len(words & there) >= share * len(words)
