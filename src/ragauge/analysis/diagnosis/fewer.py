"""Evidence that was lost since the baseline as fewer passages are handed on: said before what answers made of it."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.analysis.causes.system import SYSTEM_FAILED
from ragauge.analysis.diagnosis.readings import BASELINE, Against, changed, words
from ragauge.analysis.diagnosis.worse import FEW
from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.scorecard import Finding
from ragauge.analysis.scores.failed import FailedResponses
from ragauge.metrics.catalogue import parse, questions

CAUSE, LAYER = "evidence_lost", "worse_retrieval"     # the other finding of what retrieval lost, which says no reason
OF_EVIDENCE = ("recall", "hit", "context_recall")     # metrics that fall as evidence is lost, the surest first
CLEARLY = 0.9     # of the passages of the baseline: below, they are fewer


def lost_evidence(changes: Sequence[MetricChange]) -> MetricChange | None:
    """The change for the worse that says most surely that evidence was lost; None for none."""
    fell = [one for one in changes if one.verdict == "worse" and parse(one.metric).name() in OF_EVIDENCE]
    return min(fell, key=lambda one: OF_EVIDENCE.index(parse(one.metric).name()), default=None)


def with_lost_evidence(
    findings: Sequence[Finding], against: Against | None, failed: FailedResponses, judge_id: str
) -> tuple[Finding, ...]:
    """The findings; where evidence was lost since the baseline and fewer passages are handed on, that stands first.

    Args:
        findings: of the diagnosis.
        against: what the run is held against.
        failed: the failed examples.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence in what it measured.
    """
    base = against.changed if against is not None else None
    change = None if base is None else lost_evidence(base.metrics)
    if against is None or base is None or change is None or against.fewer is None:
        return tuple(findings)
    before, now = (f"{round(mean, 1):g}" for mean in against.fewer)
    mine, others = changed(change, base.base.name), [one for one in findings if one.cause != LAYER]
    also = [reading for one in findings if one.cause == LAYER for reading in one.readings]
    unsure = (change.difference.n < FEW) + (judge_id.startswith("local") and bool(questions([parse(change.metric)])))
    first = Finding(
        cause=CAUSE,
        headline=f"retrieval lost evidence since {base.base.name}: passages handed on fell from {before} to {now}"
        + (f" ({words(mine)})" if mine is not None else ""),
        evidence="What the answers lack of it is no fault of the model.",
        fix=f"Hand on as many passages as in {base.base.name} ({before} a question, not {now}), or rerank so that "
        "fewer hold the evidence.",
        leave="the prompt and the model, until it is back",
        measure_again=change.metric,
        explains=list(failed.component).count("retrieval"),
        failures=len(failed),
        confidence=("high", "medium", "low")[unsure],
        against=BASELINE,
        readings=(*([mine] if mine is not None else []), *(one for one in also if one != mine)),
    )
    at = 1 if others and others[0].cause == SYSTEM_FAILED.name else 0
    return (*others[:at], first, *others[at:])
