"""Notifies of alerts by webhook, mail and OTLP log records, again until they arrive."""

from __future__ import annotations

import json
import smtplib
import urllib.error
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.identity import hash_json
from ragauge.core.messages import format_count, format_value
from ragauge.engine.request_stream import find_watched_project, list_traffic_projects
from ragauge.monitoring.alerts.alert_coverage import format_headline
from ragauge.monitoring.intake.otlp import OWN_PREFIX
from ragauge.monitoring.otlp_log_client import (
    TIMEOUT_S,
    AttributeValues,
    LogRecords,
    add_attributes,
    post_body,
    resolve_secret,
    send_records,
)
from ragauge.monitoring.series.alert_details import build_plain_account
from ragauge.store.monitors import Delivery

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection, NotifySection
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.store.store_access import Store


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
        body: what is told, as `build_deliveries` makes it.
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


MAX_EXAMPLES = 3


def save_alerts(
    store: Store,
    monitor: MonitorSection,
    changed: Sequence[Alert],
    now: float,
    describe: Callable[[Alert], AlertAccount] = build_plain_account,
) -> None:
    """Stores alerts that were raised or have ended, with what has to be sent of them, in one transaction.

    Args:
        store: with the alerts.
        monitor: the section of the configuration, with the receivers.
        changed: each in its last state.
        now: when the first attempts are due, seconds since 1970.
        describe: what an alert has to say.
    """
    accounts = [describe(alert) for alert in changed]
    new_deliveries = [each for account in accounts for each in build_deliveries(store, monitor, account, now)]
    with store.transaction():
        store.monitors.save_alerts(changed)
        store.monitors.add_deliveries(new_deliveries)


def build_deliveries(store: Store, monitor: MonitorSection, account: AlertAccount, now: float) -> list[Delivery]:
    """What has to be told of an alert that fired, or has ended: a delivery for each receiver of the configuration."""
    event = "fired" if account.alert.ended_at is None else "ended"
    project = _find_project(store, monitor, account) if monitor.notify else ""
    new_deliveries = []
    for receiver in monitor.notify:
        target = build_target_id(receiver)
        delivery_id = hash_json([account.alert.alert_id, event, target])[:32]
        link = f"{monitor.url.rstrip('/')}/monitor/alerts/{account.alert.alert_id}" if monitor.url else ""
        body = {"id": delivery_id, "event": event, "project": project, "link": link, **_build_body(account, event)}
        if receiver.text:
            body["examples"] = _list_examples(store, account)
        new_deliveries.append(Delivery(delivery_id, account.alert.alert_id, target, body, now))
    return new_deliveries


def _find_project(store: Store, monitor: MonitorSection, account: AlertAccount) -> str:
    """Whose traffic an alert is about; "" = no project's, where several send."""
    if account.alert.project or not account.alert.said:
        return account.alert.project or find_watched_project(store, monitor.project)
    came = list_traffic_projects(store)
    return find_watched_project(store, monitor.project) if len(came) < 2 else ""


def build_target_id(receiver: NotifySection) -> str:
    """What a receiver is known by: its address may hold a secret, and is not kept."""
    if receiver.otlp is not None:
        return hash_json(["otlp", receiver.otlp, receiver.text])[:16]
    return hash_json([receiver.webhook, receiver.format, receiver.email, receiver.text])[:16]


def _build_body(account: AlertAccount, event: str) -> dict[str, Any]:
    alert = account.alert
    return {
        "alert": alert.alert_id,
        "title": format_headline(alert, account.corrected),
        "monitor": alert.monitor,
        "asked": alert.asks,
        "metric": "" if alert.said else alert.monitor,
        "severity": find_severity(alert.decide, event),
        "segment": {alert.segment[0]: alert.segment[1]} if alert.segment[0] else {},
        "fired_at": alert.fired_at.isoformat(),
        "ended_at": alert.ended_at.isoformat() if alert.ended_at else None,
        "since": alert.since.isoformat(),
        "since_at": account.since_at.isoformat() if account.since_at is not None else None,
        "mean": account.now,
        "n": account.n_now,
        "before": account.before,
        "n_before": account.n_before,
        "allowed": alert.allowed,
        "shown_by": f"ragauge monitor alerts {alert.alert_id}",
        "component": account.blame.component,
        "why": account.blame.why,
        "causes": [item._asdict() for item in account.causes],
        "changed": [item._asdict() for item in account.facts],
        "mix": [item._asdict() for item in account.mix],
        "traces": [item.trace_id for item in account.traces],
    }


