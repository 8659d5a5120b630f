"""`ragauge delete`: a run, or all that is kept of a trace, a user or a tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from ragauge.core.errors import UsageError
from ragauge.core.messages import plural
from ragauge.monitoring.options import DeleteOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_json

if TYPE_CHECKING:
    from ragauge.monitoring.erasing import Erasure

STAY = "replies that others use"
NAME_ALONE = (
    "Looked for in the files beside the store: this name or id alone. Texts of theirs are no longer known, so files "
    "that hold only these are not found."
)
LEFT_BEHIND = 1  # exit code where anything of a person is still found


@options.grouped
def delete(wanted: DeleteOptions, yes: options.Yes = False, as_json: options.Json = False) -> None:
    """Delete a run with what no other run uses, or all that is kept of a trace, a user or a tenant, with proof."""
    segments = _segments({"user": wanted.user, "tenant": wanted.tenant}, wanted.segment)
    if bool(wanted.run) == bool(wanted.trace or segments):
        whose = "--trace ID, --user NAME, --tenant NAME or --segment NAME=VALUE"
        raise UsageError(f"what is to be deleted? Name either a run, or whose data: {whose}.")
    if wanted.run:
        _delete_run(wanted, yes=yes, as_json=as_json)
        return
    erasure = _erased(wanted, segments, dry=True)
    if not wanted.dry_run and not erasure.missing:
        if not yes:
            typer.confirm(f"Delete {_counted(erasure.deleted, erasure.traces)}?", abort=True, err=True)
        erasure = _erased(wanted, segments, dry=False)
    if as_json:
        show_json(
            {
                "dry_run": erasure.dry,
                "traces": erasure.traces,
                "deleted": dict(erasure.deleted),
                "left": dict(erasure.left),
                "files": dict(erasure.files),
                "unread": dict(erasure.unread),
                "missing": erasure.missing,
            }
        )
    else:
        _tell(erasure)
    if erasure.left or erasure.files or erasure.unread:
        raise typer.Exit(LEFT_BEHIND)


def _segments(named: Mapping[str, str], given: Sequence[str]) -> dict[str, str]:
    segments = {name: value for name, value in named.items() if value}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals and value):
            raise UsageError(f"--segment: expected NAME=VALUE such as tenant=acme, got {one!r}.")
        segments[name] = value
    return segments


def _erased(wanted: DeleteOptions, segments: Mapping[str, str], *, dry: bool) -> Erasure:
    from ragauge.monitoring.erasing import erase
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import store_url

    with open_store(store_url(wanted.store)) as opened:
        return erase(opened, wanted.trace, segments, dry=dry)


def _tell(erasure: Erasure) -> None:
    if erasure.missing:
        typer.echo(erasure.missing)
        for path, n in erasure.files.items():
            typer.echo(f"found: {n:,} bytes in {path}. Delete it or what is in it.")
        typer.echo(NAME_ALONE)
        return
    typer.echo(f"{'would delete' if erasure.dry else 'deleted'} {_counted(erasure.deleted, erasure.traces)}")
    if STAY in erasure.deleted:
        typer.echo(f"{STAY}, kept: {erasure.deleted[STAY]:,}. Somebody else sent the same text.")
    if erasure.dry:
        return
    for where, n in erasure.left.items():
        typer.echo(f"still found: {n:,} {'bytes in the store' if where == 'raw files' else f'rows of {where}'}")
    for path, n in erasure.files.items():
        typer.echo(f"still found: {n:,} bytes in {path}, which ragauge does not change. Delete it or what is in it.")
    for path, why in erasure.unread.items():
        typer.echo(f"not looked into: {path} ({why}). Look yourself.")
    if not erasure.left and not erasure.files and not erasure.unread:
        typer.echo("Looked for afterwards in the store, its free pages, its log and files beside it: 0 bytes found.")


def _counted(deleted: Mapping[str, int], traces: int) -> str:
    parts = [f"{n:,} {what}" for what, n in deleted.items() if what not in (STAY, "traces")]
    return f"{plural(traces, 'trace')}: {', '.join(parts) or 'nothing else is kept of them'}"


def _delete_run(wanted: DeleteOptions, *, yes: bool, as_json: bool) -> None:
    from ragauge.evaluation.runs.verb import open_run

    opened = open_run(wanted.run, store=wanted.store)
    called = f"{opened.run.name} ({opened.run.run_id})"
    if wanted.dry_run:
        typer.echo(f"would delete {called}, {plural(opened.run.done, 'response')}", err=True)
        return
    if not yes:
        question = f"Delete run {opened.run.name} ({opened.run.run_id}, {opened.run.done} responses)?"
        typer.confirm(question, abort=True, err=True)
    gone = opened.delete()
    parts = [f"{n:,} {what}" for what, n in gone.items() if n and what != STAY]
    typer.echo(f"deleted {called}: {', '.join(parts) or 'it held nothing'}", err=True)
    if gone.get(STAY):
        typer.echo(f"{plural(gone[STAY], 'reply', 'replies')} stay: other runs rest on them", err=True)
    if as_json:
        show_json({"run_id": opened.run.run_id, "deleted": gone})
