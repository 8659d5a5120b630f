"""Eval sets and responses from whatever they stand in: a file, a folder, a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import folded
from ragauge.core.object_lookup import load_registered, package_of, registered
from ragauge.core.response import Record
from ragauge.core.values import BadValue, described
from ragauge.readers import jsonl, tabular, workbook
from ragauge.readers.aliases import columns_in, names_of, snake
from ragauge.readers.lines import BOM, PARQUET, ZIP, Row, Rows, head
from ragauge.readers.options import NAMING, Options, Warn, warn_user
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.traces import otlp_files as traces
from ragauge.readers.traces.spans import is_batch

ACCEPTED = (
    "Accepted: .jsonl, .json, .csv, .tsv (each also packed as .gz or .zst), .parquet, .xlsx, traces (OTLP/JSON), "
    "a BEIR folder (queries.jsonl, qrels/), a polars or pandas DataFrame, an Arrow table, a list of dictionaries, "
    "a dictionary of columns or of questions by category, a Hugging Face data set."
)
QUERY_NAMES = frozenset(names_of("query"))
ENDINGS: Mapping[str, Callable[[Path], Rows]] = {
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".json": jsonl.read,
    ".csv": tabular.read_csv,
    ".tsv": tabular.read_csv,
}
READ_HERE = frozenset({*ENDINGS, ".parquet", ".xlsx"})
SHOWN = 5
PAGE = ("an HTML page, and holds no data", "Is it the page of an error or a login? Download the file itself.")
NO_DATA = (  # how files begin that are taken for data by mistake, what they are, what to do
    (b"<!doctype html", *PAGE),
    (b"<html", *PAGE),
    (b"<head", *PAGE),
    (b"<?xml", "XML", ACCEPTED),
    (b"%PDF-", "a PDF", ACCEPTED),
    (b"SQLite format 3", "an SQLite database", ACCEPTED),
    (
        b"version https://git-lfs.github.com/",
        "a pointer of Git LFS, and not the data that it stands for",
        "Fetch the data with: git lfs pull",
    ),
)


def records(
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
    """As `records`, by what the user said about the source."""
    if isinstance(source, EvalSet):
        return iter([Record(example, None, source.name, n) for n, example in enumerate(source.examples, 1)])
    return RecordReader(rows_of(source, split, without_retrieval=how.without_retrieval), how).records()


def read_set(source: Any, *, name: str | None = None, **how: Any) -> EvalSet:
    """The eval set in a source; responses beside the examples are left aside.

    Args:
        source: as for `records`.
        name: of the set; None = the file's or folder's name.
        how: columns, segments, split, system, context_marker and warn, as for `records`.
    """
    examples: dict[str, Example] = {}
    for record in records(source, **how):
        examples.setdefault(record.example.query_id, record.example)
    version = None
    if isinstance(source, str | Path) and Path(source).is_dir():
        from ragauge.readers import beir

        version = beir.fingerprint(Path(source))
    return EvalSet(name or name_of(source), tuple(examples.values()), version)


def joined(
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
        more: system, context_marker (of the responses) and warn, as for `records`.
    """
    if on_unknown not in ("error", "warn"):
        raise UsageError(f"joined: on_unknown must be 'error' or 'warn', got {on_unknown!r}.")
    how = Options(columns or {}, tuple(segments), **more)
    return join_records(set_source, response_source, how, on_unknown)


def join_records(
    set_source: Any, response_source: Any, how: Options, on_unknown: Literal["error", "warn"] = "error"
) -> Iterator[Record]:
    """As `joined`, by what the user said about both sources; scores are columns of the responses."""
    if isinstance(set_source, EvalSet):
        return answers_to(set_source, response_source, how, on_unknown=on_unknown)
    given = rows_of(response_source, without_retrieval=how.without_retrieval)
    answers = RecordReader(given, how.of_responses())
    reading = RecordReader(rows_of(set_source), how.of_set(), answers)
    examples: dict[str, Record] = {}
    for n, row in reading.rows.rows:
        record = reading.record(n, row)
        if record is not None:
            examples.setdefault(record.example.query_id, record)
    both = {name for ours in NAMING if ours in how.columns for name in columns_in(how.columns[ours])}
    reading.finish(reading.sought - both)
    unseen = answers.sought - (both - reading.sought)
    answers.known(_columns_of_set(how, examples))
    return _joined(examples, answers, unseen, on_unknown, how.warn)


