"""What a set can show: the least change of a metric that a comparison of two runs on it sees, and what more takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import SCORED, Columns
from ragauge.scores.estimation import ScoreSample, detectable_difference, examples_to_detect
from ragauge.scores.target_difference import WantedChange

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.scores.categories import CategoryColumn

FEWEST = 5  # examples of a segment; smaller ones are left out


@dataclass(frozen=True, slots=True)
class DetectableChange:
    """What a set can show of a metric, in all or in one segment.

    Attributes:
        metric: printed name.
        segment: column; "" = all examples.
        value: of the column.
        n: scored examples, or pairs.
        mean: of the run.
        detectable: the least true change that 80 of 100 comparisons see; None where nothing tells how scores vary.
        wanted: the change that is to be seen; None = none is.
        needed: examples that it takes in all; None where that is not known.
    """

    metric: str
    segment: str
    value: str
    n: int
    mean: float
    detectable: float | None
    wanted: float | None = None
    needed: int | None = None

    @property
    def more(self) -> int | None:
        """Examples still needed, 0 where the set has enough."""
        return None if self.needed is None else max(0, self.needed - self.n)


Sides = tuple[ScoreSample, ScoreSample]


def of_one_run(metric: Metric, examples: Columns, rows: npt.NDArray[np.bool_] | None = None) -> Sides:
    """The scores of a run in place of the differences of two: these spread alike where two runs correlate at one half.

    Args:
        metric: whose scores.
        examples: one entry an example.
        rows: shape (examples,), which of them; None = all.
    """
    import numpy as np

    kept = examples.status == SCORED
    if rows is not None:
        kept = kept & rows[examples.query]
    values = examples.value[kept]
    weight = None if examples.weight is None else examples.weight[kept]
    middle = np.full(values.size, np.average(values, weights=weight) if values.size else 0.0)
    cluster = None if examples.cluster is None else examples.cluster[kept]
    return ScoreSample.pair(metric, values, middle, weight, cluster)


def of_pairs(pairs: Pairs, rows: npt.NDArray[np.bool_] | None = None) -> Sides:
    """Two runs' scores, as `compare` holds them against each other; `rows` as of `of_one_run`."""
    part = pairs if rows is None else pairs.within(rows)
    return ScoreSample.pair(part.metric, part.new, part.base, part.weight, part.cluster)


def by_segment(columns: Mapping[str, CategoryColumn[str | None]]) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """(column, value, which examples are in it) of every value of tidy segments."""
    for name, column in columns.items():
        for code, value in enumerate(column.values):
            if value is not None:
                yield name, value, column.codes == code


def detectable_change(
    metric: Metric, sides: Sides, wanted: WantedChange | None = None, segment: tuple[str, str] = ("", "")
) -> DetectableChange | None:
    """What such samples can show; None of fewer than 5 examples.

    Args:
        metric: whose scores.
        sides: of two runs (`of_pairs`), or of one (`of_one_run`).
        wanted: the change that is to be seen.
        segment: column and value that the samples are of.
    """
    import numpy as np

    new, base = sides
    values = np.asarray(new.values)
    if values.size < FEWEST:
        return None
    mean = float(np.average(values, weights=new.weights))
    effect = wanted.of(mean) if wanted is not None else 0.0
    return DetectableChange(
        str(metric),
        *segment,
        int(values.size),
        mean,
        detectable_difference(new, base),
        effect if wanted is not None else None,
        examples_to_detect(effect, new, base) if effect > 0 else None,
    )
