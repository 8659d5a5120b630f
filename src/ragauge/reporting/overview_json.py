"""What a scorecard says beyond means, as JSON types."""

from __future__ import annotations

from typing import Any

from ragauge.analysis.results.overview import Alignment, LengthBand, MeanEstimate, Overview
from ragauge.stats.weighted import Interval


def overview_json(overview: Overview) -> dict[str, Any]:
    """The keys that a scorecard's JSON has of its overview; the list of responses is `-o scores.jsonl`."""
    return {
        "causes_by_segment": {
            column: {value: dict(counts) for value, counts in cells.items()}
            for column, cells in overview.causes_by_segment.items()
        },
        "alignment": None if overview.alignment is None else alignment_json(overview.alignment),
        "stages": [{"name": stage.name, **estimate_json(stage.recall)} for stage in overview.stages],
        "context_length": [length_json(band) for band in overview.lengths],
        "latency": {
            timing.stage: {"n": timing.n, "p50": timing.p50, "p95": timing.p95, "p99": timing.p99}
            for timing in overview.timings
        },
    }


def alignment_json(alignment: Alignment) -> dict[str, Any]:
    """How ranking and generator agree."""
    return {
        "answers": alignment.answers,
        "ignored_top_ranked": {
            "count": alignment.ignored_top, **estimate_json(alignment.ignored_share), "flagged": alignment.flagged,
        },
        "unused": alignment.unused,
        "correlation": alignment.correlation,
        "correlation_ci": ends(alignment.correlation_interval),
        "ranks": [
            {
                "rank": rank.rank, "n": rank.n, "used": rank.used, "highest_used": rank.best,
                "relevant": rank.relevant, "relevant_used": rank.relevant_used,
            }
            for rank in alignment.ranks
        ],
        "positions": {name: estimate_json(found) for name, found in alignment.positions.items()},
    }     # fmt: skip


def length_json(band: LengthBand) -> dict[str, Any]:
    """Quality of the responses of one quarter of context lengths."""
    metrics = {name: estimate_json(found) for name, found in band.means.items()}
    return {"low": band.low, "high": band.high, "unit": band.unit, "n": band.n, "metrics": metrics}


def estimate_json(found: MeanEstimate) -> dict[str, Any]:
    """A mean with its interval."""
    return {"mean": found.mean, "ci": ends(found.interval), "n": found.n}


def ends(interval: Interval | None) -> list[float] | None:
    """The ends of an interval, or None."""
    return None if interval is None else [interval.low, interval.high]
