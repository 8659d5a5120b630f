"""`ragauge label`: what people say."""

from __future__ import annotations

import typer

from ragauge.core.messages import format_command, format_count
from ragauge.labels.label.options import LabelDrawOptions, LabelImportOptions, LabelPlanOptions, LabelTransferOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json

app = typer.Typer(help="Sample answers for people to label, import their labels.", no_args_is_help=True)


@app.command("import")
@options.spread_options
def import_labels(command_options: LabelImportOptions, as_json: options.Json = False) -> None:
    """Import human labels: the page's labels.jsonl, CSV, a file for judge check, or Label Studio JSON.

    Importing the same file twice changes nothing. A label counts in every run that has the same texts.
    """
    from ragauge.labels.label import verb as label

    imported = label.label_import(**vars(command_options))
    if as_json:
        show_json(imported)
        return
    lines = [f"{format_count(imported.read, 'label')} read, {imported.new:,} new"]
    lines += [
        f"people:{name or 'none'} has {format_count(count, 'label')}" for name, count in imported.guidelines.items()
    ]
    if imported.without_text:
        lines.append(
            f"{imported.without_text:,} of {format_count(imported.keys, 'key')} match no text of a stored "
            "run: labels count where question, passages and answer are the same"
        )
    show("\n".join(lines))


@app.command("draw")
@options.spread_options
def draw_labels(command_options: LabelDrawOptions, as_json: options.Json = False) -> None:
    """Sample answers of a run for people to label, and write a page for labeling them by keyboard, without a server.

    The page saves labels.jsonl, which `ragauge label import` reads. Without -o, label the answers in `ragauge ui`.
    The draw is stored, and its labels correct the run's means.
    """
    from ragauge.labels.label.label_draw import label_draw

    drawn = label_draw(**vars(command_options))
    if as_json:
        show_json(drawn)
        return
    what = f"{format_count(drawn.answers, 'answer')}, {format_count(drawn.parts, 'part')} to label"
    how = f", sampled from {drawn.of:,} ({drawn.scheme})" if drawn.scheme else ": where annotators disagree"
    if drawn.scheme and drawn.answers < command_options.n and not command_options.again:
        how += f"; {command_options.n:,} were requested, but the rest are already labeled or drawn, or do not exist"
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
    show("\n".join([*lines, f"Next: {then}"]))
    for path in drawn.paths:
        typer.echo(f"wrote {path}", err=True)


@app.command("plan")
@options.spread_options
def plan_labels(command_options: LabelPlanOptions, as_json: options.Json = False) -> None:
    """Plan how many labels you need for an interval of a given width, or to detect a difference between two runs."""
    from ragauge.labels.label import verb as label
    from ragauge.labels.plan.tables import describe_plan

    plan = label.label_plan(**vars(command_options))
    show_json(plan) if as_json else show("\n".join(describe_plan(plan)))


@app.command("transfer")
@options.spread_options
def transfer_labels(command_options: LabelTransferOptions, as_json: options.Json = False) -> None:
    """Estimate the share of supported answers in a run without labels, from the labels of another run."""
    from ragauge.labels.label import verb as label
    from ragauge.labels.plan.tables import describe_transferred_rate

    transfer = label.label_transfer(**vars(command_options))
    if as_json:
        show_json(transfer)
        return
    show(
        describe_transferred_rate(
            transfer.run, transfer.labelled, transfer.rate, transfer.judged, (transfer.labels, transfer.n)
        )
    )
