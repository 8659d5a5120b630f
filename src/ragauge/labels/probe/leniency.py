"""leniency: as much must be supported as people say."""

from __future__ import annotations

from ragauge.labels.probe.change import Probe
from ragauge.labels.probe.compute import ProbeRule

PROBE = Probe(
    ProbeRule(
        "leniency",
        "leniency",
        "nothing: judge less people",
        "as much supported as people say",
        "people",
        "Means of this judge lie off people's, by the value. Keep the check (ragauge judge check), so that intervals "
        "include it, or rectify means by labels (ragauge label draw).",
    ),
    ("answers", "labels"),
)
