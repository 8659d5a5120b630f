"""What `ragauge label` prints of its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_command, format_count
from ragauge.labels.label.options import LabelDrawOptions

if TYPE_CHECKING:
    from ragauge.labels.label.label_draw import DrawnLabels
    from ragauge.labels.label.verb import ImportedLabels, TransferredLabels
    from ragauge.labels.plan.compute import LabelPlan


def describe_import(imported: ImportedLabels, _: object) -> str:
    """How many labels are new, of whom, and how many match no stored text."""
    lines = [f"{format_count(imported.read, 'label')} read, {imported.new:,} new"]
    lines += [
        f"people:{name or 'none'} has {format_count(count, 'label')}" for name, count in imported.guidelines.items()
    ]
    if imported.without_text:
        lines.append(
            f"{imported.without_text:,} of {format_count(imported.keys, 'key')} match no text of a stored "
            "run: labels count where question, passages and answer are the same"
        )
    return "\n".join(lines)


def describe_draw(drawn: DrawnLabels, given: Mapping[str, Any]) -> str:
    """What was drawn, how, and what to do next."""
    what = f"{format_count(drawn.answers, 'answer')}, {format_count(drawn.parts, 'part')} to label"
    how = f", sampled from {drawn.of:,} ({drawn.scheme})" if drawn.scheme else ": where annotators disagree"
    requested = given.get("n", LabelDrawOptions.n)
    if drawn.scheme and drawn.answers < requested and not given.get("again"):
        how += f"; {requested:,} were requested, but the rest are already labeled or drawn, or do not exist"
    lines = [f"{what}{how}; guideline {drawn.guideline}"]
    if drawn.again:
        lines.append("This draw was already stored; its labels count once.")
    elif drawn.before:
        lines.append(
            f"It contains none of the {format_count(drawn.before, 'answer')} drawn before; to get those, use --again."
        )
    then = (
        format_command("label", "import", "labels.jsonl")
        if drawn.paths
        else f"{format_command('ui')}, /label?draw={drawn.draw}"
    )
    return "\n".join([*lines, f"Next: {then}"])


def describe_label_plan(plan: LabelPlan, _: object) -> str:
    """How many labels it takes."""
    from ragauge.labels.plan.tables import describe_plan

    return "\n".join(describe_plan(plan))


def describe_transfer(transfer: TransferredLabels, _: object) -> str:
    """The share of supported answers that the labels of another run suggest."""
    from ragauge.labels.plan.tables import describe_transferred_rate

    return describe_transferred_rate(
        transfer.run, transfer.labelled, transfer.rate, transfer.judged, (transfer.labels, transfer.n)
    )
