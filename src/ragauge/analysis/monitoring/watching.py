"""One monitor over all that comes in: its series, its periods, and the alerts that it raises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from itertools import groupby
from math import nan
from typing import TYPE_CHECKING

from ragauge.analysis.monitoring.series import ALL, Segment, Series, SeriesScore, StateChange
from ragauge.data.config.times import written
from ragauge.stats.sequential import alarm_limit

if TYPE_CHECKING:
    from ragauge.analysis.monitoring.arrivals import Arrival, ArrivedScore
    from ragauge.analysis.monitoring.watches import Watch

MOST_SEGMENTS = 100      # values of a segment that are watched, those with the most scores
JUDGE_CHANGED = "the judge"      # what is watched, of an alert that it changed


def schedule_name(name: str) -> str:
    """What is watched, of an alert that a schedule failed."""
    return f"schedule {name}"


@dataclass(frozen=True, slots=True)
class Alert:
    """What a monitor raised.

    Attributes:
        alert_id: the same however the scores came in.
        monitor: what is watched, such as faithfulness.
        asks: what must hold, in words.
        segment: name and value; ("", "") = all requests.
        fired_at: when.
        number: of the arrival at which it fired; of the judge, the look that saw it change, -1 once it is itself again.
        trace_id: of that request.
        since: the likeliest day since which it is worse.
        mean: of the metric over the window that its rule looked at: since it most likely fell, or the last 50 scores.
        n: scores in it.
        allowed: the mean that it is held to.
        baseline: the mean before; None where a level decides and there was nothing before.
        evidence: M; 1 where the estimate alone decides.
        limit: of the evidence, K / α.
        series: K: in how many parts the false alarms are divided, of which it has one.
        decide: test or point.
        lower: whether lower is better.
        ended_at: when scores had been back within the limit for the cool-down; None = it is open.
        said: what fired in one line, where it is no monitor of a metric; "" else.
        project: whose traffic, where several projects send; "" else, and of what is no project's.
        first: number of the arrival with which that window begins; -1 = the first of the day since which it is worse.
    """

    alert_id: str
    monitor: str
    asks: str
    segment: Segment
    fired_at: datetime
    number: int
    trace_id: str
    since: date
    mean: float | None
    n: int
    allowed: float
    baseline: float | None
    evidence: float
    limit: float
    series: int
    decide: str
    lower: bool
    ended_at: datetime | None = None
    said: str = ""
    project: str = ""
    first: int = -1


def no_data_alert(
    monitor: str, what: str, last: datetime, now: datetime, wait: timedelta, segment: Segment = ALL
) -> Alert:     # fmt: skip
    """What says that nothing comes any more of what came before.

    Args:
        monitor: what is watched.
        what: comes no more, such as "score of faithfulness".
        last: when the last of it came.
        now: when that was seen.
        wait: how long nothing may come.
        segment: of which it comes no more, while it does of others; ("", "") = of none it does.
    """
    apart = segment != ALL
    of, others = (f" of {segment[0]} {segment[1]}", ", and of others it has") if apart else ("", "")
    named = "\0".join(["no data", what, last.isoformat(), *(segment if apart else ())])
    return Alert(
        sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:10], monitor,
        f"a {what} at least every {written(wait)}", segment, now, -1, "", last.date(), None, 0, 0.0, None, 1.0, 1.0, 1,
        "no_data", False, said=f"no {what}{of} has come since {last:%Y-%m-%d %H:%M} UTC{others}",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WatchState:
    """Where one monitor stands: all that it needs to go on.

    Attributes:
        cursor: number of the last arrival that it took.
        day: the day of that arrival, ordinal; 0 = none yet.
        start: first day of the period, ordinal; 0 = none has begun.
        watched: the series of the period, which the limit counts.
        instrument: metric version, judge and question versions.
        series: where each stands, those of the next period included.
        alerts: open ones, by series.
        last: when the last request arrived whose score it took; None = none yet, or only requests of the past.
        silent: the alerts that nothing comes any more, while they are open, by series.
        resumed: when scores came again after nothing at all had come; None = they always came.
        growing: whether this is the first day of a level: what comes of a segment is watched from its first score on.
    """

    cursor: int = -1
    day: int = 0
    start: int = 0
    watched: tuple[Segment, ...] = ()
    instrument: str = ""
    series: Mapping[Segment, Series] = field(default_factory=dict)
    alerts: Mapping[Segment, Alert] = field(default_factory=dict)
    last: datetime | None = None
    silent: Mapping[Segment, Alert] = field(default_factory=dict)
    resumed: datetime | None = None
    growing: bool = False


@dataclass(frozen=True, slots=True)
class Watching:
    """How a monitor is watched.

    Attributes:
        watch: the monitor.
        parts: how many share the false alarms; this monitor has one part.
        false_alarms: the chance of even one, over all of them, in a period.
        days: of a period.
        cool_down: how long scores must be back within the limit before an alert ends.
        heaviest: by which weights of the first day are divided at least: where some are judged every time, what is
            drawn weighs more than what came by then.
        of: whose traffic it watches, where several projects send; "" else.
    """

    watch: Watch
    parts: int
    false_alarms: float
    days: int
    cool_down: timedelta
    heaviest: float = 0.0
    of: str = ""

    def after(self, state: WatchState, arrivals: Iterable[Arrival]) -> tuple[WatchState, tuple[Alert, ...]]:
        """Takes what came in, in order, up to the first request whose score is pending.

        Batches of any size come to the same alerts. A day is that of arrival, and never before the last one.

        Args:
            state: where it stood.
            arrivals: in order of arrival; those that it took before are passed over.

        Returns:
            Where it stands, and the alerts that were raised or have ended, in order.
        """
        found: list[tuple[int, Alert]] = []
        for day, batch in groupby(self._taken(state, arrivals), key=lambda one: one.at.date().toordinal()):
            for (instrument, unread), same in groupby(batch, key=self._kind):
                if unread:
                    state = self._unread(state, day, list(same))
                    continue
                state = self._on(state, max(day, state.day))
                if instrument != state.instrument:
                    state = self._with(state, instrument)
                state, alerts = self._scored(state, list(same))
                found += alerts
        return state, tuple(alert for _, alert in sorted(found, key=lambda one: one[0]))

    def quiet(
        self, state: WatchState, now: datetime, began: datetime, wait: timedelta, *, moved: bool = False
    ) -> tuple[WatchState, tuple[Alert, ...]]:     # fmt: skip
        """Where it stands when nothing has come for too long, of all or of a segment while it did of others.

        A segment is told of from its 20th score on, among the 100 largest, and not before it was silent for twice as
        long as ever in the days of a baseline: what is silent every night is not missed every night.

        Args:
            state: where it stood.
            now: the moment.
            began: since when the server runs: what came before it did is not missed.
            wait: how long nothing may come.
            moved: whether scores have just been taken, however long ago their requests came.

        Returns:
            Where it stands, in no_data where nothing came, and the alerts that were raised.
        """
        if state.last is None or ALL in state.silent:
            return state, ()
        if not moved and now - max(state.last, began) >= wait:
            missing = {ALL: self._missing(ALL, state.last, now, wait)}
            return self._mute(state, state.series, missing, now), (missing[ALL],)
        missing = dict(self._missed(state, now, max(began, state.resumed or began), wait))
        return (self._mute(state, missing, missing, now), tuple(missing.values())) if missing else (state, ())

    def _missed(
        self, state: WatchState, now: datetime, since: datetime, wait: timedelta
    ) -> Iterator[tuple[Segment, Alert]]:
        """Segments of which nothing came for too long, by the last score of all that was taken, with their alerts."""
        late = dict[Segment, tuple[datetime, timedelta]]()
        for segment, series in state.series.items():
            last, longest = series.heard.last, series.heard.wait(wait)
            if segment == ALL or segment in state.silent or last is None or longest is None or state.last is None:
                continue
            if state.last - max(last, since) >= longest:
                late[segment] = last, longest
        for segment in self._watched(state, state.day + 1) if late else ():
            if segment in late:
                yield segment, self._missing(segment, late[segment][0], now, late[segment][1])

    def _missing(self, segment: Segment, last: datetime, now: datetime, wait: timedelta) -> Alert:
        alert = no_data_alert(str(self.watch), f"score of {self.watch}", last, now, wait, segment)
        whose = f" ({self.of})" if self.of and not self.watch.apart else ""
        return replace(alert, project=self.of, said=f"{alert.said}{whose}")

    def _mute(
        self, state: WatchState, segments: Iterable[Segment], missing: Mapping[Segment, Alert], now: datetime
    ) -> WatchState:
        series = dict(state.series)
        for segment in segments:
            one = series[segment]
            series[segment] = replace(one, state=one.state.after("no_data", now, timedelta(0), timedelta(0)))
        return replace(state, series=series, silent={**state.silent, **missing})

    def _taken(self, state: WatchState, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        for arrival in arrivals:
            score = arrival.scores.get(self.watch.metric)
            if arrival.number <= state.cursor or score is None:
                continue
            if score.status == "pending":
                return
            if score.status in ("scored", "failed", "not_read"):
                yield arrival

    def _kind(self, arrival: Arrival) -> tuple[str, bool]:
        """By what a score was made, and whether the judge could not read its texts."""
        score = arrival.scores[self.watch.metric]
        return score.instrument, score.status == "not_read"

    def _unread(self, state: WatchState, day: int, arrivals: Sequence[Arrival]) -> WatchState:
        """Takes scores of one day that were not read: they raise no alert, not even that nothing comes."""
        times: dict[Segment, list[datetime]] = defaultdict(list)
        for arrival in arrivals:
            for segment in self._segments_of(arrival):
                times[segment].append(arrival.at)
        series, oldest = dict(state.series), day - self.watch.baseline.days
        for segment, came in times.items():
            series[segment] = series.get(segment, Series()).with_unread(came, day, oldest, state.resumed)
        return replace(state, cursor=arrivals[-1].number, series=series, last=_last_heard(state, arrivals))

    def _segments_of(self, arrival: Arrival) -> Iterator[Segment]:
        yield ALL
        yield from ((name, value) for name in self.watch.segments if (value := arrival.segments.get(name, "")))

    def _on(self, state: WatchState, day: int) -> WatchState:
        """On a day: every day since the last begins, and with it a period where one is over."""
        for one in range(state.day + 1 if state.day else day, day + 1):
            first_ever, start = not state.day, state.start
            if first_ever and self.watch.level is not None:     # it asks for no baseline
                start, state = one, replace(state, start=one, watched=(ALL,), growing=True)
            elif not first_ever and (not start or one >= start + self.days):
                start, state = one, replace(state, start=one, watched=self._watched(state, one), growing=False)
            elif state.growing:
                state = replace(state, growing=False)
            series, limit = dict(state.series), self.limit(state)
            floor = self.heaviest if state.growing else 0.0
            for segment in state.watched:
                known = replace(series.get(segment, Series()), floor=floor)
                series[segment] = known.begun(self.watch, one, one - start, self.days, limit)
            state = replace(state, day=one, series=series)
        return state

    def _watched(self, state: WatchState, day: int) -> tuple[Segment, ...]:
        """The series of a period: all requests, and the values of segments that had scores before, the largest."""
        counts = {
            segment: series.over(day - self.watch.baseline.days, day).n for segment, series in state.series.items()
        }
        largest = sorted((-n, segment) for segment, n in counts.items() if segment != ALL and n)
        return (ALL, *(segment for _, segment in largest[:MOST_SEGMENTS]))

    def _with(self, state: WatchState, instrument: str) -> WatchState:
        if not state.instrument:
            return replace(state, instrument=instrument)
        series = {name: one.under_another_instrument() for name, one in state.series.items()}
        return replace(state, instrument=instrument, series=series)

    @property
    def name(self) -> str:
        """What a monitor is kept under: one that asks something else is another."""
        watch = self.watch
        return f"{watch.asks}; {','.join(watch.segments)}; {watch.decide} {watch.wait}; {self.days} {self._of}"

    @property
    def _of(self) -> str:
        return f"days; {self.watch.project}" if self.watch.project else "days"

    def was(self, name: str) -> bool:
        """Whether a monitor that was kept under a name watched the same metric of the same project."""
        asked = name.removeprefix(f"{self.watch} ")
        return asked != name and asked.startswith(("at ", "no more than ")) and name.endswith(f" {self._of}")

    def last_heard(self, state: WatchState, segment: Segment) -> datetime | None:
        """When the last score of a series came that was taken."""
        return state.last if segment == ALL else state.series[segment].heard.last

    def limit(self, state: WatchState) -> float:
        """The evidence that raises an alarm: K, its series times the parts, over the chance that is allowed."""
        return alarm_limit(self.false_alarms, self._sharers(state))

    def _sharers(self, state: WatchState) -> int:
        """K: while it is open which values segments have, as many as there may be."""
        several = 1 + MOST_SEGMENTS if state.growing and self.watch.segments else max(1, len(state.watched))
        return self.parts * several

    def _scored(self, state: WatchState, arrivals: Sequence[Arrival]) -> tuple[WatchState, list[tuple[int, Alert]]]:
        """Takes the scores of one day and instrument."""
        scores: dict[Segment, list[SeriesScore]] = defaultdict(list)
        for arrival in arrivals:
            taken = self._score(arrival, arrival.scores[self.watch.metric])
            for segment in self._segments_of(arrival):
                scores[segment].append(taken)
        state = self._grown(state, scores)
        series, alerts, found = dict(state.series), dict(state.alerts), list[tuple[int, Alert]]()
        silent, limit = dict(state.silent), self.limit(state)
        heard, resumed = state.day - self.watch.baseline.days, state.resumed
        if ALL in silent:
            resumed = max(arrivals[0].at, silent[ALL].fired_at)
        elif state.last is None and state.day and not arrivals[0].past:     # the present begins
            resumed = arrivals[0].at
        for segment, own in scores.items():
            if (missing := silent.pop(segment, None)) is not None:
                found.append((own[0].number, replace(missing, ended_at=max(own[0].at, missing.fired_at))))
            known = series.get(segment, Series())
            known = replace(known, heard=known.heard.after((one.at for one in own), state.day, heard, resumed))
            series[segment], turns = known.after(
                self.watch, own, day=state.day, limit=limit, cool_down=self.cool_down
            )
            for turn in turns:
                opened = alerts.get(segment)
                if turn.after.open and opened is None:
                    alerts[segment] = self._alert(state, segment, series[segment], turn, limit)
                    found.append((turn.score.number, alerts[segment]))
                elif opened is not None and not turn.after.open:
                    found.append((turn.score.number, replace(alerts.pop(segment), ended_at=turn.score.at)))
        return replace(
            state, cursor=arrivals[-1].number, series=series, alerts=alerts, last=_last_heard(state, arrivals),
            silent=silent, resumed=resumed,
        ), found     # fmt: skip

    def _grown(self, state: WatchState, scores: Iterable[Segment]) -> WatchState:
        """On the first day of a level: the values of segments that came first are watched too, 100 at most."""
        if not state.growing:
            return state
        new = [one for one in scores if one not in state.watched][: max(0, 1 + MOST_SEGMENTS - len(state.watched))]
        limit, series = self.limit(state), dict(state.series)
        for segment in new:
            series[segment] = Series(floor=self.heaviest).begun(self.watch, state.day, 0, self.days, limit)
        return replace(state, watched=(*state.watched, *new), series=series)

    def _score(self, arrival: Arrival, score: ArrivedScore) -> SeriesScore:
        x = nan if score.value is None or score.status == "failed" else self.watch.score(score.value)
        return SeriesScore(arrival.number, arrival.at, x, score.weight, arrival.trace_id)

    def _alert(self, state: WatchState, segment: Segment, series: Series, turn: StateChange, limit: float) -> Alert:
        named = f"{self.watch}\0{segment[0]}\0{segment[1]}\0{turn.score.number}\0{turn.score.trace_id}"
        shown, reference, fallen = self.watch.shown, series.reference, turn.fallen.mean
        before = reference.baseline if reference is not None else None
        return Alert(
            sha256(named.encode()).hexdigest()[:10], str(self.watch), self.watch.asks, segment, turn.score.at,
            turn.score.number, turn.score.trace_id, date.fromordinal(turn.start.day),
            None if fallen is None else shown(fallen), turn.fallen.n,
            shown(series.m or 0.0) if self.watch.level is None else self.watch.level,
            None if before is None else shown(before), turn.evidence if self.watch.decide == "test" else 1.0, limit,
            self._sharers(state), self.watch.decide, self.watch.lower, project=self.of, first=turn.start.number,
        )     # fmt: skip


def _last_heard(state: WatchState, arrivals: Iterable[Arrival]) -> datetime | None:
    """When the last request came: what is dated to the past says nothing of whether anything comes now."""
    times = [arrival.at for arrival in arrivals if not arrival.past]
    return max((time for time in (*times, state.last) if time is not None), default=None)
