"""Files of other evaluation tools whose rows have a shape of their own: deepeval, promptfoo, RAGChecker.

deepeval: in its CSV and JSONL the texts of a list stand in one, joined by `|`.

promptfoo: results of `promptfoo eval -o FILE`, JSON, JSON lines or CSV; variables of a test, and what came of it.

RAGChecker's meta-evaluation files: one question a row with the answers of two systems, model1 and model2.

RAGChecker's own inputs and outputs, {"results": [...]}, need no reader: their columns are among the aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.values import BadValue, Notes, opened
from ragauge.readers import langfuse
from ragauge.readers.aliases import GOLDEN, names_of, snake
from ragauge.readers.lines import Row
from ragauge.readers.payloads import PASSAGE_KEYS, QUERY_KEYS, is_langsmith, is_mlflow, returned

JOINED = frozenset({"retrieval_context", "context"})
DEEPEVAL_TOKENS = {"input_token_count": "input", "output_token_count": "output"}
BETWEEN = "|"


def is_deepeval(columns: Iterable[str]) -> bool:
    """Whether the columns are deepeval's: an input, and beside it a list that only deepeval names so."""
    names = {snake(name) for name in columns}
    if "input" not in names or names.isdisjoint(("retrieval_context", "context")):
        return False
    return not names.isdisjoint(("retrieval_context", "expected_output")) or GOLDEN.without.isdisjoint(names)


def deepeval_row(row: Row, notes: Notes) -> Row:
    """The row with its joined texts as lists, as deepeval reads them too, and its counts of tokens as one object."""
    out: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for column, value in row.items():
        name = snake(column)
        if name in DEEPEVAL_TOKENS:
            tokens[DEEPEVAL_TOKENS[name]] = value
        else:
            out[column] = _parts(value, column, notes) if name in JOINED and isinstance(value, str) else value
    if any(count is not None for count in tokens.values()):
        out.setdefault("tokens", tokens)
    return out


def _parts(value: str, column: str, notes: Notes) -> Any:
    parts = opened(value, column, notes)
    if parts is not value or BETWEEN not in value:
        return parts
    pieces = value.split(BETWEEN)
    if any(not piece.strip() for piece in pieces):  # a table's row, or a mark in the text: no way to tell
        notes.unclear[column] = notes.unclear.get(column, 0) + 1
    return [piece.strip() for piece in pieces if piece.strip()]


OUTPUT = re.compile(r"^\[[^\]]+\] ")  # head of a column of the CSV: [provider] prompt
GRADES = frozenset({"Status", "Score", "Named Scores", "Grader Reason", "Comment"})  # beside each such column
RESULT = frozenset({"testIdx", "response", "gradingResult"})  # beside `vars`; version 2 counts no tests
FAILED = 2  # failureReason of an error; 1 is an assertion that did not hold, whose text stands in `error` too
APART = "Write a file for each: promptfoo eval --filter-providers NAME -o NAME.jsonl."
READ = {  # variables, beside those that have our names or another tool's
    "query": QUERY_KEYS,
    "query_id": names_of("query_id"),
    "passages": PASSAGE_KEYS,
    "reference_answer": ("expected",),
}
PROMPTFOO_TOKENS = {"prompt": "input", "completion": "output"}


def is_promptfoo(columns: Iterable[str]) -> bool:
    """Whether the columns are those of a result in JSON, of any version, or of the table in CSV."""
    names = set(columns)
    return ("vars" in names and not names.isdisjoint(RESULT)) or (
        {"Status", "Score"} <= names and any(OUTPUT.match(name) for name in names)
    )


def promptfoo_row(row: Row, system: str | None, seen: set[str]) -> Row | None:
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
    if row.get("testIdx") is not None:
        out.setdefault("query_id", row["testIdx"])
    response = row.get("response")
    response = response if isinstance(response, Mapping) else {}
    out |= returned(response.get("output"))
    if "passages" not in out:
        out |= {name: value for name, value in returned(response.get("metadata")).items() if name == "passages"}
    if row.get("failureReason") == FAILED or ("failureReason" not in row and response.get("error")):
        out["error"] = row.get("error") or response.get("error") or "the provider failed"
    tokens = row.get("tokenUsage")
    if isinstance(tokens, Mapping) and tokens.get("total"):
        out["tokens"] = {ours: tokens[name] for name, ours in PROMPTFOO_TOKENS.items() if tokens.get(name) is not None}
    return out | {"latency_ms": row.get("latencyMs"), "cost": row.get("cost") or None}


