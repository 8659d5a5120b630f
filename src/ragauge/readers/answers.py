"""Answers of one's own: labelled, not labelled, or two to a question, from any file of rows.

Questions with two answers each, and which of them people prefer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ragauge.core.example import Example
from ragauge.core.human_labels import AnswerPair, BetterAnswer, LabeledAnswer, LabeledPart
from ragauge.core.values import BadValue, Notes, decode_cell, parse_answer, parse_identifier, parse_text
from ragauge.readers.aliases import check_mapping, read_label_columns, read_label_words, to_snake_case
from ragauge.readers.label_rows import FIELDS, LabelOptions, read_labeled_answers
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import read_rows, read_source
from ragauge.text.sentences import split_sentences


def build_unlabeled_row(example: Example, passages: tuple[str, ...], answer: str, line: int = 0) -> LabeledAnswer:
    """An answer that nobody labelled, as a row whose parts are its sentences, without labels."""
    parts = tuple(LabeledPart(sentence.start, sentence.end, ()) for sentence in split_sentences(answer))
    segments, history = dict(example.segments), example.history
    return LabeledAnswer(example.query_id, example.query, passages, answer, parts, segments, line, history=history)


def read_answers(source: Any, options: LabelOptions) -> tuple[list[LabeledAnswer], list[AnswerPair]]:
    """The rows of a file of answers, with labels or without, or of pairs: whichever its first row looks like.

    Args:
        source: a path or a table, as for `read_source`.
        options: how it is read.

    Raises:
        DataError: what cannot be read, with its line.
    """
    row = next((row for _, row in read_rows(source).rows), {})
    available = {to_snake_case(column) for column, value in row.items() if value is not None}
    available |= {ours for ours, column in options.columns.items() if column in row}
    has_pair_columns = all(available & {*PAIR_FIELDS[name]} for name in ("answer_1", "answer_2"))
    if has_pair_columns or ("answers" in available and not available & {*FIELDS["passages"]}):
        return [], list(read_pairs(source, options.columns))
    if available & {*FIELDS["label"], *FIELDS["labels"]} or isinstance(row.get("claims"), list):
        return list(read_labeled_answers(source, options)), []
    answers = []
    for record in read_source(source, columns=options.columns, segments=options.segments):
        response = record.response
        if response is not None and response.answer and response.has_passage_texts:
            texts = tuple(passage.text or "" for passage in response.passages or ())
            answers.append(build_unlabeled_row(record.example, texts, response.answer, record.line))
    return answers, []


PAIR_FIELDS: Mapping[str, tuple[str, ...]] = read_label_columns("pairs")
PREFERENCE_WORDS = {word: cast(BetterAnswer, int(better)) for word, better in read_label_words("better").items()}


def read_pairs(source: Any, columns: Mapping[str, str] | None = None) -> Iterator[AnswerPair]:
    """The rows of a file: query, two answers (`answers`, or `answer_1` and `answer_2`), and `better` where known.

    Args:
        source: a path or a table.
        columns: our field -> the source's column.

    Raises:
        DataError: a field that is missing or cannot be read, with its line.
        UnknownName: a mapping onto a field that does not exist.
    """
    check_mapping(columns or {}, PAIR_FIELDS, "better=winner")
    rows = read_rows(source)
    notes = Notes(cells=rows.cells)
    yield from rows.parse_all(lambda n, row: _parse_pair(rows, n, row, columns or {}, notes))


def _parse_pair(rows: Rows, n: int, row: Row, columns: Mapping[str, str], notes: Notes) -> AnswerPair:
    spelled = {to_snake_case(column): column for column, value in row.items() if value is not None}
    names: dict[str, str] = {}
    for ours, theirs in PAIR_FIELDS.items():
        column = columns.get(ours) or next((spelled[name] for name in theirs if name in spelled), "")
        if column in row:
            names[ours] = column
    several = decode_cell(row[names["answers"]], names["answers"], notes) if "answers" in names else None
    if several is None:
        for ours in ("answer_1", "answer_2"):
            if ours not in names:
                raise rows.error(f"no field {ours!r} (found: {', '.join(row)}).", n, f"Use --map {ours}=COLUMN.")
        several = [row[names["answer_1"]], row[names["answer_2"]]]
    if not isinstance(several, list | tuple) or len(several) != 2:
        raise BadValue(names["answers"], "a list of two answers", several)
    if "query" not in names:
        raise rows.error(f"no field 'query' (found: {', '.join(row)}).", n, "Use --map query=COLUMN.")
    first, second = (parse_answer(answer, "answer", notes) for answer in several)
    name = names.get("query_id")
    return AnswerPair(
        f"{rows.unit} {n}" if name is None else parse_identifier(row[name], name, notes),
        parse_text(row[names["query"]], names["query"], notes),
        (first, second),
        _parse_preference(row[names["better"]], names["better"]) if "better" in names else None,
    )


def _parse_preference(value: Any, name: str) -> BetterAnswer:
    better = to_snake_case(str(value)).strip("_") if isinstance(value, str | int | float) else ""
    if better not in PREFERENCE_WORDS:
        raise BadValue(name, "1 or 2 (first, second; a, b), or tie", value)
    return PREFERENCE_WORDS[better]
