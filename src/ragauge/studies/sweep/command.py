"""`ragauge sweep`: which configuration of a system to take."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import plural
from ragauge.studies.command import tell
from ragauge.studies.options import SweepOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    kept_on_interrupt,
    prints_apart,
    progress_line,
    same_command,
    show,
    show_command,
    show_json,
    warn,
)

if TYPE_CHECKING:
    from ragauge.studies.sweep.sweep_runner import SweepLog

SHOWN = 30  # trials that a dry run lists


@options.grouped
def sweep(
    context: typer.Context,
    wanted: SweepOptions,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The configuration, with a section sweep: ragauge docs sweeps."),
        options.Before("system"),
    ] = Path("ragauge.yaml"),
    outputs: options.StudyOutputs = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Try configurations of a system, stop asking what surely loses, and say which to take and how sure that is.

    What is typed goes before the file. The same command goes on with a sweep that was stopped; wider parameters join.
    """
    from ragauge.studies.sweep.verb import planned, run_sweep
    from ragauge.verbs.coroutines import finish

    asked = _options(wanted, file, _typed(context), quiet)
    if dry_run:
        found = planned(asked)
        show_json(found) if as_json else show("\n".join(_plan_lines(found)))
        return
    try:
        kept = kept_on_interrupt("Every response so far is kept.")
        with kept, prints_apart(), progress_line(quiet, "answered") as progress:
            result = finish(lambda: run_sweep(replace(asked, progress=progress)))
    except Interrupted as end:
        raise Interrupted(str(end), resume=same_command()) from None
    for note in result.log.notes:
        warn(note)
    if not quiet:
        tell(_ledger(result.log))
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


def _typed(context: typer.Context) -> set[str]:
    """The parameters that do not stand at their defaults because nobody named them."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name != "DEFAULT"}


def _options(wanted: SweepOptions, file: Path, typed: set[str], quiet: bool) -> SweepOptions:
    """What the file says, where it says anything, under what is typed."""
    found = wanted
    if file.exists() or "file" in typed or not {"system", "set"} <= typed:
        found = SweepOptions.read(file, **{one: getattr(wanted, one) for one in typed if hasattr(wanted, one)})
    return found if quiet else replace(found, say=tell)


def _ledger(log: "SweepLog") -> str:
    """What was planned, made now and saved, in a line."""
    saved = log.planned - log.held
    told = f"asked {log.made:,} questions now; {log.held:,} of {log.planned:,} in all"
    told += f", {saved:,} saved by the race" if saved else ""
    judged = f"; judge: {log.judge_calls:,} calls, {log.replies_reused:,} replies were there" if log.judge_calls else ""
    return f"{told}{judged}" + (f"; {plural(log.index_calls, 'call')} of index" if log.index_calls else "")


def _plan_lines(found: dict[str, Any]) -> Iterator[str]:
    """A dry run in words."""
    most = "at most " if found["design"] == "staged" else ""
    yield f"{found['study']}: {found['system']}, {found['design']}, by {found['objective']}"
    yield f"beside it: {', '.join(found['metrics'][1:])}"
    stored = f", of which {found['questions_stored']:,} are stored" if found["questions_stored"] else ""
    yield (
        f"{most}{found['trials']:,} trials × {found['examples']:,} examples = {most}{found['questions_at_most']:,} "
        f"questions to the system{stored}"
    )
    if found["judge"]:
        yield f"at most {found['judge_questions_at_most']:,} questions to {found['judge']}, those stored counted"
    if found["held_back"]:
        yield f"held back to confirm on: {found['held_back']:,} examples"
    looks = found["looks"]
    yield f"looks at {', '.join(map(str, looks))} questions" if len(looks) > 1 else "no race: everything is asked"
    if found["index_calls"]:
        yield f"{most}{found['index_calls']:,} calls of index"
    yield "the first stage:" if most else "trials, the base first:"
    yield from (f"  {name}" for name in found["configurations"][:SHOWN])
    if len(found["configurations"]) > SHOWN:
        yield f"  and {len(found['configurations']) - SHOWN:,} more; --json lists all"
