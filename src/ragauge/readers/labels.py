"""Labels of people from the forms they come in: ours, CSV of the same columns, judge check's, Label Studio's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from math import isfinite
from typing import Any

from ragauge.core.errors import RagaugeError, find_nearest
from ragauge.core.example import select_visible_turns
from ragauge.core.label import (
    SCORE_PREFIX,
    VALUES,
    VISIBLE_FIELDS,
    Label,
    Part,
    ScoreScale,
    build_label_key,
    parse_part,
    parse_timestamp,
)
from ragauge.core.values import BadValue, Notes, decode_cell, parse_answer, parse_text, parse_texts
from ragauge.readers import passages as retrieved
from ragauge.readers.aliases import list_field_names, read_label_words, to_snake_case
from ragauge.readers.label_rows import FIELDS, LabelOptions, read_labeled_answers
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import read_rows

OWN_COLUMNS = ("key", "value")
LABEL_STUDIO_COLUMNS = ("data", "annotations")
HEX = frozenset("0123456789abcdef")
VALUE_BY_WORD = {question: read_label_words(question) for question in VALUES}
RATE_WORDS = {"yes": "1", "true": "1", "no": "0", "false": "0"}  # words for a score that has nothing between 0 and 1
MAX_CLOCK_AHEAD = timedelta(days=1)  # how far a clock, or an offset that was not written, may be ahead of ours
TEXT_ROW_FIELDS: Mapping[str, tuple[str, ...]] = {  # what labels of a whole answer by its texts may have
    **{name: FIELDS[name] for name in ("query", "passages", "answer", "label", "labels")},
    "references": (*list_field_names("references"), *list_field_names("reference_answer")),
    "annotators": FIELDS["annotators"],
    "at": FIELDS["at"],
}


@dataclass(frozen=True, slots=True)
class LabelSource:
    """What is said of labels where a file does not say it itself."""

    question: str = "support"  #: that they answer.
    annotator: str = ""  #: who gave them; of several labels of one thing, such as NAME 1, NAME 2.
    guideline: str = ""  #: hash of the instructions.
    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the file's column.
    #: score:METRIC -> what people can say of the metric and what they see; None = any number of any text.
    scale: Callable[[str], ScoreScale] | None = None


def read_labels(source: Any, label_source: LabelSource = LabelSource()) -> Iterator[Label]:
    """The labels of a file or table, in its order, in whichever of the four forms its first row has.

    - ours, as the label page saves it, or as CSV: key, part, question, value, annotator, at, guideline;
    - Label Studio's JSON: tasks with data and annotations; data has a key (`label draw -o tasks.jsonl`), or question,
      passages and answer by their usual names;
    - else texts: of support what `judge check` reads: question, passages, answer or claims, label or labels; of an
      answer as a whole question, answer, label or labels, and passages and references where the question sees them.

    Raises:
        DataError: a row that cannot be read, with its line; a value that is not known, with the nearest; a time that is
            not in ISO 8601, or more than a day ahead.
    """
    rows = read_rows(source)
    reading = _LabelReader(rows, label_source)
    first = next(rows.rows, None)
    if first is None:
        raise rows.error("it has no rows.")
    columns = {label_source.columns.get(name, name) for name in OWN_COLUMNS}
    every = chain([first], rows.rows)
    if columns <= set(first[1]):
        yield from reading.read_rows(every, reading.read_own_row)
    elif set(LABEL_STUDIO_COLUMNS) <= set(first[1]):
        yield from reading.read_rows(every, reading.read_studio_task)
    elif label_source.question == "support":
        yield from _read_labeled_rows(source, label_source, rows)
    else:
        yield from reading.read_rows(every, reading.read_text_row)


def _read_labeled_rows(source: Any, label_source: LabelSource, rows: Rows) -> Iterator[Label]:
    """Rows of judge check's columns: each label of a part is another annotator's."""
    who = label_source.annotator or "annotator"
    for row in read_labeled_answers(source, LabelOptions(label_source.columns)):
        visible_texts = row.query, row.passages, row.answer
        key = build_label_key(label_source.question, *visible_texts, history=select_visible_turns(row.history))
        try:
            timestamp = _check_time(row.at)
        except BadValue as bad:
            raise rows.error(str(bad), row.line, bad.hint) from None
        for part in row.parts:
            is_whole = (part.start, part.end) == (0, len(row.answer))
            for n, value in enumerate(part.labels, 1):
                name = label_source.annotator if len(part.labels) == 1 else f"{who} {n}"
                if part.annotators:  # a number is a place in the list
                    name = part.annotators[n - 1]
                    name = f"{who} {name}" if name.isdigit() else name
                label_part = None if is_whole else (part.start, part.end)
                yield Label(key, label_part, label_source.question, value, name, timestamp, label_source.guideline)


class _LabelReader:
    """One pass over a file of labels."""

    def __init__(self, rows: Rows, label_source: LabelSource) -> None:
        self.rows, self.given = rows, label_source

    def read_rows(self, rows: Iterator[tuple[int, Row]], read: Any) -> Iterator[Label]:
        """The labels of every row; what is wrong with one is told with its line."""
        for n, row in rows:
            try:
                yield from read(row)
            except BadValue as bad:
                raise self.rows.error(str(bad), n, bad.hint) from None
            except RagaugeError as error:
                raise self.rows.error(str(error), n) from None

    def read_own_row(self, row: Row) -> Iterator[Label]:
        """One label a row."""
        raw_fields = {name: row.get(self.given.columns.get(name, name)) for name in ("key", "part", "value")}
        key = str(raw_fields["key"] or "").strip().lower()
        if len(key) != 64 or not set(key) <= HEX:
            raise BadValue("key", "the 64 hex digits that label draw wrote", raw_fields["key"])
        question, scale = self._resolve_question(self._get_text(row, "question"))
        yield Label(
            key,
            _parse_part(raw_fields["part"]),
            question,
            normalize_value(question, raw_fields["value"], scale),
            self._get_text(row, "annotator") or self.given.annotator,
            _check_time(self._get_text(row, "at")),
            self._get_text(row, "guideline") or self.given.guideline,
        )

    def _resolve_question(self, question_name: str) -> tuple[str, ScoreScale | None]:
        """A question as it is stored, with its scale where it is a score's."""
        question = question_name or self.given.question
        if self.given.scale is None or not question.startswith(SCORE_PREFIX):
            return question, None
        scale = self.given.scale(question)
        return scale.question, scale

    def read_text_row(self, row: Row) -> Iterator[Label]:
        """What one or several annotators said of an answer as a whole, by the texts that they saw."""
        question, scale = self._resolve_question("")
        visible_fields = VISIBLE_FIELDS.get(question) if scale is None else scale.seen
        if question == "relevance":
            raise BadValue("label", "relevance labels with their keys, as written by label draw -o tasks.jsonl", row)
        spelled = {to_snake_case(str(column)): value for column, value in row.items() if value is not None}
        mapped_columns = {ours: to_snake_case(column) for ours, column in self.given.columns.items()}
        notes, values_by_field = Notes(cells=self.rows.cells), {}
        for ours, theirs in TEXT_ROW_FIELDS.items():
            names = (mapped_columns[ours],) if ours in mapped_columns else theirs
            values_by_field[ours] = next((spelled[name] for name in names if name in spelled), None)
        raw_labels = decode_cell(
            values_by_field["label"] if values_by_field["labels"] is None else values_by_field["labels"], "label", notes
        )
        lacking = [
            name
            for name in ("answer", "query", "label")
            if (raw_labels if name == "label" else values_by_field[name]) is None
        ]
        if lacking:
            raise BadValue(lacking[0], f"a column {lacking[0]}: --map {lacking[0]}=COLUMN", ", ".join(map(str, row)))
        passages = [
            passage.text or "" for passage in retrieved.parse_passages(values_by_field["passages"], "passages", notes)
        ]
        references = (
            ()
            if values_by_field["references"] is None
            else parse_texts(values_by_field["references"], "references", notes)
        )
        key = build_label_key(
            question,
            parse_text(values_by_field["query"], "query", notes),
            passages,
            parse_answer(values_by_field["answer"], "answer", notes),
            references=references,
            visible_fields=visible_fields,
        )
        timestamp = "" if values_by_field["at"] is None else _check_time(str(values_by_field["at"]).strip())
        people = (
            ()
            if values_by_field["annotators"] is None
            else tuple(parse_texts(values_by_field["annotators"], "annotators", notes))
        )
        for name, value in self._pair_with_annotators(raw_labels, people):
            yield Label(
                key, None, question, normalize_value(question, value, scale), name, timestamp, self.given.guideline
            )

    def _pair_with_annotators(self, raw_labels: Any, people: Sequence[str]) -> list[tuple[str, Any]]:
        """(annotator, value) of what several said: by an object's names, those in a column, else by their places."""
        if isinstance(raw_labels, Mapping):
            return [(str(name), value) for name, value in raw_labels.items() if value is not None]
        every = list(raw_labels) if isinstance(raw_labels, list | tuple) else [raw_labels]
        if people:
            if len(people) != len(every) or len(set(people)) < len(people):
                expected = f"as many names as there are labels ({len(every)}), all different"
                raise BadValue("annotators", expected, list(people))
            return list(zip(people, every, strict=True))
        who = self.given.annotator or "annotator"
        return [(self.given.annotator if len(every) == 1 else f"{who} {n}", value) for n, value in enumerate(every, 1)]

    def _get_text(self, row: Row, name: str) -> str:
        value = row.get(self.given.columns.get(name, name))
        return "" if value is None else str(value).strip()

    def read_studio_task(self, row: Row) -> Iterator[Label]:
        """The labels of one task of Label Studio: spans of the answer, or choices for the whole of it."""
        data, annotations = row["data"], row["annotations"]
        if not isinstance(data, Mapping) or not isinstance(annotations, list | tuple):
            raise BadValue("data", "an object, with annotations that are a list", data)
        question, scale = self._resolve_question(str(data.get("question") or "") if data.get("key") else "")
        visible_fields = None if scale is None else scale.seen
        key = str(data.get("key") or "") or build_label_key(
            question, *_parse_task_texts(data), visible_fields=visible_fields
        )
        guideline = str(data.get("guideline") or self.given.guideline)
        answer = data.get("answer")
        for annotation in annotations:
            if not isinstance(annotation, Mapping) or annotation.get("was_cancelled"):
                continue
            who = annotation.get("completed_by", self.given.annotator)
            name = str(who.get("email") or who.get("id") if isinstance(who, Mapping) else who)
            timestamp = _check_time(str(annotation.get("updated_at") or annotation.get("created_at") or ""))
            for part, value in _parse_results(annotation.get("result")):
                if isinstance(part, tuple) and isinstance(answer, str) and part[1] > len(answer):
                    raise BadValue("end", f"a range within the answer's {len(answer):,} characters", part[1])
                yield Label(key, part, question, normalize_value(question, value, scale), name, timestamp, guideline)


