"""Labels of people from the forms they come in: ours, CSV of the same columns, judge check's, Label Studio's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ragauge.data.label import NO_CLAIM, UNSURE, VALUES, Label, Part, label_key, part_of
from ragauge.data.readers.aliases import snake
from ragauge.data.readers.labelled import WORDS, LabelOptions, read_labelled
from ragauge.data.readers.lines import Row, Rows
from ragauge.data.readers.source import rows_of
from ragauge.data.readers.values import BadValue
from ragauge.errors import RagaugeError, nearest

OURS = ("key", "value")
STUDIO = ("data", "annotations")
HEX = frozenset("0123456789abcdef")
SPELLED: Mapping[str, Mapping[str, str]] = {
    "support": {word: label for label, words in WORDS.items() for word in words} | {
        "no_claim": NO_CLAIM, "nothing_to_check": NO_CLAIM, "not_checkable": NO_CLAIM, "unsure": UNSURE,
        "cannot_tell": UNSURE,
    },
    "relevance": {
        **dict.fromkeys(("relevant", "true", "yes", "1"), "relevant"),
        **dict.fromkeys(("not_relevant", "irrelevant", "false", "no", "0"), "not_relevant"), "unsure": UNSURE,
    },
    "address": {one: one for one in VALUES["address"]},
    "refuse": {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"},
}     # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelSource:
    """What is said of labels where a file does not say it itself.

    Attributes:
        question: that they answer.
        annotator: who gave them; of several labels of one thing, such as NAME 1, NAME 2.
        guideline: hash of the instructions.
        columns: our field -> the file's column.
    """

    question: str = "support"
    annotator: str = ""
    guideline: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


def read_labels(source: Any, given: LabelSource = LabelSource()) -> Iterator[Label]:
    """The labels of a file or table, in its order, in whichever of the four forms its first row has.

    - ours, as the label page saves it, or as CSV: key, part, question, value, annotator, at, guideline;
    - Label Studio's JSON: tasks with data and annotations; data has a key (`label draw -o tasks.jsonl`), or question,
      passages and answer by their usual names;
    - else what `judge check` reads: question, passages, answer or claims, label or labels.

    Raises:
        DataError: a row that cannot be read, with its line; a value that is not known, with the nearest.
    """
    rows = rows_of(source)
    reading = _LabelReading(rows, given)
    first = next(rows.rows, None)
    if first is None:
        raise rows.error("there is no row in it.")
    columns = {given.columns.get(name, name) for name in OURS}
    every = chain([first], rows.rows)
    if columns <= set(first[1]):
        yield from reading.each(every, reading.ours)
    elif set(STUDIO) <= set(first[1]):
        yield from reading.each(every, reading.studio)
    else:
        yield from _checked(source, given)


def _checked(source: Any, given: LabelSource) -> Iterator[Label]:
    """Rows of judge check's columns: each label of a part is another annotator's."""
    who = given.annotator or "annotator"
    for row in read_labelled(source, LabelOptions(given.columns)):
        key = label_key(given.question, row.query, row.passages, row.answer)
        for part in row.parts:
            whole = (part.start, part.end) == (0, len(row.answer))
            for n, value in enumerate(part.labels, 1):
                name = given.annotator if len(part.labels) == 1 else f"{who} {n}"
                place = None if whole else (part.start, part.end)
                yield Label(key, place, given.question, value, name, "", given.guideline)


class _LabelReading:
    """One pass over a file of labels."""

    def __init__(self, rows: Rows, given: LabelSource) -> None:
        self.rows, self.given = rows, given

    def each(self, rows: Iterator[tuple[int, Row]], read: Any) -> Iterator[Label]:
        """The labels of every row; what is wrong with one is told with its line."""
        for n, row in rows:
            try:
                yield from read(row)
            except BadValue as bad:
                raise self.rows.error(str(bad), n, bad.hint) from None
            except RagaugeError as error:
                raise self.rows.error(str(error), n) from None

    def ours(self, row: Row) -> Iterator[Label]:
        """One label a row."""
        said = {name: row.get(self.given.columns.get(name, name)) for name in ("key", "part", "value")}
        key = str(said["key"] or "").strip().lower()
        if len(key) != 64 or not set(key) <= HEX:
            raise BadValue("key", "the 64 hex digits of what was seen, as label draw wrote them", said["key"])
        question = self._text(row, "question") or self.given.question
        yield Label(
            key, _part(said["part"]), question, value_of(question, said["value"]),
            self._text(row, "annotator") or self.given.annotator, self._text(row, "at"),
            self._text(row, "guideline") or self.given.guideline,
        )     # fmt: skip

    def _text(self, row: Row, name: str) -> str:
        found = row.get(self.given.columns.get(name, name))
        return "" if found is None else str(found).strip()

    def studio(self, row: Row) -> Iterator[Label]:
        """The labels of one task of Label Studio: spans of the answer, or choices for the whole of it."""
        data, annotations = row["data"], row["annotations"]
        if not isinstance(data, Mapping) or not isinstance(annotations, list | tuple):
            raise BadValue("data", "an object, with annotations beside it that are a list", data)
        question = str(data.get("question") if data.get("key") else self.given.question)
        key = str(data.get("key") or "") or label_key(question, *_texts(data))
        guideline = str(data.get("guideline") or self.given.guideline)
        for one in annotations:
            if not isinstance(one, Mapping) or one.get("was_cancelled"):
                continue
            who = one.get("completed_by", self.given.annotator)
            name = str(who.get("email") or who.get("id") if isinstance(who, Mapping) else who)
            at = str(one.get("updated_at") or one.get("created_at") or "")
            for part, value in _results(one.get("result")):
                yield Label(key, part, question, value_of(question, value), name, at, guideline)


def _results(results: Any) -> Iterator[tuple[Part, Any]]:
    """(part, what was said) of one annotation; marks of other kinds say nothing."""
    for one in results if isinstance(results, list | tuple) else ():
        value = one.get("value") if isinstance(one, Mapping) else None
        if not isinstance(value, Mapping):
            continue
        said = value.get("labels") or value.get("hypertextlabels") or value.get("choices") or ()
        spanned = isinstance(value.get("start"), int) and isinstance(value.get("end"), int)
        part = (value["start"], value["end"]) if spanned else None
        yield from ((part, word) for word in said)


def _texts(data: Mapping[str, Any]) -> tuple[str, Sequence[str], str]:
    """Question, passages and answer of a task that has no key."""
    named = {snake(str(name)): value for name, value in data.items()}
    query, answer = (named.get(name) for name in ("query", "answer"))
    given = named.get("passages", named.get("contexts"))
    if not isinstance(answer, str) or not isinstance(given, list | tuple | str):
        raise BadValue("data", "a key, or query, passages and answer", data)
    passages = [given] if isinstance(given, str) else given
    texts = [str(one.get("text", "") if isinstance(one, Mapping) else one) for one in passages]
    return str(query or ""), texts, answer


def _part(value: Any) -> Part:
    if isinstance(value, list | tuple):
        if len(value) == 2 and all(isinstance(one, int) for one in value):
            return part_of(f"{value[0]}-{value[1]}")
        raise BadValue("part", "two places such as [12, 40], a passage's number, or nothing", value)
    return part_of("" if value is None else str(value))


def value_of(question: str, value: Any) -> str:
    """A value as the question spells it; of score:METRIC the number in text.

    Raises:
        BadValue: a question or a value that is not known, with the nearest.

    >>> value_of("support", "Not supported"), value_of("score:faithfulness", 0.5)
    ('not_supported', '0.5')
    """
    if question.startswith("score:"):
        try:
            return f"{float(value):g}"
        except (TypeError, ValueError):
            raise BadValue("value", "a number", value) from None
    if question not in SPELLED:
        known = (*VALUES, "score:METRIC")
        near = nearest(question, known, 1)
        raise BadValue("question", f"one of {', '.join(known)}", question, f"Nearest: {near[0]}." if near else "")
    said = snake(str(value)).removesuffix(".0").strip("._") if isinstance(value, str | bool | int | float) else ""
    words = SPELLED[question]
    if said not in words:
        near = nearest(said, words, 1, 0.5)
        hint = f"Nearest: {near[0]}." if near else ""
        raise BadValue("value", f"one of {', '.join(dict.fromkeys(words.values()))}", value, hint)
    return words[said]
