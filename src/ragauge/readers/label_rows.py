"""Answers and claims with human labels, from any file of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.errors import UnknownName, nearest
from ragauge.core.human_labels import HumanLabel, Labelled, LabelledPart, RecordedVerdict
from ragauge.core.values import BadValue, Notes, answer_text, identifier, opened, scalar_text, text, texts
from ragauge.readers import passages as retrieved
from ragauge.readers.aliases import names_of, snake
from ragauge.readers.fields import turns, weight
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import rows_of

FIELDS: Mapping[str, tuple[str, ...]] = {
    "query": tuple(names_of("query")),
    "passages": (*names_of("passages"), "evidence", "source"),
    "claims": ("claims",),
    "claim": ("claim", "statement", "hypothesis"),
    "answer": tuple(names_of("answer")),
    "label": ("label", "human_label", "gold_label", "verdict", "annotation", "attribution_label"),
    "labels": ("labels", "annotations"),
    "annotators": ("annotators", "annotator"),
    "at": ("at",),
    "query_id": tuple(names_of("query_id")),
    "segments": ("segments",),
    "weight": tuple(names_of("weight")),
    "history": tuple(names_of("history")),
}
WORDS: Mapping[HumanLabel, frozenset[str]] = {
    "supported": frozenset(
        (
            "supported",
            "support",
            "supports",
            "fully_supported",
            "attributable",
            "entailment",
            "entailed",
            "entails",
            "faithful",
            "grounded",
            "consistent",
            "true",
            "yes",
            "1",
        )
    ),
    "contradicted": frozenset(
        ("contradicted", "contradiction", "contradicts", "contradictory", "refuted", "refutes", "conflict")
    ),
    "not_in_context": frozenset(
        (
            "not_in_context",
            "absent",
            "neutral",
            "not_enough_info",
            "nei",
            "unverifiable",
            "baseless",
            "extrapolatory",
            "not_mentioned",
        )
    ),
    "not_supported": frozenset(
        (
            "not_supported",
            "unsupported",
            "partially_supported",
            "partial",
            "not_attributable",
            "unfaithful",
            "hallucinated",
            "hallucination",
            "inconsistent",
            "false",
            "no",
            "0",
        )
    ),
}
KNOWN: Mapping[str, HumanLabel] = {word: label for label, words in WORDS.items() for word in words}
ENDS = (".", "!", "?", "。", "！", "？", "…")
SHOWN = 20
HALF = 0.5  # the least probability that is read as supported


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """How a labelled file is read.

    Attributes:
        columns: our field -> the file's column.
        segments: columns to report by.
        supported: values of the label that mean supported, all others not; () = the usual words.
        verdicts: columns with what judges said elsewhere, as labels or as probabilities of supported.
        texts: rows must hold what is judged; False where no judge is asked.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    segments: Sequence[str] = ()
    supported: Collection[str] = ()
    verdicts: Sequence[str] = ()
    texts: bool = True


