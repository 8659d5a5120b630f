"""Where monitors stand, the alerts that they raised, and the notifications of these."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp, fsum
from typing import Any

from sqlalchemy import delete, exists, or_, select, update

from ragauge.core.errors import UnknownName
from ragauge.monitoring.series.label_correction import CorrectedDay
from ragauge.monitoring.series.monitor_specs import Resolution
from ragauge.monitoring.series.monitor_tracker import Alert, TrackerState
from ragauge.monitoring.series.series import ALL, Segment, Series
from ragauge.store.monitor_schema import alerts, deliveries, series, silences
from ragauge.store.outbox import Outbox
from ragauge.store.text_codec import pack_text, unpack_text
from ragauge.store.traffic_schema import traces

MAX_LOG_WEALTH = 600.0  # of wealth that an earlier version kept


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """An alert as it is kept."""

    alert: Alert  #: what fired, with its end where it has one.
    resolution: Resolution = ""  #: what people decided about it; "" = nothing yet.
    #: days from the one since which it is worse to the one on which it fired whose mean labels correct.
    corrected: tuple[CorrectedDay, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertList:
    """Every alert."""

    alerts: tuple[StoredAlert, ...]  #: the newest first, each with what people say of it.
    resolved: int  #: alerts that people said something of.
    precision: float | None  #: the share of them that were no false alarms; None where nobody said anything.


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notification that has to be sent."""

    delivery_id: str  #: the same at every attempt.
    alert_id: str  #: what it is about.
    target: str  #: digest of who is told.
    body: Mapping[str, Any]  #: what is told, as JSON types.
    due: float | None = 0.0  #: of the next attempt, seconds since 1970; None = it is over.
    attempts: int = 0  #: so far.
    error: str = ""  #: of the last one; "" = it arrived.


class Monitors(Outbox[Delivery]):
    """Monitors, by what they watch, their alerts, and the notifications that wait for receivers."""

    _messages = deliveries

    def state(self, monitor: str) -> TrackerState:
        """Where a monitor stands; at its beginning where it is new."""
        with self._database.read() as connection:
            body = connection.execute(select(series.c.body).where(series.c.monitor == monitor)).scalar()
        return TrackerState() if body is None else _decode_state(unpack_text(body))

    def names(self) -> list[str]:
        """The monitors that have taken a score, by what they watch."""
        with self._database.read() as connection:
            return list(connection.execute(select(series.c.monitor).order_by(series.c.monitor)).scalars())

    def save_progress(
        self, monitor: str, previous: TrackerState, current: TrackerState, changed_alerts: Sequence[Alert]
    ) -> bool:
        """Stores where a monitor stands and what it raised or ended on the way, in one transaction.

        Returns:
            False, and nothing is kept, where it no longer stands at `previous`: another process was faster.
        """
        with self._database.write() as connection:
            body = connection.execute(select(series.c.body).where(series.c.monitor == monitor)).scalar()
            stored_text, previous_text = (
                _encode_state(TrackerState()) if body is None else unpack_text(body),
                _encode_state(previous),
            )
            if previous_text != stored_text and previous_text != _encode_state(
                _decode_state(stored_text)
            ):  # as an earlier version may have kept it
                return False
            values = {"monitor": monitor, "cursor": current.cursor, "body": pack_text(_encode_state(current))}
            new = self._database.insert(series)
            updates = {name: new.excluded[name] for name in ("cursor", "body")}
            connection.execute(new.on_conflict_do_update(index_elements=["monitor"], set_=updates), values)
            for alert in changed_alerts:
                self._save_alert(connection, alert)
        return True

    def save_alerts(self, changed_alerts: Sequence[Alert]) -> None:
        """Stores alerts of what is no series, or that they have ended."""
        with self._database.write() as connection:
            for alert in changed_alerts:
                self._save_alert(connection, alert)

    def _save_alert(self, connection: Any, alert: Alert) -> None:
        ended = None if alert.ended_at is None else alert.ended_at.isoformat()
        row = {
            "alert_id": alert.alert_id,
            "fired_at": alert.fired_at.isoformat(),
            "ended_at": ended,
            "resolution": "",
            "body": pack_text(_build_adapter(Alert).dump_json(alert).decode()),
        }
        new = self._database.insert(alerts)
        changed = {name: new.excluded[name] for name in ("ended_at", "body")}
        connection.execute(new.on_conflict_do_update(index_elements=["alert_id"], set_=changed), row)

    def list_alerts(self) -> list[StoredAlert]:
        """Every alert, the newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(alerts).order_by(alerts.c.fired_at.desc(), alerts.c.alert_id)).all()
        return [StoredAlert(_build_adapter(Alert).validate_json(unpack_text(row.body)), row.resolution) for row in rows]

    def has_any(self) -> bool:
        """Whether there is anything of production: a monitor that has taken a score, or a trace."""
        condition = or_(exists(select(series.c.monitor)), exists(select(traces.c.trace_id)))
        with self._database.read() as connection:
            return bool(connection.execute(select(condition)).scalar())

    def find_alert(self, alert_id: str) -> StoredAlert:
        """The alert of an id, which may be cut where that names one alone.

        Raises:
            UnknownName: no alert, or several, have such an id.
        """
        stored_alerts = self.list_alerts()
        matches = [stored for stored in stored_alerts if stored.alert.alert_id.startswith(alert_id)]
        if len(matches) != 1 or not alert_id:
            raise UnknownName("alert", alert_id, [stored.alert.alert_id for stored in stored_alerts])
        return matches[0]

    def resolve_alert(self, alert_id: str, resolution: Resolution) -> StoredAlert:
        """Says what an alert was; its id may be cut where that names one alone.

        Raises:
            UnknownName: no alert, or several, have such an id.
        """
        stored = self.find_alert(alert_id)
        with self._database.write() as connection:
            statement = update(alerts).where(alerts.c.alert_id == stored.alert.alert_id)
            connection.execute(statement.values(resolution=resolution))
        return replace(stored, resolution=resolution)

    def delete_segment(self, segment: Segment) -> dict[str, int]:
        """Deletes a segment's value where it is named: series, alerts, silences of earlier versions; says how many."""
        n_deleted = {"series": 0, "alerts": 0}
        with self._database.write() as connection:
            for row in connection.execute(select(series)).all():
                state = _decode_state(unpack_text(row.body))
                if segment in state.series or segment in state.watched:
                    remaining = replace(
                        state,
                        watched=tuple(key for key in state.watched if key != segment),
                        series={key: segment_series for key, segment_series in state.series.items() if key != segment},
                        alerts={key: alert for key, alert in state.alerts.items() if key != segment},
                        silent={key: alert for key, alert in state.silent.items() if key != segment},
                    )
                    statement = update(series).where(series.c.monitor == row.monitor)
                    connection.execute(statement.values(body=pack_text(_encode_state(remaining))))
                    n_deleted["series"] += 1
            for stored in self.list_alerts():
                if stored.alert.segment == segment:
                    connection.execute(delete(alerts).where(alerts.c.alert_id == stored.alert.alert_id))
                    n_deleted["alerts"] += 1
            silence_condition = (silences.c.segment == segment[0]) & (silences.c.value == segment[1])
            n_deleted["silences"] = connection.execute(delete(silences).where(silence_condition)).rowcount
        return n_deleted

    def add_deliveries(self, new_deliveries: Sequence[Delivery]) -> None:
        """Stores deliveries that are to be made; one that is known stays as it is."""
        if not new_deliveries:
            return
        rows = [
            {column.name: getattr(delivery, column.name) for column in deliveries.c}
            | {"body": pack_text(json.dumps(delivery.body))}
            for delivery in new_deliveries
        ]
        with self._database.write() as connection:
            connection.execute(self._database.insert(deliveries).on_conflict_do_nothing(), rows)

    def _build_message(self, row: Any) -> Delivery:
        body = json.loads(unpack_text(row.body))
        return Delivery(row.delivery_id, row.alert_id, row.target, body, row.due, row.attempts, row.error)


