"""`ragauge evaluate`: evidence and scores for a run or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import plural
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    expected_calls,
    kept_on_interrupt,
    prints_apart,
    progress_line,
    same_command,
    show,
    show_json,
    warn,
)
from ragauge.verbs.evaluate_options import EvaluateOptions


@options.grouped
def evaluate(
    wanted: EvaluateOptions,
    only_plan: options.DryRun = False,
    outputs: options.Outputs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how good retrieval and generation each are, with what certainty, and what to do."""
    from ragauge.evaluation.evaluate.verb import dry_run, evaluated
    from ragauge.verbs import files
    from ragauge.verbs.coroutines import finish

    for path in outputs or ():
        files.check(path)
    wanted = replace(wanted, warn=warn)
    if only_plan:
        with prints_apart():
            planned = finish(lambda: dry_run(wanted))
        show_plan(planned, as_json)
        return
    with kept_on_interrupt(), prints_apart(), progress_line(quiet) as progress:
        card = finish(lambda: evaluated(replace(wanted, progress=progress)))
    page = next((path for path in outputs or () if path.suffix.lower() == ".html"), None)
    show_json(card.to_dict()) if as_json else show(card.to_terminal(page))
    for path in outputs or ():
        warn_written(card.save(path))
    if stopped := card.card.took.get("stopped"):
        raise Interrupted(stopped, resume=same_command())


def show_plan(planned: Mapping[str, Any], as_json: bool) -> None:
    """Prints what would be done."""
    if as_json:
        show_json(planned)
        return
    run_id = f" ({planned['run_id']})" if planned["run_id"] else ""
    show(f"run {planned['name']}{run_id}: {plural(planned['examples'], 'example')}, {planned['stored']:,} stored")
    examples = plural(planned["to_do"], "example")
    if not planned["to_do"] and not planned["calls"]:
        work = "nothing is left to do"
    elif planned["judge"] and planned["questions"]:
        work = f"would judge {examples} with {planned['judge']} ({', '.join(planned['questions'])})"
    else:
        work = f"would score {examples} without a judge"
    show(f"{work}: {expected_calls(planned)}")
    if planned["calls"]:
        show("by question: " + ", ".join(f"{name} {count:,}" for name, count in planned["calls_by_question"].items()))


def warn_written(path: Path) -> None:
    """Names a written file on stderr."""
    typer.echo(f"wrote {path}", err=True)
