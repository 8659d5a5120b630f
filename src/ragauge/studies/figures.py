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
from ragauge.core.search_space import format_parameters
from ragauge.core.study import Study, Trial
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.known_items import KNOWN_ITEM, SEGMENT, warn_known_items
from ragauge.scores.results.chart import ReportChart
from ragauge.studies.front import choose_cost
from ragauge.studies.means import ALL, TrialMean, build_measured_means, compute_trial_means
from ragauge.studies.recommendation import RaceOutcome, StudyTarget, parse_target
from ragauge.studies.trial_summary import StudyReading, list_eligible, read_measured, read_trials

if TYPE_CHECKING:
    from ragauge.scores.arrays import ScoreColumns
    from ragauge.stats.judge_error import JudgeMeanError
    from ragauge.studies.means import Mask


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table that a kind adds under the trials."""

    heading: str  #: of its section.
    columns: tuple[str, ...]  #: their heads.
    rows: tuple[tuple[str, ...], ...]  #: cells as they are printed, as many as there are columns.
    numbers: tuple[str, ...] = ()  #: heads of the columns that stand to the right.
    lead: tuple[str, ...] = ()  #: sentences before it.
    notes: tuple[str, ...] = ()  #: how to read it.


StudyContent = str | StudyTable | ReportChart
TrialMeans = tuple[TrialMean, ...]


@dataclass(frozen=True, slots=True)
class StudyKind:
    """A kind of study, declared once; named in `studies.verb.KINDS` so that stored studies find it."""

    name: str  #: such as chunking; kept with every study.
    #: what trials are held to: printed names of metrics, or of measurements with intervals for trials without scores,
    #: the first that every complete trial has; * stands for anything.
    decides: tuple[str, ...]
    #: measurements that say what a trial costs, smaller being better; the first decides unless another is asked for. A
    #: trial without one is left out of its front, never counted as 0.
    costs: tuple[str, ...]
    shown: tuple[str, ...] = ()  #: further measurements that are columns of the table of trials.
    #: sentences, tables and charts that the kind adds, in order.
    tells: Callable[[StudySummary], Iterable[StudyContent]] = field(default=lambda _: (), compare=False)
    #: patterns of further metrics whose means are shown in a table of their own; * stands for anything, and those after
    #: a ! are left out.
    beside: tuple[str, ...] = ()
    #: whether tables have the best trial first, and charts call trials by what varies; else as they were made.
    ranked: bool = False
    #: what a trial was made under, such as a filter: only trials of one stratum are rivals. "" decides.
    stratum: Callable[[Trial], str] = field(default=lambda _: "", compare=False)
    #: whether a trial is one at all; what is not stands in tables alone.
    rival: Callable[[Trial], bool] = field(default=lambda _: True, compare=False)
    #: what the kind decides by a rule of its own, in place of the general one.
    rules: Callable[[StudySummary, StudyReading], StudyReading] = field(
        default=lambda _, reading: reading, compare=False
    )
    #: the means of what decides with the kind's own tests of differences to the base.
    tests: Callable[[StudySummary, TrialMeans], TrialMeans] = field(default=lambda _, means: means, compare=False)
    tested: str = "p is corrected by Holm over the trials."  #: what their p-values are.


def _format_parameter(value: object) -> str:
    """A parameter's value as trials' names have it: false, not False."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# no costs
GAIN_PATTERNS = ("*per_second*", "recall_at_*", "predicted_at_*", "exact_recall", "labelled_recall_of_exact")
MAX_CAUTIONS = 6  # sentences on trials that lack scores


