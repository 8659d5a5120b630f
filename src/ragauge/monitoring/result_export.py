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

from ragauge.core.config.config_loader import DEFAULT, read_config
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.errors import UnknownName
from ragauge.core.identity import digest
from ragauge.monitoring.alerts.notifications import ALONE, ATTEMPTS, FIRST, LONGEST, target_of
from ragauge.monitoring.intake.otlp import OURS
from ragauge.monitoring.otlp_log_client import LogRecords, say, send_records
from ragauge.readers.traces.verdicts import RESULT_EVENT
from ragauge.store.returns import ReturnBatch

if TYPE_CHECKING:
    from ragauge.core.score import Score
    from ragauge.store.ledger import LedgerLine
    from ragauge.store.store_access import Store

AT_A_TIME, SENDING = 100, 20  # traces of a batch; batches of one look
UNWANTED = 5_000  # traces that are taken off the list at once where nobody is given their results


class GivingBack:
    """What is given back, and to whom.

    Args:
        monitor: the section of the configuration.
        clock: seconds since 1970.
    """

    def __init__(self, monitor: MonitorSection, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._receivers = {target_of(one): one for one in monitor.notify if one.otlp is not None}

    @classmethod
    def of(cls, config: Path | None) -> Self:
        """What a file asks for, ragauge.yaml where there is one; without it, nobody is given anything.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT).is_file():
            return cls(MonitorSection())
        return cls(read_config(config or DEFAULT).checked().monitor or MonitorSection())

    def look(self, store: Store, over: threading.Event) -> int:
        """Makes batches of what was judged, and sends what is due; returns how many arrived."""
        limit = AT_A_TIME if self._receivers else UNWANTED
        while not over.is_set() and self._made(store, limit) == limit:
            pass
        arrived = 0
        for batch in store.returns.due(self._clock(), SENDING):
            if over.is_set():
                break
            arrived += self._sent(store, batch)
        return arrived

    def _made(self, store: Store, limit: int) -> int:
        """Makes a batch for each receiver of at most so many traces, those that wait longest; returns of how many."""
        waiting = store.returns.waiting(limit)
        if not waiting:
            return 0
        now = self._clock()
        batches = []
        if self._receivers:
            lines = store.ledger.lines(list(waiting))
            results = [one for trace_id in waiting if trace_id in lines for one in _results(store, lines[trace_id])]
            for target, receiver in self._receivers.items() if results else ():
                body = _request(results, now, text=receiver.text)
                named = digest([target, sorted(waiting.items())])[:32]
                batches.append(ReturnBatch(named, target, body, now))
        store.returns.take(waiting, batches)
        return len(waiting)

    def _sent(self, store: Store, batch: ReturnBatch) -> bool:
        receiver, now = self._receivers.get(batch.target), self._clock()
        if not store.returns.claimed(batch, now + ALONE):
            return False
        if receiver is None:
            store.returns.over(batch, "the configuration no longer names its receiver")
            return False
        error, final = send_records(receiver, batch.body, batch.batch_id)
        if error and not final and batch.attempts + 1 < ATTEMPTS:
            store.returns.again(batch, error, now + min(LONGEST, FIRST * 2.0**batch.attempts))
            return False
        store.returns.over(batch, error)
        return not error or final


def _results(store: Store, line: LedgerLine) -> Iterator[tuple[str, str, Score]]:
    """Trace, span and score of each result of a trace; nothing where its run is gone."""
    try:
        names = store.collecting.under(line.run_id, line.trace_id)
        judge_id = next(iter(store.scores.judges(line.run_id)), None)
        for name in names:
            _, response = store.runs.response(line.run_id, name)
            for score in store.scores.of_response(line.run_id, name, 0, judge_id).values():
                yield line.trace_id, response.origin.get("span", ""), score
    except UnknownName:
        return


def _request(results: Sequence[tuple[str, str, Score]], now: float, *, text: bool) -> bytes:
    request = LogRecords()
    for trace_id, span_id, score in results:
        record = request.records.add()
        record.time_unix_nano = record.observed_time_unix_nano = int(now * 1e9)
        record.event_name = RESULT_EVENT
        if _hexadecimal(trace_id, 32):
            record.trace_id = bytes.fromhex(trace_id)
            record.span_id = bytes.fromhex(span_id) if _hexadecimal(span_id, 16) else b""
        else:  # a captured response, which has no trace
            say(record.attributes, {"gen_ai.response.id": trace_id})
        say(record.attributes, _attributes(score, text=text))
    return request.packed()


def _hexadecimal(value: str, digits: int) -> bool:
    return len(value) == digits and set(value) <= set("0123456789abcdef")


def _attributes(score: Score, *, text: bool) -> dict[str, str | int | float]:
    """What an event says of a score, by the names of the GenAI conventions; ours stand beside them."""
    said: dict[str, str | int | float] = {"gen_ai.evaluation.name": score.metric}
    if score.status == "scored" and score.value is not None:
        said["gen_ai.evaluation.score.value"] = float(score.value)
    elif score.status == "failed":
        said["error.type"] = "judgement_failed"
    else:
        said["gen_ai.evaluation.score.label"] = score.status
    if text and score.reason:
        said["gen_ai.evaluation.explanation"] = score.reason
    said |= {f"{OURS}status": score.status, f"{OURS}metric.version": score.metric_version}
    if score.judge_id is not None:
        said[f"{OURS}judge"] = score.judge_id
    said[f"{OURS}result.id"] = digest([score.run_id, score.query_id, score.metric, score.judge_id])[:32]
    return said
