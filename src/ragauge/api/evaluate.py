"""Evaluate: store, plan, execute, and the scorecard of what came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.api.baseline import baseline_run, check
from ragauge.api.inputs.sources import named, place_of, stored
from ragauge.api.options import EvaluateOptions
from ragauge.errors import DataError, JudgeError, RagaugeError, UsageError

if TYPE_CHECKING:
    from ragauge.api.results.scorecard import Scorecard
    from ragauge.data.document import IndexListing
    from ragauge.data.response import Run
    from ragauge.engine.execute import EvaluationOutcome
    from ragauge.engine.models import Calling
    from ragauge.engine.plan import Plan
    from ragauge.metrics.base import Metric
    from ragauge.store.open import Store

NO_JUDGE = ("none", "")


def planner(wanted: EvaluateOptions) -> Callable[[Store, str], tuple[Plan, ...]]:
    """Plans a run of a store, a plan an asking of the judge. Metrics and judge are found first."""
    from ragauge.data.readers.record_reader import warn_user
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.engine.people import is_people
    from ragauge.engine.plan import plan
    from ragauge.metrics.catalogue import questions, said_otherwise, select

    names, spec = named(wanted.metrics), given_judge(wanted.judge, wanted.judge_name, wanted.prompts)
    metrics = select(names or ("default",))
    for sentence in said_otherwise(names):
        (wanted.warn or warn_user)(f"{sentence}.")
    if spec in NO_JUDGE:
        metrics = [metric for metric in metrics if not questions([metric])]
        if not metrics:
            raise UsageError("every metric asked for needs a judge. Use --judge local, or metrics from labels.")
    asked = [metric for metric in metrics if questions([metric])]
    if wanted.judge_repeats < 1 or (wanted.judge_repeats > 1 and not asked):
        got = f"{wanted.judge_repeats} with no metric that asks a judge" if asked == [] else wanted.judge_repeats
        raise UsageError(f"judge_repeats must be 1, or more where metrics ask a judge; got {got}.")
    if wanted.workers is not None and wanted.workers < 1:
        raise UsageError(f"workers must be at least 1, got {wanted.workers}.")
    if is_people(spec):
        return lambda store, run_id: (_by_people(wanted, spec, metrics, store, run_id),)
    needed = bool(asked) or spec not in ("local", *NO_JUDGE)     # a wrong name is told in any case
    judge = build_judge(spec) if needed else None
    return lambda store, run_id: tuple(
        plan(
            store, run_id, asked if repeat else metrics, judge, limit=wanted.limit, keep=wanted.filter or {},
            judge_repeat=repeat, retry_failed=wanted.retry_failed, listing=listed(wanted, store, run_id),
        )
        for repeat in range(wanted.judge_repeats)
    )  # fmt: skip


def _by_people(
    wanted: EvaluateOptions, spec: str, metrics: Sequence[Metric], store: Store, run_id: str
) -> Plan:
    """A plan of the responses that people labelled, and of the metrics that their labels tell of.

    Raises:
        UsageError: a metric that was named and that they do not tell of; nobody labelled anything of this run.
    """
    from ragauge.engine.people import labelled, people_judge
    from ragauge.engine.plan import plan
    from ragauge.metrics.catalogue import questions

    judge = people_judge(store, spec)
    told = [metric for metric in metrics if not questions([metric]) or judge.tells(str(metric))]
    lost = [str(metric) for metric in metrics if metric not in told and str(metric) in named(wanted.metrics)]
    if lost or not any(questions([metric]) for metric in told):
        raise UsageError(
            f"people's labels do not tell of {', '.join(lost) or 'any metric asked for'}. Labels of support tell of "
            "faithfulness, unsupported, contradicted and not_in_context, labels of relevance of context_precision."
        )
    keep, only = wanted.filter or {}, labelled(store, run_id, judge)
    return plan(store, run_id, told, judge, limit=wanted.limit, keep=keep, only=only,
                listing=listed(wanted, store, run_id))  # fmt: skip


def listed(wanted: EvaluateOptions, store: Store, run_id: str) -> IndexListing | None:
    """Which of the run's labelled documents are in the listing that was given; None without one."""
    if wanted.index is None:
        return None
    from ragauge.data.document import IndexListing
    from ragauge.data.readers.corpus import doc_ids, said
    from ragauge.data.readers.record_reader import warn_user

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


class Planned(NamedTuple):
    """What has to be done.

    Attributes:
        plans: one an asking of the judge; the first is the one that is scored.
        run: whose responses.
        new: whether the run came in now.
        base: the baseline.
        calling: how the judge's models are called.
    """

    plans: tuple[Plan, ...]
    run: Run
    new: bool
    base: Run | None
    calling: Calling | None


