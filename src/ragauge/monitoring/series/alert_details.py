"""What an alert has to say: how much, where, whether the mix of requests or the answers changed, why, which traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.verdict import VerdictCounts
from ragauge.monitoring.series.fault_attribution import NO_BLAME, Blame
from ragauge.monitoring.series.label_correction import CorrectedDay
from ragauge.scores.request_stream import NOT_RECORDED
from ragauge.stats.textbook_tests import fisher_greater

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_specs import MonitorSpec
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.scorecard import Cause

MAX_TRACES, MAX_VALUES = 10, 5
MIN_SHARE_CHANGE = 0.1  # a share that moved by so much is told,
LEVEL = 0.01  # where that is no chance: of any of all that are looked at
NO_VALUE = "(none)"  # of a segment
MISSING_VALUES = {NO_VALUE, NOT_RECORDED}
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
    """How much of a change a segment explains."""

    name: str  #: of the segment.
    mix: float  #: of the change of the mean, what comes of another mix of requests.
    within: float  #: what comes of other means within the values; mix + within is the whole change.
    parts: tuple[SegmentPart, ...]  #: the values that add most to the drop within, at most five.


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


class AlertTrace(NamedTuple):
    """A request with a bad score: its trace, run and value, when it came, and the question where that is shown."""

    trace_id: str
    run_id: str
    value: float
    at: datetime | None = None
    query: str = ""


@dataclass(frozen=True, slots=True)
class AlertAccount:
    """An alert with all that it has to say."""

    alert: Alert  #: what fired.
    before: float | None  #: mean of the metric before; None without scores.
    now: float | None  #: mean over the window that its rule looked at.
    n_before: int  #: scores before.
    n_now: int  #: scores in the window.
    shifts: tuple[SegmentShift, ...] = ()  #: by segment, the one that explains most first.
    causes: tuple[CauseShare, ...] = ()  #: those that grew most first.
    facts: tuple[FactShare, ...] = ()  #: what changed in the traces.
    mix: tuple[FactShare, ...] = ()  #: of the values of segments, those whose share of the requests is another one.
    traces: tuple[AlertTrace, ...] = ()  #: the worst since, at most ten.
    blame: Blame = NO_BLAME  #: the component that it lies in.
    since_at: datetime | None = None  #: when the first request of the window came; None where no window is known.
    #: counts of the verdicts on the requests before and since; None where they were not looked at.
    verdicts: tuple[VerdictCounts, VerdictCounts] | None = None
    #: of all requests, the days since, up to the alert, whose mean labels correct.
    corrected: tuple[CorrectedDay, ...] = ()


def build_plain_account(alert: Alert, facts: tuple[Counts, Counts] = ({}, {})) -> AlertAccount:
    """An alert that says itself what fired, with what traces say before and since."""
    return AlertAccount(alert, alert.baseline, alert.mean, 0, alert.n, facts=_find_moves(*facts))


class AlertRequests(NamedTuple):
    """The requests with scores that an alert is about: those of its segment, before its window and in it."""

    before: Sequence[Arrival]
    now: Sequence[Arrival]


def select_alert_requests(alert: Alert, monitor_spec: MonitorSpec, arrivals: Sequence[Arrival]) -> AlertRequests:
    """The scored requests before an alert's window, as far as its baseline reaches, and in it, up to the alert."""
    first = alert.since.toordinal()
    name, value = alert.segment
    previous: list[Arrival] = []
    current: list[Arrival] = []
    for request in arrivals:
        day = request.at.date().toordinal()
        score = request.scores.get(monitor_spec.metric)
        is_other_segment = name and request.segments.get(name) != value
        if score is None or score.value is None or is_other_segment or request.number > alert.number:
            continue
        if day >= first if alert.first < 0 else request.number >= alert.first:
            current.append(request)
        elif day >= first - monitor_spec.baseline.days:
            previous.append(request)
    return AlertRequests(previous, current)


