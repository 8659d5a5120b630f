"""The id of every row: as given, else made from its question; and which rows are refused for theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ragauge.core.example import Example
from ragauge.core.identity import derive_query_id
from ragauge.core.messages import format_count
from ragauge.core.response import Response
from ragauge.readers.lines import Rows
from ragauge.readers.passage_rows import PassageRows


class RowIds:
    """The ids of one source's rows, which come in order.

    A question without an id is named by its content, and its second copy `ID-2`, the third `ID-3`.
    """

    def __init__(self, rows: Rows, passage_rows: PassageRows) -> None:
        self._rows, self._passage_rows = rows, passage_rows
        self._lines: dict[tuple[str, int], int] = {}
        self._asked: dict[str, tuple[int, int]] = {}  # query_id -> (hash of the query, line)
        self._copies: Counter[tuple[str, int]] = Counter()  # rows of one question and repeat, without ids
        self._examples: Mapping[str, list[Example]] = {}
        self._repeated = 0
        self._first_copy = ""

    def make_id(self, query: str, repeat: int, *, twice: bool) -> str:
        """The id of an example that has none.

        Args:
            query: its question.
            repeat: which of the answers to it the row holds.
            twice: the same question stands there twice because two annotators judged one answer.
        """
        base = derive_query_id(query)
        if twice:
            return base
        copy = self._copies[base, repeat] + 1
        while (query_id := base if copy == 1 else f"{base}-{copy}", repeat) in self._lines:
            copy += 1
        self._copies[base, repeat] = copy
        if copy > 1:
            self._repeated += 1
            self._first_copy = self._first_copy or query_id
        return query_id

    def set_examples(self, examples: Iterable[Example]) -> None:
        """Takes the examples that the rows answer, so that rows without ids are joined with them on their question."""
        examples_by_id: dict[str, list[Example]] = {}
        for example in examples:
            examples_by_id.setdefault(derive_query_id(example.query), []).append(example)
        self._examples = examples_by_id

    def answered(self, query: str, repeat: int, n: int) -> str:
        """The id of the example that a response without one answers.

        Raises:
            DataError: several examples ask its question, and it is not all one which of them it answers.
        """
        base = derive_query_id(query)
        examples = self._examples.get(base, [])
        if len(examples) < 2:
            return examples[0].query_id if examples else base
        if any(replace(example, query_id=examples[0].query_id) != examples[0] for example in examples):
            problem = f"no query_id, and the set asks its question {len(examples)} times with different labels."
            raise self._rows.error(problem, n, "Which one it answers is not known: give both files a query_id.")
        self._copies[base, repeat] += 1
        return examples[min(self._copies[base, repeat], len(examples)) - 1].query_id

    def is_repeated_row(self, n: int, example: Example, response: Response | None, *, twice: bool) -> bool:
        """Whether the row stood there before and may (a second annotator's); any other repetition is refused."""
        content = hash((example.query, response.answer if twice and response else None))
        first = self._asked.setdefault(example.query_id, (content, n))
        if first[0] != content:
            problem = f"query_id {example.query_id!r} stands on {self._rows.unit} {first[1]} with another query."
            raise self._rows.error(problem, n, "Give every query its own query_id.")
        if twice and first[1] != n:
            return True
        self.register_row(n, example.query_id, response.repeat if response else 0)
        return False

    def register_row(self, n: int, query_id: str, repeat: int, *, derived: bool = False) -> None:
        """Refuses a second row of one id and repeat."""
        first_line = self._lines.setdefault((query_id, repeat), n)
        if first_line == n:
            return
        if derived:
            problem = f"the same query as on {self._rows.unit} {first_line}, and neither has a query_id."
            raise self._rows.error(problem, n, "Add a field query_id, or use --map query_id=COLUMN.")
        problem = f"query_id {query_id!r} stands on {self._rows.unit} {first_line} already."
        hint = "Give every example its own query_id, or number several answers to one question with repeat (0, 1, …)."
        if self._passage_rows.number:
            column = self._passage_rows.number
            hint = f"If {column} numbers the answers to a question: --map repeat={column}."
        elif column := self._passage_rows.text:
            hint += (
                f" If each row holds one passage: --map passages={column}; rows that follow each other and agree in "
                "all else are joined."
            )
        raise self._rows.error(problem, n, hint)

    def warnings(self) -> Iterator[str]:
        """That ids were made for questions that stand there several times."""
        if self._repeated:
            yield (
                f"{format_count(self._repeated, 'question')} without query_id asked before: each is an example of "
                "its own, "
                f"named by its order, such as {self._first_copy!r}. Another order of the {self._rows.units} swaps such "
                "names; a query_id of your own does not."
            )
