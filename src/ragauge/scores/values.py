"""Every metric's values, response by response, in a byte or two each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import SCORED, Columns, ResponseIndex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class MetricValues:
    """The scored values of one metric after another, kept exactly.

    A metric has few different values, so what is kept is the list of them and, for each response, the number of its
    own in that list: one byte where there are fewer than 256, two below 65,536.

    Attributes:
        index: the responses.
        metrics: those with a scored value, in the order read.
    """

    def __init__(self, index: ResponseIndex) -> None:
        self.index = index
        self.metrics: list[Metric] = []
        self._found: dict[str, tuple[Floats, npt.NDArray[np.unsignedinteger]]] = {}

    def read(self, metric: Metric, responses: Columns | None, examples: Columns | None = None) -> None:
        """Takes in a metric's scores, one entry a response."""
        import numpy as np

        del examples  # a value belongs to a response here
        if responses is None:
            return
        scored = responses.status == SCORED
        different, numbers = np.unique(responses.value[scored], return_inverse=True)
        if different.size:
            codes = np.full(len(self.index), different.size, dtype=np.min_scalar_type(different.size))
            codes[responses.place[scored]] = numbers
            self.metrics.append(metric)
            self._found[str(metric)] = different, codes

    def __contains__(self, metric: str) -> bool:
        return metric in self._found

    def of(self, metric: str) -> Floats:
        """The metric's value of every response, NaN where it has none."""
        import numpy as np

        if metric not in self._found:
            return np.full(len(self.index), np.nan)
        different, codes = self._found[metric]
        return np.asarray(np.append(different, np.nan)[codes])

    def counted(self, metric: str) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The different values of a metric, ascending, and how many responses have each."""
        import numpy as np

        different, codes = self._found[metric]
        return different, np.bincount(codes, minlength=different.size + 1)[:-1]

    def at(self, position: int) -> dict[str, float]:
        """Printed name -> value of one response, scored metrics only."""
        values = {}
        for name, (different, codes) in self._found.items():
            number = int(codes[position])
            if number < different.size:
                values[name] = float(different[number])
        return values
