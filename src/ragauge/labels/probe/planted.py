"""planted: one number, name, date, unit or negation of a supported sentence is changed. It must not be supported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule
from ragauge.labels.probe.text_edits import KINDS, planted_text

MOST = 2  # changes an example, of two kinds: each is a question of its own


def planted(seen: ExaminedRow, pool: ProbePool) -> Sequence[Change]:
    """At most two changes, each of one detail of one supported part; kinds and parts take turns over the examples."""
    return tuple(islice(_changes(seen, pool), MOST))


def _changes(seen: ExaminedRow, pool: ProbePool) -> Iterator[Change]:
    places = seen.supported
    strangers = [other.answer for other in islice(pool.others(seen.place), 20)]
    for turn in range(len(KINDS)):
        kind = KINDS[(seen.place + turn) % len(KINDS)]
        for n in range(len(places)):
            place = places[(seen.place + turn + n) % len(places)]
            changed = planted_text(kind, seen.text(place), seen.row.passages, strangers)
            if changed is None:
                continue
            start, end = seen.spans[place]
            answer = seen.row.answer[:start] + changed + seen.row.answer[end:]
            where = {place: (start, start + len(changed))}
            yield Change(kind, replace(seen.inputs, answer=answer), where, shown={place: changed})
            break


PROBE = Probe(
    ProbeRule(
        "planted",
        "planted_missed",
        "one number, name, date, unit or negation",
        "not supported",
        "support",
        "The judge overlooks wrong details. Look at which kinds it misses; beside it use the checks that need no judge "
        "(fabricated_specifics), or a stronger model for verify_answer.",
        best="contradicted",
        if_milder=(
            "The judge refuses wrong details, but calls them not in context. faithfulness and unsupported count them; "
            "contradicted comes out too low, and not_in_context too high."
        ),
    ),
    ("answers",),
    planted,
)
