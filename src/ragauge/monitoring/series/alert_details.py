"""What an alert has to say: how much, where, whether the mix of requests or the answers changed, why, which traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.verdict import VerdictCounts
from ragauge.monitoring.series.fault_attribution import UNTOLD, Blame
from ragauge.monitoring.series.label_correction import CorrectedDay
from ragauge.stats.textbook_tests import fisher_greater

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_specs import Watch
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.scorecard import Cause

MOST_TRACES, MOST_VALUES = 10, 5
CHANGED = 0.1  # a share that moved by so much is told,
LEVEL = 0.01  # where that is no chance: of any of all that are looked at
NO_VALUE, NOT_SAID = "(none)", "(not said)"  # of a segment, and of what traces say
NOT_THERE = {NO_VALUE, NOT_SAID}
Counts = Mapping[str, Counter[str]]  # what is said -> how many have which value


class SegmentPart(NamedTuple):
    """One value of a segment before and now: share of the requests, and the metric's mean among them."""

    value: str
    share_before: float
    share_now: float
    before: float | None
    now: float | None


@dataclass(frozen=True, slots=True)
class SegmentShift:
    """How much of a change a segment explains.

    Attributes:
        name: of the segment.
        mix: of the change of the mean, what comes of another mix of requests.
        within: what comes of other means within the values; mix + within is the whole change.
        parts: the values that add most to the drop within, at most five.
    """

    name: str
    mix: float
    within: float
    parts: tuple[SegmentPart, ...]


class CauseShare(NamedTuple):
    """How often a cause was found before and is now, as a share of the requests; and what to try."""

    name: str
    before: float
    now: float
    fix: str


class FactShare(NamedTuple):
    """A value of something that traces say, or of a segment, as a share of them before and now."""

    fact: str
    value: str
    before: float
    now: float


class TraceOf(NamedTuple):
    """A request with a bad score: its trace, run and value, when it came, and the question where that is shown."""

    trace_id: str
    run_id: str
    value: float
    at: datetime | None = None
    query: str = ""


@dataclass(frozen=True, slots=True)
class AlertAccount:
    """An alert with all that it has to say.

    Attributes:
        alert: what fired.
        before: mean of the metric before; None without scores.
        now: mean over the window that its rule looked at.
        n_before: scores before.
        n_now: scores in the window.
        shifts: by segment, the one that explains most first.
        causes: those that grew most first.
        facts: what changed in the traces.
        mix: of the values of segments, those whose share of the requests is another one.
        traces: the worst since, at most ten.
        blame: the component that it lies in.
        since_at: when the first request of the window came; None where no window is known.
        verdicts: counts of the verdicts on the requests before and since; None where they were not looked at.
        corrected: of all requests, the days since, up to the alert, whose mean labels correct.
    """

    alert: Alert
    before: float | None
    now: float | None
    n_before: int
    n_now: int
    shifts: tuple[SegmentShift, ...] = ()
    causes: tuple[CauseShare, ...] = ()
    facts: tuple[FactShare, ...] = ()
    mix: tuple[FactShare, ...] = ()
    traces: tuple[TraceOf, ...] = ()
    blame: Blame = UNTOLD
    since_at: datetime | None = None
    verdicts: tuple[VerdictCounts, VerdictCounts] | None = None
    corrected: tuple[CorrectedDay, ...] = ()


def bare(alert: Alert, facts: tuple[Counts, Counts] = ({}, {})) -> AlertAccount:
    """An alert that says itself what fired, with what traces say before and since."""
    return AlertAccount(alert, alert.baseline, alert.mean, 0, alert.n, facts=_moved(*facts))


class LookedAt(NamedTuple):
    """The requests with scores that an alert is about: those of its segment, before its window and in it."""

    before: Sequence[Arrival]
    now: Sequence[Arrival]


def looked_at(alert: Alert, watch: Watch, arrivals: Sequence[Arrival]) -> LookedAt:
    """The scored requests before an alert's window, as far as its baseline reaches, and in it, up to the alert."""
    first = alert.since.toordinal()
    name, value = alert.segment
    before: list[Arrival] = []
    now: list[Arrival] = []
    for one in arrivals:
        day = one.at.date().toordinal()
        score = one.scores.get(watch.metric)
        apart = name and one.segments.get(name) != value
        if score is None or score.value is None or apart or one.number > alert.number:
            continue
        if day >= first if alert.first < 0 else one.number >= alert.first:
            now.append(one)
        elif day >= first - watch.baseline.days:
            before.append(one)
    return LookedAt(before, now)


