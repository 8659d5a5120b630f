"""`ragauge study`: settings tried one against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.cli import options
from ragauge.cli.output import show as shown
from ragauge.cli.output import show_json
from ragauge.text.messages import plural

app = typer.Typer(help="Settings tried one against another, such as chunkers.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A stored study.")]


@app.command("list")
def list_studies(store: options.Store = "", as_json: options.Json = False) -> None:
    """List the stored studies, newest first."""
    from ragauge.api.studies import studies
    from ragauge.reporting.studies import sections
    from ragauge.reporting.writers.terminal import terminal

    rows = studies(store=store or None)
    show_json(rows) if as_json else shown(terminal(sections(rows)))


@app.command()
def delete(name: Name, store: options.Store = "", yes: options.Yes = False) -> None:
    """Delete a study with the runs of its trials."""
    from ragauge.api.studies import delete_study

    if not yes:
        typer.confirm(f"Delete the study {name} with all of its runs?", abort=True, err=True)
    trials = delete_study(name, store=store or None)
    typer.echo(f"deleted {name} ({plural(trials, 'trial')})", err=True)


@app.command()
def show(
    name: Name,
    metric: Annotated[str, typer.Option("--metric", help="What decides.")] = "",
    base: Annotated[str, typer.Option("--base", help="The trial that others are held against.")] = "",
    target: Annotated[
        str, typer.Option("--target", metavar="METRIC=x", help="Take the cheapest that surely reaches it.")
    ] = "",
    cost: Annotated[str, typer.Option("--cost", help="The measurement that a trial costs.")] = "",
    log: Annotated[bool, typer.Option("--log", help="Look for the knee on the logarithm of the cost.")] = False,
    decide: options.Decide = "interval",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Show a study: its trials, which may be the best, which to take."""
    from ragauge.api.studies import open_study

    found = open_study(
        name, metric=metric, base=base, target=target or None, cost=cost, log=log, decide=decide, store=store or None
    )
    show_json(found.to_dict()) if as_json else shown(found.to_terminal())


@app.command()
def report(
    name: Name,
    output: Annotated[Path, typer.Option("-o", "--output", help="A file: .html, .md or .json.")],
    metric: Annotated[str, typer.Option("--metric", help="What decides.")] = "",
    base: Annotated[str, typer.Option("--base", help="The trial that others are held against.")] = "",
    store: options.Store = "",
) -> None:
    """Write a study's report."""
    from ragauge.api.studies import open_study

    found = open_study(name, metric=metric, base=base, store=store or None)
    typer.echo(f"wrote {found.save(output)}", err=True)


@app.command()
def export(
    name: Name,
    output: Annotated[Path, typer.Option("-o", "--output", help="A file: .csv or .json.")],
    store: options.Store = "",
) -> None:
    """Write a study's trials, a row each: parameters, measurements, means."""
    from ragauge.api.studies import open_study

    typer.echo(f"wrote {open_study(name, store=store or None).save(output)}", err=True)
