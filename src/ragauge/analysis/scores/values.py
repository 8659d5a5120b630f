"""Every metric's values, response by response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.analysis.scores.arrays import SCORED, Columns, ResponseIndex
from ragauge.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class Values:
    """The scored values of one metric after another.

    Attributes:
        index: the responses.
        metrics: those with a scored value, in the order read.
    """

    def __init__(self, index: ResponseIndex) -> None:
        self.index = index
        self.metrics: list[Metric] = []
        self._values: dict[str, Floats] = {}

    def read(self, metric: Metric, responses: Columns | None, examples: Columns | None = None) -> None:
        """Takes in a metric's scores, one entry a response."""
        del examples      # a value belongs to a response here
        if responses is not None and (responses.status == SCORED).any():
            values = self.of(str(metric))
            values[responses.place] = responses.value     # NaN unless scored
            self.metrics.append(metric)
            self._values[str(metric)] = values

    def __contains__(self, metric: str) -> bool:
        return metric in self._values

    def of(self, metric: str) -> Floats:
        """The metric's value of every response, NaN where it has none."""
        import numpy as np

        found = self._values.get(metric)
        return np.full(len(self.index), np.nan) if found is None else found

    def counted(self, metric: str) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The different values of a metric, ascending, and how many responses have each."""
        import numpy as np

        values = self._values[metric]
        return np.unique(values[~np.isnan(values)], return_counts=True)

    def at(self, place: int) -> dict[str, float]:
        """Printed name -> value of one response, scored metrics only."""
        found = {name: float(values[place]) for name, values in self._values.items()}
        return {name: value for name, value in found.items() if value == value}     # not NaN
