"""Chats: a row that holds a whole conversation becomes one row a turn, with the earlier turns as its history.

ragas' multi-turn samples (`user_input`), deepeval's conversational test cases (`turns`), chats of OpenAI's API
(`messages`, or a `request` that holds them, with the completion beside them).

A question may be a whole prompt that holds the retrieved context: it is parted where the user says how it is built.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_count
from ragauge.core.values import BadValue, Notes, decode_cell
from ragauge.readers.aliases import CHAT, FIELDS, plan_columns, to_snake_case
from ragauge.readers.exports.mlflow import TRACE_COLUMNS
from ragauge.readers.lines import Row
from ragauge.readers.messages import ChatTurn, get_body, get_role, parse_output, split_turns, unpack_payload

COLUMNS = (CHAT, "turns")  # whose lists of messages are chats, beside those that are read as the question
# columns of tools whose payloads are taken apart later
OTHER_TOOL_COLUMNS = frozenset({"inputs", "expectations", *TRACE_COLUMNS})
PEEK_ROWS = 200  # rows: enough to see one whole conversation
# what a row says of its conversation; all else that is read of it is about the last turn
CONVERSATION_FIELDS = frozenset({"cluster", "segments", "tags", "weight", "origin"})


class ChatRows:
    """The rows of a source, those of chats one a turn.

    A chat whose answer stands beside it is one request: its last question is read, the turns before it are history.
    So is a chat that ends with a question, unless the source holds conversations that end with an answer.
    """

    def __init__(
        self, rows: Iterator[tuple[int, Row]], columns: Mapping[str, str], segments: Collection[str], notes: Notes
    ) -> None:
        self._rows, self._mapped, self._segments, self._notes = rows, columns, segments, notes
        self._unnamed = 0

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        first_rows: list[tuple[int, Row]] = []
        broken: Exception | None = None
        try:
            first_rows.extend(islice(self._rows, PEEK_ROWS))
        except Exception as error:  # the rows before it come first: one of them may be wrong too
            broken = error
        chats = [chat for _, row in first_rows if (chat := self._parse_chat(row)) is not None]
        logged = (
            split_turns(messages) for messages, other_fields in chats if not self._read_answer_fields(other_fields)
        )
        ends_with_answer = any(turns[-1].answer for turns in logged if turns)
        for n, row in chain(first_rows, self._rows):
            chat = self._parse_chat(row)
            yield from (
                (n, turn)
                for turn in ([row] if chat is None else self._split_turns(*chat, ends_with_answer=ends_with_answer))
            )
        if broken is not None:
            raise broken

    def _parse_chat(self, row: Row) -> tuple[list[Any], Row] | None:
        """The messages of a chat, and the rest of its row by our names; None where the row is anything else."""
        if any(row.get(column) is not None for column in OTHER_TOOL_COLUMNS):
            return None
        columns = plan_columns(row, self._mapped).columns
        query_column = columns.get("query")
        for name in (
            [query_column]
            if query_column is not None
            else [name for name in row if to_snake_case(str(name)) in COLUMNS]
        ):
            messages = self._list_messages(row[name], name)
            if isinstance(messages, list) and messages and all(get_role(message) for message in messages):
                ours = {theirs: field for field, theirs in columns.items()}
                other_fields = {
                    self._get_column(ours.get(key, key)): value for key, value in row.items() if key != name
                }
                return messages, {**other_fields, **{key: row[key] for key in self._segments if key in row}}
        return None

    def _list_messages(self, value: Any, name: str) -> Any:
        """The messages of a chat or of a request, which may stand in a text, as those of deepeval and Langfuse do."""
        if isinstance(value, str) and value[:1] in "[{":
            try:
                value = decode_cell(value, name, Notes(cells=True))
            except BadValue:  # the reader of its field says what is wrong
                return value
        if not isinstance(value, Mapping):
            return value
        return get_body(value).get("messages", get_body(value).get("input"))

    def _get_column(self, field: str) -> str:
        """Where a field is read from."""
        return self._mapped.get(field, field)

    def _read_answer_fields(self, other_fields: Row) -> dict[str, Any]:
        """What stands beside a chat as its answer, a text or a completion, with the completion's id."""
        value = unpack_payload(
            other_fields.get(self._get_column("answer"), other_fields if other_fields.get("choices") else None),
            "answer",
        )
        made = get_body(value).get("id") if isinstance(value, Mapping) else None
        answer_fields = parse_output({"output": value} if isinstance(value, list) else value)
        return {"query_id": made, **answer_fields} if answer_fields else {}

    def _split_turns(self, messages: list[Any], other_fields: Row, *, ends_with_answer: bool) -> Iterator[Row]:
        turns, answer_fields = split_turns(messages), self._read_answer_fields(other_fields)
        query_id, cluster = (
            other_fields.get(self._get_column("query_id")),
            other_fields.get(self._get_column("cluster")),
        )
        other_fields = {key: value for key, value in other_fields.items() if key != "choices"}
        if not turns:
            self._notes.unasked += 1
        elif answer_fields or not (ends_with_answer or turns[-1].answer):
            made = answer_fields.get("query_id") if cluster is None else f"{cluster}-t{turns[-1].n}"
            yield self._build_row(
                other_fields, turns[-1], {**answer_fields, "query_id": made if query_id is None else query_id}
            )
        else:
            name = next(
                (name for name in (query_id, cluster, other_fields.pop("name", None)) if name is not None), None
            )
            if name is None:
                self._unnamed += 1
                name = f"conv{self._unnamed}"
            last = {self._get_column(field) for field in FIELDS if field not in CONVERSATION_FIELDS}
            common = {key: value for key, value in other_fields.items() if key not in last}
            for turn in turns:
                values = {"query_id": f"{name}-t{turn.n}", "cluster": name if cluster is None else cluster}
                yield self._build_row(other_fields if turn is turns[-1] else common, turn, values)

    def _build_row(self, row: Row, turn: ChatTurn, values: Row) -> Row:
        """The row with one turn in place of its chat; of passages those that stand beside the chat count."""
        fields = {
            self._get_column(field): value for field, value in {**turn.fields, **values}.items() if value is not None
        }
        passages = self._get_column("passages")
        has_passages = row.get(passages) is not None
        for role in turn.tools if has_passages else turn.unread:
            self._notes.tools[role] = self._notes.tools.get(role, 0) + 1
        return {**row, **fields, **({passages: row[passages]} if has_passages else {})}


