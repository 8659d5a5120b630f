"""Evaluate: store, plan, execute, and the scorecard of what came out."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragauge.comparison.baselines.baseline import check_baseline, find_baseline_run
from ragauge.core.errors import DataError, JudgeError, RagaugeError, UsageError
from ragauge.core.messages import end_sentence, format_count
from ragauge.engine.waiting import wait_for_turn
from ragauge.verbs.evaluate_options import EvaluateOptions
from ragauge.verbs.option_specs import parse_controls, parse_criteria
from ragauge.verbs.sources import find_store_url, parse_names, parse_names_or_metrics, resolve_source

if TYPE_CHECKING:
    from ragauge.core.document import IndexListing
    from ragauge.core.response import Run
    from ragauge.engine.execute import EvaluationOutcome
    from ragauge.engine.models import CallOptions
    from ragauge.engine.plan import Plan
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store

NO_JUDGE_SPECS = ("none", "")


class RunPlanner(Protocol):
    """Plans a run of a store, a plan an asking of the judge."""

    def __call__(self, store: Store, run_id: str, only: Collection[int] | None = None) -> tuple[Plan, ...]:
        """The plans, the first asking first; what was not drawn for the judge has one of its own, the last.

        Args:
            store: with the run.
            run_id: of the run.
            only: numbers of the responses that count; None = all.
        """


def build_planner(options: EvaluateOptions) -> RunPlanner:
    """What plans runs. Metrics and judge are found first."""
    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.engine.people import is_people_judge
    from ragauge.engine.plan import Selection, build_plan
    from ragauge.metrics.catalogue import list_questions, list_renamed, parse_metric, select_metrics
    from ragauge.metrics.criterion import list_criteria
    from ragauge.metrics.own_class import check_distinct_names
    from ragauge.readers.options import warn_user

    names, spec = (
        parse_names_or_metrics(options.metrics),
        resolve_judge_spec(options.judge, options.judge_name, options.prompts),
    )
    criteria = parse_criteria(options.criteria)
    columns = [parse_metric(name) for name in options.build_input_source().scores]
    metrics = select_metrics([*(names or ("default", *criteria)), *columns])
    check_distinct_names([*metrics, *criteria])
    for sentence in list_renamed([name for name in names if isinstance(name, str)]):
        (options.warn or warn_user)(f"{sentence}.")
    if spec in NO_JUDGE_SPECS:
        metrics = [metric for metric in metrics if not list_questions([metric])]
        if not metrics:
            raise UsageError("every requested metric needs a judge. Use --judge local, or metrics from labels.")
    judged_metrics = [metric for metric in metrics if list_questions([metric])]
    if options.judge_repeats < 1 or (options.judge_repeats > 1 and not judged_metrics):
        got = (
            f"{options.judge_repeats} without a metric that uses a judge"
            if judged_metrics == []
            else options.judge_repeats
        )
        raise UsageError(f"judge_repeats must be 1, or more if a metric uses a judge; got {got}.")
    if options.workers is not None and options.workers < 1:
        raise UsageError(f"workers must be at least 1, got {options.workers}.")
    if is_people_judge(spec):
        return lambda store, run_id, only=None: (_plan_labeled(options, spec, metrics, store, run_id, only),)
    n_controls = parse_controls(options.controls)
    needed = bool(judged_metrics) or spec not in ("local", *NO_JUDGE_SPECS)  # a wrong name is told in any case
    judge = build_judge(spec) if needed else None
    free = [metric for metric in metrics if metric not in judged_metrics]

    def build_plans(store: Store, run_id: str, only: Collection[int] | None = None) -> tuple[Plan, ...]:
        listing, keep = read_index_listing(options, store, run_id), options.filter or {}
        left_out = store.collecting.list_unsampled(run_id) if judged_metrics and only is None else set()
        if left_out:
            only = set(store.runs.load_order(run_id).numbers) - left_out
        selection = Selection(options.limit, keep, only, options.retry_failed, n_controls, list_criteria(criteria))
        run_plans = tuple(
            build_plan(
                store,
                run_id,
                judged_metrics if repeat else metrics,
                judge,
                selection,
                judge_repeat=repeat,
                listing=listing,
            )
            for repeat in range(options.judge_repeats)
        )
        if not left_out or not free:
            return run_plans
        remaining = Selection(options.limit, keep, left_out, options.retry_failed)
        return (*run_plans, build_plan(store, run_id, free, None, remaining, listing=listing))

    return build_plans


def _plan_labeled(
    options: EvaluateOptions,
    spec: str,
    metrics: Sequence[Metric],
    store: Store,
    run_id: str,
    only: Collection[int] | None,
) -> Plan:
    """A plan of the responses that people labelled, and of the metrics that their labels tell of.

    Of a metric that asks no judge every response is planned: where people gave no score, its own is not theirs.

    Raises:
        UsageError: a metric that was named and that they do not tell of; nobody labelled anything of this run.
    """
    from ragauge.core.label import SCORE_PREFIX, UNKNOWN_KIND_NOTE, UNSUPPORTED_KIND_METRICS
    from ragauge.diagnosis.findings.cause_texts import build_draw_command
    from ragauge.engine.people import find_labeled_responses, find_people_judge
    from ragauge.engine.plan import Selection, build_plan
    from ragauge.metrics.catalogue import list_questions

    judge = find_people_judge(store, spec, [str(metric) for metric in metrics])
    covered = [metric for metric in metrics if not list_questions([metric]) or judge.has_metric(str(metric))]
    uncovered = [
        str(metric) for metric in metrics if metric not in covered and str(metric) in parse_names(options.metrics)
    ]
    if uncovered or not any(judge.has_metric(str(metric)) for metric in covered):
        kinds = judge.which_not_said and not set(UNSUPPORTED_KIND_METRICS).isdisjoint(uncovered)
        reason = (
            f" {judge.which_not_said:,} of {judge.support:,} support labels say {UNKNOWN_KIND_NOTE}; a later "
            "label by "
            "the same annotator replaces one."
        )
        name, size = store.runs.find(run_id).name, store.runs.count_responses(run_id)
        raise UsageError(
            f"human labels do not cover {', '.join(uncovered) or 'any requested metric'}, only "
            f"{', '.join(judge.list_metrics())}.{reason if kinds else ''} "
            "Draw more: "
            f"{build_draw_command(name, size, SCORE_PREFIX + (uncovered[0] if uncovered else 'faithfulness'))}"
        )
    labeled = find_labeled_responses(store, run_id, judge)
    unasked = any(judge.scores(str(metric)) and not list_questions([metric]) for metric in covered)
    counted = labeled if only is None else {*labeled}.intersection(only)
    selection = Selection(options.limit, options.filter or {}, only=only if unasked else counted)
    return build_plan(store, run_id, covered, judge, selection, listing=read_index_listing(options, store, run_id))


def read_index_listing(options: EvaluateOptions, store: Store, run_id: str) -> IndexListing | None:
    """Which of the run's labelled documents are in the listing that was given; None without one."""
    if options.index is None:
        return None
    from ragauge.core.document import IndexListing
    from ragauge.readers.index_listing import format_listing_name, read_doc_ids
    from ragauge.readers.options import warn_user

    labelled = store.listings.list_labeled_documents(run_id)
    listing = IndexListing.of(read_doc_ids(options.index), labelled)
    if not listing.documents:
        raise DataError("the index listing is empty.", source=format_listing_name(options.index))
    if labelled and listing.absent == labelled:
        (options.warn or warn_user)(
            f"{format_listing_name(options.index)}: none of the {len(labelled)} labeled documents is in this "
            "listing of the index "
            f"({listing.documents:,} ids). Do both use the same document ids?"
        )
    return listing


