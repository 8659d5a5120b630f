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
from ragauge.core.messages import plural
from ragauge.core.values import BadValue, Notes, opened
from ragauge.readers.aliases import CHAT, FIELDS, plan_for, snake
from ragauge.readers.lines import Row
from ragauge.readers.payloads import TRACED, ChatTurn, body_of, returned, role_of, turns_of, unpacked

COLUMNS = (CHAT, "turns")  # whose lists of messages are chats, beside those that are read as the question
ELSEWHERE = frozenset({"inputs", "expectations", *TRACED})  # columns of tools whose payloads are taken apart later
PEEK = 200  # rows: enough to see one whole conversation
# what a row says of its conversation; all else that is read of it is about the last turn
OF_ALL = frozenset({"cluster", "segments", "tags", "weight", "origin"})


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
        held: list[tuple[int, Row]] = []
        broken: Exception | None = None
        try:
            held.extend(islice(self._rows, PEEK))
        except Exception as error:  # the rows before it come first: one of them may be wrong too
            broken = error
        chats = [chat for _, row in held if (chat := self._chat(row)) is not None]
        logged = (turns_of(messages) for messages, rest in chats if not self._beside(rest))
        whole = any(turns[-1].answer for turns in logged if turns)
        for n, row in chain(held, self._rows):
            chat = self._chat(row)
            yield from ((n, turn) for turn in ([row] if chat is None else self._turns(*chat, whole=whole)))
        if broken is not None:
            raise broken

    def _chat(self, row: Row) -> tuple[list[Any], Row] | None:
        """The messages of a chat, and the rest of its row by our names; None where the row is anything else."""
        if any(row.get(column) is not None for column in ELSEWHERE):
            return None
        columns = plan_for(row, self._mapped).columns
        asked = columns.get("query")
        for name in [asked] if asked is not None else [name for name in row if snake(str(name)) in COLUMNS]:
            messages = self._messages(row[name], name)
            if isinstance(messages, list) and messages and all(role_of(message) for message in messages):
                ours = {theirs: field for field, theirs in columns.items()}
                rest = {self._key(ours.get(key, key)): value for key, value in row.items() if key != name}
                return messages, {**rest, **{key: row[key] for key in self._segments if key in row}}
        return None

    def _messages(self, value: Any, name: str) -> Any:
        """The messages of a chat or of a request, which may stand in a text, as those of deepeval and Langfuse do."""
        if isinstance(value, str) and value[:1] in "[{":
            try:
                value = opened(value, name, Notes(cells=True))
            except BadValue:  # the reader of its field says what is wrong
                return value
        if not isinstance(value, Mapping):
            return value
        return body_of(value).get("messages", body_of(value).get("input"))

    def _key(self, field: str) -> str:
        """Where a field is read from."""
        return self._mapped.get(field, field)

    def _beside(self, rest: Row) -> dict[str, Any]:
        """What stands beside a chat as its answer, a text or a completion, with the completion's id."""
        value = unpacked(rest.get(self._key("answer"), rest if rest.get("choices") else None), "answer")
        made = body_of(value).get("id") if isinstance(value, Mapping) else None
        said = returned({"output": value} if isinstance(value, list) else value)
        return {"query_id": made, **said} if said else {}

    def _turns(self, messages: list[Any], rest: Row, *, whole: bool) -> Iterator[Row]:
        turns, beside = turns_of(messages), self._beside(rest)
        given, of = rest.get(self._key("query_id")), rest.get(self._key("cluster"))
        rest = {key: value for key, value in rest.items() if key != "choices"}
        if not turns:
            self._notes.unasked += 1
        elif beside or not (whole or turns[-1].answer):
            made = beside.get("query_id") if of is None else f"{of}-t{turns[-1].n}"
            yield self._row(rest, turns[-1], {**beside, "query_id": made if given is None else given})
        else:
            name = next((name for name in (given, of, rest.pop("name", None)) if name is not None), None)
            if name is None:
                self._unnamed += 1
                name = f"conv{self._unnamed}"
            last = {self._key(field) for field in FIELDS if field not in OF_ALL}
            common = {key: value for key, value in rest.items() if key not in last}
            for turn in turns:
                values = {"query_id": f"{name}-t{turn.n}", "cluster": name if of is None else of}
                yield self._row(rest if turn is turns[-1] else common, turn, values)

    def _row(self, row: Row, turn: ChatTurn, values: Row) -> Row:
        """The row with one turn in place of its chat; of passages those that stand beside the chat count."""
        said = {self._key(field): value for field, value in {**turn.fields, **values}.items() if value is not None}
        passages = self._key("passages")
        beside = row.get(passages) is not None
        for role in turn.tools if beside else turn.unread:
            self._notes.tools[role] = self._notes.tools.get(role, 0) + 1
        return {**row, **said, **({passages: row[passages]} if beside else {})}


