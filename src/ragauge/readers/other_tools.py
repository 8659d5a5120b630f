"""Files of other evaluation tools: deepeval, promptfoo, RAGChecker, Langfuse and Phoenix."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.values import BadValue, Notes, decode_cell, is_null
from ragauge.readers.aliases import GOLDEN, list_field_names, to_snake_case
from ragauge.readers.lines import Row
from ragauge.readers.payloads import (
    PASSAGE_KEYS,
    QUERY_KEYS,
    find_first_value,
    is_langsmith,
    is_mlflow,
    parse_input,
    parse_output,
    unpack_payload,
)

ENTRY = ("input", "output", "expected_output", "metadata")  # columns of Langfuse that hold JSON


def is_export(columns: Iterable[str]) -> bool:
    """Whether the columns are those of Langfuse's exports: an input with what came of it, or with what should."""
    names = {to_snake_case(column) for column in columns}
    return "input" in names and not names.isdisjoint(ENTRY[1:])


def unpack_json(row: Row) -> Row:
    """The row with its JSON as objects; one that holds nothing of its own stays a text: an answer may be JSON."""
    columns = {column: to_snake_case(column) for column in row}
    opened_cells = {column: unpack_payload(row[column], column) for column, name in columns.items() if name in ENTRY}
    objects = {column: value for column, value in opened_cells.items() if isinstance(value, Mapping)}
    payloads = {
        column: value
        for column, value in objects.items()
        if columns[column] in ("input", "metadata") or parse_output(value) or not isinstance(row[column], str)
    }
    return {**row, **payloads} if payloads else row


def read_row(row: Row) -> Row:
    """A row of such objects with question, answer, reference and passages as columns of their own."""
    payload_columns = {
        to_snake_case(column): (column, value) for column, value in row.items() if isinstance(value, Mapping)
    }
    column, payload = payload_columns.get("input", ("", {}))
    out = {name: value for name, value in row.items() if name != column}
    question = parse_input(payload)
    if payload and "query" not in question:
        return row  # the reader says that there is none
    out |= question
    for name in ("output", "expected_output"):
        column, payload = payload_columns.get(name, ("", {}))
        fields = parse_output(payload)
        if fields:
            del out[column]
        if name == "output":
            out |= fields
        elif "answer" in fields:
            out["reference_answer"] = fields["answer"]
    passage_lists = (
        find_first_value(payload_columns[name][1], PASSAGE_KEYS)
        for name in ("input", "metadata")
        if name in payload_columns
    )
    if out.get("passages") is None and (
        passages := next((candidate for candidate in passage_lists if candidate is not None), None)
    ):
        out["passages"] = passages
    return out


JOINED_COLUMNS = frozenset({"retrieval_context", "context"})
DEEPEVAL_TOKENS = {"input_token_count": "input", "output_token_count": "output"}
SEPARATOR = "|"


def is_deepeval(columns: Iterable[str]) -> bool:
    """Whether the columns are deepeval's: an input, and beside it a list that only deepeval names so."""
    names = {to_snake_case(name) for name in columns}
    if "input" not in names or names.isdisjoint(("retrieval_context", "context")):
        return False
    return not names.isdisjoint(("retrieval_context", "expected_output")) or GOLDEN.without.isdisjoint(names)


def read_deepeval_row(row: Row, notes: Notes) -> Row:
    """The row with its joined texts as lists, as deepeval reads them too, and its counts of tokens as one object."""
    out: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for column, value in row.items():
        name = to_snake_case(column)
        if name in DEEPEVAL_TOKENS:
            tokens[DEEPEVAL_TOKENS[name]] = value
        else:
            out[column] = (
                _split_joined(value, column, notes) if name in JOINED_COLUMNS and isinstance(value, str) else value
            )
    if any(count is not None for count in tokens.values()):
        out.setdefault("tokens", tokens)
    return out


def _split_joined(value: str, column: str, notes: Notes) -> Any:
    decoded = decode_cell(value, column, notes)
    if decoded is not value or SEPARATOR not in value:
        return decoded
    entries = value.split(SEPARATOR)
    if any(not entry.strip() for entry in entries):  # a table's row, or a mark in the text: no way to tell
        notes.unclear[column] = notes.unclear.get(column, 0) + 1
    return [entry.strip() for entry in entries if entry.strip()]


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
PROMPTFOO_TOKENS = {"prompt": "input", "completion": "output"}


def is_promptfoo(columns: Iterable[str]) -> bool:
    """Whether the columns are those of a result in JSON, of any version, or of the table in CSV."""
    names = set(columns)
    return ("vars" in names and not names.isdisjoint(RESULT_COLUMNS)) or (
        {"Status", "Score"} <= names and any(OUTPUT_COLUMN.match(name) for name in names)
    )


def read_promptfoo_row(row: Row, system: str | None, known_systems: set[str]) -> Row | None:
    """One result as a row; None where it is another system's than the one that was asked for.

    Args:
        row: of the file.
        system: whose results, by the provider's label or id; None = those of the only one.
        known_systems: systems met so far; this row's is added.

    Raises:
        BadValue: results of several systems, and none was chosen.
    """
    if "vars" not in row:
        return _read_table_row(row)
    name = _get_system_name(row)
    known_systems.add(name)
    if system:
        return _read_result(row) if system == name else None
    if len(known_systems) > 1:
        raise BadValue(
            "provider",
            "the same for all results if there is one prompt",
            ", ".join(sorted(known_systems)),
            SEPARATE_FILES_HINT,
        )
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
        out["tokens"] = {ours: tokens[name] for name, ours in PROMPTFOO_TOKENS.items() if tokens.get(name) is not None}
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