def _parse_results(results: Any) -> Iterator[tuple[Part, Any]]:
    """(part, what was said) of one annotation; marks of other kinds say nothing."""
    for result in results if isinstance(results, list | tuple) else ():
        value = result.get("value") if isinstance(result, Mapping) else None
        if not isinstance(value, Mapping):
            continue
        number = value.get("number", value.get("rating"))
        labels = value.get("labels") or value.get("hypertextlabels") or value.get("choices") or ()
        labels = labels if number is None else (number,)
        spanned = isinstance(value.get("start"), int) and isinstance(value.get("end"), int)
        part = (value["start"], value["end"]) if spanned else None
        yield from ((part, word) for word in labels)


def _parse_task_texts(data: Mapping[str, Any]) -> tuple[str, Sequence[str], str]:
    """Question, passages and answer of a task that has no key."""
    fields = {to_snake_case(str(name)): value for name, value in data.items()}
    query, answer = (fields.get(name) for name in ("query", "answer"))
    raw_passages = fields.get("passages", fields.get("contexts"))
    if not isinstance(answer, str) or not isinstance(raw_passages, list | tuple | str):
        raise BadValue("data", "a key, or query, passages and answer", data)
    passages = [raw_passages] if isinstance(raw_passages, str) else raw_passages
    texts = [str(passage.get("text", "") if isinstance(passage, Mapping) else passage) for passage in passages]
    return str(query or ""), texts, answer


