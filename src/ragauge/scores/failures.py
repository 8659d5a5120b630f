"""Which responses failed and why, in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import plural
from ragauge.scores.arrays import ResponseIndex, numbered
from ragauge.scores.categories import CategoryCollector, CategoryColumn
from ragauge.scores.frames import first_failures
from ragauge.scores.results.scorecard import Cause

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Places = npt.NDArray[np.int64]

EXCEPTION = "exception"  # the kind of failure that a system of Python raises
Words = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True, eq=False)
class FailedResponses:
    """The failed responses of a run, in example order. Every column has an entry a failed response.

    What decided each cause is a text of its own, so it is left where it is kept: `decided_by` says it of a few.

    Attributes:
        index: the responses that were looked at.
        place: shape (n,), place in the index.
        cause: "" = none can be named.
        component: where it is to be mended.
        basis: what the cause rests on.
        lacking: the facts that were not known.
        p: shape (n,), probability that the facts that decided are so.
        shown_by: what shows the failure: record, people, labels, label and judge, or judge.
        decided_by: some places -> place -> what decided the cause, in words.
    """

    index: ResponseIndex
    place: Places
    cause: CategoryColumn[str]
    component: CategoryColumn[str]
    basis: CategoryColumn[str]
    lacking: CategoryColumn[tuple[str, ...]]
    p: npt.NDArray[np.float64]
    shown_by: CategoryColumn[str]
    decided_by: Words

    @classmethod
    def gathered(cls, index: ResponseIndex, causes: Iterable[tuple[int, Cause]], decided_by: Words) -> FailedResponses:
        """From places and causes, one after another."""
        import numpy as np

        places, p = array("q"), array("d")
        cause, component, basis, shown_by = (CategoryCollector[str]() for _ in range(4))
        lacking = CategoryCollector[tuple[str, ...]]()
        for place, one in causes:
            places.append(place)
            cause.add(one.name)
            component.add(one.component)
            basis.add(one.basis)
            lacking.add(tuple(one.lacking))
            p.append(one.p)
            shown_by.add(shown(one.shown_by, one.basis))
        at = np.array(places, dtype=np.int64)
        return cls(
            index,
            at,
            cause.coded(),
            component.coded(),
            basis.coded(),
            lacking.coded(),
            np.array(p),
            shown_by.coded(),
            decided_by,
        )

    @classmethod
    def of(cls, frame: pl.DataFrame) -> FailedResponses:
        """Reads a cause frame; the index is of the failed responses alone."""
        import numpy as np

        ids, query = numbered(frame["query_id"])
        place = np.arange(frame.height)
        index = ResponseIndex(place, query.to_numpy(), frame["repeat"].to_numpy(), None, None, ids)
        lacking, shown_by = CategoryCollector[tuple[str, ...]](), CategoryCollector[str]()
        for facts in frame["lacking"]:
            lacking.add(tuple(facts))
        for by, basis in frame.select("shown_by", "basis").iter_rows():
            shown_by.add(shown(by, basis))
        words = frame["decided_by"]
        return cls(
            index,
            place,
            CategoryColumn.of(frame["cause"]),
            CategoryColumn.of(frame["component"]),
            CategoryColumn.of(frame["basis"]),
            lacking.coded(),
            frame["p"].to_numpy(),
            shown_by.coded(),
            lambda places: {at: words[at] for at in places},
        )

    @property
    def stand_for(self) -> float:
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
    def requests(self) -> float | None:
        """How many requests all responses that were looked at stand for; None where each stands for itself alone."""
        if self.index.weight is None:
            return None if self.index.chance is None else float(len(self.index))
        return float(self.index.weight.sum())

    def __len__(self) -> int:
        return int(self.place.size)

    @property
    def query(self) -> Places:
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

    def of_cause(self, cause: str) -> FailedResponses:
        """Those of one cause."""
        number = self.cause.values.index(cause) if cause in self.cause.values else -1
        return self.take(self.cause.codes == number)

    def by_example(self) -> FailedResponses:
        """One a failed example; see `frames.failures`."""
        rows = first_failures(self.index.query_ids, self.query, self.index.repeat[self.place], self.cause.codes)
        return self if rows is None else self.take(rows)


def calls_failed(failed: int, calls: int, error: str) -> str:
    """That calls of the system failed, with an error of theirs.

    >>> calls_failed(2, 30, "exception: TypeError: not a text (app.py line 3, in answer).")
    '2 of 30 calls failed: TypeError: not a text (app.py line 3, in answer).'
    """
    said = error.removeprefix(f"{EXCEPTION}: ").rstrip(".")
    return f"{failed:,} of {plural(calls, 'call')} failed: {said}."


def shown(shown_by: str, basis: str) -> str:
    """What shows a failure; of a cause found before that was noted, what the cause rests on says it.

    >>> shown("labels", "judge"), shown("", "record"), shown("", "guess")
    ('labels', 'record', 'judge')
    """
    return shown_by or (basis if basis in ("record", "labels") else "judge")
