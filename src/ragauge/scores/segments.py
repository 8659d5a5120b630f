"""Summaries per segment: declared columns, and those that the questions themselves give."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ragauge.core.example import Example
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns, ScoreColumns, merge_repeats
from ragauge.scores.categories import CategoryCollector, CategoryColumn, narrow_codes
from ragauge.scores.gather import Visit
from ragauge.scores.results.scorecard import MIN_SEGMENT_EXAMPLES, Summary
from ragauge.scores.summarize import NO_ERRORS, summarize_metric
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.text.language import guess_language
from ragauge.text.tokens import split_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from ragauge.scores.arrays import Codes

BySegment = Mapping[str, Mapping[str, tuple[Summary, ...]]]

MAX_SEGMENT_VALUES = 50  # a column with more is an identifier, not a segment
OTHER, NONE = "(other)", "(none)"
UNDETERMINED = "und"
DOMINANT_LANGUAGE_SHARE = 0.8  # share of the examples whose language tells that make it the language of the others too
DERIVED_COLUMNS = ("language", "query_length", "answerable")
MAX_SHORT_WORDS, MIN_LONG_WORDS = 6, 16  # words: up to 6 is short, from 16 is long
# these stand for their layer when values of a segment are put in order
HEADLINE_METRICS = (
    "recall",
    "context_recall",
    "context_precision",
    "faithfulness",
    "answer_relevance",
    "answer_correctness",
)


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The segments of examples, a byte or two a column and example."""

    query_ids: Sequence[str]  #: the examples, by number.
    columns: Mapping[str, CategoryColumn[str | None]]  #: name -> the value of every example, None where it has none.

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Segments:
        """Reads a segment frame: query_id, and a column a segment."""
        import polars as pl

        columns = {name: CategoryColumn.of(frame[name].cast(pl.String)) for name in frame.columns if name != "query_id"}
        return cls(tuple(frame["query_id"]), columns)

    def to_frame(self) -> pl.DataFrame:
        """A row an example: query_id, and a column a segment, null where an example has no value."""
        import polars as pl

        ids = pl.Series("query_id", self.query_ids, dtype=pl.String)
        return pl.DataFrame([ids, *(column.series(name) for name, column in self.columns.items())])

    def select_examples(self, query_ids: Sequence[str]) -> Segments:
        """Those of some examples, in the order in which they stand here."""
        import numpy as np

        if self.query_ids == query_ids:
            return self
        wanted_ids = set(query_ids)
        positions = np.array(
            [position for position, query_id in enumerate(self.query_ids) if query_id in wanted_ids], dtype=np.int64
        )
        ids = tuple(self.query_ids[position] for position in positions)
        return Segments(ids, {name: column.take(positions) for name, column in self.columns.items()})

    def align_columns(self, query_ids: Sequence[str]) -> Mapping[str, CategoryColumn[str | None]]:
        """The columns in the order of these examples; one that is not here has None."""
        import numpy as np

        if self.query_ids == query_ids:
            return self.columns
        position_by_id = {query_id: position for position, query_id in enumerate(self.query_ids)}
        position = np.array(
            [position_by_id.get(query_id, len(position_by_id)) for query_id in query_ids], dtype=np.int64
        )
        aligned = {}
        for name, column in self.columns.items():
            values = (*column.values, None)
            codes = np.append(column.codes.astype(np.int64), len(column.values))[position]
            aligned[name] = CategoryColumn(values, narrow_codes(codes, len(values))).rename_values(values)
        return aligned

    def mark_examples(self, query_ids: Sequence[str], numbers: Codes) -> npt.NDArray[np.bool_]:
        """Which of the examples here are among some of others.

        Args:
            query_ids: of the others.
            numbers: shape (n,), which of those.
        """
        import numpy as np

        mask = np.zeros(len(self.query_ids), dtype=bool)
        if self.query_ids == query_ids:
            mask[numbers] = True
        else:
            selected_ids = {query_ids[number] for number in numbers}
            mask[:] = [query_id in selected_ids for query_id in self.query_ids]
        return mask

    def tidy_columns(self) -> Segments:
        """The columns worth looking at, small values grouped; see `tidy_segments`."""
        tidied = {name: _tidy_column(name, column) for name, column in self.columns.items()}
        return Segments(self.query_ids, {name: column for name, column in tidied.items() if column is not None})

    def named(self, visible_names: Collection[str] = ()) -> dict[str, dict[str, int]]:
        """Column -> value -> its examples, of every named value however small.

        Left out are columns of more than 50 values, and derived ones that are not among those shown.
        """
        counts_by_column = {}
        for name, column in self.columns.items():
            counts = {value: count for value, count in _count_values(column).items() if value is not None and count}
            if 0 < len(counts) <= MAX_SEGMENT_VALUES and (name not in DERIVED_COLUMNS or name in visible_names):
                counts_by_column[name] = counts
        return counts_by_column


