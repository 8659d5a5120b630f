"""A gate's verdict as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.gating.result import Gated
from ragauge.reporting import gate_failures as failures
from ragauge.reporting import gate_words as words
from ragauge.reporting.words import cell

SIGNS = {"pass": "✅ pass", "fail": "❌ **fail**", "not_enough_data": "❔ not enough data"}
HEADS = {"pass": "✅", "fail": "❌", "not_enough_data": "❔"}


def markdown(gated: Gated) -> str:
    """The verdict, what decided it, a table of the rules, and what to do."""
    lines = [f"## {HEADS[gated.verdict]} {words.title(gated)}: {cell(words.about(gated))}", ""]
    for broken in failures.lead(gated):
        lines += [f"**{cell(broken)}**", ""]
    lines += [f"- {cell(words.said(check))}" for check in words.stopping(gated)]
    lines += [f"- warns: {cell(words.said(check))}" for check in words.warned(gated)]
    if advice := words.what_next(gated):
        lines += ["", cell(advice)]
    lines += ["", *_table(gated)]
    if rest := words.left_out(gated):
        lines += ["", cell(rest)]
    lines += [f"\n> {cell(warning)}" for warning in words.minded(gated)]
    lines += ["", f"<sub>{cell(' · '.join(words.facts(gated)))}. {cell(' '.join(words.bounded(gated)))}</sub>"]
    return "\n".join(lines) + "\n"


def _table(gated: Gated) -> Iterator[str]:
    yield "| | rule | before → now | estimate, 90 % interval | must be | n |"
    yield "|---|---|---|---|---|--:|"
    for check in words.shown(gated):
        asked = cell(check.asks) if check.segment is None else f"↳ in {cell(words.where(check))}"
        sign = SIGNS[check.verdict] + (" (warns)" if check.on_fail == "warn" else "")
        yield (
            f"| {sign} | {asked} | {words.change(check)} | {cell(words.estimate(check))} | {cell(words.limit(check))} "
            f"| {words.counted(check)} |"
        )
