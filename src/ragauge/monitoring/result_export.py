"""Gives results of judged traces back to a team's collector: OpenTelemetry's events, linked to trace and span.

A batch is made once, in the transaction that takes its traces off the list, and sent as it is until it arrives: a kill
loses nothing, and a resend is the same under one id. No text of a user is in it unless the receiver says `text: true`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.errors import UnknownName
from ragauge.core.identity import hash_json
from ragauge.monitoring.alerts.notifications import CLAIM_S, FIRST_RETRY_S, MAX_ATTEMPTS, MAX_RETRY_S, build_target_id
from ragauge.monitoring.intake.otlp import OWN_PREFIX
from ragauge.monitoring.otlp_log_client import LogRecords, add_attributes, send_records
from ragauge.readers.traces.verdicts import RESULT_EVENT
from ragauge.store.returns import ReturnBatch

if TYPE_CHECKING:
    from ragauge.core.score import Score
    from ragauge.store.ledger import LedgerLine
    from ragauge.store.store_access import Store

BATCH_SIZE_TRACES, MAX_BATCHES = 100, 20  # traces of a batch; batches of one look
DROP_SIZE_TRACES = 5_000  # traces that are taken off the list at once where nobody is given their results


class ResultExporter:
    """What is given back, and to whom.

    Args:
        monitor: the section of the configuration.
        clock: seconds since 1970.
    """

    def __init__(self, monitor: MonitorSection, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._receivers = {
            build_target_id(receiver): receiver for receiver in monitor.notify if receiver.otlp is not None
        }

    @classmethod
    def of(cls, config: Path | None) -> Self:
        """What a file asks for, ragauge.yaml where there is one; without it, nobody is given anything.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT_FILE).is_file():
            return cls(MonitorSection())
        return cls(read_config(config or DEFAULT_FILE).checked().monitor or MonitorSection())

    def run_once(self, store: Store, over: threading.Event) -> int:
        """Makes batches of what was judged, and sends what is due; returns how many arrived."""
        limit = BATCH_SIZE_TRACES if self._receivers else DROP_SIZE_TRACES
        while not over.is_set() and self._build_batches(store, limit) == limit:
            pass
        arrived = 0
        for batch in store.returns.list_due(self._clock(), MAX_BATCHES):
            if over.is_set():
                break
            arrived += self._send_batch(store, batch)
        return arrived

    def _build_batches(self, store: Store, limit: int) -> int:
        """Makes a batch for each receiver of at most so many traces, those that wait longest; returns of how many."""
        waiting = store.returns.list_waiting(limit)
        if not waiting:
            return 0
        now = self._clock()
        batches = []
        if self._receivers:
            lines = store.ledger.load_lines(list(waiting))
            results = [
                result for trace_id in waiting if trace_id in lines for result in _list_results(store, lines[trace_id])
            ]
            for target, receiver in self._receivers.items() if results else ():
                body = _build_request(results, now, text=receiver.text)
                batch_id = hash_json([target, sorted(waiting.items())])[:32]
                batches.append(ReturnBatch(batch_id, target, body, now))
        store.returns.take_traces(waiting, batches)
        return len(waiting)

    def _send_batch(self, store: Store, batch: ReturnBatch) -> bool:
        receiver, now = self._receivers.get(batch.target), self._clock()
        if not store.returns.take_delivery(batch, now + CLAIM_S):
            return False
        if receiver is None:
            store.returns.finish_batch(batch, "its receiver is no longer in the configuration")
            return False
        error, final = send_records(receiver, batch.body, batch.batch_id)
        if error and not final and batch.attempts + 1 < MAX_ATTEMPTS:
            store.returns.again(batch, error, now + min(MAX_RETRY_S, FIRST_RETRY_S * 2.0**batch.attempts))
            return False
        store.returns.finish_batch(batch, error)
        return not error or final


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
