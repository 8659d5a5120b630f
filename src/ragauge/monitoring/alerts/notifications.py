"""Tells of alerts: by webhook, mail and OTLP, again until it arrives, under one id, without a user's words."""

from __future__ import annotations

import json
import smtplib
import time
import urllib.error
from collections.abc import Mapping
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.identity import digest
from ragauge.core.messages import number, plural
from ragauge.engine.request_stream import traffic_projects, watched_project
from ragauge.monitoring.alerts.alert_coverage import headline
from ragauge.monitoring.alerts.alert_records import alert_request, severity
from ragauge.monitoring.http_post import TIMEOUT, post, secret
from ragauge.monitoring.otlp_log_client import send_records
from ragauge.store.monitors import Delivery

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection, NotifySection
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.store.store_access import Store

FIRST, LONGEST = 30.0, 3600.0  # seconds to the second attempt, and between two at most
ATTEMPTS = 40  # some 36 hours
ALONE = 120.0  # seconds that an attempt is one server's
EXAMPLES = 3


def deliveries(store: Store, monitor: MonitorSection, told: AlertAccount, now: float) -> list[Delivery]:
    """What has to be told of an alert that fired, or has ended: a delivery for each receiver of the configuration."""
    event = "fired" if told.alert.ended_at is None else "ended"
    project = _whose(store, monitor, told) if monitor.notify else ""
    found = []
    for receiver in monitor.notify:
        target = target_of(receiver)
        delivery_id = digest([told.alert.alert_id, event, target])[:32]
        link = f"{monitor.url.rstrip('/')}/monitor/alerts/{told.alert.alert_id}" if monitor.url else ""
        body = {"id": delivery_id, "event": event, "project": project, "link": link, **_said(told, event)}
        if receiver.text:
            body["examples"] = _examples(store, told)
        found.append(Delivery(delivery_id, told.alert.alert_id, target, body, now))
    return found


def _whose(store: Store, monitor: MonitorSection, told: AlertAccount) -> str:
    """Whose traffic an alert is about; "" = no project's, where several send."""
    if told.alert.project or not told.alert.said:
        return told.alert.project or watched_project(store, monitor.project)
    came = traffic_projects(store)
    return watched_project(store, monitor.project) if len(came) < 2 else ""


def target_of(receiver: NotifySection) -> str:
    """What a receiver is known by: its address may hold a secret, and is not kept."""
    if receiver.otlp is not None:
        return digest(["otlp", receiver.otlp, receiver.text])[:16]
    return digest([receiver.webhook, receiver.format, receiver.email, receiver.text])[:16]


def _said(told: AlertAccount, event: str) -> dict[str, Any]:
    alert = told.alert
    return {
        "alert": alert.alert_id,
        "title": headline(alert, told.corrected),
        "monitor": alert.monitor,
        "asked": alert.asks,
        "metric": "" if alert.said else alert.monitor,
        "severity": severity(alert.decide, event),
        "segment": {alert.segment[0]: alert.segment[1]} if alert.segment[0] else {},
        "fired_at": alert.fired_at.isoformat(),
        "ended_at": alert.ended_at.isoformat() if alert.ended_at else None,
        "since": alert.since.isoformat(),
        "since_at": told.since_at.isoformat() if told.since_at is not None else None,
        "mean": told.now,
        "n": told.n_now,
        "before": told.before,
        "n_before": told.n_before,
        "allowed": alert.allowed,
        "shown_by": f"ragauge monitor alerts {alert.alert_id}",
        "component": told.blame.component,
        "why": told.blame.why,
        "causes": [one._asdict() for one in told.causes],
        "changed": [one._asdict() for one in told.facts],
        "mix": [one._asdict() for one in told.mix],
        "traces": [one.trace_id for one in told.traces],
    }


def _examples(store: Store, told: AlertAccount) -> list[dict[str, str | None]]:
    found = []
    for one in told.traces[:EXAMPLES]:
        example, response = store.runs.response(one.run_id, one.trace_id)
        found.append({"query": example.query, "answer": response.answer})
    return found