class SegmentCollector:
    """Gathers what segments are made from; the examples themselves are not kept."""

    def __init__(self) -> None:
        self._n = 0
        self._declared: dict[str, CategoryCollector[str | None] | None] = {}  # None = it has too many values
        self._derived: dict[str, CategoryCollector[str | None]] = {
            name: CategoryCollector() for name in DERIVED_COLUMNS
        }

    def add(self, visit: Visit) -> None:
        """Takes in the example of a response, once where it has several."""
        if visit.query == self._n:
            self.add_example(visit.example)

    def add_example(self, example: Example) -> None:
        """Takes in one example."""
        for name, value in example.segments.items():
            column = self._declared.setdefault(name, CategoryCollector())
            if column is not None:
                column.add(None, self._n - len(column))
                column.add(value)
                if column.n_values > MAX_SEGMENT_VALUES + 1:
                    self._declared[name] = None  # an identifier: its values are as many as the examples
        self._n += 1
        language = guess_language(" ".join((example.query, *example.references[:1])))
        self._derived["language"].add(None if language == UNDETERMINED else language)
        self._derived["query_length"].add(classify_query_length(example.query))
        self._derived["answerable"].add({True: "yes", False: "no", None: None}[example.is_answerable])

    def segments(self, query_ids: Sequence[str]) -> Segments:
        """The segments, as `derive_segments` says.

        Args:
            query_ids: of the examples, in the order in which they were added.
        """
        declared = {name: column for name, column in self._declared.items() if column is not None}
        for column in declared.values():
            column.add(None, self._n - len(column))
        derived = {name: column for name, column in self._derived.items() if name not in self._declared}
        coded = {name: column.build_column() for name, column in (declared | derived).items()}
        if "language" in derived:
            coded["language"] = _fill_languages(coded["language"])
        return Segments(query_ids, coded)


def derive_segments(examples: Iterable[Example]) -> Segments:
    """The declared segments, and language, query_length and answerable (see `Example.is_answerable`).

    The language is that of the query and the main reference together, since a short query alone tells little. Where
    they tell too little, it is the language of 80 % of the examples that tell theirs, if there are at least 5 of those.
    A declared column of one of these names wins. None where an example has no value. A column of many more values than
    `tidy_segments` keeps is left out.
    """
    rows, ids = SegmentCollector(), []
    for example in examples:
        rows.add_example(example)
        ids.append(example.query_id)
    return rows.segments(tuple(ids))


def _fill_languages(languages: CategoryColumn[str | None]) -> CategoryColumn[str | None]:
    """The languages, those that are not known decided by the others where one of them clearly dominates."""
    counts = {value: count for value, count in _count_values(languages).items() if value is not None and count}
    dominant = max(counts, key=lambda value: counts[value], default=None)
    if (
        dominant is None
        or sum(counts.values()) < MIN_SEGMENT_EXAMPLES
        or counts[dominant] < DOMINANT_LANGUAGE_SHARE * sum(counts.values())
    ):
        return languages
    return languages.rename_values([dominant if value is None else value for value in languages.values])


def classify_query_length(query: str) -> str:
    """Short (up to 6 words), medium, or long (from 16).

    >>> (classify_query_length("Refund policy?"),
    ...     classify_query_length("How long do I have to ask for a refund after buying?"))
    ('short', 'medium')
    """
    count = len(split_words(query))
    return "short" if count <= MAX_SHORT_WORDS else "long" if count >= MIN_LONG_WORDS else "medium"


def tidy_segments(segments: pl.DataFrame, among: Sequence[str] | None = None) -> pl.DataFrame:
    """The columns worth looking at, small values grouped.

    Two or more values with fewer than 5 examples each become "(other)"; a single one keeps its name. No value is
    "(none)". Left out: a column with more than 50 values or only one, and a derived one without two named values of
    at least 5 examples.

    Args:
        segments: a segment frame.
        among: ids of the examples to keep; None = all.
    """
    all_segments = Segments.of(segments)
    return (all_segments if among is None else all_segments.select_examples(among)).tidy_columns().to_frame()


