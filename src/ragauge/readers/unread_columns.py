"""Columns that nothing reads: the fields that they may be, and how to have them read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragauge.readers.aliases import (
    AMBIGUOUS_ANSWER,
    FIELDS,
    REFERENCES,
    RESPONSE_FIELDS,
    SYSTEM_ANSWER_NAMES,
    compute_similarity,
    list_field_names,
    list_unconditional_names,
    to_snake_case,
)

LABELS = (
    "reference_answer",
    "references",
    "reference_claims",
    "relevant",
    "relevant_chunks",
    "relevant_texts",
    "gold_spans",
)
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
