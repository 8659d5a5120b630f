"""`ragauge store cache prune`, `export` and `import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.core.messages import format_count
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_json

File = Annotated[Path, typer.Argument(help="File of replies: .jsonl or .jsonl.gz.")]


def prune(
    model: Annotated[str, typer.Option("--model", help="Only replies from this model, as listed.")] = "",
    question: Annotated[
        str, typer.Option("--question", help="Only replies to this judge question, such as verify_answer.")
    ] = "",
    before: Annotated[
        str, typer.Option("--before", help="Only replies before this date (UTC), such as 2026-01-31.")
    ] = "",
    failed: Annotated[
        bool, typer.Option("--failed", help="Only replies without a verdict: filtered or truncated.")
    ] = False,
    store: options.Store = "",
    yes: options.Yes = False,
    as_json: options.Json = False,
) -> None:
    """Removes replies after asking."""
    from ragauge.evaluation.cache import verb as cache

    which = cache.ReplyFilter(model, question, before, failed)
    count = cache.count_replies(which, store or None)
    if count and not yes:
        typer.confirm(f"Remove {count:,} stored replies?", abort=True, err=True)
    removed = cache.prune_replies(which, store or None) if count else 0
    typer.echo(f"removed {removed:,} stored replies", err=True)
    if as_json:
        show_json({"removed": removed})


def export_replies(output: File, store: options.Store = "", as_json: options.Json = False) -> None:
    """Writes the replies and counts them."""
    from ragauge.evaluation.cache import verb as cache

    count = cache.export_replies(output, store or None)
    typer.echo(f"wrote {output} ({format_count(count, 'reply', 'replies')})", err=True)
    if as_json:
        show_json({"path": str(output), "replies": count})


def import_replies(source: File, store: options.Store = "", as_json: options.Json = False) -> None:
    """Takes in replies and counts them."""
    from ragauge.evaluation.cache import verb as cache

    added, n_existing = cache.import_replies(source, store or None)
    typer.echo(f"added {format_count(added, 'reply', 'replies')}; {n_existing:,} were already stored", err=True)
    if as_json:
        show_json({"added": added, "already_there": n_existing})
