"""`ragauge gate`: does a run meet the rules?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.errors import UsageError
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import check_outputs, show, show_json
from ragauge.verbs.options import GateOptions

if TYPE_CHECKING:
    from ragauge.gating.verb import GateResult

SUMMARY = "GITHUB_STEP_SUMMARY"  # where the runner says that the summary of a step goes


@options.grouped
def gate(
    wanted: GateOptions,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print the arithmetic of every rule with its numbers."),
        options.Before("store"),
    ] = False,
    outputs: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="Write the verdict: .xml (JUnit), .md, .json."),
        options.Before("store"),
    ] = None,
    github: Annotated[
        bool,
        typer.Option("--github", help="Annotations and the step's summary; by itself in GitHub Actions."),
        options.Before("store"),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Hold a run to the rules of ragauge.yaml. Exit 0: pass, 3: fail, 4: not enough data; 1 and 2 are errors.

    Nothing is judged again. ragauge docs gates says how each verdict is reached and what to do about it.
    """
    from ragauge.gating.gate_result import GateResult
    from ragauge.gating.verb import gate as decide

    check_outputs(outputs, GateResult)
    found = decide(**vars(wanted))
    for path in outputs or ():
        typer.echo(f"wrote {found.save(path)}", err=True)
    if as_json:
        show_json(found.to_dict())
    elif explain:
        sys.stdout.write(found.explain())
    else:
        show(found.to_terminal())
    if github or os.environ.get("GITHUB_ACTIONS") == "true":
        _to_github(found, beside_json=as_json)
    raise typer.Exit(found.exit_code)


def _to_github(found: GateResult, *, beside_json: bool) -> None:
    """Annotations to the output, where the runner reads them, and the summary to the file that it names."""
    stream = sys.stderr if beside_json else sys.stdout
    stream.write("".join(f"{line}\n" for line in found.to_github()))
    path = os.environ.get(SUMMARY)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(found.to_markdown())
    except OSError as error:
        raise UsageError(f"{SUMMARY}={path} cannot be written: {error.strerror or error}.") from None