def deliver(store: Store, monitor: MonitorSection, now: float) -> int:
    """Makes the attempts that are due; returns how many arrived. What fails is tried again, later each time."""
    receivers = {target_of(one): one for one in monitor.notify}
    began, arrived = time.monotonic(), 0
    for delivery in store.monitors.due(now, ahead=2 * LONGEST):
        receiver = receivers.get(delivery.target)
        if receiver is None:
            store.monitors.attempted(delivery, "the configuration no longer names its receiver", None)
            continue
        waited = time.monotonic() - began  # for receivers before it
        if not store.monitors.claimed(delivery, now + waited + ALONE):
            continue
        error, final = _attempt(receiver, delivery.body)
        again = now + min(LONGEST, FIRST * 2.0**delivery.attempts)
        more = error and not final and delivery.attempts + 1 < ATTEMPTS
        store.monitors.attempted(delivery, error, again if more else None)
        arrived += not error
    return arrived


def _attempt(receiver: NotifySection, body: Mapping[str, Any]) -> tuple[str, bool]:
    """Tells one receiver; why it failed, without the address, or "", and whether that is the last word."""
    if receiver.otlp is not None:
        return send_records(receiver, alert_request(body), str(body["id"]))
    try:
        if receiver.webhook is not None:
            sent = body if receiver.format == "generic" else {"text": slack_text(body)}
            headers = {name: secret(value) for name, value in receiver.headers.items()}
            post(
                secret(receiver.webhook),
                json.dumps(sent).encode(),
                {**headers, "Content-Type": "application/json", "Idempotency-Key": str(body["id"])},
            )
        else:
            _mail(receiver, body)
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}", False
    except (OSError, smtplib.SMTPException, UsageError) as error:
        return f"{type(error).__name__}: {getattr(error, 'reason', None) or type(error).__doc__ or ''}"[:200], False
    return "", True


def slack_text(body: Mapping[str, Any]) -> str:
    """An alert as Slack shows it; what comes from outside cannot be a link or a mention."""
    ended = body["event"] == "ended"
    text = "\n".join([f"{'Ended: ' if ended else ''}{body['title']}", *_lines(body)])
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _lines(body: Mapping[str, Any]) -> list[str]:
    lines = [f"Asked: {body['asked']}. Fired at {body['fired_at'][:16]} UTC, alert {body['alert']}."]
    if body.get("n") and body.get("mean") is not None:
        before = "" if body["before"] is None else f", {number(body['before'])} of {body['n_before']:,} before"
        lines.append(f"Mean: {number(body['mean'])} of {plural(body['n'], 'score')}{before}.")
    if body.get("component"):
        lines.append(f"It lies most likely in {body['component']}: {body['why']}.")
    lines += [
        f"{one['name']}: {one['before']:.0%} before, {one['now']:.0%} now. {one['fix']}" for one in body["causes"]
    ]
    lines += [
        f"{one['fact']} {one['value']}: {one['before']:.0%} before, {one['now']:.0%} now" for one in body["changed"]
    ]
    if body["traces"]:
        lines.append(f"Worst: {', '.join(body['traces'][:3])}")
    if body.get("shown_by"):
        page = body.get("link") or f"/monitor/alerts/{body['alert']} of the dashboard"
        lines.append(f"All of it: {body['shown_by']}, or {page}")
    return lines


def _mail(receiver: NotifySection, body: Mapping[str, Any]) -> None:
    message = EmailMessage()
    message["Subject"] = f"{'ended: ' if body['event'] == 'ended' else ''}{body['title']}"
    message["From"], message["To"] = receiver.sender, secret(str(receiver.email))
    message["Message-ID"] = f"<{body['id']}@ragauge>"
    examples = [f"{one['query']}\n{one['answer']}" for one in body.get("examples", ())]
    message.set_content("\n\n".join(["\n".join(_lines(body)), *examples]))
    host, _, port = receiver.server.rpartition(":")
    with smtplib.SMTP(host or receiver.server, int(port) if host else 25, timeout=TIMEOUT) as server:
        server.send_message(message)