SLOTS = ("{context}", "{query}")
CONTEXT_MARKER_EXAMPLE = "--context-marker 'Context: {context} Question: {query}'"
MIN_PROMPT_CHARS = 1_500  # characters of a question without passages beside it, from which on it may be a whole prompt
LABEL = re.compile(r"^\W{0,4}[^\W\d][\w' -]{1,30}[:>]", re.MULTILINE)  # how a line of a prompt's form begins
MAX_SHOWN_LABELS = 4


class SplitPrompt(NamedTuple):
    """What a prompt holds: the question, and the paragraphs of the context."""

    query: str
    passages: list[str]


class ContextMarker:
    r"""Parts a question that is a whole prompt into question and passages, one a paragraph.

    >>> ContextMarker("Context: {context} Question: {query}").part("Context:\nIt is 330 m.\n\nQuestion: How tall?")
    SplitPrompt(query='How tall?', passages=['It is 330 m.'])

    Args:
        form: of the prompt, with {context} and {query} in it, or the text that the context stands behind: the question
            stands before that, or is the last paragraph where nothing does.

    Attributes:
        n: questions parted.

    Raises:
        UsageError: a form without one of the two, or a blank one.
    """

    def __init__(self, form: str) -> None:
        if not form.strip() or 0 < sum(form.count(slot) == 1 for slot in SLOTS) < len(SLOTS):
            raise UsageError(
                f"context_marker: expected a text, or a template with {' and '.join(SLOTS)} once each: "
                f"{CONTEXT_MARKER_EXAMPLE}."
            )
        self._form, self.n, self._before = form, 0, ""
        self._pattern: re.Pattern[str] | None = None
        if SLOTS[0] in form:
            pieces = re.split(r"(\{context\}|\{query\})", form.strip())
            kinds = {SLOTS[0]: r"\s*(?P<context>.*)\s*", SLOTS[1]: r"\s*(?P<query>.*?)\s*"}
            pattern = "".join(kinds.get(piece, r"\s+".join(map(re.escape, piece.split()))) for piece in pieces)
            self._pattern = re.compile(
                ("" if pieces[0] else r"\A") + pattern + ("" if pieces[-1] else r"\Z"), re.DOTALL
            )

    def part(self, text: str, *, of_system: bool = False) -> SplitPrompt | None:
        """What a prompt holds; None where it is not built so. A system's message holds no question."""
        if self._pattern is not None:
            match = self._pattern.search(text)
            return None if match is None else SplitPrompt(match["query"].strip(), _split_paragraphs(match["context"]))
        before, marker, behind = text.partition(self._form)
        passages, before = _split_paragraphs(behind), before.strip()
        if not marker:
            return None
        if before or of_system:
            return SplitPrompt(before, passages)
        return SplitPrompt(passages[-1], passages[:-1]) if passages else None

    def split_row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a row with its question parted, and those of its earlier turns; recorded passages count.

        Raises:
            BadValue: two prompts have the same text before the marker: it is no question.
        """
        out, query = dict(values), values.get("query")
        prompt = self.part(query) if isinstance(query, str) else None
        if prompt is not None:
            if self._pattern is None and self.n and prompt.query == self._before:
                expected = "a prompt whose question comes before the context marker"
                raise BadValue(
                    "query", expected, query, f"The text before it never changes. Use {CONTEXT_MARKER_EXAMPLE}."
                )
            self._before = prompt.query
            out["query"] = prompt.query
            out.setdefault("passages", prompt.passages)
        history = values.get("history")
        turns = [dict(turn) for turn in history] if isinstance(history, list) and all(map(_is_turn, history)) else []
        for turn in turns:
            of_system = get_role(turn) == "system"
            split_turn = (
                None if of_system and self._pattern is not None else self.part(turn["text"], of_system=of_system)
            )
            if split_turn is not None:
                turn["text"] = split_turn.query
                if of_system:
                    out.setdefault("passages", split_turn.passages)
        self.n += "passages" in out and "passages" not in values
        return out | ({"history": [turn for turn in turns if turn["text"]]} if turns else {})


def _is_turn(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("text"), str)


def _split_paragraphs(text: str) -> list[str]:
    return [paragraph.strip() for paragraph in re.split(r"\n[^\S\n]*\n", text) if paragraph.strip()]


class PromptSigns:
    """Whether questions without passages are whole prompts: long ones, and those whose lines begin alike in most."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._labels: Counter[str] = Counter()

    def add_query(self, query: str) -> None:
        """Looks at a question that has no passages beside it."""
        self._sizes.append(len(query))
        if "\n" in query or len(query) >= MIN_PROMPT_CHARS:
            self._labels.update({label[0].strip() for label in LABEL.finditer(query)})

    def describe_problem(self) -> str:
        """What to say of them; "" where they are questions."""
        labels = [label for label, n in self._labels.items() if 2 * n >= len(self._sizes)]
        has_shared_labels = len(self._sizes) > 1 and len(labels) > 1
        long = [size for size in self._sizes if has_shared_labels or size >= MIN_PROMPT_CHARS]
        if not long:
            return ""
        lines = f", with lines like {', '.join(map(repr, sorted(labels)[:MAX_SHOWN_LABELS]))}" if labels else ""
        return (
            f"{format_count(len(long), 'question')} may be whole prompts that include the retrieved passages: up to "
            f"{max(long):,} characters{lines}, and no separate passages. Describe the prompt's "
            f"form: {CONTEXT_MARKER_EXAMPLE}."
        )
