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
from ragauge.verbs.command_output import check_outputs, show, show_json, show_result

MonitorOutputs = Annotated[list[Path] | None, typer.Option("-o", "--output", help="A file: .html, .md, .json.")]
Config = Annotated[Path | None, typer.Option("--config", help="The file with the section monitor; else ragauge.yaml.")]

app = typer.Typer(help="Take in the traces of production, and say what became of each.", no_args_is_help=True)


@app.command()
@options.grouped
def serve(wanted: MonitorServeOptions) -> None:
    """Take in traces by OTLP/HTTP, and serve the dashboard beside it. Ctrl-C ends it, and loses nothing.

    Only this machine can send and read, unless --host says otherwise, which needs a token.
    """
    from ragauge.monitoring.app import serve as serving

    serving(wanted, lambda said: typer.echo(said, err=True))


@app.command()
@options.grouped
def plan(wanted: MonitorPlanOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Say how long drops of 5, 10 and 20 % take to be seen, and what judging costs a day, by sampling rate."""
    from ragauge.monitoring.plan import verb as monitor_plan

    check_outputs(outputs, monitor_plan.MonitorPlanResult)
    show_result(monitor_plan.monitor_plan(**vars(wanted)), outputs, as_json=as_json)


@app.command()
def trace(
    trace_id: Annotated[str, typer.Argument(metavar="ID", help="A trace's id, or a captured query_id.")],
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say what became of a trace: in which run it is scored, or why it is not."""
    from ragauge.monitoring.traffic.verb import trace as told

    show_result(told(trace_id, store=store or None), as_json=as_json)


@app.command()
def traces(
    outcome: Annotated[str, typer.Option("--outcome", help="Only these, such as scored or failed.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="How many.")] = 20,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """List the newest traces: what became of each, when it came, and what was asked."""
    from ragauge.monitoring.traffic.verb import trace_list

    show_result(trace_list(outcome=outcome, limit=limit, store=store or None), as_json=as_json)


@app.command()
def status(config: Config = None, store: options.Store = "", as_json: options.Json = False) -> None:
    """Say what came in, what became of each project's traces, where monitors stand, and who shares the false alarms."""
    from ragauge.monitoring.traffic.verb import monitor_status

    show_result(monitor_status(config=config, store=store or None), as_json=as_json)


@app.command()
@options.grouped
def replay(wanted: MonitorReplayOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Go through the stored traffic again: which alerts the monitors of a configuration would have raised, and why."""
    from ragauge.monitoring.replay import verb as monitor_replay

    check_outputs(outputs, monitor_replay.ReplayResult)
    show_result(monitor_replay.monitor_replay(**vars(wanted)), outputs, as_json=as_json)


@app.command()
@options.grouped
def drift(wanted: MonitorDriftOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Say whether the questions and passages of the last days are like those before, and how the last day's differ."""
    from ragauge.monitoring.drift import verb as monitor_drift

    check_outputs(outputs, monitor_drift.DriftResult)
    show_result(monitor_drift.monitor_drift(**vars(wanted)), outputs, as_json=as_json)


@app.command()
@options.grouped
def mark(wanted: MonitorMarkOptions, as_json: options.Json = False) -> None:
    """Say of days that production was good or bad: from these, drift learns which values are usual."""
    from ragauge.monitoring.drift.verb import monitor_mark

    show_result(monitor_mark(**vars(wanted)), as_json=as_json)


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
        show_result(monitor_alerts.alert(alert, config=config, store=store or None), as_json=as_json)
    else:
        show_result(monitor_alerts.alerts(store=store or None), as_json=as_json)


@app.command()
@options.grouped
def shadow(wanted: MonitorShadowOptions, outputs: MonitorOutputs = None, as_json: options.Json = False) -> None:
    """Put questions of production to a candidate, and say whether to cut over, to ramp or to stop."""
    from ragauge.monitoring.shadow import verb as monitor_shadow

    check_outputs(outputs, monitor_shadow.ShadowResult)
    show_result(monitor_shadow.monitor_shadow(**vars(wanted)), outputs, as_json=as_json)


@app.command()
def resolve(
    alert: Annotated[str, typer.Argument(help="Its id, or how it begins.")],
    resolution: Annotated[str, typer.Option("--as", help="acknowledged or false_alarm.")] = "acknowledged",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say of an alert that somebody knows of it, or that it was a false alarm."""
    from ragauge.monitoring.alerts.alert_coverage import headline
    from ragauge.monitoring.alerts.verb import resolve_alert

    found = resolve_alert(alert, resolution=resolution, store=store or None)
    if as_json:
        show_json(found)
        return
    said = resolution.replace("_", " ")
    share = f"{found.precision:.0%} of {found.resolved:,} that people spoke of count as true alarms"
    until = ", this one until --as false_alarm is said of it" if resolution == "acknowledged" else ""
    show(f"{said}: {headline(found.alert)}\n{share}{until}")
