"""How far a run in flight is: what is left of it, and what its scores so far say."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import TYPE_CHECKING

from ragauge.evaluation.runs.run_rows import RunRow, build_run_row
from ragauge.store.run_list import compute_stale_time

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store

PACE_WINDOW_S = 60.0  # seconds that a pace is taken over
MIN_WATCH_S = 1.5  # seconds that it takes to tell one
SILENCE_S = 15.0  # seconds without a sign of life, which comes every 5, after which nobody knows what is left
MAX_RUNS = 64  # whose pace is kept
IN_FLIGHT = ("in flight", "stopped")


@dataclass(frozen=True, slots=True)
class PartialMean:
    """The mean of a metric over what is evaluated so far, which is a random draw of the run."""

    metric: str  #: printed name.
    kind: str  #: rate, mean or amount.
    mean: float  #: of the examples scored.
    low: float | None  #: where its 95 % interval begins; None without one.
    high: float | None  #: where it ends.
    scored: int  #: examples with a value.


@dataclass(frozen=True, slots=True)
class RunProgress(RunRow):
    """A run as lists show it, and how it goes on."""

    stage: str  #: answers or evaluation: what `done` counts.
    done: int  #: responses that are answered, or evaluated.
    to_do: int  #: responses that will be.
    #: at the pace of the last minute in which it was watched; None where that is not known yet, and after 15 s without
    #: a sign of life.
    seconds_left: float | None
    so_far: tuple[PartialMean, ...]  #: a metric a layer, of what is evaluated; () where nothing is.


@dataclass
class RunPaces:
    """How fast runs moved while somebody watched them: the store keeps how far they are, not since when.

    Args:
        now: a clock in seconds that never goes back.
    """

    now: Callable[[], float] = time.monotonic
    _seen: OrderedDict[tuple[str, str, int], deque[tuple[float, int]]] = field(default_factory=OrderedDict)
    _looked: dict[tuple[str, str, int], float] = field(default_factory=dict)
    _means: OrderedDict[tuple[str, str, int], tuple[PartialMean, ...]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def seconds_left(self, run_id: str, stage: str, n_done: int, to_do: int) -> float | None:
        """Seconds until all is done at the pace of the last minute; None where it has not moved since it was watched.

        Args:
            run_id: of the run.
            stage: answers or evaluation.
            n_done: so far; less than before begins anew, and so does a minute in which nobody looked.
            to_do: in all.
        """
        key, now = (run_id, stage, to_do), self.now()
        with self._lock:
            samples = self._seen.setdefault(key, deque())
            self._seen.move_to_end(key)
            if len(self._seen) > MAX_RUNS:
                self._looked.pop(self._seen.popitem(last=False)[0], None)
            if samples and (n_done < samples[-1][1] or now - self._looked.get(key, now) >= PACE_WINDOW_S):
                samples.clear()
            self._looked[key] = now
            while len(samples) > 1 and now - samples[1][0] >= PACE_WINDOW_S:
                samples.popleft()
            if not samples or n_done > samples[-1][1]:
                samples.append((now, n_done))
            first = samples[0]
        moved, took = n_done - first[1], now - first[0]
        return (to_do - n_done) * took / moved if moved > 0 and took >= MIN_WATCH_S else None

    def drop_pace(self, run_id: str) -> None:
        """What was seen of a run that stands still: when it goes on, the pause tells nothing of its pace."""
        with self._lock:
            for key in [pace_key for pace_key in self._seen if pace_key[0] == run_id]:
                del self._seen[key]
                self._looked.pop(key, None)

    def means(self, row: RunRow, n_done: int, read: Callable[[], tuple[PartialMean, ...]]) -> tuple[PartialMean, ...]:
        """What is read of a run at a count of responses by one judge, read once however many watch it."""
        key = (row.run_id, "".join(row.judges[:1]), n_done)
        with self._lock:
            if key in self._means:
                return self._means[key]
        loaded = read()
        with self._lock:
            self._means[key] = loaded
            if len(self._means) > MAX_RUNS:
                self._means.popitem(last=False)
        return loaded


def build_run_progress(store: Store, run: Run, paces: RunPaces) -> RunProgress:
    """Progress of a run.

    Args:
        store: where it is.
        run: as it is now.
        paces: what was seen of it before.
    """
    row = build_run_row(store, run)
    evaluating = bool(row.to_evaluate) and row.responses >= row.planned
    stage = "evaluation" if evaluating else "answers"
    n_done, to_do = (row.evaluated or 0, row.to_evaluate or 0) if evaluating else (row.responses, row.planned)
    silent = row.state != "in flight" or _find_heartbeat(store, row, evaluating=evaluating) < compute_stale_time(
        SILENCE_S
    )
    remaining_s = None
    if silent:  # killed, perhaps: what is left would only grow
        paces.drop_pace(row.run_id)
    elif n_done < to_do:
        remaining_s = paces.seconds_left(row.run_id, stage, n_done, to_do)
    so_far: tuple[PartialMean, ...] = ()
    if evaluating and n_done and row.state in IN_FLIGHT:
        so_far = paces.means(row, n_done, lambda: tuple(_compute_means(store, run)))
    row_values = {row_field.name: getattr(row, row_field.name) for row_field in fields(row)}
    return RunProgress(**row_values, stage=stage, done=n_done, to_do=to_do, seconds_left=remaining_s, so_far=so_far)


def _find_heartbeat(store: Store, row: RunRow, *, evaluating: bool) -> str:
    """When its evaluation, or its answers, last moved."""
    state = store.evaluations.read(row.run_id) if evaluating else None
    return row.heartbeat if state is None else state.heartbeat


def _compute_means(store: Store, run: Run) -> list[PartialMean]:
    """The metric that stands for each layer, over the responses that have its score."""
    from ragauge.scores.summarize import summarize_scores
    from ragauge.verbs.columns import StoredColumns

    judge_id = next(iter(store.scores.judges(run.run_id)), None)
    metrics = _select_layer_metrics(store.scores.metrics(run.run_id, judge_id))
    names = [str(metric) for metric in metrics]
    if not names:
        return []
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, names))
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True)
    means = []
    for summary in summarize_scores(columns, metrics):
        if summary.mean is not None:
            low, high = (None, None) if summary.interval is None else (summary.interval.low, summary.interval.high)
            means.append(PartialMean(summary.metric, summary.kind, summary.mean, low, high, summary.scored))
    return means


def _select_layer_metrics(names: Sequence[str]) -> list[Metric]:
    """Of the metrics that a run has scores of, the one that stands for each layer."""
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.rendering.words import FIRST_OF_LAYER

    parsed = [parse_metric(name) for name in names]
    selected = []
    for layer, preferred in FIRST_OF_LAYER.items():
        layer_metrics = {
            str(metric).partition("@")[0]: metric for metric in reversed(parsed) if metric.measures == layer
        }
        selected += [layer_metrics[name] for name in preferred if name in layer_metrics][:1]
    return selected
