"""Summaries per segment: declared columns, and those that the questions themselves give."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from ragauge.analysis.results.scorecard import Summary
from ragauge.analysis.scores.arrays import Columns, ScoreColumns, by_example, numbered
from ragauge.analysis.scores.gather import Visit
from ragauge.analysis.scores.summarize import summary
from ragauge.data.example import Example
from ragauge.metrics.base import Metric
from ragauge.text.language import guess
from ragauge.text.tokens import words

if TYPE_CHECKING:
    import polars as pl

BySegment = Mapping[str, Mapping[str, tuple[Summary, ...]]]

FEWEST = 5          # examples; smaller values are grouped
MOST_VALUES = 50    # a column with more is an identifier, not a segment
OTHER, NONE = "(other)", "(none)"
UNDETERMINED = "und"
DERIVED = ("language", "query_length", "answerable")
SHORT, LONG = 6, 16     # words: up to 6 is short, from 16 is long
# these stand for their layer when values of a segment are put in order
HEADLINE = (
    "recall", "context_recall", "context_precision", "faithfulness", "answer_relevance", "answer_correctness",
)     # fmt: skip


class Labels:
    """One label an example, kept as the number of its value: four bytes each, however long the words are."""

    def __init__(self, skipped: int = 0) -> None:
        self._numbers: dict[str, int] = {}
        self._labels = array("i", [-1]) * skipped

    def add(self, value: str | None) -> None:
        """The next example's label; None = it has none."""
        self._labels.append(-1 if value is None else self._numbers.setdefault(value, len(self._numbers)))

    def fill(self, n: int) -> None:
        """Makes it n examples: those that were not added have none."""
        self._labels.extend([-1] * (n - len(self._labels)))

    def series(self, name: str) -> pl.Series:
        """The labels in order, null where there is none."""
        import polars as pl

        numbers = pl.Series(self._labels, dtype=pl.Int32)
        places = numbers.to_frame("place").select(pl.when(pl.col("place") >= 0).then(pl.col("place")))["place"]
        return pl.Series(name, [*self._numbers, None], dtype=pl.String).gather(places)


class SegmentRows:
    """Gathers what segments are made from; the examples themselves are not kept."""

    def __init__(self) -> None:
        self._n = 0
        self._declared: dict[str, Labels] = {}
        self._derived = {name: Labels() for name in DERIVED}

    def add(self, visit: Visit) -> None:
        """Takes in the example of a response, once where it has several."""
        if visit.query == self._n:
            self.add_example(visit.example)

    def add_example(self, example: Example) -> None:
        """Takes in one example."""
        for name, value in example.segments.items():
            labels = self._declared.setdefault(name, Labels(self._n))
            labels.fill(self._n)
            labels.add(value)
        self._n += 1
        language = guess(" ".join((example.query, *example.references[:1])))
        self._derived["language"].add(None if language == UNDETERMINED else language)
        self._derived["query_length"].add(query_length(example.query))
        self._derived["answerable"].add({True: "yes", False: "no", None: None}[example.answerable])

    def frame(self, query_ids: Sequence[str]) -> pl.DataFrame:
        """One row an example, as `segment_frame` says.

        Args:
            query_ids: of the examples, in the order in which they were added.
        """
        import polars as pl

        for labels in self._declared.values():
            labels.fill(self._n)
        columns = {**self._declared, **{name: one for name, one in self._derived.items() if name not in self._declared}}
        ids = pl.Series("query_id", query_ids, dtype=pl.String)
        return pl.DataFrame([ids, *(labels.series(name) for name, labels in columns.items())])


def segment_frame(examples: Iterable[Example]) -> pl.DataFrame:
    """One row an example: query_id, the declared columns, and language, query_length and answerable.

    The language is that of the query and the main reference together, since a short query alone tells little.
    A declared column of one of these names wins. Null where an example has no value.
    """
    rows, ids = SegmentRows(), []
    for example in examples:
        rows.add_example(example)
        ids.append(example.query_id)
    return rows.frame(ids)


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
    import polars as pl

    if among is not None:
        segments = segments.filter(pl.col("query_id").is_in(list(among)))
    kept = {"query_id": segments["query_id"]}
    for name in segments.columns:
        if name == "query_id" or segments[name].null_count() == segments.height:
            continue
        column = segments[name].cast(pl.String).fill_null(NONE)
        counts = _counts(column)
        if not 2 <= len(counts) <= MOST_VALUES:
            continue
        small = [value for value, count in counts.items() if count < FEWEST]
        if len(small) > 1:
            column = column.replace(small, OTHER)
            counts = _counts(column)
        named = [value for value, count in counts.items() if count >= FEWEST and value not in (OTHER, NONE)]
        if len(counts) > 1 and (name not in DERIVED or len(named) > 1):
            kept[name] = column.alias(name)
    return pl.DataFrame(kept)


def _counts(column: pl.Series) -> dict[str, int]:
    """Value -> how many, in order of appearance."""
    import polars as pl

    return dict(column.to_frame("value").group_by("value", maintain_order=True).agg(pl.len()).iter_rows())


def by_segment(
    columns: ScoreColumns,
    metrics: Sequence[Metric],
    segments: pl.DataFrame,
    whole: Sequence[Summary],
    *,
    level: float = 0.95,
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
    """
    cells = SegmentCells(columns.index.query_ids, segments, level)
    for metric in metrics:
        one = columns.column(str(metric))
        cells.read(metric, None if one is None else by_example(one))
    return cells.found(whole)


class SegmentCells:
    """Summaries per value of every segment column, made one metric at a time.

    Args:
        query_ids: the examples, by number.
        segments: a tidy segment frame.
        level: of the intervals.
    """

    def __init__(self, query_ids: Sequence[str], segments: pl.DataFrame, level: float = 0.95) -> None:
        import numpy as np
        import polars as pl

        queries = pl.DataFrame({"query_id": query_ids}, schema={"query_id": pl.String})
        mine = queries.join(segments, on="query_id", how="left", maintain_order="left")
        coded = {name: numbered(mine[name]) for name in mine.columns[1:]}
        # small integers are sorted by radix, which is quick
        self._codes = {name: codes.to_numpy().astype(np.int16) for name, (_, codes) in coded.items()}
        self._names: dict[str, tuple[str | None, ...]] = {name: names for name, (names, _) in coded.items()}
        self._cells: dict[str, list[list[Summary]]] = {name: [[] for _ in of] for name, of in self._names.items()}
        self._level = level

    def read(self, metric: Metric, examples: Columns | None) -> None:
        """Takes in a metric's scores, one entry an example."""
        import numpy as np

        for name, cells in self._cells.items():
            if examples is None:
                for cell in cells:
                    cell.append(summary(metric, None))
                continue
            mine = self._codes[name][examples.query]
            order = np.argsort(mine, kind="stable")
            ordered, starts = examples.take(order), np.searchsorted(mine[order], np.arange(len(cells) + 1))
            for n, cell in enumerate(cells):
                part = ordered.take(slice(int(starts[n]), int(starts[n + 1])))
                cell.append(summary(metric, part, self._level))

    def found(self, whole: Sequence[Summary]) -> dict[str, dict[str, tuple[Summary, ...]]]:
        """Column -> value -> summaries, the worst value first; see `by_segment`."""
        found: dict[str, dict[str, tuple[Summary, ...]]] = {}
        for column, names in self._names.items():
            cells = zip(names, self._cells[column], strict=True)
            known = [(name, cell) for name, cell in cells if name is not None]
            known.sort(key=lambda pair: (-_deficit(pair[1], whole), pair[0]))
            found[column] = {name: tuple(cell) for name, cell in known}
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
