"""One pass over the rows of a source: columns to fields, ids, duplicates, and one warning for each thing to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from ragauge.core.curation import META, is_curation, is_rejected
from ragauge.core.errors import find_nearest
from ragauge.core.example import Example
from ragauge.core.response import Passage, Record, Response
from ragauge.core.values import BadValue, Notes, get_nested_value, is_null, parse_scalar
from ragauge.readers.aliases import (
    RESPONSE_FIELDS,
    ColumnGroup,
    RowPlan,
    check_mapping,
    describe_unread_columns,
    find_nearest_column,
    list_set_notices,
    plan_columns,
    plan_set_columns,
)
from ragauge.readers.chats import CONTEXT_MARKER_EXAMPLE, ChatRows, ContextMarker, PromptSigns
from ragauge.readers.exports import deepeval, langfuse, langsmith, mlflow, phoenix, promptfoo, ragchecker
from ragauge.readers.fields import (
    build_example,
    build_response,
    infer_answerable,
    parse_query,
    parse_query_id,
    parse_repeat,
    parse_score,
)
from ragauge.readers.first_rows import FirstRows
from ragauge.readers.lines import ExportReader, Row, RowContext, Rows
from ragauge.readers.messages import get_role, parse_output, unpack_payload
from ragauge.readers.options import Options
from ragauge.readers.passage_rows import PassageRows
from ragauge.readers.passages import parse_passages
from ragauge.readers.relevance import LABEL_FIELDS, LabelMatchCounter, LabelSplitter, list_ids, select_marked_ids
from ragauge.readers.row_ids import NamedTexts, RowIds, find_named_texts, gather_lists
from ragauge.text.citation_marks import add_answer_citations

RESPONSE, LABELS = frozenset(RESPONSE_FIELDS), frozenset(LABEL_FIELDS)
# tools whose columns hold objects that have to be taken apart, the first that takes the columns of a row; names that
# merely differ are in columns.toml
EXPORTS: tuple[ExportReader, ...] = (langsmith, mlflow, deepeval, ragchecker, promptfoo, langfuse)


class RecordReader:
    """Turns the rows of one source into records. Rows come in order; `finish` says what was noticed."""

    def __init__(self, rows: Rows, options: Options, answers: RecordReader | None = None) -> None:
        check_mapping({ours: theirs for ours, theirs in options.columns.items() if ours not in options.scores.values()})
        self.notes, self.matching, self.parting = Notes(cells=rows.cells), LabelMatchCounter(), LabelSplitter()
        lists = gather_lists(phoenix.merge_search_rows(rows.rows, options.named), options.columns, options.named)
        self._passage_rows = PassageRows(lists, options.columns)
        turns = ChatRows(iter(self._passage_rows), options.columns, options.segments, self.notes)
        self._ahead = FirstRows(iter(turns), self._find_answer, self._parse_row_passages)
        self.rows, self.options = replace(rows, rows=iter(self._ahead)), options
        self._answers = answers or self  # where the passages stand
        self._marker = ContextMarker(options.context_marker) if options.context_marker else None
        self._prompts = PromptSigns()
        self._openings: Counter[int] = Counter()  # hashes of how conversations of examples without cluster begin
        self.count = 0
        self.sought = set(options.named)  # columns named by the user, not yet seen
        self._dotted = [name for name in options.named if "." in name]
        self._scored = options.scored
        self._read = {*rows.offered, *options.segments, *(name.partition(".")[0] for name in self._dotted)}
        self._read |= set(self._scored.values())
        self._plans: dict[tuple[str, ...], RowPlan] = {}
        self._exports: dict[tuple[str, ...], ExportReader | None] = {}
        self._inside: dict[str, None] = {}  # dotted names of what objects in columns hold
        self._unread: dict[str, int] = {}
        self._export: ExportReader | None = None  # the tool of the row that is read; None for most files
        self._context = RowContext(self.notes, options.system)
        self.ids = RowIds(self.rows, self._passage_rows)

    def read_all(self) -> Iterator[Record]:
        """Every row as a record."""
        for n, row in self.rows.rows:
            record = self.read_record(n, row)
            if record is not None:
                yield record
        self.finish(self.sought)

    def add_known_columns(self, columns: Collection[str]) -> None:
        """Takes columns as read beside this source already: of responses, the segments of their set."""
        self._read |= set(columns)

    def read_record(self, n: int, row: Row) -> Record | None:
        """One row as a record; None where it has no answer of the chosen system, or repeats another row."""
        names: Mapping[str, str] = {}
        try:
            flat = self._flatten_row(row)
            if flat is None or (is_rejected(flat.get(META)) and not self.options.rejected):
                return None
            values, names = self._select_values(flat)
            if "query" not in values:
                self._raise_missing_field(
                    "query", row if self._export is not promptfoo else promptfoo.get_variables(row), n
                )
            query, query_id = parse_query(values, names, self.notes), parse_query_id(values, names, self.notes)
            twice = self._export is ragchecker
            if query_id is None:
                query_id = self.ids.make_id(query, parse_repeat(values, names), twice=twice)
            example = build_example(values, names, query_id, query, self.notes)
            example = infer_answerable(self._add_segments(example, flat), flat)
            response = None
            if not RESPONSE.isdisjoint(values) or (self._has_responses and not RESPONSE.isdisjoint(names)):
                response = self._add_citations(
                    build_response(values, names, example.query_id, self.notes, self.rows.blank)
                )
                response = self._add_scores(response, flat)
                if response.passages is None:
                    self._prompts.add_query(query)
            if not LABELS.isdisjoint(values):
                example = self.parting.example(example, values, names, (list_ids(response), self._answers.marked_ids))
        except BadValue as bad:
            self._raise_bad_value(bad, n, names)
        if self.ids.is_repeated_row(n, example, response, twice=twice):
            return None
        self.count += 1
        turns = [turn for turn in example.history if turn.role != "system"]
        if example.cluster is None and len(turns) > 1:
            self._openings[hash((turns[0], turns[1]))] += 1
        self.matching.count_example(example, response)
        return Record(example, response, self.rows.source, n)

    def response(self, n: int, row: Row) -> tuple[Response, str] | None:
        """One row of a file of responses, and its query ("" where it has none); None where it holds no response."""
        names: Mapping[str, str] = {}
        try:
            flat = self._flatten_row(row)
            if flat is None:
                return None
            values, names = self._select_values(flat)
            query = parse_query(values, names, self.notes) if "query" in values else ""
            own_id = parse_query_id(values, names, self.notes)
            if not (own_id or query):
                self._raise_missing_field("query_id", row, n)
            query_id, response = own_id or self.ids.answered(query, parse_repeat(values, names), n), None
            if not RESPONSE.isdisjoint(names):  # else the line is an example that got none, as exports have them
                response = self._add_citations(build_response(values, names, query_id, self.notes, self.rows.blank))
                response = self._add_scores(response, flat)
        except BadValue as bad:
            self._raise_bad_value(bad, n, names)
        self.ids.register_row(n, query_id, response.repeat if response is not None else 0, derived=own_id is None)
        self.count += 1
        return None if response is None else (response, query)

    def _flatten_row(self, row: Row) -> Row | None:
        """The row with the columns of other tools taken apart and with what the user's dotted names reach."""
        if self.sought:
            self.sought -= row.keys()
        keys = tuple(row)
        if keys not in self._exports:
            self._exports[keys] = next((export for export in EXPORTS if export.takes(keys)), None)
        self._export = self._exports[keys]
        if self._export is langfuse:
            row = langfuse.unpack_json(row)
        extra = {name: value for name in self._dotted if (value := get_nested_value(row, name)) is not None}
        flat: Row | None = row if self._export is None else self._export.read_row(row, self._context)
        self.sought -= extra.keys() | (flat or {}).keys()
        if flat is None or flat is row:
            return flat if not extra or flat is None else {**row, **extra}
        mapped = {name: row[name] for name in (*self.options.mapped_columns, *self._scored.values()) if name in row}
        return {**flat, **mapped, **extra}

    def _select_values(self, row: Row) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """Field -> value for what is there, and field -> column."""
        keys = tuple(row)
        plan = self._plans.get(keys)
        if plan is None:
            plan = plan_columns(keys, self._field_columns)
            if self._answers is not self:
                plan = plan_set_columns(plan)
            self._plans[keys] = plan
            self._inside |= {
                f"{column}.{key}": None for column, value in row.items() if isinstance(value, Mapping) for key in value
            }
        for column in plan.unread:
            value = row[column]
            if value is not None and column not in self._read and not (column == META and is_curation(value)):
                self._unread[column] = self._unread.get(column, 0) + 1
        values = {ours: value for ours, theirs in plan.columns.items() if not is_null(value := row[theirs])}
        if (named_texts := self._named_texts) is not None and "passages" in values:
            values["retrieved_ids"] = named_texts.list_ids(row)
            values = {ours: value for ours, value in values.items() if value is not None}
        if self._marker is None:
            return values, plan.columns
        split_values = self._marker.split_row(values)
        return split_values, {**dict.fromkeys(split_values, plan.columns.get("query", "query")), **plan.columns}

    def _add_citations(self, response: Response) -> Response:
        """With the citations in its answer, where the answers of this source cite there; its passages are looked at."""
        self.notes.previews.count_texts(passage.text for passage in response.passages or ())
        ahead = self._ahead
        if not ahead.cites or response.citations is not None:
            return response
        if ahead.not_understood:
            return replace(response, missing={**response.missing, "citations": ahead.not_understood})
        return add_answer_citations(response, ahead.first_number)

    @cached_property
    def _named_texts(self) -> NamedTexts | None:
        """Where texts stand in one column and the names of their documents in another."""
        return find_named_texts([row for _, row in self._ahead.first()], self.options.columns)

    @cached_property
    def _field_columns(self) -> Mapping[str, str]:
        """Our field -> column, as the user has it or as the first rows show it."""
        named_texts = self._named_texts
        if named_texts is None:
            return self.options.columns
        return {**self.options.columns, "passages": named_texts.texts, "retrieved_ids": named_texts.names}

    @cached_property
    def marked_ids(self) -> frozenset[str]:
        """Ids of the first passages that hold a comma, a semicolon or a bar themselves."""
        return select_marked_ids(passage for _, row in self._ahead.first() for passage in self._parse_row_passages(row))

    @cached_property
    def _has_responses(self) -> bool:
        """Whether a row of the first holds something of a response: then null is not recorded, and no set's."""
        return any(
            not is_null(row.get(column))
            for _, row in self._ahead.first()
            for ours, column in plan_columns(row, self._field_columns).columns.items()
            if ours in RESPONSE
        ) or any(parse_output(unpack_payload(row.get("outputs"), "")) for _, row in self._ahead.first())

    def _parse_row_passages(self, row: Row) -> tuple[Passage, ...]:
        """The passages of a row, before any of it is read."""
        name = plan_columns(row, self._field_columns).columns.get("passages", "")
        try:
            return parse_passages(row.get(name), name, Notes(cells=self.rows.cells))
        except BadValue:  # what is wrong with it is said when the row is read
            return ()

    def _find_answer(self, row: Row) -> Any:
        """The answer of a row, before any of it is read."""
        plan = plan_columns(row, self.options.columns).columns
        value = unpack_payload(row.get(plan.get("answer", ""), row.get("outputs", row.get("response"))), "answer")
        return parse_output(value).get("answer") if isinstance(value, Mapping) else value

    def _add_segments(self, example: Example, row: Row) -> Example:
        named_segments = {
            name: parse_scalar(row[name], name, self.notes)
            for name in self.options.segments
            if row.get(name) is not None
        }
        if self.sought:  # what stands in the field segments is reported by in any case
            self.sought -= example.segments.keys() & set(self.options.segments)
        return replace(example, segments={**example.segments, **named_segments}) if named_segments else example

    def _add_scores(self, response: Response, row: Row) -> Response:
        """With the numbers of the columns that are scores, among its outcomes."""
        scores = {
            name: parse_score(row[column], column, self.notes)
            for name, column in self._scored.items()
            if row.get(column) not in (None, "")
        }
        return replace(response, outcome={**response.outcome, **scores}) if scores else response

    def _raise_missing_field(self, field: str, row: Row, n: int) -> NoReturn:
        columns = [column for column, value in row.items() if value is not None] or list(row)
        requested_fields = {theirs: ours for ours, theirs in self.options.columns.items()}
        plan = plan_columns(row, self.options.columns).columns
        free = [column for column in columns if column not in plan.values() and _may_be_text(row[column])]
        near = find_nearest_column(field, free)
        columns_note = f"found: {', '.join(columns[:20])}" + (f"; nearest: {near}" if near else "")
        columns_note += (
            f"; {field} is read as {requested_fields[field]}, as requested"
            if field in requested_fields and field in columns
            else ""
        )
        hint = f"Use --map {field}={near if near and near != field else 'COLUMN'}."
        column = plan.get(field)
        if column is not None and row[column] is None:
            read = "" if column == field else f", read from {column!r},"
            hint = f"Give it a value, or remove the {self.rows.unit}. To read another column: {hint}"
            raise self.rows.error(f"field {field!r}{read} is null or empty ({columns_note}).", n, hint)
        raise self.rows.error(f"no field {field!r} ({columns_note}).", n, hint)

    def _raise_bad_value(self, bad: BadValue, n: int, names: Mapping[str, str]) -> NoReturn:
        message = str(bad)
        ours = next((ours for ours, theirs in names.items() if ours != theirs and message.startswith(theirs)), "")
        read_as = f"It is read as {ours}; use --map {ours}=COLUMN for another column." if ours else ""
        raise self.rows.error(message, n, bad.hint or read_as) from None

    def finish(self, unseen: Collection[str] = ()) -> None:
        """Refuses a source without examples, and columns that the user named and no row has; then warns."""
        if not self.count:
            if self._context.systems:
                problem = f"no row has an answer from the system {self.options.system!r}."
                raise self.rows.error(problem, hint=f"Systems: {', '.join(sorted(self._context.systems))}.")
            raise self.rows.error("it contains no examples.")
        if self._marker is not None and not self._marker.n:
            problem = f"no question matches the form {self.options.context_marker!r}."
            raise self.rows.error(problem, hint=f"Give the form of the whole message: {CONTEXT_MARKER_EXAMPLE}.")
        for name in sorted(unseen):
            column_names = (key for keys in self._plans for key in keys if not isinstance(key, ColumnGroup))
            columns = list(dict.fromkeys(column_names))
            near = find_nearest(name, [*columns, *self._inside], n=1, min_similarity=0.6)
            columns_note = f"found: {', '.join(columns[:20])}" + (f"; nearest: {near[0]}" if near else "")
            raise self.rows.error(f"no {self.rows.unit} has a column {name!r} ({columns_note}).")
        for warning in self.warnings():
            self.options.warn(f"{self.rows.source}: {warning}")

    def warnings(self) -> Iterator[str]:
        """What the user should know before believing a number."""
        yield from self.rows.remarks
        yield from self.ids.warnings()
        if self._named_texts is not None:
            yield self._named_texts.notice
        yield from self._passage_rows.warnings(self.rows.units)
        yield from list_set_notices(self._plans.values())
        if self._unread:
            read = {ours: theirs for plan in self._plans.values() for ours, theirs in plan.columns.items()}
            yield describe_unread_columns(self._unread, read)
        doubts = (phoenix.describe_doubt(plan.columns, self.options.named) for plan in self._plans.values())
        yield from dict.fromkeys(filter(None, doubts))
        if self.notes.passage_keys:
            yield f"passage keys not read: {', '.join(self.notes.passage_keys)}."
        if cut := self.notes.previews.describe_cut():
            yield cut
        if self.notes.replaced:
            yield f"{self.notes.replaced} texts contained NUL or half a character (lone surrogate), replaced by U+FFFD."
        for column, n in self.notes.unclear.items():
            yield (
                f"{n} texts in {column} contain a | besides those that deepeval joins them with, and "
                "may be split wrongly. Save as JSON, which keeps lists."
            )
        if self._ahead.not_understood:
            yield (
                f"{self._ahead.not_understood}: the citation style was not recognized, so no citations are read. "
                "Give the passages the cited ids (doc_id, passage_id), or add a field citations to the answers."
            )
        if prompts := self._prompts.describe_problem():
            yield prompts
        if shared := sum(n for n in self._openings.values() if n > 1):
            yield (
                f"{shared} examples start with the same conversation as another one, but no column says which belong "
                "together, so they count as independent. Name the column: --map cluster=COLUMN."
            )
        yield from self.notes.warnings()
        yield from self.parting.warnings()
        yield from self.matching.warnings()


def _may_be_text(value: Any) -> bool:
    """Whether a value may be a question or an id, or the turns of a chat; objects and their lists are none."""
    elements = value if isinstance(value, list) else [value]
    return not any(isinstance(element, Mapping) and get_role(element) is None for element in elements)
