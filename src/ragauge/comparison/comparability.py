"""Whether two runs can be compared: measured alike, and example by example or as two samples.

What differs between the settings of two runs.

Calls that the system failed, in two runs: their answers have no scores, so no metric tells of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.comparison.pairs import Join
from ragauge.core.errors import UsageError
from ragauge.core.messages import command
from ragauge.core.response import Run
from ragauge.metrics.base import Direction, Measures, Metric, Needs, Scale
from ragauge.metrics.catalogue import is_own, questions, typed_name
from ragauge.scores.arrays import SCORED, Columns, ResponseIndex, by_example
from ragauge.scores.results.comparison import ConfigDiff, Setting

if TYPE_CHECKING:
    import polars as pl

ORIGIN = "origin"
NAME = "system_failed"  # of the cause, and of the row
MAX_NAMED = 3  # metrics that an error names; the others are counted
PASSAGES = ("k", "top_k", "topk", "n_passages", "num_passages", "max_passages")  # settings that say how many


def config_diff(base: Mapping[str, Any], new: Mapping[str, Any]) -> ConfigDiff:
    """Settings by path, in the order of the paths. A list is one value; an empty group is one too.

    >>> found = config_diff({"retriever": {"k": 5}, "seed": 1}, {"retriever": {"k": 8, "rerank": True}})
    >>> [(one.path, one.base, one.new) for one in found.changed], [one.path for one in found.added]
    ([('retriever.k', 5, 8)], ['retriever.rerank'])
    >>> [one.path for one in found.removed]
    ['seed']
    """
    before, now = dict(_paths(base)), dict(_paths(new))
    both = sorted(before.keys() & now.keys())
    return ConfigDiff(
        tuple(Setting(path, new=now[path]) for path in sorted(now.keys() - before.keys())),
        tuple(Setting(path, base=before[path]) for path in sorted(before.keys() - now.keys())),
        tuple(Setting(path, before[path], now[path]) for path in both if not _same(before[path], now[path])),
    )


def settings_of(run: Run, said: Mapping[str, str]) -> Mapping[str, Any]:
    """The settings of a run, and under `origin` what its system said of itself: version, model, k and so on."""
    return {**run.config, ORIGIN: said} if said and ORIGIN not in run.config else run.config


def _paths(config: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        path = f"{above}.{key}" if above else str(key)
        if isinstance(value, Mapping) and value:
            yield from _paths(value, path)
        else:
            yield path, value


def _same(value: Any, other: Any) -> bool:
    """Equal values; true is not 1, as it would be to Python."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def handed_on_more(new: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """How many more passages a run's settings hand on than another's, in words; "" when not, or not known.

    >>> handed_on_more({"retriever": {"k": 10}}, {"retriever": {"k": 5}})
    'k went from 5 to 10'
    """
    before = dict(_paths(base))
    for path, value in _paths(new):
        name, was = path.rpartition(".")[2], before.get(path)
        if name.lower() in PASSAGES and _is_number(value) and _is_number(was) and value > was:
            return f"{name} went from {was:g} to {value:g}"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class FailedResponse(Metric):
    """Whether the system gave an error instead of a response, as the cause of this name says.

    system_failed = 1 where the response has an error, else 0

    A row of comparisons where a call failed in one run or both; no metric that can be asked for.

    Source: ours.
    """

    measures: ClassVar[Measures] = "end_to_end"
    direction: ClassVar[Direction] = "lower"
    scale: ClassVar[Scale] = "rate"
    needs: ClassVar[Needs] = {}

    @classmethod
    def name(cls) -> str:
        """The cause's name."""
        return NAME


def unanswered(index: ResponseIndex, causes: pl.DataFrame) -> Columns:
    """Which calls failed, as scores of `FailedResponse`, one entry an example.

    Args:
        index: the responses of a run.
        causes: cause frame of these responses.
    """
    import numpy as np

    failed = set(causes.filter(causes["cause"] == NAME).select("query_id", "repeat").iter_rows())
    value, none, zeros = np.zeros(len(index)), np.full(len(index), np.nan), np.zeros(len(index), dtype=np.int64)
    if failed:
        ids = index.query_ids
        value[:] = [(ids[q], r) in failed for q, r in zip(index.query.tolist(), index.repeat.tolist(), strict=True)]
    return by_example(
        Columns(
            np.arange(len(index)),
            index.query,
            zeros + SCORED,
            value,
            none,
            none,
            value,
            value,
            zeros,
            index.weight,
            index.cluster,
            ("",),
        )
    )


LEAST_SHARED = 0.5  # share of traffic that two runs must have in common to be paired


@dataclass(frozen=True, slots=True)
class MeasurementSpec:
    """How a run was measured: what must be the same for two runs to be compared.

    Attributes:
        name: of the run.
        judge_id: who judged; None = nobody.
        metrics: printed name -> version of the metric, of every metric scored by this judge or by nobody.
        questions: question -> its versions, of what this judge was asked.
        spec: the text that the judge is built from; "" where it is not known.
        planned: nothing is stored of the run yet, so it cannot be judged again.
        called: what a command calls the run; "" = its name.
    """

    name: str
    judge_id: str | None
    metrics: Mapping[str, int]
    questions: Mapping[str, tuple[int, ...]]
    spec: str = ""
    planned: bool = False
    called: str = ""


