"""`ragauge ann`: what an index of vectors misses, and how fast it is."""

from __future__ import annotations

from dataclasses import replace

import typer

from ragauge.api.options import AnnOptions
from ragauge.cli import options
from ragauge.cli.output import show, show_json


@options.grouped
def ann(wanted: AnnOptions, outputs: options.Outputs = None, as_json: options.Json = False) -> None:
    """Say what an approximate index of vectors misses, and how fast it is at what recall.

    Every setting is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.api import ann as api

    result = api.ann(**vars(replace(wanted, say=lambda line: typer.echo(line, err=True))))
    for path in outputs or ():
        typer.echo(f"wrote {result.save(path)}", err=True)
    show_json(result.to_dict()) if as_json else show(result.to_terminal())
    if not result.figures.complete:
        raise typer.Exit(1)
