"""leniency: as much must be supported as people say."""

from __future__ import annotations

from ragauge.labels.probe.change import Probe
from ragauge.labels.probe.compute import ProbeRule

PROBE = Probe(
    ProbeRule(
        "leniency",
        "leniency",
        "nothing: compared with human labels",
        "supported as often as people say",
        "people",
        "This judge's means differ from human labels by this value. Save the check (ragauge judge check) so "
        "that intervals include it, or correct the means with labels (ragauge label draw).",
    ),
    ("answers", "labels"),
)
