"""Answers and claims with human labels, and grades that people gave, from any file of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from ragauge.core.errors import find_nearest
from ragauge.core.human_labels import GradedItem, HumanLabel, LabeledAnswer, LabeledPart, RecordedVerdict
from ragauge.core.values import (
    BadValue,
    Notes,
    decode_cell,
    parse_answer,
    parse_identifier,
    parse_number,
    parse_scalar,
    parse_text,
    parse_texts,
)
from ragauge.readers import passages as retrieved
from ragauge.readers.aliases import check_mapping, read_label_columns, read_label_words, to_snake_case
from ragauge.readers.fields import parse_turns, parse_weight
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import read_rows

FIELDS: Mapping[str, tuple[str, ...]] = read_label_columns("labels")
LABEL_BY_WORD = {
    word: cast(HumanLabel, label)
    for word, label in read_label_words("support").items()
    if label in get_args(HumanLabel)
}
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "…")
MAX_SHOWN_COLUMNS = 20
SUPPORTED_FROM_P = 0.5  # the least probability that is read as supported


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """How a labelled file is read."""

    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the file's column.
    segments: Sequence[str] = ()  #: columns to report by.
    supported: Collection[str] = ()  #: values of the label that mean supported, all others not; () = the usual words.
    #: columns with what judges said elsewhere, as labels or as probabilities of supported.
    verdicts: Sequence[str] = ()
    texts: bool = True  #: rows must hold what is judged; False where no judge is asked.


def read_labeled_answers(source: Any, options: LabelOptions = LabelOptions()) -> Iterator[LabeledAnswer]:
    """The rows of a file with human labels.

    A row has passages, and an `answer` or a `claim` with a `label` (a list, or `labels`: one an annotator), or
    `claims`: a list of {claim, label}, or of texts with `labels` in the same order. Verdicts stand beside labels.
    Who gave each label is its name in an object {annotator: label} or in `annotators`, else its place in the list.

    Args:
        source: a path or a table, as for `records`.
        options: how it is read.

    Raises:
        DataError: a field that is missing or cannot be read, with its line and the nearest name.
        UnknownName: a mapping onto a field that does not exist.
    """
    check_mapping(options.columns, FIELDS, "label=verdict")
    rows = read_rows(source)
    reading = _LabeledAnswerReader(rows, options, Notes(cells=rows.cells))
    yield from rows.parse_all(reading.parse_row)


class _LabeledAnswerReader:
    """One pass over a labelled file."""

    def __init__(self, rows: Rows, options: LabelOptions, notes: Notes) -> None:
        self.rows, self.options, self.notes = rows, options, notes
        self.supported = {_normalize_word(word) for word in options.supported}

    def parse_row(self, n: int, row: Row) -> LabeledAnswer:
        """One row."""
        names = self._map_columns(row)
        if "passages" not in names and self.options.texts:
            raise self._build_missing_error("passages", row, n)
        has_passages = "passages" in names
        passages = (
            retrieved.parse_passages(row[names["passages"]], names["passages"], self.notes) if has_passages else ()
        )
        if any(passage.text is None for passage in passages):
            raise BadValue(names["passages"], "passages with texts", "an id without text")
        answer, parts = self._parse_answer_parts(n, row, names)
        query = parse_text(row[names["query"]], names["query"], self.notes) if "query" in names else ""
        name = names.get("query_id")
        return LabeledAnswer(
            f"{self.rows.unit} {n}" if name is None else parse_identifier(row[name], name, self.notes),
            query,
            tuple(passage.text or "" for passage in passages),
            answer,
            parts,
            self._parse_segments(n, row, names),
            n,
            parse_weight(row[names["weight"]], names["weight"]) if "weight" in names else 1.0,
            str(row[names["at"]]).strip() if "at" in names else "",
            parse_turns(row[names["history"]], names["history"], self.notes) if "history" in names else (),
        )

    def _map_columns(self, row: Row) -> dict[str, str]:
        """Our field -> the row's column."""
        available = [column for column, value in row.items() if value is not None]
        spelled = {to_snake_case(column): column for column in reversed(available)}
        columns = {ours: column for ours, column in self.options.columns.items() if column in available}
        taken = {*self.options.columns.values(), *self.options.verdicts}
        for ours, theirs in FIELDS.items():
            if ours not in self.options.columns:
                column = next(
                    (spelled[name] for name in theirs if name in spelled and spelled[name] not in taken), None
                )
                if column is not None:
                    columns[ours] = column
                    taken.add(column)
        return columns

    def _parse_answer_parts(self, n: int, row: Row, names: Mapping[str, str]) -> tuple[str, tuple[LabeledPart, ...]]:
        """What is judged, and what people said of it."""
        label_column = names.get("labels") or names.get("label")
        lacking = [column for column in self.options.verdicts if column not in row]
        if lacking and ("claims" not in names or label_column is not None):
            raise self._build_missing_error(lacking[0], row, n, "verdict")
        if "claims" in names:
            return self._parse_claims(row, names, label_column)
        what = names.get("claim") or names.get("answer")
        if what is None and self.options.texts:
            raise self._build_missing_error("answer", row, n)
        if label_column is None:
            raise self._build_missing_error("label", row, n)
        answer = "" if what is None else parse_answer(row[what], what, self.notes)
        if what is not None and not answer.strip():
            raise BadValue(what, "non-blank text", row[what])
        labels, people = self._parse_labels(row[label_column], label_column, self._parse_annotators(row, names))
        return answer, (LabeledPart(0, len(answer), labels, people, self._parse_recorded_verdicts(row)),)

    def _parse_claims(
        self, row: Row, names: Mapping[str, str], label_column: str | None
    ) -> tuple[str, tuple[LabeledPart, ...]]:
        name = names["claims"]
        value = decode_cell(row[name], name, self.notes)
        pairs: list[tuple[Any, tuple[Any, tuple[str, ...]], Row]] = []
        everywhere = self._parse_annotators(row, names)
        if isinstance(value, list | tuple) and value and all(isinstance(claim, Mapping) for claim in value):
            for index, claim_row in enumerate(value):
                keys = self._map_columns(claim_row)
                what = keys.get("claim") or keys.get("answer") or _find_text_key(claim_row)
                label = keys.get("labels") or keys.get("label")
                if what is None or label is None:
                    raise BadValue(f"{name}[{index}]", "an object with claim and label", claim_row)
                for column in self.options.verdicts:
                    if column not in claim_row:
                        raise BadValue(f"{name}[{index}]", f"an object with {column}", claim_row)
                people = self._parse_annotators(claim_row, keys) or everywhere
                pairs.append((claim_row[what], (claim_row[label], people), claim_row))
        elif label_column is not None:
            labels = decode_cell(row[label_column], label_column, self.notes)
            claim_texts = parse_texts(value, name, self.notes)
            if not isinstance(labels, list | tuple) or len(labels) != len(claim_texts):
                raise BadValue(label_column, f"a list of {len(claim_texts)} labels, one per claim of {name}", labels)
            verdict_rows = self._build_verdict_rows(row, len(claim_texts))
            pairs = [
                (claim_text, (claim_label, everywhere), verdict_row)
                for claim_text, claim_label, verdict_row in zip(claim_texts, labels, verdict_rows, strict=True)
            ]
        if not pairs:
            raise BadValue(name, "a list of objects with claim and label, or of texts with separate labels", value)
        return self._join_claims(pairs, name)

    def _build_verdict_rows(self, row: Row, n_claims: int) -> list[Row]:
        """The verdicts on a list of claims, as a row a claim."""
        columns = {}
        for column in self.options.verdicts:
            verdicts = decode_cell(row.get(column), column, self.notes)
            if not isinstance(verdicts, list | tuple) or len(verdicts) != n_claims:
                raise BadValue(column, f"a list of {n_claims} verdicts, one per claim", verdicts)
            columns[column] = verdicts
        return [{column: verdicts[n] for column, verdicts in columns.items()} for n in range(n_claims)]

    def _join_claims(
        self, pairs: Sequence[tuple[Any, tuple[Any, tuple[str, ...]], Row]], name: str
    ) -> tuple[str, tuple[LabeledPart, ...]]:
        """The claims as one text, one a line, and where each stands in it."""
        answer, parts = "", []
        for index, (claim, (label, annotators), verdict_row) in enumerate(pairs):
            where = f"{name}[{index}]"
            claim_text = " ".join(parse_text(claim, where, self.notes).split())
            if not claim_text:
                raise BadValue(where, "a non-blank claim", claim)
            claim_text += "" if claim_text.endswith(SENTENCE_ENDS) else "."
            answer += "\n" if answer else ""
            labels, people = self._parse_labels(label, f"label of {where}", annotators)
            recorded = self._parse_recorded_verdicts(verdict_row)
            parts.append(LabeledPart(len(answer), len(answer) + len(claim_text), labels, people, recorded))
            answer += claim_text
        return answer, tuple(parts)

    def _parse_annotators(self, row: Row, names: Mapping[str, str]) -> tuple[str, ...]:
        """Who gave the labels of a row, in their order; () where that is not said."""
        if "annotators" not in names:
            return ()
        annotators = tuple(parse_texts(row[names["annotators"]], names["annotators"], self.notes))
        if len(set(annotators)) < len(annotators):
            raise BadValue(names["annotators"], "different names, one per annotator", list(annotators))
        return annotators

    def _parse_labels(
        self, value: Any, name: str, annotators: tuple[str, ...]
    ) -> tuple[tuple[HumanLabel, ...], tuple[str, ...]]:
        """Labels, and who gave each; () = by their places, none left out."""
        value = decode_cell(value, name, self.notes)
        if isinstance(value, Mapping):
            annotators, several = tuple(map(str, value)), list(value.values())
        else:
            several = list(value) if isinstance(value, list | tuple) else [value]
        if annotators and len(annotators) != len(several):
            raise BadValue(name, f"{len(annotators)} labels, one per annotator ({', '.join(annotators)})", value)
        labels = tuple(self._parse_label(label, name) for label in several if label is not None)
        if not labels:
            raise BadValue(name, "a label, or a list of labels, one per annotator", value)
        people = annotators or tuple(str(n) for n in range(1, len(several) + 1) if len(labels) < len(several))
        return labels, tuple(who for who, label in zip(people, several, strict=False) if label is not None)

    def _parse_recorded_verdicts(self, row: Row) -> tuple[RecordedVerdict, ...]:
        """What judges said elsewhere: a word as labels have it, or the probability that it is supported."""
        return tuple(self._parse_verdict(row.get(column), column) for column in self.options.verdicts)

    def _parse_verdict(self, value: Any, name: str) -> RecordedVerdict:
        if value is None or (isinstance(value, str) and not value.strip()):
            return RecordedVerdict(None)
        p = parse_probability(value)
        if p is None or self.supported:
            return RecordedVerdict(self._parse_label(value, name))
        return RecordedVerdict("supported" if p >= SUPPORTED_FROM_P else "not_supported", p)

    def _parse_label(self, value: Any, name: str) -> HumanLabel:
        word = _normalize_word(value) if isinstance(value, str | bool | int | float) else ""
        if self.supported:
            return "supported" if word in self.supported else "not_supported"
        if word not in LABEL_BY_WORD:
            near = find_nearest(word, LABEL_BY_WORD, 1, 0.6)
            hint = f"Nearest: {near[0]}. " if near else ""
            raise BadValue(
                name,
                "supported, contradicted, not_in_context, true or false, 1 or 0",
                value,
                f"{hint}Name the values that mean supported: --supported VALUE,VALUE.",
            )
        return LABEL_BY_WORD[word]

    def _parse_segments(self, n: int, row: Row, names: Mapping[str, str]) -> dict[str, str]:
        segments: dict[str, str] = {}
        if "segments" in names:
            value = decode_cell(row[names["segments"]], names["segments"], self.notes)
            if not isinstance(value, Mapping):
                raise BadValue(names["segments"], "an object of column and value", value)
            segments = {
                str(key): parse_scalar(segment, str(key), self.notes)
                for key, segment in value.items()
                if segment is not None
            }
        for column in self.options.segments:
            if column in segments:
                continue
            if column not in row:
                raise self._build_missing_error(column, row, n, "segments")
            if row[column] is not None:
                segments[column] = parse_scalar(row[column], column, self.notes)
        return segments

    def _build_missing_error(self, name: str, row: Row, n: int, option: str = "") -> Exception:
        columns = [column for column, value in row.items() if value is not None] or list(row)
        field_names = FIELDS.get(name, (name,))
        near = next((near[0] for name in field_names if (near := find_nearest(name, columns, 1, 0.6))), "")
        columns_note = f"found: {', '.join(columns[:MAX_SHOWN_COLUMNS])}" + (f"; nearest: {near}" if near else "")
        hint = f"Use --{option} {near or 'COLUMN'}." if option else f"Use --map {name}={near or 'COLUMN'}."
        either = " or 'claim'" if name == "answer" else ""
        return self.rows.error(f"no field {name!r}{either} ({columns_note}).", n, hint)


