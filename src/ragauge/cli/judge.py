"""`ragauge judge`: what a judge is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ragauge.api.inputs.calls import USUAL, ModelCallOptions
from ragauge.cli import options
from ragauge.cli.output import expected_calls, kept_on_interrupt, progress_line, same_command, show, show_json
from ragauge.errors import Interrupted
from ragauge.text.messages import plural

app = typer.Typer(help="What a judge is worth on your data.", no_args_is_help=True)


Labelled = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Answers or claims with passages and human labels: JSON lines, CSV or Parquet."
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Who is checked: openai:MODEL and others; repeatable. local always comes along."),
]
Modes = Annotated[
    str, typer.Option("--modes", help="How models are asked: fused (all claims in a call), per_claim, or both.")
]
Supported = Annotated[
    str, typer.Option("--supported", help="Values of the label that mean supported; all others mean not.")
]
Columns = Annotated[
    list[str] | None, typer.Option("--map", help="A column under another name: --map label=verdict; repeatable.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="So many rows, drawn at random, always the same.")]
Forget = Annotated[
    bool, typer.Option("--forget", help="Take back what was kept of this file, for every judge; asks nothing.")
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write the report: .md, .json; every part that differs: .jsonl."),
]


@app.callback()
def front() -> None:
    """What a judge is worth on your data."""


@app.command()
@options.grouped
def check(
    source: Labelled,
    judges: Judges = None,
    modes: Modes = "fused,per_claim",
    supported: Supported = "",
    store: options.Store = "",
    columns: Columns = None,
    segments: options.Segments = "",
    limit: Limit = None,
    calls: ModelCallOptions = USUAL,
    only_plan: options.DryRun = False,
    take_back: Forget = False,
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
    from ragauge.api.threads import finish
    from ragauge.reporting.judge_check import sections, to_dict
    from ragauge.reporting.writers.terminal import terminal

    for path in outputs or ():
        judge_check.check_output(path)
    wanted = judge_check.Checking(
        source, tuple(judges or ()), options.names(modes), limit, options.mapping(columns), options.names(segments),
        options.names(supported), calls,
    )     # fmt: skip
    if take_back:
        checks = judge_check.forget(wanted, store or None)
        told = f"{plural(checks, 'check')} of {source} forgotten: no interval rests on its labels now."
        show(told if checks else f"No check of {source} is kept: nothing to forget.")
        return
    if only_plan:
        planned = judge_check.expect(wanted, store or None)
        show_json(planned) if as_json else show(_planned(planned))
        return
    with kept_on_interrupt(), progress_line(quiet, "checked") as progress:
        found = finish(lambda: judge_check.check_labelled(wanted, store or None, progress))
    show_json(to_dict(found)) if as_json else show(terminal(sections(found)))
    for path in outputs or ():
        typer.echo(f"wrote {judge_check.save(found, path)}", err=True)
    if found.stopped:
        raise Interrupted(found.stopped, resume=same_command())


Pairs = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Questions with two answers each, and `better` where known: JSON lines, CSV."),
]
Probed = Annotated[str, typer.Option("--judge", help="Who is probed: openai:MODEL or another model.")]


@app.command()
@options.grouped
def probe(
    source: Pairs,
    judge: Probed,
    store: options.Store = "",
    columns: Columns = None,
    limit: Limit = None,
    calls: ModelCallOptions = USUAL,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Whether the order of two answers changes which one a judge prefers: each pair is asked in both orders.

    Each row has a query, two answers (answers, or answer_1 and answer_2), and better (1, 2 or tie) where people said.
    """
    from ragauge.api import judge_probe
    from ragauge.api.threads import finish
    from ragauge.reporting.judge_probe import sections
    from ragauge.reporting.writers.terminal import terminal

    wanted = judge_probe.Probing(source, judge, limit, options.mapping(columns), calls)
    if only_plan:
        planned = judge_probe.expect(wanted, store or None)
        text = f"{plural(planned['pairs'], 'pair')}: {expected_calls(planned)}"
        show_json(planned) if as_json else show(text)
        return
    with kept_on_interrupt(), progress_line(quiet, "probed") as progress:
        found = finish(lambda: judge_probe.probe_judge(wanted, store or None, progress))
    show_json(found.to_dict()) if as_json else show(terminal(sections(found.judge_id, found.position)))
    if found.stopped:
        raise Interrupted(found.stopped, resume=same_command())


def _planned(planned: dict[str, Any]) -> str:
    lines = [f"{planned['rows']:,} rows, {planned['parts']:,} labelled parts"]
    lines += [f"{name}: {expected_calls(one)}" for name, one in planned["judges"].items()]
    return "\n".join(lines)
