"""An alert as a log record, for those who are told by OTLP: what fired or ended, since when, and where it lies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ragauge.monitoring.intake.otlp import OWN_PREFIX
from ragauge.monitoring.otlp_log_client import AttributeValues, LogRecords, add_attributes

EVENT = f"{OWN_PREFIX}alert"
SEVERITIES = {"INFO": 9, "WARN": 13, "ERROR": 17}  # OpenTelemetry's numbers
CHANGE_DECISIONS = (
    "no_data",
    "drift",
    "canary",
)  # what decides alerts that say that something changed, not that it is worse


def find_severity(decide: str, event: str) -> str:
    """How severe an alert is.

    ERROR where something is worse than what it is held to, WARN where nothing comes or texts or the judge changed, INFO
    where an alert has ended.

    Args:
        decide: what decided it, as the alert says.
        event: fired or ended.
    """
    if event == "ended":
        return "INFO"
    return "WARN" if decide in CHANGE_DECISIONS else "ERROR"


def build_alert_request(body: Mapping[str, Any]) -> bytes:
    """The packed request that tells of an alert; the same bytes at every attempt.

    Args:
        body: what is told, as `notifying.deliveries` makes it.
    """
    request = LogRecords()
    record = request.records.add()
    timestamp = datetime.fromisoformat(body["ended_at"] or body["fired_at"])
    record.time_unix_nano = record.observed_time_unix_nano = round(timestamp.timestamp() * 1e6) * 1000
    record.event_name = EVENT
    record.severity_text, record.severity_number = body["severity"], SEVERITIES[body["severity"]]
    record.body.string_value = body["title"]
    add_attributes(record.attributes, _build_attributes(body))
    return request.pack_request()


def _build_attributes(body: Mapping[str, Any]) -> AttributeValues:
    fields = {
        "id": body["alert"],
        "state": body["event"],
        "monitor": body["monitor"],
        "asked": body["asked"],
        "project": body["project"],
        "link": body.get("link"),
        "component": body["component"],
        "why": body["why"],
        "since": body["since_at"] or body["since"],
        "traces": body["traces"],
        "examples": json.dumps(body["examples"], ensure_ascii=False) if body.get("examples") else "",
        **{f"segment.{name}": value for name, value in body["segment"].items()},
    }
    if body["mean"] is not None:  # else nothing is measured: a run that was missed, scores that do not come
        numbers = {name: body[name] for name in ("mean", "before", "allowed")}
        fields |= {name: float(value) for name, value in numbers.items() if value is not None}
    attribute_values = {f"{EVENT}.{name}": value for name, value in fields.items() if value not in (None, "", [])}
    if body["metric"]:
        attribute_values["gen_ai.evaluation.name"] = body["metric"]
    return {**attribute_values, f"{OWN_PREFIX}delivery.id": body["id"]}
