"""What is sent to receivers, alerts and results, again until it arrives.

Results are OpenTelemetry events, linked to trace and span. A batch is made once, in the transaction that takes its
traces off the list, and sent unchanged until it arrives: a kill loses nothing, and a second attempt has the same id. No
text of a user is in it unless the receiver says `text: true`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.core.identity import hash_json
from ragauge.monitoring.alerts.notifications import build_target_id, send_alert
from ragauge.monitoring.intake.otlp import OWN_PREFIX
from ragauge.monitoring.otlp_log_client import LogRecords, add_attributes, send_records
from ragauge.readers.traces.verdicts import RESULT_EVENT
from ragauge.store.returns import ReturnBatch

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection, NotifySection
    from ragauge.core.score import Score
    from ragauge.monitoring.worker import StageTurn
    from ragauge.store.ledger import LedgerLine
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


BATCH_SIZE_TRACES = 100  # traces of a batch
DROP_SIZE_TRACES = 5_000  # traces that are taken off the list at once where nobody is given their results


def queue_results(turn: StageTurn, monitor: MonitorSection) -> int:
    """Makes batches of what was judged, for every receiver of results; returns of how many traces.

    Args:
        turn: with the store and the moment.
        monitor: the section of the configuration; without receivers the traces are taken off the list alone.
    """
    receivers = {build_target_id(receiver): receiver for receiver in monitor.notify if receiver.otlp is not None}
    limit = BATCH_SIZE_TRACES if receivers else DROP_SIZE_TRACES
    store, waiting = turn.store, turn.store.returns.list_waiting(limit)
    if not waiting:
        return 0
    batches = []
    if receivers:
        lines = store.ledger.load_lines(list(waiting))
        known_ids = [trace_id for trace_id in waiting if trace_id in lines]
        results = [result for trace_id in known_ids for result in _list_results(store, lines[trace_id])]
        for target, receiver in receivers.items() if results else ():
            body = _build_request(results, turn.now, text=receiver.text)
            batches.append(ReturnBatch(hash_json([target, sorted(waiting.items())])[:32], target, body, turn.now))
    store.returns.take_traces(waiting, batches)
    return len(waiting)


def _list_results(store: Store, line: LedgerLine) -> Iterator[tuple[str, str, Score]]:
    """Trace, span and score of each result of a trace; nothing where its run is gone."""
    try:
        names = store.collecting.list_query_ids(line.run_id, line.trace_id)
        judge_id = next(iter(store.scores.judges(line.run_id)), None)
        for name in names:
            _, response = store.runs.response(line.run_id, name)
            for score in store.scores.load_for_response(line.run_id, name, 0, judge_id).values():
                yield line.trace_id, response.origin.get("span", ""), score
    except UnknownName:
        return


def _build_request(results: Sequence[tuple[str, str, Score]], now: float, *, text: bool) -> bytes:
    request = LogRecords()
    for trace_id, span_id, score in results:
        record = request.records.add()
        record.time_unix_nano = record.observed_time_unix_nano = int(now * 1e9)
        record.event_name = RESULT_EVENT
        if _is_hexadecimal(trace_id, 32):
            record.trace_id = bytes.fromhex(trace_id)
            record.span_id = bytes.fromhex(span_id) if _is_hexadecimal(span_id, 16) else b""
        else:  # a captured response, which has no trace
            add_attributes(record.attributes, {"gen_ai.response.id": trace_id})
        add_attributes(record.attributes, _build_attributes(score, text=text))
    return request.pack_request()


def _is_hexadecimal(value: str, digits: int) -> bool:
    return len(value) == digits and set(value) <= set("0123456789abcdef")


def _build_attributes(score: Score, *, text: bool) -> dict[str, str | int | float]:
    """What an event says of a score, by the names of the GenAI conventions; ours stand beside them."""
    attribute_values: dict[str, str | int | float] = {"gen_ai.evaluation.name": score.metric}
    if score.status == "scored" and score.value is not None:
        attribute_values["gen_ai.evaluation.score.value"] = float(score.value)
    elif score.status == "failed":
        attribute_values["error.type"] = "judgement_failed"
    else:
        attribute_values["gen_ai.evaluation.score.label"] = score.status
    if text and score.reason:
        attribute_values["gen_ai.evaluation.explanation"] = score.reason
    attribute_values |= {f"{OWN_PREFIX}status": score.status, f"{OWN_PREFIX}metric.version": score.metric_version}
    if score.judge_id is not None:
        attribute_values[f"{OWN_PREFIX}judge"] = score.judge_id
    attribute_values[f"{OWN_PREFIX}result.id"] = hash_json(
        [score.run_id, score.query_id, score.metric, score.judge_id]
    )[:32]
    return attribute_values
