"""Evaluate: store, plan, execute, and the scorecard of what came out."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragauge.comparison.baselines.baseline import baseline_run, check
from ragauge.core.errors import DataError, JudgeError, RagaugeError, UsageError
from ragauge.core.messages import as_sentence, plural
from ragauge.engine.waiting import waiting_turn
from ragauge.verbs.evaluate_options import EvaluateOptions
from ragauge.verbs.option_specs import parse_controls, parse_criteria
from ragauge.verbs.sources import asked_for, named, place_of, stored

if TYPE_CHECKING:
    from ragauge.core.document import IndexListing
    from ragauge.core.response import Run
    from ragauge.engine.execute import EvaluationOutcome
    from ragauge.engine.models import Calling
    from ragauge.engine.plan import Plan
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store

NO_JUDGE = ("none", "")


class RunPlanner(Protocol):
    """Plans a run of a store, a plan an asking of the judge."""

    def __call__(self, store: Store, run_id: str, only: Collection[int] | None = None) -> tuple[Plan, ...]:
        """The plans, the first asking first; what was not drawn for the judge has one of its own, the last.

        Args:
            store: with the run.
            run_id: of the run.
            only: numbers of the responses that count; None = all.
        """


def planner(wanted: EvaluateOptions) -> RunPlanner:
    """What plans runs. Metrics and judge are found first."""
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.engine.people import is_people
    from ragauge.engine.plan import Selection, plan
    from ragauge.metrics.catalogue import parse, questions, said_otherwise, select
    from ragauge.metrics.criterion import criteria_of
    from ragauge.metrics.own_class import refuse_one_name
    from ragauge.readers.options import warn_user

    names, spec = asked_for(wanted.metrics), given_judge(wanted.judge, wanted.judge_name, wanted.prompts)
    criteria = parse_criteria(wanted.criteria)
    columns = [parse(name) for name in wanted.inputs().scores]
    metrics = select([*(names or ("default", *criteria)), *columns])
    refuse_one_name([*metrics, *criteria])
    for sentence in said_otherwise([name for name in names if isinstance(name, str)]):
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
        return lambda store, run_id, only=None: (_by_people(wanted, spec, metrics, store, run_id, only),)
    n_controls = parse_controls(wanted.controls)
    needed = bool(asked) or spec not in ("local", *NO_JUDGE)  # a wrong name is told in any case
    judge = build_judge(spec) if needed else None
    free = [metric for metric in metrics if metric not in asked]

    def plans(store: Store, run_id: str, only: Collection[int] | None = None) -> tuple[Plan, ...]:
        listing, keep = listed(wanted, store, run_id), wanted.filter or {}
        left_out = store.collecting.not_drawn(run_id) if asked and only is None else set()
        if left_out:
            only = set(store.runs.order(run_id).numbers) - left_out
        selection = Selection(wanted.limit, keep, only, wanted.retry_failed, n_controls, criteria_of(criteria))
        found = tuple(
            plan(store, run_id, asked if repeat else metrics, judge, selection, judge_repeat=repeat, listing=listing)
            for repeat in range(wanted.judge_repeats)
        )
        if not left_out or not free:
            return found
        rest = Selection(wanted.limit, keep, left_out, wanted.retry_failed)
        return (*found, plan(store, run_id, free, None, rest, listing=listing))

    return plans


def _by_people(
    wanted: EvaluateOptions,
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
    from ragauge.core.label import BY_KIND, SCORE, WHICH_NOT_SAID
    from ragauge.diagnosis.findings.label_advice import draw_command
    from ragauge.engine.people import labelled, people_judge
    from ragauge.engine.plan import Selection, plan
    from ragauge.metrics.catalogue import questions

    judge = people_judge(store, spec, [str(metric) for metric in metrics])
    told = [metric for metric in metrics if not questions([metric]) or judge.tells(str(metric))]
    lost = [str(metric) for metric in metrics if metric not in told and str(metric) in named(wanted.metrics)]
    if lost or not any(judge.tells(str(metric)) for metric in told):
        kinds = judge.which_not_said and not set(BY_KIND).isdisjoint(lost)
        why = (
            f" {judge.which_not_said:,} of {judge.support:,} labels of support say {WHICH_NOT_SAID}; a later label of "
            "the same annotator replaces one."
        )
        name, size = store.runs.find(run_id).name, store.runs.size(run_id)
        raise UsageError(
            f"people's labels do not tell of {', '.join(lost) or 'any metric asked for'}, only of "
            f"{', '.join(judge.told())}.{why if kinds else ''} "
            f"Ask for more: {draw_command(name, size, SCORE + (lost[0] if lost else 'faithfulness'))}"
        )
    known = labelled(store, run_id, judge)
    unasked = any(judge.scores(str(metric)) and not questions([metric]) for metric in told)
    counted = known if only is None else {*known}.intersection(only)
    selection = Selection(wanted.limit, wanted.filter or {}, only=only if unasked else counted)
    return plan(store, run_id, told, judge, selection, listing=listed(wanted, store, run_id))


def listed(wanted: EvaluateOptions, store: Store, run_id: str) -> IndexListing | None:
    """Which of the run's labelled documents are in the listing that was given; None without one."""
    if wanted.index is None:
        return None
    from ragauge.core.document import IndexListing
    from ragauge.readers.index_listing import doc_ids, said
    from ragauge.readers.options import warn_user

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
        plans: one an asking of the judge; the first is the one that is scored. What asks nobody goes on when the
            money has ended.
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
    from ragauge.evaluation.overview.default_comparison import held_in
    from ragauge.evaluation.scorecard.cards import CardScope, card_of
    from ragauge.store.store_access import open_store

    with open_store(place_of(wanted.inputs(), wanted.store)) as opened:
        todo, took = await _judged(wanted, opened)
        plan = todo.plans[0]
        total = sum(one.total for one in todo.plans if one.judge_repeat == 0)
        scope = CardScope(wanted.filter or {}, total, whole=True, took=took)
        judges = opened.scores.judges(todo.run.run_id)
        if plan.judge_id is not None and plan.judge_id in judges[1:]:  # it is the last, though it had nothing to say
            opened.scores.judged_again(todo.run.run_id, plan.judge_id)
        run = opened.runs.find(todo.run.run_id)  # as it is now: its scorecard is kept
        card = card_of(opened, run, plan.metrics, plan.judge_id, scope, todo.base)
        if opened.scores.metrics(run.run_id, plan.judge_id):  # nothing is scored where the money ended before
            held_in(opened, run)  # what lists and pages show of it, beside what it is usually held against, is kept
        if todo.calling is not None:
            _check_judged(card, plan.judge_id or "")
        return card


