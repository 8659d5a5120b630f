"""One series of scores, a metric in all requests or in those of a segment: what it is held to, and where it stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import accumulate, islice
from math import ceil, isnan
from typing import TYPE_CHECKING, NamedTuple

from ragauge.monitoring.series.monitor_specs import MonitorState, Observation
from ragauge.stats.moments import Moments
from ragauge.stats.sequential import DropEvidence, DropReference, compute_reference

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_specs import MonitorSpec


MIN_SCORES = 20  # scores from which on anything is said of a silence
SILENCE_FACTOR = 2  # times the longest silence before: of gaps that come at random, few are so long
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class ScoreTiming:
    """When scores of a series came."""

    n: int = 0  #: how many came.
    last: datetime | None = None  #: when the last came; None before the first.
    #: day (ordinal) -> seconds of the longest silence that ended on it.
    gaps: Mapping[int, float] = field(default_factory=dict)

    def after(self, times: Iterable[datetime], day: int, oldest: int, since: datetime | None) -> ScoreTiming:
        """With more scores of one day.

        Args:
            times: when they came, in order.
            day: ordinal.
            oldest: gaps of days before it are forgotten.
            since: no silence counts from before it, such as when nothing came at all; None = from the last score on.
        """
        n, last, longest = self.n, self.last, self.gaps.get(day, 0.0)
        for timestamp in times:
            if last is not None:
                silence_start = last if since is None else max(last, since)
                longest = max(longest, (timestamp - silence_start).total_seconds())
            n, last = n + 1, timestamp if last is None else max(last, timestamp)
        return ScoreTiming(
            n, last, {gap_day: gap for gap_day, gap in self.gaps.items() if gap_day >= oldest} | {day: longest}
        )

    def drop_later_days(self, day: int, now: datetime) -> ScoreTiming:
        """Without the silences of later days (ordinal): the clock had been wrong, and the last came by now."""
        gaps = {gap_day: gap for gap_day, gap in self.gaps.items() if gap_day <= day}
        return ScoreTiming(self.n, None if self.last is None else min(self.last, now), gaps)

    def compute_wait(self, min_wait: timedelta) -> timedelta | None:
        """How long it must be silent until that is told: `min_wait`, but no less than twice its longest silence so far.

        None where fewer than 20 scores say what is usual.

        >>> noon, hour = datetime(2026, 1, 1, 12), timedelta(hours=1)
        >>> nightly = ScoreTiming().after([noon + n * hour for n in (*range(20), 30)], 1, 0, None)
        >>> nightly.compute_wait(6 * hour).total_seconds() / 3600, ScoreTiming().compute_wait(hour)
        (22.0, None)
        """
        if self.n < MIN_SCORES:
            return None
        usual = SILENCE_FACTOR * max(self.gaps.values(), default=0.0)
        return min_wait if usual <= min_wait.total_seconds() else timedelta(hours=ceil(usual / HOUR_S))


WINDOW, LONG_WINDOW = 50, 500  # scores
Segment = tuple[str, str]  # name, value
ALL: Segment = ("", "")  # all requests


class SeriesScore(NamedTuple):
    """One score as a series takes it: number and time of arrival, x in [0, 1] (NaN = failed), weight, trace."""

    number: int
    at: datetime
    x: float
    weight: float
    trace_id: str


class RecentScore(NamedTuple):
    """A score that counts in windows: x, weight, and the number of its arrival; -1 where that was not kept."""

    x: float
    weight: float
    number: int = -1


class WindowStart(NamedTuple):
    """Where a window of scores may begin: number and day (ordinal) of its first, and the sums of those before it."""

    number: int
    day: int
    before: Moments


class StateChange(NamedTuple):
    """A series came into another state."""

    score: SeriesScore  #: at which it did.
    before: MonitorState  #: where it stood.
    after: MonitorState  #: where it stands.
    evidence: float  #: that the mean fell, M.
    #: of the window that the rule looked at: of the test from where it most likely fell, else of the last 50.
    start: WindowStart
    fallen: Moments  #: sums of the scores of that window, to this score.


@dataclass(frozen=True, slots=True)
class Series:
    """Where one series stands."""

    reference: DropReference | None = None  #: what it is held to; None before its first period.
    evidence: DropEvidence | None = None  #: that its mean fell; None while the reference is not known.
    left: float = 1.0  #: while there is no evidence, the share of the period's bets that went to no other instrument.
    taken: Moments = field(default_factory=Moments)  #: sums of the scores that the evidence took.
    #: of the drops that it holds for likely, by how many of those scores came before.
    starts: Mapping[int, WindowStart] = field(default_factory=dict)
    #: day (ordinal) -> sums of its scores, as far back as a baseline reaches.
    days: Mapping[int, Moments] = field(default_factory=dict)
    recent: tuple[RecentScore, ...] = ()  #: the last 500 scores; those that failed are not there.
    outcomes: tuple[bool, ...] = ()  #: whether each of the last 50 judgements failed.
    heaviest_seen: float = 0.0  #: the greatest weight so far, 1 / p_min, by which weights are divided.
    state: MonitorState = field(default_factory=MonitorState)  #: of its alert.
    heard: ScoreTiming = field(default_factory=ScoreTiming)  #: when its scores came.
    floor: float = 0.0  #: by which weights are divided at least.
    #: day (ordinal) -> scores that the judge could not read; they count nowhere else.
    unread: Mapping[int, int] = field(default_factory=dict)

    @property
    def target_mean(self) -> float | None:
        """The mean of x that it is held to; None while that is not known."""
        return self.reference.m if self.reference is not None else None

    def window(self, size: int = WINDOW) -> float | None:
        """Hájek's mean of x of the last scores; None where there are fewer than `size`."""
        last = self.recent[-size:]
        return (
            sum(score.x * score.weight for score in last) / sum(score.weight for score in last)
            if len(last) == size
            else None
        )

    def compute_window_error(self, size: int = WINDOW) -> float | None:
        """The standard error of `window`; None where that is None."""
        last = self.recent[-size:]
        return _sum_scores(last).error if len(last) == size else None

    def sum_days(self, first: int, last: int) -> Moments:
        """Sums over the days from first up to, not including, last."""
        return sum((self.days[day] for day in range(first, last) if day in self.days), Moments())

    def add_unread(self, times: Sequence[datetime], day: int, oldest: int, since: datetime | None) -> Series:
        """The series after scores of one day that the judge could not read: they came, and say nothing else.

        Args:
            times: when they came, in order.
            day: ordinal.
            oldest: what came on days before it is forgotten.
            since: no silence counts from before it.
        """
        unread = {unread_day: n for unread_day, n in self.unread.items() if unread_day >= oldest}
        unread[day] = unread.get(day, 0) + len(times)
        return replace(self, unread=unread, heard=self.heard.after(times, day, oldest, since))

    def begin_day(self, monitor_spec: MonitorSpec, day: int, passed: int, days: int, limit: float) -> Series:
        """The series on a new day: its reference, where it was not known so far, and another day's bet.

        Args:
            monitor_spec: what it is held to.
            day: ordinal.
            passed: days of the period before this one; on 0 the reference is taken anew, unless an alert is open.
            days: of the period.
            limit: the evidence that raises an alarm.
        """
        max_days = max(monitor_spec.baseline.days, days)  # as many days with scores: a clock put forward forgets none
        recent_days = {score_day: self.days[score_day] for score_day in sorted(self.days)[-max_days:]}
        series = replace(self, days=recent_days, left=1.0 if passed == 0 else self._remaining_share)
        taken = series.target_mean is None or (passed == 0 and not self.state.open)
        if taken or series._is_surer(monitor_spec, day, 1 / limit):
            series, taken = replace(series, reference=series._build_reference(monitor_spec, day, 1 / limit)), True
        if series.target_mean is None:
            return replace(series, evidence=None)
        evidence = series.evidence
        if evidence is None or passed == 0 or taken:
            evidence = DropEvidence(series.target_mean, days - passed, series.left)
            series = series._replace_evidence(evidence)
        return replace(series, evidence=evidence.next_day())

    def merge_later_days(self, day: int, now: datetime) -> Series:
        """The series with all that stands on later days counted for this one: the clock had been wrong.

        Args:
            day: ordinal.
            now: the moment; what came later counts from it.
        """
        days = {score_day: sums for score_day, sums in self.days.items() if score_day < day}
        if late := [sums for score_day, sums in self.days.items() if score_day >= day]:
            days[day] = sum(late, Moments())
        unread = {score_day: n for score_day, n in self.unread.items() if score_day < day}
        if many := sum(n for score_day, n in self.unread.items() if score_day >= day):
            unread[day] = many
        since = None if self.state.since is None else min(self.state.since, now)
        return replace(
            self,
            days=days,
            unread=unread,
            state=replace(self.state, since=since),
            heard=self.heard.drop_later_days(day, now),
        )

    @property
    def _remaining_share(self) -> float:
        return self.left if self.evidence is None else self.evidence.remaining

    def _is_surer(self, monitor_spec: MonitorSpec, day: int, false_alarm: float) -> bool:
        """Whether a baseline that was in doubt no longer is."""
        doubted = self.reference is not None and not self.reference.certain and not self.state.open
        return doubted and self._build_reference(monitor_spec, day, false_alarm).certain

    def _replace_evidence(self, evidence: DropEvidence) -> Series:
        """With evidence that has taken nothing."""
        return replace(self, evidence=evidence, taken=Moments(), starts={})

    def _build_reference(self, monitor_spec: MonitorSpec, day: int, false_alarm: float) -> DropReference:
        baseline = self.sum_days(day - monitor_spec.baseline.days, day)
        if monitor_spec.level is not None:
            m = 1 - monitor_spec.level if monitor_spec.lower else monitor_spec.level
            return DropReference(m, baseline.mean, baseline.error, 0)
        return compute_reference(baseline, monitor_spec.compute_allowed_drop(baseline.mean or 0.0), false_alarm)

    def reset_instrument(self) -> Series:
        """The series of another judge, question or metric version: no baseline, the evidence lost, the same alert."""
        return Series(heaviest_seen=self.heaviest_seen, left=self._remaining_share, state=self.state, heard=self.heard)

    def after(
        self, monitor_spec: MonitorSpec, scores: Sequence[SeriesScore], *, day: int, limit: float, cool_down: timedelta
    ) -> tuple[Series, list[StateChange]]:
        """Takes scores of one day, in order; many calls come to what one does.

        Args:
            monitor_spec: what it is held to.
            scores: that arrived on the day.
            day: ordinal.
            limit: the evidence that raises an alarm.
            cool_down: how long scores must be back within the limit before an alert ends.
        """
        recent, outcomes = deque(self.recent, LONG_WINDOW), deque(self.outcomes, WINDOW)
        series, state, turns, n_done = self, self.state, list[StateChange](), 0
        course = series._compute_course(scores)
        for index, score in enumerate(scores):
            failed = isnan(score.x)
            outcomes.append(failed)
            if not failed:
                recent.append(RecentScore(score.x, score.weight, score.number))
            series = replace(series, recent=tuple(recent)) if state.open or monitor_spec.decide == "point" else series
            observation = series._observe(
                monitor_spec, state, course[index - n_done] >= limit if course else False, outcomes
            )
            next_state = state.after(observation, score.at, monitor_spec.wait, cool_down)
            if next_state is not state and next_state.state != state.state:
                upto = replace(series._add_sums(scores[n_done : index + 1], day), recent=tuple(recent))
                turns.append(upto._build_change(monitor_spec, state, next_state, score, day))
                series, n_done = upto, index + 1
                if state.open and not next_state.open:
                    series = series._restart()
                course = series._compute_course(scores[n_done:])
            state = next_state
        final_series = series._add_sums(scores[n_done:], day)
        return replace(final_series, recent=tuple(recent), outcomes=tuple(outcomes), state=state), turns

    def _observe(
        self, monitor_spec: MonitorSpec, state: MonitorState, alarms: bool, outcomes: Sequence[bool]
    ) -> Observation:
        if len(outcomes) == WINDOW and 2 * sum(outcomes) > WINDOW:
            return "error"
        if self.target_mean is None:
            return "ok"
        if monitor_spec.decide == "point" or state.open:
            size = min(WINDOW, len(self.recent)) if state.open else WINDOW  # what is there speaks for an open alert
            mean = self.window(size) if size else None
            return "off" if mean is not None and mean < self.target_mean else "ok"
        return "off" if alarms else "ok"

    def _scale_weights(self, scores: Sequence[SeriesScore]) -> tuple[list[float], list[float]]:
        """Scores, and their weights over the greatest that had come by then."""
        heaviest = accumulate((score.weight for score in scores), max, initial=max(self.floor, self.heaviest_seen))
        weights = [
            score.weight / max_weight for score, max_weight in zip(scores, islice(heaviest, 1, None), strict=True)
        ]
        return [score.x for score in scores], weights

    def _compute_course(self, scores: Sequence[SeriesScore]) -> list[float]:
        """M after each score; [] where nothing is tested."""
        if self.evidence is None or not scores:
            return []
        course: list[float] = self.evidence.after(*self._scale_weights(scores))[1].tolist()
        return course

    def _add_sums(self, scores: Sequence[SeriesScore], day: int) -> Series:
        """Evidence and sums with more scores of the day."""
        if not scores:
            return self
        sums = _sum_scores(scores)
        heaviest = max(self.heaviest_seen, *(score.weight for score in scores))
        series = replace(self, days={**self.days, day: self.days.get(day, Moments()) + sums}, heaviest_seen=heaviest)
        if self.evidence is None:
            return series
        evidence = self.evidence.after(*self._scale_weights(scores))[0]
        return replace(
            series, evidence=evidence, taken=self.taken + sums, starts=self._update_starts(evidence, scores, day)
        )

    def _update_starts(self, evidence: DropEvidence, scores: Sequence[SeriesScore], day: int) -> dict[int, WindowStart]:
        """Where the drops begin that the evidence holds for likely, behind more scores of a day."""
        n_before = 0 if self.evidence is None else self.evidence.n
        starts = {index: self.starts[index] for index in evidence.since if index in self.starts}
        for index in {*evidence.since} - starts.keys():
            if index >= n_before:
                sums_before = self.taken + _sum_scores(scores[: index - n_before])
                starts[index] = WindowStart(scores[index - n_before].number, day, sums_before)
        return starts

    def _restart(self) -> Series:
        """After an alert has ended: nothing seen counts any more."""
        if self.evidence is None:
            return self
        days = self.evidence.days - self.evidence.begun + 1
        return self._replace_evidence(DropEvidence(self.evidence.m, days).next_day())

    def _build_change(
        self, monitor_spec: MonitorSpec, previous: MonitorState, current: MonitorState, score: SeriesScore, day: int
    ) -> StateChange:
        value = self.evidence.value if self.evidence is not None else 1.0
        return StateChange(score, previous, current, value, *self._select_window(monitor_spec, day))

    def _select_window(self, monitor_spec: MonitorSpec, day: int) -> tuple[WindowStart, Moments]:
        """What the rule looked at: its first score, and the sums."""
        if monitor_spec.decide == "point":
            last = self.recent[-WINDOW:]
            return WindowStart(last[0].number if last else -1, day, Moments()), _sum_scores(last)
        start = None if self.evidence is None else self.starts.get(self.evidence.likeliest_start)
        if start is None:
            return WindowStart(-1, day, Moments()), self.sum_days(day, day + 1)
        return start, self.taken - start.before


def _sum_scores(scores: Sequence[SeriesScore | RecentScore]) -> Moments:
    """Of those that did not fail."""
    scored = [score for score in scores if not isnan(score.x)]
    return Moments.of([score.x for score in scored], [score.weight for score in scored])
