"""A comparison as JSON: the stable, machine-readable form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.comparison import AmountChange, Compared, Flip, RunComparison, Side
from ragauge.analysis.results.overview import MeanEstimate
from ragauge.data.identity import plain
from ragauge.data.response import Run
from ragauge.reporting.as_json import finding_json
from ragauge.reporting.comparing.words import sentence
from ragauge.stats.weighted import Interval


def as_json(compared: Compared) -> dict[str, Any]:
    """The whole comparison; the schema is `data/schema/comparison.schema.json`."""
    return {
        "base": run_json(compared.base),
        "judge": compared.judge_id,
        "level": compared.level,
        "correction": compared.correction,
        "tests": {"metrics": compared.tests, "segments": compared.segment_tests},
        "comparisons": [comparison_json(found) for found in compared.runs],
    }


def comparison_json(found: RunComparison) -> dict[str, Any]:
    """One run against the baseline."""
    segments: dict[str, dict[str, dict[str, Any]]] = {}
    for part in found.segments:
        segments.setdefault(part.column, {}).setdefault(part.value, {})[part.change.metric] = change_json(part.change)
    matched = found.matched
    return {
        "run": run_json(found.run),
        "verdict": found.verdict,
        "summary": sentence(found),
        "examples": {
            "paired": matched.paired,
            "matched": matched.n,
            "clusters": matched.clusters,
            "only_new": {"n": matched.only_new, "query_ids": list(matched.ids_new)},
            "only_base": {"n": matched.only_base, "query_ids": list(matched.ids_base)},
        },
        "metrics": {change.metric: change_json(change) for change in found.metrics},
        "worse_segments": [
            {"column": part.column, "value": part.value, "metric": part.change.metric,
             "difference": part.change.difference.mean, "overall": part.whole}
            for part in found.worse_segments
        ],
        "segments": segments,
        "amounts": {amount.metric: amount_json(amount) for amount in found.amounts},
        "flips": {
            "lost": found.flips.lost, "gained": found.flips.gained, "newly_failed": found.flips.newly_failed,
            "mended": found.flips.mended, "shown": [flip_json(flip) for flip in found.flips.shown],
        },
        "failures": {
            "base": dict(found.failures.base), "new": dict(found.failures.new),
            "failed_base": found.failures.failed_base, "failed_new": found.failures.failed_new,
        },
        "settings": {
            "added": {one.path: plain(one.new) for one in found.settings.added},
            "removed": {one.path: plain(one.base) for one in found.settings.removed},
            "changed": {one.path: [plain(one.base), plain(one.new)] for one in found.settings.changed},
        },
        "diagnosis": [finding_json(finding) for finding in found.findings],
        "warnings": list(found.warnings),
    }     # fmt: skip


def run_json(run: Run) -> dict[str, Any]:
    """What tells one run from another."""
    return {
        "run_id": run.run_id, "name": run.name, "kind": run.kind, "set": run.set_name, "set_version": run.set_version,
        "system": run.system, "variant": run.variant, "git": run.git, "created_at": run.created_at,
    }     # fmt: skip


def change_json(change: MetricChange) -> dict[str, Any]:
    """One metric over all examples or those of one segment."""
    found, effect = change.difference.interval, change.effect
    return {
        "base": change.base,
        "new": change.new,
        "difference": change.difference.mean,
        "ci": _ends(found),
        "ci_method": None if found is None else found.method,
        "judged_ci": _ends(change.difference.judged),
        "n": change.difference.n,
        "p": change.p_value,
        "p_holm": change.holm,
        "p_bh": change.discovery,
        "test": change.test or None,
        "effect": effect and {"name": effect.name, "value": effect.value, "ci": _ends(effect.interval)},
        "wins": change.wins,
        "ties": change.ties,
        "losses": change.losses,
        "failed": change.failed,
        "verdict": change.verdict,
        "alone": change.alone,
    }


def _ends(found: Interval | None) -> list[float] | None:
    return None if found is None else [found.low, found.high]


def amount_json(amount: AmountChange) -> dict[str, Any]:
    """Quantiles before and now."""

    def side(found: Mapping[float, MeanEstimate]) -> dict[str, Any]:
        return {
            f"p{round(100 * q)}": {
                "value": one.mean, "ci": _ends(one.interval),
            }
            for q, one in found.items()
        }     # fmt: skip

    return {"n": amount.n, "base": side(amount.base), "new": side(amount.new)}


def flip_json(flip: Flip) -> dict[str, Any]:
    """An example that changed sides."""

    def side(one: Side) -> dict[str, Any]:
        return {"failed": one.failed, "cause": one.cause, "decided_by": one.decided_by, "answer": one.answer}

    return {
        "query_id": flip.query_id, "query": flip.query, "change": flip.change,
        "scores": {one.metric: [one.base, one.new] for one in flip.scores},
        "base": side(flip.base), "new": side(flip.new),
    }     # fmt: skip
