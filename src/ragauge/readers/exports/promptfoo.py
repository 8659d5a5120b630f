"""promptfoo: results in JSON of any version, or the table in CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragauge.core.values import BadValue
from ragauge.readers.aliases import list_field_names, to_snake_case
from ragauge.readers.lines import Row, RowContext
from ragauge.readers.messages import PASSAGE_KEYS, QUERY_KEYS, parse_output

OUTPUT_COLUMN = re.compile(r"^\[[^\]]+\] ")  # head of a column of the CSV: [provider] prompt
GRADE_COLUMNS = frozenset({"Status", "Score", "Named Scores", "Grader Reason", "Comment"})  # beside each such column
RESULT_COLUMNS = frozenset({"testIdx", "response", "gradingResult"})  # beside `vars`; version 2 counts no tests
ERROR_REASON = 2  # failureReason of an error; 1 is an assertion that did not hold, whose text stands in `error` too
SEPARATE_FILES_HINT = "Write a separate file for each: promptfoo eval --filter-providers NAME -o NAME.jsonl."
VARIABLE_NAMES = {  # variables, beside those that have our names or another tool's
    "query": QUERY_KEYS,
    "query_id": list_field_names("query_id"),
    "passages": PASSAGE_KEYS,
    "reference_answer": ("expected",),
}
TOKENS = {"prompt": "input", "completion": "output"}


def takes(columns: Iterable[str]) -> bool:
    """Whether the columns are those of a result in JSON, of any version, or of the table in CSV."""
    names = set(columns)
    return ("vars" in names and not names.isdisjoint(RESULT_COLUMNS)) or (
        {"Status", "Score"} <= names and any(OUTPUT_COLUMN.match(name) for name in names)
    )


def read_row(row: Row, context: RowContext) -> Row | None:
    """One result as a row; None where it is another system's than the one that was asked for.

    Args:
        row: of the file.
        context: with the system whose results are read, by the provider's label or id; None = those of the only one.

    Raises:
        BadValue: results of several systems, and none was chosen.
    """
    if "vars" not in row:
        return _read_table_row(row)
    name = _get_system_name(row)
    context.systems.add(name)
    if context.system:
        return _read_result(row) if context.system == name else None
    if len(context.systems) > 1:
        expected, systems = "the same for all results if there is one prompt", ", ".join(sorted(context.systems))
        raise BadValue("provider", expected, systems, SEPARATE_FILES_HINT)
    return _read_result(row)


def _read_result(row: Row) -> Row:
    out = _rename_variables(row["vars"])
    if row.get("testIdx") is not None:
        out.setdefault("query_id", row["testIdx"])
    response = row.get("response")
    response = response if isinstance(response, Mapping) else {}
    out |= parse_output(response.get("output"))
    if "passages" not in out:
        out |= {name: value for name, value in parse_output(response.get("metadata")).items() if name == "passages"}
    if row.get("failureReason") == ERROR_REASON or ("failureReason" not in row and response.get("error")):
        out["error"] = row.get("error") or response.get("error") or "the provider failed"
    tokens = row.get("tokenUsage")
    if isinstance(tokens, Mapping) and tokens.get("total"):
        out["tokens"] = {ours: tokens[name] for name, ours in TOKENS.items() if tokens.get(name) is not None}
    return out | {"latency_ms": row.get("latencyMs"), "cost": row.get("cost") or None}


def _read_table_row(row: Row) -> Row:
    outputs = [name for name in row if OUTPUT_COLUMN.match(name)]
    answer = outputs[0]  # a table of several has a column twice, which no table may
    out = _rename_variables(
        {name: value for name, value in row.items() if name not in GRADE_COLUMNS and name != answer}
    )
    if row["Status"] == "ERROR":
        return out | {"error": row.get("Grader Reason") or "the provider failed"}
    return out | {"answer": row[answer]}


def _rename_variables(variables: Any) -> dict[str, Any]:
    """The variables of a test as columns; whatever holds the question, the passages and the reference is named so."""
    out = dict(variables) if isinstance(variables, Mapping) else {}
    spelled = {to_snake_case(str(name)): name for name in out}
    for ours, names in VARIABLE_NAMES.items():
        if variable := next((spelled[name] for name in names if name in spelled), None):
            out.setdefault(ours, out.pop(variable))
    return out


def get_variables(row: Row) -> Row:
    """The variables of a result's test, under their own names."""
    if "vars" not in row:
        return {
            name: value for name, value in row.items() if name not in GRADE_COLUMNS and not OUTPUT_COLUMN.match(name)
        }
    return row["vars"] if isinstance(row["vars"], Mapping) else {}


def _get_system_name(row: Row) -> str:
    provider, prompt = row.get("provider"), row.get("promptIdx")
    name = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider
    if prompt is None and isinstance(row.get("prompt"), Mapping):  # version 2 tells prompts apart by their form
        form = row["prompt"].get("label") or row["prompt"].get("display")
        return f"{name} ({form})" if form and form != row["prompt"].get("raw") else str(name)
    return f"{name} (result {prompt + 1} of a test)" if isinstance(prompt, int) and prompt else str(name)
