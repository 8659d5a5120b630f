"""Where monitors stand, the alerts that they raised, and what has to be told of these."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp, fsum, inf
from typing import Any

from sqlalchemy import delete, exists, or_, select, update

from ragauge.core.errors import UnknownName
from ragauge.monitoring.series.label_correction import CorrectedDay
from ragauge.monitoring.series.monitor_tracker import Alert, WatchState
from ragauge.monitoring.series.series import ALL, Segment, Series
from ragauge.monitoring.series.states import Resolution
from ragauge.store.database import Database
from ragauge.store.monitor_schema import alerts, deliveries, series, silences
from ragauge.store.text_codec import pack, unpack
from ragauge.store.traffic_schema import traces

LARGEST_LOG = 600.0  # of wealth that an earlier version kept


@dataclass(frozen=True, slots=True)
class KeptAlert:
    """An alert as it is kept.

    Attributes:
        alert: what fired, with its end where it has one.
        resolution: what people say of it; "" = nothing yet.
        corrected: days from the one since which it is worse to the one on which it fired whose mean labels correct.
    """

    alert: Alert
    resolution: Resolution = ""
    corrected: tuple[CorrectedDay, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertList:
    """Every alert.

    Attributes:
        alerts: the newest first, each with what people say of it.
        resolved: alerts that people said something of.
        precision: the share of them that were no false alarms; None where nobody said anything.
    """

    alerts: tuple[KeptAlert, ...]
    resolved: int
    precision: float | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something that somebody has to be told.

    Attributes:
        delivery_id: the same at every attempt.
        alert_id: what it is about.
        target: digest of who is told.
        body: what is told, as JSON types.
        due: of the next attempt, seconds since 1970; None = it is over.
        attempts: so far.
        error: of the last one; "" = it arrived.
    """

    delivery_id: str
    alert_id: str
    target: str
    body: Mapping[str, Any]
    due: float | None = 0.0
    attempts: int = 0
    error: str = ""