def account(
    alert: Alert,
    watch: Watch,
    looked: LookedAt,
    causes: Mapping[int, Cause],
    facts: tuple[Counts, Counts] = ({}, {}),
    blame: Blame = UNTOLD,
) -> AlertAccount:
    """All that an alert has to say.

    Args:
        alert: what fired.
        watch: its monitor.
        looked: the requests before and since.
        causes: number of a request that failed -> why.
        facts: before and now: what traces say -> how many have which value.
        blame: the component that it lies in.
    """
    before, now = (_Weighted.of(watch, side) for side in looked)
    names = sorted({name for side in looked for one in side for name in one.segments} - {alert.segment[0]})
    shifts = [_shift(name, watch, looked) for name in names] if before.weight and now.weight else []
    told = sorted((one for one in shifts if one is not None), key=lambda one: -_most(one))
    (changed, changed_now), mix = _changed(names, looked, facts)
    worst = sorted(looked.now, key=lambda one: (_x(watch, one), -one.number))[:MOST_TRACES]
    return AlertAccount(
        alert,
        before.shown(watch),
        now.shown(watch),
        len(looked.before),
        len(looked.now),
        tuple(told),
        _causes(looked, causes),
        _moved(changed, changed_now),
        _moved(*mix),
        tuple(TraceOf(one.trace_id, one.run_id, one.scores[watch.metric].value or 0.0, one.at) for one in worst),
        blame,
        looked.now[0].at if looked.now and alert.first >= 0 else None,
    )


class _Weighted(NamedTuple):
    weight: float
    total: float

    @staticmethod
    def of(watch: Watch, arrivals: Sequence[Arrival]) -> _Weighted:
        weights = [one.scores[watch.metric].weight for one in arrivals]
        return _Weighted(sum(weights), sum(w * _x(watch, one) for w, one in zip(weights, arrivals, strict=True)))

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.weight else 0.0

    def shown(self, watch: Watch) -> float | None:
        return watch.shown(self.mean) if self.weight else None


def _x(watch: Watch, arrival: Arrival) -> float:
    value = arrival.scores[watch.metric].value
    return watch.score(value) if value is not None else 1.0


def _shift(name: str, watch: Watch, looked: LookedAt) -> SegmentShift | None:
    """Kitagawa's decomposition of the change of the mean over the values of a segment.

    None where it has one value, or where most requests of a side have values that the other side lacks, such as a new
    version: that is no mix of requests.

    mix = Σ (p' − p) (m + m') / 2,  within = Σ (p + p') (m' − m) / 2, over values with shares p and means m before, p'
    and m' now. A value that is missing on a side has the other side's mean there: it is all mix.
    """
    sides = [_by_value(name, watch, side) for side in looked]
    values = sorted(sides[0].keys() | sides[1].keys())
    if len(values) < 2:
        return None
    totals = [sum(one.weight for one in side.values()) for side in sides]
    shared = [sum(side[value].weight for value in sides[0].keys() & sides[1].keys()) for side in sides]
    if any(2 * part < total for part, total in zip(shared, totals, strict=True)):
        return None
    mix = within = 0.0
    parts: list[tuple[float, SegmentPart]] = []
    for value in values:
        old, new = (side.get(value, _Weighted(0.0, 0.0)) for side in sides)
        shares = old.weight / totals[0], new.weight / totals[1]
        means = (old.mean if old.weight else new.mean), (new.mean if new.weight else old.mean)
        mix += (shares[1] - shares[0]) * sum(means) / 2
        drop = sum(shares) * (means[1] - means[0]) / 2
        within += drop
        parts.append((drop, SegmentPart(value, *shares, old.shown(watch), new.shown(watch))))
    sign = -1 if watch.lower else 1
    worst = tuple(part for _, part in sorted(parts)[:MOST_VALUES])
    return SegmentShift(name, sign * mix, sign * within, worst)


