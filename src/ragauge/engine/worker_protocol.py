"""What a batch found, as one line of JSON between a worker process and its owner."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from ragauge.core.codec import from_plain
from ragauge.core.identity import plain
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.judge_batch import BatchResult, JudgedResponse
from ragauge.metrics.base import Measured
from ragauge.scores.results.scorecard import Cause
from ragauge.store.evidence import PackedEvidence


def write(result: BatchResult) -> str:
    """The result as JSON on one line."""
    counts = [result.asked, result.reused, result.failed]
    return json.dumps([counts, [_judged(one) for one in result.judged]], separators=(",", ":"))


def read(line: str) -> BatchResult:
    """The result that `write` wrote."""
    (asked, reused, failed), judged = json.loads(line)
    return BatchResult(tuple(_read(one) for one in judged), asked, reused, failed)


def _judged(one: JudgedResponse) -> list[Any]:
    evidence = [
        [e.key, e.question, e.question_version, e.judge_id, e.judge_repeat, e.failed, _text(e.body), _text(e.replies)]
        for e in one.evidence
    ]
    measured = [[m.status, m.value, m.numerator, m.denominator, m.low, m.high, m.reason] for m in one.measured]
    causes = [None if cause is None else plain(cause) for cause in (one.cause, one.unjudged)]
    verdicts = [plain(verdict) for verdict in (one.verdict, one.unjudged_verdict)]
    return [one.response_no, one.mark, evidence, measured, *causes, *verdicts]


def _read(one: list[Any]) -> JudgedResponse:
    number, mark, evidence, measured, *causes, verdict, unjudged_verdict = one
    cause, unjudged = (None if one is None else from_plain(Cause, one) for one in causes)
    return JudgedResponse(
        number,
        tuple(_evidence(parts) for parts in evidence),
        tuple(Measured(*parts) for parts in measured),
        cause,
        unjudged,
        mark,
        from_plain(ExampleVerdict, verdict),
        from_plain(ExampleVerdict, unjudged_verdict),
    )


def _text(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode("ascii")


def _evidence(fields: list[Any]) -> PackedEvidence:
    key, question, version, judge_id, repeat, failed, body, replies = fields
    known = None if replies is None else b64decode(replies)
    return PackedEvidence(key, question, version, judge_id, repeat, failed, b64decode(body), known)
