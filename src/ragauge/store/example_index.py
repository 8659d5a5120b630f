"""What lists of a run's examples are sorted and filtered by, as it was made: a few bytes a response."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.verdict import VERDICTS, Verdict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# as they stand in the body
COLUMN_TYPES = {"number": "<i8", "verdict": "<i1", "cause": "<i2", "why": "<i2", "quality": "<f8"}


@dataclass(frozen=True, slots=True, eq=False)
class ExampleIndex:
    """What is known of every response of a run by one judge. Every array has an entry a response."""

    metrics: tuple[str, ...]  #: printed names of what was scored, in the order of the scores.
    causes: tuple[str, ...]  #: names of causes, by number; "" where none can be named.
    whys: tuple[str, ...]  #: why a response is unclear or not judged, by number; "" of the others.
    segments: Mapping[str, tuple[str, ...]]  #: column -> its values in the order of the alphabet.
    tags: tuple[str, ...]  #: of the examples, likewise.
    number: npt.NDArray[np.int64]  #: of the response, ascending.
    verdict: npt.NDArray[np.int8]  #: number in `VERDICTS`.
    cause: npt.NDArray[np.int16]  #: number of the cause; -1 = it did not fail.
    why: npt.NDArray[np.int16]  #: number of the reason.
    quality: npt.NDArray[np.float64]  #: mean of the scores on their ranges, 1 = best; NaN without scores.

    @property
    def nbytes(self) -> int:
        """How much memory it takes, nearly."""
        return sum(int(getattr(self, name).nbytes) for name in COLUMN_TYPES) + len(repr((self.segments, self.tags)))

    def build_mask(self, status: Verdict | None, cause: str | None) -> Any:
        """A mask: the responses of a verdict, and failed by a cause; None = any, and none."""
        mask = self.number >= 0
        if status is not None:
            mask &= self.verdict == VERDICTS.index(status)
        if cause is not None:
            mask &= self.cause == (self.causes.index(cause) if cause in self.causes else len(self.causes))
        return mask

    def count_causes(self) -> dict[str, int]:
        """Cause -> responses that failed by it, the most frequent first, equal ones in the order of the alphabet."""
        counts = Counter(self.causes[code] for code in self.cause.tolist() if code >= 0)
        return {cause: counts[cause] for cause in sorted(counts, key=lambda name: (-counts[name], name))}

    def pack_index(self) -> bytes:
        """As a body: a line of JSON, and the columns, of the numbers only how each differs from the one before."""
        import numpy as np

        head = [self.metrics, self.causes, self.whys, self.segments, self.tags]
        columns = {name: getattr(self, name) for name in COLUMN_TYPES} | {"number": np.diff(self.number, prepend=0)}
        column_bytes = [columns[name].astype(kind).tobytes() for name, kind in COLUMN_TYPES.items()]
        return b"".join([json.dumps(head).encode(), b"\n", *column_bytes])

    @classmethod
    def from_body(cls, body: bytes) -> ExampleIndex:
        """What `packed` gave."""
        import numpy as np

        head, _, column_bytes = body.partition(b"\n")
        metrics, causes, whys, segments, tags = json.loads(head)
        size = len(column_bytes) // sum(np.dtype(kind).itemsize for kind in COLUMN_TYPES.values())
        columns, start = {}, 0
        for name, kind in COLUMN_TYPES.items():
            columns[name] = np.frombuffer(column_bytes, kind, size, start)
            start += columns[name].nbytes
        columns["number"] = np.cumsum(columns["number"])
        segment_values = {name: tuple(values) for name, values in segments.items()}
        return cls(tuple(metrics), tuple(causes), tuple(whys), segment_values, tuple(tags), **columns)