def parse_probability(value: Any) -> float | None:
    """A number in [0, 1], also where a text holds it; None for anything else.

    >>> (parse_probability("0.25"), parse_probability(1), parse_probability("yes"), parse_probability(True),
    ...     parse_probability(2))
    (0.25, 1.0, None, None, None)
    """
    try:
        parsed = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return parsed if parsed is not None and 0 <= parsed <= 1 else None


def _find_text_key(row: Mapping[str, Any]) -> str | None:
    return "text" if isinstance(row.get("text"), str) else None


def _normalize_word(value: object) -> str:
    """A label as the tables here spell it: "Not attributable" -> not_attributable, 1.0 -> 1.

    >>> _normalize_word(" Not attributable"), _normalize_word(1.0), _normalize_word(True)
    ('not_attributable', '1', 'true')
    """
    return to_snake_case(str(value)).removesuffix(".0").strip("._")


GRADE_FIELDS: Mapping[str, tuple[str, ...]] = read_label_columns("grades")


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """How a file of grades is read."""

    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the file's column.
    verdicts: Sequence[str] = ()  #: columns with the grades of judges.
    segments: Sequence[str] = ()  #: columns to report by.


def read_grades(source: Any, options: GradeOptions = GradeOptions()) -> Iterator[GradedItem]:
    """The rows of a file: a number, or a list with one an annotator, and the numbers of judges beside it.

    Args:
        source: a path or a table.
        options: how it is read.

    Raises:
        DataError: a field that is missing or no number, with its line and the nearest name.
        UnknownName: a mapping onto a field that does not exist.
    """
    check_mapping(options.columns, GRADE_FIELDS, "label=score")
    rows = read_rows(source)
    notes = Notes(cells=rows.cells)
    yield from rows.parse_all(lambda n, row: _parse_graded_row(rows, n, row, options, notes))


