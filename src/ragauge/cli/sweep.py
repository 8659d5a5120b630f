"""`ragauge sweep`: which configuration of a system to take."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragauge.api.inputs.typed import Store, Typed
from ragauge.cli import options
from ragauge.cli.output import kept_on_interrupt, prints_apart, same_command, show, show_command, show_json, warn
from ragauge.errors import Interrupted, UsageError

RACE = "Which trials, and how far"


@dataclass(frozen=True, kw_only=True)
class SweepCommandOptions:
    """What is typed; what is left out is as the section sweep of the file says, and else as `sweep` has it."""

    file: Annotated[
        Path, Typed("The configuration, with a section sweep: docs/sweeps.md.", argument=True, metavar="FILE")
    ] = field(default=Path("ragauge.yaml"), kw_only=False)
    system: Annotated[str, Typed("module:function that builds a system, or reference:FOLDER.")] = ""
    set: Annotated[str, Typed("The questions: a file or folder, or a stored set's name.")] = ""
    parameters: Annotated[
        tuple[str, ...], Typed("Such as -p k=1,5,10; repeatable.", "-p --parameter", list[str] | None)
    ] = ()
    objective: Annotated[str, Typed("What decides: a metric.")] = ""
    metrics: Annotated[str, Typed("Metrics to show beside it, comma-separated.", "-m --metrics")] = ""
    preset: Annotated[str, Typed("chunk_size or top_k: their parameters.")] = ""
    design: Annotated[
        str, Typed("Which configurations.", kind=Literal["grid", "one_factor", "random", "staged", ""], panel=RACE)
    ] = ""
    trials: Annotated[int | None, Typed("How many, of a random design.", least=2, panel=RACE)] = None
    no_race: Annotated[bool, Typed("Ask every trial everything.", panel=RACE)] = False
    margin: Annotated[float | None, Typed("Drop what surely cannot beat the leader by this.", panel=RACE)] = None
    budget: Annotated[int | None, Typed("Tokens of context in place of k passages.", least=1, panel=RACE)] = None
    confirm: Annotated[str, Typed("A set, or a share held back, such as 25%.", metavar="SET|SHARE", panel=RACE)] = ""
    judge: Annotated[str, Typed("Who answers what labels do not: local, openai:MODEL.")] = ""
    max_cost: Annotated[float | None, Typed("US dollars that the judge may spend now; a hard stop.")] = None
    name: Annotated[str, Typed("Of the study; sweep-SET by default.")] = ""
    fresh: Annotated[bool, Typed("Forget a study of this name first.")] = False
    store: Store = None


@options.grouped
def sweep(
    wanted: SweepCommandOptions, outputs: options.StudyOutputs = None, dry_run: options.DryRun = False,
    as_json: options.Json = False, quiet: options.Quiet = False,
) -> None:     # fmt: skip
    """Try configurations of a system, stop asking what surely loses, and say which to take and how sure that is.

    The same command goes on with a sweep that was stopped; wider parameters join it.
    """
    from ragauge.api.sweep import planned, run_sweep
    from ragauge.api.threads import finish

    options_ = _options(wanted, quiet)
    if dry_run:
        found = planned(options_)
        lines = (f"{name.replace('_', ' ')}: {value}" for name, value in found.items())
        show_json(found) if as_json else show("\n".join(lines))
        return
    try:
        with kept_on_interrupt("Every response so far is kept."), prints_apart():
            result = finish(lambda: run_sweep(options_))
    except Interrupted as end:
        raise Interrupted(str(end), resume=same_command()) from None
    for note in result.log.notes:
        warn(note)
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


def _options(wanted: SweepCommandOptions, quiet: bool) -> Any:
    from ragauge.api.sweep import SweepOptions

    given: dict[str, Any] = {
        name: value for name, value in vars(wanted).items()
        if name not in ("file", "parameters", "no_race") and value not in ("", None, False)
    }     # fmt: skip
    if wanted.parameters:
        given["parameters"] = dict(_parameter(text) for text in wanted.parameters)
    if wanted.no_race:
        given["race"] = False
    if not quiet:
        given["say"] = lambda line: typer.echo(line, err=True)
    if {"system", "set"} <= set(given) and not wanted.file.exists():
        return SweepOptions(**given)
    return SweepOptions.read(wanted.file, **given)


def _parameter(text: str) -> tuple[str, list[Any]]:
    """k=1,5,10 -> its name and values, read as YAML reads them."""
    import yaml

    name, sign, values = text.partition("=")
    try:
        found = yaml.safe_load(f"[{values}]") if sign and name and values else None
    except yaml.YAMLError:
        found = None
    if not found:
        raise UsageError(f"-p: expected name=value,value such as k=1,5,10, got {text!r}.")
    return name.strip(), found
