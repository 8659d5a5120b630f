"""planted: one number, name, date, unit or negation of a supported sentence is changed. It must not be supported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule
from ragauge.labels.probe.text_edits import KINDS, plant_detail

MAX_CHANGES = 2  # changes an example, of two kinds: each is a question of its own


def plant_changes(examined: ExaminedRow, pool: ProbePool) -> Sequence[Change]:
    """At most two changes, each of one detail of one supported part; kinds and parts take turns over the examples."""
    return tuple(islice(_build_changes(examined, pool), MAX_CHANGES))


def _build_changes(examined: ExaminedRow, pool: ProbePool) -> Iterator[Change]:
    indices = examined.supported
    strangers = [other.answer for other in islice(pool.others(examined.place), 20)]
    for turn in range(len(KINDS)):
        kind = KINDS[(examined.place + turn) % len(KINDS)]
        for n in range(len(indices)):
            index = indices[(examined.place + turn + n) % len(indices)]
            changed = plant_detail(kind, examined.text(index), examined.row.passages, strangers)
            if changed is None:
                continue
            start, end = examined.spans[index]
            answer = examined.row.answer[:start] + changed + examined.row.answer[end:]
            changed_spans = {index: (start, start + len(changed))}
            yield Change(kind, replace(examined.inputs, answer=answer), changed_spans, shown={index: changed})
            break


PROBE = Probe(
    ProbeRule(
        "planted",
        "planted_missed",
        "one number, name, date, unit or negation",
        "not supported",
        "support",
        "The judge overlooks wrong details. See which kinds it misses; also use the checks that need no "
        "judge (fabricated_specifics), or a stronger model for verify_answer.",
        best="contradicted",
        if_milder=(
            "The judge rejects wrong details, but as not in context. faithfulness and unsupported count "
            "them; contradicted comes out too low, and not_in_context too high."
        ),
    ),
    ("answers",),
    plant_changes,
)