def _list_examples(store: Store, account: AlertAccount) -> list[dict[str, str | None]]:
    examples = []
    for trace in account.traces[:MAX_EXAMPLES]:
        example, response = store.runs.response(trace.run_id, trace.trace_id)
        examples.append({"query": example.query, "answer": response.answer})
    return examples


def send_alert(receiver: NotifySection, body: Mapping[str, Any]) -> tuple[str, bool]:
    """Notifies one receiver once.

    Args:
        receiver: by webhook, email or OTLP.
        body: what is sent, as `build_deliveries` makes it.

    Returns:
        Why it failed, without the address, "" = it arrived; and whether that is final.
    """
    if receiver.otlp is not None:
        return send_records(receiver, build_alert_request(body), str(body["id"]))
    try:
        if receiver.webhook is not None:
            sent = body if receiver.format == "generic" else {"text": format_slack_text(body)}
            headers = {name: resolve_secret(value) for name, value in receiver.headers.items()}
            post_body(
                resolve_secret(receiver.webhook),
                json.dumps(sent).encode(),
                {**headers, "Content-Type": "application/json", "Idempotency-Key": str(body["id"])},
            )
        else:
            _send_mail(receiver, body)
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}", False
    except (OSError, smtplib.SMTPException, UsageError) as error:
        return f"{type(error).__name__}: {getattr(error, 'reason', None) or type(error).__doc__ or ''}"[:200], False
    return "", True


def format_slack_text(body: Mapping[str, Any]) -> str:
    """An alert as Slack shows it; what comes from outside cannot be a link or a mention."""
    ended = body["event"] == "ended"
    text = "\n".join([f"{'Ended: ' if ended else ''}{body['title']}", *_format_lines(body)])
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _format_lines(body: Mapping[str, Any]) -> list[str]:
    lines = [f"Rule: {body['asked']}. Fired at {body['fired_at'][:16]} UTC, alert {body['alert']}."]
    if body.get("n") and body.get("mean") is not None:
        previous_text = (
            "" if body["before"] is None else f", {format_value(body['before'])} over {body['n_before']:,} before"
        )
        lines.append(f"Mean: {format_value(body['mean'])} over {format_count(body['n'], 'score')}{previous_text}.")
    if body.get("component"):
        lines.append(f"The fault is most likely in {body['component']}: {body['why']}.")
    lines += [
        f"{entry['name']}: {entry['before']:.0%} before, {entry['now']:.0%} now. {entry['fix']}"
        for entry in body["causes"]
    ]
    lines += [
        f"{entry['fact']} {entry['value']}: {entry['before']:.0%} before, {entry['now']:.0%} now"
        for entry in body["changed"]
    ]
    if body["traces"]:
        lines.append(f"Worst traces: {', '.join(body['traces'][:3])}")
    if body.get("shown_by"):
        page = body.get("link") or f"/monitor/alerts/{body['alert']} in the dashboard"
        lines.append(f"Full report: {body['shown_by']}, or {page}")
    return lines


def _send_mail(receiver: NotifySection, body: Mapping[str, Any]) -> None:
    message = EmailMessage()
    message["Subject"] = f"{'ended: ' if body['event'] == 'ended' else ''}{body['title']}"
    message["From"], message["To"] = receiver.sender, resolve_secret(str(receiver.email))
    message["Message-ID"] = f"<{body['id']}@ragauge>"
    examples = [f"{example['query']}\n{example['answer']}" for example in body.get("examples", ())]
    message.set_content("\n\n".join(["\n".join(_format_lines(body)), *examples]))
    host, _, port = receiver.server.rpartition(":")
    with smtplib.SMTP(host or receiver.server, int(port) if host else 25, timeout=TIMEOUT_S) as server:
        server.send_message(message)