class EvaluationPlan(NamedTuple):
    """What has to be done."""

    #: one an asking of the judge; the first is the one that is scored. What asks nobody goes on when the money has
    #: ended.
    plans: tuple[Plan, ...]
    run: Run  #: whose responses.
    new: bool  #: whether the run came in now.
    base: Run | None  #: the baseline.
    calling: CallOptions | None  #: how the judge's models are called.


def plan_evaluation(options: EvaluateOptions, store: Store) -> EvaluationPlan:
    """What has to be done: the source's examples less those that are stored.

    Names are checked before anything is read, a baseline before anything is asked, and a run that came in for nothing
    is taken out again.
    """
    plan, base = build_planner(options), find_baseline_run(options.baseline, store)
    run, new = resolve_source(options.build_input_source(), store)
    try:
        plans = plan(store, run.run_id)
        check_baseline(store, plans[0], run, base)
        return EvaluationPlan(plans, run, new, base, options.of(plans[0].judge))
    except RagaugeError:
        if new:
            store.runs.delete(run.run_id)
        raise


async def evaluate_source(options: EvaluateOptions) -> Scorecard:
    """Stores what is not stored, judges what is not judged, and returns the scorecard."""
    from ragauge.evaluation.overview.verb import find_default_comparison
    from ragauge.evaluation.scorecard.cards import build_card
    from ragauge.evaluation.scorecard.completeness import CardScope
    from ragauge.store.store_access import open_store

    with open_store(find_store_url(options.build_input_source(), options.store)) as opened_store:
        prepared, took = await _judge_pending(options, opened_store)
        plan = prepared.plans[0]
        total = sum(run_plan.total for run_plan in prepared.plans if run_plan.judge_repeat == 0)
        scope = CardScope(options.filter or {}, total, whole=True, took=took)
        judges = opened_store.scores.judges(prepared.run.run_id)
        if plan.judge_id is not None and plan.judge_id in judges[1:]:  # it is the last, though it had nothing to say
            opened_store.scores.record_judge_again(prepared.run.run_id, plan.judge_id)
        run = opened_store.runs.find(prepared.run.run_id)  # as it is now: its scorecard is kept
        card = build_card(opened_store, run, plan.metrics, plan.judge_id, scope, prepared.base)
        if opened_store.scores.metrics(run.run_id, plan.judge_id):  # nothing is scored where the money ended before
            find_default_comparison(
                opened_store, run
            )  # what lists and pages show of it, beside what it is usually held against, is kept
        if prepared.calling is not None:
            _require_verdicts(card, plan.judge_id or "")
        return card


