"""`ragauge baseline`: names that stand for runs."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.core.messages import format_command
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json

app = typer.Typer(help="Set, list and remove baselines: names for runs, as in --baseline main.", no_args_is_help=True)


@app.command("set")
def set_one(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")] = "latest",
    name: Annotated[
        str, typer.Option("--name", help="Name of the baseline; default: git's current branch, or main.")
    ] = "",
    branch: Annotated[str, typer.Option("--branch", help="Branch of the run; default: git's current one.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="A tag such as v1.2; --baseline v1.2 then finds the run.")] = "",
    note: Annotated[str, typer.Option("--note", help="The reason, in your own words.")] = "",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Let a name mean a run from now on. What it meant before stays in its history."""
    from ragauge.comparison.baselines.verb import set_baseline

    row = set_baseline(run, name=name, branch=branch, tag=tag, note=note, store=store or None)
    if as_json:
        show_json(row)
        return
    moved = {"": "", row["run_id"]: " (unchanged)"}.get(row["before"], f" (previously: run {row['before']})")
    show(f"baseline {row['name']} is run {row['run']} ({row['run_id']}){moved}")
    show(f"After the next run, compare it with: {format_command('report', 'latest', '--baseline', row['name'])}")


@app.command("list")
def list_all(
    name: Annotated[str, typer.Argument(help="One baseline; all if omitted.")] = "",
    branch: Annotated[str, typer.Option("--branch", help="Only baselines of this branch.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="Only baselines with this tag.")] = "",
    history: Annotated[bool, typer.Option("--history", help="Earlier runs of each name, newest first.")] = False,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """List what every baseline means: run, since when, by whom, commit, branch, tag, note."""
    from ragauge.comparison.baselines.verb import baselines, build_baselines_table

    rows = baselines(name=name, branch=branch, tag=tag, history=history, store=store or None)
    show_json(rows) if as_json else show(build_baselines_table(rows))


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="Name of the baseline.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Remove a baseline. The run and the history of the name are kept."""
    from ragauge.comparison.baselines.verb import remove_baseline

    row = remove_baseline(name, store=store or None)
    show_json(row) if as_json else show(f"{name} is no longer a baseline; run {row['run']} ({row['run_id']}) is kept")
