"""`ragauge label`: what people say."""

from __future__ import annotations

import typer

from ragauge.core.messages import command, plural
from ragauge.labels.label.options import LabelDrawOptions, LabelImportOptions, LabelPlanOptions, LabelTransferOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json

app = typer.Typer(help="What people say of answers: drawn, labelled, imported.", no_args_is_help=True)


@app.callback()
def front() -> None:
    """What people say of answers: drawn, labelled, imported."""


@app.command("import")
@options.grouped
def import_labels(wanted: LabelImportOptions, as_json: options.Json = False) -> None:
    """Keep people's labels: the page's labels.jsonl, CSV, what judge check reads, or Label Studio's JSON.

    The same file twice changes nothing. A label counts in every run where the same texts recur.
    """
    from ragauge.labels.label import verb as label

    found = label.label_import(**vars(wanted))
    if as_json:
        show_json(found)
        return
    lines = [f"{plural(found.read, 'label')} read, {found.new:,} new"]
    lines += [f"people:{name or 'none'} has {plural(count, 'label')}" for name, count in found.guidelines.items()]
    if found.without_text:
        lines.append(
            f"{found.without_text:,} of {plural(found.keys, 'key')} fit no text of a stored run: labels count where "
            "question, passages and answer are the same"
        )
    show("\n".join(lines))


@app.command("draw")
@options.grouped
def draw_labels(wanted: LabelDrawOptions, as_json: options.Json = False) -> None:
    """Draw answers of a run for people, and write the page on which they label them by keys, without a server.

    The page saves labels.jsonl, which `ragauge label import` brings in; without -o they are labelled in `ragauge ui`.
    The draw is stored: labels of it rectify means.
    """
    from ragauge.labels.label.label_draw import label_draw

    found = label_draw(**vars(wanted))
    if as_json:
        show_json(found)
        return
    what = f"{plural(found.answers, 'answer')}, {plural(found.parts, 'part')} to label"
    how = f", drawn from {found.of:,} ({found.scheme})" if found.scheme else ": what people differ on"
    if found.scheme and found.answers < wanted.n and not wanted.again:
        how += f"; {wanted.n:,} were asked for, of which the others are labelled or drawn already, or not there"
    lines = [f"{what}{how}; guideline {found.guideline}"]
    if found.again:
        lines.append("It is a draw that is stored already: its labels count once.")
    elif found.before:
        lines.append(f"None of the {plural(found.before, 'answer')} drawn before is in it: for those give --again.")
    then = command("label", "import", "labels.jsonl") if found.paths else f"{command('ui')}, /label?draw={found.draw}"
    show("\n".join([*lines, f"Then: {then}"]))
    for path in found.paths:
        typer.echo(f"wrote {path}", err=True)


@app.command("plan")
@options.grouped
def plan_labels(wanted: LabelPlanOptions, as_json: options.Json = False) -> None:
    """How many labels it takes for an interval of a width, or to see a change between two runs."""
    from ragauge.labels.label import verb as label
    from ragauge.labels.plan.tables import sentences

    found = label.label_plan(**vars(wanted))
    show_json(found) if as_json else show("\n".join(sentences(found)))


@app.command("transfer")
@options.grouped
def transfer_labels(wanted: LabelTransferOptions, as_json: options.Json = False) -> None:
    """The share of supported answers in a run without labels, by labels of another run and the same judge."""
    from ragauge.labels.label import verb as label
    from ragauge.labels.plan.tables import transferred

    found = label.label_transfer(**vars(wanted))
    if as_json:
        show_json(found)
        return
    show(transferred(found.run, found.labelled, found.rate, found.judged, (found.labels, found.n)))
