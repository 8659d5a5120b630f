"""A stored run as lists show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.baseline_choice import BaselineFinder, find_cached_verdict
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.store.run_facts import MeanValue, RunFacts
from ragauge.store.run_list import compute_stale_time
from ragauge.verbs.summary_refresh import renew_means

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.core.study import Study
    from ragauge.store.store_access import Store
    from ragauge.verbs.options import RunsOptions


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

    from ragauge.studies.kinds import find_study_kind

    judges = row.judges or ((str(study.fixed["judge"]),) if study.fixed.get("judge") else ())
    scores = store.scores.load_frame(row.run_id, next(iter(judges), None))
    means = scores.group_by("metric", maintain_order=True).agg(pl.col("value").drop_nans().mean())
    by_metric = dict(means.iter_rows())
    patterns = (str(study.fixed.get("objective", "")), *find_study_kind(study.kind).decides)
    first: Sequence[str] = [name for pattern in patterns for name in by_metric if fnmatchcase(name, pattern)]
    ordered = {name: by_metric[name] for name in dict.fromkeys([*first, *by_metric])}
    return replace(row, judges=judges, means={**ordered, **row.means})
