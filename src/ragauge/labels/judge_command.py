"""`ragauge judge`: what a judge is worth."""

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
    validate_outputs,
)
from ragauge.verbs.evaluate_options import CalibrateJudgeOptions, CheckJudgeOptions, ProbeOptions

if TYPE_CHECKING:
    from ragauge.labels.grades.verb import GradesResult
    from ragauge.labels.history.verb import JudgeHistory

app = typer.Typer(help="Check, calibrate and probe judges on your own data.", no_args_is_help=True)


Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write the report: .md or .json; or every part that differs: .jsonl."),
]


ProbeOutputs = Annotated[
    list[Path] | None, typer.Option("-o", "--output", help="Write the result: .html, .md, .json; repeatable.")
]
MinKappa = Annotated[
    float | None,
    typer.Option("--min-kappa", help="Exit 3 if Cohen's kappa is entirely below this, 4 if its interval includes it."),
]


@app.command()
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
    """Measure how well a judge agrees with human labels, by question mode, and what it costs.

    The error of its means is saved, and from then on included in the intervals of its scores.

    Each row has passages, an answer or claim, and a label: supported, contradicted or not_in_context; true or false;
    1 or 0; a list of labels, one per annotator.
    """
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


@app.command()
@options.spread_options
def calibrate(
    command_options: CalibrateJudgeOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a judge's probabilities to human labels; the file is a judge: --judge calibrated:judge.json.

    It takes 50 labels, 10 of the rarer kind. The judge is unchanged unless held-out labels show that another is better
    by one standard error.
    """
    from ragauge.labels.calibrate import verb as judge_calibrate
    from ragauge.verbs.coroutines import run_coroutine

    if only_plan:
        planned = judge_calibrate.estimate_calibration(command_options)
        text = (
            f"{planned['rows']:,} rows, {format_count(planned['parts'], 'labeled part')}: "
            f"{describe_expected_calls(planned)}"
        )
        show_json(planned) if as_json else show(text)
        return
    with report_interrupt(), show_progress(quiet, "asked") as progress:
        calibration = run_coroutine(
            lambda: judge_calibrate.calibrate_from_labels(replace(command_options, progress=progress))
        )
    show_result(calibration, as_json=as_json)
    typer.echo(f"wrote {calibration.data.path}", err=True)


@app.command()
@options.spread_options
def probe(
    command_options: ProbeOptions,
    only_plan: options.DryRun = False,
    outputs: ProbeOutputs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Test a judge for bias on your own examples.

    Order, wording, repetition and forged verdicts must not change its verdicts; a wrong number, name, date, unit or
    negation, or another question's passages, must. Each example is also judged twice unchanged, so that the judge's own
    inconsistency does not count as bias.
    """
    from ragauge.labels.probe import verb as judge_probe
    from ragauge.verbs.coroutines import run_coroutine

    validate_outputs(outputs, judge_probe.ProbeResult)
    if only_plan:
        planned = judge_probe.estimate_probes(command_options)
        show_json(planned) if as_json else show(_format_probe_plan(planned))
        return
    with report_interrupt(), show_progress(quiet, "probed") as progress:
        probe_result = run_coroutine(lambda: judge_probe.run_probes(replace(command_options, progress=progress)))
    show_result(probe_result, outputs, as_json=as_json)
    if probe_result.probed.stopped:
        raise Interrupted(probe_result.probed.stopped, resume=build_resume_command())


def _read_offline(checked: CheckJudgeOptions, instead: OfflineCheckOptions) -> JudgeHistory | GradesResult:
    """The history of checks, or the agreement on grades."""
    from ragauge.labels.grades.verb import check_grades
    from ragauge.labels.history.verb import judge_history

    if instead.history:
        return judge_history(checked.judge or (), store=checked.store)
    return check_grades(checked.source, checked.verdict, columns=checked.columns, segments=checked.segments)


def _format_probe_plan(planned: dict[str, Any]) -> str:
    counts = f"{format_count(planned['examples'], 'example')}, {format_count(planned['pairs'], 'pair')} of answers"
    lines = [f"{counts}: {describe_expected_calls(planned)}", f"probes: {', '.join(planned['probes'])}"]
    return "\n".join(lines + [f"not probed: {name}: {reason}" for name, reason in planned["left_out"].items()])


def _format_check_plan(planned: dict[str, Any]) -> str:
    lines = [f"{planned['rows']:,} rows, {planned['parts']:,} labeled parts"]
    lines += [f"{name}: {describe_expected_calls(expected)}" for name, expected in planned["judges"].items()]
    return "\n".join(lines)
