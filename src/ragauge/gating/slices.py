"""Which examples of a run a rule looks at: all, those with a tag, and the values of its segments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.analysis.scores.segments import FEWEST, NONE, Segments, tidy

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
        self._tidy = tidy(segments, among=query_ids)
        self.few = _few(Segments.of(segments).only(self.query_ids))
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

        kept = self.whole(tag)
        ids = pl.DataFrame({"query_id": self.query_ids}, schema={"query_id": pl.String})
        source = self._tidy if columns is None else self.every
        mine = ids.join(source, on="query_id", how="left", maintain_order="left")
        for column in self.columns if columns is None else columns:
            values = np.array(mine[column].cast(pl.String).fill_null(NONE).to_list(), dtype=object)
            for value in sorted(set(values)):
                yield column, value, kept & (values == value)


def _few(segments: Segments) -> dict[str, dict[str, int]]:
    found = {}
    for column, values in segments.named(segments.columns).items():
        if small := {value: n for value, n in values.items() if n < FEWEST}:
            found[column] = small
    return found


def together(new: Slices, base: Slices, named: Collection[str] = ()) -> Slices:
    """The examples of two runs, all different, the first run's before the second's.

    Ids are this run's with "new " before them and the baseline's with "base ". Segments are those that both declare
    and those that are named: a value that one run lacks has no example there.
    """
    import polars as pl

    kept = [name for name in new.every.columns[1:] if name in base.every.columns or name in named]
    sides = [_of_side(side, which, kept) for side, which in ((new, "new"), (base, "base"))]
    (ids, frame, tags), (base_ids, base_frame, base_tags) = sides
    tagged = {tag: tags[tag] | base_tags.get(tag, frozenset()) for tag in tags}
    return Slices((*ids, *base_ids), pl.concat([frame, base_frame], how="diagonal"), tagged)


def _of_side(
    slices: Slices, which: str, kept: Sequence[str]
) -> tuple[tuple[str, ...], pl.DataFrame, dict[str, frozenset[str]]]:
    import polars as pl

    wanted = ["query_id", *(name for name in kept if name in slices.every.columns)]
    frame = slices.every.select(pl.col(wanted).cast(pl.String))
    frame = frame.with_columns(query_id=f"{which} " + pl.col("query_id"))
    tagged = {tag: frozenset(f"{which} {one}" for one in ids) for tag, ids in slices.tagged.items()}
    return tuple(f"{which} {one}" for one in slices.query_ids), frame, tagged
