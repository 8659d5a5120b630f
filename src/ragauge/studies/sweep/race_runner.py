"""A race of trials over the same questions, in which clear losers are dropped at each checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ragauge.core.errors import StoreError, SystemFailed, UsageError
from ragauge.core.example import EvalSet
from ragauge.metrics.base import Metric
from ragauge.metrics.reasons import BEATEN, CANNOT_WIN
from ragauge.stats.families import Rivalry, compare_rivals, plan_checkpoints, spend_alpha
from ragauge.studies.sweep.systems import BudgetSpent
from ragauge.studies.trial_summary import compute_score_bounds, compute_score_span

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DroppedTrial:
    """A trial that is out of the race."""

    trial: str  #: its name.
    look: int  #: number of the look, from 1.
    examples: int  #: seen then.
    rival: str  #: the trial that beats it.
    difference: float  #: mean of the rival less its own, at the best that its failed scores allow.
    margin: float = 0.0  #: it was dropped for not beating the leader by this; 0 = for losing.

    @property
    def reason(self) -> str:
        """One sentence."""
        text = BEATEN.build_reason(self.look, self.examples, self.rival, f"{self.difference:.3f}")
        return CANNOT_WIN.build_reason(text, f"{self.margin:g}") if self.margin else text


def find_losers(
    bounds: Mapping[str, tuple[Floats, Floats]],
    look: int,
    alpha: float,
    *,
    clusters: npt.NDArray[Any] | None = None,
    margin: float = 0.0,
    span: float = 0.0,
    seed: int = 0,
) -> list[DroppedTrial]:
    """The trials to drop: those that another beats by the max-t test of the set that may be best, at level alpha.

    A failed score speaks against a trial by the most that it could have been, so that no trial falls because calls
    failed.

    Args:
        bounds: trial -> shapes (n,), the least and the most that each score may be, larger is better; NaN = undefined.
            One trial at least stays.
        look: its number, from 1.
        alpha: chance of an error at this look.
        clusters: shape (n,), labels of what examples depend on.
        margin: also drop what is surely not better than the leader by this.
        span: greatest less least possible score; 0 = not bounded.
        seed: of the test's draws.
    """
    import numpy as np

    names = list(bounds)
    low, high = (np.column_stack([pair[bound_index] for pair in bounds.values()]) for bound_index in (0, 1))
    results = compare_rivals(low, high, clusters=clusters, alpha=alpha, span=span, seed=seed)
    out = {n: _build_loser(names, n, rivalry, look, len(low)) for n, rivalry in enumerate(results) if rivalry.is_beaten}
    if margin > 0:
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num(np.nanmean((low + high) / 2, axis=0), nan=-np.inf) if len(low) else None
        leader = int(np.argmax(middle)) if middle is not None else 0
        for n in range(len(names)):
            if n != leader and n not in out:
                lower = np.column_stack([low[:, leader] + margin, low[:, n]])
                upper = np.column_stack([high[:, leader] + margin, high[:, n]])
                rivalry = compare_rivals(lower, upper, clusters=clusters, alpha=alpha, span=span, seed=seed)[1]
                if rivalry.is_beaten:
                    rivalry = replace(rivalry, rival=leader, difference=rivalry.difference - margin)
                    out[n] = replace(_build_loser(names, n, rivalry, look, len(low)), margin=margin)
    return [out[n] for n in sorted(out)]


def _build_loser(names: Sequence[str], n: int, rivalry: Rivalry, look: int, examples: int) -> DroppedTrial:
    return DroppedTrial(names[n], look, examples, names[rivalry.rival or 0], rivalry.difference)


MIN_RACE_EXAMPLES = 30  # examples of the first look; a smaller set is not raced
ALPHA = 0.05  # chance that the best is dropped, over all looks
Say = Callable[[str], None]


class Contestant(Protocol):
    """A trial that can be asked some questions now and others later."""

    @property
    def name(self) -> str:
        """Unique among the trials."""

    @property
    def shared_index(self) -> str:
        """Names what it shares with other trials, such as an index: those of one name are asked one after the other."""

    async def ask_queries(self, query_ids: Sequence[str]) -> None:
        """Asks and scores these questions, less what is stored. What it raises makes the trial fail."""

    def scores(self) -> pl.DataFrame:
        """All of its scores so far."""


@dataclass(frozen=True)
class RaceCourse:
    """The order of the questions, and where to look."""

    order: tuple[str, ...]  #: ids of the examples as they are asked, the same for all trials; clusters stand together.
    stops: tuple[int, ...]  #: after how many of them to look, 30, 45, 68 … clusters; the last is all.
    levels: tuple[float, ...]  #: chance of an error at each look.
    clusters: npt.NDArray[np.int64] | None = None  #: shape (examples,), labels; None where every example stands alone.

    @classmethod
    def of(cls, eval_set: EvalSet, *, race: bool = True) -> RaceCourse:
        """The course of a set: one look at the end where there is no race, or too few examples for one."""
        import numpy as np

        def hash_text(text: str) -> bytes:
            return hashlib.sha256(f"{eval_set.version} {text}".encode("utf-8", "surrogatepass")).digest()

        group = {
            example.query_id: example.query_id if example.cluster is None else f"cluster {example.cluster}"
            for example in eval_set
        }
        order = tuple(sorted(group, key=lambda query_id: (hash_text(group[query_id]), hash_text(query_id))))
        labels = [group[query_id] for query_id in order]
        n = len(order)
        bounds = [stop for stop in range(1, n + 1) if stop == n or labels[stop] != labels[stop - 1]]
        stops = (
            plan_checkpoints(len(bounds), MIN_RACE_EXAMPLES)
            if race and len(bounds) >= MIN_RACE_EXAMPLES
            else (len(bounds),)
        )
        look_stops = tuple(bounds[stop - 1] for stop in stops)
        cluster_codes = None if len(set(labels)) == n else np.unique(labels, return_inverse=True)[1].astype(np.int64)
        return cls(order, look_stops, spend_alpha([stop / n for stop in look_stops], ALPHA), cluster_codes)


@dataclass
class RaceResult:
    """What a race came to."""

    survivors: tuple[str, ...] = ()  #: names of the trials that were asked everything, in order.
    #: trials that were dropped, in the order in which they fell.
    losers: list[DroppedTrial] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  #: trial -> why its system could not be made or asked.
    counts: dict[str, int] = field(default_factory=dict)  #: trial -> questions of the set that it was asked.


async def run_race(
    trials: Sequence[Contestant],
    course: RaceCourse,
    objective: Metric,
    *,
    margin: float = 0.0,
    after_look: Callable[[int, RaceResult], None] | None = None,
    say: Say | None = None,
) -> RaceResult:
    """Asks the trials look by look, and drops those that surely lose.

    Everything is decided from what is stored, so that the same call after a kill drops the same trials at the same
    looks and asks nothing twice.

    Args:
        trials: what competes.
        course: the questions and the looks.
        objective: what decides.
        margin: also drop what surely cannot beat the leader by this.
        after_look: called after each look with its number and what is known by then.
        say: told what is done.

    Raises:
        UsageError: no trial could be asked; the first reason is in the text.
        BudgetSpent: the judge's budget is spent; what is stored stays.
    """
    race_result = RaceResult()
    alive = list(trials)
    for look, stop in enumerate(course.stops, 1):
        query_ids = course.order[:stop]
        # the way back the second time: what was open last is open first
        for trial in sorted(alive, key=lambda item: item.shared_index, reverse=look % 2 == 0):
            await _advance_trial(trial, query_ids, race_result)
        alive = [trial for trial in alive if trial.name not in race_result.failed]
        if not alive:
            raise UsageError(f"sweep: no trial could answer. {next(iter(race_result.failed.values()))}")
        last = look == len(course.stops)
        if len(course.stops) > 1 and len(alive) > 1:
            dropped = _find_losers_at(course, look, alive, objective, margin)
            race_result.losers += dropped
            if not last:
                dropped_names = {item.trial for item in dropped}
                alive = [trial for trial in alive if trial.name not in dropped_names]
        if say is not None:
            say(f"checkpoint {look}/{len(course.stops)}, {stop} questions: {len(alive)} of {len(trials)} trials left")
        race_result.survivors = tuple(trial.name for trial in alive)
        if after_look is not None:
            after_look(look, race_result)
    return race_result


def _find_losers_at(
    course: RaceCourse, look: int, alive: Sequence[Contestant], objective: Metric, margin: float
) -> list[DroppedTrial]:
    stop = course.stops[look - 1]
    bounds = {trial.name: compute_score_bounds(objective, trial.scores(), course.order[:stop]) for trial in alive}
    clusters = None if course.clusters is None else course.clusters[:stop]
    span = compute_score_span(objective)
    return find_losers(bounds, look, course.levels[look - 1], clusters=clusters, margin=margin, span=span)


async def _advance_trial(trial: Contestant, query_ids: Sequence[str], race_result: RaceResult) -> None:
    try:
        await trial.ask_queries(query_ids)
        race_result.counts[trial.name] = len(query_ids)
    except (StoreError, BudgetSpent):
        raise
    except SystemFailed as error:
        race_result.failed[trial.name] = str(error)
    except Exception as error:  # whatever a factory raises: this trial fails, the others go on
        race_result.failed[trial.name] = f"{type(error).__name__}: {error}"


def find_idle_parameters(trials: Mapping[str, Mapping[str, Any]], answers: Mapping[str, Sequence[str]]) -> list[str]:
    """Parameters that change nothing: all trials that differ in one of them alone gave the same answers.

    Args:
        trials: trial -> its parameters.
        answers: trial -> what it answered to the same questions, in order, as texts or hashes of them.
    """
    from ragauge.core.identity import to_canonical_json

    idle = []
    for name in next(iter(trials.values()), {}):
        groups: dict[str, list[str]] = {}
        for trial, parameters in trials.items():
            groups.setdefault(to_canonical_json({k: v for k, v in parameters.items() if k != name}), []).append(trial)
        comparable = [group for group in groups.values() if len(group) > 1]
        if comparable and all(len({tuple(answers[trial_name]) for trial_name in group}) == 1 for group in comparable):
            idle.append(name)
    return idle
