"""self_preference: judge less people must be alike, whoever wrote the answer."""

from __future__ import annotations

from ragauge.labels.probe.change import Probe
from ragauge.labels.probe.compute import ProbeRule

PROBE = Probe(
    ProbeRule(
        "self_preference",
        "self_preference",
        "nothing: compared with human labels, family by family",
        "the same in every family",
        "families",
        "The judge is more lenient than people toward one family of systems. Do not compare that family with "
        "others using this judge; use one from another vendor, or correct each family with its own labels.",
    ),
    ("answers", "labels", "family"),
)
