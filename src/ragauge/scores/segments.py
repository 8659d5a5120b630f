"""Summaries per segment: declared columns, and those that the questions themselves give."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ragauge.core.example import Example
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns, ScoreColumns, by_example
from ragauge.scores.categories import CategoryCollector, CategoryColumn, narrow
from ragauge.scores.gather import Visit
from ragauge.scores.results.scorecard import Summary
from ragauge.scores.summarize import NO_ERRORS, summary
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.text.language import guess
from ragauge.text.tokens import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from ragauge.scores.arrays import Codes

BySegment = Mapping[str, Mapping[str, tuple[Summary, ...]]]

FEWEST = 5  # examples; smaller values are grouped
MOST_VALUES = 50  # a column with more is an identifier, not a segment
OTHER, NONE = "(other)", "(none)"
UNDETERMINED = "und"
DOMINANT = 0.8  # share of the examples whose language tells that make it the language of the others too
DERIVED = ("language", "query_length", "answerable")
SHORT, LONG = 6, 16  # words: up to 6 is short, from 16 is long
# these stand for their layer when values of a segment are put in order
HEADLINE = ("recall", "context_recall", "context_precision", "faithfulness", "answer_relevance", "answer_correctness")


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The segments of examples, a byte or two a column and example.

    Attributes:
        query_ids: the examples, by number.
        columns: name -> the value of every example, None where it has none.
    """

    query_ids: Sequence[str]
    columns: Mapping[str, CategoryColumn[str | None]]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Segments:
        """Reads a segment frame: query_id, and a column a segment."""
        import polars as pl

        columns = {name: CategoryColumn.of(frame[name].cast(pl.String)) for name in frame.columns if name != "query_id"}
        return cls(tuple(frame["query_id"]), columns)

    def frame(self) -> pl.DataFrame:
        """A row an example: query_id, and a column a segment, null where an example has no value."""
        import polars as pl

        ids = pl.Series("query_id", self.query_ids, dtype=pl.String)
        return pl.DataFrame([ids, *(column.series(name) for name, column in self.columns.items())])

    def only(self, query_ids: Sequence[str]) -> Segments:
        """Those of some examples, in the order in which they stand here."""
        import numpy as np

        if self.query_ids == query_ids:
            return self
        wanted = set(query_ids)
        kept = np.array([at for at, query_id in enumerate(self.query_ids) if query_id in wanted], dtype=np.int64)
        ids = tuple(self.query_ids[at] for at in kept)
        return Segments(ids, {name: column.take(kept) for name, column in self.columns.items()})

    def by_number(self, query_ids: Sequence[str]) -> Mapping[str, CategoryColumn[str | None]]:
        """The columns in the order of these examples; one that is not here has None."""
        import numpy as np

        if self.query_ids == query_ids:
            return self.columns
        place = {query_id: at for at, query_id in enumerate(self.query_ids)}
        at = np.array([place.get(query_id, len(place)) for query_id in query_ids], dtype=np.int64)
        found = {}
        for name, column in self.columns.items():
            values = (*column.values, None)
            codes = np.append(column.codes.astype(np.int64), len(column.values))[at]
            found[name] = CategoryColumn(values, narrow(codes, len(values))).renamed(values)
        return found

    def marked(self, query_ids: Sequence[str], numbers: Codes) -> npt.NDArray[np.bool_]:
        """Which of the examples here are among some of others.

        Args:
            query_ids: of the others.
            numbers: shape (n,), which of those.
        """
        import numpy as np

        found = np.zeros(len(self.query_ids), dtype=bool)
        if self.query_ids == query_ids:
            found[numbers] = True
        else:
            wanted = {query_ids[number] for number in numbers}
            found[:] = [query_id in wanted for query_id in self.query_ids]
        return found

    def tidy(self) -> Segments:
        """The columns worth looking at, small values grouped; see `tidy`."""
        found = {name: _tidied(name, column) for name, column in self.columns.items()}
        return Segments(self.query_ids, {name: column for name, column in found.items() if column is not None})

    def named(self, shown: Collection[str] = ()) -> dict[str, dict[str, int]]:
        """Column -> value -> its examples, of every named value however small.

        Left out are columns of more than 50 values, and derived ones that are not among those shown.
        """
        found = {}
        for name, column in self.columns.items():
            counts = {value: count for value, count in _counts(column).items() if value is not None and count}
            if 0 < len(counts) <= MOST_VALUES and (name not in DERIVED or name in shown):
                found[name] = counts
        return found


