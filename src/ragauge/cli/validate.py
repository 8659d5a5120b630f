"""`ragauge validate`: is ragauge.yaml right?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ragauge.cli import options
from ragauge.cli.output import show_json
from ragauge.errors import UsageError


def validate(
    path: Annotated[Path | None, typer.Argument(help="The configuration file; ragauge.yaml by default.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="The same, as gate takes it.")] = None,
    eval_set: Annotated[
        str, typer.Option("--set", help="The eval set: has it examples for every tag, segment and metric?")
    ] = "",
    columns: options.Columns = None,
    segments: options.Segments = "",
    as_json: options.Json = False,
) -> None:
    """Check ragauge.yaml: every mistake with its line, and gates that can never fail. Exit 0: right, 2: mistakes."""
    from ragauge.api.validate import validate as check
    from ragauge.data.config.reading import DEFAULT

    if path is not None and config is not None and path != config:
        raise UsageError(f"validate reads one file, got {path} and --config {config}. Leave one out.")
    how: dict[str, Any] = {"columns": options.mapping(columns), "segments": options.names(segments)}
    found = check(path or config or Path(DEFAULT), set=eval_set or None, **how)
    if as_json:
        show_json(found.to_dict())
        return
    typer.echo(f"{found.source} is valid. {'A run passes the gate when' if found.rules else 'It holds no gate.'}")
    for rule in found.rules:
        typer.echo(f"- {rule}")
    for note in found.notes:
        typer.echo(f"note: {note}")