def comparable(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that both runs have, measured alike; those that one of them lacks are left out.

    Metrics that ask nobody are compared whoever judged. A question that one side was never asked, since no example
    there has the reference that it is about, is no difference in measuring: its metrics have no score there.

    Raises:
        UsageError: a metric that both have was judged by different judges, or with another version of the metric or of
            a question that it needs; or the runs have no metric in common.
    """
    common = [metric for metric in metrics if str(metric) in new.metrics and str(metric) in base.metrics]
    judged = [metric for metric in metrics if questions([metric])]
    if judged and new.judge_id != base.judge_id:
        raise UsageError(
            f"{new.name} was judged by {new.judge_id or 'nobody'}, {base.name} by {base.judge_id or 'nobody'}: "
            f"{_first(list(map(str, judged)))} cannot be compared. {_of_judges(new, base, judged)}"
        )
    _refuse_other_metric_versions(new, base, common)
    _refuse_other_question_versions(new, base, common)
    if metrics and not common:
        lacking = [side for side in (base, new) if any(str(metric) not in side.metrics for metric in metrics)]
        raise UsageError(
            f"{new.name} and {base.name} have no metric in common. {_again(lacking, _judged(new, base), metrics)}"
        )
    return common


def _refuse_other_metric_versions(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> None:
    """An error where metrics have other versions in the two runs; it names them all, with the runs to judge again."""
    changed = [metric for metric in metrics if new.metrics[str(metric)] != base.metrics[str(metric)]]
    if not changed:
        return
    older: list[MeasurementSpec] = []
    for metric in changed:
        here, there = (side.metrics[str(metric)] for side in (new, base))
        if is_own(metric):  # a hash, which no other is older than
            older += [side for side in (base, new) if side.metrics[str(metric)] != metric.version]
        else:
            older += [new if here < there and not new.planned else base]
    versions = [
        f"{name} is version {new.metrics[name]} in {new.name} and version {base.metrics[name]} in {base.name}"
        for name in map(str, changed)
    ]
    meaning = "its meaning" if len(changed) == 1 else "their meanings"
    raise UsageError(f"{_first(versions, '; ')}: {meaning} changed. {_again(older, new, changed)}")


def _refuse_other_question_versions(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> None:
    """An error where judges were asked a question of some metrics in other versions; it names them all.

    What one side was never asked has no score there to compare.
    """
    changed: dict[str, list[Metric]] = {}
    for metric in metrics:
        for question in questions([metric]):
            here, there = (side.questions.get(question, ()) for side in (new, base))
            if here and there and here != there:
                changed.setdefault(question, []).append(metric)
    if not changed:
        return
    older = [new if new.questions[name] < base.questions[name] and not new.planned else base for name in changed]
    sentences = [
        f"{_first(list(map(str, resting)))} {'rests' if len(resting) == 1 else 'rest'} on {name}, asked as "
        f"{_versions(new, name)} in {new.name} and {_versions(base, name)} in {base.name}"
        for name, resting in changed.items()
    ]
    affected = list(dict.fromkeys(metric for resting in changed.values() for metric in resting))
    raise UsageError(f"{_first(sentences, '; ')}. {_again(older, new, affected)}")


def _first(names: Sequence[str], between: str = ", ") -> str:
    """The first few, and how many more there are."""
    more = len(names) - MAX_NAMED
    return between.join(names[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _of_judges(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> str:
    """How to have both judged by one judge: whoever was judged by nobody, else both, since judges change too."""
    unjudged = [side for side in (base, new) if side.judge_id is None]
    return _again(unjudged or [base, new], _judged(new, base), metrics)


def _judged(new: MeasurementSpec, base: MeasurementSpec) -> MeasurementSpec:
    """The one whose judge serves for both."""
    return base if new.judge_id is None else new


def _again(sides: Sequence[MeasurementSpec], by: MeasurementSpec, metrics: Sequence[Metric]) -> str:
    """The commands that judge the stored responses of some runs as one was; what is judged alike costs nothing."""
    judge = ("--judge", by.spec) if by.spec not in ("", "local") else ()
    names = ",".join(map(typed_name, metrics))
    called = dict.fromkeys(side.called or side.name for side in sides if not side.planned)
    commands = [command("evaluate", name, "-m", names, *judge) for name in called]
    return f"Judge the stored responses alike: {' and then '.join(commands)}"


def _versions(measuring: MeasurementSpec, question: str) -> str:
    return f"version {' and '.join(map(str, measuring.questions[question]))}"


def is_paired(new: Run, base: Run, join: Join) -> bool:
    """Whether two runs are compared example by example: sets always, traffic where it shares at least half."""
    if "traffic" not in (new.kind, base.kind):
        return True
    return join.matched >= max(1.0, LEAST_SHARED * (join.matched + join.only_here))
