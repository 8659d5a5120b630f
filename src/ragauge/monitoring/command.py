"""`ragauge monitor`: traces of production; and `ragauge runs delete`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_count
from ragauge.monitoring.options import (
    DeleteOptions,
    MonitorDriftOptions,
    MonitorMarkOptions,
    MonitorPlanOptions,
    MonitorReplayOptions,
    MonitorServeOptions,
    MonitorShadowOptions,
)
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json, show_result, validate_outputs

if TYPE_CHECKING:
    from ragauge.monitoring.erasing import Erasure


MonitorOutputs = Annotated[list[Path] | None, typer.Option("-o", "--output", help="Output file: .html, .md or .json.")]
Config = Annotated[Path | None, typer.Option("--config", help="File with the monitor section; default ragauge.yaml.")]

app = typer.Typer(help="Ingest production traces, score them, and alert when quality drops.", no_args_is_help=True)


@app.command()
@options.spread_options
def serve(command_options: MonitorServeOptions) -> None:
    """Receive traces over OTLP/HTTP and serve the dashboard. Ctrl-C stops it without losing data.

    Only this machine can connect unless you set --host, which requires a token.
    """
    from ragauge.monitoring.service import serve_monitor as serving

    serving(command_options, lambda message: typer.echo(message, err=True))


@app.command()
@options.spread_options
def plan(command_options: MonitorPlanOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Estimate how long it takes to detect drops of 5, 10 and 20 %, and the daily judge cost, by sampling rate."""
    from ragauge.monitoring.plan import verb as monitor_plan

    validate_outputs(outputs, monitor_plan.MonitorPlanResult)
    show_result(monitor_plan.monitor_plan(**vars(command_options)), outputs, as_json=as_json)


@app.command()
def trace(
    trace_id: Annotated[str, typer.Argument(metavar="ID", help="A trace ID or a captured query_id.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Show the status of a trace: the run it is scored in, or why it is not scored."""
    from ragauge.monitoring.traffic.verb import find_trace as told

    show_result(told(trace_id, store=store or None), as_json=as_json)


@app.command()
def traces(
    outcome: Annotated[str, typer.Option("--outcome", help="Only traces with this outcome, such as failed.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="Maximum number of traces.")] = 20,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """List the newest traces with their outcome, arrival time and question."""
    from ragauge.monitoring.traffic.verb import list_traces

    show_result(list_traces(outcome=outcome, limit=limit, store=store or None), as_json=as_json)


@app.command()
def status(config: Config = None, store: options.Store = "", as_json: options.Json = False) -> None:
    """Show ingested traffic, trace outcomes by project, the state of each monitor and the false-alarm budget."""
    from ragauge.monitoring.traffic.verb import build_monitor_status

    show_result(build_monitor_status(config=config, store=store or None), as_json=as_json)


@app.command()
@options.spread_options
def replay(
    command_options: MonitorReplayOptions, outputs: MonitorOutputs = None, as_json: options.Json = False
) -> None:
    """Replay the stored traffic: show which alerts the configured monitors would have raised, and why."""
    from ragauge.monitoring.replay import verb as monitor_replay

    validate_outputs(outputs, monitor_replay.ReplayResult)
    show_result(monitor_replay.monitor_replay(**vars(command_options)), outputs, as_json=as_json)


@app.command()
@options.spread_options
def drift(command_options: MonitorDriftOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Show whether recent questions and passages differ from earlier ones, and how the last day differs."""
    from ragauge.monitoring.drift import verb as monitor_drift

    validate_outputs(outputs, monitor_drift.DriftResult)
    show_result(monitor_drift.monitor_drift(**vars(command_options)), outputs, as_json=as_json)


@app.command()
@options.spread_options
def mark(command_options: MonitorMarkOptions, as_json: options.Json = False) -> None:
    """Mark days on which production was good or bad; drift learns normal ranges from them."""
    from ragauge.monitoring.drift.verb import monitor_mark

    show_result(monitor_mark(**vars(command_options)), as_json=as_json)


@app.command()
def alerts(
    alert: Annotated[str, typer.Argument(help="Alert ID or the start of it; omit it to list all alerts.")] = "",
    config: Config = None,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """List the alerts with their state and resolution, or show one in full."""
    from ragauge.monitoring.alerts import verb as monitor_alerts

    if alert:
        show_result(monitor_alerts.find_alert(alert, config=config, store=store or None), as_json=as_json)
    else:
        show_result(monitor_alerts.list_alerts(store=store or None), as_json=as_json)


@app.command()
@options.spread_options
def shadow(
    command_options: MonitorShadowOptions, outputs: MonitorOutputs = None, as_json: options.Json = False
) -> None:
    """Ask a challenger questions from production, and report whether to cut over, ramp or stop."""
    from ragauge.monitoring.shadow import verb as monitor_shadow

    validate_outputs(outputs, monitor_shadow.ShadowResult)
    show_result(monitor_shadow.monitor_shadow(**vars(command_options)), outputs, as_json=as_json)


@app.command()
def resolve(
    alert: Annotated[str, typer.Argument(help="Alert ID or the start of it.")],
    resolution: Annotated[str, typer.Option("--as", help="acknowledged or false_alarm.")] = "acknowledged",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Acknowledge an alert, or mark it as a false alarm."""
    from ragauge.monitoring.alerts.alert_coverage import format_headline
    from ragauge.monitoring.alerts.verb import resolve_alert

    resolved_alert = resolve_alert(alert, resolution=resolution, store=store or None)
    if as_json:
        show_json(resolved_alert)
        return
    resolution_text = resolution.replace("_", " ")
    share = f"{resolved_alert.precision:.0%} of {resolved_alert.resolved:,} reviewed alerts count as true alarms"
    until = ", including this one unless you mark it with --as false_alarm" if resolution == "acknowledged" else ""
    show(f"{resolution_text}: {format_headline(resolved_alert.alert)}\n{share}{until}")


KEPT_REPLIES = "replies that others use"
NAME_ONLY_NOTE = (
    "The files next to the store were searched only for this name or ID. Its texts are no longer known, so files "
    "that contain only those texts are not found."
)
LEFT_BEHIND_EXIT_CODE = 1  # exit code where anything of a person is still found


@options.spread_options
def delete(command_options: DeleteOptions, yes: options.Yes = False, as_json: options.Json = False) -> None:
    """Delete a run, or all data of a trace, a user or a tenant, and verify that it is gone."""
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
