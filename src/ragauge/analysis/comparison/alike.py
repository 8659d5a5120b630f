"""Whether two runs can be compared: measured alike, and example by example or as two samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragauge.analysis.comparison.join import Join
from ragauge.data.run import Run
from ragauge.errors import UsageError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import questions
from ragauge.text.commands import command

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
    judge = ("--judge", new.spec) if new.spec not in ("", "local") else ()
    names = ",".join(map(str, metrics))
    return f"Judge the stored responses alike: {command('evaluate', base.name, '-m', names, *judge)}"


def _versions(measuring: Measuring, question: str) -> str:
    found = measuring.questions.get(question, ())
    return f"version {' and '.join(map(str, found))}" if found else "nothing"


def is_paired(new: Run, base: Run, join: Join) -> bool:
    """Whether two runs are compared example by example: sets always, traffic where it shares at least half."""
    if "traffic" not in (new.kind, base.kind):
        return True
    return join.matched >= max(1.0, LEAST_SHARED * (join.matched + join.only_here))
