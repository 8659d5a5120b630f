"""The states of a monitor, as Grafana names them, and what leads from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

State = Literal["normal", "pending", "firing", "recovering", "no_data", "error"]
# what is shown: nothing is tested before a baseline is known, nor while the judge cannot read what comes
Standing = State | Literal["not_enough_data", "not_read"]
Observation = Literal["ok", "off", "no_data", "error"]
Resolution = Literal["", "acknowledged", "false_alarm"]
OPEN_STATES: tuple[State, ...] = ("firing", "recovering")


@dataclass(frozen=True, slots=True)
class MonitorState:
    """Where a monitor stands."""

    #: normal: nothing is off; pending: it is, but not yet for as long as `for` says; firing: an alert is open;
    #: recovering: it is open and nothing is off any more; no_data: nothing comes in; error: scores cannot be had.
    state: State = "normal"
    since: datetime | None = None  #: when it came into this state; None before anything was seen.
    open: bool = False  #: whether an alert is open, also while there is no data.

    def after(
        self, observation: Observation, timestamp: datetime, wait: timedelta, cool_down: timedelta
    ) -> MonitorState:
        """Where it stands after one look.

        Args:
            observation: what the look showed.
            timestamp: when; not before the last look.
            wait: how long something must be off before it fires; 0 = at once.
            cool_down: how long nothing may be off before an alert ends.

        >>> noon = datetime(2026, 1, 1, 12)
        >>> late = noon + timedelta(hours=1)
        >>> off = MonitorState().after("off", noon, timedelta(hours=1), timedelta(0))
        >>> off.state, off.after("off", late, timedelta(hours=1), timedelta(0)).state
        ('pending', 'firing')
        """
        state = self._find_next_state(observation, timestamp, wait, cool_down)
        if state == self.state and self.since is not None:
            return self
        return replace(
            self, state=state, since=timestamp, open=state in OPEN_STATES or (self.open and state != "normal")
        )

    def _find_next_state(
        self, observation: Observation, timestamp: datetime, wait: timedelta, cool_down: timedelta
    ) -> State:
        if observation == "no_data" or observation == "error":
            return observation
        since = timestamp if self.since is None else self.since
        if observation == "off":
            if self.open or not wait or (self.state == "pending" and timestamp - since >= wait):
                return "firing"
            return "pending"
        if not self.open:
            return "normal"
        if self.state == "recovering" and timestamp - since >= cool_down:
            return "normal"
        return "recovering" if cool_down else "normal"