class SegmentRows:
    """Gathers what segments are made from; the examples themselves are not kept."""

    def __init__(self) -> None:
        self._n = 0
        self._declared: dict[str, CategoryCollector[str | None] | None] = {}  # None = it has too many values
        self._derived: dict[str, CategoryCollector[str | None]] = {name: CategoryCollector() for name in DERIVED}

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
                if column.different > MOST_VALUES + 1:
                    self._declared[name] = None  # an identifier: its values are as many as the examples
        self._n += 1
        language = guess(" ".join((example.query, *example.references[:1])))
        self._derived["language"].add(None if language == UNDETERMINED else language)
        self._derived["query_length"].add(query_length(example.query))
        self._derived["answerable"].add({True: "yes", False: "no", None: None}[example.is_answerable])

    def segments(self, query_ids: Sequence[str]) -> Segments:
        """The segments, as `segments_of` says.

        Args:
            query_ids: of the examples, in the order in which they were added.
        """
        declared = {name: column for name, column in self._declared.items() if column is not None}
        for column in declared.values():
            column.add(None, self._n - len(column))
        derived = {name: column for name, column in self._derived.items() if name not in self._declared}
        coded = {name: column.coded() for name, column in (declared | derived).items()}
        if "language" in derived:
            coded["language"] = _decided(coded["language"])
        return Segments(query_ids, coded)


def segments_of(examples: Iterable[Example]) -> Segments:
    """The declared segments, and language, query_length and answerable (see `Example.is_answerable`).

    The language is that of the query and the main reference together, since a short query alone tells little. Where
    they tell too little, it is the language of 80 % of the examples that tell theirs, if there are at least 5 of those.
    A declared column of one of these names wins. None where an example has no value. A column of many more values than
    `tidy` keeps is left out.
    """
    rows, ids = SegmentRows(), []
    for example in examples:
        rows.add_example(example)
        ids.append(example.query_id)
    return rows.segments(tuple(ids))


def _decided(languages: CategoryColumn[str | None]) -> CategoryColumn[str | None]:
    """The languages, those that are not known decided by the others where one of them clearly dominates."""
    counts = {value: count for value, count in _counts(languages).items() if value is not None and count}
    most = max(counts, key=lambda value: counts[value], default=None)
    if most is None or sum(counts.values()) < FEWEST or counts[most] < DOMINANT * sum(counts.values()):
        return languages
    return languages.renamed([most if value is None else value for value in languages.values])


def query_length(query: str) -> str:
    """Short (up to 6 words), medium, or long (from 16).

    >>> query_length("Refund policy?"), query_length("How long do I have to ask for a refund after buying?")
    ('short', 'medium')
    """
    count = len(words(query))
    return "short" if count <= SHORT else "long" if count >= LONG else "medium"


def tidy(segments: pl.DataFrame, among: Sequence[str] | None = None) -> pl.DataFrame:
    """The columns worth looking at, small values grouped.

    Two or more values with fewer than 5 examples each become "(other)"; a single one keeps its name. No value is
    "(none)". Left out: a column with more than 50 values or only one, and a derived one without two named values of
    at least 5 examples.

    Args:
        segments: a segment frame.
        among: ids of the examples to keep; None = all.
    """
    found = Segments.of(segments)
    return (found if among is None else found.only(among)).tidy().frame()