def _require_verdicts(card: Scorecard, judge_id: str) -> None:
    """Raises where a model was asked and none of its calls brought a verdict."""
    use = card.card.use
    if use is None or not 0 < use.questions == use.empty:
        return
    reason = f" Most common reason: {end_sentence(use.reason)}" if use.reason else ""
    raise JudgeError(
        f"{judge_id.partition('#')[0]} gave no verdict on any of {format_count(use.questions, 'question')}.{reason} "
        f"The replies are stored in {card.card.run.run_id}. To retry, add --retry-failed (in Python retry_failed=True)."
    )


async def _judge_pending(options: EvaluateOptions, store: Store) -> tuple[EvaluationPlan, dict[str, Any]]:
    """Stores and judges what is not; what had to be done, and what that took."""
    from ragauge.engine.plan import renew_plan
    from ragauge.readers.options import warn_user

    prepared = plan_evaluation(options, store)
    if not any(plan.pending and plan.questions for plan in prepared.plans):
        return prepared, await execute_plans(prepared, options, store)
    try:
        async with wait_for_turn(store, prepared.run, "evaluated", options.warn or warn_user) as waited:
            if waited:  # the other has stored replies and scores meanwhile
                prepared = prepared._replace(plans=tuple(renew_plan(plan, store) for plan in prepared.plans))
            return prepared, await execute_plans(prepared, options, store)
    except JudgeError:
        if prepared.new and not store.scores.judges(prepared.run.run_id):
            store.runs.delete(prepared.run.run_id)  # replies that were paid for stay
        raise


async def execute_plans(prepared: EvaluationPlan, options: EvaluateOptions, store: Store) -> dict[str, Any]:
    """Executes the plans, one asking of the judge after another; returns what that took."""
    from ragauge.engine.execute import execute_plan
    from ragauge.engine.garbage import reduce_garbage_collection
    from ragauge.readers.options import warn_user

    started = time.perf_counter()
    outcomes: list[EvaluationOutcome] = []
    run_id, base_id = prepared.run.run_id, prepared.base.run_id if prepared.base is not None else ""
    store.evaluations.begin_evaluation(
        run_id, sum(p.done for p in prepared.plans), sum(p.total for p in prepared.plans), base_id
    )
    try:
        with reduce_garbage_collection():
            for plan in prepared.plans:
                if plan.questions and any(outcome.stopped for outcome in outcomes):
                    continue
                how: Any = {"workers": options.workers, "progress": options.progress, "calling": prepared.calling}
                outcomes.append(await execute_plan(plan, store, **how))
    finally:
        store.evaluations.end(run_id)
    for note in dict.fromkeys(note for outcome in outcomes for note in outcome.notes):
        (options.warn or warn_user)(note)
    seconds, n_done = time.perf_counter() - started, sum(outcome.done for outcome in outcomes)
    return {
        "seconds": round(seconds, 2),
        "evaluated": outcomes[0].done,
        "asked": sum(outcome.n_asked for outcome in outcomes),
        "reused": sum(outcome.reused for outcome in outcomes),
        "answers_per_second": round(n_done / seconds, 1) if n_done else 0.0,
        **_count_calls(outcomes),
    }


def _count_calls(outcomes: Sequence[EvaluationOutcome]) -> dict[str, Any]:
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
    stopped = next((outcome.stopped for outcome in outcomes if outcome.stopped), "")
    return counts | ({"stopped": stopped} if stopped else {})


async def preview_evaluation(options: EvaluateOptions) -> dict[str, Any]:
    """What `evaluate_source` would do, as JSON types; a run that is not stored stays so, and has no id."""
    from ragauge.engine.estimate import summarize_expected_cost
    from ragauge.store.store_access import open_store

    with open_store(find_store_url(options.build_input_source(), options.store)) as opened_store:
        prepared = plan_evaluation(options, opened_store)
        plan, expected = prepared.plans[0], summarize_expected_cost(prepared.plans, opened_store)
        if prepared.new:
            opened_store.runs.delete(prepared.run.run_id)
        return {
            "run_id": "" if prepared.new else prepared.run.run_id,
            "name": prepared.run.name,
            "judge": plan.judge_id or "",
            "metrics": [str(metric) for metric in plan.metrics],
            "questions": list(plan.questions),
            "examples": plan.total,
            "stored": plan.done,
            "to_do": plan.pending,
            **expected,
        }
