"""Answers and claims with human labels, from any file of rows.

Questions with two answers each, and which of them people prefer, from any file of rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.data.labelled import AnswerPair, Better, HumanLabel, Labelled, LabelledPart
from ragauge.data.readers import passages as retrieved
from ragauge.data.readers.aliases import names_of, snake
from ragauge.data.readers.lines import Row, Rows
from ragauge.data.readers.source import rows_of
from ragauge.data.readers.values import (
    BadValue,
    Notes,
    answer_text,
    identifier,
    opened,
    scalar_text,
    text,
    texts,
)
from ragauge.errors import UnknownName, nearest

FIELDS: Mapping[str, tuple[str, ...]] = {
    "query": tuple(names_of("query")),
    "passages": (*names_of("passages"), "evidence", "source"),
    "claims": ("claims",),
    "claim": ("claim", "statement", "hypothesis"),
    "answer": tuple(names_of("answer")),
    "label": ("label", "human_label", "gold_label", "verdict", "annotation", "attribution_label"),
    "labels": ("labels", "annotations"),
    "query_id": tuple(names_of("query_id")),
    "segments": ("segments",),
}
WORDS: Mapping[HumanLabel, frozenset[str]] = {
    "supported": frozenset((
        "supported", "support", "supports", "fully_supported", "attributable", "entailment", "entailed", "entails",
        "faithful", "grounded", "consistent", "true", "yes", "1",
    )),
    "contradicted": frozenset((
        "contradicted", "contradiction", "contradicts", "contradictory", "refuted", "refutes", "conflict",
    )),
    "not_in_context": frozenset((
        "not_in_context", "absent", "neutral", "not_enough_info", "nei", "unverifiable", "baseless", "extrapolatory",
        "not_mentioned",
    )),
    "not_supported": frozenset((
        "not_supported", "unsupported", "partially_supported", "partial", "not_attributable", "unfaithful",
        "hallucinated", "hallucination", "inconsistent", "false", "no", "0",
    )),
}  # fmt: skip
KNOWN: Mapping[str, HumanLabel] = {word: label for label, words in WORDS.items() for word in words}
ENDS = (".", "!", "?", "。", "！", "？", "…")
SHOWN = 20


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """How a labelled file is read.

    Attributes:
        columns: our field -> the file's column.
        segments: columns to report by.
        supported: values of the label that mean supported, all others not; () = the usual words.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    segments: Sequence[str] = ()
    supported: Collection[str] = ()


def read_labelled(source: Any, options: LabelOptions = LabelOptions()) -> Iterator[Labelled]:
    """The rows of a file with human labels.

    A row has passages, and an `answer` or a `claim` with a `label` (a list, or `labels`: one an annotator), or
    `claims`: a list of {claim, label}, or of texts with `labels` in the same order.

    Args:
        source: a path or a table, as for `records`.
        options: how it is read.

    Raises:
        DataError: a field that is missing or cannot be read, with its line and the nearest name.
        UnknownName: a mapping onto a field that does not exist.
    """
    for name in options.columns:
        if name not in FIELDS:
            raise UnknownName("field", name, FIELDS, "Write FIELD=COLUMN, such as label=verdict.")
    rows = rows_of(source)
    reading = _Reading(rows, options, Notes(cells=rows.cells))
    count = 0
    for n, row in rows.rows:
        count += 1
        yield reading.row(n, row)
    if not count:
        raise rows.error("there is no row in it.")


