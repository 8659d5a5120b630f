"""`ragauge compare`: paired differences between stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import check_outputs, show_result
from ragauge.verbs.options import CompareOptions

Runs = Annotated[
    list[str], typer.Argument(metavar="BASE NEW [MORE…]", help="Stored runs by id, name or latest, the baseline first.")
]
Outputs = Annotated[
    list[Path] | None, typer.Option("-o", "--output", help="Write it to a file, repeatable: .html, .md, .json, .csv.")
]


@options.grouped
def compare(runs: Runs, wanted: CompareOptions, outputs: Outputs = None, as_json: options.Json = False) -> None:
    """Say what got better and what got worse between runs, overall and per segment, and how sure that is."""
    from ragauge.comparison.result import ComparisonResult
    from ragauge.comparison.verb import compare as compared
    from ragauge.core.errors import UsageError

    if len(runs) < 2:
        raise UsageError("compare needs two runs: the baseline, then the new one. Write: ragauge compare main latest")
    check_outputs(outputs, ComparisonResult)
    show_result(compared(*runs, **vars(wanted)), outputs, as_json=as_json)
