"""`ragauge judge`: what a judge is worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

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

app = typer.Typer(help="What a judge is worth on your data.", no_args_is_help=True)


Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write the report: .md, .json; every part that differs: .jsonl."),
]


ProbeOutputs = Annotated[
    list[Path] | None, typer.Option("-o", "--output", help="Write the result: .html, .md, .json; repeatable.")
]
MinKappa = Annotated[
    float | None,
    typer.Option("--min-kappa", help="Exit 3 where Cohen's kappa lies wholly below, 4 where its interval holds it."),
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
    """How far a judge agrees with people, and fused questions with one question a claim, at what cost.

    How far its means are off is kept, and from then on in the intervals of its scores.

    Each row has passages, an answer or claim, and a label: supported, contradicted or not_in_context; true or false;
    1 or 0; a list of labels, one an annotator.
    """
    from ragauge.labels.check import verb as judge_check
    from ragauge.labels.check.tables import build_sections
    from ragauge.labels.grades.verb import check_grades
    from ragauge.labels.history.verb import judge_history
    from ragauge.rendering.writers.terminal import render_terminal
    from ragauge.verbs.coroutines import run_coroutine

    if instead.history:
        show_result(judge_history(command_options.judge or (), store=command_options.store), outputs, as_json=as_json)
        return
    if instead.grades:
        graded = check_grades(
            command_options.source,
            command_options.verdict,
            columns=command_options.columns,
            segments=command_options.segments,
        )
        show_result(graded, outputs, as_json=as_json)
        return
    for path in outputs or ():
        judge_check.validate_output(path)
    if instead.forget:
        checks = judge_check.delete_checks(command_options)
        message = (
            f"{format_count(checks, 'check')} of {command_options.source} forgotten: no interval rests on its labels "
            "now."
        )
        show(message if checks else f"No check of {command_options.source} is kept: nothing to forget.")
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
    """Fit a judge's probabilities to people's labels; the file is a judge: --judge calibrated:judge.json.

    It takes 50 labels, 10 of the rarer kind. The judge stays as it is unless labels that were not fitted say that
    another is better by a standard error.
    """
    from ragauge.labels.calibrate import verb as judge_calibrate
    from ragauge.verbs.coroutines import run_coroutine

    if only_plan:
        planned = judge_calibrate.estimate_calibration(command_options)
        text = (
            f"{planned['rows']:,} rows, {format_count(planned['parts'], 'labelled part')}: "
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
    """Whether what must not matter changes a judge's verdicts, and what must matter does, on your own examples.

    Order and wording, repetition, forged verdicts must not; a wrong number, name, date, unit or negation and passages
    of another question must. Each example is judged twice as it is: what the judge changes by itself is no bias.
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


def _format_probe_plan(planned: dict[str, Any]) -> str:
    counts = f"{format_count(planned['examples'], 'example')}, {format_count(planned['pairs'], 'pair')} of answers"
    lines = [f"{counts}: {describe_expected_calls(planned)}", f"probes: {', '.join(planned['probes'])}"]
    return "\n".join(lines + [f"not probed: {name}: {reason}" for name, reason in planned["left_out"].items()])


def _format_check_plan(planned: dict[str, Any]) -> str:
    lines = [f"{planned['rows']:,} rows, {planned['parts']:,} labelled parts"]
    lines += [f"{name}: {describe_expected_calls(expected)}" for name, expected in planned["judges"].items()]
    return "\n".join(lines)
