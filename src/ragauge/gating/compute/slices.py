"""Which examples of a run a rule looks at: all, those with a tag, and the values of its segments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.scores.results.scorecard import MIN_SEGMENT_EXAMPLES
from ragauge.scores.segments import NONE, Segments, tidy_segments

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Mask = npt.NDArray[np.bool_]


class Slices:
    """Masks over the examples of one index.

    Args:
        query_ids: the examples, by number.
        segments: query_id and a column a declared segment, null where an example has none; it may hold more examples.
        tagged: tag -> ids of the examples that have it.

    Attributes:
        query_ids: the examples, by number.
        every: the declared segments as they were given.
        tagged: tag -> ids of the examples that have it.
        few: column -> value -> its examples, of values with fewer than 5 in columns that are looked into unnamed.
        columns: the segments that a rule looks into when it names none: two values or more, and at most 50.
        left_out: declared columns that are not among these.
    """

    def __init__(self, query_ids: Sequence[str], segments: pl.DataFrame, tagged: Mapping[str, Collection[str]]) -> None:
        self.query_ids, self.tagged = tuple(query_ids), tagged
        self.every = segments
        self._tidy = tidy_segments(segments, among=query_ids)
        self.few = _list_small_values(Segments.of(segments).select_examples(self.query_ids))
        self.columns = tuple(self._tidy.columns[1:])
        self.left_out = tuple(name for name in segments.columns[1:] if name not in self.columns)

    def whole(self, tag: str = "") -> Mask:
        """All examples, or those with a tag."""
        import numpy as np

        if not tag:
            return np.ones(len(self.query_ids), dtype=bool)
        having = self.tagged[tag]
        return np.array([query_id in having for query_id in self.query_ids], dtype=bool)

    def parts(self, columns: Sequence[str] | None, tag: str = "") -> Iterator[tuple[str, str, Mask]]:
        """(column, value, its examples) of some columns in alphabetical order of values; None = all worth looking at.

        Of columns that are not named, small values are together in "(other)"; a named one is looked into as it is.
        """
        import numpy as np
        import polars as pl

        tag_mask = self.whole(tag)
        ids = pl.DataFrame({"query_id": self.query_ids}, schema={"query_id": pl.String})
        source = self._tidy if columns is None else self.every
        joined = ids.join(source, on="query_id", how="left", maintain_order="left")
        for column in self.columns if columns is None else columns:
            values = np.array(joined[column].cast(pl.String).fill_null(NONE).to_list(), dtype=object)
            for value in sorted(set(values)):
                yield column, value, tag_mask & (values == value)


def _list_small_values(segments: Segments) -> dict[str, dict[str, int]]:
    named = segments.named(segments.columns).items()
    few = {column: {value: n for value, n in values.items() if n < MIN_SEGMENT_EXAMPLES} for column, values in named}
    return {column: values for column, values in few.items() if values}


def combine_slices(new: Slices, base: Slices, named_columns: Collection[str] = ()) -> Slices:
    """The examples of two runs, all different, the first run's before the second's.

    Ids are this run's with "new " before them and the baseline's with "base ". Segments are those that both declare
    and those that are named: a value that one run lacks has no example there.
    """
    import polars as pl

    shared_columns = [name for name in new.every.columns[1:] if name in base.every.columns or name in named_columns]
    prefixed = [
        _prefix_slices(run_slices, which, shared_columns) for run_slices, which in ((new, "new"), (base, "base"))
    ]
    (ids, frame, tags), (base_ids, base_frame, base_tags) = prefixed
    tagged = {tag: tags[tag] | base_tags.get(tag, frozenset()) for tag in tags}
    return Slices((*ids, *base_ids), pl.concat([frame, base_frame], how="diagonal"), tagged)


def _prefix_slices(
    slices: Slices, which: str, shared_columns: Sequence[str]
) -> tuple[tuple[str, ...], pl.DataFrame, dict[str, frozenset[str]]]:
    import polars as pl

    column_names = ["query_id", *(name for name in shared_columns if name in slices.every.columns)]
    frame = slices.every.select(pl.col(column_names).cast(pl.String))
    frame = frame.with_columns(query_id=f"{which} " + pl.col("query_id"))
    tagged = {tag: frozenset(f"{which} {query_id}" for query_id in ids) for tag, ids in slices.tagged.items()}
    return tuple(f"{which} {query_id}" for query_id in slices.query_ids), frame, tagged
