"""Stored runs as lists show them, and the progress of a run in flight."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from threading import Lock
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.verb import BaselineFinder, find_cached_verdict
from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.store.run_facts import MeanValue, RunFacts
from ragauge.store.run_list import compute_stale_time
from ragauge.verbs.columns import renew_means
from ragauge.verbs.options import RunsOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.core.study import Study
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class RunRow:
    """One stored run in a list."""

    run_id: str  #: of the run.
    name: str  #: what people call it.
    created_at: str  #: when it began, ISO 8601.
    set: str  #: the name of its eval set.
    set_version: str  #: content hash of the set.
    system: str  #: what produced it.
    kind: str  #: set or traffic.
    variant: str  #: own retrieval, oracle passages, closed_book, or replayed.
    commit: str  #: git's, and whether the tree was dirty; "" outside git.
    tags: tuple[str, ...]  #: in the order of the alphabet.
    study: str  #: that it is a trial of; "" for none.
    #: in flight, stopped, finished or failed: of its answers, and where all are there, of its last evaluation. A run in
    #: flight shows a sign of life every few seconds; after 55 s without one it counts as stopped.
    state: str
    heartbeat: str  #: when its answers last moved, ISO 8601.
    responses: int  #: that there are, absent ones counted.
    planned: int  #: responses that there will be.
    evaluated: int | None  #: of them by the last evaluation, in every asking of the judge; None where it was not seen.
    to_evaluate: int | None  #: that it was about.
    judges: tuple[str, ...]  #: who judged it, the last first.
    #: printed name of a metric -> mean, in the order of the scorecard; None where nothing is scored.
    means: Mapping[str, float | None]
    #: retrieval, generation, end_to_end -> the metric that stands for the layer; layers without one are left out.
    headline: Mapping[str, MeanValue]
    #: better, worse, changed, no change seen or not enough data: of its comparison with its baseline, else the run that
    #: it was last evaluated against, else the run before it on the same set; "" where none was made of what is there
    #: now.
    verdict: str
    baseline: str  #: the name of that run; "" where there is no verdict.
    against: str  #: its id; of a run without a verdict the one that would be compared first, "" for none.
    #: US dollars of the calls to models that were made for it; None where the price of one is unknown.
    cost: float | None
    note: str  #: what somebody wrote about it.
    #: of the verdicts on its examples, of the judge whose means these are; None where it was not evaluated.
    counts: VerdictCounts | None


def list_run_rows(store: Store, options: RunsOptions) -> list[RunRow]:
    """A page of runs, in a number of statements that no number of runs raises."""
    study = store.studies.read(options.study) if options.study else None
    renew_means(store)  # before anything is sorted or filtered by them
    sort = options.sort.removeprefix("-")
    runs = store.runs.list(
        options.limit,
        study=options.study or None,
        after=options.after,
        sort=sort,
        highest=sort != options.sort,
        filter=options.filter,
    )
    if not runs and options.filter:
        store.run_list.check_filter(options.filter)
    rows = _build_rows(store, runs)
    return rows if study is None else [_build_trial_row(store, study, row) for row in rows]


def build_run_row(store: Store, run: Run) -> RunRow:
    """One run as lists show it."""
    (row,) = _build_rows(store, [run])
    return row


def _derive_state(run: Run, facts: RunFacts) -> str:
    """In flight, stopped, finished or failed."""
    moved, is_finished = facts.evaluation, run.state == "finished"
    if run.state == "running" or (is_finished and moved is not None and moved.done < moved.planned):
        heartbeat = moved.heartbeat if is_finished and moved is not None else run.heartbeat
        return "in flight" if heartbeat >= compute_stale_time() else "stopped"
    return "stopped" if run.state == "interrupted" else run.state


def _build_rows(store: Store, runs: Sequence[Run]) -> list[RunRow]:
    ids, bases = [run.run_id for run in runs], BaselineFinder(store)
    facts, verdicts = store.run_list.facts(ids), store.cards.verdicts(ids)
    choices_by_run = {run.run_id: bases.of(run, facts[run.run_id]) for run in runs if run.run_id in facts}
    verdicts_by_run = {
        run_id: find_cached_verdict(choices_by_run[run_id], facts[run_id], verdicts.get(run_id, {}))
        for run_id in choices_by_run
    }
    names = store.run_list.names([base for verdict, base in verdicts_by_run.values() if verdict])
    rows = []
    for run in runs:
        if (run_id := run.run_id) in choices_by_run:
            verdict, base = verdicts_by_run[run_id]
            row = build_row_without_verdict(run, facts[run_id])
            rows.append(replace(row, verdict=verdict, baseline=names.get(base, ""), against=base))
    return rows


def build_row_without_verdict(run: Run, facts: RunFacts) -> RunRow:
    """A run as lists show it, where nothing is asked of its verdict."""
    from ragauge.rendering.words import first_of_layers

    moved = facts.evaluation
    evaluated, to_evaluate = (None, None) if moved is None else (moved.done, moved.planned)
    return RunRow(
        run.run_id,
        run.name,
        run.created_at,
        run.set_name,
        run.set_version,
        run.system,
        run.kind,
        run.variant,
        run.git,
        facts.tags,
        facts.study,
        _derive_state(run, facts),
        run.heartbeat,
        run.done,
        run.planned,
        evaluated,
        to_evaluate,
        facts.judges,
        {mean.metric: mean.mean for mean in facts.means},
        dict(first_of_layers(facts.means)),
        "",
        "",
        "",
        facts.cost,
        facts.note,
        facts.counts or (NOT_COUNTED if facts.means and not facts.study else None),
    )


def _build_trial_row(store: Store, study: Study, row: RunRow) -> RunRow:
    """A trial's row: it is scored without a scorecard, and what the study's trials are held to comes first."""
    import polars as pl

    from ragauge.studies.verb import find_study_kind

    judges = row.judges or ((str(study.fixed["judge"]),) if study.fixed.get("judge") else ())
    scores = store.scores.load_frame(row.run_id, next(iter(judges), None))
    means = scores.group_by("metric", maintain_order=True).agg(pl.col("value").drop_nans().mean())
    by_metric = dict(means.iter_rows())
    patterns = (str(study.fixed.get("objective", "")), *find_study_kind(study.kind).decides)
    first: Sequence[str] = [name for pattern in patterns for name in by_metric if fnmatchcase(name, pattern)]
    ordered = {name: by_metric[name] for name in dict.fromkeys([*first, *by_metric])}
    return replace(row, judges=judges, means={**ordered, **row.means})


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


MAX_TRIAL_MEANS = 6  # of a study's trials that are listed


def build_runs_table(rows: Sequence[RunRow], *, study: str = "", studies: Sequence[str] = ()) -> RenderableType:
    """The list for a terminal: name, id, age and a few means.

    Args:
        rows: as `runs` gives them.
        study: whose trials they are, "" for other runs: of trials the means are shown that all of them have first.
        studies: stored studies, to be named where there is no run.
    """
    from ragauge.core.messages import format_value
    from ragauge.rendering.sections import ReportSection, ReportTable, build_columns
    from ragauge.rendering.verdict_texts import count_words, describe_older_counts
    from ragauge.rendering.words import make_safe
    from ragauge.rendering.writers.terminal import render_terminal

    if not rows:
        message = f"The study {study} has no trial with a run."
        if not study and studies:
            message = f"The only runs are trials of studies. List them with: ragauge runs --study {studies[0]}"
        elif not study:
            message = "No runs yet. Start with: ragauge evaluate FILE, or ragauge demo."
        return render_terminal([ReportSection(lead=(make_safe(message),))])
    shown_metrics: tuple[str, ...] = ("recall@5", "context_recall", "faithfulness", "answer_correctness")
    if study:
        scored_names = [name for name, mean in rows[0].means.items() if mean is not None]
        shown_metrics = tuple(name for name in scored_names if all(name in row.means for row in rows))[:MAX_TRIAL_MEANS]
    tagged, counted = any(row.tags for row in rows), any(row.counts for row in rows)
    cells = []
    for row in rows:
        response_text = f"{row.responses:,}" + (f" of {row.planned:,}, {row.state}" if row.state != "finished" else "")
        counts, tags = [count_words(row.counts) or "–"] * counted, [make_safe(", ".join(row.tags))] * tagged
        when = row.created_at[:16].replace("T", " ")
        cells.append(
            (
                make_safe(row.name),
                *counts,
                row.run_id,
                when,
                *tags,
                response_text,
                *map(format_value, map(row.means.get, shown_metrics)),
            )
        )
    texts = [*["examples"] * counted, "run", "created", *["tags"] * tagged]
    name, *headers = build_columns("name", *texts, numbers=("responses", *shown_metrics))
    first = len(headers) - len(shown_metrics)
    headers = [replace(head, whole=head.head == "run", room=n if n > first else 0) for n, head in enumerate(headers, 1)]
    table = ReportTable((replace(name, fold=True), *headers), tuple(cells))
    return render_terminal(
        [ReportSection(table=table, notes=describe_older_counts((row.name, row.counts) for row in rows))]
    )
