"""What a set can show: the least change of a metric that a comparison of two runs on it sees, and what more takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import SCORED, Columns
from ragauge.scores.estimation import ScoreSample, estimate_examples_to_detect, find_detectable_difference
from ragauge.scores.target_difference import TargetDifference

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.scores.categories import CategoryColumn

MIN_SEGMENT_EXAMPLES = 5  # examples of a segment; smaller ones are left out


@dataclass(frozen=True, slots=True)
class DetectableChange:
    """What a set can show of a metric, in all or in one segment."""

    metric: str  #: printed name.
    segment: str  #: column; "" = all examples.
    value: str  #: of the column.
    n: int  #: scored examples, or pairs.
    mean: float  #: of the run.
    #: the least true change that 80 of 100 comparisons see; None where nothing tells how scores vary.
    detectable: float | None
    wanted: float | None = None  #: the change that is to be seen; None = none is.
    needed: int | None = None  #: examples that it takes in all; None where that is not known.

    @property
    def n_missing(self) -> int | None:
        """Examples still needed, 0 where the set has enough."""
        return None if self.needed is None else max(0, self.needed - self.n)


SamplePair = tuple[ScoreSample, ScoreSample]


def build_run_samples(metric: Metric, examples: Columns, rows: npt.NDArray[np.bool_] | None = None) -> SamplePair:
    """The scores of a run in place of the differences of two: these spread alike where two runs correlate at one half.

    Args:
        metric: whose scores.
        examples: one entry an example.
        rows: shape (examples,), which of them; None = all.
    """
    import numpy as np

    scored = examples.status == SCORED
    if rows is not None:
        scored = scored & rows[examples.query]
    values = examples.value[scored]
    weight = None if examples.weight is None else examples.weight[scored]
    middle = np.full(values.size, np.average(values, weights=weight) if values.size else 0.0)
    cluster = None if examples.cluster is None else examples.cluster[scored]
    return ScoreSample.from_pairs(metric, values, middle, weight, cluster)


def build_pair_samples(pairs: Pairs, rows: npt.NDArray[np.bool_] | None = None) -> SamplePair:
    """Two runs' scores, as `compare` holds them against each other; `rows` as of `build_run_samples`."""
    selected = pairs if rows is None else pairs.select_examples(rows)
    return ScoreSample.from_pairs(selected.metric, selected.new, selected.base, selected.weight, selected.cluster)


def iterate_segments(
    columns: Mapping[str, CategoryColumn[str | None]],
) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """(column, value, which examples are in it) of every value of tidy segments."""
    for name, column in columns.items():
        for code, value in enumerate(column.values):
            if value is not None:
                yield name, value, column.codes == code


def compute_detectable_change(
    metric: Metric, samples: SamplePair, target: TargetDifference | None = None, segment: tuple[str, str] = ("", "")
) -> DetectableChange | None:
    """What such samples can show; None of fewer than 5 examples.

    Args:
        metric: whose scores.
        samples: of two runs (`build_pair_samples`), or of one (`build_run_samples`).
        target: the change that is to be seen.
        segment: column and value that the samples are of.
    """
    import numpy as np

    new, base = samples
    values = np.asarray(new.values)
    if values.size < MIN_SEGMENT_EXAMPLES:
        return None
    mean = float(np.average(values, weights=new.weights))
    effect = target.of(mean) if target is not None else 0.0
    return DetectableChange(
        str(metric),
        *segment,
        int(values.size),
        mean,
        find_detectable_difference(new, base),
        effect if target is not None else None,
        estimate_examples_to_detect(effect, new, base) if effect > 0 else None,
    )