def build_account(
    alert: Alert,
    monitor_spec: MonitorSpec,
    alert_requests: AlertRequests,
    causes: Mapping[int, Cause],
    facts: tuple[Counts, Counts] = ({}, {}),
    blame: Blame = NO_BLAME,
) -> AlertAccount:
    """All that an alert has to say.

    Args:
        alert: what fired.
        monitor_spec: its monitor.
        alert_requests: the requests before and since.
        causes: number of a request that failed -> why.
        facts: before and now: what traces say -> how many have which value.
        blame: the component that it lies in.
    """
    previous, current = (_WeightedSum.of(monitor_spec, requests) for requests in alert_requests)
    names = sorted(
        {name for requests in alert_requests for item in requests for name in item.segments} - {alert.segment[0]}
    )
    shifts = (
        [_decompose_shift(name, monitor_spec, alert_requests) for name in names]
        if previous.weight and current.weight
        else []
    )
    ranked_shifts = sorted((item for item in shifts if item is not None), key=lambda item: -_measure_shift(item))
    (changed, changed_now), mix = _split_changes(names, alert_requests, facts)
    worst = sorted(alert_requests.now, key=lambda item: (_score_request(monitor_spec, item), -item.number))[:MAX_TRACES]
    return AlertAccount(
        alert,
        previous.shown(monitor_spec),
        current.shown(monitor_spec),
        len(alert_requests.before),
        len(alert_requests.now),
        tuple(ranked_shifts),
        _list_cause_shares(alert_requests, causes),
        _find_moves(changed, changed_now),
        _find_moves(*mix),
        tuple(
            AlertTrace(item.trace_id, item.run_id, item.scores[monitor_spec.metric].value or 0.0, item.at)
            for item in worst
        ),
        blame,
        alert_requests.now[0].at if alert_requests.now and alert.first >= 0 else None,
    )


class _WeightedSum(NamedTuple):
    weight: float
    total: float

    @staticmethod
    def of(monitor_spec: MonitorSpec, arrivals: Sequence[Arrival]) -> _WeightedSum:
        weights = [request.scores[monitor_spec.metric].weight for request in arrivals]
        return _WeightedSum(
            sum(weights),
            sum(w * _score_request(monitor_spec, request) for w, request in zip(weights, arrivals, strict=True)),
        )

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.weight else 0.0

    def shown(self, monitor_spec: MonitorSpec) -> float | None:
        return monitor_spec.shown(self.mean) if self.weight else None


def _score_request(monitor_spec: MonitorSpec, arrival: Arrival) -> float:
    value = arrival.scores[monitor_spec.metric].value
    return monitor_spec.score(value) if value is not None else 1.0


def _decompose_shift(name: str, monitor_spec: MonitorSpec, alert_requests: AlertRequests) -> SegmentShift | None:
    """Kitagawa's decomposition of the change of the mean over the values of a segment.

    None where it has one value, or where most requests of a side have values that the other side lacks, such as a new
    version: that is no mix of requests.

    mix = Σ (p' − p) (m + m') / 2,  within = Σ (p + p') (m' − m) / 2, over values with shares p and means m before, p'
    and m' now. A value that is missing on a side has the other side's mean there: it is all mix.
    """
    sides = [_sum_by_value(name, monitor_spec, side) for side in alert_requests]
    values = sorted(sides[0].keys() | sides[1].keys())
    if len(values) < 2:
        return None
    totals = [sum(weighted.weight for weighted in side.values()) for side in sides]
    shared = [sum(side[value].weight for value in sides[0].keys() & sides[1].keys()) for side in sides]
    if any(2 * part < total for part, total in zip(shared, totals, strict=True)):
        return None
    mix = within = 0.0
    parts: list[tuple[float, SegmentPart]] = []
    for value in values:
        old, new = (side.get(value, _WeightedSum(0.0, 0.0)) for side in sides)
        shares = old.weight / totals[0], new.weight / totals[1]
        means = (old.mean if old.weight else new.mean), (new.mean if new.weight else old.mean)
        mix += (shares[1] - shares[0]) * sum(means) / 2
        drop = sum(shares) * (means[1] - means[0]) / 2
        within += drop
        parts.append((drop, SegmentPart(value, *shares, old.shown(monitor_spec), new.shown(monitor_spec))))
    sign = -1 if monitor_spec.lower else 1
    worst = tuple(part for _, part in sorted(parts)[:MAX_VALUES])
    return SegmentShift(name, sign * mix, sign * within, worst)


def _sum_by_value(name: str, monitor_spec: MonitorSpec, requests: Sequence[Arrival]) -> dict[str, _WeightedSum]:
    grouped: dict[str, list[Arrival]] = {}
    for request in requests:
        grouped.setdefault(request.segments.get(name, NO_VALUE), []).append(request)
    return {value: _WeightedSum.of(monitor_spec, several) for value, several in grouped.items()}


