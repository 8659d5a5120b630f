"""Sends what waits for receivers, alerts and results, again until it arrives."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragauge.monitoring.alerts.notifications import build_target_id, send_alert
from ragauge.monitoring.otlp_log_client import send_records

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection, NotifySection
    from ragauge.store.outbox import MessageT, Outbox
    from ragauge.store.store_access import Store

FIRST_RETRY_S, MAX_RETRY_S = 30.0, 3600.0  # seconds to the second attempt, and between two at most
MAX_ATTEMPTS = 40  # some 36 hours
CLAIM_S = 120.0  # seconds that an attempt is one server's
SendOnce = Callable[["NotifySection", "MessageT"], tuple[str, bool]]  # the error, "" = none, and whether it is final


def send_due(store: Store, monitor: MonitorSection, now: float) -> int:
    """Makes the attempts that are due; returns how many arrived. What fails is tried again, later each time.

    Args:
        store: with what waits.
        monitor: the section of the configuration, with the receivers.
        now: seconds since 1970.
    """
    receivers = {build_target_id(receiver): receiver for receiver in monitor.notify}
    n_alerts = _send_messages(
        store.monitors, receivers, now, lambda receiver, delivery: send_alert(receiver, delivery.body)
    )
    return n_alerts + _send_messages(
        store.returns, receivers, now, lambda receiver, batch: send_records(receiver, batch.body, batch.batch_id)
    )


def _send_messages(
    outbox: Outbox[MessageT], receivers: dict[str, NotifySection], now: float, send: SendOnce[MessageT]
) -> int:
    began, n_arrived = time.monotonic(), 0
    for message in outbox.list_due(now, ahead=2 * MAX_RETRY_S):
        receiver = receivers.get(message.target)
        if receiver is None:
            outbox.record_attempt(message, "its receiver is no longer in the configuration", None)
            continue
        waited_s = time.monotonic() - began  # for receivers before it
        if not outbox.take_delivery(message, now + waited_s + CLAIM_S):
            continue
        error, is_final = send(receiver, message)
        may_retry = error and not is_final and message.attempts + 1 < MAX_ATTEMPTS
        delay_s = min(MAX_RETRY_S, FIRST_RETRY_S * 2.0**message.attempts)
        outbox.record_attempt(message, error, now + delay_s if may_retry else None)
        n_arrived += not error
    return n_arrived
