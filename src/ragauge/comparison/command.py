"""`ragauge compare`: paired differences between stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_result, validate_outputs
from ragauge.verbs.options import CompareOptions

Runs = Annotated[
    list[str], typer.Argument(metavar="BASE NEW [MORE…]", help="Stored runs by id, name or latest, the baseline first.")
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write the comparison to a file, repeatable: .html, .md, .json, .csv."),
]


@options.spread_options
def compare(
    runs: Runs, command_options: CompareOptions, outputs: Outputs = None, as_json: options.Json = False
) -> None:
    """Compare runs overall and by segment: what got better, what got worse, and how certain that is."""
    from ragauge.comparison.result import ComparisonResult
    from ragauge.comparison.verb import compare as compared
    from ragauge.core.errors import UsageError

    if len(runs) < 2:
        raise UsageError(
            "compare needs two runs: the baseline, then the new one. For example: ragauge compare main latest"
        )
    validate_outputs(outputs, ComparisonResult)
    show_result(compared(*runs, **vars(command_options)), outputs, as_json=as_json)