def _tidied(name: str, column: CategoryColumn[str | None]) -> CategoryColumn[str | None] | None:
    """A column with its small values grouped; None where it is not worth looking at."""
    column = without_gaps(column)
    counts = _counts(column)
    if not 2 <= len(counts) <= MOST_VALUES:
        return None
    small = {value for value, count in counts.items() if count < FEWEST}
    if len(small) > 1:
        column = column.renamed([OTHER if value in small else value for value in column.values])
        counts = _counts(column)
    named = [value for value, count in counts.items() if count >= FEWEST and value not in (OTHER, NONE)]
    return column if len(counts) > 1 and (name not in DERIVED or len(named) > 1) else None


def without_gaps(column: CategoryColumn[str | None]) -> CategoryColumn[str | None]:
    """A column with a name for no value."""
    return column.renamed([NONE if value is None else value for value in column.values])


def _counts(column: CategoryColumn[str | None]) -> dict[str | None, int]:
    """Value -> how many."""
    return dict(zip(column.values, column.counts(), strict=True))


def by_segment(
    columns: ScoreColumns,
    metrics: Sequence[Metric],
    segments: pl.DataFrame,
    whole: Sequence[Summary],
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
        whole: summaries over all examples, for the order.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.
    """
    cells = SegmentCells(columns.index.query_ids, Segments.of(segments), level, errors)
    for metric in metrics:
        one = columns.column(str(metric))
        cells.read(metric, None if one is None else by_example(one))
    return cells.found(whole)


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
        self._columns = segments.by_number(query_ids)
        self._cells: dict[str, list[list[Summary]]] = {
            name: [[] for _ in column.values] for name, column in self._columns.items()
        }
        self._level, self._errors = level, errors

    def read(self, metric: Metric, examples: Columns | None) -> None:
        """Takes in a metric's scores, one entry an example."""
        import numpy as np

        for name, cells in self._cells.items():
            mine = None if examples is None else self._columns[name].codes[examples.query]
            for n, cell in enumerate(cells):
                part = None if examples is None else examples.take(np.flatnonzero(mine == n))
                cell.append(summary(metric, part, self._level, self._errors.get(str(metric))))

    def found(self, whole: Sequence[Summary]) -> dict[str, dict[str, tuple[Summary, ...]]]:
        """Column -> value -> summaries, the worst value first; see `by_segment`."""
        found: dict[str, dict[str, tuple[Summary, ...]]] = {}
        for name_of, column in self._columns.items():
            cells = zip(column.values, self._cells[name_of], strict=True)
            known = [(name, cell) for name, cell in cells if name is not None]
            known.sort(key=lambda pair: (-_deficit(pair[1], whole), pair[0]))
            found[name_of] = {name: tuple(cell) for name, cell in known}
        return found


def _deficit(summaries: Sequence[Summary], whole: Sequence[Summary]) -> float:
    """The largest number of half-widths by which a headline metric lies on the bad side of the whole."""
    of_whole = {summary.metric: summary for summary in whole}
    chosen = [s for s in summaries if s.metric.partition("@")[0] in HEADLINE]
    distances = [shortfall(s, of_whole[s.metric]) for s in chosen or summaries if s.metric in of_whole]
    return max((distance for distance in distances if distance is not None), default=-inf)


def shortfall(part: Summary, whole: Summary) -> float | None:
    """How far a segment lies on the bad side of the whole, in half-widths of its interval; None where unknown."""
    if part.mean is None or part.interval is None or whole.mean is None:
        return None
    if part.kind == "amount" or part.direction == "neither":
        return None
    gap = whole.mean - part.mean if part.direction == "higher" else part.mean - whole.mean
    upward = (gap > 0) == (part.direction == "higher")
    reach = part.interval.high - part.mean if upward else part.mean - part.interval.low
    return gap / max(reach, 1e-9)
