"""unrelated: the passages of another question. They must not support the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule


def swap_passages(examined: ExaminedRow, pool: ProbePool) -> Sequence[Change]:
    """What was supported, beside the passages of the next example that shares none."""
    others = pool.others(examined.place)
    if not examined.supported or not others:
        return ()
    spans = {index: examined.spans[index] for index in examined.supported}
    return (Change("foreign", replace(examined.inputs, passages=others[0].passages), spans),)


PROBE = Probe(
    ProbeRule(
        "unrelated",
        "unrelated_supported",
        "another question's passages",
        "not supported",
        "support",
        "The judge marks as supported what the passages do not contain: it relies on its own knowledge, or on shared "
        "words. Say in its instruction that only the passages count (prompts=FILE), or use another model.",
    ),
    ("answers", "others"),
    swap_passages,
)
