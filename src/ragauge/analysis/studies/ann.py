"""Studies of vector indexes: what decides and what a trial costs."""

from __future__ import annotations

from ragauge.analysis.studies.figures import StudyKind

ANN = StudyKind(
    "ann", ("ann_recall@*",), ("latency_p50_ms", "index_bytes", "build_seconds"),
    ("latency_p95_ms", "latency_p99_ms", "queries_per_second"),
)     # fmt: skip
