"""Summaries per segment: declared columns, and those that the questions themselves give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from ragauge.analysis.arrays import ScoreArrays, numbered
from ragauge.analysis.scorecard import Summary
from ragauge.analysis.summarize import summary
from ragauge.data.example import Example
from ragauge.metrics.base import Metric
from ragauge.text.language import guess
from ragauge.text.tokens import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
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


class SegmentRows:
    """Gathers what segments are made from, one example at a time; the examples themselves are not kept."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._declared: list[Mapping[str, str]] = []
        self._language: list[str | None] = []
        self._length: list[str | None] = []
        self._answerable: list[str | None] = []

    def add(self, example: Example) -> None:
        """Takes in one example."""
        self._ids.append(example.query_id)
        self._declared.append(example.segments)
        language = guess(" ".join((example.query, *example.references[:1])))
        self._language.append(None if language == UNDETERMINED else language)
        self._length.append(query_length(example.query))
        self._answerable.append({True: "yes", False: "no", None: None}[example.answerable])

    def frame(self) -> pl.DataFrame:
        """One row an example, as `segment_frame` says."""
        import polars as pl

        names = dict.fromkeys(column for segments in self._declared for column in segments)
        columns = {name: [segments.get(name) for segments in self._declared] for name in names}
        derived = {"language": self._language, "query_length": self._length, "answerable": self._answerable}
        columns |= {name: values for name, values in derived.items() if name not in names}
        schema = dict.fromkeys(("query_id", *columns), pl.String)
        return pl.DataFrame({"query_id": self._ids, **columns}, schema=schema)


def segment_frame(examples: Iterable[Example]) -> pl.DataFrame:
    """One row an example: query_id, the declared columns, and language, query_length and answerable.

    The language is that of the query and the main reference together, since a short query alone tells little.
    A declared column of one of these names wins. Null where an example has no value.
    """
    rows = SegmentRows()
    for example in examples:
        rows.add(example)
    return rows.frame()


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
        counts = Counter(column.to_list())
        if not 2 <= len(counts) <= MOST_VALUES:
            continue
        small = [value for value, count in counts.items() if count < FEWEST]
        if len(small) > 1:
            column = column.replace(small, OTHER)
            counts = Counter(column.to_list())
        named = [value for value, count in counts.items() if count >= FEWEST and value not in (OTHER, NONE)]
        if len(counts) > 1 and (name not in DERIVED or len(named) > 1):
            kept[name] = column.alias(name)
    return pl.DataFrame(kept)


def by_segment(
    arrays: ScoreArrays,
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
        arrays: the scores.
        metrics: what to summarise.
        segments: a tidy segment frame; examples that are not in it belong to no segment.
        whole: summaries over all examples, for the order.
        level: of the intervals.
    """
    import polars as pl

    queries = pl.DataFrame({"query_id": arrays.query_ids}, schema={"query_id": pl.String})
    mine = queries.join(segments, on="query_id", how="left", maintain_order="left")
    found: dict[str, dict[str, tuple[Summary, ...]]] = {}
    for column in mine.columns[1:]:
        names, codes = numbered(mine[column])
        cells = _column(arrays, metrics, codes.to_numpy(), len(names), level)
        known = [(name, cell) for name, cell in zip(names, cells, strict=True) if name is not None]
        known.sort(key=lambda pair: (-_deficit(pair[1], whole), pair[0]))
        found[column] = {name: tuple(cell) for name, cell in known}
    return found


def _column(
    arrays: ScoreArrays, metrics: Sequence[Metric], codes: npt.NDArray[np.int64], n_values: int, level: float
) -> list[list[Summary]]:
    """Per value of one segment column, the summaries of all metrics."""
    import numpy as np

    cells: list[list[Summary]] = [[] for _ in range(n_values)]
    for metric in metrics:
        columns = arrays.columns.get(str(metric))
        if columns is None:
            for cell in cells:
                cell.append(summary(metric, None, ()))
            continue
        mine = codes[columns.query].astype(np.int16)     # sorted by radix, which is quick
        order = np.argsort(mine, kind="stable")
        ordered, starts = columns.take(order), np.searchsorted(mine[order], np.arange(n_values + 1))
        for n, cell in enumerate(cells):
            part = ordered.take(slice(int(starts[n]), int(starts[n + 1])))
            cell.append(summary(metric, part, arrays.reasons, level))
    return cells


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
