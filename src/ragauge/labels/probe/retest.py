"""retest: the same text again. What a judge changes by itself is no bias, and the floor of all other probes."""

from __future__ import annotations

from ragauge.labels.probe.change import Probe
from ragauge.labels.probe.compute import WAVERING_TOLERANCE, ProbeRule

PROBE = Probe(
    ProbeRule(
        "retest",
        "retest_flip",
        "nothing: the same question again",
        "the same verdict",
        "again",
        "The judge contradicts itself on the same text. Set its temperature to 0, ask it several times "
        "(--judge-repeats 3), or use a more consistent model: small differences between runs are noise.",
        WAVERING_TOLERANCE,
    ),
    ("answers",),
)