class StudySummary:
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
        self.measured = tuple(
            dict.fromkeys(measurement.name for trial in self.complete for measurement in trial.measurements)
        )
        interval_names = [
            measurement.name for measurement in first if measurement.low is not None
        ]  # with an interval, so that it can decide
        deciding_names = [
            name for pattern in kind.decides for name in (*self.names, *interval_names) if fnmatchcase(name, pattern)
        ]
        self.metric = next(iter([*deciding_names, *self.names]), "")
        self.scored = self.metric in self.names
        self.base, self.logarithmic, self._asked_cost = "", False, ""
        self.errors: Mapping[str, JudgeMeanError] = {}
        self.fallen: Mapping[str, ScoreColumns] = {}
        self.decide: Literal["interval", "point"] = "interval"
        self.target: StudyTarget | None = None

    def set_options(
        self,
        *,
        metric: str = "",
        base: str = "",
        target: str | float | None = None,
        cost: str = "",
        log: bool = False,
        decide: Literal["interval", "point"] = "interval",
    ) -> StudySummary:
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
        target_metric, value = parse_target(target)
        if self.complete:
            self.metric = self._resolve_name(metric or target_metric) or self.metric
            self.scored = self.metric in self.names
        if base and base not in {trial.name for trial in self.complete}:
            raise UnknownName("complete trial", base, [trial.name for trial in self.complete])
        if cost and self.complete and cost not in self.measured:
            raise UnknownName("measurement of this study", cost, self.measured)
        if any(fnmatchcase(cost, pattern) for pattern in GAIN_PATTERNS):
            costs = [name for name in self.measured if not any(fnmatchcase(name, pattern) for pattern in GAIN_PATTERNS)]
            raise UsageError(f"--cost: higher {cost} is better, so it is not a cost. Use one of: {', '.join(costs)}.")
        if value is not None:
            self.target = StudyTarget(self._resolve_name(target_metric) or self.metric, value)
        self.base, self._asked_cost, self.logarithmic, self.decide = base, cost, log, decide
        return self

    @property
    def base_trial(self) -> Trial | None:
        """The trial that others are held against, even if it was dropped on the way; None where there is none."""
        base = self.study.fixed.get("base") or {}
        base_name = self.base or self.study.fixed.get("base_trial") or (format_parameters(base) if base else "")
        return next((trial for trial in self.study.trials if trial.name == base_name), None)

    @cached_property
    def cost(self) -> str:
        """The measurement that decides between trials, as asked, else as `choose_cost` says; "" where none has one."""
        priced = {name: self.get_costs(name) for name in self.kind.costs if name in self.measured}
        if self._asked_cost or len(priced) < 2 or not self.metric:
            return self._asked_cost or next(iter(priced), "")
        reading = self._read_without_rules(next(iter(self.strata.values())), "")
        return choose_cost(priced, list_eligible(reading, self.target, self.scores if self.scored else self.complete))

    def _resolve_name(self, name: str) -> str:
        """The printed name of a metric, or the name of a measurement, that the trials have."""
        if not name or name in self.measured or not self.complete:
            return name
        printed = str(parse_metric(name)) if self.names else name
        if printed not in self.names:
            raise UnknownName("metric of this study", name, [*self.names, *self.measured])
        return printed

    @cached_property
    def _deciding_means(self) -> tuple[TrialMean, ...]:
        """What decides, over all examples and by segment: two families of differences."""
        if not self.scored:
            return build_measured_means(self.complete, self.metric) if self.metric else ()
        base = self.base if self.base in self.scores else ""
        means = tuple(compute_trial_means(self.scores, parse_metric(self.metric), base=base, segments=self.masks))
        return self.kind.tests(self, means) if base else means

    @cached_property
    def means(self) -> tuple[TrialMean, ...]:
        """Every metric of every complete trial over all examples, with the difference to the base."""
        all_means: list[TrialMean] = []
        for name in self.names:
            base = self.base if self.base in self.scores else ""
            metric_means = (
                self._deciding_means
                if name == self.metric
                else compute_trial_means(self.scores, parse_metric(name), base=base)
            )
            all_means += [mean for mean in metric_means if mean.segment == ALL]
        return (*all_means, *(() if self.scored else self._deciding_means))

    @property
    def beside(self) -> tuple[str, ...]:
        """The metrics that are shown beside what decides."""
        out = [self.metric, *(pattern[1:] for pattern in self.kind.beside if pattern.startswith("!"))]
        matching = [name for pattern in self.kind.beside for name in self.names if fnmatchcase(name, pattern)]
        return tuple(
            dict.fromkeys(metric for metric in matching if not any(fnmatchcase(metric, pattern) for pattern in out))
        )

    @cached_property
    def segment_means(self) -> tuple[TrialMean, ...]:
        """What decides, by segment."""
        return tuple(mean for mean in self._deciding_means if mean.segment != ALL)

    def mean(self, trial: str, metric: str = "") -> TrialMean | None:
        """One trial's mean of a metric, or of what decides."""
        metric_name = metric or self.metric
        return self._means_by_name.get((trial, metric_name))

    @cached_property
    def listed(self) -> tuple[Trial, ...]:
        """The complete trials as tables have them."""
        if not self.kind.ranked or not self.metric:
            return self.complete
        sign = 1.0 if self.scored and parse_metric(self.metric).direction == "lower" else -1.0
        means = {trial.name: self.mean(trial.name) for trial in self.complete}

        def sort_key(trial: Trial) -> float:
            mean = means[trial.name]
            return inf if mean is None or mean.mean is None else sign * mean.mean

        return tuple(sorted(self.complete, key=sort_key))

    @cached_property
    def varied_parameters(self) -> tuple[str, ...]:
        """The parameters that have several values, in the order of the space."""
        return tuple(name for name, values in self.study.parameter_values.items() if len(values) > 1)

    def shorten_name(self, trial: str) -> str:
        """A trial's name without the parameters that all complete trials of its kind share; each stays unique.

        Where trials are ranked: the parameters that vary alone, of more than two their values in order.
        """
        if self.kind.ranked:
            parameters = next(item.parameters for item in self.study.trials if item.name == trial)
            few = len(self.varied_parameters) < 3
            return " · ".join(
                f"{name}={_format_parameter(parameters.get(name))}"
                if few
                else _format_parameter(parameters.get(name, "–"))
                for name in self.varied_parameters
            )
        kind, *parameter_parts = trial.split(":")
        others = [item.name.split(":")[1:] for item in self.complete if item.name.split(":")[0] == kind]
        distinctive = (part for part in parameter_parts if "=" not in part or not all(part in item for item in others))
        return ":".join([kind, *distinctive])

    @cached_property
    def _means_by_name(self) -> Mapping[tuple[str, str], TrialMean]:
        return {(mean.trial, mean.metric): mean for mean in self.means}

    def get_costs(self, name: str) -> dict[str, float]:
        """Trial -> what it costs, of the complete ones where this was measured."""
        values = {trial.name: trial.find_measurement_value(name) for trial in self.complete}
        return {trial: value for trial, value in values.items() if value is not None}

    @cached_property
    def strata(self) -> Mapping[str, tuple[Trial, ...]]:
        """Stratum -> its complete trials, which are rivals; the one that decides first."""
        by_stratum: dict[str, list[Trial]] = {}
        rivals = [trial for trial in self.complete if self.kind.rival(trial)] or self.complete
        for trial in sorted(rivals, key=lambda rival: self.kind.stratum(rival) != ""):
            by_stratum.setdefault(self.kind.stratum(trial), []).append(trial)
        return {name: tuple(trials) for name, trials in by_stratum.items()}

    @cached_property
    def readings(self) -> Mapping[str, StudyReading]:
        """Cost -> what is decided against it in the first stratum, the cost that decides first; "" = there is no cost.

        Raises:
            UsageError: no trial is complete, or nothing in them decides.
        """
        if not self.complete:
            raise UsageError(f"no trial of {self.study.name} is complete.")
        if not self.metric:
            raise UsageError(f"the trials of {self.study.name} have no scores and no measurement to rank them by.")
        names = [self.cost, *(name for name in self.kind.costs if name in self.measured and name != self.cost)]
        first = next(iter(self.strata.values()))
        return {name: self._read_stratum(first, name) for name in names}

    @cached_property
    def stratum_readings(self) -> Mapping[str, StudyReading]:
        """Stratum -> what is decided in it against the cost that decides; none where nothing is scored."""
        scored = (
            (name, trials)
            for name, trials in self.strata.items()
            if any((mean := self.mean(trial.name)) is not None and mean.mean is not None for trial in trials)
        )
        return {name: self._read_stratum(trials, self.cost) for name, trials in scored}

    def _read_stratum(self, trials: Sequence[Trial], cost: str) -> StudyReading:
        """What is decided between some trials."""
        reading = self._read_without_rules(trials, cost)
        return self.kind.rules(self, reading) if self.scored else reading

    def _read_without_rules(self, trials: Sequence[Trial], cost: str) -> StudyReading:
        """The same without the rules of the kind."""
        race = None
        if self.kind.name == "sweep":
            remaining = {trial.name for trial in trials if not trial.reason} if self.is_raced else None
            requested = [trial for trial in self.study.trials if trial.state != "failed"]
            race = RaceOutcome(remaining, len(requested), self.base_trial.name if self.base_trial is not None else "")
        costs = {
            name: value for name, value in self.get_costs(cost).items() if name in {trial.name for trial in trials}
        }
        if not self.scored:
            return read_measured(trials, self.metric, cost, costs, target=self.target)
        scores = {trial.name: self.scores[trial.name] for trial in trials if trial.name in self.scores}
        return read_trials(
            scores, parse_metric(self.metric), cost, costs, target=self.target, logarithmic=self.logarithmic, race=race
        )

    @property
    def is_raced(self) -> bool:
        """Whether trials were dropped on the way by what decides here."""
        return bool(self.study.fixed.get("raced")) and self.metric == self.study.fixed.get("objective")

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Sentences: which trials have no score of what decides and why, and which have one of fewer examples."""
        sentences: list[str] = []
        for stratum, trials in self.strata.items() if self.scored else ():
            means = [mean for trial in trials if (mean := self.mean(trial.name)) is not None]
            without = [mean for mean in means if mean.mean is None]
            if len(without) == len(means) and stratum:
                continue  # nothing is scored under this filter, which is told there
            sentences += [self._describe_unscored(mean) for mean in without]
            lacking = {mean.trial: mean.counts["undefined"] + mean.counts["not_applicable"] for mean in means}
            scored_means = [mean for mean in means if mean.mean is not None]
            min_lacking = min((lacking[mean.trial] for mean in scored_means), default=0)
            sentences += [
                f"{mean.trial} has scores for {mean.counts['scored']:,} of {sum(mean.counts.values()):,} "
                "examples, so its mean covers different examples than the other trials' means."
                for mean in scored_means
                if lacking[mean.trial] > min_lacking
            ]
        more = (f"{len(sentences) - MAX_CAUTIONS} more trials have no score for some examples.",)
        return (*sentences[:MAX_CAUTIONS], *(more if len(sentences) > MAX_CAUTIONS else ()))

    def _describe_unscored(self, mean: TrialMean) -> str:
        """That a trial has no score, and its most frequent reason."""
        column = self.scores[mean.trial].column(mean.metric)
        reasons = Counter(column.reasons[n] for n in column.reason.tolist()) if column is not None else Counter()
        reason_text = next((reason for reason, _ in reasons.most_common() if reason), "no reason was recorded")
        return f"{mean.trial} has no {mean.metric} score and is not compared: {reason_text}."

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
        is_known_item = self.masks.get(f"{SEGMENT}={KNOWN_ITEM}")
        if is_known_item is None or not self.scored:
            return ()
        return warn_known_items(int(is_known_item.sum()), len(is_known_item))

    @cached_property
    def contents(self) -> tuple[StudyContent, ...]:
        """The sentences, tables and charts of the kind, after what known items do not settle."""
        return (*self.known_items, *self.kind.tells(self)) if self.complete else ()