def read_labelled(source: Any, options: LabelOptions = LabelOptions()) -> Iterator[Labelled]:
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
        if "passages" not in names and self.options.texts:
            raise self._lacks("passages", row, n)
        there = "passages" in names
        given = retrieved.passages(row[names["passages"]], names["passages"], self.notes) if there else ()
        if any(passage.text is None for passage in given):
            raise BadValue(names["passages"], "passages with texts", "an id alone")
        answer, parts = self._judged(n, row, names)
        query = text(row[names["query"]], names["query"], self.notes) if "query" in names else ""
        name = names.get("query_id")
        return Labelled(
            f"{self.rows.unit} {n}" if name is None else identifier(row[name], name, self.notes),
            query,
            tuple(passage.text or "" for passage in given),
            answer,
            parts,
            self._segments(n, row, names),
            n,
            weight(row[names["weight"]], names["weight"]) if "weight" in names else 1.0,
            str(row[names["at"]]).strip() if "at" in names else "",
            turns(row[names["history"]], names["history"], self.notes) if "history" in names else (),
        )

    def _names(self, row: Row) -> dict[str, str]:
        """Our field -> the row's column."""
        there = [column for column, value in row.items() if value is not None]
        spelled = {snake(column): column for column in reversed(there)}
        columns = {ours: column for ours, column in self.options.columns.items() if column in there}
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

    def _judged(self, n: int, row: Row, names: Mapping[str, str]) -> tuple[str, tuple[LabelledPart, ...]]:
        """What is judged, and what people said of it."""
        labelled = names.get("labels") or names.get("label")
        lacking = [column for column in self.options.verdicts if column not in row]
        if lacking and ("claims" not in names or labelled is not None):
            raise self._lacks(lacking[0], row, n, "verdict")
        if "claims" in names:
            return self._claims(row, names, labelled)
        what = names.get("claim") or names.get("answer")
        if what is None and self.options.texts:
            raise self._lacks("answer", row, n)
        if labelled is None:
            raise self._lacks("label", row, n)
        answer = "" if what is None else answer_text(row[what], what, self.notes)
        if what is not None and not answer.strip():
            raise BadValue(what, "text that is not blank", row[what])
        labels, people = self._labels(row[labelled], labelled, self._annotators(row, names))
        return answer, (LabelledPart(0, len(answer), labels, people, self._recorded(row)),)

    def _claims(self, row: Row, names: Mapping[str, str], labelled: str | None) -> tuple[str, tuple[LabelledPart, ...]]:
        name = names["claims"]
        value = opened(row[name], name, self.notes)
        pairs: list[tuple[Any, tuple[Any, tuple[str, ...]], Row]] = []
        everywhere = self._annotators(row, names)
        if isinstance(value, list | tuple) and value and all(isinstance(claim, Mapping) for claim in value):
            for index, claim_row in enumerate(value):
                keys = self._names(claim_row)
                what = keys.get("claim") or keys.get("answer") or _text(claim_row)
                label = keys.get("labels") or keys.get("label")
                if what is None or label is None:
                    raise BadValue(f"{name}[{index}]", "an object with claim and label", claim_row)
                for column in self.options.verdicts:
                    if column not in claim_row:
                        raise BadValue(f"{name}[{index}]", f"an object with {column}", claim_row)
                people = self._annotators(claim_row, keys) or everywhere
                pairs.append((claim_row[what], (claim_row[label], people), claim_row))
        elif labelled is not None:
            listed = opened(row[labelled], labelled, self.notes)
            parts = texts(value, name, self.notes)
            if not isinstance(listed, list | tuple) or len(listed) != len(parts):
                raise BadValue(labelled, f"a list of {len(parts)} labels, one a claim of {name}", listed)
            beside = self._beside(row, len(parts))
            pairs = [(part, (said, everywhere), one) for part, said, one in zip(parts, listed, beside, strict=True)]
        if not pairs:
            raise BadValue(name, "a list of objects with claim and label, or of texts with labels beside it", value)
        return self._joined(pairs, name)

    def _beside(self, row: Row, n_claims: int) -> list[Row]:
        """The verdicts on a list of claims, as a row a claim."""
        columns = {}
        for column in self.options.verdicts:
            listed = opened(row.get(column), column, self.notes)
            if not isinstance(listed, list | tuple) or len(listed) != n_claims:
                raise BadValue(column, f"a list of {n_claims} verdicts, one a claim", listed)
            columns[column] = listed
        return [{column: listed[n] for column, listed in columns.items()} for n in range(n_claims)]

    def _joined(
        self, pairs: Sequence[tuple[Any, tuple[Any, tuple[str, ...]], Row]], name: str
    ) -> tuple[str, tuple[LabelledPart, ...]]:
        """The claims as one text, one a line, and where each stands in it."""
        answer, parts = "", []
        for index, (claim, (label, given), beside) in enumerate(pairs):
            where = f"{name}[{index}]"
            claim_text = " ".join(text(claim, where, self.notes).split())
            if not claim_text:
                raise BadValue(where, "a claim that is not blank", claim)
            claim_text += "" if claim_text.endswith(ENDS) else "."
            answer += "\n" if answer else ""
            labels, people = self._labels(label, f"label of {where}", given)
            recorded = self._recorded(beside)
            parts.append(LabelledPart(len(answer), len(answer) + len(claim_text), labels, people, recorded))
            answer += claim_text
        return answer, tuple(parts)

    def _annotators(self, row: Row, names: Mapping[str, str]) -> tuple[str, ...]:
        """Who gave the labels of a row, in their order; () where that is not said."""
        if "annotators" not in names:
            return ()
        found = tuple(texts(row[names["annotators"]], names["annotators"], self.notes))
        if len(set(found)) < len(found):
            raise BadValue(names["annotators"], "names that differ, one an annotator", list(found))
        return found

    def _labels(self, value: Any, name: str, given: tuple[str, ...]) -> tuple[tuple[HumanLabel, ...], tuple[str, ...]]:
        """Labels, and who gave each; () = by their places, none left out."""
        value = opened(value, name, self.notes)
        if isinstance(value, Mapping):
            given, several = tuple(map(str, value)), list(value.values())
        else:
            several = list(value) if isinstance(value, list | tuple) else [value]
        if given and len(given) != len(several):
            raise BadValue(name, f"{len(given)} labels, one an annotator ({', '.join(given)})", value)
        labels = tuple(self._label(label, name) for label in several if label is not None)
        if not labels:
            raise BadValue(name, "a label, or a list of them, one an annotator", value)
        people = given or tuple(str(n) for n in range(1, len(several) + 1) if len(labels) < len(several))
        return labels, tuple(who for who, label in zip(people, several, strict=False) if label is not None)

    def _recorded(self, row: Row) -> tuple[RecordedVerdict, ...]:
        """What judges said elsewhere: a word as labels have it, or the probability that it is supported."""
        return tuple(self._verdict(row.get(column), column) for column in self.options.verdicts)

    def _verdict(self, value: Any, name: str) -> RecordedVerdict:
        if value is None or (isinstance(value, str) and not value.strip()):
            return RecordedVerdict(None)
        p = probability(value)
        if p is None or self.supported:
            return RecordedVerdict(self._label(value, name))
        return RecordedVerdict("supported" if p >= HALF else "not_supported", p)

    def _label(self, value: Any, name: str) -> HumanLabel:
        word = _word(value) if isinstance(value, str | bool | int | float) else ""
        if self.supported:
            return "supported" if word in self.supported else "not_supported"
        if word not in KNOWN:
            near = nearest(word, KNOWN, 1, 0.6)
            hint = f"Nearest: {near[0]}. " if near else ""
            raise BadValue(
                name,
                "supported, contradicted, not_in_context, true or false, 1 or 0",
                value,
                f"{hint}Say which values mean supported: --supported VALUE,VALUE.",
            )
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
        hint = f"Use --{option} {near or 'COLUMN'}." if option else f"Use --map {name}={near or 'COLUMN'}."
        either = " or 'claim'" if name == "answer" else ""
        return self.rows.error(f"no field {name!r}{either} ({seen}).", n, hint)


def probability(value: Any) -> float | None:
    """A number in [0, 1], also where a text holds it; None for anything else.

    >>> probability("0.25"), probability(1), probability("yes"), probability(True), probability(2)
    (0.25, 1.0, None, None, None)
    """
    try:
        found = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return found if found is not None and 0 <= found <= 1 else None


def _text(row: Mapping[str, Any]) -> str | None:
    return "text" if isinstance(row.get("text"), str) else None


def _word(value: object) -> str:
    """A label as the tables here spell it: "Not attributable" -> not_attributable, 1.0 -> 1.

    >>> _word(" Not attributable"), _word(1.0), _word(True)
    ('not_attributable', '1', 'true')
    """
    return snake(str(value)).removesuffix(".0").strip("._")
