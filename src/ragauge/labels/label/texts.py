"""What `ragauge label` prints of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_command, format_count
from ragauge.labels.label.options import LabelDrawOptions
from ragauge.rendering.words import to_line

if TYPE_CHECKING:
    from ragauge.labels.label.compute import LabelPlan
    from ragauge.labels.label.label_draw import DrawnLabels
    from ragauge.labels.label.verb import ImportedLabels, TransferredLabels
    from ragauge.stats.rate_transfer import TransferredRate


def describe_plan(plan: LabelPlan) -> Iterator[str]:
    """What is needed, by what that is known, and what to do where the run is too small."""
    wide = plan.goal == "width"
    goal = f"{plan.metric} within ±{plan.amount:.3f}" if wide else f"a difference of {plan.amount:.3f} in {plan.metric}"
    more = "" if wide else ", of the same examples in both runs"
    if plan.labels is None:
        reached = f"±{plan.reached:.3f}" if wide else f"differences of {plan.reached:.3f} or more"
        yield (
            f"{goal}: {format_count(plan.responses, 'response')} are too few. Labeling all of them gives "
            f"{reached}; it takes at least {plan.needed:,} responses."
        )
    elif plan.labels <= plan.there:
        takes = f"it takes {plan.labels:,} answers sampled at random{more}"
        yield f"{goal}: enough labels already: {takes}, and {plan.there:,} are labeled."
    else:
        yield f"{goal}: label {plan.labels:,} answers sampled at random{more}; {plan.there:,} are labeled already."
        if plan.alone is not None and plan.alone > plan.labels:
            yield f"Without the judge it would take {plan.alone:,}."
        elif plan.alone is None:
            yield "Without the judge, even labeling every response would not be enough."
    if plan.correlation is None:
        yield (
            "With fewer than 20 labels, the judge's accuracy and the spread of human scores are unknown, so the plan "
            "ignores the judge and assumes the largest possible spread. Plan again once you have 20 labels."
        )
    else:
        yield f"Judge and human scores correlate at {plan.correlation:.2f} on the {plan.there:,} labeled answers."


def describe_transferred_rate(
    run: str, labelled: str, rate: TransferredRate, judge_rate: float, sizes: tuple[int, int]
) -> str:
    """A rate by another run's labels, with what it takes for granted; sizes: labelled answers, answers of the run."""
    interval_text = f"[{rate.interval.low:.2f}, {rate.interval.high:.2f}]"
    return (
        f"Share of answers of {to_line(run)} that are fully supported: {rate.rate:.2f} {interval_text}, from "
        f"{sizes[0]:,} labels of {to_line(labelled)}; the judge alone gives {judge_rate:.2f} on {sizes[1]:,} "
        f"answers.\nOn {to_line(labelled)} it finds {rate.sensitivity:.0%} of what people label supported, "
        f"and {rate.specificity:.0%} of what they do not.\nThis assumes that the judge errs equally on both "
        f"runs, which the labels cannot verify. Labels of {to_line(run)} itself need no such assumption: "
        f"{format_command('label', 'draw', to_line(run), '-o', 'page.html')}"
    )


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
    return "\n".join(describe_plan(plan))


def describe_transfer(transfer: TransferredLabels, _: object) -> str:
    """The share of supported answers that the labels of another run suggest."""
    return describe_transferred_rate(
        transfer.run, transfer.labelled, transfer.rate, transfer.judged, (transfer.labels, transfer.n)
    )
