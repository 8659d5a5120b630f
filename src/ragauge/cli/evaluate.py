"""`ragauge evaluate`: evidence and scores for a run or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ragauge.cli import options
from ragauge.cli.output import progress_line, same_command, show, show_json, warn
from ragauge.errors import Interrupted


def evaluate(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|FILE...",
            help="A stored run (id, name or latest), a file with questions and responses, or two files: "
            "the eval set, then the responses, joined on query_id.",
        ),
    ],
    metrics: options.Metrics = "",
    judge: options.Judge = "local",
    store: options.Store = "",
    name: Annotated[str, typer.Option("--name", help="What to call the run; the file's name by default.")] = "",
    columns: options.Columns = None,
    segments: Annotated[str, typer.Option("--segments", help="Columns of the file to report by.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate this many examples, drawn at random.")] = None,
    keep: Annotated[str, typer.Option("--filter", help="Only these: type=multi_hop or tag=golden, comma = and.")] = "",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")] = None,
    index: options.Index = "",
    baseline: options.Baseline = "",
    variant: options.Variant = "own",
    traffic: options.Traffic = False,
    concurrency: options.Concurrency = 16,
    max_cost: options.MaxCost = None,
    timeout: options.Timeout = 120.0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Do again what failed before.")] = False,
    only_plan: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    outputs: options.Outputs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how good retrieval and generation each are, with what certainty, and what to do."""
    from ragauge.api import files
    from ragauge.api.evaluate import Wanted, dry_run, evaluate_source
    from ragauge.api.sources import Source
    from ragauge.api.threads import finish

    for path in outputs or ():
        files.check(path)
    how = options.mapping(columns), options.names(segments), name
    source = Source(tuple(sources), *how, warn=warn, variant=variant, traffic=traffic)
    conditions = options.conditions(keep)
    wanted = Wanted(options.names(metrics), judge, limit, conditions, workers, index or None, warn, baseline)
    wanted = replace(
        wanted, concurrency=concurrency, max_cost=max_cost, timeout=timeout, retry_failed=retry_failed
    )
    if only_plan:
        show_plan(finish(lambda: dry_run(source, wanted, store or None)), as_json)
        return
    try:
        with progress_line(quiet) as progress:
            card = finish(lambda: evaluate_source(source, wanted, store or None, progress))
    except KeyboardInterrupt:
        raise Interrupted("Stopped. Everything evaluated so far is kept.", resume=same_command()) from None
    show_json(card.to_dict()) if as_json else show(card.to_terminal())
    for path in outputs or ():
        warn_written(card.save(path))
    if stopped := card.card.took.get("stopped"):
        raise Interrupted(stopped, resume=same_command())


def show_plan(planned: Mapping[str, Any], as_json: bool) -> None:
    """Prints what would be done."""
    if as_json:
        show_json(planned)
        return
    run_id = f" ({planned['run_id']})" if planned["run_id"] else ""
    show(f"run {planned['name']}{run_id}: {planned['examples']:,} examples, {planned['stored']:,} stored")
    show(f"would ask {', '.join(planned['questions']) or 'nothing'} of {planned['judge'] or 'nobody'}")
    cost = "cost unknown (no price)" if planned["cost"] is None else f"about ${planned['cost']:.2f}"
    if planned["calls"]:
        tokens = f"{planned['input_tokens']:,} tokens in, {planned['output_tokens']:,} out"
        show(f"for {planned['to_do']:,} examples: {planned['calls']:,} calls to a model, about {tokens}, {cost}")
        show("by question: " + ", ".join(f"{name} {count:,}" for name, count in planned["calls_by_question"].items()))
    else:
        show(f"for {planned['to_do']:,} examples: no call to a model, cost 0")


def warn_written(path: Path) -> None:
    """Names a written file on stderr."""
    typer.echo(f"wrote {path}", err=True)