def _of_table(row: Row) -> Row:
    outputs = [name for name in row if OUTPUT.match(name)]
    answer = outputs[0]  # a table of several has a column twice, which no table may
    out = _variables({name: value for name, value in row.items() if name not in GRADES and name != answer})
    if row["Status"] == "ERROR":
        return out | {"error": row.get("Grader Reason") or "the provider failed"}
    return out | {"answer": row[answer]}


def _variables(given: Any) -> dict[str, Any]:
    """The variables of a test as columns; whatever holds the question, the passages and the reference is named so."""
    out = dict(given) if isinstance(given, Mapping) else {}
    spelled = {snake(str(name)): name for name in out}
    for ours, names in READ.items():
        if variable := next((spelled[name] for name in names if name in spelled), None):
            out.setdefault(ours, out.pop(variable))
    return out


def variables_in(row: Row) -> Row:
    """The variables of a result's test, under their own names."""
    if "vars" not in row:
        return {name: value for name, value in row.items() if name not in GRADES and not OUTPUT.match(name)}
    return row["vars"] if isinstance(row["vars"], Mapping) else {}


def _system(row: Row) -> str:
    provider, prompt = row.get("provider"), row.get("promptIdx")
    name = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider
    if prompt is None and isinstance(row.get("prompt"), Mapping):  # version 2 tells prompts apart by their form
        form = row["prompt"].get("label") or row["prompt"].get("display")
        return f"{name} ({form})" if form and form != row["prompt"].get("raw") else str(name)
    return f"{name} (result {prompt + 1} of a test)" if isinstance(prompt, int) and prompt else str(name)


SIDES = ("model1", "model2")
LABELS = frozenset({"correctness_label", "completeness_label", "overall_label", "instance_id"})


def is_ragchecker(columns: Iterable[str]) -> bool:
    """Whether the columns are those of such a file."""
    return {"query", *SIDES} <= set(columns)


def ragchecker_row(row: Row, system: str | None) -> Row | None:
    """One system's answer.

    Args:
        row: of the file.
        system: model1 or model2, or the name of a system; None is refused, since the row holds two answers.

    Returns:
        The row as one response; None where the named system did not answer this question. query_id is unique only
        within a data set, so the data set's name comes before it.
    """
    if not system:
        names = ", ".join(_name(row[side]) or side for side in SIDES)
        problem = "the file holds the answers of two systems."
        raise UsageError(f"{problem} Choose one with system=: model1, model2 or a name such as {names}.")
    side = system if system in SIDES else next((side for side in SIDES if _name(row[side]) == system), None)
    if side is None:
        return None
    chosen = row[side]
    dropped = {*SIDES, *LABELS, "dataset", "query_id"}
    out: dict[str, Any] = {key: value for key, value in row.items() if key not in dropped}
    out["answer"] = chosen.get("response") if isinstance(chosen, Mapping) else None
    dataset, query_id = row.get("dataset"), row.get("query_id")
    if query_id is not None:
        out["query_id"] = f"{dataset}:{query_id}" if dataset else query_id
    if dataset:
        out["segments"] = {"dataset": dataset}
    return out


def systems(row: Row) -> set[str]:
    """The names of the two systems."""
    return {name for side in SIDES if (name := _name(row[side]))}


def _name(side: Any) -> str:
    name = side.get("model_name") if isinstance(side, Mapping) else None
    return name if isinstance(name, str) else ""


def tool_of(columns: tuple[str, ...]) -> str:
    """Which tool's columns hold objects that have to be taken apart; "" for most files."""
    readers = {
        "langsmith": is_langsmith,
        "mlflow": is_mlflow,
        "deepeval": is_deepeval,
        "ragchecker": is_ragchecker,
        "promptfoo": is_promptfoo,
        "langfuse": langfuse.is_export,
    }
    return next((name for name, reads in readers.items() if reads(columns)), "")
