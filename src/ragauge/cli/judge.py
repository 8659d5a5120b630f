"""`ragauge judge`: what a judge is worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ragauge.api.options import CheckJudgeOptions, ProbeOptions
from ragauge.cli import options
from ragauge.cli.output import expected_calls, kept_on_interrupt, progress_line, same_command, show, show_json
from ragauge.errors import Interrupted
from ragauge.text.messages import plural

app = typer.Typer(help="What a judge is worth on your data.", no_args_is_help=True)


Forget = Annotated[
    bool, typer.Option("--forget", help="Take back what was kept of this file, for every judge; asks nothing.")
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write the report: .md, .json; every part that differs: .jsonl."),
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
    only_plan: options.DryRun = False,
    take_back: Forget = False,
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
    from ragauge.api import judge_check
    from ragauge.api.verbs import finish
    from ragauge.reporting.judge_check import sections
    from ragauge.reporting.writers.terminal import terminal

    for path in outputs or ():
        judge_check.check_output(path)
    if take_back:
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
def probe(
    wanted: ProbeOptions, only_plan: options.DryRun = False, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Whether the order of two answers changes which one a judge prefers: each pair is asked in both orders.

    Each row has a query, two answers (answers, or answer_1 and answer_2), and better (1, 2 or tie) where people said.
    """
    from ragauge.api import judge_probe
    from ragauge.api.verbs import finish
    from ragauge.reporting.judge_probe import sections
    from ragauge.reporting.writers.terminal import terminal

    if only_plan:
        planned = judge_probe.expect(wanted)
        text = f"{plural(planned['pairs'], 'pair')}: {expected_calls(planned)}"
        show_json(planned) if as_json else show(text)
        return
    with kept_on_interrupt(), progress_line(quiet, "probed") as progress:
        probed = finish(lambda: judge_probe.probe_judge(replace(wanted, progress=progress)))
    show_json(probed.to_dict()) if as_json else show(terminal(sections(probed.judge_id, probed.position)))
    if probed.stopped:
        raise Interrupted(probed.stopped, resume=same_command())


def _planned(planned: dict[str, Any]) -> str:
    lines = [f"{planned['rows']:,} rows, {planned['parts']:,} labelled parts"]
    lines += [f"{name}: {expected_calls(expected)}" for name, expected in planned["judges"].items()]
    return "\n".join(lines)