def answers_to(
    eval_set: EvalSet,
    response_source: Any,
    how: Options,
    *,
    seen: Collection[str] = (),
    on_unknown: Literal["error", "warn"] = "error",
) -> Iterator[Record]:
    """The examples of a set that was read before with the responses of a source, as `joined` gives them.

    Args:
        eval_set: the examples.
        response_source: the responses.
        how: what the user said about both.
        seen: mapped columns that were found where the set was read.
        on_unknown: what to do about a response to no example of the set.
    """
    given = rows_of(response_source, without_retrieval=how.without_retrieval)
    answers = RecordReader(given, how.of_responses())
    examples = {record.example.query_id: record for record in records(eval_set)}
    answers.known(_columns_of_set(how, examples))
    unseen = {*how.mapped, *how.scored.values()}.difference(seen)
    return _joined(examples, answers, unseen, on_unknown, how.warn)


def _columns_of_set(how: Options, examples: Mapping[str, Record]) -> set[str]:
    """Columns that the user named, and those that the examples are reported by: responses may repeat them."""
    return {*how.named, *(name for record in examples.values() for name in record.example.segments)}


def _joined(
    examples: Mapping[str, Record], answers: RecordReader, unseen: set[str], on_unknown: str, warn: Warn
) -> Iterator[Record]:
    source = answers.rows.source
    answered: set[str] = set()
    unknown: dict[str, int] = {}
    other_query: list[int] = []
    answers.ids.know_examples(record.example for record in examples.values())
    for n, row in answers.rows.rows:
        read = answers.response(n, row)
        if read is None:
            continue
        response, query = read
        asked = examples.get(response.query_id)
        if asked is None:
            unknown[response.query_id] = n
            continue
        if query and folded(query) != folded(asked.example.query):
            other_query.append(n)
        answered.add(response.query_id)
        answers.matching.see(asked.example, response)
        yield Record(asked.example, response, source, n)
    answers.finish(unseen & answers.sought)
    if unknown:
        shown = ", ".join(f"{query_id!r} ({answers.rows.unit} {n})" for query_id, n in list(unknown.items())[:SHOWN])
        more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
        problem = f"query_ids that the set does not have: {shown}{more}."
        if on_unknown == "error":
            hint = "Do the files belong together? Give the set that was answered, or take these lines out."
            raise answers.rows.error(problem, hint=hint)
        warn(f"{source}: {problem} Their responses are left out.")
    if other_query:
        warn(
            f"{source}: {len(other_query)} responses carry another query than the set under the same query_id "
            f"(first: {answers.rows.unit} {other_query[0]}). The set's is used."
        )
    for query_id, record in examples.items():
        if query_id not in answered:
            yield Record(record.example, None, record.source, record.line)