def _check_time(text: str) -> str:
    """A time as it was written, where it is one by which labels can be put in order."""
    if not text:
        return ""
    try:
        moment = parse_timestamp(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValue("at", "a date or time in ISO 8601 such as 2026-01-31T12:00:00Z, or nothing", text) from None
    if moment > datetime.now(UTC) + MAX_CLOCK_AHEAD:
        hint = "The latest label counts, so this one would override every later one. Fix the time, or omit it."
        raise BadValue("at", "a time that is not in the future", text, hint)
    return text


def _parse_part(value: Any) -> Part:
    if isinstance(value, list | tuple):
        if len(value) == 2 and all(isinstance(bound, int) for bound in value):
            return parse_part(f"{value[0]}-{value[1]}")
        raise BadValue("part", "a range such as [12, 40], the number of a passage, or nothing", value)
    return parse_part("" if value is None else str(value))


def normalize_value(question: str, value: Any, scale: ScoreScale | None = None) -> str:
    """A value as the question spells it; of score:METRIC the number in text.

    Args:
        question: that it answers.
        value: as it was read.
        scale: of a score, what it may be; None = any number.

    Raises:
        BadValue: a question or a value that is not known, with the nearest.

    >>> normalize_value("support", "Not supported"), normalize_value("score:faithfulness", 0.5)
    ('not_supported', '0.5')
    """
    if question.startswith(SCORE_PREFIX):
        return _format_score(value, scale)
    if question not in VALUE_BY_WORD:
        valid_questions = (*VALUES, "score:METRIC")
        near = find_nearest(question, valid_questions, 1)
        raise BadValue(
            "question", f"one of {', '.join(valid_questions)}", question, f"Nearest: {near[0]}." if near else ""
        )
    word = (
        to_snake_case(str(value)).removesuffix(".0").strip("._") if isinstance(value, str | bool | int | float) else ""
    )
    words = VALUE_BY_WORD[question]
    if word not in words:
        near = find_nearest(word, words, 1, 0.5)
        hint = f"Nearest: {near[0]}." if near else ""
        raise BadValue("value", f"one of {', '.join(dict.fromkeys(words.values()))}", value, hint)
    return words[word]


def _format_score(value: Any, scale: ScoreScale | None) -> str:
    """A score as text, finite and within its scale; of a rate also yes and no."""
    raw_score = RATE_WORDS.get(to_snake_case(str(value)), value) if scale is None or scale.rate else value
    expected = "a number" if scale is None else f"a number from {scale.low:g} to {scale.high:g}"
    if scale is not None and scale.rate:
        expected = "1 or 0, yes or no"
    try:
        score = float(raw_score)
    except (TypeError, ValueError):
        raise BadValue("value", expected, value) from None
    within = scale is None or (score in (scale.low, scale.high) if scale.rate else scale.low <= score <= scale.high)
    if not (isfinite(score) and within):
        raise BadValue("value", expected, value)
    return f"{score:g}"
