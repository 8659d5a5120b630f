"""What a batch found, as one line of JSON between a worker process and its owner."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from ragauge.core.codec import from_json_value
from ragauge.core.identity import to_json_value
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.judge_batch import BatchResult, JudgedResponse
from ragauge.metrics.base import MetricResult
from ragauge.scores.results.scorecard import Cause
from ragauge.store.evidence import PackedEvidence


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