def _check_judged(card: Scorecard, judge_id: str) -> None:
    """Raises where a model was asked and none of its calls brought a verdict."""
    use = card.card.use
    if use is None or not 0 < use.questions == use.empty:
        return
    why = f" The commonest reason: {as_sentence(use.reason)}" if use.reason else ""
    raise JudgeError(
        f"{judge_id.partition('#')[0]} gave no verdict on any of {plural(use.questions, 'question')}.{why} What came "
        f"is kept in {card.card.run.run_id}. To ask again, add --retry-failed (in Python retry_failed=True)."
    )


async def _judged(wanted: EvaluateOptions, store: Store) -> tuple[Planned, dict[str, Any]]:
    """Stores and judges what is not; what had to be done, and what that took."""
    from ragauge.engine.plan import renew
    from ragauge.readers.options import warn_user

    todo = planned(wanted, store)
    if not any(plan.pending and plan.questions for plan in todo.plans):
        return todo, await carried_out(todo, wanted, store)
    try:
        async with waiting_turn(store, todo.run, "evaluated", wanted.warn or warn_user) as waited:
            if waited:  # the other has stored replies and scores meanwhile
                todo = todo._replace(plans=tuple(renew(plan, store) for plan in todo.plans))
            return todo, await carried_out(todo, wanted, store)
    except JudgeError:
        if todo.new and not store.scores.judges(todo.run.run_id):
            store.runs.delete(todo.run.run_id)  # replies that were paid for stay
        raise


async def carried_out(todo: Planned, wanted: EvaluateOptions, store: Store) -> dict[str, Any]:
    """Executes the plans, one asking of the judge after another; returns what that took."""
    from ragauge.engine.execute import execute
    from ragauge.engine.garbage import rare_collection
    from ragauge.readers.options import warn_user

    started = time.perf_counter()
    outcomes: list[EvaluationOutcome] = []
    run_id, base_id = todo.run.run_id, todo.base.run_id if todo.base is not None else ""
    store.evaluations.begin(run_id, sum(p.done for p in todo.plans), sum(p.total for p in todo.plans), base_id)
    try:
        with rare_collection():
            for plan in todo.plans:
                if plan.questions and any(outcome.stopped for outcome in outcomes):
                    continue
                how: Any = {"workers": wanted.workers, "progress": wanted.progress, "calling": todo.calling}
                outcomes.append(await execute(plan, store, **how))
    finally:
        store.evaluations.end(run_id)
    for note in dict.fromkeys(note for outcome in outcomes for note in outcome.notes):
        (wanted.warn or warn_user)(note)
    seconds, done = time.perf_counter() - started, sum(outcome.done for outcome in outcomes)
    return {
        "seconds": round(seconds, 2),
        "evaluated": outcomes[0].done,
        "asked": sum(outcome.asked for outcome in outcomes),
        "reused": sum(outcome.reused for outcome in outcomes),
        "answers_per_second": round(done / seconds, 1) if done else 0.0,
        **_calls(outcomes),
    }


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
    stopped = next((outcome.stopped for outcome in outcomes if outcome.stopped), "")
    return counts | ({"stopped": stopped} if stopped else {})


async def dry_run(wanted: EvaluateOptions) -> dict[str, Any]:
    """What `evaluated` would do, as JSON types; a run that is not stored stays so, and has no id."""
    from ragauge.engine.estimate import expect
    from ragauge.store.store_access import open_store

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
