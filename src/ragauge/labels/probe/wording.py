"""wording: the same question in four other words. How the instruction is put must not matter."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule
from ragauge.labels.probe.paraphrases import PARAPHRASES


def reword_instruction(examined: ExaminedRow, _: ProbePool) -> Sequence[Change]:
    """Every example by every paraphrase."""
    return tuple(Change(name, examined.inputs, examined.spans, templates) for name, templates in PARAPHRASES.items())


PROBE = Probe(
    ProbeRule(
        "wording",
        "prompt_consistency",
        "wording of the instruction, four paraphrases",
        "the same verdict",
        "flip",
        "Verdicts depend on how the question is worded. Check the judge against labels (ragauge judge "
        "check), use the instruction that agrees best with them (prompts=FILE), and keep it.",
        complement=True,
    ),
    ("answers", "wording"),
    reword_instruction,
)
