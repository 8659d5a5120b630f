"""Labels of people from the forms they come in: ours, CSV of the same columns, judge check's, Label Studio's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from math import isfinite
from typing import Any

from ragauge.core.errors import RagaugeError, nearest
from ragauge.core.example import seen_turns
from ragauge.core.label import (
    NO_CLAIM,
    SCORE,
    SEEN,
    UNSURE,
    VALUES,
    Label,
    Part,
    ScoreScale,
    label_key,
    moment_of,
    part_of,
)
from ragauge.core.values import BadValue, Notes, answer_text, opened, text, texts
from ragauge.readers import passages as retrieved
from ragauge.readers.aliases import names_of, snake
from ragauge.readers.label_rows import FIELDS, WORDS, LabelOptions, read_labelled
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import rows_of

OURS = ("key", "value")
STUDIO = ("data", "annotations")
HEX = frozenset("0123456789abcdef")
SPELLED: Mapping[str, Mapping[str, str]] = {
    "support": {word: label for label, words in WORDS.items() for word in words}
    | {
        "no_claim": NO_CLAIM,
        "nothing_to_check": NO_CLAIM,
        "not_checkable": NO_CLAIM,
        "unsure": UNSURE,
        "cannot_tell": UNSURE,
    },
    "relevance": {
        **dict.fromkeys(("relevant", "true", "yes", "1"), "relevant"),
        **dict.fromkeys(("not_relevant", "irrelevant", "false", "no", "0"), "not_relevant"),
        "unsure": UNSURE,
    },
    "address": {**{one: one for one in VALUES["address"]}, "cannot_tell": UNSURE},
    "refuse": {
        **dict.fromkeys(("yes", "true", "1"), "yes"),
        **dict.fromkeys(("no", "false", "0"), "no"),
        **dict.fromkeys((UNSURE, "cannot_tell"), UNSURE),
    },
}
RATE = {"yes": "1", "true": "1", "no": "0", "false": "0"}  # words for a score that has nothing between 0 and 1
AHEAD = timedelta(days=1)  # how far a clock, or an offset that was not written, may be ahead of ours
READ: Mapping[str, tuple[str, ...]] = {  # what labels of a whole answer by its texts may have
    **{name: FIELDS[name] for name in ("query", "passages", "answer", "label", "labels")},
    "references": (*names_of("references"), *names_of("reference_answer")),
    "annotators": FIELDS["annotators"],
    "at": FIELDS["at"],
}


@dataclass(frozen=True, slots=True)
class LabelSource:
    """What is said of labels where a file does not say it itself.

    Attributes:
        question: that they answer.
        annotator: who gave them; of several labels of one thing, such as NAME 1, NAME 2.
        guideline: hash of the instructions.
        columns: our field -> the file's column.
        scale: score:METRIC -> what people can say of the metric and what they see; None = any number of any text.
    """

    question: str = "support"
    annotator: str = ""
    guideline: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    scale: Callable[[str], ScoreScale] | None = None


def read_labels(source: Any, given: LabelSource = LabelSource()) -> Iterator[Label]:
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
    elif given.question == "support":
        yield from _checked(source, given, rows)
    else:
        yield from reading.each(every, reading.by_texts)


def _checked(source: Any, given: LabelSource, rows: Rows) -> Iterator[Label]:
    """Rows of judge check's columns: each label of a part is another annotator's."""
    who = given.annotator or "annotator"
    for row in read_labelled(source, LabelOptions(given.columns)):
        seen = row.query, row.passages, row.answer
        key = label_key(given.question, *seen, history=seen_turns(row.history))
        try:
            at = _at(row.at)
        except BadValue as bad:
            raise rows.error(str(bad), row.line, bad.hint) from None
        for part in row.parts:
            whole = (part.start, part.end) == (0, len(row.answer))
            for n, value in enumerate(part.labels, 1):
                name = given.annotator if len(part.labels) == 1 else f"{who} {n}"
                if part.annotators:  # a number is a place in the list
                    name = part.annotators[n - 1]
                    name = f"{who} {name}" if name.isdigit() else name
                place = None if whole else (part.start, part.end)
                yield Label(key, place, given.question, value, name, at, given.guideline)


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
        question, scale = self._asked(self._text(row, "question"))
        yield Label(
            key,
            _part(said["part"]),
            question,
            value_of(question, said["value"], scale),
            self._text(row, "annotator") or self.given.annotator,
            _at(self._text(row, "at")),
            self._text(row, "guideline") or self.given.guideline,
        )

    def _asked(self, named: str) -> tuple[str, ScoreScale | None]:
        """A question as it is stored, with its scale where it is a score's."""
        question = named or self.given.question
        if self.given.scale is None or not question.startswith(SCORE):
            return question, None
        scale = self.given.scale(question)
        return scale.question, scale

    def by_texts(self, row: Row) -> Iterator[Label]:
        """What one or several annotators said of an answer as a whole, by the texts that they saw."""
        question, scale = self._asked("")
        seen = SEEN.get(question) if scale is None else scale.seen
        if question == "relevance":
            raise BadValue("label", "labels of relevance by their keys, as label draw -o tasks.jsonl writes them", row)
        spelled = {snake(str(column)): value for column, value in row.items() if value is not None}
        there = {ours: snake(column) for ours, column in self.given.columns.items()}
        notes, found = Notes(cells=self.rows.cells), {}
        for ours, theirs in READ.items():
            names = (there[ours],) if ours in there else theirs
            found[ours] = next((spelled[name] for name in names if name in spelled), None)
        said = opened(found["label"] if found["labels"] is None else found["labels"], "label", notes)
        lacking = [name for name in ("answer", "query", "label") if (said if name == "label" else found[name]) is None]
        if lacking:
            raise BadValue(lacking[0], f"a column {lacking[0]}: --map {lacking[0]}=COLUMN", ", ".join(map(str, row)))
        passages = [one.text or "" for one in retrieved.passages(found["passages"], "passages", notes)]
        references = () if found["references"] is None else texts(found["references"], "references", notes)
        key = label_key(
            question,
            text(found["query"], "query", notes),
            passages,
            answer_text(found["answer"], "answer", notes),
            references=references,
            seen=seen,
        )
        at = "" if found["at"] is None else _at(str(found["at"]).strip())
        people = () if found["annotators"] is None else tuple(texts(found["annotators"], "annotators", notes))
        for name, value in self._by_whom(said, people):
            yield Label(key, None, question, value_of(question, value, scale), name, at, self.given.guideline)

    def _by_whom(self, said: Any, people: Sequence[str]) -> list[tuple[str, Any]]:
        """(annotator, value) of what several said: by an object's names, those in a column, else by their places."""
        if isinstance(said, Mapping):
            return [(str(name), value) for name, value in said.items() if value is not None]
        every = list(said) if isinstance(said, list | tuple) else [said]
        if people:
            if len(people) != len(every) or len(set(people)) < len(people):
                wanted = f"as many names as there are labels ({len(every)}), no two alike"
                raise BadValue("annotators", wanted, list(people))
            return list(zip(people, every, strict=True))
        who = self.given.annotator or "annotator"
        return [(self.given.annotator if len(every) == 1 else f"{who} {n}", value) for n, value in enumerate(every, 1)]

    def _text(self, row: Row, name: str) -> str:
        found = row.get(self.given.columns.get(name, name))
        return "" if found is None else str(found).strip()

    def studio(self, row: Row) -> Iterator[Label]:
        """The labels of one task of Label Studio: spans of the answer, or choices for the whole of it."""
        data, annotations = row["data"], row["annotations"]
        if not isinstance(data, Mapping) or not isinstance(annotations, list | tuple):
            raise BadValue("data", "an object, with annotations beside it that are a list", data)
        question, scale = self._asked(str(data.get("question") or "") if data.get("key") else "")
        seen = None if scale is None else scale.seen
        key = str(data.get("key") or "") or label_key(question, *_texts(data), seen=seen)
        guideline = str(data.get("guideline") or self.given.guideline)
        answer = data.get("answer")
        for one in annotations:
            if not isinstance(one, Mapping) or one.get("was_cancelled"):
                continue
            who = one.get("completed_by", self.given.annotator)
            name = str(who.get("email") or who.get("id") if isinstance(who, Mapping) else who)
            at = _at(str(one.get("updated_at") or one.get("created_at") or ""))
            for part, value in _results(one.get("result")):
                if isinstance(part, tuple) and isinstance(answer, str) and part[1] > len(answer):
                    raise BadValue("end", f"a place within the answer's {len(answer):,} characters", part[1])
                yield Label(key, part, question, value_of(question, value, scale), name, at, guideline)


