"""Quality by the length of the context that the generator saw."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.analysis.results.overview import Estimate, LengthBand
from ragauge.analysis.scores.estimates import estimate
from ragauge.analysis.scores.gather import Visit
from ragauge.analysis.scores.values import Values
from ragauge.data.response import Passage
from ragauge.metrics.base import Metric
from ragauge.text.count import count

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MEASURED = "context_tokens"
QUALITY = ("faithfulness", "answer_correctness", "answer_relevance")
QUARTERS = (0.25, 0.5, 0.75)
MOST_COUNTED = 2_500        # responses whose tokens are counted here
MOST_CHARACTERS = 1_000     # of a context that are counted; a longer one is reckoned up from them


class LengthGatherer:
    """Takes in the tokens of each context: eight bytes a response.

    Counting tokens is slow, so a context is counted here only where the metric `context_tokens` was not measured, for
    2,500 responses drawn by a hash of their ids, and a context of more than 1,000 characters from the middles of its
    passages: over a thousand words or so that is right to about 7 % (standard deviation; English prose).

    Args:
        responses: how many there are; decides how many are drawn.
        measured: the metric was measured: nothing needs to be counted.
    """

    def __init__(self, responses: int, *, measured: bool = False) -> None:
        self._drawn = 0.0 if measured else min(1.0, MOST_COUNTED / max(1, responses))
        self._places = array("i")
        self._tokens = array("i")

    def add(self, visit: Visit) -> None:
        """Takes in a response; one without the texts of its passages is left out."""
        response = visit.response
        if response.error is not None or not response.texts_recorded:
            return
        if self._drawn < 1 and _chance(response.query_id, response.repeat) >= self._drawn:
            return
        self._places.append(visit.place)
        self._tokens.append(about(response.passages or ()))

    def tokens(self, values: Values) -> npt.NDArray[np.float64]:
        """Tokens of every context by place, NaN where not known: as measured, else as counted here."""
        import numpy as np

        if MEASURED in values:
            return values.of(MEASURED)
        found = np.full(len(values.index), np.nan)
        found[np.array(self._places, dtype=np.int64)] = self._tokens
        return found


def about(passages: Sequence[Passage]) -> int:
    """Tokens of some passages; those of a long context are reckoned up from the middle of each.

    >>> about([Passage("a#1", "a", "hello world"), Passage("b#1", "b", "hello")])
    3
    """
    texts = [passage.text for passage in passages if passage.text]
    whole = sum(map(len, texts))
    if whole <= MOST_CHARACTERS:
        return sum(map(count, texts))
    most = max(1, MOST_CHARACTERS // len(texts))
    parts = [middle(text, most) for text in texts]      # the same of a passage wherever it comes back: counted once
    return round(sum(map(count, parts)) * whole / sum(map(len, parts)))


def middle(text: str, most: int) -> str:
    """The middle of a text, in whole words where it has spaces.

    >>> middle("one two three four five", 12), middle("one", 12)
    (' three', 'one')
    """
    if len(text) <= most:
        return text
    start = (len(text) - most) // 2
    part = text[start : start + most]
    first, last = part.find(" "), part.rfind(" ")
    return part[first:last] if 0 <= first < last else part


def length_bands(values: Values, tokens: npt.NDArray[np.float64], level: float = 0.95) -> tuple[LengthBand, ...]:
    """Quarters of the responses by context length, the shortest first, each with the means of quality.

    Equal lengths stay together, so that quarters may differ in size, and fewer than four are left where many are
    equal. () where no length or no quality is known.

    Args:
        values: every metric's values.
        tokens: shape (responses,), NaN = not known.
        level: of the intervals.
    """
    import numpy as np

    shown = [metric for metric in values.metrics if metric.name() in QUALITY]
    places = np.flatnonzero(np.isfinite(tokens))
    if not places.size or not shown:
        return ()
    lengths = tokens[places]
    ends = np.unique(np.quantile(lengths, QUARTERS, method="inverted_cdf"))
    bands = np.searchsorted(ends, lengths, side="left")
    found = []
    for band in np.unique(bands):
        mine = bands == band
        means = {str(metric): _mean(values, metric, places[mine], level) for metric in shown}
        low, high = int(lengths[mine].min()), int(lengths[mine].max())
        found.append(LengthBand(low, high, int(mine.sum()), means))
    return tuple(found)


def _mean(values: Values, metric: Metric, places: npt.NDArray[np.intp], level: float) -> Estimate:
    import numpy as np

    found = values.of(str(metric))[places]
    scored = np.isfinite(found)
    return estimate(
        found[scored], places[scored], values.index, kind=metric.scale, bounds=metric.range, level=level
    )


def _chance(query_id: str, repeat: int) -> float:
    """A number in [0, 1) that the ids alone decide, so that any order draws the same responses."""
    name = f"{repeat} {query_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest()) / 2**64
