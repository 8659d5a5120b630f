"""`ragauge evaluate`: evidence and scores for a run or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import format_count
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    build_resume_command,
    describe_expected_calls,
    redirect_prints,
    report_interrupt,
    show,
    show_json,
    show_progress,
    warn,
)
from ragauge.verbs.evaluate_options import EvaluateOptions


@options.spread_options
def evaluate(
    command_options: EvaluateOptions,
    only_plan: options.DryRun = False,
    outputs: options.Outputs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure retrieval and generation, with intervals, and suggest what to fix."""
    from ragauge.evaluation.evaluate.verb import evaluate_source, preview_evaluation
    from ragauge.verbs import files
    from ragauge.verbs.coroutines import run_coroutine

    for path in outputs or ():
        files.validate_report_path(path)
    command_options = replace(command_options, warn=warn)
    if only_plan:
        with redirect_prints():
            planned = run_coroutine(lambda: preview_evaluation(command_options))
        show_plan(planned, as_json)
        return
    with report_interrupt(), redirect_prints(), show_progress(quiet) as progress:
        card = run_coroutine(lambda: evaluate_source(replace(command_options, progress=progress)))
    page = next((path for path in outputs or () if path.suffix.lower() == ".html"), None)
    show_json(card.to_dict()) if as_json else show(card.to_terminal(page))
    for path in outputs or ():
        warn_written(card.save(path))
    if stopped := card.card.took.get("stopped"):
        raise Interrupted(stopped, resume=build_resume_command())


def show_plan(planned: Mapping[str, Any], as_json: bool) -> None:
    """Prints what would be done."""
    if as_json:
        show_json(planned)
        return
    run_id = f" ({planned['run_id']})" if planned["run_id"] else ""
    show(f"run {planned['name']}{run_id}: {format_count(planned['examples'], 'example')}, {planned['stored']:,} stored")
    examples = format_count(planned["to_do"], "example")
    if not planned["to_do"] and not planned["calls"]:
        work = "nothing left to do"
    elif planned["judge"] and planned["questions"]:
        work = f"would judge {examples} with {planned['judge']} ({', '.join(planned['questions'])})"
    else:
        work = f"would score {examples} without a judge"
    show(f"{work}: {describe_expected_calls(planned)}")
    if planned["calls"]:
        show("by question: " + ", ".join(f"{name} {count:,}" for name, count in planned["calls_by_question"].items()))


def warn_written(path: Path) -> None:
    """Names a written file on stderr."""
    typer.echo(f"wrote {path}", err=True)
