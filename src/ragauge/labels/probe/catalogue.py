"""All probes by name, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.labels.probe import (
    injection,
    leniency,
    passage_order,
    position,
    retest,
    self_preference,
    text_edits,
    unrelated,
    verbosity,
    wording,
)
from ragauge.labels.probe.change import Probe

PROBES: Mapping[str, Probe] = {
    module.PROBE.name: module.PROBE
    for module in (
        retest,
        passage_order,
        position,
        wording,
        verbosity,
        text_edits,
        unrelated,
        injection,
        self_preference,
        leniency,
    )
}
