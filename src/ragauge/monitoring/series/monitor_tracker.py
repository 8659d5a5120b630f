"""One monitor over all that comes in: its series, its periods, and the alerts that it raises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from math import nan
from typing import TYPE_CHECKING

from ragauge.monitoring.series.series import ALL, Segment, Series, SeriesScore, StateChange
from ragauge.stats.sequential import alarm_limit

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_specs import MonitorSpec
    from ragauge.scores.request_stream import Arrival, ArrivedScore

MAX_SEGMENTS = 100  # values of a segment that are watched, those with the most scores
MAX_LATE_DAYS = 2  # days by which a request may be older than the last one that was taken, because it was read late
JUDGE_CHANGED = "the judge"  # what is watched, of an alert that it changed


def build_schedule_name(name: str) -> str:
    """What is watched, of an alert that a schedule failed."""
    return f"schedule {name}"


@dataclass(frozen=True, slots=True)
class Alert:
    """What a monitor raised."""

    alert_id: str  #: the same however the scores came in.
    monitor: str  #: what is watched, such as faithfulness.
    asks: str  #: what must hold, in words.
    segment: Segment  #: name and value; ("", "") = all requests.
    fired_at: datetime  #: when.
    #: of the arrival at which it fired; of the judge, the look that saw it change, -1 once it is itself again.
    number: int
    trace_id: str  #: of that request.
    since: date  #: the likeliest day since which it is worse.
    #: of the metric over the window that its rule looked at: since it most likely fell, or the last 50 scores.
    mean: float | None
    n: int  #: scores in it.
    allowed: float  #: the mean that it is held to.
    baseline: float | None  #: the mean before; None where a level decides and there was nothing before.
    evidence: float  #: M; 1 where the estimate alone decides.
    limit: float  #: of the evidence, K / α.
    series: int  #: K: in how many parts the false alarms are divided, of which it has one.
    decide: str  #: test or point.
    lower: bool  #: whether lower is better.
    #: when scores had been back within the limit for the cool-down; None = it is open.
    ended_at: datetime | None = None
    said: str = ""  #: what fired in one line, where it is no monitor of a metric; "" else.
    project: str = ""  #: whose traffic, where several projects send; "" else, and of what is no project's.
    #: number of the arrival with which that window begins; -1 = the first of the day since which it is worse.
    first: int = -1


@dataclass(frozen=True, slots=True)
class TrackerState:
    """Where one monitor stands: all that it needs to go on."""

    cursor: int = -1  #: number of the last arrival that it took.
    day: int = 0  #: the day of that arrival, ordinal; 0 = none yet.
    start: int = 0  #: first day of the period, ordinal; 0 = none has begun.
    watched: tuple[Segment, ...] = ()  #: the series of the period, which the limit counts.
    instrument: str = ""  #: metric version, judge and question versions.
    #: where each stands, those of the next period included.
    series: Mapping[Segment, Series] = field(default_factory=dict)
    alerts: Mapping[Segment, Alert] = field(default_factory=dict)  #: open ones, by series.
    #: when the last request arrived whose score it took; None = none yet, or only requests of the past.
    last: datetime | None = None
    #: the alerts that nothing comes any more, while they are open, by series.
    silent: Mapping[Segment, Alert] = field(default_factory=dict)
    resumed: datetime | None = None  #: when scores came again after nothing at all had come; None = they always came.
    #: whether this is the first day of a level: what comes of a segment is watched from its first score on.
    growing: bool = False
    #: scores of logs of the past that were passed by: more than two days older than what was taken before.
    passed: int = 0
    #: while the clock stands more than two days before `day`, how many scores must come yet until the later days count
    #: as its mistake; None = it does not.
    doubted: int | None = None


@dataclass(frozen=True, slots=True)
class MonitorTracker:
    """How a monitor is watched."""

    watch: MonitorSpec  #: the monitor.
    parts: int  #: how many share the false alarms; this monitor has one part.
    false_alarms: float  #: the chance of even one, over all of them, in a period.
    days: int  #: of a period.
    cool_down: timedelta  #: how long scores must be back within the limit before an alert ends.
    #: by which weights of the first day are divided at least: where some are judged every time, what is drawn weighs
    #: more than what came by then.
    heaviest: float = 0.0
    of: str = ""  #: whose traffic it watches, where several projects send; "" else.

    def after(self, state: TrackerState, arrivals: Iterable[Arrival]) -> tuple[TrackerState, tuple[Alert, ...]]:
        """Takes what came in, in order, up to the first request whose score is pending.

        Batches of any size come to the same alerts. A day is that of arrival, and never before the last one. Where
        requests of the present come more than two days before it, the clock was wrong, then or now: they count for the
        last day until more of them have come than stand on the days after theirs, which from then on count for theirs.

        Args:
            state: where it stood.
            arrivals: in order of arrival; those that it took before are passed over.

        Returns:
            Where it stands, and the alerts that were raised or have ended, in order.
        """
        numbered_alerts: list[tuple[int, Alert]] = []
        batch_kind: tuple[int, bool, str, bool] | None = None
        batch: list[Arrival] = []
        for arrival in arrivals:
            score = arrival.scores.get(self.watch.metric)
            if arrival.number <= state.cursor or score is None:
                continue
            day = arrival.at.date().toordinal()
            kind = (day, arrival.past, score.instrument, score.status == "not_read")
            if batch and kind != batch_kind:
                state, batch = self._take_batch(state, batch, numbered_alerts), []
            if arrival.past and day < state.day - MAX_LATE_DAYS:
                state = replace(state, cursor=arrival.number, passed=state.passed + 1)
            elif score.status == "pending":
                break
            elif score.status in ("scored", "failed", "not_read"):
                batch_kind = kind
                batch.append(arrival)
        if batch:
            state = self._take_batch(state, batch, numbered_alerts)
        return state, tuple(alert for _, alert in sorted(numbered_alerts, key=lambda pair: pair[0]))

    def _take_batch(
        self, state: TrackerState, arrivals: Sequence[Arrival], numbered_alerts: list[tuple[int, Alert]]
    ) -> TrackerState:
        """Takes requests of one day, instrument and status, where they count, and adds the alerts."""
        first, day = arrivals[0], arrivals[0].at.date().toordinal()
        if first.scores[self.watch.metric].status == "not_read":
            return self._take_unread(state, day, arrivals)
        if first.past or day >= state.day - MAX_LATE_DAYS:
            doubted = state.doubted if first.past else None
            return self._count_requests(
                replace(self._advance_day(state, max(day, state.day)), doubted=doubted), arrivals, numbered_alerts
            )
        doubted = state.doubted
        if doubted is None:
            doubted = state.series[ALL].sum_days(day + 1, state.day + 1).n if ALL in state.series else 0
        early, later_requests = arrivals[:doubted], arrivals[doubted:]
        state = self._count_requests(replace(state, doubted=doubted - len(early)), early, numbered_alerts)
        return (
            self._count_requests(self._rewind_clock(state, day, later_requests[0].at), later_requests, numbered_alerts)
            if later_requests
            else state
        )

    def _count_requests(
        self, state: TrackerState, arrivals: Sequence[Arrival], numbered_alerts: list[tuple[int, Alert]]
    ) -> TrackerState:
        """Takes requests of one instrument on the day where it stands."""
        if not arrivals:
            return state
        instrument = arrivals[0].scores[self.watch.metric].instrument
        if instrument != state.instrument:
            state = self._set_instrument(state, instrument)
        state, alerts = self._take_scores(state, arrivals)
        numbered_alerts += alerts
        return state

    def _rewind_clock(self, state: TrackerState, day: int, now: datetime) -> TrackerState:
        """After the clock was put back: what stands on later days counts for this one, with which a period begins."""
        last, resumed = (None if item is None else min(item, now) for item in (state.last, state.resumed))
        series = {segment: item.merge_later_days(day, now) for segment, item in state.series.items()}
        state = replace(
            state, day=day, start=day, growing=False, doubted=None, series=series, last=last, resumed=resumed
        )
        return self._begin_series(replace(state, watched=self.list_largest(state, day + 1)), day)

    def _take_unread(self, state: TrackerState, day: int, arrivals: Sequence[Arrival]) -> TrackerState:
        """Takes scores of one day that were not read: they raise no alert, not even that nothing comes."""
        times: dict[Segment, list[datetime]] = defaultdict(list)
        for arrival in arrivals:
            for segment in self._list_segments(arrival):
                times[segment].append(arrival.at)
        series, oldest = dict(state.series), day - self.watch.baseline.days
        for segment, came in times.items():
            series[segment] = series.get(segment, Series()).add_unread(came, day, oldest, state.resumed)
        return replace(state, cursor=arrivals[-1].number, series=series, last=_find_last_heard(state, arrivals))

    def _list_segments(self, arrival: Arrival) -> Iterator[Segment]:
        yield ALL
        yield from ((name, value) for name in self.watch.segments if (value := arrival.segments.get(name, "")))

    def _advance_day(self, state: TrackerState, day: int) -> TrackerState:
        """On a day: every day since the last begins, and with it a period where one is over."""
        for current_day in range(state.day + 1 if state.day else day, day + 1):
            if not state.day and self.watch.level is not None:  # it asks for no baseline
                state = replace(state, start=current_day, watched=(ALL,), growing=True)
            elif state.day and (not state.start or current_day >= state.start + self.days):
                state = replace(state, start=current_day, watched=self.list_largest(state, current_day), growing=False)
            elif state.growing:
                state = replace(state, growing=False)
            state = self._begin_series(state, current_day)
        return state

    def _begin_series(self, state: TrackerState, day: int) -> TrackerState:
        """With a day begun in each series that is watched."""
        series, limit = dict(state.series), self.limit(state)
        floor = self.heaviest if state.growing else 0.0
        for segment in state.watched:
            floored = replace(series.get(segment, Series()), floor=floor)
            series[segment] = floored.begin_day(self.watch, day, day - state.start, self.days, limit)
        return replace(state, day=day, series=series)

    def list_largest(self, state: TrackerState, day: int) -> tuple[Segment, ...]:
        """The series of a period: all requests, and the values of segments that had scores before, the largest."""
        counts = {
            segment: series.sum_days(day - self.watch.baseline.days, day).n for segment, series in state.series.items()
        }
        largest = sorted((-n, segment) for segment, n in counts.items() if segment != ALL and n)
        return (ALL, *(segment for _, segment in largest[:MAX_SEGMENTS]))

    def _set_instrument(self, state: TrackerState, instrument: str) -> TrackerState:
        if not state.instrument:
            return replace(state, instrument=instrument)
        series = {name: segment_series.reset_instrument() for name, segment_series in state.series.items()}
        return replace(state, instrument=instrument, series=series)

    @property
    def name(self) -> str:
        """What a monitor is kept under: one that asks something else is another."""
        spec, segments = self.watch, ",".join(self.watch.segments)
        return f"{spec.asks}; {segments}; {spec.decide} {spec.wait}; {self.days} {self._name_suffix}"

    @property
    def _name_suffix(self) -> str:
        return f"days; {self.watch.project}" if self.watch.project else "days"

    def is_earlier_form(self, name: str) -> bool:
        """Whether a monitor that was kept under a name watched the same metric of the same project."""
        rule_text = name.removeprefix(f"{self.watch} ")
        has_metric = rule_text != name and rule_text.startswith(("at ", "no more than "))
        return has_metric and name.endswith(f" {self._name_suffix}")

    def find_last_heard(self, state: TrackerState, segment: Segment) -> datetime | None:
        """When the last score of a series came that was taken."""
        return state.last if segment == ALL else state.series[segment].heard.last

    def limit(self, state: TrackerState) -> float:
        """The evidence that raises an alarm: K, its series times the parts, over the chance that is allowed."""
        return alarm_limit(self.false_alarms, self._count_sharers(state))

    def _count_sharers(self, state: TrackerState) -> int:
        """K: while it is open which values segments have, as many as there may be."""
        several = 1 + MAX_SEGMENTS if state.growing and self.watch.segments else max(1, len(state.watched))
        return self.parts * several

    def _take_scores(
        self, state: TrackerState, arrivals: Sequence[Arrival]
    ) -> tuple[TrackerState, list[tuple[int, Alert]]]:
        """Takes the scores of one day and instrument."""
        scores: dict[Segment, list[SeriesScore]] = defaultdict(list)
        for arrival in arrivals:
            taken = self._build_score(arrival, arrival.scores[self.watch.metric])
            for segment in self._list_segments(arrival):
                scores[segment].append(taken)
        state = self._add_new_segments(state, scores)
        series, alerts, numbered_alerts = dict(state.series), dict(state.alerts), list[tuple[int, Alert]]()
        silent, limit = dict(state.silent), self.limit(state)
        baseline_start, resumed = state.day - self.watch.baseline.days, state.resumed
        if ALL in silent:
            resumed = max(arrivals[0].at, silent[ALL].fired_at)
        elif state.last is None and state.day and not arrivals[0].past:  # the present begins
            resumed = arrivals[0].at
        for segment, segment_scores in scores.items():
            if (missing := silent.pop(segment, None)) is not None:
                numbered_alerts.append((segment_scores[0].number, _end_alert(missing, segment_scores[0].at)))
            current, times = series.get(segment, Series()), (score.at for score in segment_scores)
            current = replace(current, heard=current.heard.after(times, state.day, baseline_start, resumed))
            series[segment], turns = current.after(
                self.watch, segment_scores, day=state.day, limit=limit, cool_down=self.cool_down
            )
            for turn in turns:
                open_alert = alerts.get(segment)
                if turn.after.open and open_alert is None:
                    alerts[segment] = self._build_alert(state, segment, series[segment], turn, limit)
                    numbered_alerts.append((turn.score.number, alerts[segment]))
                elif open_alert is not None and not turn.after.open:
                    numbered_alerts.append((turn.score.number, _end_alert(alerts.pop(segment), turn.score.at)))
        return replace(
            state,
            cursor=arrivals[-1].number,
            series=series,
            alerts=alerts,
            last=_find_last_heard(state, arrivals),
            silent=silent,
            resumed=resumed,
        ), numbered_alerts

    def _add_new_segments(self, state: TrackerState, scores: Iterable[Segment]) -> TrackerState:
        """On the first day of a level: the values of segments that came first are watched too, 100 at most."""
        if not state.growing:
            return state
        room = max(0, 1 + MAX_SEGMENTS - len(state.watched))
        new = [segment for segment in scores if segment not in state.watched][:room]
        limit, series = self.limit(state), dict(state.series)
        for segment in new:
            series[segment] = Series(floor=self.heaviest).begin_day(self.watch, state.day, 0, self.days, limit)
        return replace(state, watched=(*state.watched, *new), series=series)

    def _build_score(self, arrival: Arrival, score: ArrivedScore) -> SeriesScore:
        x = nan if score.value is None or score.status == "failed" else self.watch.score(score.value)
        return SeriesScore(arrival.number, arrival.at, x, score.weight, arrival.trace_id)

    def _build_alert(
        self, state: TrackerState, segment: Segment, series: Series, turn: StateChange, limit: float
    ) -> Alert:
        identity = f"{self.watch}\0{segment[0]}\0{segment[1]}\0{turn.score.number}\0{turn.score.trace_id}"
        to_display, reference, fallen = self.watch.shown, series.reference, turn.fallen.mean
        baseline_mean = reference.baseline if reference is not None else None
        return Alert(
            sha256(identity.encode()).hexdigest()[:10],
            str(self.watch),
            self.watch.asks,
            segment,
            turn.score.at,
            turn.score.number,
            turn.score.trace_id,
            min(date.fromordinal(turn.start.day), turn.score.at.date()),
            None if fallen is None else to_display(fallen),
            turn.fallen.n,
            to_display(series.target_mean or 0.0) if self.watch.level is None else self.watch.level,
            None if baseline_mean is None else to_display(baseline_mean),
            turn.evidence if self.watch.decide == "test" else 1.0,
            limit,
            self._count_sharers(state),
            self.watch.decide,
            self.watch.lower,
            project=self.of,
            first=turn.start.number,
        )


def _end_alert(alert: Alert, timestamp: datetime) -> Alert:
    """An alert that has ended, not before it fired: the clock may have been put back meanwhile."""
    return replace(alert, ended_at=max(timestamp, alert.fired_at))


def _find_last_heard(state: TrackerState, arrivals: Iterable[Arrival]) -> datetime | None:
    """When the last request came: what is dated to the past says nothing of whether anything comes now."""
    last = max((arrival.at for arrival in arrivals if not arrival.past), default=state.last)
    late = (
        last is not None and state.last is not None and timedelta(0) < state.last - last < timedelta(days=MAX_LATE_DAYS)
    )
    return state.last if late else last
