"""The fields of one record, what the tools that people come from call them, and hints about columns that nothing reads.

The names stand in `columns.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragauge.core.errors import UnknownName

COLUMNS = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
EXAMPLE_FIELDS: Mapping[str, str] = COLUMNS["fields"]["example"]
RESPONSE_FIELDS: Mapping[str, str] = COLUMNS["fields"]["response"]
FIELDS: Mapping[str, str] = {**EXAMPLE_FIELDS, **RESPONSE_FIELDS}
# tool -> its name for a field -> ours
TOOLS: Mapping[str, Mapping[str, str]] = {
    tool: {theirs: ours for ours, names in fields.items() for theirs in names.split()}
    for tool, fields in COLUMNS["tools"].items()
}


@dataclass(frozen=True, slots=True)
class Alias:
    """A tool's name for one of our fields; it is read so only beside one of some columns, and without any of others."""

    tool: str
    theirs: str
    ours: str
    beside: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()


DEEPEVAL = frozenset({"actual_output", "expected_output", "retrieval_context", "turns"})
CHAT = "messages"
AMBIGUOUS_ANSWER = "model_answer"  # the system's answer in one file, the ideal one in another
# nothing but what the system wrote, whatever a column called answer holds
SYSTEM_ANSWER_NAMES = frozenset(COLUMNS["columns"]["written"]["answer"].split())
DOCUMENTS = frozenset({"documents", "context"})  # which a set may call its own
REFERENCES = ("reference_answer", "references")
REQUIRED_COLUMNS = {
    ("deepeval", "context"): DEEPEVAL,  # everywhere else a column called context holds what was retrieved
    ("other names", "result"): frozenset({"source_documents", "source_nodes"}),
    ("other names", AMBIGUOUS_ANSWER): frozenset(
        {*REFERENCES, *(theirs for names in TOOLS.values() for theirs, ours in names.items() if ours in REFERENCES)}
    ),
}
# deepeval's golden, which no system has answered yet
GOLDEN = Alias(
    "deepeval",
    "context",
    "relevant_texts",
    frozenset({"input"}),
    frozenset(
        {
            "answer",
            "passages",
            *(theirs for names in TOOLS.values() for theirs, ours in names.items() if ours in ("answer", "passages")),
        }
    )
    - {"context"},
)
ALIASES: tuple[Alias, ...] = (
    GOLDEN,
    *(
        Alias(tool, theirs, ours, REQUIRED_COLUMNS.get((tool, theirs), frozenset()))
        for tool, names in TOOLS.items()
        for theirs, ours in names.items()
    ),
)


class ColumnGroup(str):
    """Several columns that are read as one field, in this order; as a text their names with commas.

    >>> ColumnGroup(["Part A", "Part B"]), ColumnGroup(["Part A", "Part B"]).names
    ('Part A, Part B', ('Part A', 'Part B'))
    """

    __slots__ = ("names",)
    names: tuple[str, ...]

    def __new__(cls, names: Iterable[str]) -> ColumnGroup:
        """From the names of the columns, in order."""
        column_names = tuple(names)
        out = super().__new__(cls, ", ".join(column_names))
        out.names = column_names
        return out


def list_columns(mapped: str) -> tuple[str, ...]:
    """The columns that a field is mapped to, and the name of their list."""
    return (mapped, *mapped.names) if isinstance(mapped, ColumnGroup) else (mapped,)


@lru_cache(maxsize=4096)
def to_snake_case(column: str) -> str:
    """A column's name as the tables here spell it: "Ground Truth" and "groundTruth" -> ground_truth."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[\s\-]+", "_", spaced).lower()


@dataclass(frozen=True, slots=True)
class RowPlan:
    """How the columns of one row are read."""

    columns: Mapping[str, str]  #: our field -> their column.
    unread: tuple[str, ...]  #: columns that nothing reads.
    reference: str = ""  #: of a set beside its responses, the column of answers that is read as the reference answer.
    left: tuple[str, ...] = ()  #: of such a set, columns that would be read of a response.


def plan_columns(column_names: Iterable[str], mapped: Mapping[str, str]) -> RowPlan:
    """Which column is read as which field: what the user mapped, then our names, then the tools' names."""
    return _build_plan(tuple(column_names), tuple(mapped.items()))


