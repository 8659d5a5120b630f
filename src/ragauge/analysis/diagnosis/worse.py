"""What got worse against the baseline and belongs to no pattern: said plainly, so that no regression goes unnamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragauge.analysis.diagnosis.readings import BASELINE, changed, words
from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.comparison import RunComparison
from ragauge.analysis.results.scorecard import Finding
from ragauge.metrics.catalogue import parse, questions
from ragauge.text.messages import signed

LAYERS = ("retrieval", "generation", "end_to_end")
FEW = 30          # examples below which a change is less sure
MOST_SHOWN = 5    # examples named


def got_worse(baseline: RunComparison, named: Iterable[str], failures: int, judge_id: str) -> list[Finding]:
    """One finding a layer for the metrics that got worse and that no other finding reads.

    It says where they fell most, and names the examples to look at: what happened is known, why is not.

    Args:
        baseline: with its changes.
        named: metrics that other findings read.
        failures: failed examples in all.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence.
    """
    known = set(named)
    left = [change for change in baseline.worse if change.metric not in known]
    groups = {layer: [change for change in left if parse(change.metric).measures == layer] for layer in LAYERS}
    return [_finding(layer, group, failures, judge_id, baseline) for layer, group in groups.items() if group]


def _finding(
    layer: str, group: Sequence[MetricChange], failures: int, judge_id: str, baseline: RunComparison
) -> Finding:
    readings = tuple(found for change in group if (found := changed(change, baseline.base.name)) is not None)
    names = [change.metric for change in group]
    head = f"got worse: {words(readings[0]) if len(readings) == 1 else _joined(names)}"
    where = next((change.where for change in group if change.where is not None), None)
    moved = dict.fromkeys(one.query_id for change in group for one in change.moved[:MOST_SHOWN])
    shown = ", ".join(list(moved)[:MOST_SHOWN])
    look = f"the examples that lost most ({shown})" if shown else "the examples with the worst scores"
    return Finding(
        cause=f"worse_{layer}",
        headline=head,
        evidence=" ".join([*_places(group), "No pattern of metrics says why."]),
        fix=f"Look at {look}, and at what changed in the system since {baseline.base.name}.",
        measure_again=_joined(names),
        failures=failures,
        segment=where.segment if where is not None else "",
        confidence=_confidence(group, judge_id),
        against=BASELINE,
        readings=readings,
    )     # fmt: skip


def _places(group: Sequence[MetricChange]) -> list[str]:
    """Where each fell most, as sentences; those that share a segment in one."""
    by_segment: dict[str, list[str]] = {}
    for change in group:
        if change.where is not None:
            inside, outside = (
                signed(moved, parse(change.metric).scale) for moved in (change.where.inside, change.where.outside)
            )
            by_segment.setdefault(change.where.segment, []).append(
                f"{change.metric} {inside} there, {outside} elsewhere"
            )
    return [f"Most with {segment}: {'; '.join(said)}." for segment, said in by_segment.items()]


def _confidence(group: Sequence[MetricChange], judge_id: str) -> str:
    """High, less one step where the local judge gave one of the numbers, and one where one rests on few examples."""
    steps = judge_id.startswith("local") and any(questions([parse(change.metric)]) for change in group)
    few = any(change.difference.n < FEW for change in group)
    return ("high", "medium", "low")[steps + few]


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
