"""What metrics say together over a run: which patterns hold, and the numbers that they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragauge.analysis.diagnosis.pattern_table import PATTERNS, WORKING, Pattern
from ragauge.analysis.diagnosis.readings import (
    BASELINE,
    ORACLE,
    POINTS,
    Against,
    against_point,
    against_run,
    rose,
)
from ragauge.analysis.diagnosis.starting_points import barren
from ragauge.analysis.results.scorecard import Reading, Summary

__all__ = ["PATTERNS", "WORKING", "Match", "Pattern", "matches"]

# what a pattern is read against, the most telling first
STRENGTH = (BASELINE, ORACLE, POINTS)
# what shows that more is handed on than before, the most telling first
MORE = ("recall", "context_recall", "context_tokens")
EVIDENCE = "context_recall"     # how much of the evidence is found


class Match(NamedTuple):
    """A pattern that holds.

    Attributes:
        pattern: which.
        readings: the metrics that it rests on.
        more: how more passages are handed on than in the baseline, where it rests on that; else "".
        reading: what it means here: against a baseline, or of this run alone.
    """

    pattern: Pattern
    readings: tuple[Reading, ...]
    more: str
    reading: str

    @property
    def against(self) -> str:
        """What it was read against: another run, where one of its readings was, else starting points."""
        found = {reading.against for reading in self.readings}
        return next(one for one in STRENGTH if one in found)


def matches(
    summaries: Sequence[Summary],
    answerable: Sequence[Summary] | None = None,
    against: Against | None = None,
) -> list[Match]:
    """The patterns that hold, in order. One whose metrics were not measured, or are unclear, does not.

    Args:
        summaries: over all examples.
        answerable: over those not labelled unanswerable; None = nothing is labelled so.
        against: what the run is held against; None = starting points alone.
    """
    held: list[Match] = []
    for pattern in PATTERNS:
        if pattern.oracle and any(match.pattern.oracle for match in held):
            continue     # the metrics of the answer are asked in turn: the first one that is clear decides
        of = answerable if pattern.answerable and answerable is not None else summaries
        found = _held(pattern, of, against or Against())
        held += [found] if found is not None else []
    return held


def _held(pattern: Pattern, summaries: Sequence[Summary], against: Against) -> Match | None:
    if pattern.relevant and barren(summaries):
        return None
    baseline = None if pattern.absolute else against.changed
    if pattern.change and (baseline is None or (pattern.traffic and not against.traffic)):
        return None
    if pattern.found and baseline is not None:
        lost = against_run(EVIDENCE, "low", baseline.metrics, baseline.base.name)
        if lost is not None:
            return None
    if pattern.oracle:
        readings = _of_oracle(pattern, against)
    elif baseline is not None:
        base = baseline.base.name
        readings = [against_run(name, wanted, baseline.metrics, base) for name, wanted in pattern.when.items()]
    else:
        readings = [against_point(name, wanted, summaries) for name, wanted in pattern.when.items()]
    more = ""
    if pattern.more and baseline is not None:
        risen = rose(MORE, baseline.metrics, baseline.base.name)
        more = against.more
        readings = [*readings, risen] if risen is not None or not more else readings
    known = tuple(reading for reading in readings if reading is not None)
    if not known or len(known) < len(readings):
        return None
    changed = pattern.changed if baseline is not None else ""
    return Match(pattern, known, more, changed or pattern.reading)


def _of_oracle(pattern: Pattern, against: Against) -> list[Reading | None]:
    """On oracle passages against the starting points; the run's own against the run on oracle passages."""
    oracle = against.oracle
    if oracle is None:
        return [None]
    there = [against_point(name, wanted, oracle.summaries, "oracle") for name, wanted in pattern.oracle.items()]
    own = [against_run(name, wanted, oracle.gaps, oracle.name, ORACLE) for name, wanted in pattern.when.items()]
    return [*there, *own]
