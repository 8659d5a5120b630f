"""A worker process that judges responses, and the lines between it and its owner."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import IO, Any

from ragauge.core.codec import from_json_value
from ragauge.core.errors import JudgeError, RagaugeError, UsageError
from ragauge.core.facts import Criterion
from ragauge.core.identity import to_json_value
from ragauge.core.object_lookup import find_object
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.judge_batch import BatchResult, JudgedResponse, Work, judge_batch
from ragauge.engine.judges import build_judge
from ragauge.engine.label_facts import read_label_facts
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric, register_object
from ragauge.scores.results.scorecard import Cause
from ragauge.store.evidence import PackedEvidence
from ragauge.store.store_access import Store, open_store


def encode_result(result: BatchResult) -> str:
    """The result as JSON on one line."""
    counts = [result.n_asked, result.reused, result.failed]
    return json.dumps([counts, [_encode_response(response) for response in result.judged]], separators=(",", ":"))


def decode_result(line: str) -> BatchResult:
    """The result that `encode_result` wrote."""
    (n_asked, reused, failed), encoded = json.loads(line)
    return BatchResult(tuple(_decode_response(entry) for entry in encoded), n_asked, reused, failed)


def _encode_response(response: JudgedResponse) -> list[Any]:
    evidence = [
        [
            e.key,
            e.question,
            e.question_version,
            e.judge_id,
            e.judge_repeat,
            e.failed,
            _encode_bytes(e.body),
            _encode_bytes(e.replies),
        ]
        for e in response.evidence
    ]
    measured = [[m.status, m.value, m.numerator, m.denominator, m.low, m.high, m.reason] for m in response.measured]
    causes = [None if cause is None else to_json_value(cause) for cause in (response.cause, response.unjudged)]
    verdicts = [to_json_value(verdict) for verdict in (response.verdict, response.unjudged_verdict)]
    return [response.response_no, response.mark, evidence, measured, *causes, *verdicts]


def _decode_response(entry: list[Any]) -> JudgedResponse:
    number, mark, evidence, measured, *causes, verdict, unjudged_verdict = entry
    cause, unjudged = (None if entry is None else from_json_value(Cause, entry) for entry in causes)
    return JudgedResponse(
        number,
        tuple(_decode_evidence(fields) for fields in evidence),
        tuple(MetricResult(*fields) for fields in measured),
        cause,
        unjudged,
        mark,
        from_json_value(ExampleVerdict, verdict),
        from_json_value(ExampleVerdict, unjudged_verdict),
    )


def _encode_bytes(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode("ascii")


def _decode_evidence(fields: list[Any]) -> PackedEvidence:
    key, question, version, judge_id, repeat, failed, body, replies = fields
    reply_keys = None if replies is None else b64decode(replies)
    return PackedEvidence(key, question, version, judge_id, repeat, failed, b64decode(body), reply_keys)


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is built from: names only."""

    store: str  #: URL of the store.
    metrics: tuple[str, ...]  #: printed names.
    questions: tuple[str, ...]  #: what is asked, in order.
    judge: str | None  #: spec of the judge; None where nothing is asked.
    judge_id: str | None  #: its id, which the judge built from the spec must have.
    judge_repeat: int  #: which asking of the judge.
    run_id: str  #: whose responses, whose listing of the index, and whose controls.
    #: of metrics of the user's own: module:name of the code, printed name, version.
    own: tuple[tuple[str, str, int], ...] = ()
    criteria: Sequence[Any] = ()  #: of the run, as JSON types once they were sent.

    def to_json(self) -> str:
        """The task as one line."""
        return json.dumps(asdict(self))

    def build_work(self, store: Store) -> Work:
        """Builds the judge and the metrics; what is in the index, and controls, are read from the store."""
        try:
            judge = None if self.judge is None else build_judge(self.judge)
        except UsageError as error:  # it could be built where the evaluation was started
            raise JudgeError(f"the judge {self.judge} cannot be built in a worker process: {error}") from error
        if judge is not None and judge.judge_id != self.judge_id:
            raise JudgeError(f"the judge {self.judge} is {judge.judge_id} in a worker process, not {self.judge_id}.")
        for code, name, version in self.own:
            register_object(find_object(code))
            if parse_metric(name).version != version:
                raise JudgeError(f"{code} changed during the evaluation. Start again.")
        metrics = tuple(parse_metric(name) for name in self.metrics)
        listing = store.listings.read(self.run_id)
        controls = None if judge is None else store.controls.read(self.run_id, judge.judge_id, self.judge_repeat)
        labels = partial(read_label_facts, store)
        criteria = tuple(from_json_value(Criterion, criterion) for criterion in self.criteria)
        return Work(
            metrics,
            tuple(self.questions),
            judge,
            EmbedAnswers(),
            self.judge_repeat,
            listing,
            controls,
            labels,
            criteria=criteria,
        )


def judge_numbers(numbers: Sequence[int], work: Work, store: Store) -> BatchResult:
    """Loads responses from the store and judges them."""
    return judge_batch(store.runs.load(numbers), work, store.evidence)


def serve_requests(requests: IO[str], answers: IO[str]) -> None:
    """Answers requests until there are no more: first the task, then a list of numbers per line.

    Each answer is {"seconds", "result"} or {"error", "kind"}.
    """
    line = requests.readline()
    if not line:
        return  # the owner ended before it had a task
    try:
        task = Task(**json.loads(line))
        store = open_store(task.store)
        work = task.build_work(store)
    except RagaugeError as error:
        _send_message(answers, {"error": str(error), "kind": type(error).__name__})
        return
    _send_message(answers, {"ready": os.getpid()})
    with store:
        for line in requests:
            started = time.perf_counter()
            try:
                result = encode_result(judge_numbers(json.loads(line), work, store))
            except RagaugeError as error:
                _send_message(answers, {"error": str(error), "kind": type(error).__name__})
                continue
            answers.write(f'{{"seconds":{time.perf_counter() - started:.6f},"result":{result}}}\n')
            answers.flush()


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole group; the owner ends its workers. Called before any thread starts, for all of them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # ignoring is not enough: Polars takes the signal while it computes
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def main() -> None:
    """Serves on the process's own input and output; whatever the judge prints goes to standard error."""
    _ignore_interrupts()
    gc.set_threshold(50_000, *gc.get_threshold()[1:])  # as the command line does
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        serve_requests(sys.stdin, answers)
    except BrokenPipeError:
        os._exit(0)  # the owner is gone: nobody is left to tell


def _send_message(answers: IO[str], message: dict[str, object]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()
