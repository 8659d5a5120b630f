"""`ragauge validate`: is ragauge.yaml right?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ragauge.core.errors import UsageError
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_json
from ragauge.verbs.options import ValidateOptions


@options.spread_options
def validate(
    command_options: ValidateOptions,
    path: Annotated[Path | None, typer.Argument(help="The configuration file; ragauge.yaml by default.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="The same, as gate takes it."), options.PlacedBefore("set")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check ragauge.yaml: every mistake with its line, and gates that can never fail. Exit 0: right, 2: mistakes."""
    from ragauge.evaluation.doctor.validate import validate as check

    if path is not None and config is not None and path != config:
        raise UsageError(f"validate reads one file, got {path} and --config {config}. Leave one out.")
    config_path = path or config
    outcome = check(**vars(command_options if config_path is None else replace(command_options, config=config_path)))
    if as_json:
        show_json(outcome.to_dict())
        return
    typer.echo(f"{outcome.source} is valid. {'A run passes the gate when' if outcome.rules else 'It holds no gate.'}")
    for rule in outcome.rules:
        typer.echo(f"- {rule}")
    if outcome.monitor:
        typer.echo("Production is watched by")
    for monitor_line in outcome.monitor:
        typer.echo(f"- {monitor_line}")
    for note in outcome.notes:
        typer.echo(f"note: {note}")
