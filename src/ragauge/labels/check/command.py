"""`ragauge judge check`: how well a judge agrees with people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import format_count
from ragauge.labels.label.options import OfflineCheckOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    build_resume_command,
    describe_expected_calls,
    report_interrupt,
    show,
    show_json,
    show_progress,
    show_result,
)
from ragauge.verbs.evaluate_options import CheckJudgeOptions

if TYPE_CHECKING:
    from ragauge.labels.grades.verb import GradesResult
    from ragauge.labels.judges.verb import JudgeHistory

Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write the report: .md or .json; or every part that differs: .jsonl."),
]


MinKappa = Annotated[
    float | None,
    typer.Option("--min-kappa", help="Exit 3 if Cohen's kappa is entirely below this, 4 if its interval includes it."),
]


@options.spread_options
def check(
    command_options: CheckJudgeOptions,
    instead: OfflineCheckOptions,
    only_plan: options.DryRun = False,
    min_kappa: MinKappa = None,
    outputs: Outputs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Checks a judge, or shows what was checked before."""
    from ragauge.labels.check import verb as judge_check
    from ragauge.labels.check.tables import build_sections
    from ragauge.rendering.writers.terminal import render_terminal
    from ragauge.verbs.coroutines import run_coroutine

    if instead.history or instead.grades:
        show_result(_read_offline(command_options, instead), outputs, as_json=as_json)
        return
    for path in outputs or ():
        judge_check.validate_output(path)
    if instead.forget:
        checks = judge_check.delete_checks(command_options)
        message = (
            f"Deleted {format_count(checks, 'check')} of {command_options.source}: no interval uses its labels now."
        )
        show(message if checks else f"No check of {command_options.source} is stored: nothing to delete.")
        return
    if only_plan:
        planned = judge_check.estimate_check(command_options)
        show_json(planned) if as_json else show(_format_check_plan(planned))
        return
    with report_interrupt(), show_progress(quiet, "checked") as progress:
        checked = run_coroutine(lambda: judge_check.check_against_labels(replace(command_options, progress=progress)))
    show_json(checked) if as_json else show(render_terminal(build_sections(checked)))
    for path in outputs or ():
        typer.echo(f"wrote {judge_check.save_check(checked, path)}", err=True)
    if checked.stopped:
        raise Interrupted(checked.stopped, resume=build_resume_command())
    if min_kappa is not None:
        judge_check.require_kappa(checked, min_kappa, is_named=bool(command_options.judge))


def _read_offline(checked: CheckJudgeOptions, instead: OfflineCheckOptions) -> JudgeHistory | GradesResult:
    """The history of checks, or the agreement on grades."""
    from ragauge.labels.grades.verb import check_grades
    from ragauge.labels.judges.verb import judge_history

    if instead.history:
        return judge_history(checked.judge or (), store=checked.store)
    return check_grades(checked.source, checked.verdict, columns=checked.columns, segments=checked.segments)


def _format_check_plan(planned: dict[str, Any]) -> str:
    lines = [f"{planned['rows']:,} rows, {planned['parts']:,} labeled parts"]
    lines += [f"{name}: {describe_expected_calls(expected)}" for name, expected in planned["judges"].items()]
    return "\n".join(lines)
