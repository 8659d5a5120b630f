"""verbosity: what the answer says already is said again. More words must not make more of it supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule
from ragauge.text.sentences import split

MOST = 3  # sentences that are repeated


def repeated(seen: ExaminedRow, _: ProbePool) -> Sequence[Change]:
    """Supported sentences once more below the answer, else the first of the passages; the answer itself stays."""
    true = [seen.text(place) for place in seen.supported][:MOST]
    if not true:
        true = [sentence.text for text in seen.row.passages for sentence in split(text)[:1]][:MOST]
    if not true:
        return ()
    longer = "\n\n".join((seen.row.answer, " ".join(" ".join(text.split()) for text in true)))
    return (Change("repetition", replace(seen.inputs, answer=longer), seen.spans),)


PROBE = Probe(
    ProbeRule(
        "verbosity",
        "verbosity_preference",
        "true sentences repeated below the answer",
        "no more supported than before",
        "rise",
        "Longer answers are judged milder. Ask about one claim at a time (mode=per_claim in the judge's spec), and "
        "compare systems by answers of like length.",
    ),
    ("answers",),
    repeated,
)
