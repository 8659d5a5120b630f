"""`ragauge runs`, `show`, `export` and `delete`: what is in the store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.messages import plural
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show as shown
from ragauge.verbs.command_output import show_json
from ragauge.verbs.options import RunsOptions, ShowOptions

if TYPE_CHECKING:
    from ragauge.evaluation.runs.verb import OpenRun


app = typer.Typer(help="List the stored runs, newest first; those of a study under --study. Tag them.")
TaggedRun = Annotated[str, typer.Argument(help="A stored run: id, name or latest.")]
Tags = Annotated[list[str], typer.Argument(metavar="NAME...", help="Words such as release or golden.")]


@app.callback(invoke_without_command=True)
@options.grouped
def list_runs(context: typer.Context, wanted: RunsOptions, as_json: options.Json = False) -> None:
    """List the stored runs, newest first; those of a study under --study."""
    if context.invoked_subcommand is not None:
        options.refuse_front_options(context, "ragauge runs tag RUN NAME --store …")
        return
    from ragauge.evaluation.runs.verb import runs, runs_table
    from ragauge.studies.verb import studies

    rows = runs(**vars(wanted))
    if as_json:
        from ragauge.rendering.encoder import encode

        show_json(encode(rows))
        return
    others = [] if rows else [study["name"] for study in studies(store=wanted.store)]
    shown(runs_table(rows, study=wanted.study, studies=others))


@app.command()
def tag(run: TaggedRun, names: Tags, store: options.Store = "", as_json: options.Json = False) -> None:
    """Give a run tags, by which lists are filtered: ragauge runs --filter tag=release."""
    from ragauge.evaluation.runs.tags import tag_run

    _told(tag_run(run, *names, store=store or None), as_json=as_json)


@app.command()
def untag(run: TaggedRun, names: Tags, store: options.Store = "", as_json: options.Json = False) -> None:
    """Take tags away from a run."""
    from ragauge.evaluation.runs.tags import untag_run

    _told(untag_run(run, *names, store=store or None), as_json=as_json)


def _told(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(row)
        return
    shown(
        f"{row['name']} ({row['run_id']}) is tagged: {', '.join(row['tags'])}"
        if row["tags"]
        else f"{row['name']} ({row['run_id']}) has no tag now"
    )


@options.grouped
def show(wanted: ShowOptions, as_json: options.Json = False) -> None:
    """Show a run, or one example of it with every claim and what it rests on, or how its ranking is used."""
    from ragauge.evaluation.runs.verb import open_run

    as_data, as_text = _view(open_run(wanted.run, store=wanted.store), wanted)
    show_json(as_data()) if as_json else shown(as_text())


def _view(opened: OpenRun, wanted: ShowOptions) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """What makes the JSON of a view, and what makes its text."""
    from ragauge.comparison.gaps import tables as lost
    from ragauge.diagnosis.examples import one_example
    from ragauge.evaluation.runs import run_cost
    from ragauge.evaluation.scorecard import alignment
    from ragauge.rendering.encoder import encode
    from ragauge.rendering.writers.terminal import terminal

    match wanted.view:
        case "cost":
            paid = opened.cost()
            return partial(encode, paid), partial(terminal, run_cost.sections(paid))
        case "gaps":
            gaps = opened.gaps()
            return partial(encode, gaps), partial(terminal, lost.sections(gaps))
        case "alignment":
            card = opened.scorecard(baseline=wanted.baseline).card
            return partial(encode, card, "alignment"), partial(terminal, alignment.sections(card))
        case "example":
            view = opened.example(wanted.example)
            return partial(encode, view), partial(terminal, one_example.sections(view))
    shown_run = opened.scorecard(baseline=wanted.baseline) if wanted.baseline else opened
    return shown_run.to_dict, shown_run.to_terminal


def export(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .jsonl file; for scores also .csv or .parquet.")],
    content: Annotated[str, typer.Option(help="responses or scores; default: by the name of the file.")] = "",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Write a run's responses (answers.jsonl) or its scores (scores.jsonl, with verdicts; .csv, .parquet)."""
    from ragauge.evaluation.export.exports import content_of
    from ragauge.evaluation.runs.verb import open_run

    count = open_run(run, store=store or None).export(output, content)
    content = content or content_of(output)
    typer.echo(f"wrote the {content} to {output} ({plural(count, 'line')})", err=True)
    if as_json:
        show_json({"path": str(output), "content": content, "lines": count})
