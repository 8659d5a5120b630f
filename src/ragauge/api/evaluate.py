"""Evaluate: store, plan, execute, and the scorecard of what came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragauge.api.baseline import baseline_run, check
from ragauge.api.sources import Source, store_url, stored
from ragauge.errors import DataError, RagaugeError, UsageError

if TYPE_CHECKING:
    from ragauge.api.scorecard import Scorecard
    from ragauge.data.index_listing import IndexListing
    from ragauge.data.run import Run
    from ragauge.engine.execute import Outcome, Progress
    from ragauge.engine.plan import Plan
    from ragauge.store.open import Store

NO_JUDGE = ("none", "")


@dataclass(frozen=True)
class Wanted:
    """What to find out.

    Attributes:
        metrics: names and presets; () = the default preset.
        judge: who answers what labels do not: local, or none.
        limit: evaluate this many examples, drawn at random.
        keep: segment column (or "tag") -> value; only examples that match all.
        workers: processes; None = all cores.
        index: a listing of the documents in the system's index, see `data.readers.index_listing`; None = not known,
            or as it was known last.
        warn: receives a warning about the listing.
        baseline: the run to hold this one against: an id, a name, or what stands for a run; None = none.
        concurrency: calls in flight to one model, at most.
        max_cost: US dollars that may be spent now; None = no bound.
        timeout: seconds for one call to a model.
        retry_failed: evaluate again what failed before.
    """

    metrics: tuple[str, ...] = ()
    judge: str = "local"
    limit: int | None = None
    keep: Mapping[str, str] = field(default_factory=dict)
    workers: int | None = None
    index: Any = None
    warn: Callable[[str], None] | None = None
    baseline: Any = None
    concurrency: int = 16
    max_cost: float | None = None
    timeout: float = 120.0
    retry_failed: bool = False


def planner(wanted: Wanted) -> Callable[[Store, str], Plan]:
    """Plans a run of a store. The metrics asked for, and the judge where one asks something, are found first."""
    from ragauge.engine.judges import build_judge
    from ragauge.engine.plan import plan
    from ragauge.metrics.catalogue import questions, select

    metrics = select(wanted.metrics or ("default",))
    if wanted.judge in NO_JUDGE:
        metrics = [metric for metric in metrics if not questions([metric])]
        if not metrics:
            raise UsageError("every metric asked for needs a judge. Use --judge local, or metrics from labels.")
    if wanted.workers is not None and wanted.workers < 1:
        raise UsageError(f"workers must be at least 1, got {wanted.workers}.")
    needed = bool(questions(metrics)) or wanted.judge not in ("local", *NO_JUDGE)     # a wrong name is told in any case
    judge = build_judge(wanted.judge) if needed else None
    return lambda store, run_id: plan(
        store, run_id, metrics, judge, limit=wanted.limit, keep=wanted.keep, retry_failed=wanted.retry_failed,
        listing=listed(wanted, store, run_id),
    )  # fmt: skip


def listed(wanted: Wanted, store: Store, run_id: str) -> IndexListing | None:
    """Which of the run's labelled documents are in the listing that was given; None without one."""
    if wanted.index is None:
        return None
    from ragauge.data.index_listing import IndexListing
    from ragauge.data.readers.index_listing import doc_ids, said
    from ragauge.data.readers.reading import warn_user

    labelled = store.listings.labelled(run_id)
    listing = IndexListing.of(doc_ids(wanted.index), labelled)
    if not listing.documents:
        raise DataError("the listing of the index is empty.", source=said(wanted.index))
    if labelled and listing.absent == labelled:
        (wanted.warn or warn_user)(
            f"{said(wanted.index)}: none of the {len(labelled)} labelled documents is in this listing of the index "
            f"({listing.documents:,} ids). Does it name documents as the labels do?"
        )
    return listing


def planned(source: Source, wanted: Wanted, store: Store) -> tuple[Plan, Run, bool, Run | None]:
    """What has to be done: the source's examples less those that are stored; its run, whether it is new, its baseline.

    Names are checked before anything is read, a baseline before anything is asked, and a run that came in for nothing
    is taken out again.
    """
    plan, base = planner(wanted), baseline_run(wanted.baseline, store)
    run, new = stored(source, store)
    try:
        found = plan(store, run.run_id)
        check(store, found, run, base)
        return found, run, new, base
    except RagaugeError:
        if new:
            store.runs.delete(run.run_id)
        raise


async def evaluate_source(
    source: Source, wanted: Wanted, store: str | None = None, progress: Callable[[Progress], None] | None = None
) -> Scorecard:
    """Stores what is not stored, judges what is not judged, and returns the scorecard."""
    from ragauge.api.cards import card_of
    from ragauge.engine.execute import execute
    from ragauge.engine.models import calling_of
    from ragauge.store.open import open_store

    with open_store(store_url(store)) as opened:
        plan, run, _, base = planned(source, wanted, opened)
        calling = calling_of(
            plan.judge, concurrency=wanted.concurrency, max_cost=wanted.max_cost, timeout=wanted.timeout
        )
        started = time.perf_counter()
        outcome = await execute(plan, opened, workers=wanted.workers, progress=progress, calling=calling)
        seconds = time.perf_counter() - started
        took: dict[str, Any] = {"seconds": round(seconds, 2), "evaluated": outcome.done, "asked": outcome.asked}
        rate = round(outcome.done / seconds, 1) if outcome.done else 0.0
        took |= {"reused": outcome.reused, "answers_per_second": rate, **_calls(outcome)}
        metrics, keep = plan.metrics, wanted.keep
        shown: dict[str, Any] = {"keep": keep, "total": plan.total, "whole": True, "took": took}
        return card_of(opened, run, metrics, plan.judge_id, **shown, baseline=base)


def _calls(outcome: Outcome) -> dict[str, Any]:
    """What an evaluation asked of models, and why it stopped, where it did."""
    found: dict[str, Any] = {}
    if outcome.calling is not None:
        calls = outcome.calling
        found = {"calls": calls.calls, "replies_reused": calls.reused, "cost": None if calls.unpriced else calls.cost}
        found |= {"input_tokens": calls.tokens.input_tokens, "output_tokens": calls.tokens.output_tokens}
    return found | ({"stopped": outcome.stopped} if outcome.stopped else {})


async def dry_run(source: Source, wanted: Wanted, store: str | None = None) -> dict[str, Any]:
    """What `evaluate_source` would do, as JSON types; a run that is not stored stays so, and has no id."""
    from ragauge.engine.estimate import expect
    from ragauge.store.open import open_store

    with open_store(store_url(store)) as opened:
        found, run, new, _ = planned(source, wanted, opened)
        expected = expect(found, opened)
        if new:
            opened.runs.delete(run.run_id)
        return {
            "run_id": "" if new else run.run_id,
            "name": run.name,
            "judge": found.judge_id or "",
            "metrics": [str(metric) for metric in found.metrics],
            "questions": list(found.questions),
            "examples": found.total,
            "stored": found.done,
            "to_do": found.pending,
            **expected,
        }
