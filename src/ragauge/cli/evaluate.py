"""`ragauge evaluate`: evidence and scores for a run or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    outputs: options.Outputs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how good retrieval and generation each are, with what certainty, and what to do."""
    from ragauge import api
    from ragauge.api import files

    for path in outputs or ():
        files.check(path)
    source = api.Source(
        tuple(sources), columns=options.mapping(columns), segments=options.names(segments), name=name, warn=warn
    )
    wanted = api.Wanted(options.names(metrics), judge, limit=limit, keep=options.conditions(keep), workers=workers)
    if dry_run:
        planned = api.dry_run(source, wanted, store or None)
        show_json(planned) if as_json else show(api.planned_text(planned))
        return
    try:
        with progress_line(quiet) as progress:
            card = api.evaluate_source(source, wanted, store or None, progress)
    except KeyboardInterrupt:
        raise Interrupted("Stopped. Everything evaluated so far is kept.", resume=same_command()) from None
    show_json(card.to_dict()) if as_json else show(card.to_terminal())
    for path in outputs or ():
        warn_written(card.save(path))


def warn_written(path: Path) -> None:
    """Names a written file on stderr."""
    typer.echo(f"wrote {path}", err=True)
