"""`ragauge report`: a stored evaluation as a file, or which level of a metric serves."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json, show_result, validate_outputs
from ragauge.verbs.options import ReportOptions


@options.spread_options
def report(
    command_options: ReportOptions,
    outputs: Annotated[options.Outputs, options.PlacedBefore("judge")] = None,
    as_json: options.Json = False,
) -> None:
    """Write or print the report of an evaluated run, without judging it again.

    With --thresholds: how often answers turn out well by level of a metric; without outcomes, what the run reaches.
    """
    from ragauge.evaluation.runs.verb import open_run
    from ragauge.verbs import files

    if command_options.thresholds:
        _show_thresholds(command_options, outputs, as_json=as_json)
        return
    for path in outputs or ():
        files.validate_report_path(path)
    card = open_run(command_options.run, store=command_options.store).scorecard(
        command_options.judge, baseline=command_options.baseline
    )
    for path in outputs or ():
        typer.echo(f"wrote {card.save(path)}", err=True)
    if as_json:
        show_json(card.to_dict())
    elif not outputs:
        show(card.to_terminal())


def _show_thresholds(command_options: ReportOptions, outputs: options.Outputs, *, as_json: bool) -> None:
    from ragauge.evaluation.thresholds.verb import ThresholdsResult, thresholds

    validate_outputs(outputs, ThresholdsResult)
    names = ("run", "judge", "store", "target", "outcome", "good")
    result = thresholds(command_options.thresholds, **{name: getattr(command_options, name) for name in names})
    show_result(result, outputs, as_json=as_json)