class _Reading:
    """One pass over a labelled file."""

    def __init__(self, rows: Rows, options: LabelOptions, notes: Notes) -> None:
        self.rows, self.options, self.notes = rows, options, notes
        self.supported = {_word(word) for word in options.supported}

    def row(self, n: int, row: Row) -> Labelled:
        """One row."""
        try:
            return self._row(n, row)
        except BadValue as bad:
            raise self.rows.error(str(bad), n, bad.hint) from None

    def _row(self, n: int, row: Row) -> Labelled:
        names = self._names(row)
        if "passages" not in names:
            raise self._lacks("passages", row, n)
        given = retrieved.passages(row[names["passages"]], names["passages"], self.notes)
        if any(passage.text is None for passage in given):
            raise BadValue(names["passages"], "passages with texts", "an id alone")
        answer, parts = self._judged(n, row, names)
        query = text(row[names["query"]], names["query"], self.notes) if "query" in names else ""
        name = names.get("query_id")
        return Labelled(
            f"{self.rows.unit} {n}" if name is None else identifier(row[name], name, self.notes), query,
            tuple(passage.text or "" for passage in given), answer, parts, self._segments(n, row, names), n,
        )  # fmt: skip

    def _names(self, row: Row) -> dict[str, str]:
        """Our field -> the row's column."""
        there = [column for column, value in row.items() if value is not None]
        spelled = {snake(column): column for column in reversed(there)}
        columns = {ours: column for ours, column in self.options.columns.items() if column in there}
        taken = set(self.options.columns.values())
        for ours, theirs in FIELDS.items():
            if ours not in self.options.columns:
                column = next(
                    (spelled[name] for name in theirs if name in spelled and spelled[name] not in taken), None
                )
                if column is not None:
                    columns[ours] = column
                    taken.add(column)
        return columns

    def _judged(self, n: int, row: Row, names: Mapping[str, str]) -> tuple[str, tuple[LabelledPart, ...]]:
        """What is judged, and what people said of it."""
        labelled = names.get("labels") or names.get("label")
        if "claims" in names:
            return self._claims(row, names, labelled)
        what = names.get("claim") or names.get("answer")
        if what is None:
            raise self._lacks("answer", row, n)
        if labelled is None:
            raise self._lacks("label", row, n)
        answer = answer_text(row[what], what, self.notes)
        if not answer.strip():
            raise BadValue(what, "text that is not blank", row[what])
        return answer, (LabelledPart(0, len(answer), self._labels(row[labelled], labelled)),)

    def _claims(self, row: Row, names: Mapping[str, str], labelled: str | None) -> tuple[str, tuple[LabelledPart, ...]]:
        name = names["claims"]
        value = opened(row[name], name, self.notes)
        pairs: list[tuple[Any, Any]] = []
        if isinstance(value, list | tuple) and value and all(isinstance(claim, Mapping) for claim in value):
            for index, claim_row in enumerate(value):
                keys = self._names(claim_row)
                what = keys.get("claim") or keys.get("answer") or _text(claim_row)
                label = keys.get("labels") or keys.get("label")
                if what is None or label is None:
                    raise BadValue(f"{name}[{index}]", "an object with claim and label", claim_row)
                pairs.append((claim_row[what], claim_row[label]))
        elif labelled is not None:
            listed = opened(row[labelled], labelled, self.notes)
            parts = texts(value, name, self.notes)
            if not isinstance(listed, list | tuple) or len(listed) != len(parts):
                raise BadValue(labelled, f"a list of {len(parts)} labels, one a claim of {name}", listed)
            pairs = list(zip(parts, listed, strict=True))
        if not pairs:
            raise BadValue(name, "a list of objects with claim and label, or of texts with labels beside it", value)
        return self._joined(pairs, name)

    def _joined(self, pairs: Sequence[tuple[Any, Any]], name: str) -> tuple[str, tuple[LabelledPart, ...]]:
        """The claims as one text, one a line, and where each stands in it."""
        answer, parts = "", []
        for index, (claim, label) in enumerate(pairs):
            where = f"{name}[{index}]"
            claim_text = " ".join(text(claim, where, self.notes).split())
            if not claim_text:
                raise BadValue(where, "a claim that is not blank", claim)
            claim_text += "" if claim_text.endswith(ENDS) else "."
            answer += "\n" if answer else ""
            parts.append(
                LabelledPart(len(answer), len(answer) + len(claim_text), self._labels(label, f"label of {where}"))
            )
            answer += claim_text
        return answer, tuple(parts)

    def _labels(self, value: Any, name: str) -> tuple[HumanLabel, ...]:
        value = opened(value, name, self.notes)
        several = list(value) if isinstance(value, list | tuple) else [value]
        labels = tuple(self._label(label, name) for label in several if label is not None)
        if not labels:
            raise BadValue(name, "a label, or a list of them, one an annotator", value)
        return labels

    def _label(self, value: Any, name: str) -> HumanLabel:
        word = _word(value) if isinstance(value, str | bool | int | float) else ""
        if self.supported:
            return "supported" if word in self.supported else "not_supported"
        if word not in KNOWN:
            near = nearest(word, KNOWN, 1, 0.6)
            hint = f"Nearest: {near[0]}. " if near else ""
            raise BadValue(
                name, "supported, contradicted, not_in_context, true or false, 1 or 0", value,
                f"{hint}Say which values mean supported: --supported VALUE,VALUE.",
            )  # fmt: skip
        return KNOWN[word]

    def _segments(self, n: int, row: Row, names: Mapping[str, str]) -> dict[str, str]:
        segments: dict[str, str] = {}
        if "segments" in names:
            value = opened(row[names["segments"]], names["segments"], self.notes)
            if not isinstance(value, Mapping):
                raise BadValue(names["segments"], "an object of column and value", value)
            segments = {
                str(key): scalar_text(segment, str(key), self.notes)
                for key, segment in value.items()
                if segment is not None
            }
        for column in self.options.segments:
            if column in segments:
                continue
            if column not in row:
                raise self._lacks(column, row, n, "segments")
            if row[column] is not None:
                segments[column] = scalar_text(row[column], column, self.notes)
        return segments

    def _lacks(self, name: str, row: Row, n: int, option: str = "") -> Exception:
        columns = [column for column, value in row.items() if value is not None] or list(row)
        wanted = FIELDS.get(name, (name,))
        near = next((near[0] for name in wanted if (near := nearest(name, columns, 1, 0.6))), "")
        seen = f"found: {', '.join(columns[:SHOWN])}" + (f"; nearest: {near}" if near else "")
        hint = f"Use --segments {near or 'COLUMN'}." if option else f"Use --map {name}={near or 'COLUMN'}."
        either = " or 'claim'" if name == "answer" else ""
        return self.rows.error(f"no field {name!r}{either} ({seen}).", n, hint)


