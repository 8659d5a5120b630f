"""self_preference: judge less people must be alike, whoever wrote the answer."""

from __future__ import annotations

from ragauge.labels.probe.change import Probe
from ragauge.labels.probe.compute import ProbeRule

PROBE = Probe(
    ProbeRule(
        "self_preference",
        "self_preference",
        "nothing: judge less people, family by family",
        "alike in every family",
        "families",
        "The judge is milder towards one family of systems than people are. Do not compare that family with others by "
        "this judge; take one of another maker, or rectify by labels of each family.",
    ),
    ("answers", "labels", "family"),
)
