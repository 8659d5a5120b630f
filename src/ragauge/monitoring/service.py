"""The dashboard and the intake of traces as one server, with the stages of its worker."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.config.config_loader import DEFAULT_FILE
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.errors import MissingExtra, UsageError
from ragauge.dashboard.serve import build_site, listen_and_serve, require_extra
from ragauge.engine.garbage import reduce_garbage_collection
from ragauge.monitoring.alerts.alert_coverage import describe_projects
from ragauge.monitoring.alerts.verb import list_monitors
from ragauge.monitoring.erasing import delete_old_runs
from ragauge.monitoring.options import MonitorServeOptions
from ragauge.monitoring.policy import Policy, Sampler, describe_filtered, describe_judging
from ragauge.monitoring.replay.verb import read_monitor, read_section
from ragauge.monitoring.series.monitor_specs import MonitorSpecs
from ragauge.monitoring.traffic.traffic_scorer import LabelDecisions, TrafficScorer
from ragauge.monitoring.traffic.verb import save_running_config
from ragauge.monitoring.worker import LoopStage, StageLoop, StageTurn
from ragauge.store.store_access import Store, open_store
from ragauge.verbs.options import ServeOptions

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ragauge.dashboard.site import Site
    from ragauge.monitoring.intake.receiver import SenderAccess, TailedFile

# seconds until the next turn of a stage that had nothing to do
READ_INTERVAL_S, SEND_INTERVAL_S, SCORE_INTERVAL_S, ALERT_INTERVAL_S, DELETE_INTERVAL_S = 0.5, 1.0, 2.0, 5.0, 3600.0
SWITCH_INTERVAL_S = 5e-4  # seconds until a thread that computes lets others in: each answer takes several turns
JUDGE_TRUST_S = 3600.0  # seconds for which the judge is believed after it was checked


class Service:
    """Takes in traces and works on them, in one process, on one store.

    Args:
        store: open; it is closed at the end.
        policy: what is done with traces.
        warn: told what goes wrong.
        stages: of the configuration.
        tail: files that are read as they grow.
    """

    def __init__(
        self,
        store: Store,
        policy: Policy,
        warn: Callable[[str], None],
        stages: Sequence[LoopStage] = (),
        tail: Sequence[Path] = (),
    ) -> None:
        from ragauge.monitoring.intake.intake import Intake

        self._store, self._policy = store, policy
        self._intake = Intake(store, policy.patience)
        self._switch = sys.getswitchinterval()
        self._settings = ExitStack()  # of the process, put back at the end
        self._worker = StageLoop(store, [*build_traffic_stages(store, policy, warn, tail), *stages], warn)

    def wrap(self, dashboard: ASGIApp, access: SenderAccess) -> ASGIApp:
        """The dashboard, with the addresses that exporters send to."""
        from ragauge.monitoring.intake.body_parser import BodyParser
        from ragauge.monitoring.intake.receiver import Receiver

        parser = BodyParser(self._policy.redaction, self._policy.signals, dated=self._policy.dated)
        return Receiver(dashboard, access, self._intake, parser)

    def start(self) -> None:
        """Begins to work."""
        gc.collect()
        self._settings.enter_context(reduce_garbage_collection())
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._worker.start()

    async def flush(self) -> None:
        """Writes what waits, when nothing more comes in."""
        await self._intake.close()

    def close(self) -> None:
        """Ends the work and closes the store."""
        sys.setswitchinterval(self._switch)
        self._settings.close()
        self._worker.close()
        self._store.close()


def build_traffic_stages(
    store: Store, policy: Policy, warn: Callable[[str], None], tail: Sequence[Path] = ()
) -> list[LoopStage]:
    """What is done with every trace: read files, read traces, score, judge, delete what is old.

    Args:
        store: open.
        policy: what is done with traces.
        warn: told what goes wrong.
        tail: files that are read as they grow.
    """
    from ragauge.monitoring.intake.body_parser import BodyParser
    from ragauge.monitoring.intake.receiver import TailedFile
    from ragauge.monitoring.traffic.trace_assembly import settle_traces

    sampler, scorer = Sampler(store, policy), TrafficScorer(store, policy, warn)
    decisions = LabelDecisions(store, scorer.mark_stale)
    parser = BodyParser(policy.redaction, dated=policy.dated)
    files_behind = set(tail) if policy.dated else set()  # files that were not read to their ends yet

    def read_tail(file: TailedFile, _: StageTurn) -> int:
        try:
            return file.read()
        finally:  # a file that cannot be read holds up no other
            files_behind.discard(file.path)

    def read_due(turn: StageTurn) -> int:
        """Reads traces; what comes out of a file after a kill may be older than what was taken before."""
        return 0 if files_behind else settle_traces(store, policy, turn.now, sampler=sampler)

    def delete_expired(turn: StageTurn) -> int:
        if policy.keep_runs is not None:
            delete_old_runs(store, turn.now - policy.keep_runs)
        return store.inbox.delete_old(turn.now - policy.keep_raw, turn.now - policy.keep_traces)

    files = [TailedFile(store, path, parser, policy.patience, warn) for path in tail]
    return [
        *(LoopStage(f"file-{n}", partial(read_tail, file), READ_INTERVAL_S) for n, file in enumerate(files)),
        LoopStage("read", read_due, READ_INTERVAL_S),
        LoopStage("score", lambda _: scorer.score_free(), SCORE_INTERVAL_S),
        LoopStage("score", lambda _: decisions.run_once(), SCORE_INTERVAL_S),
        LoopStage("score", lambda _: scorer.refresh_cards(), SCORE_INTERVAL_S),
        LoopStage("score", delete_expired, DELETE_INTERVAL_S),
        LoopStage("judge", lambda _: scorer.judge(), SCORE_INTERVAL_S),
    ]


def read_config_stages(config: Path | None) -> list[LoopStage]:
    """What the section `monitor` of a file asks for: alerts, daily checks, schedules, and what is sent to receivers.

    Args:
        config: the file; None = ragauge.yaml where there is one.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
    """
    if config is None and not Path(DEFAULT_FILE).is_file():
        return _build_config_stages(MonitorSection(), MonitorSpecs((), ()), "")
    file = str(config or DEFAULT_FILE)
    monitor, specs, _ = read_monitor(file)
    return _build_config_stages(monitor or MonitorSection(), specs, file)


def _build_config_stages(monitor: MonitorSection, specs: MonitorSpecs, file: str) -> list[LoopStage]:
    from ragauge.monitoring.alerts.alert_worker import advance_monitors, watch_gauges
    from ragauge.monitoring.canary.runner import JudgeCanary
    from ragauge.monitoring.drift.drift_job import DriftJob
    from ragauge.monitoring.jobs.scheduler import Scheduler
    from ragauge.monitoring.outbox import queue_results, send_due

    canary = JudgeCanary(monitor) if monitor.has_judge_canary else None

    def raise_alerts(turn: StageTurn) -> int:
        check_judge = None if canary is None else partial(canary.run_once, turn, JUDGE_TRUST_S)
        return len(advance_monitors(turn.store, monitor, specs, turn.now, check_judge, turn.began))

    stages = [
        LoopStage("send", lambda turn: queue_results(turn, monitor), SEND_INTERVAL_S),
        LoopStage("send", lambda turn: send_due(turn.store, monitor, turn.now), SEND_INTERVAL_S),
    ]
    if specs.metrics:
        stages.append(LoopStage("alerts", raise_alerts, ALERT_INTERVAL_S))
    if specs.signals:
        stages.append(LoopStage("read", lambda turn: watch_gauges(turn, monitor, specs.signals), ALERT_INTERVAL_S))
    if canary is not None:
        stages.append(LoopStage("alerts", canary.run_once, ALERT_INTERVAL_S))
    if monitor.drift:
        stages.append(LoopStage("alerts", DriftJob(monitor).run_once, ALERT_INTERVAL_S))
    if monitor.schedules:
        stages.append(LoopStage("schedules", Scheduler(monitor, file).run_once, ALERT_INTERVAL_S))
    return stages


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
    try:
        import opentelemetry.proto  # noqa: F401 - named here where it is missing
    except ImportError:
        raise MissingExtra("Monitoring", "opentelemetry-proto", "monitor") from None
    from ragauge.dashboard.app import create_app
    from ragauge.monitoring.policy import read_policy

    site = _build_site(options)
    policy = replace(read_policy(options.config), dated=options.date_from == "span")
    service = Service(open_store(site.store), policy, say, read_config_stages(options.config), options.tail or ())

    def announce(address: str) -> None:
        service.start()
        save_running_config(options.config, site.store)
        for line in _list_first_lines(options, site.store, address):
            say(line)

    signal.signal(signal.SIGTERM, _interrupt)  # as Ctrl-C does, it ends the work and closes the store
    try:
        listen_and_serve(service.wrap(create_app(site), site.access), site, options.port, announce, service.flush)
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
