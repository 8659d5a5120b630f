"""What an evaluation has to do: what is asked for, less what is stored."""

from __future__ import annotations

import random
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.document import IndexListing
from ragauge.core.errors import UsageError
from ragauge.core.facts import Criterion
from ragauge.core.response import Controls
from ragauge.judges.judge import Judge, can_give_scores
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import is_own, list_questions, require_code
from ragauge.metrics.own_class import Declaration, build_declaration
from ragauge.store.responses import ResponseOrder
from ragauge.store.scores import Column
from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class Selection:
    """Which responses of a run are looked at."""

    limit: int | None = None  #: only so many, the first of the order; those done already count.
    #: segment column, or "tag" -> value; only responses whose examples match all.
    keep: Mapping[str, str] = field(default_factory=dict)
    only: Collection[int] | None = None  #: numbers of the responses that count; None = all.
    retry_failed: bool = False  #: do again what failed before.
    #: pairs of known truth that the judge is asked about, at most; 0 = shipped ones alone; None = as many as it is
    #: asked about by default.
    controls: int | None = None
    criteria: tuple[Criterion, ...] = ()  #: of the run, besides those among the metrics.


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of one evaluation. Making it changes nothing."""

    run_id: str  #: whose responses.
    metrics: tuple[Metric, ...]  #: what is computed.
    questions: tuple[str, ...]  #: what is asked about each response, in the order of asking.
    judge_id: str | None  #: who is asked; None where nothing is.
    judge_repeat: int  #: which asking of the judge.
    total: int  #: responses asked for.
    done: int  #: of these, those that have every score already.
    numbers: Sequence[int] = field(repr=False)  #: of these, those to do, by number in the store, in the order of doing.
    keys: Sequence[int] = field(repr=False)  #: hash of the question of each of them; equal ones stand together.
    judge: Judge | None = field(default=None, repr=False, compare=False)  #: who answers.
    listing: IndexListing | None = field(default=None, repr=False)  #: what is in the system's index; None = not known.
    own: frozenset[str] = frozenset()  #: printed names of the metrics whose scores the judge gives itself.
    selection: Selection = field(default_factory=Selection, repr=False)  #: which responses were asked for.
    #: pairs of known truth that the judge is asked about first; 0 = shipped ones alone, None = none.
    n_controls: int | None = None
    #: what was stored of them when the plan was made.
    controls: Controls | None = field(default=None, repr=False, compare=False)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those asked about, where one is among the metrics: all of the run's, so that what is found is the same."""
        if "meet_criteria" not in self.questions:
            return ()
        from ragauge.metrics.criterion import list_criteria

        own_criteria = {criterion.name: criterion for criterion in list_criteria(self.metrics)}
        others = {selected.name: own_criteria.get(selected.name, selected) for selected in self.selection.criteria}
        return tuple((others | own_criteria).values())

    @property
    def fingerprint(self) -> str:
        """Of the controls that verdicts rest on; "" without any."""
        return "" if self.controls is None else self.controls.fingerprint

    @property
    def pending(self) -> int:
        """How many responses are to be evaluated."""
        return len(self.numbers)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Whose scores are written, in the order of the metrics."""
        return list_columns(self.metrics, self.judge_id, self.judge_repeat, self.own)


def build_plan(
    store: Store,
    run_id: str,
    metrics: Sequence[Metric],
    judge: Judge | None,
    selection: Selection | None = None,
    *,
    judge_repeat: int = 0,
    listing: IndexListing | None = None,
) -> Plan:
    """What is to be done for a run, from what the store holds; it only reads.

    The order is drawn from the run's id: the same every time, so that what a stopped evaluation did is a random
    sample, and so is a limit, and both are continued by the next. Responses to one question stand together, since
    what is asked about them may be the same.

    Args:
        store: where the run is.
        run_id: the run.
        metrics: what to compute.
        judge: who answers; None = nobody, and metrics that need a judge are not applicable.
        selection: which responses; None = all, and what failed before stays.
        judge_repeat: 0 for the first asking of the judge; another number asks everything anew beside it.
        listing: what is in the system's index; None = as it was known last. Failures whose cause was found with
            another one are done again, which asks nothing anew; so are verdicts by other controls or another rule.

    Raises:
        UnknownName: no such run, segment or value.
        UsageError: nothing matches keep, or limit is less than 1.
    """
    require_code(metrics)
    selection = selection or Selection()
    order = _select_responses(store, run_id, selection)
    metrics = tuple(metrics)
    own_scores = frozenset(str(metric) for metric in metrics if can_give_scores(judge) and judge.scores(str(metric)))
    judge, answerable = _resolve_judge(metrics, judge, own_scores)
    judge_id, repeat = (None, 0) if judge is None else (judge.judge_id, judge_repeat)
    columns = list_columns(metrics, judge_id, repeat, own_scores)
    done_numbers = store.scores.find_complete(
        run_id, columns, failed_too=not selection.retry_failed, only=selection.only
    )
    n_controls = _resolve_n_controls(judge, selection.controls) if answerable else None
    stored = None if judge_id is None else store.controls.read(run_id, judge_id, repeat)
    fingerprint = "" if stored is None else stored.fingerprint
    done_numbers -= store.verdicts.find_outdated(run_id, judge_id, fingerprint, repeat, only=selection.only)
    if (listing := listing or store.listings.read(run_id)) is not None:
        done_numbers -= store.listings.find_outdated(run_id, judge_id, listing.fingerprint, repeat)
    todo = (
        ResponseOrder((number, key) for number, key in order if number not in done_numbers)
        if metrics
        else ResponseOrder()
    )
    return Plan(
        run_id,
        metrics,
        answerable,
        judge_id,
        repeat,
        len(order),
        len(order) - len(todo),
        todo.numbers,
        todo.keys,
        judge=judge,
        listing=listing,
        own=own_scores,
        selection=selection,
        n_controls=n_controls,
        controls=stored,
    )


def save_own_declarations(metrics: Sequence[Metric], store: Store) -> None:
    """Keeps what metrics of the user's own say of themselves, as the versions whose scores are read from now on."""
    if declarations := list_own_declarations(metrics):
        store.own_metrics.save_declarations(declarations)


