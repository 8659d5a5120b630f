"""Two runs: which examples are in both, how each metric differs, and when they must not be compared at all."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragauge.analysis.arrays import SCORED, Columns, ResponseIndex, ScoreColumns, by_example
from ragauge.analysis.frames import failures
from ragauge.analysis.join import Join
from ragauge.analysis.moved import Movement
from ragauge.analysis.overview import Baseline, Change, Estimate
from ragauge.analysis.pairs import Pairs, pair
from ragauge.analysis.summarize import summary
from ragauge.analysis.summary import Summary
from ragauge.data.run import Run
from ragauge.errors import UsageError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import questions
from ragauge.stats.paired import paired_interval, unpaired_interval

if TYPE_CHECKING:
    import polars as pl

Path = tuple[str, ...]     # of a setting
BETTER, WORSE, CHANGED = "better", "worse", "changed"
SAME, UNKNOWN = "no change seen", "not enough data"
PASSAGES = ("k", "top_k", "topk", "n_passages", "num_passages", "max_passages")     # settings that say how many
LEAST_PAIRS = 10        # examples without which "no change seen" would claim more than anybody can see
LEAST_SHARED = 0.5     # share of traffic that two runs must have in common to be paired


@dataclass(frozen=True, slots=True)
class Measuring:
    """How a run was measured: what must be the same for two runs to be compared.

    Attributes:
        name: of the run.
        judge_id: who judged; None = nobody.
        metrics: printed name -> version of the metric, of every metric scored by this judge or by nobody.
        questions: question -> its versions, of what this judge was asked.
        spec: the text that the judge is built from; "" where it is not known.
    """

    name: str
    judge_id: str | None
    metrics: Mapping[str, int]
    questions: Mapping[str, tuple[int, ...]]
    spec: str = ""


def comparable(new: Measuring, base: Measuring, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that both runs have, measured alike; those that one of them lacks are left out.

    Metrics that ask nobody are compared whoever judged.

    Raises:
        UsageError: a metric that both have was judged by different judges, or with another version of the metric or of
            a question that it needs; or the runs have no metric in common.
    """
    common = [metric for metric in metrics if str(metric) in new.metrics and str(metric) in base.metrics]
    judged = [metric for metric in metrics if questions([metric])]
    if judged and new.judge_id != base.judge_id:
        raise UsageError(
            f"{new.name} was judged by {new.judge_id or 'nobody'}, {base.name} by {base.judge_id or 'nobody'}: "
            f"{', '.join(map(str, judged[:3]))} cannot be compared. {_again(new, base, judged)}"
        )
    for metric in common:
        name = str(metric)
        if new.metrics[name] != base.metrics[name]:
            versions = f"version {new.metrics[name]} in {new.name} and version {base.metrics[name]} in {base.name}"
            raise UsageError(f"{name} is {versions}: its meaning changed. {_again(new, base, [metric])}")
        for question in questions([metric]):
            if new.questions.get(question, ()) != base.questions.get(question, ()):
                asked = f"{_versions(new, question)} in {new.name} and {_versions(base, question)} in {base.name}"
                raise UsageError(f"{name} rests on {question}, asked as {asked}. {_again(new, base, [metric])}")
    if metrics and not common:
        raise UsageError(f"{new.name} and {base.name} have no metric in common. {_again(new, base, metrics)}")
    return common


def _again(new: Measuring, base: Measuring, metrics: Sequence[Metric]) -> str:
    judge = f" --judge {shlex.quote(new.spec)}" if new.spec not in ("", "local") else ""
    names = ",".join(map(str, metrics))
    return f"Judge the stored responses alike: ragauge evaluate {shlex.quote(base.name)} -m {names}{judge}"


def _versions(measuring: Measuring, question: str) -> str:
    found = measuring.questions.get(question, ())
    return f"version {' and '.join(map(str, found))}" if found else "nothing"


