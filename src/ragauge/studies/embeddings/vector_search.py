"""Vectors shortened and searched exactly: full precision, int8, or one bit a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.engine.retrievers import DECIMALS
from ragauge.studies.ann.exact import exact_neighbours

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

Precision = Literal["float32", "int8", "binary", "binary_rescored"]
CANDIDATES_PER_PLACE = 4  # candidates for each place, where bits are rescored
N_STEPS = 255


def scale_to_unit(rows: Rows, dimensions: int | None = None) -> Rows:
    """The first numbers of each row, scaled to length 1; a row of zeros stays.

    Raises:
        UsageError: fewer numbers than that.
    """
    import numpy as np

    if dimensions is not None and not 1 <= dimensions <= rows.shape[1]:
        raise UsageError(f"dimensions={dimensions}: the vectors have {rows.shape[1]}.")
    short = rows[:, :dimensions].astype(np.float64)
    lengths = np.linalg.norm(short, axis=1, keepdims=True)
    scaled: Rows = np.divide(short, lengths, out=np.zeros_like(short), where=lengths > 0).astype(np.float32)
    return scaled


class VectorIndex:
    """Documents by vector, ranked by every question exactly.

    int8 keeps each number as one of 256 steps between the least and the greatest of its dimension over the documents;
    binary keeps its sign. Questions keep full precision with int8. With binary they are signs too, so that the order
    is that of Hamming distance; binary_rescored takes 4 k candidates so, and orders them by the product of the full
    question with the documents' signs.

    Args:
        ids: one a row.
        rows: shape (documents, dimensions), of length 1 or 0.
        precision: how documents are kept.
    """

    def __init__(self, ids: Sequence[str], rows: Rows, precision: Precision = "float32") -> None:
        self._ids, self._precision = tuple(ids), precision
        self._there = rows.any(axis=1)
        self._rows = (
            _quantize_int8(rows) if precision == "int8" else _take_signs(rows) if "binary" in precision else rows
        )

    @property
    def n_bytes(self) -> int:
        """What the vectors take: 4 bytes a number, 1 with int8, a bit with binary; ids and ranges not counted."""
        documents, dimensions = self._rows.shape
        per = {"float32": 4 * dimensions, "int8": dimensions}.get(self._precision, (dimensions + 7) // 8)
        return int(documents * per)

    def search(self, queries: Rows, k: int) -> Iterator[list[str]]:
        """The ids of the k nearest documents, for each question; of equal scores the smaller id first.

        A question of zeros finds nothing, and a document of zeros is never found.
        """
        import numpy as np

        nonzero = sorted(np.flatnonzero(self._there).tolist(), key=self._ids.__getitem__)
        rows, ids = self._rows[nonzero], [self._ids[n] for n in nonzero]
        searched_queries = _take_signs(queries) if "binary" in self._precision else queries
        rescored = self._precision == "binary_rescored"
        hits, _ = exact_neighbours(rows, searched_queries, CANDIDATES_PER_PLACE * k if rescored else k, "ip")
        for query, near in zip(queries, hits, strict=True):
            if rescored:
                again = np.round(rows[near] @ query.astype(np.float64), DECIMALS)
                near = near[np.lexsort((near, -again))][:k]  # noqa: PLW2901 - the same documents in another order
            yield [ids[n] for n in near] if query.any() else []


def _quantize_int8(rows: Rows) -> Rows:
    """Rows as int8 gives them back."""
    import numpy as np

    low, high = rows.min(axis=0), rows.max(axis=0)
    step = np.where(high > low, (high - low) / N_STEPS, 1.0)
    rounded: Rows = (low + np.round((rows - low) / step) * step).astype(np.float32)
    return rounded


def _take_signs(rows: Rows) -> Rows:
    import numpy as np

    signs: Rows = np.where(rows > 0, 1.0, -1.0).astype(np.float32)
    return signs