def list_own_declarations(metrics: Sequence[Metric]) -> list[Declaration]:
    """What metrics of the user's own among these say of themselves."""
    return [build_declaration(metric) for metric in metrics if is_own(metric)]


def renew_plan(old: Plan, store: Store) -> Plan:
    """The same plan, by what the store holds now."""
    return build_plan(
        store, old.run_id, old.metrics, old.judge, old.selection, judge_repeat=old.judge_repeat, listing=old.listing
    )


def _resolve_judge(
    metrics: Sequence[Metric], judge: Judge | None, own_scores: Collection[str]
) -> tuple[Judge | None, tuple[str, ...]]:
    """Who is asked and what of it they answer; nobody where nothing is asked and nobody gives scores."""
    required = list_questions(metrics)
    if judge is None or not (required or own_scores):
        return None, ()
    return judge, tuple(question for question in required if judge.answers(question))


def _resolve_n_controls(judge: Judge | None, requested: int | None) -> int | None:
    """How many pairs the judge is asked about; None for one that has no default, unless some are requested."""
    default: int | None = getattr(judge, "n_controls", None)
    return default if requested is None or (default is None and requested == 0) else requested


def list_columns(
    metrics: Sequence[Metric], judge_id: str | None, judge_repeat: int = 0, own_scores: Collection[str] = ()
) -> tuple[Column, ...]:
    """Whose scores these metrics give: a judge's where one is asked or gives its own, nobody's elsewhere."""
    return tuple(
        Column(str(metric), metric.version, judge_id, judge_repeat)
        if judge_id is not None and (str(metric) in own_scores or list_questions([metric]))
        else Column(str(metric), metric.version)
        for metric in metrics
    )


def _select_responses(store: Store, run_id: str, selection: Selection) -> ResponseOrder:
    """(number, hash of the question) of the responses asked for, in the order of doing."""
    limit, keep, only = selection.limit, selection.keep, selection.only
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1, got {limit}.")
    if only is None or keep:
        order = _shuffle_by_question(store.runs.load_order(run_id, keep), run_id)
        order = order if only is None else ResponseOrder(entry for entry in order if entry[0] in only)
    else:
        order = _shuffle_by_question(store.runs.among(run_id, only), run_id)
    if keep and not order:
        raise UsageError(f"no example matches all of {', '.join(f'{name}={value}' for name, value in keep.items())}.")
    return order[:limit]


def is_sample(store: Store, run_id: str, done_numbers: Collection[int]) -> bool:
    """Whether the responses that were looked at are a random sample of a run.

    They are where it was stopped, since it goes in random order: what is left then lies behind what is done, but for
    what was under way. They are not where a filter chose them: then most of what is left lies among them.

    Args:
        store: where the run is.
        run_id: the run.
        done_numbers: numbers of the responses looked at, out of those of the run.
    """
    order = _shuffle_by_question(store.runs.load_order(run_id), run_id).numbers
    done_indices = [index for index, number in enumerate(order) if number in done_numbers]
    n_left = len(order) - len(done_indices)
    n_left_among = done_indices[-1] + 1 - len(done_indices) if done_indices else 0
    return 2 * n_left_among <= n_left


def _shuffle_by_question(order: ResponseOrder, run_id: str) -> ResponseOrder:
    """The responses with their questions in random order, responses to one question kept together."""
    number_by_hash: dict[int, int] = {}  # hash of the question -> its number
    question = array("q", (number_by_hash.setdefault(key, len(number_by_hash)) for key in order.keys))
    shuffled = array("q", range(len(number_by_hash)))
    random.Random(run_id).shuffle(shuffled)  # noqa: S311 - a draw of examples, no secret
    rank = array("q", bytes(8 * len(shuffled)))
    for index, number in enumerate(shuffled):
        rank[number] = index
    indices = sorted(range(len(order)), key=lambda index: rank[question[index]])
    return ResponseOrder(order[index] for index in indices)
