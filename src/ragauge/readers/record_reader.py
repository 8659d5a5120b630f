"""One pass over the rows of a source: columns to fields, ids, duplicates, and one warning for each thing to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from ragauge.core.curation import META, is_curation, rejected
from ragauge.core.errors import nearest
from ragauge.core.example import Example
from ragauge.core.response import Passage, Record, Response
from ragauge.core.values import BadValue, Notes, is_null, reached, scalar_text
from ragauge.readers import langfuse, other_tools, payloads, phoenix
from ragauge.readers.aliases import (
    RESPONSE_FIELDS,
    RowPlan,
    SeveralColumns,
    check_mapped,
    nearest_column,
    not_read,
    plan_for,
    set_notices,
    set_plan,
)
from ragauge.readers.chats import FORM, ChatRows, ContextMarker, PromptSigns
from ragauge.readers.column_lists import NamedTexts, find_named_texts, gather
from ragauge.readers.fields import example_of, query_id_in, query_of, repeat_in, response_of, score_in, settled
from ragauge.readers.first_rows import Ahead
from ragauge.readers.label_matching import Matching
from ragauge.readers.lines import Row, Rows
from ragauge.readers.options import Options
from ragauge.readers.passage_rows import PassageRows
from ragauge.readers.passages import passages
from ragauge.readers.payloads import returned, role_of
from ragauge.readers.relevance import LABEL_FIELDS, Parting, ids_of, marked
from ragauge.readers.row_ids import RowIds
from ragauge.text.citation_marks import with_numbers

RESPONSE, LABELS = frozenset(RESPONSE_FIELDS), frozenset(LABEL_FIELDS)


class RecordReader:
    """Turns the rows of one source into records. Rows come in order; `finish` says what was noticed."""

    def __init__(self, rows: Rows, options: Options, answers: RecordReader | None = None) -> None:
        check_mapped({ours: theirs for ours, theirs in options.columns.items() if ours not in options.scores.values()})
        self.notes, self.matching, self.parting = Notes(cells=rows.cells), Matching(), Parting()
        lists = gather(phoenix.spans(rows.rows, options.named), options.columns, options.named)
        self._passage_rows = PassageRows(lists, options.columns)
        turns = ChatRows(iter(self._passage_rows), options.columns, options.segments, self.notes)
        self._ahead = Ahead(iter(turns), self._answer, self._passages)
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
        self._tool = ""
        self._plans: dict[tuple[str, ...], RowPlan] = {}
        self._tools: dict[tuple[str, ...], str] = {}
        self._inside: dict[str, None] = {}  # dotted names of what objects in columns hold
        self._unread: dict[str, int] = {}
        self._systems: set[str] = set()
        self.ids = RowIds(self.rows, self._passage_rows)

    def records(self) -> Iterator[Record]:
        """Every row as a record."""
        for n, row in self.rows.rows:
            record = self.record(n, row)
            if record is not None:
                yield record
        self.finish(self.sought)

    def known(self, columns: Collection[str]) -> None:
        """Takes columns as read beside this source already: of responses, the segments of their set."""
        self._read |= set(columns)

    def record(self, n: int, row: Row) -> Record | None:
        """One row as a record; None where it has no answer of the chosen system, or repeats another row."""
        names: Mapping[str, str] = {}
        try:
            flat = self._flat(row)
            if flat is None or (rejected(flat.get(META)) and not self.options.rejected):
                return None
            values, names = self._found(flat)
            if "query" not in values:
                self._no_field("query", row if self._tool != "promptfoo" else other_tools.variables_in(row), n)
            query, query_id = query_of(values, names, self.notes), query_id_in(values, names, self.notes)
            twice = self._tool == "ragchecker"
            if query_id is None:
                query_id = self.ids.make(query, repeat_in(values, names), twice=twice)
            example = example_of(values, names, query_id, query, self.notes)
            example = settled(self._segmented(example, flat), flat)
            response = None
            if not RESPONSE.isdisjoint(values) or (self._answered and not RESPONSE.isdisjoint(names)):
                response = self._cited(response_of(values, names, example.query_id, self.notes, self.rows.blank))
                response = self._with_scores(response, flat)
                if response.passages is None:
                    self._prompts.see(query)
            if not LABELS.isdisjoint(values):
                example = self.parting.example(example, values, names, (ids_of(response), self._answers.marked_ids))
        except BadValue as bad:
            self._fail(bad, n, names)
        if self.ids.is_second(n, example, response, twice=twice):
            return None
        self.count += 1
        said = [turn for turn in example.history if turn.role != "system"]
        if example.cluster is None and len(said) > 1:
            self._openings[hash((said[0], said[1]))] += 1
        self.matching.see(example, response)
        return Record(example, response, self.rows.source, n)

    def response(self, n: int, row: Row) -> tuple[Response, str] | None:
        """One row of a file of responses, and its query ("" where it has none); None where it holds no response."""
        names: Mapping[str, str] = {}
        try:
            flat = self._flat(row)
            if flat is None:
                return None
            values, names = self._found(flat)
            query = query_of(values, names, self.notes) if "query" in values else ""
            given = query_id_in(values, names, self.notes)
            if not (given or query):
                self._no_field("query_id", row, n)
            query_id, response = given or self.ids.answered(query, repeat_in(values, names), n), None
            if not RESPONSE.isdisjoint(names):  # else the line is an example that got none, as exports have them
                response = self._cited(response_of(values, names, query_id, self.notes, self.rows.blank))
                response = self._with_scores(response, flat)
        except BadValue as bad:
            self._fail(bad, n, names)
        self.ids.enter(n, query_id, response.repeat if response is not None else 0, derived=given is None)
        self.count += 1
        return None if response is None else (response, query)

    def _flat(self, row: Row) -> Row | None:
        """The row with the columns of other tools taken apart and with what the user's dotted names reach."""
        if self.sought:
            self.sought -= row.keys()
        keys = tuple(row)
        known = self._tools.get(keys)
        self._tool = self._tools.setdefault(keys, other_tools.tool_of(keys)) if known is None else known
        if self._tool == "langfuse":
            row = langfuse.unpack_json(row)
        extra = {name: value for name in self._dotted if (value := reached(row, name)) is not None}
        flat: Row | None = row
        if self._tool == "langsmith":
            flat = payloads.langsmith_row(row, self.notes)
        elif self._tool == "mlflow":
            flat = payloads.mlflow_row(row, self.notes)
        elif self._tool == "langfuse":
            flat = langfuse.read_row(row)
        elif self._tool == "deepeval":
            flat = other_tools.deepeval_row(row, self.notes)
        elif self._tool == "ragchecker":
            flat = other_tools.ragchecker_row(row, self.options.system)
            if flat is None:
                self._systems |= other_tools.systems(row)
        elif self._tool == "promptfoo":
            flat = other_tools.promptfoo_row(row, self.options.system, self._systems)
        self.sought -= extra.keys() | (flat or {}).keys()
        if flat is None or flat is row:
            return flat if not extra or flat is None else {**row, **extra}
        mapped = {name: row[name] for name in (*self.options.mapped, *self._scored.values()) if name in row}
        return {**flat, **mapped, **extra}

    def _found(self, row: Row) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """Field -> value for what is there, and field -> column."""
        keys = tuple(row)
        plan = self._plans.get(keys)
        if plan is None:
            plan = plan_for(keys, self._columns)
            if self._answers is not self:
                plan = set_plan(plan)
            self._plans[keys] = plan
            self._inside |= {
                f"{column}.{key}": None for column, value in row.items() if isinstance(value, Mapping) for key in value
            }
        for column in plan.unread:
            value = row[column]
            if value is not None and column not in self._read and not (column == META and is_curation(value)):
                self._unread[column] = self._unread.get(column, 0) + 1
        values = {ours: value for ours, theirs in plan.columns.items() if not is_null(value := row[theirs])}
        if (held := self._named_texts) is not None and "passages" in values:
            values["retrieved_ids"] = held.ids_in(row)
            values = {ours: value for ours, value in values.items() if value is not None}
        if self._marker is None:
            return values, plan.columns
        parted = self._marker.apply(values)
        return parted, {**dict.fromkeys(parted, plan.columns.get("query", "query")), **plan.columns}

    def _cited(self, response: Response) -> Response:
        """With the citations in its answer, where the answers of this source cite there; its passages are looked at."""
        self.notes.previews.see(passage.text for passage in response.passages or ())
        ahead = self._ahead
        if not ahead.cites or response.citations is not None:
            return response
        if ahead.not_understood:
            return replace(response, missing={**response.missing, "citations": ahead.not_understood})
        return with_numbers(response, ahead.first_number)

    @cached_property
    def _named_texts(self) -> NamedTexts | None:
        """Where texts stand in one column and the names of their documents in another."""
        return find_named_texts([row for _, row in self._ahead.first()], self.options.columns)

    @cached_property
    def _columns(self) -> Mapping[str, str]:
        """Our field -> column, as the user has it or as the first rows show it."""
        held = self._named_texts
        if held is None:
            return self.options.columns
        return {**self.options.columns, "passages": held.texts, "retrieved_ids": held.names}

    @cached_property
    def marked_ids(self) -> frozenset[str]:
        """Ids of the first passages that hold a comma, a semicolon or a bar themselves."""
        return marked(passage for _, row in self._ahead.first() for passage in self._passages(row))

    @cached_property
    def _answered(self) -> bool:
        """Whether a row of the first holds something of a response: then null is not recorded, and no set's."""
        return any(
            not is_null(row.get(column))
            for _, row in self._ahead.first()
            for ours, column in plan_for(row, self._columns).columns.items()
            if ours in RESPONSE
        ) or any(payloads.returned(payloads.unpacked(row.get("outputs"), "")) for _, row in self._ahead.first())

    def _passages(self, row: Row) -> tuple[Passage, ...]:
        """The passages of a row, before any of it is read."""
        name = plan_for(row, self._columns).columns.get("passages", "")
        try:
            return passages(row.get(name), name, Notes(cells=self.rows.cells))
        except BadValue:  # what is wrong with it is said when the row is read
            return ()

    def _answer(self, row: Row) -> Any:
        """The answer of a row, before any of it is read."""
        plan = plan_for(row, self.options.columns).columns
        value = payloads.unpacked(row.get(plan.get("answer", ""), row.get("outputs", row.get("response"))), "answer")
        return returned(value).get("answer") if isinstance(value, Mapping) else value

    def _segmented(self, example: Example, row: Row) -> Example:
        named = {
            name: scalar_text(row[name], name, self.notes)
            for name in self.options.segments
            if row.get(name) is not None
        }
        if self.sought:  # what stands in the field segments is reported by in any case
            self.sought -= example.segments.keys() & set(self.options.segments)
        return replace(example, segments={**example.segments, **named}) if named else example

    def _with_scores(self, response: Response, row: Row) -> Response:
        """With the numbers of the columns that are scores, among its outcomes."""
        found = {
            name: score_in(row[column], column, self.notes)
            for name, column in self._scored.items()
            if row.get(column) not in (None, "")
        }
        return replace(response, outcome={**response.outcome, **found}) if found else response

    def _no_field(self, field: str, row: Row, n: int) -> NoReturn:
        columns = [column for column, value in row.items() if value is not None] or list(row)
        asked = {theirs: ours for ours, theirs in self.options.columns.items()}
        plan = plan_for(row, self.options.columns).columns
        free = [column for column in columns if column not in plan.values() and _may_be_text(row[column])]
        near = nearest_column(field, free)
        seen = f"found: {', '.join(columns[:20])}" + (f"; nearest: {near}" if near else "")
        seen += f"; {field} is read as {asked[field]}, as asked" if field in asked and field in columns else ""
        hint = f"Use --map {field}={near if near and near != field else 'COLUMN'}."
        column = plan.get(field)
        if column is not None and row[column] is None:
            read = "" if column == field else f", read from {column!r},"
            hint = f"Give it a value, or leave the {self.rows.unit} out. Other column? {hint}"
            raise self.rows.error(f"field {field!r}{read} is null or empty ({seen}).", n, hint)
        raise self.rows.error(f"no field {field!r} ({seen}).", n, hint)

    def _fail(self, bad: BadValue, n: int, names: Mapping[str, str]) -> NoReturn:
        message = str(bad)
        ours = next((ours for ours, theirs in names.items() if ours != theirs and message.startswith(theirs)), "")
        read_as = f"It is read as {ours}; use --map {ours}=COLUMN for another column." if ours else ""
        raise self.rows.error(message, n, bad.hint or read_as) from None

    def finish(self, unseen: Collection[str] = ()) -> None:
        """Refuses a source without examples, and columns that the user named and no row has; then warns."""
        if not self.count:
            if self._systems:
                problem = f"no row has an answer of the system {self.options.system!r}."
                raise self.rows.error(problem, hint=f"Systems: {', '.join(sorted(self._systems))}.")
            raise self.rows.error("there is no example in it.")
        if self._marker is not None and not self._marker.n:
            problem = f"no question is built as {self.options.context_marker!r} says."
            raise self.rows.error(problem, hint=f"Write the form of the whole message: {FORM}.")
        for name in sorted(unseen):
            given = (key for keys in self._plans for key in keys if not isinstance(key, SeveralColumns))
            columns = list(dict.fromkeys(given))
            near = nearest(name, [*columns, *self._inside], n=1, least=0.6)
            seen = f"found: {', '.join(columns[:20])}" + (f"; nearest: {near[0]}" if near else "")
            raise self.rows.error(f"no {self.rows.unit} has a column {name!r} ({seen}).")
        for warning in self.warnings():
            self.options.warn(f"{self.rows.source}: {warning}")

    def warnings(self) -> Iterator[str]:
        """What the user should know before believing a number."""
        yield from self.rows.remarks
        yield from self.ids.warnings()
        if self._named_texts is not None:
            yield self._named_texts.notice
        yield from self._passage_rows.warnings(self.rows.units)
        yield from set_notices(self._plans.values())
        if self._unread:
            read = {ours: theirs for plan in self._plans.values() for ours, theirs in plan.columns.items()}
            yield not_read(self._unread, read)
        doubts = (phoenix.doubt(plan.columns, self.options.named) for plan in self._plans.values())
        yield from dict.fromkeys(filter(None, doubts))
        if self.notes.passage_keys:
            yield f"keys of passages not read: {', '.join(self.notes.passage_keys)}."
        if cut := self.notes.previews.told():
            yield cut
        if self.notes.replaced:
            yield f"{self.notes.replaced} texts held NUL or half a character (lone surrogate); replaced by U+FFFD."
        for column, n in self.notes.unclear.items():
            yield (
                f"{n} texts in {column} hold a | of their own beside those that deepeval joins them with: they may be "
                "parted wrongly. Save as JSON, which keeps lists."
            )
        if self._ahead.not_understood:
            yield (
                f"{self._ahead.not_understood}: how they cite is not understood, and none is read. Give the passages "
                "the ids that are cited (doc_id, passage_id), or the answers a field citations."
            )
        if prompts := self._prompts.told():
            yield prompts
        if shared := sum(n for n in self._openings.values() if n > 1):
            yield (
                f"{shared} examples begin like another's conversation, and nothing says which belong together: they "
                "count as independent. Name them: --map cluster=COLUMN."
            )
        yield from self.notes.warnings()
        yield from self.parting.warnings()
        yield from self.matching.warnings()


def _may_be_text(value: Any) -> bool:
    """Whether a value may be a question or an id, or the turns of a chat; objects and their lists are none."""
    parts = value if isinstance(value, list) else [value]
    return not any(isinstance(part, Mapping) and role_of(part) is None for part in parts)