def _parse_graded_row(rows: Rows, n: int, row: Row, options: GradeOptions, notes: Notes) -> GradedItem:
    taken = {*options.columns.values(), *options.verdicts, *options.segments}
    spelled = {to_snake_case(column): column for column in row if column not in taken}
    names = {
        ours: options.columns.get(ours) or next((spelled[entry] for entry in theirs if entry in spelled), "")
        for ours, theirs in GRADE_FIELDS.items()
    }
    required_columns = {names["label"] or "label": "--map label="}
    required_columns |= dict.fromkeys(options.verdicts, "--verdict ") | dict.fromkeys(options.segments, "--segments ")
    for column, option in required_columns.items():
        if column not in row:
            near = find_nearest(column, list(row), 1, 0.6)
            raise rows.error(
                f"no field {column!r} (found: {', '.join(row)}).", n, f"Use {option}{near[0] if near else 'COLUMN'}."
            )
    raw = decode_cell(row[names["label"]], names["label"], notes)
    several = list(raw) if isinstance(raw, list | tuple) else [raw]
    grades = tuple(parse_number(entry, names["label"]) for entry in several if entry is not None)
    if not grades:
        raise BadValue(names["label"], "a number, or a list of numbers, one per annotator", raw)
    name, counted = names["query_id"], names["weight"]
    return GradedItem(
        parse_identifier(row[name], name, notes) if name in row else f"{rows.unit} {n}",
        grades,
        tuple(None if row[column] is None else parse_number(row[column], column) for column in options.verdicts),
        {column: parse_scalar(row[column], column, notes) for column in options.segments if row[column] is not None},
        parse_weight(row[counted], counted) if counted in row else 1.0,
    )