@lru_cache(maxsize=256)  # most rows have the columns of those before them; what is returned is only read
def _build_plan(column_names: tuple[str, ...], pairs: tuple[tuple[str, str], ...]) -> RowPlan:
    mapped = dict(pairs)
    columns = {ours: theirs for ours, theirs in mapped.items() if theirs in column_names}
    used = {name for column in mapped.values() for name in list_columns(column)}
    spelled: dict[str, str] = {}
    for column in column_names:
        if column not in used:
            spelled.setdefault(to_snake_case(column), column)
    for field in FIELDS:
        if field not in mapped and field in spelled:
            columns[field] = spelled[field]
    used |= set(columns.values())
    names = set(spelled)
    for alias in ALIASES:
        column = spelled.get(alias.theirs, "")
        takes = column and column not in used and alias.ours not in columns and alias.ours not in mapped
        is_accompanied = not alias.beside or alias.beside & (names | columns.keys())
        if takes and is_accompanied and alias.without.isdisjoint(names):
            columns[alias.ours] = column
            used.add(column)
    return RowPlan(columns, tuple(column for column in column_names if column not in used))


def plan_set_columns(plan: RowPlan) -> RowPlan:
    """How a row of an eval set is read whose responses stand in another source: nothing of it is a response.

    An answer is the reference where the row has none, unless the row is a recorded one, with what the system retrieved
    or took beside its answer.
    """
    columns = {field: column for field, column in plan.columns.items() if field in EXAMPLE_FIELDS}
    responded = {field: column for field, column in plan.columns.items() if field in RESPONSE_FIELDS}
    answer = responded.pop("answer", "")
    recorded = any(field != "passages" or to_snake_case(column) not in DOCUMENTS for field, column in responded.items())
    taken = (
        answer
        if to_snake_case(answer) not in SYSTEM_ANSWER_NAMES and not recorded and columns.keys().isdisjoint(REFERENCES)
        else ""
    )
    if taken:
        columns["reference_answer"] = taken
    unused = [column for column in (answer, *responded.values()) if column and column != taken]
    return RowPlan(columns, plan.unread, taken, tuple(unused))


def list_set_notices(plans: Collection[RowPlan]) -> Iterator[str]:
    """What `plan_set_columns` took as the reference, and what it left."""
    for reference in dict.fromkeys(plan.reference for plan in plans if plan.reference):
        yield (
            f"{reference} is read as the reference answer, because the responses are in the other file. To use "
            "another column: --map reference_answer=COLUMN."
        )
    if unused := dict.fromkeys(column for plan in plans for column in plan.left):
        yield (
            f"not read, because the responses are in the other file: {', '.join(unused)}. If one of them has "
            "the gold documents or their texts, use --map relevant=COLUMN or --map relevant_texts=COLUMN."
        )


def check_mapping(
    mapped: Mapping[str, str], fields: Mapping[str, Any] = FIELDS, example: str = "query=question"
) -> None:
    """Refuses a mapping onto a field that does not exist.

    Args:
        mapped: our field -> the source's column.
        fields: that there are.
        example: of a mapping, for the hint.

    Raises:
        UnknownName: the field, with the nearest.
    """
    for field in mapped:
        if field not in fields:
            raise UnknownName("field", field, fields, f"Write FIELD=COLUMN, such as {example}.")


def list_field_names(field: str) -> list[str]:
    """Every name that is read as the field, ours first."""
    return [field, *dict.fromkeys(alias.theirs for alias in ALIASES if alias.ours == field)]


def read_label_columns(kind: str) -> dict[str, tuple[str, ...]]:
    """Our field -> every name that rows of people's labels have for it, ours first.

    Args:
        kind: of rows: labels, pairs or grades.

    >>> read_label_columns("pairs")["answers"]
    ('answers', 'outputs')
    """
    return {ours: (*list_field_names(ours), *names.split()) for ours, names in COLUMNS["columns"][kind].items()}


