"""What every store does for runs whose responses arrive one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ragauge.data.example import EvalSet, Example
from ragauge.data.response import Response
from ragauge.data.run import Run, State

Arrived = tuple[Example, Response]
Key = tuple[str, int]     # query_id and repeat


class Collecting(Protocol):
    """Runs that are being collected. What `add` has returned from survives a kill."""

    def begin(self, run: Run, eval_set: EvalSet) -> Run:
        """Opens a run of an eval set, in state running and without responses; the set is kept with it.

        Args:
            run: what is known about it; run_id, created_at and heartbeat are filled in where they are empty.
            eval_set: what it answers; its name and version become the run's.

        Returns:
            The run as stored.
        """

    def newest(self, like: Run, *, unfinished: bool) -> Run | None:
        """The newest run of the same set version, system, configuration and variant; None where there is none.

        Args:
            like: whose set_version, system, config and variant count.
            unfinished: only a run that is not finished.
        """

    def held(self, run_id: str) -> set[Key]:
        """Which responses are there, failed ones counted."""

    def failed(self, run_id: str) -> Mapping[Key, str]:
        """Which of them are failures of the system -> its error."""

    def add(self, run_id: str, arrived: Sequence[Arrived], *, again: bool = False) -> int:
        """Keeps responses, in one transaction, and moves the run's heartbeat and count.

        The first response under one query_id and repeat wins. With `again` a failed one gives way to what came later,
        and its scores and causes go with it; one that did not fail stays.

        Args:
            run_id: the run.
            arrived: example and response.
            again: failures are being asked again.

        Returns:
            How many were kept.

        Raises:
            DataError: a response to another query than its example's, or a number that is not finite.
            UnknownName: the run is gone.
        """

    def mark(self, run_id: str, state: State, *, planned: int | None = None) -> None:
        """Says in which state a run is, and how many responses are planned; moves the heartbeat."""

    def finish(self, run_id: str) -> None:
        """Marks a run finished, its responses in the order of its set, repeats together.

        The order is left as it came where the run was evaluated before, since scores name responses by number.
        """
