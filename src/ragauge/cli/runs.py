"""`ragauge runs`, `show`, `export` and `delete`: what is in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.cli import options
from ragauge.cli.output import show as shown
from ragauge.cli.output import show_json


def list_runs(store: options.Store = "", as_json: options.Json = False) -> None:
    """List the stored runs, newest first."""
    from ragauge.api.runs import runs, runs_table

    rows = runs(store=store or None)
    show_json(rows) if as_json else shown(runs_table(rows))


def show(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    example: Annotated[str, typer.Argument(help="One example's query_id, to see its claims and passages.")] = "",
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Which ranks its answers use, and where evidence is lost on the way.")
    ] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="What judging it has cost, by model, question, metric and example.")
    ] = False,
    baseline: options.Baseline = "",
    gaps: Annotated[
        bool, typer.Option("--gaps", help="What is lost to retrieval, what to generation, what the model knew alone.")
    ] = False,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Show a run, or one example of it with every claim and what it rests on, or how its ranking is used."""
    from ragauge.api.runs import open_run
    from ragauge.errors import UsageError
    from ragauge.reporting import gaps as gap_words
    from ragauge.reporting import run_cost
    from ragauge.reporting.alignment import alignment_json, alignment_text
    from ragauge.reporting.one_example import example_json, example_text

    if example and (alignment or cost or gaps):
        name = "--alignment" if alignment else "--cost" if cost else "--gaps"
        raise UsageError(f"{name} is about a whole run: leave out the query_id, or the option.")
    if baseline and (example or cost):
        raise UsageError("--baseline holds a whole run against another one: leave out the query_id, or --cost.")
    opened = open_run(run, store=store or None)
    if cost:
        found = opened.cost()
        show_json(run_cost.cost_json(found)) if as_json else shown(run_cost.cost_text(found))
        return
    if gaps:
        lost = opened.gaps()
        show_json(gap_words.gaps_json(lost)) if as_json else shown(gap_words.gaps_text(lost))
        return
    if alignment:
        card = opened.scorecard(baseline=baseline).card
        show_json(alignment_json(card)) if as_json else shown(alignment_text(card))
        return
    if example:
        view = opened.example(example)
        show_json(example_json(view)) if as_json else shown(example_text(view))
        return
    if baseline:
        held = opened.scorecard(baseline=baseline)
        show_json(held.to_dict()) if as_json else shown(held.to_terminal())
        return
    show_json(opened.to_dict()) if as_json else shown(opened.to_terminal())


def export(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="responses .jsonl; or scores.jsonl, .csv, .parquet.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Write a run's questions and responses (NAME.jsonl), or its scores (scores.jsonl, .csv, .parquet)."""
    from ragauge.api.runs import open_run

    count = open_run(run, store=store or None).export(output)
    typer.echo(f"wrote {output} ({count:,} lines)", err=True)
    if as_json:
        show_json({"path": str(output), "lines": count})


def delete(
    run: Annotated[str, typer.Argument(help="A stored run: id or name.")],
    store: options.Store = "",
    yes: options.Yes = False,
) -> None:
    """Delete a run with its scores. Texts and evidence that other runs use stay."""
    from ragauge.api.runs import open_run

    opened = open_run(run, store=store or None)
    if not yes:
        question = f"Delete run {opened.run.name} ({opened.run.run_id}, {opened.run.done} responses)?"
        typer.confirm(question, abort=True, err=True)
    opened.delete()
    typer.echo(f"deleted {opened.run.name} ({opened.run.run_id})", err=True)