class Monitors:
    """Monitors, by what they watch."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, monitor: str) -> WatchState:
        """Where a monitor stands; at its beginning where it is new."""
        with self._database.read() as connection:
            body = connection.execute(select(series.c.body).where(series.c.monitor == monitor)).scalar()
        return WatchState() if body is None else _state(unpack(body))

    def names(self) -> list[str]:
        """The monitors that have taken a score, by what they watch."""
        with self._database.read() as connection:
            return list(connection.execute(select(series.c.monitor).order_by(series.c.monitor)).scalars())

    def advance(self, monitor: str, before: WatchState, after: WatchState, raised: Sequence[Alert]) -> bool:
        """Keeps where a monitor stands and what it raised or ended on the way, in one transaction.

        Returns:
            False, and nothing is kept, where it no longer stands at `before`: another process was faster.
        """
        with self._database.write() as connection:
            body = connection.execute(select(series.c.body).where(series.c.monitor == monitor)).scalar()
            known, mine = _text(WatchState()) if body is None else unpack(body), _text(before)
            if mine != known and mine != _text(_state(known)):  # as an earlier version may have kept it
                return False
            values = {"monitor": monitor, "cursor": after.cursor, "body": pack(_text(after))}
            new = self._database.insert(series)
            kept = {name: new.excluded[name] for name in ("cursor", "body")}
            connection.execute(new.on_conflict_do_update(index_elements=["monitor"], set_=kept), values)
            for alert in raised:
                self._keep(connection, alert)
        return True

    def raised(self, several: Sequence[Alert]) -> None:
        """Keeps alerts of what is no series, or that they have ended."""
        with self._database.write() as connection:
            for alert in several:
                self._keep(connection, alert)

    def _keep(self, connection: Any, alert: Alert) -> None:
        ended = None if alert.ended_at is None else alert.ended_at.isoformat()
        row = {
            "alert_id": alert.alert_id,
            "fired_at": alert.fired_at.isoformat(),
            "ended_at": ended,
            "resolution": "",
            "body": pack(_adapter(Alert).dump_json(alert).decode()),
        }
        new = self._database.insert(alerts)
        changed = {name: new.excluded[name] for name in ("ended_at", "body")}
        connection.execute(new.on_conflict_do_update(index_elements=["alert_id"], set_=changed), row)

    def alerts(self) -> list[KeptAlert]:
        """Every alert, the newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(alerts).order_by(alerts.c.fired_at.desc(), alerts.c.alert_id)).all()
        return [KeptAlert(_adapter(Alert).validate_json(unpack(row.body)), row.resolution) for row in rows]

    def any(self) -> bool:
        """Whether there is anything of production: a monitor that has taken a score, or a trace."""
        found = or_(exists(select(series.c.monitor)), exists(select(traces.c.trace_id)))
        with self._database.read() as connection:
            return bool(connection.execute(select(found)).scalar())

    def alert(self, alert_id: str) -> KeptAlert:
        """The alert of an id, which may be cut where that names one alone.

        Raises:
            UnknownName: no alert, or several, have such an id.
        """
        known = self.alerts()
        found = [one for one in known if one.alert.alert_id.startswith(alert_id)]
        if len(found) != 1 or not alert_id:
            raise UnknownName("alert", alert_id, [one.alert.alert_id for one in known])
        return found[0]

    def resolve(self, alert_id: str, resolution: Resolution) -> KeptAlert:
        """Says what an alert was; its id may be cut where that names one alone.

        Raises:
            UnknownName: no alert, or several, have such an id.
        """
        found = self.alert(alert_id)
        with self._database.write() as connection:
            mine = update(alerts).where(alerts.c.alert_id == found.alert.alert_id)
            connection.execute(mine.values(resolution=resolution))
        return replace(found, resolution=resolution)

    def forget(self, segment: Segment) -> dict[str, int]:
        """Deletes a segment's value where it is named: series, alerts, silences of earlier versions; says how many."""
        gone = {"series": 0, "alerts": 0}
        with self._database.write() as connection:
            for row in connection.execute(select(series)).all():
                state = _state(unpack(row.body))
                if segment in state.series or segment in state.watched:
                    left = replace(
                        state,
                        watched=tuple(one for one in state.watched if one != segment),
                        series={one: part for one, part in state.series.items() if one != segment},
                        alerts={one: alert for one, alert in state.alerts.items() if one != segment},
                        silent={one: alert for one, alert in state.silent.items() if one != segment},
                    )
                    mine = update(series).where(series.c.monitor == row.monitor)
                    connection.execute(mine.values(body=pack(_text(left))))
                    gone["series"] += 1
            for kept in self.alerts():
                if kept.alert.segment == segment:
                    connection.execute(delete(alerts).where(alerts.c.alert_id == kept.alert.alert_id))
                    gone["alerts"] += 1
            told = (silences.c.segment == segment[0]) & (silences.c.value == segment[1])
            gone["silences"] = connection.execute(delete(silences).where(told)).rowcount
        return gone

    def tell(self, several: Sequence[Delivery]) -> None:
        """Keeps deliveries that are to be made; one that is known stays as it is."""
        if not several:
            return
        rows = [
            {
                "delivery_id": one.delivery_id,
                "alert_id": one.alert_id,
                "target": one.target,
                "due": one.due,
                "attempts": one.attempts,
                "error": one.error,
                "body": pack(json.dumps(one.body)),
            }
            for one in several
        ]
        with self._database.write() as connection:
            connection.execute(self._database.insert(deliveries).on_conflict_do_nothing(), rows)

    def due(self, now: float, limit: int = 100, ahead: float = inf) -> list[Delivery]:
        """Deliveries whose next attempt is due, the longest waiting first.

        Args:
            now: seconds since 1970.
            limit: at most so many.
            ahead: seconds that an attempt is waited for at most. One that is due later was put off before the clock was
                put back, and is due now.
        """
        due = deliveries.c.due <= now
        if ahead < inf:
            due = due | (deliveries.c.due > now + ahead)
        query = select(deliveries).where(due).order_by(deliveries.c.due).limit(limit)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [_delivery(row) for row in rows]

    def claimed(self, delivery: Delivery, until: float) -> bool:
        """Takes the attempt that is due; False where another process did, and nobody else has it until a moment."""
        mine = (deliveries.c.delivery_id == delivery.delivery_id, deliveries.c.due == delivery.due)
        with self._database.write() as connection:
            return connection.execute(update(deliveries).where(*mine).values(due=until)).rowcount == 1

    def attempted(self, delivery: Delivery, error: str, due: float | None) -> None:
        """Notes an attempt: its error ("" = it arrived), and when the next is due (None = none is)."""
        mine = update(deliveries).where(deliveries.c.delivery_id == delivery.delivery_id)
        with self._database.write() as connection:
            connection.execute(mine.values(attempts=delivery.attempts + 1, error=error, due=due))