def _build_adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _encode_state(state: TrackerState) -> str:
    """A state as JSON: mappings by segment as pairs."""
    return json.dumps(
        {
            "cursor": state.cursor,
            "day": state.day,
            "start": state.start,
            "watched": state.watched,
            "instrument": state.instrument,
            "series": _build_adapter(list[tuple[Segment, Series]]).dump_python(list(state.series.items()), mode="json"),
            "alerts": _build_adapter(list[tuple[Segment, Alert]]).dump_python(list(state.alerts.items()), mode="json"),
            "last": state.last.isoformat() if state.last is not None else None,
            "silent": _build_adapter(list[tuple[Segment, Alert]]).dump_python(list(state.silent.items()), mode="json"),
            "resumed": state.resumed.isoformat() if state.resumed is not None else None,
            "growing": state.growing,
            "passed": state.passed,
            "doubted": state.doubted,
        }
    )


def _decode_state(text: str) -> TrackerState:
    content = json.loads(text)
    return TrackerState(
        content["cursor"],
        content["day"],
        content["start"],
        tuple((name, value) for name, value in content["watched"]),
        content["instrument"],
        dict(_build_adapter(list[tuple[Segment, Series]]).validate_python(_upgrade_series(content["series"]))),
        dict(_build_adapter(list[tuple[Segment, Alert]]).validate_python(content["alerts"])),
        datetime.fromisoformat(content["last"]) if content.get("last") else None,
        dict(_build_adapter(list[tuple[Segment, Alert]]).validate_python(_upgrade_silent(content.get("silent")))),
        datetime.fromisoformat(content["resumed"]) if content.get("resumed") else None,
        content.get("growing", False),
        content.get("passed", 0),
        content.get("doubted"),
    )


def _upgrade_silent(stored: Any) -> list[Any]:
    """Alerts that nothing comes, by series; before segments were told apart there was one, of all requests."""
    return stored if isinstance(stored, list) else [] if stored is None else [(ALL, stored)]


def _upgrade_series(pairs: Any) -> list[Any]:
    """Series; before every score began a bet, evidence was the log wealth of each day, of equal shares."""
    return [(segment, {**stored, "evidence": _upgrade_evidence(stored["evidence"])}) for segment, stored in pairs]


def _upgrade_evidence(evidence: Any) -> Any:
    if evidence is None or "whole" in evidence:
        return evidence
    days, rows = evidence["days"], evidence["wealth"]
    by_bet = [[exp(min(log_wealth, MAX_LOG_WEALTH)) for log_wealth in bet] for bet in zip(*rows, strict=True)]
    share_left = 1 - len(rows) / days
    upgraded = {"m": evidence["m"], "days": days, "whole": 2 * share_left / (1 + share_left), "begun": len(rows)}
    if rows:
        upgraded |= {"wealth": [fsum(bet) / days for bet in by_bet], "best": [max(1.0, *bet) for bet in by_bet]}
    return upgraded