def planned(wanted: EvaluateOptions, store: Store) -> Planned:
    """What has to be done: the source's examples less those that are stored.

    Names are checked before anything is read, a baseline before anything is asked, and a run that came in for nothing
    is taken out again.
    """
    plan, base = planner(wanted), baseline_run(wanted.baseline, store)
    run, new = stored(wanted.inputs(), store)
    try:
        plans = plan(store, run.run_id)
        check(store, plans[0], run, base)
        return Planned(plans, run, new, base, wanted.of(plans[0].judge))
    except RagaugeError:
        if new:
            store.runs.delete(run.run_id)
        raise


async def evaluated(wanted: EvaluateOptions) -> Scorecard:
    """Stores what is not stored, judges what is not judged, and returns the scorecard."""
    from ragauge.api.cards import CardScope, card_of
    from ragauge.store.open import open_store

    with open_store(place_of(wanted.inputs(), wanted.store)) as opened:
        todo, took = await _judged(wanted, opened)
        plan = todo.plans[0]
        scope = CardScope(wanted.filter or {}, plan.total, whole=True, took=took)
        return card_of(opened, todo.run, plan.metrics, plan.judge_id, scope, todo.base)


async def _judged(wanted: EvaluateOptions, store: Store) -> tuple[Planned, dict[str, Any]]:
    """Stores and judges what is not; what had to be done, and what that took."""
    todo = planned(wanted, store)
    try:
        with _said_alone(todo, wanted, store):
            return todo, await carried_out(todo, wanted, store)
    except JudgeError:
        if todo.new and not store.scores.judges(todo.run.run_id):
            store.runs.delete(todo.run.run_id)     # replies that were paid for stay
        raise


@contextmanager
def _said_alone(todo: Planned, wanted: EvaluateOptions, store: Store) -> Iterator[None]:
    """Warns where somebody else evaluates the same run at this moment: neither waits for the other's calls."""
    from ragauge.data.readers.record_reader import warn_user

    if not any(plan.pending and plan.questions for plan in todo.plans):
        yield
        return
    with store.held(todo.run.run_id) as alone:
        if not alone:
            (wanted.warn or warn_user)(
                f"{todo.run.name} ({todo.run.run_id}) is being evaluated by another process or thread now. What both "
                "ask before either has the reply is paid for twice. Stop one of them: the other goes on with all that "
                "is stored."
            )
        yield


async def carried_out(todo: Planned, wanted: EvaluateOptions, store: Store) -> dict[str, Any]:
    """Executes the plans, one asking of the judge after another; returns what that took."""
    from ragauge.engine.execute import execute

    started = time.perf_counter()
    outcomes: list[EvaluationOutcome] = []
    for plan in todo.plans:
        outcome = await execute(plan, store, workers=wanted.workers, progress=wanted.progress, calling=todo.calling)
        outcomes.append(outcome)
        if outcome.stopped:
            break
    seconds, done = time.perf_counter() - started, sum(outcome.done for outcome in outcomes)
    return {
        "seconds": round(seconds, 2), "evaluated": outcomes[0].done,
        "asked": sum(outcome.asked for outcome in outcomes), "reused": sum(outcome.reused for outcome in outcomes),
        "answers_per_second": round(done / seconds, 1) if done else 0.0, **_calls(outcomes),
    }     # fmt: skip


def _calls(outcomes: Sequence[EvaluationOutcome]) -> dict[str, Any]:
    """What an evaluation asked of models, and why it stopped, where it did."""
    counts: dict[str, Any] = {}
    made = [outcome.calling for outcome in outcomes if outcome.calling is not None]
    if made:
        last = made[-1]  # what was spent is counted over all askings, calls in each
        counts = {
            "calls": sum(outcome.calls for outcome in made),
            "replies_reused": sum(outcome.reused for outcome in made),
        }
        counts |= {"cost": None if last.unpriced else last.cost}
        counts |= {"input_tokens": last.tokens.input_tokens, "output_tokens": last.tokens.output_tokens}
    stopped = outcomes[-1].stopped
    return counts | ({"stopped": stopped} if stopped else {})


async def dry_run(wanted: EvaluateOptions) -> dict[str, Any]:
    """What `evaluated` would do, as JSON types; a run that is not stored stays so, and has no id."""
    from ragauge.engine.estimate import expect
    from ragauge.store.open import open_store

    with open_store(place_of(wanted.inputs(), wanted.store)) as opened:
        todo = planned(wanted, opened)
        plan, expected = todo.plans[0], expect(todo.plans, opened)
        if todo.new:
            opened.runs.delete(todo.run.run_id)
        return {
            "run_id": "" if todo.new else todo.run.run_id,
            "name": todo.run.name,
            "judge": plan.judge_id or "",
            "metrics": [str(metric) for metric in plan.metrics],
            "questions": list(plan.questions),
            "examples": plan.total,
            "stored": plan.done,
            "to_do": plan.pending,
            **expected,
        }
