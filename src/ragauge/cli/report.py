"""`ragauge report`: a stored evaluation as a file."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.cli import options
from ragauge.cli.output import show, show_json


def report(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")] = "latest",
    outputs: options.Outputs = None,
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts; the last judge by default.")] = "",
    baseline: options.Baseline = "",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Write or print the report of an evaluated run. Nothing is judged again."""
    from ragauge.api.results import files
    from ragauge.api.runs import open_run

    for path in outputs or ():
        files.check(path)
    card = open_run(run, store=store or None).scorecard(judge or None, baseline=baseline)
    for path in outputs or ():
        typer.echo(f"wrote {card.save(path)}", err=True)
    if as_json:
        show_json(card.to_dict())
    elif not outputs:
        show(card.to_terminal())