def _tidy_column(name: str, column: CategoryColumn[str | None]) -> CategoryColumn[str | None] | None:
    """A column with its small values grouped; None where it is not worth looking at."""
    column = name_missing_values(column)
    counts = _count_values(column)
    if not 2 <= len(counts) <= MAX_SEGMENT_VALUES:
        return None
    small = {value for value, count in counts.items() if count < MIN_SEGMENT_EXAMPLES}
    if len(small) > 1:
        column = column.rename_values([OTHER if value in small else value for value in column.values])
        counts = _count_values(column)
    named_values = [
        value for value, count in counts.items() if count >= MIN_SEGMENT_EXAMPLES and value not in (OTHER, NONE)
    ]
    return column if len(counts) > 1 and (name not in DERIVED_COLUMNS or len(named_values) > 1) else None


def name_missing_values(column: CategoryColumn[str | None]) -> CategoryColumn[str | None]:
    """A column with a name for no value."""
    return column.rename_values([NONE if value is None else value for value in column.values])


def _count_values(column: CategoryColumn[str | None]) -> dict[str | None, int]:
    """Value -> how many."""
    return dict(zip(column.values, column.counts(), strict=True))


def summarize_segments(
    columns: ScoreColumns,
    metrics: Sequence[Metric],
    segments: pl.DataFrame,
    overall: Sequence[Summary],
    *,
    level: float = 0.95,
    errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
) -> dict[str, dict[str, tuple[Summary, ...]]]:
    """Column -> value -> summaries, the worst value first.

    Worst is by the headline metric that lies farthest on the bad side of the whole, measured in half-widths of its
    own interval: 1 means that the interval just reaches the whole's mean.

    Args:
        columns: the scores.
        metrics: what to summarise.
        segments: a tidy segment frame; examples that are not in it belong to no segment.
        overall: summaries over all examples, for the order.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.
    """
    cells = SegmentCells(columns.index.query_ids, Segments.of(segments), level, errors)
    for metric in metrics:
        metric_columns = columns.column(str(metric))
        cells.read(metric, None if metric_columns is None else merge_repeats(metric_columns))
    return cells.found(overall)


class SegmentCells:
    """Summaries per value of every segment column, made one metric at a time.

    Args:
        query_ids: the examples, by number.
        segments: tidy.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.
    """

    def __init__(
        self,
        query_ids: Sequence[str],
        segments: Segments,
        level: float = 0.95,
        errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:
        self._columns = segments.align_columns(query_ids)
        self._cells: dict[str, list[list[Summary]]] = {
            name: [[] for _ in column.values] for name, column in self._columns.items()
        }
        self._level, self._errors = level, errors

    def read(self, metric: Metric, examples: Columns | None) -> None:
        """Takes in a metric's scores, one entry an example."""
        import numpy as np

        for name, cells in self._cells.items():
            codes = None if examples is None else self._columns[name].codes[examples.query]
            for n, cell in enumerate(cells):
                segment_columns = None if examples is None else examples.take(np.flatnonzero(codes == n))
                cell.append(summarize_metric(metric, segment_columns, self._level, self._errors.get(str(metric))))

    def found(self, overall: Sequence[Summary]) -> dict[str, dict[str, tuple[Summary, ...]]]:
        """Column -> value -> summaries, the worst value first; see `summarize_segments`."""
        by_column: dict[str, dict[str, tuple[Summary, ...]]] = {}
        for column_name, column in self._columns.items():
            cells = zip(column.values, self._cells[column_name], strict=True)
            named_cells = [(name, cell) for name, cell in cells if name is not None]
            named_cells.sort(key=lambda pair: (-_compute_deficit(pair[1], overall), pair[0]))
            by_column[column_name] = {name: tuple(cell) for name, cell in named_cells}
        return by_column


def _compute_deficit(summaries: Sequence[Summary], overall: Sequence[Summary]) -> float:
    """The largest number of half-widths by which a headline metric lies on the bad side of the whole."""
    overall_by_metric = {summary.metric: summary for summary in overall}
    headline = [s for s in summaries if s.metric.partition("@")[0] in HEADLINE_METRICS]
    distances = [
        compute_shortfall(s, overall_by_metric[s.metric])
        for s in headline or summaries
        if s.metric in overall_by_metric
    ]
    return max((distance for distance in distances if distance is not None), default=-inf)


def compute_shortfall(segment: Summary, overall: Summary) -> float | None:
    """How far a segment lies on the bad side of the whole, in half-widths of its interval; None where unknown."""
    if segment.mean is None or segment.interval is None or overall.mean is None:
        return None
    if segment.kind == "amount" or segment.direction == "neither":
        return None
    gap = overall.mean - segment.mean if segment.direction == "higher" else segment.mean - overall.mean
    upward = (gap > 0) == (segment.direction == "higher")
    half_width = segment.interval.high - segment.mean if upward else segment.mean - segment.interval.low
    return gap / max(half_width, 1e-9)
