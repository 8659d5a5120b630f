"""The dashboard and what takes in traces, as one server."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.dashboard.serve import build_site, listen_and_serve, require_extra
from ragauge.monitoring.alerts.alert_coverage import describe_projects
from ragauge.monitoring.alerts.verb import list_monitors
from ragauge.monitoring.monitor_section import describe_filtered, describe_judging
from ragauge.monitoring.options import MonitorServeOptions
from ragauge.monitoring.replay.verb import read_section
from ragauge.monitoring.traffic.verb import save_running_config
from ragauge.verbs.options import ServeOptions

if TYPE_CHECKING:
    from ragauge.dashboard.site import Site


def serve_monitor(options: MonitorServeOptions, say: Callable[[str], None]) -> None:
    """Takes in traces and serves the dashboard until it is interrupted.

    Args:
        options: where and how.
        say: told where it is, when it is there.

    Raises:
        MissingExtra: the extra `monitor` is not installed.
        ConfigError: there are mistakes in the configuration.
        UsageError: the port is taken, or one of the options is wrong.
        StoreError: the store cannot be opened.
    """
    require_extra("Monitoring", "monitor")
    from ragauge.dashboard.app import create_app
    from ragauge.monitoring.alerts.alert_worker import AlertWorker
    from ragauge.monitoring.alerts.gauge_alerts import GaugeWatcher
    from ragauge.monitoring.canary.runner import JudgeCanary
    from ragauge.monitoring.drift.drift_job import DriftJob
    from ragauge.monitoring.jobs.scheduler import Scheduler
    from ragauge.monitoring.memory_trim import share_arenas
    from ragauge.monitoring.policy import read_policy
    from ragauge.monitoring.result_export import ResultExporter
    from ragauge.monitoring.service import Service

    share_arenas()
    site = _build_site(options)
    kinds = (Scheduler, DriftJob, JudgeCanary, GaugeWatcher, ResultExporter)
    timed = [job for kind in kinds if (job := kind.of(options.config)) is not None]
    policy = replace(read_policy(options.config), dated=options.date_from == "span")
    service = Service.of(site.store, policy, say, AlertWorker.of(options.config), timed, options.tail or ())

    def announce(address: str) -> None:
        service.start()
        save_running_config(options.config, site.store)
        for line in _list_first_lines(options, site.store, address):
            say(line)

    signal.signal(signal.SIGTERM, _interrupt)  # as Ctrl-C does, it ends the work and closes the store
    try:
        listen_and_serve(service.beside(create_app(site), site.access), site, options.port, announce, service.leave)
    finally:
        service.close()


def _build_site(options: MonitorServeOptions) -> Site:
    """The dashboard of the server, with a token that sends traces where tokens are needed."""
    shared = ("store", "host", "port", "token_file", "allowed_host", "trusted_proxy")
    serve_options = ServeOptions(**{name: getattr(options, name) for name in shared}, no_open=True)
    site = replace(build_site(serve_options, options.config), watching=True)
    if site.access.needs_token and not (site.access.tokens.every or site.access.tokens.ingest):
        raise UsageError(f"--token-file {options.token_file}: no token may send traces. Add a line ingest: TOKEN.")
    return site


def _list_first_lines(options: MonitorServeOptions, store: str, address: str) -> Iterator[str]:
    """What a server says when it is there: what becomes of traces, and by which address they find it."""
    section = read_section(options.config)
    yield f"Receiving traces at {address}v1/traces; the dashboard is at {address} (press Ctrl-C to stop)"
    yield f"Judged: {describe_judging(section)}"
    yield f"Included: {describe_filtered(section)}"
    for phrase in describe_projects(list_monitors(config=options.config, store=store).data.projects):
        yield phrase.text
    if options.date_from == "span":
        yield "Dated: traces count toward the day of their own spans; past traces raise no alert"
    for path in options.tail or ():
        yield f"Following: {path}{'' if path.exists() else ' (it does not exist yet)'}"
    yield f"Set for exporters: OTEL_EXPORTER_OTLP_ENDPOINT={address.rstrip('/')}"


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
