"""Which responses failed and why, in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_count
from ragauge.scores.arrays import ResponseIndex, number_values
from ragauge.scores.categories import CategoryCollector, CategoryColumn
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.summarize import find_first_failures

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Positions = npt.NDArray[np.int64]

EXCEPTION = "exception"  # the kind of failure that a system of Python raises
DecisionLookup = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True, eq=False)
class FailedResponses:
    """The failed responses of a run, in example order. Every column has an entry a failed response.

    What decided each cause is a text of its own, so it is left where it is kept: `decided_by` says it of a few.
    """

    index: ResponseIndex  #: the responses that were looked at.
    place: Positions  #: shape (n,), place in the index.
    cause: CategoryColumn[str]  #: "" = none can be named.
    component: CategoryColumn[str]  #: where it is to be mended.
    basis: CategoryColumn[str]  #: what the cause rests on.
    lacking: CategoryColumn[tuple[str, ...]]  #: the facts that were not known.
    p: npt.NDArray[np.float64]  #: shape (n,), probability that the facts that decided are so.
    shown_by: CategoryColumn[str]  #: what shows the failure: record, people, labels, label and judge, or judge.
    decided_by: DecisionLookup  #: some places -> place -> what decided the cause, in words.

    @classmethod
    def from_causes(
        cls, index: ResponseIndex, causes: Iterable[tuple[int, Cause]], decided_by: DecisionLookup
    ) -> FailedResponses:
        """From places and causes, one after another."""
        import numpy as np

        positions, p = array("q"), array("d")
        cause, component, basis, shown_by = (CategoryCollector[str]() for _ in range(4))
        lacking = CategoryCollector[tuple[str, ...]]()
        for position, failure_cause in causes:
            positions.append(position)
            cause.add(failure_cause.name)
            component.add(failure_cause.component)
            basis.add(failure_cause.basis)
            lacking.add(tuple(failure_cause.lacking))
            p.append(failure_cause.p)
            shown_by.add(infer_shown_by(failure_cause.shown_by, failure_cause.basis))
        position_array = np.array(positions, dtype=np.int64)
        return cls(
            index,
            position_array,
            cause.build_column(),
            component.build_column(),
            basis.build_column(),
            lacking.build_column(),
            np.array(p),
            shown_by.build_column(),
            decided_by,
        )

    @classmethod
    def of(cls, frame: pl.DataFrame) -> FailedResponses:
        """Reads a cause frame; the index is of the failed responses alone."""
        import numpy as np

        ids, query = number_values(frame["query_id"])
        positions = np.arange(frame.height)
        index = ResponseIndex(positions, query.to_numpy(), frame["repeat"].to_numpy(), None, None, ids)
        lacking, shown_by = CategoryCollector[tuple[str, ...]](), CategoryCollector[str]()
        for facts in frame["lacking"]:
            lacking.add(tuple(facts))
        for by, basis in frame.select("shown_by", "basis").iter_rows():
            shown_by.add(infer_shown_by(by, basis))
        words = frame["decided_by"]
        return cls(
            index,
            positions,
            CategoryColumn.of(frame["cause"]),
            CategoryColumn.of(frame["component"]),
            CategoryColumn.of(frame["basis"]),
            lacking.build_column(),
            frame["p"].to_numpy(),
            shown_by.build_column(),
            lambda requested: {position: words[position] for position in requested},
        )

    @property
    def n_represented(self) -> float:
        """How many requests they stand for: what a judge or a person alone shows for weight / chance of them.

        Others stand for their weight.
        """
        import numpy as np

        weight = np.ones(len(self)) if self.index.weight is None else self.index.weight[self.place]
        if self.index.chance is not None:
            alone = np.array([by in ("judge", "people") for by in self.shown_by], bool)
            chance = np.where(alone, self.index.chance[self.place], 1.0)
            weight = weight / np.where(np.isnan(chance), 1.0, chance)
        return float(weight.sum())

    @property
    def n_requests(self) -> float | None:
        """How many requests all responses that were looked at stand for; None where each stands for itself alone."""
        if self.index.weight is None:
            return None if self.index.chance is None else float(len(self.index))
        return float(self.index.weight.sum())

    def __len__(self) -> int:
        return int(self.place.size)

    @property
    def query(self) -> Positions:
        """Shape (n,), number of the example."""
        return self.index.query[self.place]

    def take(self, rows: Any) -> FailedResponses:
        """Only these: their numbers, or a mask."""
        return replace(
            self,
            place=self.place[rows],
            cause=self.cause.take(rows),
            component=self.component.take(rows),
            basis=self.basis.take(rows),
            lacking=self.lacking.take(rows),
            p=self.p[rows],
            shown_by=self.shown_by.take(rows),
        )

    def select_cause(self, cause: str) -> FailedResponses:
        """Those of one cause."""
        number = self.cause.values.index(cause) if cause in self.cause.values else -1
        return self.take(self.cause.codes == number)

    def by_example(self) -> FailedResponses:
        """One a failed example; see `frames.failures`."""
        rows = find_first_failures(self.index.query_ids, self.query, self.index.repeat[self.place], self.cause.codes)
        return self if rows is None else self.take(rows)


def describe_failed_calls(failed: int, calls: int, error: str) -> str:
    """That calls of the system failed, with an error of theirs.

    >>> describe_failed_calls(2, 30, "exception: TypeError: not a text (app.py line 3, in answer).")
    '2 of 30 calls failed: TypeError: not a text (app.py line 3, in answer).'
    """
    message = error.removeprefix(f"{EXCEPTION}: ").rstrip(".")
    return f"{failed:,} of {format_count(calls, 'call')} failed: {message}."


def infer_shown_by(shown_by: str, basis: str) -> str:
    """What shows a failure; of a cause found before that was noted, what the cause rests on says it.

    >>> infer_shown_by("labels", "judge"), infer_shown_by("", "record"), infer_shown_by("", "guess")
    ('labels', 'record', 'judge')
    """
    return shown_by or (basis if basis in ("record", "labels") else "judge")
