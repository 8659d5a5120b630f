"""`ragauge monitor`: traces of production."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.monitoring.options import (
    MonitorDriftOptions,
    MonitorMarkOptions,
    MonitorPlanOptions,
    MonitorReplayOptions,
    MonitorServeOptions,
    MonitorShadowOptions,
)
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json, show_result, validate_outputs

MonitorOutputs = Annotated[list[Path] | None, typer.Option("-o", "--output", help="Output file: .html, .md or .json.")]
Config = Annotated[Path | None, typer.Option("--config", help="File with the monitor section; default ragauge.yaml.")]

app = typer.Typer(help="Monitor production: ingest traces, score them and raise alerts.", no_args_is_help=True)


@app.command()
@options.spread_options
def serve(command_options: MonitorServeOptions) -> None:
    """Receive traces over OTLP/HTTP and serve the dashboard. Ctrl-C stops it without losing data.

    Only this machine can connect unless you set --host, which requires a token.
    """
    from ragauge.monitoring.app import serve_monitor as serving

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