def rows_of(source: Any, split: str | None = None, *, without_retrieval: bool = False) -> Rows:
    """The rows of a source, its format chosen by content, then by the ending of its name.

    Args:
        source: as for `records`.
        split: of a BEIR folder or a Hugging Face data set; None = test.
        without_retrieval: of traces, answers before which nothing was searched are read too.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir():
            return _folder(path, split)
        try:
            return _file(path, without_retrieval=without_retrieval)
        except (FileNotFoundError, PermissionError) as error:
            raise _unopened(path, error) from None
    if not tabular.is_frame(source) and tabular.is_dataset(source):  # an Arrow table has the same shape
        return tabular.read_dataset(source, split)
    if isinstance(source, Mapping):
        return _held(source)
    if tabular.is_frame(source) or tabular.is_list(source):
        return tabular.read_table(source)
    kind = type(source).__name__
    raise DataError(f"cannot read an eval set or responses from an object of type {kind}.", hint=ACCEPTED)


def _held(source: Mapping[Any, Any]) -> Rows:
    """The examples of a dictionary: its columns, its categories of questions, or the one example that it is."""
    try:
        held = jsonl.rows_in({str(key): value for key, value in source.items()})
    except BadValue as bad:
        raise DataError(str(bad), source="dictionary") from None
    return tabular.read_table([source] if held is None else held)


def _folder(path: Path, split: str | None) -> Rows:
    from ragauge.readers import beir

    if not beir.reads(path):
        problem = "the folder is not a BEIR data set (queries.jsonl, qrels/test.tsv)."
        raise DataError(problem, source=str(path), hint=ACCEPTED)
    return beir.read(path, split)


def _file(path: Path, *, without_retrieval: bool = False) -> Rows:
    with path.open("rb") as file:
        magic = file.read(4)
    ending = next((end for end in reversed(path.suffixes) if end.lower() not in (".gz", ".zst")), "").lower()
    if ending not in READ_HERE and (name := _registered_for(path)):
        return Rows(str(path), _registered_rows(path, name), unit="row")
    if magic == PARQUET:
        return tabular.read_parquet(path)
    if magic == ZIP:
        return workbook.read(path)
    if not magic:
        raise DataError("the file is empty.", source=str(path), hint=ACCEPTED)
    if ending == ".parquet":
        raise DataError("not a Parquet file: it does not start with PAR1.", source=str(path), hint=ACCEPTED)
    start = head(path).removeprefix(BOM).lstrip()
    for sign, what, hint in NO_DATA:
        if start[: len(sign)].lower() == sign.lower():
            raise DataError(f"the file is {what}.", source=str(path), hint=hint)
    if start[:1] in (b"{", b"["):
        rows = jsonl.read(path)
        return traces.read(rows, without_retrieval=without_retrieval) if is_batch(start) else rows
    if ending in ENDINGS:
        return ENDINGS[ending](path)
    first = start.partition(b"\n")[0].decode("utf-8", "replace")
    if any(QUERY_NAMES & {snake(cell) for cell in first.split(mark)} for mark in tabular.DELIMITERS):
        return tabular.read_csv(path)
    trec = len(first.split()) in (4, 6)
    hint = "TREC runs and qrels are read by: ragauge retrieval QRELS RUN." if trec else ACCEPTED
    if (more := registered("ragauge.readers")) and not trec:
        hint += f" Installed packages read: {', '.join(sorted(more))}."
    shown = f"{first[:40]!r}" + ("…" if len(first) > 40 else "")
    raise DataError(f"the format is not known (ending {ending!r}, first line {shown}).", source=str(path), hint=hint)


def _registered_for(path: Path) -> str:
    """By which name an installed package reads a file: its ending, with or without the dot, or all of its name."""
    names = sorted(registered("ragauge.readers"), key=len, reverse=True)
    return next((name for name in names if f".{path.name}".lower().endswith(f".{name.lower().lstrip('.')}")), "")


def _registered_rows(path: Path, name: str) -> Iterator[tuple[int, Row]]:
    """The rows that a package's reader gives: dictionaries, as the lines of our JSONL files are."""
    read, n = load_registered("ragauge.readers", name), 0
    try:
        for n, row in enumerate(read(path), 1):
            if not isinstance(row, Mapping):
                raise TypeError(f"row {n} is {described(row)}, expected a dictionary")
            yield n, row
    except DataError:
        raise
    except Exception as error:
        problem = f"{package_of(registered('ragauge.readers')[name])} cannot read it: {type(error).__name__}: {error}."
        raise DataError(problem, source=str(path), line=n or None, unit="after row") from error


def _unopened(path: Path, error: OSError) -> DataError:
    if isinstance(error, PermissionError):
        return DataError("may not be opened: permission denied.", source=str(path))
    from difflib import get_close_matches

    beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, beside, n=3, cutoff=0.6)
    return DataError("there is no such file.", source=str(path), hint=f"Nearest: {', '.join(near)}." if near else "")


def name_of(source: Any) -> str:
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
