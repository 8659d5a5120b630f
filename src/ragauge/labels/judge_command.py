"""`ragauge judge`: what a judge is worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import plural
from ragauge.labels.label.options import UnaskedOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    check_outputs,
    expected_calls,
    kept_on_interrupt,
    progress_line,
    same_command,
    show,
    show_json,
    show_result,
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


@app.callback()
def front() -> None:
    """What a judge is worth on your data."""


@app.command()
@options.grouped
def check(
    wanted: CheckJudgeOptions,
    instead: UnaskedOptions,
    only_plan: options.DryRun = False,
    least: MinKappa = None,
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
    from ragauge.labels.check.tables import sections
    from ragauge.labels.grades.verb import check_grades
    from ragauge.labels.history.verb import judge_history
    from ragauge.rendering.writers.terminal import terminal
    from ragauge.verbs.coroutines import finish

    if instead.history:
        show_result(judge_history(wanted.judge or (), store=wanted.store), outputs, as_json=as_json)
        return
    if instead.grades:
        graded = check_grades(wanted.source, wanted.verdict, columns=wanted.columns, segments=wanted.segments)
        show_result(graded, outputs, as_json=as_json)
        return
    for path in outputs or ():
        judge_check.check_output(path)
    if instead.forget:
        checks = judge_check.forget(wanted)
        told = f"{plural(checks, 'check')} of {wanted.source} forgotten: no interval rests on its labels now."
        show(told if checks else f"No check of {wanted.source} is kept: nothing to forget.")
        return
    if only_plan:
        planned = judge_check.expect(wanted)
        show_json(planned) if as_json else show(_planned(planned))
        return
    with kept_on_interrupt(), progress_line(quiet, "checked") as progress:
        checked = finish(lambda: judge_check.check_labelled(replace(wanted, progress=progress)))
    show_json(checked) if as_json else show(terminal(sections(checked)))
    for path in outputs or ():
        typer.echo(f"wrote {judge_check.save(checked, path)}", err=True)
    if checked.stopped:
        raise Interrupted(checked.stopped, resume=same_command())
    if least is not None:
        judge_check.hold(checked, least, given=bool(wanted.judge))


@app.command()
@options.grouped
def calibrate(
    wanted: CalibrateJudgeOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a judge's probabilities to people's labels; the file is a judge: --judge calibrated:judge.json.

    It takes 50 labels, 10 of the rarer kind. The judge stays as it is unless labels that were not fitted say that
    another is better by a standard error.
    """
    from ragauge.labels.calibrate import verb as judge_calibrate
    from ragauge.verbs.coroutines import finish

    if only_plan:
        planned = judge_calibrate.expect(wanted)
        text = f"{planned['rows']:,} rows, {plural(planned['parts'], 'labelled part')}: {expected_calls(planned)}"
        show_json(planned) if as_json else show(text)
        return
    with kept_on_interrupt(), progress_line(quiet, "asked") as progress:
        found = finish(lambda: judge_calibrate.calibrate_labelled(replace(wanted, progress=progress)))
    show_result(found, as_json=as_json)
    typer.echo(f"wrote {found.found.path}", err=True)


@app.command()
@options.grouped
def probe(
    wanted: ProbeOptions,
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
    from ragauge.verbs.coroutines import finish

    check_outputs(outputs, judge_probe.ProbeResult)
    if only_plan:
        planned = judge_probe.expect(wanted)
        show_json(planned) if as_json else show(_planned_probes(planned))
        return
    with kept_on_interrupt(), progress_line(quiet, "probed") as progress:
        found = finish(lambda: judge_probe.probe_examples(replace(wanted, progress=progress)))
    show_result(found, outputs, as_json=as_json)
    if found.probed.stopped:
        raise Interrupted(found.probed.stopped, resume=same_command())


def _planned_probes(planned: dict[str, Any]) -> str:
    counts = f"{plural(planned['examples'], 'example')}, {plural(planned['pairs'], 'pair')} of answers"
    lines = [f"{counts}: {expected_calls(planned)}", f"probes: {', '.join(planned['probes'])}"]
    return "\n".join(lines + [f"not probed: {name}: {reason}" for name, reason in planned["left_out"].items()])


def _planned(planned: dict[str, Any]) -> str:
    lines = [f"{planned['rows']:,} rows, {planned['parts']:,} labelled parts"]
    lines += [f"{name}: {expected_calls(expected)}" for name, expected in planned["judges"].items()]
    return "\n".join(lines)