SYSTEM_COLUMNS = ("model1", "model2")
LABELS = frozenset({"correctness_label", "completeness_label", "overall_label", "instance_id"})


def is_ragchecker(columns: Iterable[str]) -> bool:
    """Whether the columns are those of such a file."""
    return {"query", *SYSTEM_COLUMNS} <= set(columns)


def read_ragchecker_row(row: Row, system: str | None) -> Row | None:
    """One system's answer.

    Args:
        row: of the file.
        system: model1 or model2, or the name of a system; None is refused, since the row holds two answers.

    Returns:
        The row as one response; None where the named system did not answer this question. query_id is unique only
        within a data set, so the data set's name comes before it.
    """
    if not system:
        names = ", ".join(_get_model_name(row[system_column]) or system_column for system_column in SYSTEM_COLUMNS)
        problem = "the file has the answers of two systems."
        raise UsageError(f"{problem} Choose one with system=: model1, model2 or a name such as {names}.")
    system_column = (
        system
        if system in SYSTEM_COLUMNS
        else next(
            (system_column for system_column in SYSTEM_COLUMNS if _get_model_name(row[system_column]) == system), None
        )
    )
    if system_column is None:
        return None
    selected = row[system_column]
    dropped = {*SYSTEM_COLUMNS, *LABELS, "dataset", "query_id"}
    out: dict[str, Any] = {key: value for key, value in row.items() if key not in dropped}
    out["answer"] = selected.get("response") if isinstance(selected, Mapping) else None
    dataset, query_id = row.get("dataset"), row.get("query_id")
    if query_id is not None:
        out["query_id"] = f"{dataset}:{query_id}" if dataset else query_id
    if dataset:
        out["segments"] = {"dataset": dataset}
    return out


def list_systems(row: Row) -> set[str]:
    """The names of the two systems."""
    return {name for system_column in SYSTEM_COLUMNS if (name := _get_model_name(row[system_column]))}


def _get_model_name(answer: Any) -> str:
    name = answer.get("model_name") if isinstance(answer, Mapping) else None
    return name if isinstance(name, str) else ""


def detect_tool(columns: tuple[str, ...]) -> str:
    """Which tool's columns hold objects that have to be taken apart; "" for most files."""
    readers = {
        "langsmith": is_langsmith,
        "mlflow": is_mlflow,
        "deepeval": is_deepeval,
        "ragchecker": is_ragchecker,
        "promptfoo": is_promptfoo,
        "langfuse": is_export,
    }
    return next((name for name, is_match in readers.items() if is_match(columns)), "")


IDS = ("context.span_id", "context.trace_id")
TEXTS = ("reference", "document", "context")  # what versions of Phoenix call a retrieved text
DOCUMENT_COLUMNS = frozenset({"document_position", "document_score"})
DOUBT_MESSAGE = (
    "column {column} is read as the reference answer. In a Phoenix table it has the retrieved "
    "passages: --map passages={column}."
)


def merge_search_rows(rows: Iterator[tuple[int, Row]], named_columns: Collection[str]) -> Iterator[tuple[int, Row]]:
    """The rows, those of Phoenix's tables by our names; the documents of one search as one row.

    Args:
        rows: of a source.
        named_columns: columns that the user named, which stay as they are.
    """
    for key, group in groupby(rows, lambda numbered: _get_search_id(numbered[1])):
        if not key:
            yield from ((n, _rename_columns(row, named_columns)) for n, row in group)
            continue
        search_rows = list(group)
        n, first = search_rows[0]
        passages = [passage for _, row in search_rows if (passage := _build_passage(row)) is not None]
        other_fields = {
            name: value for name, value in first.items() if not _is_phoenix_column(name, first) or name in named_columns
        }
        yield n, {**other_fields, "passages": passages}


def describe_doubt(read: Mapping[str, str], named_columns: Collection[str]) -> str:
    """What to say of a reference that may be one of Phoenix's; "" of any other table.

    Args:
        read: our field -> the column that is read as it.
        named_columns: columns that the user named.
    """
    columns = [read.get(field, "") for field in ("query", "answer", "reference_answer")]
    unsure = list(map(to_snake_case, columns)) == ["input", "output", "reference"] and "passages" not in read
    return DOUBT_MESSAGE.format(column=columns[-1]) if unsure and columns[-1] not in named_columns else ""


def _is_phoenix(row: Row) -> bool:
    return any(name in row for name in IDS) and "input" in row and any(name in row for name in TEXTS)


def _get_search_id(row: Row) -> str:
    """Which search a row holds a document of; "" where it holds no document."""
    if not _is_phoenix(row) or DOCUMENT_COLUMNS.isdisjoint(row):
        return ""
    return str(next(row[name] for name in IDS if name in row))


def _is_phoenix_column(name: str, row: Row) -> bool:
    """Whether a column is Phoenix's own: an id, or of one document."""
    return name in IDS or name.startswith("document_") or name == next(text for text in TEXTS if text in row)


def _rename_columns(row: Row, named_columns: Collection[str]) -> Row:
    if not _is_phoenix(row):
        return row
    text = next(name for name in TEXTS if name in row)
    if text in named_columns:
        return row
    other_fields = {name: value for name, value in row.items() if name in named_columns or name not in (*IDS, text)}
    return {**other_fields, "passages": row[text]}


def _build_passage(row: Row) -> Row | None:
    text = row[next(name for name in TEXTS if name in row)]
    if is_null(text):
        return None
    score = row.get("document_score")
    return {"text": text} | ({} if is_null(score) else {"score": score})
