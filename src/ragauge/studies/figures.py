"""What a kind of study declares, and what is read of its trials: the figures that every output shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.search_space import called
from ragauge.core.study import Study, Trial
from ragauge.metrics.catalogue import parse
from ragauge.scores.known_items import KNOWN_ITEM, SEGMENT, known_item_caution
from ragauge.scores.results.chart import ReportChart
from ragauge.studies.front import choose_cost
from ragauge.studies.means import ALL, TrialMean, measured_means, trial_means
from ragauge.studies.recommendation import RaceOutcome, StudyTarget, target_of
from ragauge.studies.trial_summary import StudyReading, may_be_taken, read_measured, read_trials

if TYPE_CHECKING:
    from ragauge.scores.arrays import ScoreColumns
    from ragauge.stats.judge_error import JudgeMeanError
    from ragauge.studies.means import Mask


def _written(value: object) -> str:
    """A parameter's value as trials' names have it: false, not False."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table that a kind adds under the trials.

    Attributes:
        heading: of its section.
        columns: their heads.
        rows: cells as they are printed, as many as there are columns.
        numbers: heads of the columns that stand to the right.
        lead: sentences before it.
        notes: how to read it.
    """

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


GAINS = ("*per_second*", "recall_at_*", "predicted_at_*", "exact_recall", "labelled_recall_of_exact")  # no costs
MOST_CAUTIONS = 6  # sentences on trials that lack scores
Told = str | StudyTable | ReportChart


def _nothing(_: StudyFigures) -> Iterable[Told]:
    return ()


def _as_read(_: StudyFigures, reading: StudyReading) -> StudyReading:
    return reading


def _as_tested(_: StudyFigures, means: tuple[TrialMean, ...]) -> tuple[TrialMean, ...]:
    return means


def _alike(_: Trial) -> str:
    return ""


def _rival(_: Trial) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class StudyKind:
    """A kind of study, declared once; named in `analysis.studies.kinds` so that stored studies find it.

    Attributes:
        name: such as chunking; kept with every study.
        decides: what trials are held to: printed names of metrics, or of measurements with intervals for trials without
            scores, the first that every complete trial has; * stands for anything.
        costs: measurements that say what a trial costs, smaller being better; the first decides unless another is
            asked for. A trial without one is left out of its front, never counted as 0.
        shown: further measurements that are columns of the table of trials.
        beside: patterns of further metrics whose means are shown in a table of their own; * stands for anything, and
            those after a ! are left out.
        ranked: whether tables have the best trial first, and charts call trials by what varies; else as they were made.
        tells: sentences, tables and charts that the kind adds, in order.
        stratum: what a trial was made under, such as a filter: only trials of one stratum are rivals. "" decides.
        rival: whether a trial is one at all; what is not stands in tables alone.
        rules: what the kind decides by a rule of its own, in place of the general one.
        tests: the means of what decides with the kind's own tests of differences to the base.
        tested: what their p-values are.
    """

    name: str
    decides: tuple[str, ...]
    costs: tuple[str, ...]
    shown: tuple[str, ...] = ()
    tells: Callable[[StudyFigures], Iterable[Told]] = field(default=_nothing, compare=False)
    beside: tuple[str, ...] = ()
    ranked: bool = False
    stratum: Callable[[Trial], str] = field(default=_alike, compare=False)
    rival: Callable[[Trial], bool] = field(default=_rival, compare=False)
    rules: Callable[[StudyFigures, StudyReading], StudyReading] = field(default=_as_read, compare=False)
    tests: Callable[[StudyFigures, tuple[TrialMean, ...]], tuple[TrialMean, ...]] = field(
        default=_as_tested, compare=False
    )
    tested: str = "p is corrected by Holm over the trials."


class StudyFigures:
    """The trials of a study, read once for every output.

    Attributes:
        study: the trials with their parameters, states and measurements.
        kind: what decides and what it costs.
        scores: trial -> its scores, of the complete ones that have any.
        names: printed names of the metrics that all of these have.
        masks: column=value -> which examples are of this segment.
        metric: what trials are held to: a metric, or a measurement where `scored` is False; "" = nothing.
        scored: whether trials are held to scores of examples.
        base: the trial that others are held against; "" = none.
        target: the value that has to be reached, of which metric; None = as much as can be had.
        logarithmic: whether knees are looked for on the logarithm of the cost.
        errors: metric -> how far the judge errs on it, where that is known.
        fallen: trial that was dropped on the way -> the scores that it has.
        decide: whether verdicts of the kind look at intervals, or at estimates alone.
    """

    def __init__(
        self,
        study: Study,
        kind: StudyKind,
        scores: Mapping[str, ScoreColumns],
        names: Sequence[str],
        masks: Mapping[str, Mask] | None = None,
    ) -> None:
        self.study, self.kind, self.scores, self.names = study, kind, scores, tuple(names)
        self.masks: Mapping[str, Mask] = masks or {}
        self.complete = tuple(trial for trial in study.trials if trial.state == "complete")
        first = self.complete[0].measurements if self.complete else ()
        self.measured = tuple(dict.fromkeys(one.name for trial in self.complete for one in trial.measurements))
        held = [one.name for one in first if one.low is not None]  # with an interval, so that it can decide
        wanted = [name for pattern in kind.decides for name in (*self.names, *held) if fnmatchcase(name, pattern)]
        self.metric = next(iter([*wanted, *self.names]), "")
        self.scored = self.metric in self.names
        self.base, self.logarithmic, self._asked_cost = "", False, ""
        self.errors: Mapping[str, JudgeMeanError] = {}
        self.fallen: Mapping[str, ScoreColumns] = {}
        self.decide: Literal["interval", "point"] = "interval"
        self.target: StudyTarget | None = None

    def ask(
        self,
        *,
        metric: str = "",
        base: str = "",
        target: str | float | None = None,
        cost: str = "",
        log: bool = False,
        decide: Literal["interval", "point"] = "interval",
    ) -> StudyFigures:
        """Sets what is asked of the trials; called before anything is read.

        Args:
            metric: what decides; "" = the kind's own.
            base: the trial that others are held against.
            target: METRIC=x, or x of what decides.
            cost: which cost decides; "" = the kind's first.
            log: look for knees on the logarithm of the cost.
            decide: what verdicts of the kind look at: interval, or point for estimates alone.

        Raises:
            UnknownName: no such metric, trial or cost.
            UsageError: a target that is no number, or a cost of which more is better.
        """
        of, value = target_of(target)
        if self.complete:
            self.metric = self._known(metric or of) or self.metric
            self.scored = self.metric in self.names
        if base and base not in {trial.name for trial in self.complete}:
            raise UnknownName("complete trial", base, [trial.name for trial in self.complete])
        if cost and self.complete and cost not in self.measured:
            raise UnknownName("measurement of this study", cost, self.measured)
        if any(fnmatchcase(cost, pattern) for pattern in GAINS):
            costs = [one for one in self.measured if not any(fnmatchcase(one, pattern) for pattern in GAINS)]
            raise UsageError(f"--cost: of {cost} more is better, so it is no cost. Name one of: {', '.join(costs)}.")
        if value is not None:
            self.target = StudyTarget(self._known(of) or self.metric, value)
        self.base, self._asked_cost, self.logarithmic, self.decide = base, cost, log, decide
        return self

    @property
    def base_trial(self) -> Trial | None:
        """The trial that others are held against, even if it was dropped on the way; None where there is none."""
        base = self.study.fixed.get("base") or {}
        named = self.base or self.study.fixed.get("base_trial") or (called(base) if base else "")
        return next((trial for trial in self.study.trials if trial.name == named), None)

    @cached_property
    def cost(self) -> str:
        """The measurement that decides between trials, as asked, else as `choose_cost` says; "" where none has one."""
        priced = {name: self.costs(name) for name in self.kind.costs if name in self.measured}
        if self._asked_cost or len(priced) < 2 or not self.metric:
            return self._asked_cost or next(iter(priced), "")
        plain = self._read_plainly(next(iter(self.strata.values())), "")
        return choose_cost(priced, may_be_taken(plain, self.target, self.scores if self.scored else self.complete))

    def _known(self, name: str) -> str:
        """The printed name of a metric, or the name of a measurement, that the trials have."""
        if not name or name in self.measured or not self.complete:
            return name
        printed = str(parse(name)) if self.names else name
        if printed not in self.names:
            raise UnknownName("metric of this study", name, [*self.names, *self.measured])
        return printed

    @cached_property
    def _deciding(self) -> tuple[TrialMean, ...]:
        """What decides, over all examples and by segment: two families of differences."""
        if not self.scored:
            return measured_means(self.complete, self.metric) if self.metric else ()
        base = self.base if self.base in self.scores else ""
        found = tuple(trial_means(self.scores, parse(self.metric), base=base, segments=self.masks))
        return self.kind.tests(self, found) if base else found

    @cached_property
    def means(self) -> tuple[TrialMean, ...]:
        """Every metric of every complete trial over all examples, with the difference to the base."""
        found: list[TrialMean] = []
        for name in self.names:
            base = self.base if self.base in self.scores else ""
            mine = self._deciding if name == self.metric else trial_means(self.scores, parse(name), base=base)
            found += [one for one in mine if one.segment == ALL]
        return (*found, *(() if self.scored else self._deciding))

    @property
    def beside(self) -> tuple[str, ...]:
        """The metrics that are shown beside what decides."""
        out = [self.metric, *(pattern[1:] for pattern in self.kind.beside if pattern.startswith("!"))]
        wanted = [name for pattern in self.kind.beside for name in self.names if fnmatchcase(name, pattern)]
        return tuple(dict.fromkeys(one for one in wanted if not any(fnmatchcase(one, pattern) for pattern in out)))

    @cached_property
    def segment_means(self) -> tuple[TrialMean, ...]:
        """What decides, by segment."""
        return tuple(one for one in self._deciding if one.segment != ALL)

    def mean(self, trial: str, metric: str = "") -> TrialMean | None:
        """One trial's mean of a metric, or of what decides."""
        wanted = metric or self.metric
        return self._by_name.get((trial, wanted))

    @cached_property
    def listed(self) -> tuple[Trial, ...]:
        """The complete trials as tables have them."""
        if not self.kind.ranked or not self.metric:
            return self.complete
        sign = 1.0 if self.scored and parse(self.metric).direction == "lower" else -1.0
        means = {one.name: self.mean(one.name) for one in self.complete}

        def place(trial: Trial) -> float:
            one = means[trial.name]
            return inf if one is None or one.mean is None else sign * one.mean

        return tuple(sorted(self.complete, key=place))

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """The parameters that have several values, in the order of the space."""
        return tuple(name for name, values in self.study.space.items() if len(values) > 1)

    def short(self, trial: str) -> str:
        """A trial's name without the parameters that all complete trials of its kind share; each stays unique.

        Where trials are ranked: the parameters that vary alone, of more than two their values in order.
        """
        if self.kind.ranked:
            held = next(one.parameters for one in self.study.trials if one.name == trial)
            few = len(self.varied) < 3
            return " · ".join(
                f"{name}={_written(held.get(name))}" if few else _written(held.get(name, "–")) for name in self.varied
            )
        kind, *parts = trial.split(":")
        others = [one.name.split(":")[1:] for one in self.complete if one.name.split(":")[0] == kind]
        left = (part for part in parts if "=" not in part or not all(part in one for one in others))
        return ":".join([kind, *left])

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], TrialMean]:
        return {(one.trial, one.metric): one for one in self.means}

    def costs(self, name: str) -> dict[str, float]:
        """Trial -> what it costs, of the complete ones where this was measured."""
        found = {trial.name: trial.measured(name) for trial in self.complete}
        return {trial: value for trial, value in found.items() if value is not None}

    @cached_property
    def strata(self) -> Mapping[str, tuple[Trial, ...]]:
        """Stratum -> its complete trials, which are rivals; the one that decides first."""
        found: dict[str, list[Trial]] = {}
        rivals = [trial for trial in self.complete if self.kind.rival(trial)] or self.complete
        for trial in sorted(rivals, key=lambda one: self.kind.stratum(one) != ""):
            found.setdefault(self.kind.stratum(trial), []).append(trial)
        return {name: tuple(trials) for name, trials in found.items()}

    @cached_property
    def readings(self) -> Mapping[str, StudyReading]:
        """Cost -> what is decided against it in the first stratum, the cost that decides first; "" = there is no cost.

        Raises:
            UsageError: no trial is complete, or nothing in them decides.
        """
        if not self.complete:
            raise UsageError(f"no trial of {self.study.name} is complete.")
        if not self.metric:
            raise UsageError(f"the trials of {self.study.name} have neither scores nor a measurement that decides.")
        names = [self.cost, *(name for name in self.kind.costs if name in self.measured and name != self.cost)]
        first = next(iter(self.strata.values()))
        return {name: self._read(first, name) for name in names}

    @cached_property
    def stratum_readings(self) -> Mapping[str, StudyReading]:
        """Stratum -> what is decided in it against the cost that decides; none where nothing is scored."""
        scored = (
            (name, trials)
            for name, trials in self.strata.items()
            if any((one := self.mean(trial.name)) is not None and one.mean is not None for trial in trials)
        )
        return {name: self._read(trials, self.cost) for name, trials in scored}

    def _read(self, trials: Sequence[Trial], cost: str) -> StudyReading:
        """What is decided between some trials."""
        found = self._read_plainly(trials, cost)
        return self.kind.rules(self, found) if self.scored else found

    def _read_plainly(self, trials: Sequence[Trial], cost: str) -> StudyReading:
        """The same without the rules of the kind."""
        race = None
        if self.kind.name == "sweep":
            left = {trial.name for trial in trials if not trial.reason} if self.raced else None
            asked = [trial for trial in self.study.trials if trial.state != "failed"]
            race = RaceOutcome(left, len(asked), self.base_trial.name if self.base_trial is not None else "")
        costs = {name: value for name, value in self.costs(cost).items() if name in {trial.name for trial in trials}}
        if not self.scored:
            return read_measured(trials, self.metric, cost, costs, target=self.target)
        scores = {trial.name: self.scores[trial.name] for trial in trials if trial.name in self.scores}
        return read_trials(
            scores, parse(self.metric), cost, costs, target=self.target, logarithmic=self.logarithmic, race=race
        )

    @property
    def raced(self) -> bool:
        """Whether trials were dropped on the way by what decides here."""
        return bool(self.study.fixed.get("raced")) and self.metric == self.study.fixed.get("objective")

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Sentences: which trials have no score of what decides and why, and which have one of fewer examples."""
        said: list[str] = []
        for stratum, trials in self.strata.items() if self.scored else ():
            means = [one for trial in trials if (one := self.mean(trial.name)) is not None]
            without = [one for one in means if one.mean is None]
            if len(without) == len(means) and stratum:
                continue  # nothing is scored under this filter, which is told there
            said += [self._unscored(one) for one in without]
            lacking = {one.trial: one.counts["undefined"] + one.counts["not_applicable"] for one in means}
            rest = [one for one in means if one.mean is not None]
            least = min((lacking[one.trial] for one in rest), default=0)
            said += [
                f"{one.trial} has a score for {one.counts['scored']:,} of {sum(one.counts.values()):,} examples: its "
                "mean is over other examples than the others'."
                for one in rest
                if lacking[one.trial] > least
            ]
        more = (f"{len(said) - MOST_CAUTIONS} more trials have no score of some examples.",)
        return (*said[:MOST_CAUTIONS], *(more if len(said) > MOST_CAUTIONS else ()))

    def _unscored(self, one: TrialMean) -> str:
        """That a trial has no score, and its most frequent reason."""
        column = self.scores[one.trial].column(one.metric)
        reasons = Counter(column.reasons[n] for n in column.reason.tolist()) if column is not None else Counter()
        why = next((reason for reason, _ in reasons.most_common() if reason), "the reason is not known")
        return f"{one.trial} has no score of {one.metric} and is not compared: {why}."

    @property
    def reading(self) -> StudyReading:
        """What is decided against the cost that decides.

        Raises:
            UsageError: no trial is complete, or nothing in them decides.
        """
        return self.readings[self.cost]

    @property
    def known_items(self) -> tuple[str, ...]:
        """What queries drawn from documents do not settle, where most were; it stands before what is taken."""
        drawn = self.masks.get(f"{SEGMENT}={KNOWN_ITEM}")
        return known_item_caution(int(drawn.sum()), len(drawn)) if drawn is not None and self.scored else ()

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The sentences, tables and charts of the kind, after what known items do not settle."""
        return (*self.known_items, *self.kind.tells(self)) if self.complete else ()