def read_label_words(question: str) -> dict[str, str]:
    """Word -> the value that it stands for, of what people answer to a question of labels.

    >>> read_label_words("refuse")["true"]
    'yes'
    """
    return {word: value for value, words in COLUMNS["words"][question].items() for word in words.split()}


def list_unconditional_names(field: str) -> list[str]:
    """Every name that is read as the field whatever stands beside it."""
    return [field, *(alias.theirs for alias in ALIASES if alias.ours == field and not alias.beside)]


def compute_similarity(column: str, names: Iterable[str]) -> float:
    """How alike a column and the nearest of some names look: 0 to 1; 0 where there are none."""
    return max((SequenceMatcher(None, to_snake_case(column), name).ratio() for name in names), default=0.0)


def find_nearest_column(field: str, columns: Iterable[str], min_similarity: float = 0.65) -> str:
    """The found column whose name looks most like the field's; "" where none does."""
    names = list_field_names(field)
    best = max(((compute_similarity(column, names), column) for column in columns), default=(0.0, ""))
    return best[1] if best[0] >= min_similarity else ""


# fields that say what is right
LABELS = (*REFERENCES, "reference_claims", "relevant", "relevant_chunks", "relevant_texts", "gold_spans")
# how names of labels begin, such as expected and gold, and those of responses do not
LABEL_NAME_PREFIXES = frozenset(
    to_snake_case(name).partition("_")[0] for field in LABELS for name in list_field_names(field)
) - frozenset(to_snake_case(name).partition("_")[0] for field in RESPONSE_FIELDS for name in list_field_names(field))


IDS = ("_id", "_ids")  # a column of ids holds no texts


def find_nearest_field(column: str, min_similarity: float = 0.75) -> str:
    """The field whose name looks most like a column's; "" where none does.

    What may be right is never taken for what a system returned: retrieval_gt, ground_truth_passages; and a column of
    answers holds those that are accepted, since a system gives one.

    >>> find_nearest_field("pasages"), find_nearest_field("answers"), find_nearest_field("retrieved_context_gold")
    ('passages', 'references', '')
    """
    name = to_snake_case(column)
    if name == "answers":
        return "references"
    fields = FIELDS if LABEL_NAME_PREFIXES.isdisjoint(name.split("_")) else LABELS
    of_ids = name.endswith(IDS)
    names_by_field = {
        field: [near for near in list_unconditional_names(field) if near.endswith(IDS) or not of_ids]
        for field in fields
    }
    best = max((compute_similarity(column, names), field) for field, names in names_by_field.items())
    return best[1] if best[0] >= min_similarity else ""


def describe_unread_columns(unread: Iterable[str], read: Mapping[str, str]) -> str:
    """What to say of columns that nothing reads: the fields that they may be, and how to have them read.

    Args:
        unread: the columns.
        read: our field -> the column that is read as it.
    """
    columns = list(unread)
    wrote = [
        column
        for column in columns
        if to_snake_case(column) in SYSTEM_ANSWER_NAMES or to_snake_case(column) == AMBIGUOUS_ANSWER
    ]
    nearest = {column: find_nearest_field(column) for column in columns if column not in wrote}
    close = [f"{near}={column}" for column, near in nearest.items() if near and (near != "query" or near not in read)]
    meant = f" (did you mean {', '.join(close)}?)" if close else ""
    message = f"columns not read: {', '.join(columns)}{meant}. "
    message += "--map FIELD=COLUMN reads one, --segments COLUMN reports by it, --scores COLUMN reads its numbers."
    taken = read.get("answer", "")
    swapped = to_snake_case(taken) == "answer" and read.keys().isdisjoint(REFERENCES)
    for column in wrote:
        reference_option = f" --map reference_answer={taken}" if swapped else ""
        right = (
            f"; if it is the reference answer: --map reference_answer={column}"
            if to_snake_case(column) == AMBIGUOUS_ANSWER
            else ""
        )
        message += f" If the system wrote {column}: --map answer={column}{reference_option}{right}."
    return message
