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
from ragauge.core.messages import format_command
from ragauge.core.response import Run
from ragauge.metrics.base import Direction, Measures, Metric, Needs, Scale
from ragauge.metrics.catalogue import format_typed_name, is_own, list_questions
from ragauge.scores.arrays import SCORED, Columns, ResponseIndex, merge_repeats
from ragauge.scores.results.comparison import ConfigDiff, Setting

if TYPE_CHECKING:
    import polars as pl

ORIGIN = "origin"
FAILED_CALLS_NAME = "system_failed"  # of the cause, and of the row
MAX_NAMED = 3  # metrics that an error names; the others are counted
PASSAGE_SETTINGS = ("k", "top_k", "topk", "n_passages", "num_passages", "max_passages")  # settings that say how many


def diff_configs(base: Mapping[str, Any], new: Mapping[str, Any]) -> ConfigDiff:
    """Settings by path, in the order of the paths. A list is one value; an empty group is one too.

    >>> result = diff_configs({"retriever": {"k": 5}, "seed": 1}, {"retriever": {"k": 8, "rerank": True}})
    >>> [(one.path, one.base, one.new) for one in result.changed], [one.path for one in result.added]
    ([('retriever.k', 5, 8)], ['retriever.rerank'])
    >>> [one.path for one in result.removed]
    ['seed']
    """
    base_settings, new_settings = dict(_flatten_config(base)), dict(_flatten_config(new))
    common_paths = sorted(base_settings.keys() & new_settings.keys())
    return ConfigDiff(
        tuple(Setting(path, new=new_settings[path]) for path in sorted(new_settings.keys() - base_settings.keys())),
        tuple(Setting(path, base=base_settings[path]) for path in sorted(base_settings.keys() - new_settings.keys())),
        tuple(
            Setting(path, base_settings[path], new_settings[path])
            for path in common_paths
            if not _is_same_value(base_settings[path], new_settings[path])
        ),
    )


def collect_settings(run: Run, origin: Mapping[str, str]) -> Mapping[str, Any]:
    """The settings of a run, and under `origin` what its system said of itself: version, model, k and so on."""
    return {**run.config, ORIGIN: origin} if origin and ORIGIN not in run.config else run.config


def _flatten_config(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        path = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping) and value:
            yield from _flatten_config(value, path)
        else:
            yield path, value


def _is_same_value(value: Any, other: Any) -> bool:
    """Equal values; true is not 1, as it would be to Python."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def describe_more_passages(new: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """How many more passages a run's settings hand on than another's, in words; "" when not, or not known.

    >>> describe_more_passages({"retriever": {"k": 10}}, {"retriever": {"k": 5}})
    'k went from 5 to 10'
    """
    base_settings = dict(_flatten_config(base))
    for path, value in _flatten_config(new):
        name, base_value = path.rpartition(".")[2], base_settings.get(path)
        if name.lower() in PASSAGE_SETTINGS and _is_number(value) and _is_number(base_value) and value > base_value:
            return f"{name} went from {base_value:g} to {value:g}"
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
        return FAILED_CALLS_NAME


def score_failed_calls(index: ResponseIndex, causes: pl.DataFrame) -> Columns:
    """Which calls failed, as scores of `FailedResponse`, one entry an example.

    Args:
        index: the responses of a run.
        causes: cause frame of these responses.
    """
    import numpy as np

    failed_calls = set(causes.filter(causes["cause"] == FAILED_CALLS_NAME).select("query_id", "repeat").iter_rows())
    value, no_values, zeros = np.zeros(len(index)), np.full(len(index), np.nan), np.zeros(len(index), dtype=np.int64)
    if failed_calls:
        ids = index.query_ids
        value[:] = [
            (ids[q], r) in failed_calls for q, r in zip(index.query.tolist(), index.repeat.tolist(), strict=True)
        ]
    return merge_repeats(
        Columns(
            np.arange(len(index)),
            index.query,
            zeros + SCORED,
            value,
            no_values,
            no_values,
            value,
            value,
            zeros,
            index.weight,
            index.cluster,
            ("",),
        )
    )


MIN_SHARED = 0.5  # share of traffic that two runs must have in common to be paired


@dataclass(frozen=True, slots=True)
class MeasurementSpec:
    """How a run was measured: what must be the same for two runs to be compared."""

    name: str  #: of the run.
    judge_id: str | None  #: who judged; None = nobody.
    #: printed name -> version of the metric, of every metric scored by this judge or by nobody.
    metrics: Mapping[str, int]
    questions: Mapping[str, tuple[int, ...]]  #: question -> its versions, of what this judge was asked.
    spec: str = ""  #: the text that the judge is built from; "" where it is not known.
    planned: bool = False  #: nothing is stored of the run yet, so it cannot be judged again.
    called: str = ""  #: what a command calls the run; "" = its name.


def list_comparable_metrics(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that both runs have, measured alike; those that one of them lacks are left out.

    Metrics that ask nobody are compared whoever judged. A question that one side was never asked, since no example
    there has the reference that it is about, is no difference in measuring: its metrics have no score there.

    Raises:
        UsageError: a metric that both have was judged by different judges, or with another version of the metric or of
            a question that it needs; or the runs have no metric in common.
    """
    common = [metric for metric in metrics if str(metric) in new.metrics and str(metric) in base.metrics]
    judged_metrics = [metric for metric in metrics if list_questions([metric])]
    if judged_metrics and new.judge_id != base.judge_id:
        raise UsageError(
            f"{new.name} was judged by {new.judge_id or 'nobody'}, {base.name} by {base.judge_id or 'nobody'}: "
            f"{_join_first(list(map(str, judged_metrics)))} cannot be compared. "
            f"{_advise_common_judge(new, base, judged_metrics)}"
        )
    _check_metric_versions(new, base, common)
    _check_question_versions(new, base, common)
    if metrics and not common:
        lacking_specs = [spec for spec in (base, new) if any(str(metric) not in spec.metrics for metric in metrics)]
        raise UsageError(
            f"{new.name} and {base.name} have no metric in common. "
            f"{_format_judge_commands(lacking_specs, _choose_judge_spec(new, base), metrics)}"
        )
    return common