class Comparison:
    """Holds a run against another one, metric by metric, while its scores are read.

    Args:
        index: the responses of this run.
        base: scores of the other one.
        metrics: what to compare; others are passed by.
        paired: whether the runs answered the same examples.
        level: of the intervals.

    Attributes:
        base: scores of the other one.
        paired: whether the runs answered the same examples.
        join: which examples are in both.
        changes: one a metric that has scores in both runs, in the order read.
        there: the other run's summaries, of the same metrics, over the examples in both (of samples: all).
    """

    def __init__(
        self, index: ResponseIndex, base: ScoreColumns, metrics: Sequence[Metric], *, paired: bool = True,
        level: float = 0.95,
    ) -> None:     # fmt: skip
        self.join = Join(index.query_ids, base.index.query_ids)
        self.changes: tuple[Change, ...] = ()
        self.there: tuple[Summary, ...] = ()
        self.paired, self._level = paired, level
        self.base, self._metrics = base, frozenset(metrics)
        self._index, self._movement = index, Movement(index.query_ids)

    def within(self, segments: pl.DataFrame) -> None:
        """Looks from now on for the segment in which a metric got worse most.

        Args:
            segments: a tidy segment frame of this run.
        """
        self._movement = Movement(self._index.query_ids, segments)

    def read(self, metric: Metric, _: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores of this run, and reads the other's."""
        responses = self.base.column(str(metric)) if metric in self._metrics else None
        if examples is None or responses is None:
            return
        base = by_example(responses)
        if self.paired:
            found = _paired(pair(metric, examples, base, self.join), self._level, self._movement)
            base = base.take(self.join.rows(examples, base)[1])
        else:
            found = _unpaired(metric, examples, base, self._level)
        self.there = (*self.there, summary(metric, base, self._level))
        self.changes = self.changes if found is None else (*self.changes, found)


def compare(
    new: ScoreColumns, base: ScoreColumns, metrics: Sequence[Metric], *, paired: bool = True, level: float = 0.95
) -> tuple[Change, ...]:
    """One change a metric that has scores in both runs, in the order of the metrics.

    Paired: over the examples that both scored (an example of several repeats at their mean), the weighted mean of
    new − base with its interval by `stats.paired.paired_interval`; weights and clusters are those of this run.
    Otherwise: the means of everything scored on each side, by `unpaired_interval`.

    A verdict is better or worse where the whole interval lies on that side of 0, and no failed score, wherever it
    might lie, could turn the sign. Metrics without bounds leave failed scores out.

    Args:
        new: scores of this run.
        base: scores of the baseline.
        metrics: what to compare.
        paired: whether the runs answered the same examples.
        level: of the intervals.
    """
    comparison = Comparison(new.index, base, metrics, paired=paired, level=level)
    for metric in metrics:
        responses = new.column(str(metric))
        comparison.read(metric, responses, None if responses is None else by_example(responses))
    return comparison.changes


def held_against(
    run: Run, join: Join, changes: Sequence[Change], causes: pl.DataFrame, *, paired: bool = True
) -> Baseline:
    """The baseline as a scorecard carries it.

    Args:
        run: the baseline.
        join: of this run's examples with the baseline's.
        changes: of the metrics.
        causes: the cause frame of the baseline, only of the examples compared.
        paired: whether examples are matched.
    """
    counts = Counter(failures(causes)["cause"].to_list())
    matched = join.matched if paired else 0
    here, there = join.only_here + join.matched - matched, join.only_there + join.matched - matched
    return Baseline(
        run.run_id, run.name, matched, here, there, tuple(changes), dict(counts.most_common()), counts.total()
    )


def is_paired(new: Run, base: Run, join: Join) -> bool:
    """Whether two runs are compared example by example: sets always, traffic where it shares at least half."""
    if "traffic" not in (new.kind, base.kind):
        return True
    return join.matched >= max(1.0, LEAST_SHARED * (join.matched + join.only_here))


def handed_on_more(new: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """How many more passages a run's settings hand on than another's, in words; "" when not, or not known.

    >>> handed_on_more({"retriever": {"k": 10}}, {"retriever": {"k": 5}})
    'k went from 5 to 10'
    """
    before = dict(_numbers_of_passages(base))
    for path, value in _numbers_of_passages(new):
        if path in before and value > before[path]:
            return f"{path[-1]} went from {before[path]:g} to {value:g}"
    return ""


def _numbers_of_passages(config: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, float]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _numbers_of_passages(value, (*path, key))
        elif key.lower() in PASSAGES and isinstance(value, int | float) and not isinstance(value, bool):
            yield (*path, key), value


def _paired(pairs: Pairs, level: float, movement: Movement) -> Change | None:
    if not len(pairs):
        return None
    metric, weights, clusters = pairs.metric, pairs.weight, pairs.cluster
    interval = paired_interval(
        pairs.new, pairs.base, kind=metric.scale, weights=weights, clusters=clusters, level=level, bounds=metric.range
    )
    means = pairs.means()
    change = _change(metric, means, Estimate(means[0] - means[1], interval, len(pairs)), pairs.sums())
    if change.verdict != WORSE:
        return change
    differences, width = pairs.new - pairs.base, metric.range[1] - metric.range[0]
    return replace(
        change, moved=movement.moved(pairs.query, pairs.base, pairs.new, metric.direction),
        where=movement.where(pairs.query, differences, metric.direction, width, weights, clusters),
    )     # fmt: skip


def _unpaired(metric: Metric, new: Columns, base: Columns, level: float) -> Change | None:
    import numpy as np

    sides = [side.take(np.flatnonzero(side.status == SCORED)) for side in (new, base)]
    here, there = sides
    if not here.value.size or not there.value.size:
        return None
    interval = unpaired_interval(
        here.value, there.value, kind=metric.scale, weights=(here.weight, there.weight),
        clusters=(here.cluster, there.cluster), level=level, bounds=metric.range,
    )     # fmt: skip
    means = float(np.average(here.value, weights=here.weight)), float(np.average(there.value, weights=there.weight))
    difference = means[0] - means[1]
    return _change(metric, means, Estimate(difference, interval, int(here.value.size)), (difference, difference))


def _change(
    metric: Metric, means: tuple[float, float], difference: Estimate, sums: tuple[float, float]
) -> Change:
    """With its verdict."""
    verdict = verdict_of(metric.direction, difference, sums)
    return Change(str(metric), means[1], means[0], difference, metric.direction, verdict)


def verdict_of(direction: str, difference: Estimate, sums: tuple[float, float]) -> str:
    """What the interval of a difference says, before anything is corrected for many looks.

    Args:
        direction: of the metric: higher, lower or neither.
        difference: new − base, over how many examples; without an interval nothing is known.
        sums: the least and greatest sum of differences that failed scores allow.
    """
    interval = difference.interval
    if interval is None:
        return UNKNOWN
    if interval.low <= 0 <= interval.high:
        return SAME if difference.n >= LEAST_PAIRS else UNKNOWN
    rose = interval.low > 0
    if not (sums[0] > 0 if rose else sums[1] < 0):
        return UNKNOWN
    good = {"higher": rose, "lower": not rose}.get(direction)
    return CHANGED if good is None else BETTER if good else WORSE
