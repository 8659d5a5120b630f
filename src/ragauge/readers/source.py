"""Eval sets and responses from whatever they stand in: a file, a folder, a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import normalize_text
from ragauge.core.object_lookup import get_package_name, list_entry_points, load_entry_point
from ragauge.core.response import Record
from ragauge.core.values import BadValue, describe_value
from ragauge.readers import jsonl, tabular
from ragauge.readers.aliases import list_columns, list_field_names, to_snake_case
from ragauge.readers.lines import BOM, PARQUET, ZIP, Row, Rows, read_head
from ragauge.readers.options import ID_FIELDS, Options, Warn, warn_user
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.traces.normalize import read_traces
from ragauge.readers.traces.spans import is_batch

ACCEPTED = (
    "Accepted: .jsonl, .json, .csv, .tsv (each may be compressed as .gz or .zst), .parquet, .xlsx, traces (OTLP/JSON), "
    "a BEIR folder (queries.jsonl, qrels/), a polars or pandas DataFrame, an Arrow table, a list of dictionaries, "
    "a dictionary of columns or of questions by category, a Hugging Face data set."
)
QUERY_NAMES = frozenset(list_field_names("query"))
ENDINGS: Mapping[str, Callable[[Path], Rows]] = {
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".json": jsonl.read,
    ".csv": tabular.read_csv,
    ".tsv": tabular.read_csv,
}
BUILT_IN_ENDINGS = frozenset({*ENDINGS, ".parquet", ".xlsx"})
MAX_SHOWN_IDS = 5
PAGE = ("an HTML page, not data", "It may be an error or login page. Download the file itself.")
NON_DATA_SIGNS = (  # how files begin that are taken for data by mistake, what they are, what to do
    (b"<!doctype html", *PAGE),
    (b"<html", *PAGE),
    (b"<head", *PAGE),
    (b"<?xml", "XML", ACCEPTED),
    (b"%PDF-", "a PDF", ACCEPTED),
    (b"SQLite format 3", "an SQLite database", ACCEPTED),
    (
        b"version https://git-lfs.github.com/",
        "a Git LFS pointer, not the data itself",
        "Fetch the data with: git lfs pull",
    ),
)


def read_source(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    segments: Sequence[str] = (),
    split: str | None = None,
    system: str | None = None,
    context_marker: str = "",
    warn: Warn = warn_user,
) -> Iterator[Record]:
    """Every example of a source, with its response where there is one, one at a time.

    Args:
        source: a path, a folder, or a table in memory.
        columns: our field -> the source's column, for names that are not known: {"query": "frage"}; a list of columns
            is read as one list.
        segments: columns to report by.
        split: of a BEIR folder or a Hugging Face data set; None = test.
        system: whose answers, where a file holds those of two (RAGChecker's meta-evaluation).
        context_marker: how questions are built that are whole prompts: "Context: {context} Question: {query}", or the
            text that the context stands behind.
        warn: receives each warning when the source has been read; by default a Python warning.

    Raises:
        DataError: what cannot be read, with the line. It may come after records were handed out, so that a caller
            who keeps them should do so in one transaction.
        UsageError: a field, split or system that does not exist.
    """
    how = Options(columns or {}, tuple(segments), system, warn, context_marker=context_marker)
    return read_records(source, how, split)


def read_records(source: Any, how: Options, split: str | None = None) -> Iterator[Record]:
    """As `read_source`, by what the user said about the source."""
    if isinstance(source, EvalSet):
        return iter([Record(example, None, source.name, n) for n, example in enumerate(source.examples, 1)])
    return RecordReader(read_rows(source, split, without_retrieval=how.without_retrieval), how).read_all()


def read_set(source: Any, *, name: str | None = None, **how: Any) -> EvalSet:
    """The eval set in a source; responses beside the examples are left aside.

    Args:
        source: as for `read_source`.
        name: of the set; None = the file's or folder's name.
        how: columns, segments, split, system, context_marker and warn, as for `read_source`.
    """
    examples: dict[str, Example] = {}
    for record in read_source(source, **how):
        examples.setdefault(record.example.query_id, record.example)
    version = None
    if isinstance(source, str | Path) and Path(source).is_dir():
        from ragauge.readers import rankings

        version = rankings.compute_fingerprint(Path(source))
    return EvalSet(name or derive_name(source), tuple(examples.values()), version)


def read_joined(
    set_source: Any,
    response_source: Any,
    columns: Mapping[str, str] | None = None,
    *,
    on_unknown: Literal["error", "warn"] = "error",
    segments: Sequence[str] = (),
    **more: Any,
) -> Iterator[Record]:
    """The examples of one source with the responses of another, joined on query_id.

    Responses come in the order of their file, then the examples without one, in the order of theirs. The examples
    are held in memory, the responses are not.

    Args:
        set_source: the examples.
        response_source: the responses; query_id and, where that is absent, the query says whose they are.
        columns: our field -> column, in either source.
        on_unknown: what to do about a response to no example of the set.
        segments: columns of the set to report by.
        more: system, context_marker (of the responses) and warn, as for `read_source`.
    """
    if on_unknown not in ("error", "warn"):
        raise UsageError(f"joined: on_unknown must be 'error' or 'warn', got {on_unknown!r}.")
    how = Options(columns or {}, tuple(segments), **more)
    return join_records(set_source, response_source, how, on_unknown)


def join_records(
    set_source: Any, response_source: Any, how: Options, on_unknown: Literal["error", "warn"] = "error"
) -> Iterator[Record]:
    """As `read_joined`, by what the user said about both sources; scores are columns of the responses."""
    if isinstance(set_source, EvalSet):
        return join_answers(set_source, response_source, how, on_unknown=on_unknown)
    response_rows = read_rows(response_source, without_retrieval=how.without_retrieval)
    answers = RecordReader(response_rows, how.select_response_options())
    reading = RecordReader(read_rows(set_source), how.select_set_options(), answers)
    examples: dict[str, Record] = {}
    for n, row in reading.rows.rows:
        record = reading.read_record(n, row)
        if record is not None:
            examples.setdefault(record.example.query_id, record)
    both = {name for ours in ID_FIELDS if ours in how.columns for name in list_columns(how.columns[ours])}
    reading.finish(reading.sought - both)
    unseen = answers.sought - (both - reading.sought)
    answers.add_known_columns(_list_set_columns(how, examples))
    return _match_responses(examples, answers, unseen, on_unknown, how.warn)


def join_answers(
    eval_set: EvalSet,
    response_source: Any,
    how: Options,
    *,
    found_columns: Collection[str] = (),
    on_unknown: Literal["error", "warn"] = "error",
) -> Iterator[Record]:
    """The examples of a set that was read before with the responses of a source, as `read_joined` gives them.

    Args:
        eval_set: the examples.
        response_source: the responses.
        how: what the user said about both.
        found_columns: mapped columns that were found where the set was read.
        on_unknown: what to do about a response to no example of the set.
    """
    response_rows = read_rows(response_source, without_retrieval=how.without_retrieval)
    answers = RecordReader(response_rows, how.select_response_options())
    examples = {record.example.query_id: record for record in read_source(eval_set)}
    answers.add_known_columns(_list_set_columns(how, examples))
    unseen = {*how.mapped_columns, *how.scored.values()}.difference(found_columns)
    return _match_responses(examples, answers, unseen, on_unknown, how.warn)


def _list_set_columns(how: Options, examples: Mapping[str, Record]) -> set[str]:
    """Columns that the user named, and those that the examples are reported by: responses may repeat them."""
    return {*how.named, *(name for record in examples.values() for name in record.example.segments)}


def _match_responses(
    examples: Mapping[str, Record], answers: RecordReader, unseen: set[str], on_unknown: str, warn: Warn
) -> Iterator[Record]:
    source = answers.rows.source
    answered: set[str] = set()
    unknown: dict[str, int] = {}
    other_query: list[int] = []
    answers.ids.set_examples(record.example for record in examples.values())
    for n, row in answers.rows.rows:
        read = answers.response(n, row)
        if read is None:
            continue
        response, query = read
        matched = examples.get(response.query_id)
        if matched is None:
            unknown[response.query_id] = n
            continue
        if query and normalize_text(query) != normalize_text(matched.example.query):
            other_query.append(n)
        answered.add(response.query_id)
        answers.matching.count_example(matched.example, response)
        yield Record(matched.example, response, source, n)
    answers.finish(unseen & answers.sought)
    if unknown:
        preview = ", ".join(
            f"{query_id!r} ({answers.rows.unit} {n})" for query_id, n in list(unknown.items())[:MAX_SHOWN_IDS]
        )
        more = f" and {len(unknown) - MAX_SHOWN_IDS} more" if len(unknown) > MAX_SHOWN_IDS else ""
        problem = f"these query_ids are not in the set: {preview}{more}."
        if on_unknown == "error":
            hint = "Check that the files belong together. Give the set that was answered, or remove these lines."
            raise answers.rows.error(problem, hint=hint)
        warn(f"{source}: {problem} Their responses are skipped.")
    if other_query:
        warn(
            f"{source}: {len(other_query)} responses have a different query than the set for the "
            f"same query_id (first: {answers.rows.unit} {other_query[0]}). The query of the set is used."
        )
    for query_id, record in examples.items():
        if query_id not in answered:
            yield Record(record.example, None, record.source, record.line)


def read_rows(source: Any, split: str | None = None, *, without_retrieval: bool = False) -> Rows:
    """The rows of a source, its format chosen by content, then by the ending of its name.

    Args:
        source: as for `read_source`.
        split: of a BEIR folder or a Hugging Face data set; None = test.
        without_retrieval: of traces, answers before which nothing was searched are read too.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir():
            return _read_folder(path, split)
        try:
            return _read_file(path, without_retrieval=without_retrieval)
        except (FileNotFoundError, PermissionError) as error:
            raise _build_open_error(path, error) from None
    if not tabular.is_frame(source) and tabular.is_dataset(source):  # an Arrow table has the same shape
        return tabular.read_dataset(source, split)
    if isinstance(source, Mapping):
        return _read_mapping(source)
    if tabular.is_frame(source) or tabular.is_list(source):
        return tabular.read_table(source)
    kind = type(source).__name__
    raise DataError(f"cannot read an eval set or responses from an object of type {kind}.", hint=ACCEPTED)


def _read_mapping(source: Mapping[Any, Any]) -> Rows:
    """The examples of a dictionary: its columns, its categories of questions, or the one example that it is."""
    try:
        rows = jsonl.find_rows({str(key): value for key, value in source.items()})
    except BadValue as bad:
        raise DataError(str(bad), source="dictionary") from None
    return tabular.read_table([source] if rows is None else rows)


def _read_folder(path: Path, split: str | None) -> Rows:
    from ragauge.readers import rankings

    if not rankings.is_beir_folder(path):
        problem = "the folder is not a BEIR data set (queries.jsonl, qrels/test.tsv)."
        raise DataError(problem, source=str(path), hint=ACCEPTED)
    return rankings.read(path, split)


def _read_file(path: Path, *, without_retrieval: bool = False) -> Rows:
    with path.open("rb") as file:
        magic = file.read(4)
    ending = next((end for end in reversed(path.suffixes) if end.lower() not in (".gz", ".zst")), "").lower()
    if ending not in BUILT_IN_ENDINGS and (name := _find_plugin_reader(path)):
        return Rows(str(path), _read_plugin_rows(path, name), unit="row")
    if magic == PARQUET:
        return tabular.read_parquet(path)
    if magic == ZIP:
        return tabular.read_workbook(path)
    if not magic:
        raise DataError("the file is empty.", source=str(path), hint=ACCEPTED)
    if ending == ".parquet":
        raise DataError("not a Parquet file: it does not start with PAR1.", source=str(path), hint=ACCEPTED)
    start = read_head(path).removeprefix(BOM).lstrip()
    for sign, what, hint in NON_DATA_SIGNS:
        if start[: len(sign)].lower() == sign.lower():
            raise DataError(f"the file is {what}.", source=str(path), hint=hint)
    if start[:1] in (b"{", b"["):
        rows = jsonl.read(path)
        return read_traces(rows, without_retrieval=without_retrieval) if is_batch(start) else rows
    if ending in ENDINGS:
        return ENDINGS[ending](path)
    first = start.partition(b"\n")[0].decode("utf-8", "replace")
    if any(QUERY_NAMES & {to_snake_case(cell) for cell in first.split(mark)} for mark in tabular.DELIMITERS):
        return tabular.read_csv(path)
    trec = len(first.split()) in (4, 6)
    hint = "To read TREC runs and qrels: ragauge retrieval QRELS RUN." if trec else ACCEPTED
    if (more := list_entry_points("ragauge.readers")) and not trec:
        hint += f" Installed packages read: {', '.join(sorted(more))}."
    preview = f"{first[:40]!r}" + ("…" if len(first) > 40 else "")
    raise DataError(f"unknown format (extension {ending!r}, first line {preview}).", source=str(path), hint=hint)


def _find_plugin_reader(path: Path) -> str:
    """By which name an installed package reads a file: its ending, with or without the dot, or all of its name."""
    names = sorted(list_entry_points("ragauge.readers"), key=len, reverse=True)
    return next((name for name in names if f".{path.name}".lower().endswith(f".{name.lower().lstrip('.')}")), "")


def _read_plugin_rows(path: Path, name: str) -> Iterator[tuple[int, Row]]:
    """The rows that a package's reader gives: dictionaries, as the lines of our JSONL files are."""
    read, n = load_entry_point("ragauge.readers", name), 0
    try:
        for n, row in enumerate(read(path), 1):
            if not isinstance(row, Mapping):
                raise TypeError(f"row {n} is {describe_value(row)}, expected a dictionary")
            yield n, row
    except DataError:
        raise
    except Exception as error:
        problem = (
            f"{get_package_name(list_entry_points('ragauge.readers')[name])} cannot read it: {type(error).__name__}: "
            f"{error}."
        )
        raise DataError(problem, source=str(path), line=n or None, unit="after row") from error


def _build_open_error(path: Path, error: OSError) -> DataError:
    if isinstance(error, PermissionError):
        return DataError("cannot be opened: permission denied.", source=str(path))
    from difflib import get_close_matches

    neighbors = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, neighbors, n=3, cutoff=0.6)
    return DataError("there is no such file.", source=str(path), hint=f"Nearest: {', '.join(near)}." if near else "")


def derive_name(source: Any) -> str:
    """What a source is called when the user says nothing: the file's name without its endings."""
    if not isinstance(source, str | Path):
        return source.name if isinstance(source, EvalSet) else "table"
    path = Path(source)
    name = path.name or path.resolve().name
    if path.is_dir():
        return name
    for ending in (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".xlsx"):
        name = name.removesuffix(ending)
    return name