def _text(row: Mapping[str, Any]) -> str | None:
    return "text" if isinstance(row.get("text"), str) else None


def _word(value: object) -> str:
    """A label as the tables here spell it: "Not attributable" -> not_attributable, 1.0 -> 1.

    >>> _word(" Not attributable"), _word(1.0), _word(True)
    ('not_attributable', '1', 'true')
    """
    return snake(str(value)).removesuffix(".0").strip("._")


PAIR_FIELDS: Mapping[str, tuple[str, ...]] = {
    "query": (*names_of("query"), "instruction"),
    "answers": ("answers", "outputs"),
    "answer_1": ("answer_1", "answer_a", "output_1", "response_a", "chosen"),
    "answer_2": ("answer_2", "answer_b", "output_2", "response_b", "rejected"),
    "better": ("better", "label", "winner", "preference"),
    "query_id": tuple(names_of("query_id")),
}
PREFERRED: Mapping[str, Better] = {
    "1": 1, "first": 1, "a": 1, "answer_a": 1, "answer_1": 1, "model_a": 1,
    "2": 2, "second": 2, "b": 2, "answer_b": 2, "answer_2": 2, "model_b": 2,
    "0": 0, "tie": 0, "same": 0, "both": 0,
}  # fmt: skip


def read_pairs(source: Any, columns: Mapping[str, str] | None = None) -> Iterator[AnswerPair]:
    """The rows of a file: query, two answers (`answers`, or `answer_1` and `answer_2`), and `better` where known.

    Args:
        source: a path or a table.
        columns: our field -> the source's column.

    Raises:
        DataError: a field that is missing or cannot be read, with its line.
        UnknownName: a mapping onto a field that does not exist.
    """
    for name in columns or {}:
        if name not in PAIR_FIELDS:
            raise UnknownName("field", name, PAIR_FIELDS, "Write FIELD=COLUMN, such as better=winner.")
    rows = rows_of(source)
    notes = Notes(cells=rows.cells)
    count = 0
    for n, row in rows.rows:
        count += 1
        try:
            yield _pair(rows, n, row, columns or {}, notes)
        except BadValue as bad:
            raise rows.error(str(bad), n, bad.hint) from None
    if not count:
        raise rows.error("there is no row in it.")


def _pair(rows: Rows, n: int, row: Row, columns: Mapping[str, str], notes: Notes) -> AnswerPair:
    spelled = {snake(column): column for column, value in row.items() if value is not None}
    names: dict[str, str] = {}
    for ours, theirs in PAIR_FIELDS.items():
        column = columns.get(ours) or next((spelled[name] for name in theirs if name in spelled), "")
        if column in row:
            names[ours] = column
    several = opened(row[names["answers"]], names["answers"], notes) if "answers" in names else None
    if several is None:
        for ours in ("answer_1", "answer_2"):
            if ours not in names:
                raise rows.error(f"no field {ours!r} (found: {', '.join(row)}).", n, f"Use --map {ours}=COLUMN.")
        several = [row[names["answer_1"]], row[names["answer_2"]]]
    if not isinstance(several, list | tuple) or len(several) != 2:
        raise BadValue(names["answers"], "a list of two answers", several)
    if "query" not in names:
        raise rows.error(f"no field 'query' (found: {', '.join(row)}).", n, "Use --map query=COLUMN.")
    first, second = (answer_text(answer, "answer", notes) for answer in several)
    name = names.get("query_id")
    return AnswerPair(
        f"{rows.unit} {n}" if name is None else identifier(row[name], name, notes),
        text(row[names["query"]], names["query"], notes), (first, second),
        _better(row[names["better"]], names["better"]) if "better" in names else None,
    )  # fmt: skip


def _better(value: Any, name: str) -> Better:
    better = snake(str(value)).strip("_") if isinstance(value, str | int | float) else ""
    if better not in PREFERRED:
        raise BadValue(name, "1 or 2 (first, second; a, b), or tie", value)
    return PREFERRED[better]
