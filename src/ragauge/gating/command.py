"""`ragauge gate`: does a run meet the rules?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.errors import UsageError
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json, validate_outputs
from ragauge.verbs.options import GateOptions

if TYPE_CHECKING:
    from ragauge.gating.verb import GateResult

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"  # where the runner says that the summary of a step goes


@options.spread_options
def gate(
    command_options: GateOptions,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the calculation behind every rule."), options.PlacedBefore("store")
    ] = False,
    outputs: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="Write the verdict to a file: .xml (JUnit), .md or .json."),
        options.PlacedBefore("store"),
    ] = None,
    github: Annotated[
        bool,
        typer.Option("--github", help="Write annotations and the step summary; on by default in GitHub Actions."),
        options.PlacedBefore("store"),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check a run against the rules in ragauge.yaml. Exit 0: pass, 3: fail, 4: not enough data; 1 and 2 are errors.

    No judge is called. ragauge docs gates explains how each verdict is reached and what to do about it.
    """
    from ragauge.gating.gate_result import GateResult
    from ragauge.gating.verb import gate as decide

    validate_outputs(outputs, GateResult)
    gate_result = decide(**vars(command_options))
    for path in outputs or ():
        typer.echo(f"wrote {gate_result.save(path)}", err=True)
    if as_json:
        show_json(gate_result.to_dict())
    elif explain:
        sys.stdout.write(gate_result.explain())
    else:
        show(gate_result.to_terminal())
    if github or os.environ.get("GITHUB_ACTIONS") == "true":
        _write_github(gate_result, beside_json=as_json)
    raise typer.Exit(gate_result.exit_code)


def _write_github(gate_result: GateResult, *, beside_json: bool) -> None:
    """Annotations to the output, where the runner reads them, and the summary to the file that it names."""
    stream = sys.stderr if beside_json else sys.stdout
    stream.write("".join(f"{line}\n" for line in gate_result.to_github()))
    path = os.environ.get(SUMMARY_VARIABLE)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(gate_result.to_markdown())
    except OSError as error:
        raise UsageError(f"{SUMMARY_VARIABLE}={path} cannot be written: {error.strerror or error}.") from None
