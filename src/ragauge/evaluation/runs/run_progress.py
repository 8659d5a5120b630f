"""How far a run in flight is: what is left of it, and what its scores so far say."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import TYPE_CHECKING

from ragauge.evaluation.runs.run_rows import RunRow, row_of
from ragauge.store.run_list import still_since

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store

WATCHED = 60.0  # seconds that a pace is taken over
LEAST = 1.5  # seconds that it takes to tell one
SILENT = 15.0  # seconds without a sign of life, which comes every 5, after which nobody knows what is left
MOST_RUNS = 64  # whose pace is kept
IN_FLIGHT = ("in flight", "stopped")


@dataclass(frozen=True, slots=True)
class MeanSoFar:
    """The mean of a metric over what is evaluated so far, which is a random draw of the run.

    Attributes:
        metric: printed name.
        kind: rate, mean or amount.
        mean: of the examples scored.
        low: where its 95 % interval begins; None without one.
        high: where it ends.
        scored: examples with a value.
    """

    metric: str
    kind: str
    mean: float
    low: float | None
    high: float | None
    scored: int


@dataclass(frozen=True, slots=True)
class RunProgress(RunRow):
    """A run as lists show it, and how it goes on.

    Attributes:
        stage: answers or evaluation: what `done` counts.
        done: responses that are answered, or evaluated.
        to_do: responses that will be.
        seconds_left: at the pace of the last minute in which it was watched; None where that is not known yet, and
            after 15 s without a sign of life.
        so_far: a metric a layer, of what is evaluated; () where nothing is.
    """

    stage: str
    done: int
    to_do: int
    seconds_left: float | None
    so_far: tuple[MeanSoFar, ...]


@dataclass
class Paces:
    """How fast runs moved while somebody watched them: the store keeps how far they are, not since when.

    Args:
        now: a clock in seconds that never goes back.
    """

    now: Callable[[], float] = time.monotonic
    _seen: OrderedDict[tuple[str, str, int], deque[tuple[float, int]]] = field(default_factory=OrderedDict)
    _looked: dict[tuple[str, str, int], float] = field(default_factory=dict)
    _means: OrderedDict[tuple[str, str, int], tuple[MeanSoFar, ...]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def seconds_left(self, run_id: str, stage: str, done: int, to_do: int) -> float | None:
        """Seconds until all is done at the pace of the last minute; None where it has not moved since it was watched.

        Args:
            run_id: of the run.
            stage: answers or evaluation.
            done: so far; less than before begins anew, and so does a minute in which nobody looked.
            to_do: in all.
        """
        key, now = (run_id, stage, to_do), self.now()
        with self._lock:
            seen = self._seen.setdefault(key, deque())
            self._seen.move_to_end(key)
            if len(self._seen) > MOST_RUNS:
                self._looked.pop(self._seen.popitem(last=False)[0], None)
            if seen and (done < seen[-1][1] or now - self._looked.get(key, now) >= WATCHED):
                seen.clear()
            self._looked[key] = now
            while len(seen) > 1 and now - seen[1][0] >= WATCHED:
                seen.popleft()
            if not seen or done > seen[-1][1]:
                seen.append((now, done))
            first = seen[0]
        moved, took = done - first[1], now - first[0]
        return (to_do - done) * took / moved if moved > 0 and took >= LEAST else None

    def forget(self, run_id: str) -> None:
        """What was seen of a run that stands still: when it goes on, the pause tells nothing of its pace."""
        with self._lock:
            for key in [one for one in self._seen if one[0] == run_id]:
                del self._seen[key]
                self._looked.pop(key, None)

    def means(self, row: RunRow, done: int, read: Callable[[], tuple[MeanSoFar, ...]]) -> tuple[MeanSoFar, ...]:
        """What is read of a run at a count of responses by one judge, read once however many watch it."""
        key = (row.run_id, "".join(row.judges[:1]), done)
        with self._lock:
            if key in self._means:
                return self._means[key]
        found = read()
        with self._lock:
            self._means[key] = found
            if len(self._means) > MOST_RUNS:
                self._means.popitem(last=False)
        return found


def run_progress(store: Store, run: Run, paces: Paces) -> RunProgress:
    """How far a run is.

    Args:
        store: where it is.
        run: as it is now.
        paces: what was seen of it before.
    """
    row = row_of(store, run)
    evaluating = bool(row.to_evaluate) and row.responses >= row.planned
    stage = "evaluation" if evaluating else "answers"
    done, to_do = (row.evaluated or 0, row.to_evaluate or 0) if evaluating else (row.responses, row.planned)
    silent = row.state != "in flight" or _heartbeat(store, row, evaluating=evaluating) < still_since(SILENT)
    left = None
    if silent:  # killed, perhaps: what is left would only grow
        paces.forget(row.run_id)
    elif done < to_do:
        left = paces.seconds_left(row.run_id, stage, done, to_do)
    so_far: tuple[MeanSoFar, ...] = ()
    if evaluating and done and row.state in IN_FLIGHT:
        so_far = paces.means(row, done, lambda: tuple(_means(store, run)))
    shown = {one.name: getattr(row, one.name) for one in fields(row)}
    return RunProgress(**shown, stage=stage, done=done, to_do=to_do, seconds_left=left, so_far=so_far)


def _heartbeat(store: Store, row: RunRow, *, evaluating: bool) -> str:
    """When its evaluation, or its answers, last moved."""
    state = store.evaluations.read(row.run_id) if evaluating else None
    return row.heartbeat if state is None else state.heartbeat


def _means(store: Store, run: Run) -> list[MeanSoFar]:
    """The metric that stands for each layer, over the responses that have its score."""
    from ragauge.scores.summarize import summarize
    from ragauge.verbs.columns import StoredColumns

    judge_id = next(iter(store.scores.judges(run.run_id)), None)
    metrics = _first(store.scores.metrics(run.run_id, judge_id))
    names = [str(metric) for metric in metrics]
    if not names:
        return []
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, names))
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True)
    found = []
    for one in summarize(columns, metrics):
        if one.mean is not None:
            low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
            found.append(MeanSoFar(one.metric, one.kind, one.mean, low, high, one.scored))
    return found


def _first(names: Sequence[str]) -> list[Metric]:
    """Of the metrics that a run has scores of, the one that stands for each layer."""
    from ragauge.metrics.catalogue import parse
    from ragauge.rendering.words import FIRST_OF_LAYER

    parsed = [parse(name) for name in names]
    found = []
    for layer, preferred in FIRST_OF_LAYER.items():
        mine = {str(metric).partition("@")[0]: metric for metric in reversed(parsed) if metric.measures == layer}
        found += [mine[name] for name in preferred if name in mine][:1]
    return found
