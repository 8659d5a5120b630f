"""`ragauge monitor serve` and `alerts`, and `ragauge runs delete`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_count
from ragauge.monitoring.options import DeleteOptions, MonitorServeOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show_json, show_result

if TYPE_CHECKING:
    from ragauge.monitoring.erasing import Erasure


Config = Annotated[Path | None, typer.Option("--config", help="File with the monitor section; default ragauge.yaml.")]


@options.spread_options
def serve(command_options: MonitorServeOptions) -> None:
    """Serves until it is stopped."""
    from ragauge.monitoring.service import serve_monitor as serving

    serving(command_options, lambda message: typer.echo(message, err=True))


def alerts(
    alert: Annotated[str, typer.Argument(help="Alert ID or the start of it; omit it to list all alerts.")] = "",
    config: Config = None,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Prints all alerts, or one."""
    from ragauge.monitoring.alerts import verb as monitor_alerts

    if alert:
        show_result(monitor_alerts.find_alert(alert, config=config, store=store or None), as_json=as_json)
    else:
        show_result(monitor_alerts.list_alerts(store=store or None), as_json=as_json)


KEPT_REPLIES = "replies that others use"
NAME_ONLY_NOTE = (
    "The files next to the store were searched only for this name or ID. Its texts are no longer known, so files "
    "that contain only those texts are not found."
)
LEFT_BEHIND_EXIT_CODE = 1  # exit code where anything of a person is still found


@options.spread_options
def delete(command_options: DeleteOptions, yes: options.Yes = False, as_json: options.Json = False) -> None:
    """Deletes after asking, and prints what is left."""
    segments = _parse_segments(
        {"user": command_options.user, "tenant": command_options.tenant}, command_options.segment
    )
    if bool(command_options.run) == bool(command_options.trace or segments):
        whose = "--trace ID, --user NAME, --tenant NAME or --segment NAME=VALUE"
        raise UsageError(f"nothing to delete is specified. Name either a run, or whose data to delete: {whose}.")
    if command_options.run:
        _delete_run(command_options, yes=yes, as_json=as_json)
        return
    erasure = _erase_data(command_options, segments, dry=True)
    if not command_options.dry_run and not erasure.missing:
        if not yes:
            typer.confirm(f"Delete {_format_counts(erasure.deleted, erasure.traces)}?", abort=True, err=True)
        erasure = _erase_data(command_options, segments, dry=False)
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
        _print_erasure(erasure)
    if erasure.left or erasure.files or erasure.unread:
        raise typer.Exit(LEFT_BEHIND_EXIT_CODE)


def _parse_segments(fixed_segments: Mapping[str, str], raw: Sequence[str]) -> dict[str, str]:
    segments = {name: value for name, value in fixed_segments.items() if value}
    for pair in raw:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise UsageError(f"--segment: expected NAME=VALUE such as tenant=acme, got {pair!r}.")
        segments[name] = value
    return segments


def _erase_data(command_options: DeleteOptions, segments: Mapping[str, str], *, dry: bool) -> Erasure:
    from ragauge.monitoring.erasing import erase_traces
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import resolve_store_url

    with open_store(resolve_store_url(command_options.store)) as opened_store:
        return erase_traces(opened_store, command_options.trace, segments, dry=dry)


def _print_erasure(erasure: Erasure) -> None:
    if erasure.missing:
        typer.echo(erasure.missing)
        for path, n in erasure.files.items():
            typer.echo(f"found: {n:,} bytes in {path}. Delete the file or this data in it.")
        typer.echo(NAME_ONLY_NOTE)
        return
    typer.echo(f"{'would delete' if erasure.dry else 'deleted'} {_format_counts(erasure.deleted, erasure.traces)}")
    if KEPT_REPLIES in erasure.deleted:
        typer.echo(f"kept: {erasure.deleted[KEPT_REPLIES]:,} {KEPT_REPLIES}, because someone else sent the same text.")
    if erasure.dry:
        return
    for where, n in erasure.left.items():
        typer.echo(f"still found: {n:,} {'bytes in the store' if where == 'raw files' else f'rows of {where}'}")
    for path, n in erasure.files.items():
        typer.echo(
            f"still found: {n:,} bytes in {path}, which ragauge does not change. Delete the file or this data in it."
        )
    for path, reason in erasure.unread.items():
        typer.echo(f"not checked: {path} ({reason}). Check it yourself.")
    if not erasure.left and not erasure.files and not erasure.unread:
        typer.echo("Verified afterwards: 0 bytes found in the store, its free pages, its log and the files next to it.")


def _format_counts(deleted: Mapping[str, int], traces: int) -> str:
    parts = [f"{n:,} {what}" for what, n in deleted.items() if what not in (KEPT_REPLIES, "traces")]
    return f"{format_count(traces, 'trace')}: {', '.join(parts) or 'no other data is stored'}"


def _delete_run(command_options: DeleteOptions, *, yes: bool, as_json: bool) -> None:
    from ragauge.evaluation.runs.verb import open_run

    stored_run = open_run(command_options.run, store=command_options.store)
    called = f"{stored_run.run.name} ({stored_run.run.run_id})"
    if command_options.dry_run:
        typer.echo(f"would delete {called}, {format_count(stored_run.run.done, 'response')}", err=True)
        return
    if not yes:
        question = f"Delete run {stored_run.run.name} ({stored_run.run.run_id}, {stored_run.run.done} responses)?"
        typer.confirm(question, abort=True, err=True)
    gone = stored_run.delete()
    parts = [f"{n:,} {what}" for what, n in gone.items() if n and what != KEPT_REPLIES]
    typer.echo(f"deleted {called}: {', '.join(parts) or 'it was empty'}", err=True)
    if gone.get(KEPT_REPLIES):
        typer.echo(f"kept: {format_count(gone[KEPT_REPLIES], 'reply', 'replies')} that other runs use", err=True)
    if as_json:
        show_json({"run_id": stored_run.run.run_id, "deleted": gone})
