"""Gives results of judged traces back to a team's collector: OpenTelemetry's events, linked to trace and span.

A batch is made once, in the transaction that takes its traces off the list, and sent as it is until it arrives: a kill
loses nothing, and a resend is the same under one id. No text of a user is in it unless the receiver says `text: true`.
"""

from __future__ import annotations

import gzip
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ragauge.data.config.monitor import MonitorSection
from ragauge.data.config.reading import DEFAULT, read_config
from ragauge.data.identity import digest
from ragauge.errors import UnknownName, UsageError
from ragauge.monitoring.notifying import ALONE, ATTEMPTS, FIRST, LONGEST
from ragauge.monitoring.otlp import OURS
from ragauge.monitoring.posting import post, secret
from ragauge.store.returns import ReturnBatch

if TYPE_CHECKING:
    from ragauge.data.config.monitor import NotifySection
    from ragauge.data.score import Score
    from ragauge.store.ledger import LedgerLine
    from ragauge.store.open import Store

EVENT = "gen_ai.evaluation.result"
AT_A_TIME, SENDING = 100, 20     # traces of a batch; batches of one look
PATH = "/v1/logs"


class GivingBack:
    """What is given back, and to whom.

    Args:
        monitor: the section of the configuration.
        clock: seconds since 1970.
    """

    def __init__(self, monitor: MonitorSection, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._receivers = {receiver_id(one): one for one in monitor.notify if one.otlp is not None}

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
        while not over.is_set() and self._made(store) == AT_A_TIME:
            pass
        arrived = 0
        for batch in store.returns.due(self._clock(), SENDING):
            if over.is_set():
                break
            arrived += self._sent(store, batch)
        return arrived

    def _made(self, store: Store) -> int:
        """Makes a batch for each receiver of the traces that wait longest; returns of how many."""
        waiting = store.returns.waiting(AT_A_TIME)
        if not waiting:
            return 0
        now = self._clock()
        batches = []
        if self._receivers:
            lines = store.ledger.lines(list(waiting))
            results = [one for trace_id in waiting if trace_id in lines for one in _results(store, lines[trace_id])]
            for target, receiver in self._receivers.items() if results else ():
                body = gzip.compress(_request(results, now, text=receiver.text), mtime=0)
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
        error, final = _attempt(receiver, batch)
        if error and not final and batch.attempts + 1 < ATTEMPTS:
            store.returns.again(batch, error, now + min(LONGEST, FIRST * 2.0**batch.attempts))
            return False
        store.returns.over(batch, error)
        return not error or final


def receiver_id(receiver: NotifySection) -> str:
    """What a receiver is known by: its address may hold a secret, and is not kept."""
    return digest(["otlp", receiver.otlp, receiver.text])[:16]


def _attempt(receiver: NotifySection, batch: ReturnBatch) -> tuple[str, bool]:
    """Sends a batch: why not all of it was taken, without the address, and whether that is the last word."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    try:
        url = secret(str(receiver.otlp)).rstrip("/")
        headers = {name: secret(value) for name, value in receiver.headers.items()}
        answer = post(url if url.endswith(PATH) else url + PATH, batch.body, {
            **headers, "Content-Type": "application/x-protobuf", "Content-Encoding": "gzip",
            "Idempotency-Key": batch.batch_id,
        })  # fmt: skip
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}", False
    except (OSError, UsageError) as error:
        return f"{type(error).__name__}: {getattr(error, 'reason', None) or error}"[:200], False
    try:
        partial = ExportLogsServiceResponse.FromString(answer).partial_success
    except ValueError:     # an answer of another form: it was taken
        return "", True
    return (f"{partial.rejected_log_records} not taken" if partial.rejected_log_records else ""), True


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
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    _say(resource.resource.attributes, {"service.name": "ragauge"})
    scope = resource.scope_logs.add()
    scope.scope.name = "ragauge"
    for trace_id, span_id, score in results:
        record = scope.log_records.add()
        record.time_unix_nano = record.observed_time_unix_nano = int(now * 1e9)
        record.event_name = EVENT
        if _hexadecimal(trace_id, 32):
            record.trace_id = bytes.fromhex(trace_id)
            record.span_id = bytes.fromhex(span_id) if _hexadecimal(span_id, 16) else b""
        else:     # a captured response, which has no trace
            _say(record.attributes, {"gen_ai.response.id": trace_id})
        _say(record.attributes, _attributes(score, text=text))
    return bytes(request.SerializeToString())


def _hexadecimal(value: str, digits: int) -> bool:
    return len(value) == digits and set(value) <= set("0123456789abcdef")


def _attributes(score: Score, *, text: bool) -> dict[str, str | float]:
    """What an event says of a score, by the names of the GenAI conventions; ours stand beside them."""
    said: dict[str, str | float] = {"gen_ai.evaluation.name": score.metric}
    if score.status == "scored" and score.value is not None:
        said["gen_ai.evaluation.score.value"] = float(score.value)
    elif score.status == "failed":
        said["error.type"] = "judgement_failed"
    else:
        said["gen_ai.evaluation.score.label"] = score.status
    if text and score.reason:
        said["gen_ai.evaluation.explanation"] = score.reason
    said |= {f"{OURS}status": score.status, f"{OURS}metric.version": float(score.metric_version)}
    if score.judge_id is not None:
        said[f"{OURS}judge"] = score.judge_id
    said[f"{OURS}result.id"] = digest([score.run_id, score.query_id, score.metric, score.judge_id])[:32]
    return said


def _say(attributes: Any, said: dict[str, str | float]) -> None:
    for name, value in said.items():
        one = attributes.add()
        one.key = name
        if isinstance(value, str):
            one.value.string_value = value
        elif name.endswith(".version"):
            one.value.int_value = int(value)
        else:
            one.value.double_value = value
