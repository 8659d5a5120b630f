"""One series of scores, a metric in all requests or in those of a segment: what it is held to, and where it stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import accumulate, islice
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from ragauge.analysis.monitoring.hearing import Hearing
from ragauge.analysis.monitoring.states import MonitorState, Seen
from ragauge.stats.moments import Moments
from ragauge.stats.sequential import BETS, DropEvidence, DropReference, reference_of

if TYPE_CHECKING:
    from ragauge.analysis.monitoring.watches import Watch

WINDOW, LONG_WINDOW = 50, 500      # scores
LOST = -1e9                        # log wealth of a day whose bets went to another instrument
Segment = tuple[str, str]          # name, value
ALL: Segment = ("", "")            # all requests


class SeriesScore(NamedTuple):
    """One score as a series takes it: number and time of arrival, x in [0, 1] (NaN = failed), weight, trace."""

    number: int
    at: datetime
    x: float
    weight: float
    trace_id: str


class StateChange(NamedTuple):
    """A series came into another state.

    Attributes:
        score: at which it did.
        before: where it stood.
        after: where it stands.
        evidence: that the mean fell, M.
        first: the likeliest day since which it is lower, ordinal; the score's own where no test decides.
        fallen: sums of the scores from that day to this score.
    """

    score: SeriesScore
    before: MonitorState
    after: MonitorState
    evidence: float
    first: int
    fallen: Moments


@dataclass(frozen=True, slots=True)
class Series:
    """Where one series stands.

    Attributes:
        reference: what it is held to; None before its first period.
        evidence: that its mean fell; None while the reference is not known.
        known_from: the day of the period, from 0, from which the reference was known.
        lost: days of the period whose bets went to another instrument.
        days: day (ordinal) -> sums of its scores, as far back as a baseline reaches.
        recent: (x, weight) of the last 500 scores; those that failed are not there.
        outcomes: whether each of the last 50 judgements failed.
        heaviest_seen: the greatest weight so far, 1 / p_min, by which weights are divided.
        state: of its alert.
        heard: when its scores came.
        floor: by which weights are divided at least.
        unread: day (ordinal) -> scores that the judge could not read; they count nowhere else.
    """

    reference: DropReference | None = None
    evidence: DropEvidence | None = None
    known_from: int = 0
    lost: int = 0
    days: Mapping[int, Moments] = field(default_factory=dict)
    recent: tuple[tuple[float, float], ...] = ()
    outcomes: tuple[bool, ...] = ()
    heaviest_seen: float = 0.0
    state: MonitorState = field(default_factory=MonitorState)
    heard: Hearing = field(default_factory=Hearing)
    floor: float = 0.0
    unread: Mapping[int, int] = field(default_factory=dict)

    @property
    def m(self) -> float | None:
        """The mean of x that it is held to; None while that is not known."""
        return self.reference.m if self.reference is not None else None

    def window(self, size: int = WINDOW) -> float | None:
        """Hájek's mean of x of the last scores; None where there are fewer than `size`."""
        last = self.recent[-size:]
        return sum(x * w for x, w in last) / sum(w for _, w in last) if len(last) == size else None

    def window_error(self, size: int = WINDOW) -> float | None:
        """The standard error of `window`; None where that is None."""
        last = self.recent[-size:]
        return Moments.of([x for x, _ in last], [w for _, w in last]).error if len(last) == size else None

    def over(self, first: int, last: int) -> Moments:
        """Sums over the days from first up to, not including, last."""
        return sum((self.days[day] for day in range(first, last) if day in self.days), Moments())

    def with_unread(self, times: Sequence[datetime], day: int, oldest: int, since: datetime | None) -> Series:
        """The series after scores of one day that the judge could not read: they came, and say nothing else.

        Args:
            times: when they came, in order.
            day: ordinal.
            oldest: what came on days before it is forgotten.
            since: no silence counts from before it.
        """
        unread = {one: n for one, n in self.unread.items() if one >= oldest}
        unread[day] = unread.get(day, 0) + len(times)
        return replace(self, unread=unread, heard=self.heard.after(times, day, oldest, since))

    def begun(self, watch: Watch, day: int, passed: int, days: int, limit: float) -> Series:
        """The series on a new day: its reference, where it was not known so far, and another day's bet.

        Args:
            watch: what it is held to.
            day: ordinal.
            passed: days of the period before this one; on 0 the reference is taken anew, unless an alert is open.
            days: of the period.
            limit: the evidence that raises an alarm.
        """
        oldest = day - max(watch.baseline.days, days)
        kept = {one: sums for one, sums in self.days.items() if one >= oldest}
        lost = 0 if passed == 0 else self.lost
        series = replace(self, days=kept, lost=lost)
        taken = series.m is None or (passed == 0 and not self.state.open)
        if taken or series._surer(watch, day, 1 / limit):
            series, taken = replace(series, reference=series._referred(watch, day, 1 / limit)), True
        if series.m is None:
            return replace(series, evidence=None)
        evidence, known_from = series.evidence, series.known_from
        if evidence is None or passed == 0 or taken:
            evidence, known_from = series._anew(series.m, passed, days), passed
        return replace(series, evidence=evidence.next_day(), known_from=known_from)

    def _surer(self, watch: Watch, day: int, false_alarm: float) -> bool:
        """Whether a baseline that was in doubt no longer is."""
        doubted = self.reference is not None and not self.reference.certain and not self.state.open
        return doubted and self._referred(watch, day, false_alarm).certain

    def _anew(self, m: float, begun: int, days: int) -> DropEvidence:
        """Evidence as if nothing had been seen, with some days begun."""
        rows = tuple((LOST if day < self.lost else 0.0,) * BETS for day in range(begun))
        return DropEvidence(m, days, rows)

    def _referred(self, watch: Watch, day: int, false_alarm: float) -> DropReference:
        known = self.over(day - watch.baseline.days, day)
        if watch.level is not None:
            m = 1 - watch.level if watch.lower else watch.level
            return DropReference(m, known.mean, known.error, 0)
        return reference_of(known, watch.allowed(known.mean or 0.0), false_alarm)

    def under_another_instrument(self, begun: int) -> Series:
        """The series of another judge, question or metric version: no baseline, the evidence lost, the same alert."""
        return Series(heaviest_seen=self.heaviest_seen, lost=begun, state=self.state, heard=self.heard)

    def after(
        self, watch: Watch, scores: Sequence[SeriesScore], *, day: int, start: int, limit: float, cool_down: timedelta,
    ) -> tuple[Series, list[StateChange]]:     # fmt: skip
        """Takes scores of one day, in order; many calls come to what one does.

        Args:
            watch: what it is held to.
            scores: that arrived on the day.
            day: ordinal.
            start: ordinal of the period's first day.
            limit: the evidence that raises an alarm.
            cool_down: how long scores must be back within the limit before an alert ends.
        """
        recent, outcomes = deque(self.recent, LONG_WINDOW), deque(self.outcomes, WINDOW)
        series, state, turns, done = self, self.state, list[StateChange](), 0
        course = series._course(scores)
        for place, score in enumerate(scores):
            failed = isnan(score.x)
            outcomes.append(failed)
            if not failed:
                recent.append((score.x, score.weight))
            series = replace(series, recent=tuple(recent)) if state.open or watch.decide == "point" else series
            seen = series._seen(watch, state, course[place - done] >= limit if course else False, outcomes)
            after = state.after(seen, score.at, watch.wait, cool_down)
            if after is not state and after.state != state.state:
                upto = series._with(scores[done : place + 1], day)
                turns.append(upto._turn(watch, state, after, score, day, start))
                series, done = replace(upto, recent=series.recent), place + 1
                if state.open and not after.open:
                    series = series._restarted()
                course = series._course(scores[done:])
            state = after
        left = series._with(scores[done:], day)
        return replace(left, recent=tuple(recent), outcomes=tuple(outcomes), state=state), turns

    def _seen(self, watch: Watch, state: MonitorState, alarms: bool, outcomes: Sequence[bool]) -> Seen:
        if len(outcomes) == WINDOW and 2 * sum(outcomes) > WINDOW:
            return "error"
        if self.m is None:
            return "ok"
        if watch.decide == "point" or state.open:
            size = min(WINDOW, len(self.recent)) if state.open else WINDOW     # what is there speaks for an open alert
            mean = self.window(size) if size else None
            return "off" if mean is not None and mean < self.m else "ok"
        return "off" if alarms else "ok"

    def _divided(self, scores: Sequence[SeriesScore]) -> tuple[list[float], list[float]]:
        """Scores, and their weights over the greatest that had come by then."""
        heaviest = accumulate((score.weight for score in scores), max, initial=max(self.floor, self.heaviest_seen))
        weights = [score.weight / most for score, most in zip(scores, islice(heaviest, 1, None), strict=True)]
        return [score.x for score in scores], weights

    def _course(self, scores: Sequence[SeriesScore]) -> list[float]:
        """M after each score; [] where nothing is tested."""
        if self.evidence is None or not scores:
            return []
        course: list[float] = self.evidence.after(*self._divided(scores))[1].tolist()
        return course

    def _with(self, scores: Sequence[SeriesScore], day: int) -> Series:
        """Evidence and sums with more scores of the day."""
        if not scores:
            return self
        scored = [score for score in scores if not isnan(score.x)]
        sums = self.days.get(day, Moments()) + Moments.of([one.x for one in scored], [one.weight for one in scored])
        evidence = self.evidence.after(*self._divided(scores))[0] if self.evidence is not None else None
        heaviest = max(self.heaviest_seen, *(score.weight for score in scores))
        return replace(self, days={**self.days, day: sums}, evidence=evidence, heaviest_seen=heaviest)

    def _restarted(self) -> Series:
        """After an alert has ended: nothing seen counts any more."""
        if self.evidence is None:
            return self
        return replace(self, evidence=self._anew(self.evidence.m, len(self.evidence.wealth), self.evidence.days))

    def _turn(
        self, watch: Watch, before: MonitorState, after: MonitorState, score: SeriesScore, day: int, start: int,
    ) -> StateChange:     # fmt: skip
        first = day
        if self.evidence is not None and watch.decide == "test" and self.evidence.likeliest_day is not None:
            first = start + max(self.evidence.likeliest_day, self.known_from, self.lost)
        value = self.evidence.value if self.evidence is not None else 1.0
        return StateChange(score, before, after, value, min(first, day), self.over(min(first, day), day + 1))