SLOTS = ("{context}", "{query}")
FORM = "--context-marker 'Context: {context} Question: {query}'"
LONG = 1_500  # characters of a question without passages beside it, from which on it may be a whole prompt
LABEL = re.compile(r"^\W{0,4}[^\W\d][\w' -]{1,30}[:>]", re.MULTILINE)  # how a line of a prompt's form begins
SHOWN = 4


class PartedPrompt(NamedTuple):
    """What a prompt holds: the question, and the paragraphs of the context."""

    query: str
    passages: list[str]


class ContextMarker:
    r"""Parts a question that is a whole prompt into question and passages, one a paragraph.

    >>> ContextMarker("Context: {context} Question: {query}").part("Context:\nIt is 330 m.\n\nQuestion: How tall?")
    PartedPrompt(query='How tall?', passages=['It is 330 m.'])

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
            raise UsageError(f"context_marker: a text, or a form that holds {' and '.join(SLOTS)} once each: {FORM}.")
        self._form, self.n, self._before = form, 0, ""
        self._pattern: re.Pattern[str] | None = None
        if SLOTS[0] in form:
            parts = re.split(r"(\{context\}|\{query\})", form.strip())
            kinds = {SLOTS[0]: r"\s*(?P<context>.*)\s*", SLOTS[1]: r"\s*(?P<query>.*?)\s*"}
            pattern = "".join(kinds.get(part, r"\s+".join(map(re.escape, part.split()))) for part in parts)
            self._pattern = re.compile(("" if parts[0] else r"\A") + pattern + ("" if parts[-1] else r"\Z"), re.DOTALL)

    def part(self, text: str, *, of_system: bool = False) -> PartedPrompt | None:
        """What a prompt holds; None where it is not built so. A system's message holds no question."""
        if self._pattern is not None:
            found = self._pattern.search(text)
            return None if found is None else PartedPrompt(found["query"].strip(), _paragraphs(found["context"]))
        before, marker, behind = text.partition(self._form)
        passages, before = _paragraphs(behind), before.strip()
        if not marker:
            return None
        if before or of_system:
            return PartedPrompt(before, passages)
        return PartedPrompt(passages[-1], passages[:-1]) if passages else None

    def apply(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a row with its question parted, and those of its earlier turns; recorded passages count.

        Raises:
            BadValue: two prompts have the same text before the marker: it is no question.
        """
        out, query = dict(values), values.get("query")
        found = self.part(query) if isinstance(query, str) else None
        if found is not None:
            if self._pattern is None and self.n and found.query == self._before:
                wanted = "a prompt whose question stands before the context marker"
                raise BadValue("query", wanted, query, f"The text before it is the same again: say {FORM}.")
            self._before = found.query
            out["query"] = found.query
            out.setdefault("passages", found.passages)
        history = values.get("history")
        turns = [dict(turn) for turn in history] if isinstance(history, list) and all(map(_is_turn, history)) else []
        for turn in turns:
            of_system = role_of(turn) == "system"
            held = None if of_system and self._pattern is not None else self.part(turn["text"], of_system=of_system)
            if held is not None:
                turn["text"] = held.query
                if of_system:
                    out.setdefault("passages", held.passages)
        self.n += "passages" in out and "passages" not in values
        return out | ({"history": [turn for turn in turns if turn["text"]]} if turns else {})


def _is_turn(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("text"), str)


def _paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n[^\S\n]*\n", text) if part.strip()]


class PromptSigns:
    """Whether questions without passages are whole prompts: long ones, and those whose lines begin alike in most."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._labels: Counter[str] = Counter()

    def see(self, query: str) -> None:
        """Looks at a question that has no passages beside it."""
        self._sizes.append(len(query))
        if "\n" in query or len(query) >= LONG:
            self._labels.update({label[0].strip() for label in LABEL.finditer(query)})

    def told(self) -> str:
        """What to say of them; "" where they are questions."""
        labels = [label for label, n in self._labels.items() if 2 * n >= len(self._sizes)]
        alike = len(self._sizes) > 1 and len(labels) > 1
        long = [size for size in self._sizes if alike or size >= LONG]
        if not long:
            return ""
        lines = f", with lines that begin {', '.join(map(repr, sorted(labels)[:SHOWN]))}" if labels else ""
        return (
            f"{plural(len(long), 'question')} may be whole prompts that hold the retrieved passages: up to "
            f"{max(long):,} characters{lines}, and no passages beside them. Say how they are built: {FORM}."
        )
