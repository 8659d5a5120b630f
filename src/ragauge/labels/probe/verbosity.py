"""verbosity: what the answer says already is said again. More words must not make more of it supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule
from ragauge.text.sentences import split_sentences

MAX_SENTENCES = 3  # sentences that are repeated


def repeat_sentences(examined: ExaminedRow, _: ProbePool) -> Sequence[Change]:
    """Supported sentences once more below the answer, else the first of the passages; the answer itself stays."""
    true_sentences = [examined.text(index) for index in examined.supported][:MAX_SENTENCES]
    if not true_sentences:
        true_sentences = [sentence.text for text in examined.row.passages for sentence in split_sentences(text)[:1]][
            :MAX_SENTENCES
        ]
    if not true_sentences:
        return ()
    longer = "\n\n".join((examined.row.answer, " ".join(" ".join(text.split()) for text in true_sentences)))
    return (Change("repetition", replace(examined.inputs, answer=longer), examined.spans),)


PROBE = Probe(
    ProbeRule(
        "verbosity",
        "verbosity_preference",
        "true sentences repeated below the answer",
        "no more supported than before",
        "rise",
        "Longer answers are judged more leniently. Ask about one claim at a time (mode=per_claim in the "
        "judge's spec), and compare systems on answers of similar length.",
    ),
    ("answers",),
    repeat_sentences,
)
