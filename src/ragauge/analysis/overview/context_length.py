"""Quality by the length of the context that the generator saw."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from ragauge.analysis.results.overview import LengthBand, MeanEstimate
from ragauge.analysis.scores.estimates import estimate
from ragauge.analysis.scores.gather import Visit
from ragauge.analysis.scores.values import Values
from ragauge.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TOKENS, CHARACTERS = "context_tokens", "context_characters"     # the metric, and what stands in for it
QUALITY = ("faithfulness", "answer_correctness", "answer_relevance")
QUARTERS = (0.25, 0.5, 0.75)


class LengthGatherer:
    """Takes in the characters of each context: sixteen bytes a response.

    Counting tokens is slow. So lengths are in tokens where the metric `context_tokens` was measured, else in characters
    (English prose has four or five to a token).
    """

    def __init__(self) -> None:
        self._places = array("q")
        self._characters = array("q")

    def add(self, visit: Visit) -> None:
        """Takes in a response; one without the texts of its passages is left out."""
        response = visit.response
        if response.error is not None or not response.texts_recorded:
            return
        self._places.append(visit.place)
        self._characters.append(sum(len(passage.text or "") for passage in response.passages or ()))

    def lengths(self, values: Values) -> Lengths:
        """The length of every context by place, NaN where not known, and what it is counted in."""
        import numpy as np

        if TOKENS in values:
            return Lengths(TOKENS, values.of(TOKENS))
        characters = np.full(len(values.index), np.nan)
        characters[np.array(self._places, dtype=np.int64)] = self._characters
        return Lengths(CHARACTERS, characters)


class Lengths(NamedTuple):
    """Lengths of contexts.

    Attributes:
        name: context_tokens or context_characters.
        of: shape (responses,), NaN = not known.
    """

    name: str
    of: npt.NDArray[np.float64]


def length_bands(values: Values, known: Lengths, level: float = 0.95) -> tuple[LengthBand, ...]:
    """Quarters of the responses by context length, the shortest first, each with the means of quality.

    Equal lengths stay together, so that quarters may differ in size, and fewer than four are left where many are
    equal. () where no length or no quality is known.

    Args:
        values: every metric's values.
        known: how long each context is.
        level: of the intervals.
    """
    import numpy as np

    shown = [metric for metric in values.metrics if metric.name() in QUALITY]
    places = np.flatnonzero(np.isfinite(known.of))
    if not places.size or not shown:
        return ()
    lengths, unit = known.of[places], known.name.removeprefix("context_")
    ends = np.unique(np.quantile(lengths, QUARTERS, method="inverted_cdf"))
    bands = np.searchsorted(ends, lengths, side="left")
    rows = []
    for band in np.unique(bands):
        mine = bands == band
        means = {str(metric): _mean(values, metric, places[mine], level) for metric in shown}
        low, high = int(lengths[mine].min()), int(lengths[mine].max())
        rows.append(LengthBand(low, high, int(mine.sum()), means, unit))
    return tuple(rows)


def _mean(values: Values, metric: Metric, places: npt.NDArray[np.intp], level: float) -> MeanEstimate:
    import numpy as np

    scores = values.of(str(metric))[places]
    scored = np.isfinite(scores)
    return estimate(
        scores[scored], places[scored], values.index, kind=metric.scale, bounds=metric.range, level=level
    )

