"""What lists of a run's examples are sorted and filtered by, as it was made: a few bytes a response."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from ragauge.core.identity import to_canonical_json
from ragauge.core.verdict import VERDICTS, Verdict
from ragauge.store.database import Database
from ragauge.store.names import find_judge_no, find_run_no
from ragauge.store.page_schema import example_indexes as table
from ragauge.store.schema import runs
from ragauge.store.text_codec import pack_bytes, unpack_bytes
from ragauge.version import __version__

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BODY_VERSION = 2  # of the body; another one is made anew
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
        return pack_bytes(b"".join([json.dumps(head).encode(), b"\n", *column_bytes]))

    @classmethod
    def from_body(cls, body: bytes) -> ExampleIndex:
        """What `packed` gave."""
        import numpy as np

        head, _, column_bytes = unpack_bytes(body).partition(b"\n")
        metrics, causes, whys, segments, tags = json.loads(head)
        size = len(column_bytes) // sum(np.dtype(kind).itemsize for kind in COLUMN_TYPES.values())
        columns, start = {}, 0
        for name, kind in COLUMN_TYPES.items():
            columns[name] = np.frombuffer(column_bytes, kind, size, start)
            start += columns[name].nbytes
        columns["number"] = np.cumsum(columns["number"])
        segment_values = {name: tuple(values) for name, values in segments.items()}
        return cls(tuple(metrics), tuple(causes), tuple(whys), segment_values, tuple(tags), **columns)


class ExampleIndexes:
    """The last index of a run by each judge. One that is not fresh is never given out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def compute_stamp(self, run_id: str) -> str:
        """What an index of the run would be made of now."""
        with self._database.read() as connection:
            return _compute_stamp(connection, run_id)

    def read(self, run_id: str, judge_id: str | None) -> ExampleIndex | None:
        """The index that was kept; None where there is none, or it is not fresh."""
        with self._database.read() as connection:
            conditions = (
                table.c.run_no == find_run_no(connection, run_id),
                table.c.judge_no == find_judge_no(connection, judge_id),
            )
            cached = connection.execute(select(table.c.stamp, table.c.body).where(*conditions)).first()
            fresh = cached is not None and cached.stamp == _compute_stamp(connection, run_id)
        return ExampleIndex.from_body(cached.body) if cached is not None and fresh else None

    def save(self, run_id: str, judge_id: str | None, stamp: str, index: ExampleIndex) -> None:
        """Stores an index in place of an earlier one, unless something was written since its stamp was asked for.

        A store that can only be read stays as it is.
        """
        with self._database.write_if_possible() as connection:
            if connection is None or _compute_stamp(connection, run_id) != stamp:
                return
            judge = find_judge_no(connection, judge_id)
            if judge is None:  # nothing was ever scored
                return
            row = {
                "run_no": find_run_no(connection, run_id),
                "judge_no": judge,
                "stamp": stamp,
                "body": index.pack_index(),
            }
            statement = self._database.insert(table)
            update = {name: statement.excluded[name] for name in ("stamp", "body")}
            keys = ["run_no", "judge_no"]
            connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=update), [row])


def _compute_stamp(connection: Connection, run_id: str) -> str:
    """Of this program, and how often what lists show of the run was written."""
    writes = connection.execute(select(runs.c.example_writes).where(runs.c.run_id == run_id)).scalar()
    return to_canonical_json([__version__, BODY_VERSION, writes])
