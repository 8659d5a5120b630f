"""`ragauge study`: settings tried one against another."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.cli import options
from ragauge.cli.output import show as shown
from ragauge.cli.output import show_json
from ragauge.text.plural import plural

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
