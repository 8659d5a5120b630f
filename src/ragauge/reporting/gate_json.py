"""A gate's verdict as JSON types; `data/schema/gate.schema.json` describes them."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ragauge.gating.result import Check, CheckExample, Gated
from ragauge.reporting.gate_unpaired import note
from ragauge.reporting.gate_words import reason, summary
from ragauge.stats.weighted import Interval


def as_json(gated: Gated) -> dict[str, Any]:
    """The verdict, the runs and every check."""
    return {
        "verdict": gated.verdict,
        "exit_code": gated.exit_code,
        "summary": summary(gated),
        "run": {"run_id": gated.run.run_id, "name": gated.run.name},
        "baseline": None if gated.base is None else {"run_id": gated.base.run_id, "name": gated.base.name},
        "judge": gated.judge_id,
        "rules": gated.source,
        "matched": gated.matched,
        "unpaired": None if gated.sizes is None else {
            "n": gated.sizes[0], "n_baseline": gated.sizes[1], "said": note(gated),
        },
        "too_few": [{"column": column, "value": value, "n": n} for column, value, n in gated.few],
        "clusters": gated.clusters,
        "checks": [_check(check) for check in gated.checks],
        "families": [
            {"on_fail": one.on_fail, "whole": one.whole, "segments": one.segments, "alpha": one.alpha}
            for one in gated.families
        ],
        "warnings": list(gated.warnings),
    }


def _check(check: Check) -> dict[str, Any]:
    segment = None if check.segment is None else {"column": check.segment[0], "value": check.segment[1]}
    return {
        "rule": check.rule, "line": check.line, "kind": check.kind, "metric": check.metric, "asks": check.asks,
        "segment": segment, "tag": check.tag, "verdict": check.verdict, "because": check.because,
        "reason": reason(check), "on_fail": check.on_fail, "stops": check.stops, "decide": check.decide,
        "statistic": check.statistic, "limit": _number(check.limit), "estimate": _number(check.estimate),
        "new": _number(check.new), "baseline": _number(check.base), "interval": _interval(check.interval),
        "sampled": _interval(check.sampled),
        "fail_interval": _interval(check.fail_interval), "alpha": check.alpha,
        "reach": None if check.reach is None else [_number(end) for end in check.reach],
        "n": check.n, "n_baseline": check.n_base, "paired": None if check.kind != "max_drop" else not check.unpaired,
        "failed": check.failed, "min_n": check.min_n,
        "examples": [_example(one) for one in check.examples], "unknown": [_example(one) for one in check.unknown],
    }     # fmt: skip


def _example(one: CheckExample) -> dict[str, Any]:
    return {"query_id": one.query_id, "new": one.new, "baseline": one.base, "why": one.why}


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"low": _number(found.low), "high": _number(found.high), "level": found.level, "method": found.method}


def _number(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else value