def _by_value(name: str, watch: Watch, side: Sequence[Arrival]) -> dict[str, _Weighted]:
    grouped: dict[str, list[Arrival]] = {}
    for one in side:
        grouped.setdefault(one.segments.get(name, NO_VALUE), []).append(one)
    return {value: _Weighted.of(watch, several) for value, several in grouped.items()}


def _most(shift: SegmentShift) -> float:
    """How much a segment tells: what the mix does, or how unlike its values fell."""
    falls = [abs(part.now - part.before) for part in shift.parts if part.now is not None and part.before is not None]
    return max(abs(shift.mix), max(falls, default=0.0) - min(falls, default=0.0))


def _causes(looked: LookedAt, causes: Mapping[int, Cause]) -> tuple[CauseShare, ...]:
    fixes = {cause.name: cause.fix for cause in causes.values() if cause.name}
    counts = [Counter(causes[one.number].name for one in side if one.number in causes) for side in looked]
    sizes = [max(1, len(side)) for side in looked]
    shares = [
        CauseShare(name, counts[0][name] / sizes[0], counts[1][name] / sizes[1], fix) for name, fix in fixes.items()
    ]
    return tuple(sorted(shares, key=lambda one: (one.before - one.now, one.name))[:MOST_VALUES])


def _changed(
    names: Sequence[str], looked: LookedAt, facts: tuple[Counts, Counts]
) -> tuple[tuple[Counts, Counts], tuple[Counts, Counts]]:
    """What is looked at for a change of the system, then of the mix of requests, each before and now.

    A segment that has the values of a fact is that fact. One most of whose values are new, such as a version, is what
    changed and no mix; the others are mix.
    """
    known = [{*facts[0][fact], *facts[1][fact]} - NOT_THERE for fact in facts[0].keys() & facts[1].keys()]
    old, new = ({name: _counted(name, side) for name in names} for side in looked)
    newest = [
        side[-max((one.total() for one in said.values()), default=0) :]  # what facts are taken of
        for side, said in zip(looked, facts, strict=True)
    ]
    apart = [
        name
        for name in names
        if {one.segments.get(name, NO_VALUE) for side in newest for one in side} - NOT_THERE not in known
    ]
    versions = {name for name in apart if _replaced(old[name], new[name])}
    ours = tuple(
        {**side, **{name: counts[name] for name in versions}} for side, counts in zip(facts, (old, new), strict=True)
    )
    mix = tuple({name: counts[name] for name in apart if name not in versions} for counts in (old, new))
    return (ours[0], ours[1]), (mix[0], mix[1])


def _counted(name: str, side: Sequence[Arrival]) -> Counter[str]:
    return Counter(one.segments.get(name, NO_VALUE) for one in side)


def _replaced(old: Counter[str], new: Counter[str]) -> bool:
    """Whether most requests of a side have values that the other side lacks."""
    return any(2 * sum(one[value] for value in old.keys() & new.keys()) < one.total() for one in (old, new))


def _moved(before: Counts, now: Counts) -> tuple[FactShare, ...]:
    """Values whose share moved by a tenth or more and by more than chance, the largest moves first.

    By Fisher's exact test, two-sided, at 1 % divided by the values that are looked at.
    """
    looked = {
        fact: before[fact].keys() | now[fact].keys()
        for fact in before.keys() & now.keys()
        if before[fact] and now[fact]
    }
    level = LEVEL / max(1, sum(map(len, looked.values())))
    found = []
    for fact, values in looked.items():
        old, new = before[fact], now[fact]
        if 2 * len(values) > old.total() + new.total():  # each has its own
            continue
        for value in values:
            shares = old[value] / old.total(), new[value] / new.total()
            if abs(shares[1] - shares[0]) >= CHANGED and _p(old, new, value) <= level:
                found.append(FactShare(fact, value, *shares))
    return tuple(sorted(found, key=lambda one: (-abs(one.now - one.before), one.fact, one.value))[: 2 * MOST_VALUES])


def _p(old: Counter[str], new: Counter[str], value: str) -> float:
    sides = (old[value], old.total()), (new[value], new.total())
    return 2 * min(fisher_greater(*sides[0], *sides[1]), fisher_greater(*sides[1], *sides[0]))
