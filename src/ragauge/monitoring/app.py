"""The dashboard and what takes in traces, as one server."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import replace

from ragauge.core.errors import UsageError
from ragauge.dashboard.serve import listen_and_serve, require, site_of
from ragauge.monitoring.alerts.alert_coverage import projects_said
from ragauge.monitoring.alerts.verb import monitors
from ragauge.monitoring.monitor_section import filtered_out, judged
from ragauge.monitoring.options import MonitorServeOptions
from ragauge.monitoring.replay.verb import section_of
from ragauge.monitoring.traffic.verb import note_running
from ragauge.verbs.options import ServedOptions


def serve(wanted: MonitorServeOptions, say: Callable[[str], None]) -> None:
    """Takes in traces and serves the dashboard until it is interrupted.

    Args:
        wanted: where and how.
        say: told where it is, when it is there.

    Raises:
        MissingExtra: the extra `monitor` is not installed.
        ConfigError: there are mistakes in the configuration.
        UsageError: the port is taken, or one of the options is wrong.
        StoreError: the store cannot be opened.
    """
    require("Monitoring", "monitor")
    from ragauge.dashboard.app import application
    from ragauge.monitoring.alerts.alert_worker import Watcher
    from ragauge.monitoring.alerts.gauge_alerts import SignalWatcher
    from ragauge.monitoring.canary.runner import JudgeCanary
    from ragauge.monitoring.drift.drift_job import DriftWatcher
    from ragauge.monitoring.jobs.scheduler import Scheduler
    from ragauge.monitoring.memory_trim import share_arenas
    from ragauge.monitoring.policy import policy_of
    from ragauge.monitoring.result_export import GivingBack
    from ragauge.monitoring.service import Service

    share_arenas()
    site = replace(
        site_of(
            ServedOptions(
                store=wanted.store,
                host=wanted.host,
                port=wanted.port,
                token_file=wanted.token_file,
                allowed_host=wanted.allowed_host,
                trusted_proxy=wanted.trusted_proxy,
                no_open=True,
            ),
            wanted.config,
        ),
        watching=True,
    )
    if site.access.needs_token and not (site.access.tokens.every or site.access.tokens.ingest):
        raise UsageError(f"--token-file {wanted.token_file}: no token sends traces. Add a line ingest: TOKEN.")
    kinds = (Scheduler, DriftWatcher, JudgeCanary, SignalWatcher, GivingBack)
    timed = [one for kind in kinds if (one := kind.of(wanted.config)) is not None]
    policy = replace(policy_of(wanted.config), dated=wanted.date_from == "span")
    service = Service.of(site.store, policy, say, Watcher.of(wanted.config), timed, wanted.tail or ())

    def announced(address: str) -> None:
        service.start()
        note_running(wanted.config, site.store)
        for line in _first_lines(wanted, site.store, address):
            say(line)

    signal.signal(signal.SIGTERM, _ended)  # as Ctrl-C does, it ends the work and closes the store
    try:
        listen_and_serve(service.beside(application(site), site.access), site, wanted.port, announced, service.leave)
    finally:
        service.close()


def _first_lines(wanted: MonitorServeOptions, store: str, address: str) -> Iterator[str]:
    """What a server says when it is there: what becomes of traces, and by which address they find it."""
    section = section_of(wanted.config)
    yield f"Traces are taken in at {address}v1/traces, the dashboard is at {address} (Ctrl-C ends it)"
    yield f"Judged: {judged(section)}"
    yield f"Read: {filtered_out(section)}"
    for phrase in projects_said(monitors(config=wanted.config, store=store).found.projects):
        yield phrase.text
    if wanted.date_from == "span":
        yield "Dated: traces count for the day of their own spans; those of the past raise no alert"
    for path in wanted.tail or ():
        yield f"Read as it grows: {path}{'' if path.exists() else ' (it is not there yet)'}"
    yield f"Exporters find it by: OTEL_EXPORTER_OTLP_ENDPOINT={address.rstrip('/')}"


def _ended(*_: object) -> None:
    raise KeyboardInterrupt
