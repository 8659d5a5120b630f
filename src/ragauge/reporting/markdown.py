"""The scorecard as Markdown, short enough for a pull request."""

from __future__ import annotations

from ragauge.analysis.scorecard import Scorecard
from ragauge.reporting.terminal import MOST_FINDINGS, headline
from ragauge.reporting.words import (
    ARROWS,
    LAYERS,
    by_layer,
    counts,
    estimate,
    interval,
    left_out,
    number,
    opened,
    safe,
    share,
    verdict,
)  # fmt: skip


def cell(text: str) -> str:
    r"""Text that stays text in a Markdown table.

    >>> cell("a|b <script>")
    'a\\|b &lt;script&gt;'
    """
    text = safe(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\\", "\\\\")
    for mark in "|`*_[]":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def markdown(card: Scorecard) -> str:
    """Verdict, scorecard, causes, diagnosis, segments and how far to trust it."""
    lines = [f"## {cell(card.run.name)}", "", f"**{cell(verdict(card))}**", ""]
    lines += ["| metric | mean | interval | micro | counts |", "|---|--:|---|--:|---|"]
    for layer, summaries in by_layer(card.summaries):
        lines.append(f"| **{LAYERS[layer]}** | | | | |")
        for summary in summaries:
            name = cell(summary.metric) + ARROWS[summary.direction]
            micro = number(summary.micro) if summary.micro is not None else ""
            mean = number(summary.mean, summary.kind)
            lines.append(f"| {name} | {mean} | {interval(summary)} | {micro} | {counts(summary)} |")
    for reason, names in left_out(card.summaries):
        lines += ["", f"Not applicable ({cell(reason)}): {cell(', '.join(names))}."]
    if card.causes:
        lines += ["", "| cause | failed examples |", "|---|---|"]
        for cause, count in card.causes.items():
            lines.append(f"| {cell(cause or 'no cause named')} | {share(count, card.failed_examples)} |")
    if card.findings:
        lines += ["", "### What to do", ""]
        for place, finding in enumerate(card.findings[:MOST_FINDINGS], 1):
            lines.append(f"{place}. **{opened(cell(finding.headline))}** {cell(finding.evidence)}  ")
            lines.append(f"   Fix: {cell(finding.fix)}")
    names = headline(card.summaries)
    for column, values in card.segments.items():
        lines += ["", f"### By {cell(column)}", "", f"| {cell(column)} | n | {' | '.join(map(cell, names))} |"]
        lines.append("|---|--:|" + "--:|" * len(names))
        for value, parts in values.items():
            found = {summary.metric: summary for summary in parts}
            cells = [estimate(found[name]) if name in found else "–" for name in names]
            lines.append(f"| {cell(value)} | {parts[0].n if parts else 0} | {' | '.join(cells)} |")
    if card.judge.what:
        judged = f"Judged by {cell(card.judge.judge_id)}. {cell(card.judge.what)} {cell(card.judge.observed)}"
        lines += ["", judged.strip()]
        if card.judge.uncertain is not None:
            lines.append(f"{card.judge.uncertain:.0%} of the claims lie in its uncertain middle.")
    lines += [f"\n> {cell(warning)}" for warning in card.warnings]
    return "\n".join(lines) + "\n"