def _results(results: Any) -> Iterator[tuple[Part, Any]]:
    """(part, what was said) of one annotation; marks of other kinds say nothing."""
    for one in results if isinstance(results, list | tuple) else ():
        value = one.get("value") if isinstance(one, Mapping) else None
        if not isinstance(value, Mapping):
            continue
        number = value.get("number", value.get("rating"))
        said = value.get("labels") or value.get("hypertextlabels") or value.get("choices") or ()
        said = said if number is None else (number,)
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


def _at(text: str) -> str:
    """A time as it was written, where it is one by which labels can be put in order."""
    if not text:
        return ""
    try:
        moment = moment_of(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValue("at", "a date or time in ISO 8601 such as 2026-01-31T12:00:00Z, or nothing", text) from None
    if moment > datetime.now(UTC) + AHEAD:
        hint = "The latest label counts, so this one would win over every later one. Mend the time, or leave it out."
        raise BadValue("at", "no time in the future", text, hint)
    return text


def _part(value: Any) -> Part:
    if isinstance(value, list | tuple):
        if len(value) == 2 and all(isinstance(one, int) for one in value):
            return part_of(f"{value[0]}-{value[1]}")
        raise BadValue("part", "two places such as [12, 40], a passage's number, or nothing", value)
    return part_of("" if value is None else str(value))


def value_of(question: str, value: Any, scale: ScoreScale | None = None) -> str:
    """A value as the question spells it; of score:METRIC the number in text.

    Args:
        question: that it answers.
        value: as it was read.
        scale: of a score, what it may be; None = any number.

    Raises:
        BadValue: a question or a value that is not known, with the nearest.

    >>> value_of("support", "Not supported"), value_of("score:faithfulness", 0.5)
    ('not_supported', '0.5')
    """
    if question.startswith(SCORE):
        return _number(value, scale)
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


def _number(value: Any, scale: ScoreScale | None) -> str:
    """A score as text, finite and within its scale; of a rate also yes and no."""
    said = RATE.get(snake(str(value)), value) if scale is None or scale.rate else value
    wanted = "a number" if scale is None else f"a number from {scale.low:g} to {scale.high:g}"
    if scale is not None and scale.rate:
        wanted = "1 or 0, yes or no"
    try:
        found = float(said)
    except (TypeError, ValueError):
        raise BadValue("value", wanted, value) from None
    within = scale is None or (found in (scale.low, scale.high) if scale.rate else scale.low <= found <= scale.high)
    if not (isfinite(found) and within):
        raise BadValue("value", wanted, value)
    return f"{found:g}"
