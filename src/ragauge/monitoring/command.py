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

MonitorOutputs = Annotated[list[Path] | None, typer.Option("-o", "--output", help="A file: .html, .md, .json.")]
Config = Annotated[Path | None, typer.Option("--config", help="The file with the section monitor; else ragauge.yaml.")]

app = typer.Typer(help="Take in the traces of production, and say what became of each.", no_args_is_help=True)


@app.command()
@options.spread_options
def serve(command_options: MonitorServeOptions) -> None:
    """Take in traces by OTLP/HTTP, and serve the dashboard beside it. Ctrl-C ends it, and loses nothing.

    Only this machine can send and read, unless --host says otherwise, which needs a token.
    """
    from ragauge.monitoring.app import serve_monitor as serving

    serving(command_options, lambda message: typer.echo(message, err=True))


@app.command()
@options.spread_options
def plan(command_options: MonitorPlanOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Say how long drops of 5, 10 and 20 % take to be seen, and what judging costs a day, by sampling rate."""
    from ragauge.monitoring.plan import verb as monitor_plan

    validate_outputs(outputs, monitor_plan.MonitorPlanResult)
    show_result(monitor_plan.monitor_plan(**vars(command_options)), outputs, as_json=as_json)


@app.command()
def trace(
    trace_id: Annotated[str, typer.Argument(metavar="ID", help="A trace's id, or a captured query_id.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say what became of a trace: in which run it is scored, or why it is not."""
    from ragauge.monitoring.traffic.verb import find_trace as told

    show_result(told(trace_id, store=store or None), as_json=as_json)


@app.command()
def traces(
    outcome: Annotated[str, typer.Option("--outcome", help="Only these, such as scored or failed.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="How many.")] = 20,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """List the newest traces: what became of each, when it came, and what was asked."""
    from ragauge.monitoring.traffic.verb import list_traces

    show_result(list_traces(outcome=outcome, limit=limit, store=store or None), as_json=as_json)


@app.command()
def status(config: Config = None, store: options.Store = "", as_json: options.Json = False) -> None:
    """Say what came in, what became of each project's traces, where monitors stand, and who shares the false alarms."""
    from ragauge.monitoring.traffic.verb import build_monitor_status

    show_result(build_monitor_status(config=config, store=store or None), as_json=as_json)


@app.command()
@options.spread_options
def replay(
    command_options: MonitorReplayOptions, outputs: MonitorOutputs = None, as_json: options.Json = False
) -> None:
    """Go through the stored traffic again: which alerts the monitors of a configuration would have raised, and why."""
    from ragauge.monitoring.replay import verb as monitor_replay

    validate_outputs(outputs, monitor_replay.ReplayResult)
    show_result(monitor_replay.monitor_replay(**vars(command_options)), outputs, as_json=as_json)


@app.command()
@options.spread_options
def drift(command_options: MonitorDriftOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Say whether the questions and passages of the last days are like those before, and how the last day's differ."""
    from ragauge.monitoring.drift import verb as monitor_drift

    validate_outputs(outputs, monitor_drift.DriftResult)
    show_result(monitor_drift.monitor_drift(**vars(command_options)), outputs, as_json=as_json)


@app.command()
@options.spread_options
def mark(command_options: MonitorMarkOptions, as_json: options.Json = False) -> None:
    """Say of days that production was good or bad: from these, drift learns which values are usual."""
    from ragauge.monitoring.drift.verb import monitor_mark

    show_result(monitor_mark(**vars(command_options)), as_json=as_json)


@app.command()
def alerts(
    alert: Annotated[str, typer.Argument(help="Its id, or how it begins: all of that one; else the list.")] = "",
    config: Config = None,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """List the alerts that monitors raised: which are open, and what people say of each; or show one."""
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
    """Put questions of production to a candidate, and say whether to cut over, to ramp or to stop."""
    from ragauge.monitoring.shadow import verb as monitor_shadow

    validate_outputs(outputs, monitor_shadow.ShadowResult)
    show_result(monitor_shadow.monitor_shadow(**vars(command_options)), outputs, as_json=as_json)


@app.command()
def resolve(
    alert: Annotated[str, typer.Argument(help="Its id, or how it begins.")],
    resolution: Annotated[str, typer.Option("--as", help="acknowledged or false_alarm.")] = "acknowledged",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say of an alert that somebody knows of it, or that it was a false alarm."""
    from ragauge.monitoring.alerts.alert_coverage import format_headline
    from ragauge.monitoring.alerts.verb import resolve_alert

    resolved_alert = resolve_alert(alert, resolution=resolution, store=store or None)
    if as_json:
        show_json(resolved_alert)
        return
    resolution_text = resolution.replace("_", " ")
    share = f"{resolved_alert.precision:.0%} of {resolved_alert.resolved:,} that people spoke of count as true alarms"
    until = ", this one until --as false_alarm is said of it" if resolution == "acknowledged" else ""
    show(f"{resolution_text}: {format_headline(resolved_alert.alert)}\n{share}{until}")
