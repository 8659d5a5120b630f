"""`ragauge sweep`: which configuration of a system to take."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import format_count
from ragauge.studies.command import print_to_stderr
from ragauge.studies.options import SweepOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    build_resume_command,
    redirect_prints,
    report_interrupt,
    show,
    show_command,
    show_json,
    show_progress,
    warn,
)

if TYPE_CHECKING:
    from ragauge.studies.sweep.sweep_runner import SweepLog

MAX_LISTED_TRIALS = 30  # trials that a dry run lists


@options.spread_options
def sweep(
    context: typer.Context,
    command_options: SweepOptions,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The configuration file, with a sweep section (see ragauge docs sweeps)."),
        options.PlacedBefore("system"),
    ] = Path("ragauge.yaml"),
    outputs: options.StudyOutputs = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Try configurations of a system, drop clear losers early, and recommend one with its certainty.

    What is typed goes before the file. The same command goes on with a sweep that was stopped; wider parameters join.
    """
    from ragauge.studies.sweep.verb import preview_sweep, run_sweep
    from ragauge.verbs.coroutines import run_coroutine

    sweep_options = _merge_options(command_options, file, _find_typed_names(context), quiet)
    if dry_run:
        preview = preview_sweep(sweep_options)
        show_json(preview) if as_json else show("\n".join(_iter_plan_lines(preview)))
        return
    try:
        interrupt_guard = report_interrupt("All responses so far are saved.")
        with interrupt_guard, redirect_prints(), show_progress(quiet, "answered") as progress:
            result = run_coroutine(lambda: run_sweep(replace(sweep_options, progress=progress)))
    except Interrupted as end:
        raise Interrupted(str(end), resume=build_resume_command()) from None
    for note in result.log.notes:
        warn(note)
    if not quiet:
        print_to_stderr(_format_ledger(result.log))
    for path in outputs or ():
        typer.echo(f"wrote {result.save(path)}", err=True)
    show_json(result.to_dict()) if as_json else show(result.to_terminal())
    if result.confirmed is not None and not as_json:
        show(result.confirmed.to_terminal())
    if not result.figures.complete:
        raise typer.Exit(1)
    if as_json:
        return
    show_command(f"A trial is a run: ragauge runs --study {result.study.name}")


def _find_typed_names(context: typer.Context) -> set[str]:
    """The parameters that do not stand at their defaults because nobody named them."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name != "DEFAULT"}


def _merge_options(typed_options: SweepOptions, file: Path, typed: set[str], quiet: bool) -> SweepOptions:
    """What the file says, where it says anything, under what is typed."""
    merged = typed_options
    if file.exists() or "file" in typed or not {"system", "set"} <= typed:
        merged = SweepOptions.from_config(
            file, **{name: getattr(typed_options, name) for name in typed if hasattr(typed_options, name)}
        )
    return merged if quiet else replace(merged, say=print_to_stderr)


def _format_ledger(log: "SweepLog") -> str:
    """What was planned, made now and saved, in a line."""
    saved = log.planned - log.held
    text = f"asked {log.made:,} questions now, {log.held:,} of {log.planned:,} in total"
    text += f", {saved:,} skipped by the race" if saved else ""
    judge_text = f"; judge: {log.judge_calls:,} calls, {log.replies_reused:,} cached replies" if log.judge_calls else ""
    return f"{text}{judge_text}" + (f"; index: {format_count(log.index_calls, 'call')}" if log.index_calls else "")


def _iter_plan_lines(preview: dict[str, Any]) -> Iterator[str]:
    """A dry run in words."""
    at_most = "at most " if preview["design"] == "staged" else ""
    yield f"{preview['study']}: {preview['system']}, {preview['design']}, by {preview['objective']}"
    yield f"other metrics: {', '.join(preview['metrics'][1:])}"
    stored = f", of which {preview['questions_stored']:,} are stored" if preview["questions_stored"] else ""
    yield (
        f"{at_most}{preview['trials']:,} trials × {preview['examples']:,} examples = "
        f"{at_most}{preview['questions_at_most']:,} questions to the system{stored}"
    )
    if preview["judge"]:
        yield f"at most {preview['judge_questions_at_most']:,} questions to {preview['judge']}, including stored ones"
    if preview["held_back"]:
        yield f"held back for confirmation: {preview['held_back']:,} examples"
    looks = preview["looks"]
    yield (
        f"checkpoints: {', '.join(map(str, looks))} questions" if len(looks) > 1 else "no race: all questions are asked"
    )
    if preview["index_calls"]:
        yield f"{at_most}{preview['index_calls']:,} index calls"
    yield "first stage:" if at_most else "trials (base first):"
    yield from (f"  {name}" for name in preview["configurations"][:MAX_LISTED_TRIALS])
    if len(preview["configurations"]) > MAX_LISTED_TRIALS:
        yield f"  and {len(preview['configurations']) - MAX_LISTED_TRIALS:,} more; --json lists all"
