"""promptfoo: results of `promptfoo eval -o FILE`, JSON, JSON lines or CSV; variables of a test, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragauge.data.readers.aliases import names_of, snake
from ragauge.data.readers.payloads import PASSAGE_KEYS, QUERY_KEYS, returned
from ragauge.data.readers.rows import Row
from ragauge.data.readers.values import BadValue

OUTPUT = re.compile(r"^\[[^\]]+\] ")     # head of a column of the CSV: [provider] prompt
GRADES = frozenset({"Status", "Score", "Named Scores", "Grader Reason", "Comment"})     # beside each such column
FAILED = 2     # failureReason of an error; 1 is an assertion that did not hold, whose text stands in `error` too
APART = "Write a file for each: promptfoo eval --filter-providers NAME -o NAME.jsonl."
READ = {     # variables, beside those that have our names or another tool's
    "query": QUERY_KEYS, "query_id": names_of("query_id"), "passages": PASSAGE_KEYS, "reference_answer": ("expected",),
}  # fmt: skip
TOKENS = {"prompt": "input", "completion": "output"}


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are those of a result in JSON, or of the table in CSV."""
    names = set(found)
    return {"vars", "testIdx", "promptIdx"} <= names or (
        {"Status", "Score"} <= names and any(OUTPUT.match(name) for name in names)
    )


def flat(row: Row, system: str | None, seen: set[str]) -> Row | None:
    """One result as a row; None where it is another system's than the one that was asked for.

    Args:
        row: of the file.
        system: whose results, by the provider's label or id; None = those of the only one.
        seen: systems met so far; this row's is added.

    Raises:
        BadValue: results of several systems, and none was chosen.
    """
    if "vars" not in row:
        return _of_table(row)
    name = _system(row)
    seen.add(name)
    if system:
        return _of_result(row) if system == name else None
    if len(seen) > 1:
        raise BadValue("provider", "the same for all results, with one prompt", ", ".join(sorted(seen)), APART)
    return _of_result(row)


def _of_result(row: Row) -> Row:
    out = _variables(row["vars"])
    out.setdefault("query_id", row["testIdx"])
    response = row.get("response")
    response = response if isinstance(response, Mapping) else {}
    out |= returned(response.get("output"))
    if "passages" not in out:
        out |= {name: value for name, value in returned(response.get("metadata")).items() if name == "passages"}
    if row.get("failureReason") == FAILED:
        out["error"] = row.get("error") or "the provider failed"
    tokens = row.get("tokenUsage")
    if isinstance(tokens, Mapping) and tokens.get("total"):
        out["tokens"] = {ours: tokens[name] for name, ours in TOKENS.items() if tokens.get(name) is not None}
    return out | {"latency_ms": row.get("latencyMs"), "cost": row.get("cost") or None}


def _of_table(row: Row) -> Row:
    outputs = [name for name in row if OUTPUT.match(name)]
    answer = outputs[0]     # a table of several has a column twice, which no table may
    out = _variables({name: value for name, value in row.items() if name not in GRADES and name != answer})
    if row["Status"] == "ERROR":
        return out | {"error": row.get("Grader Reason") or "the provider failed"}
    return out | {"answer": row[answer]}


def _variables(given: Any) -> dict[str, Any]:
    """The variables of a test as columns; whatever holds the question, the passages and the reference is named so."""
    out = dict(given) if isinstance(given, Mapping) else {}
    spelled = {snake(str(name)): name for name in out}
    for ours, names in READ.items():
        if found := next((spelled[name] for name in names if name in spelled), None):
            out.setdefault(ours, out.pop(found))
    return out


def _system(row: Row) -> str:
    provider, prompt = row.get("provider"), row.get("promptIdx")
    name = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider
    return f"{name} (result {prompt + 1} of a test)" if isinstance(prompt, int) and prompt else str(name)
