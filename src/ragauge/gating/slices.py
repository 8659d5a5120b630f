"""Which examples of a run a rule looks at: all, those with a tag, and the values of its segments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.analysis.scores.segments import NONE, tidy

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
        columns: the segments that a rule looks into when it names none: two values or more, and at most 50.
        left_out: declared columns that are not among these.
    """

    def __init__(self, query_ids: Sequence[str], segments: pl.DataFrame, tagged: Mapping[str, Collection[str]]) -> None:
        self.query_ids, self._tagged = tuple(query_ids), tagged
        self._every = segments
        self._tidy = tidy(segments, among=query_ids)
        self.columns = tuple(self._tidy.columns[1:])
        self.left_out = tuple(name for name in segments.columns[1:] if name not in self.columns)

    def whole(self, tag: str = "") -> Mask:
        """All examples, or those with a tag."""
        import numpy as np

        if not tag:
            return np.ones(len(self.query_ids), dtype=bool)
        having = self._tagged[tag]
        return np.array([query_id in having for query_id in self.query_ids], dtype=bool)

    def parts(self, columns: Sequence[str] | None, tag: str = "") -> Iterator[tuple[str, str, Mask]]:
        """(column, value, its examples) of some columns in alphabetical order of values; None = all worth looking at.

        Of columns that are not named, small values are together in "(other)"; a named one is looked into as it is.
        """
        import numpy as np
        import polars as pl

        kept = self.whole(tag)
        ids = pl.DataFrame({"query_id": self.query_ids}, schema={"query_id": pl.String})
        source = self._tidy if columns is None else self._every
        mine = ids.join(source, on="query_id", how="left", maintain_order="left")
        for column in self.columns if columns is None else columns:
            values = np.array(mine[column].cast(pl.String).fill_null(NONE).to_list(), dtype=object)
            for value in sorted(set(values)):
                yield column, value, kept & (values == value)