def _check_metric_versions(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> None:
    """An error where metrics have other versions in the two runs; it names them all, with the runs to judge again."""
    changed = [metric for metric in metrics if new.metrics[str(metric)] != base.metrics[str(metric)]]
    if not changed:
        return
    older: list[MeasurementSpec] = []
    for metric in changed:
        new_version, base_version = (spec.metrics[str(metric)] for spec in (new, base))
        if is_own(metric):  # a hash, which no other is older than
            older += [spec for spec in (base, new) if spec.metrics[str(metric)] != metric.version]
        else:
            older += [new if new_version < base_version and not new.planned else base]
    versions = [
        f"{name} is version {new.metrics[name]} in {new.name} and version {base.metrics[name]} in {base.name}"
        for name in map(str, changed)
    ]
    meaning = "its meaning" if len(changed) == 1 else "their meanings"
    raise UsageError(f"{_join_first(versions, '; ')}: {meaning} changed. {_format_judge_commands(older, new, changed)}")


def _check_question_versions(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> None:
    """An error where judges were asked a question of some metrics in other versions; it names them all.

    What one side was never asked has no score there to compare.
    """
    changed: dict[str, list[Metric]] = {}
    for metric in metrics:
        for question in list_questions([metric]):
            new_versions, base_versions = (spec.questions.get(question, ()) for spec in (new, base))
            if new_versions and base_versions and new_versions != base_versions:
                changed.setdefault(question, []).append(metric)
    if not changed:
        return
    older = [new if new.questions[name] < base.questions[name] and not new.planned else base for name in changed]
    sentences = [
        f"{_join_first(list(map(str, metrics_asked)))} {'uses' if len(metrics_asked) == 1 else 'use'} the "
        f"judge question {name}, which was "
        f"{_format_versions(new, name)} in {new.name} and {_format_versions(base, name)} in {base.name}"
        for name, metrics_asked in changed.items()
    ]
    affected = list(dict.fromkeys(metric for metrics_asked in changed.values() for metric in metrics_asked))
    raise UsageError(f"{_join_first(sentences, '; ')}. {_format_judge_commands(older, new, affected)}")


def _join_first(names: Sequence[str], separator: str = ", ") -> str:
    """The first few, and how many more there are."""
    more = len(names) - MAX_NAMED
    return separator.join(names[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _advise_common_judge(new: MeasurementSpec, base: MeasurementSpec, metrics: Sequence[Metric]) -> str:
    """How to have both judged by one judge: whoever was judged by nobody, else both, since judges change too."""
    unjudged = [spec for spec in (base, new) if spec.judge_id is None]
    return _format_judge_commands(unjudged or [base, new], _choose_judge_spec(new, base), metrics)


def _choose_judge_spec(new: MeasurementSpec, base: MeasurementSpec) -> MeasurementSpec:
    """The one whose judge serves for both."""
    return base if new.judge_id is None else new


def _format_judge_commands(
    specs: Sequence[MeasurementSpec], judged_by: MeasurementSpec, metrics: Sequence[Metric]
) -> str:
    """The commands that judge the stored responses of some runs as one was; what is judged alike costs nothing."""
    judge = ("--judge", judged_by.spec) if judged_by.spec not in ("", "local") else ()
    names = ",".join(map(format_typed_name, metrics))
    run_names = dict.fromkeys(spec.called or spec.name for spec in specs if not spec.planned)
    commands = [format_command("evaluate", name, "-m", names, *judge) for name in run_names]
    return f"Judge the stored responses the same way: {' and then '.join(commands)}"


def _format_versions(spec: MeasurementSpec, question: str) -> str:
    return f"version {' and '.join(map(str, spec.questions[question]))}"


def is_paired(new: Run, base: Run, join: Join) -> bool:
    """Whether two runs are compared example by example: sets always, traffic where it shares at least half."""
    if "traffic" not in (new.kind, base.kind):
        return True
    return join.matched >= max(1.0, MIN_SHARED * (join.matched + join.only_here))