def _delivery(row: Any) -> Delivery:
    body = json.loads(unpack(row.body))
    return Delivery(row.delivery_id, row.alert_id, row.target, body, row.due, row.attempts, row.error)


def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _text(state: WatchState) -> str:
    """A state as JSON: mappings by segment as pairs."""
    return json.dumps(
        {
            "cursor": state.cursor,
            "day": state.day,
            "start": state.start,
            "watched": state.watched,
            "instrument": state.instrument,
            "series": _adapter(list[tuple[Segment, Series]]).dump_python(list(state.series.items()), mode="json"),
            "alerts": _adapter(list[tuple[Segment, Alert]]).dump_python(list(state.alerts.items()), mode="json"),
            "last": state.last.isoformat() if state.last is not None else None,
            "silent": _adapter(list[tuple[Segment, Alert]]).dump_python(list(state.silent.items()), mode="json"),
            "resumed": state.resumed.isoformat() if state.resumed is not None else None,
            "growing": state.growing,
            "passed": state.passed,
            "doubted": state.doubted,
        }
    )


def _state(text: str) -> WatchState:
    found = json.loads(text)
    return WatchState(
        found["cursor"],
        found["day"],
        found["start"],
        tuple((name, value) for name, value in found["watched"]),
        found["instrument"],
        dict(_adapter(list[tuple[Segment, Series]]).validate_python(_series(found["series"]))),
        dict(_adapter(list[tuple[Segment, Alert]]).validate_python(found["alerts"])),
        datetime.fromisoformat(found["last"]) if found.get("last") else None,
        dict(_adapter(list[tuple[Segment, Alert]]).validate_python(_silent(found.get("silent")))),
        datetime.fromisoformat(found["resumed"]) if found.get("resumed") else None,
        found.get("growing", False),
        found.get("passed", 0),
        found.get("doubted"),
    )


def _silent(found: Any) -> list[Any]:
    """Alerts that nothing comes, by series; before segments were told apart there was one, of all requests."""
    return found if isinstance(found, list) else [] if found is None else [(ALL, found)]


def _series(found: Any) -> list[Any]:
    """Series; before every score began a bet, evidence was the log wealth of each day, of equal shares."""
    return [(segment, {**one, "evidence": _summed(one["evidence"])}) for segment, one in found]


def _summed(evidence: Any) -> Any:
    if evidence is None or "whole" in evidence:
        return evidence
    days, rows = evidence["days"], evidence["wealth"]
    by_bet = [[exp(min(log_wealth, LARGEST_LOG)) for log_wealth in bet] for bet in zip(*rows, strict=True)]
    left = 1 - len(rows) / days
    found = {"m": evidence["m"], "days": days, "whole": 2 * left / (1 + left), "begun": len(rows)}
    if rows:
        found |= {"wealth": [fsum(bet) / days for bet in by_bet], "best": [max(1.0, *bet) for bet in by_bet]}
    return found