def _measure_shift(shift: SegmentShift) -> float:
    """How much a segment tells: what the mix does, or how unlike its values fell."""
    falls = [abs(part.now - part.before) for part in shift.parts if part.now is not None and part.before is not None]
    return max(abs(shift.mix), max(falls, default=0.0) - min(falls, default=0.0))


def _list_cause_shares(alert_requests: AlertRequests, causes: Mapping[int, Cause]) -> tuple[CauseShare, ...]:
    fixes = {cause.name: cause.fix for cause in causes.values() if cause.name}
    counts = [
        Counter(causes[item.number].name for item in requests if item.number in causes) for requests in alert_requests
    ]
    sizes = [max(1, len(requests)) for requests in alert_requests]
    shares = [
        CauseShare(name, counts[0][name] / sizes[0], counts[1][name] / sizes[1], fix) for name, fix in fixes.items()
    ]
    return tuple(sorted(shares, key=lambda item: (item.before - item.now, item.name))[:MAX_VALUES])


def _split_changes(
    names: Sequence[str], alert_requests: AlertRequests, facts: tuple[Counts, Counts]
) -> tuple[tuple[Counts, Counts], tuple[Counts, Counts]]:
    """What is looked at for a change of the system, then of the mix of requests, each before and now.

    A segment that has the values of a fact is that fact. One most of whose values are new, such as a version, is what
    changed and no mix; the others are mix.
    """
    fact_values = [{*facts[0][fact], *facts[1][fact]} - MISSING_VALUES for fact in facts[0].keys() & facts[1].keys()]
    old, new = ({name: _count_values(name, side) for name in names} for side in alert_requests)
    newest = [
        side[-max((item.total() for item in fact_counts.values()), default=0) :]  # what facts are taken of
        for side, fact_counts in zip(alert_requests, facts, strict=True)
    ]
    distinct = [
        name
        for name in names
        if {item.segments.get(name, NO_VALUE) for side in newest for item in side} - MISSING_VALUES not in fact_values
    ]
    versions = {name for name in distinct if _is_replaced(old[name], new[name])}
    ours = tuple(
        {**side, **{name: counts[name] for name in versions}} for side, counts in zip(facts, (old, new), strict=True)
    )
    mix = tuple({name: counts[name] for name in distinct if name not in versions} for counts in (old, new))
    return (ours[0], ours[1]), (mix[0], mix[1])


def _count_values(name: str, requests: Sequence[Arrival]) -> Counter[str]:
    return Counter(request.segments.get(name, NO_VALUE) for request in requests)


def _is_replaced(old: Counter[str], new: Counter[str]) -> bool:
    """Whether most requests of a side have values that the other side lacks."""
    return any(2 * sum(counts[value] for value in old.keys() & new.keys()) < counts.total() for counts in (old, new))


def _find_moves(previous: Counts, current: Counts) -> tuple[FactShare, ...]:
    """Values whose share moved by a tenth or more and by more than chance, the largest moves first.

    By Fisher's exact test, two-sided, at 1 % divided by the values that are looked at.
    """
    looked = {
        fact: previous[fact].keys() | current[fact].keys()
        for fact in previous.keys() & current.keys()
        if previous[fact] and current[fact]
    }
    level = LEVEL / max(1, sum(map(len, looked.values())))
    moves = []
    for fact, values in looked.items():
        old, new = previous[fact], current[fact]
        if 2 * len(values) > old.total() + new.total():  # each has its own
            continue
        for value in values:
            shares = old[value] / old.total(), new[value] / new.total()
            if abs(shares[1] - shares[0]) >= MIN_SHARE_CHANGE and _compute_p(old, new, value) <= level:
                moves.append(FactShare(fact, value, *shares))
    return tuple(
        sorted(moves, key=lambda move: (-abs(move.now - move.before), move.fact, move.value))[: 2 * MAX_VALUES]
    )


def _compute_p(old: Counter[str], new: Counter[str], value: str) -> float:
    sides = (old[value], old.total()), (new[value], new.total())
    return 2 * min(fisher_greater(*sides[0], *sides[1]), fisher_greater(*sides[1], *sides[0]))
