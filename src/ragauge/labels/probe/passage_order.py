"""passage_order: the passages in reverse. Where a fact stands in the context must not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule


def reverse_passages(examined: ExaminedRow, _: ProbePool) -> Sequence[Change]:
    """Last passage first, where that changes anything."""
    reversed_texts = examined.row.passages[::-1]
    if reversed_texts == examined.row.passages:
        return ()
    return (Change("reversed", replace(examined.inputs, passages=reversed_texts), examined.spans),)


PROBE = Probe(
    ProbeRule(
        "passage_order",
        "passage_order_flip",
        "passages in reverse order",
        "the same verdict",
        "flip",
        "The judge overlooks passages depending on their position. Give it fewer at a time (pack=8000 in its "
        "spec), or use a model that reads long contexts evenly.",
    ),
    ("answers", "passages"),
    reverse_passages,
)
