"""The dashboard and the intake of traces as one server, with its worker and its memory."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragauge.core.errors import MissingExtra, RagaugeError, UsageError
from ragauge.dashboard.serve import build_site, listen_and_serve, require_extra
from ragauge.engine.garbage import reduce_garbage_collection
from ragauge.monitoring.alerts.alert_coverage import describe_projects
from ragauge.monitoring.alerts.verb import list_monitors
from ragauge.monitoring.options import MonitorServeOptions
from ragauge.monitoring.policy import Policy, Sampler, describe_filtered, describe_judging
from ragauge.monitoring.replay.verb import read_section
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.monitoring.traffic.verb import save_running_config
from ragauge.store.store_access import Store, open_store
from ragauge.verbs.options import ServeOptions

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ragauge.dashboard.site import Site
    from ragauge.monitoring.alerts.alert_worker import AlertWorker
    from ragauge.monitoring.alerts.gauge_alerts import GaugeWatcher
    from ragauge.monitoring.intake.receiver import SenderAccess, TailedFile
    from ragauge.monitoring.jobs.scheduler import DailyJob, Scheduler
    from ragauge.monitoring.result_export import ResultExporter


# seconds between two looks for traces, responses, …
IDLE_S, SCORING_S, WATCHING_S, TIDYING_S, LOOKING_S = 0.5, 2.0, 5.0, 3600.0, 5.0
SMALL_BATCH_TRACES = 50  # traces in one transaction while senders go first: they wait for its end
SWITCH_INTERVAL_S = 5e-4  # seconds until a thread that computes lets others in: each answer takes several turns
TAIL_INTERVAL_S = 0.5  # seconds between two looks at a file that grows
RETRY_S = 5.0  # seconds until what failed is tried again
SHUTDOWN_S = 5.0  # seconds that work which is under way has at the end


class Service:
    """Takes in traces and works on them, in one process, on one store.

    Args:
        store: open; it is closed at the end.
        policy: what is done with traces.
        say: told what goes wrong.
        watcher: the monitors; None = there are none.
        timed: what is done at certain times.
        tail: files that are read as they grow.
    """

    def __init__(
        self,
        store: Store,
        policy: Policy,
        say: Callable[[str], None],
        watcher: AlertWorker | None = None,
        timed: Sequence[Scheduler | DailyJob | GaugeWatcher | ResultExporter] = (),
        tail: Sequence[Path] = (),
    ) -> None:
        from ragauge.monitoring.intake.body_parser import BodyParser
        from ragauge.monitoring.intake.intake import Intake, WorkerPauses
        from ragauge.monitoring.intake.receiver import TailedFile
        from ragauge.monitoring.traffic.traffic_scorer import LabelDecisions

        self._store, self._say, self._policy = store, say, policy
        self._sampler, self._watcher = Sampler(store, policy), watcher
        self._intake = Intake(store, self._policy.patience)
        self._behind = set(tail) if policy.dated else set()  # files that were not read to their ends yet
        self._over, self._switch = threading.Event(), sys.getswitchinterval()
        self._settings = ExitStack()  # of the process, put back at the end
        self._way = WorkerPauses(self._intake.answering, self._over.wait)
        scorer = TrafficScorer(store, policy, say, between=WorkerPauses(self._intake.answering, self._over.wait).rest)
        taking = BodyParser(policy.redaction, dated=policy.dated)
        tails = [TailedFile(store, path, taking, policy.patience, say) for path in tail]
        works: list[tuple[Callable[[], int], float]] = [
            (self._settle_due, IDLE_S),
            (scorer.score_free, SCORING_S),
            (scorer.judge, SCORING_S),
            (scorer.refresh_cards, SCORING_S),
            (LabelDecisions(store, scorer.mark_stale).run_once, SCORING_S),
            (self._advance_monitors, WATCHING_S),
            (self._delete_expired, TIDYING_S),
            *((partial(item.run_once, store, self._over), LOOKING_S) for item in timed),
            *((partial(self._read_tail, item), TAIL_INTERVAL_S) for item in tails),
        ]
        self._workers = [
            threading.Thread(target=self._run_worker, args=item, name="ragauge-monitor", daemon=True) for item in works
        ]

    @classmethod
    def of(
        cls,
        store: str,
        policy: Policy,
        say: Callable[[str], None],
        watcher: AlertWorker | None = None,
        timed: Sequence[Scheduler | DailyJob | GaugeWatcher | ResultExporter] = (),
        tail: Sequence[Path] = (),
    ) -> Self:
        """The service on a store.

        Raises:
            MissingExtra: the extra `monitor` is not installed.
        """
        try:
            import opentelemetry.proto  # noqa: F401 - named here where it is missing
        except ImportError:
            raise MissingExtra("Monitoring", "opentelemetry-proto", "monitor") from None
        return cls(open_store(store), policy, say, watcher, timed, tail)

    def beside(self, dashboard: ASGIApp, access: SenderAccess) -> ASGIApp:
        """The dashboard, with the addresses that exporters send to."""
        from ragauge.monitoring.intake.body_parser import BodyParser
        from ragauge.monitoring.intake.receiver import Receiver

        taking = BodyParser(self._policy.redaction, self._policy.signals, dated=self._policy.dated)
        return Receiver(dashboard, access, self._intake, taking)

    def start(self) -> None:
        """Begins to work."""
        gc.collect()
        self._settings.enter_context(reduce_garbage_collection())
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        for worker in self._workers:
            worker.start()

    async def leave(self) -> None:
        """Writes what waits, when nothing more comes in."""
        await self._intake.close()

    def close(self) -> None:
        """Ends the work and closes the store; what takes longer is left undone, and done after the next start."""
        self._over.set()
        sys.setswitchinterval(self._switch)
        self._settings.close()
        for worker in self._workers:
            if worker.is_alive():
                worker.join(SHUTDOWN_S)
        self._store.close()

    def _read_tail(self, tail: TailedFile) -> int:
        """Reads a file to its end: what comes after a kill may be older than what was taken before."""
        try:
            return tail.read()
        finally:  # one that cannot be read holds up no other
            self._behind.discard(tail.path)

    def _settle_due(self) -> int:
        if self._behind:
            return 0
        from ragauge.monitoring.traffic.trace_assembly import BATCH_SIZE_TRACES, settle_traces

        n_done = limit = BATCH_SIZE_TRACES
        while n_done == limit and not self._over.is_set():
            began, limit = time.monotonic(), SMALL_BATCH_TRACES if self._way.is_pausing else BATCH_SIZE_TRACES
            n_done = settle_traces(self._store, self._policy, time.time(), limit, self._sampler)
            self._way.rest(time.monotonic() - began)
        return n_done

    def _advance_monitors(self) -> int:
        return self._watcher.run_once(self._store, time.time()) if self._watcher is not None else 0

    def _delete_expired(self) -> int:
        now = time.time()
        if self._policy.keep_runs is not None:
            from ragauge.monitoring.erasing import delete_old_runs

            delete_old_runs(self._store, now - self._policy.keep_runs)
        return self._store.inbox.delete_old(now - self._policy.keep_raw, now - self._policy.keep_traces)

    def _run_worker(self, work: Callable[[], int], idle: float) -> None:
        """Does one kind of work until the end; what goes wrong is said once, and tried again."""
        last_error = ""
        while not self._over.is_set():
            try:
                work()
                last_error, wait = "", idle
            except Exception as error:  # whatever it is, the next round may do without it
                error_text = str(error) if isinstance(error, RagaugeError) else f"{type(error).__name__}: {error}"
                if error_text != last_error:
                    self._say(f"traces are waiting: {error_text}")
                last_error, wait = error_text, RETRY_S
            self._over.wait(wait)


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
    from ragauge.monitoring.policy import read_policy
    from ragauge.monitoring.result_export import ResultExporter

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


MAX_ARENAS, MAPPED_BLOCK_BYTES = (
    2,
    1 << 20,
)  # at most; bytes from which on a block is mapped, and given back when it is freed
M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3  # of malloc.h


def share_arenas() -> bool:
    """Lets the threads of this process take memory from few arenas; to be called before they begin.

    glibc gives each thread an arena of its own, and what one has freed no other takes: after four days of traffic 66 of
    190 MB in them were free and not given back, and 4 MB of 119 in two arenas.

    Returns:
        Whether that was set; other C libraries have nothing like it.
    """
    if sys.platform != "linux":
        return False
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is None:
        return False
    results = [
        setting(name, value) for name, value in ((M_ARENA_MAX, MAX_ARENAS), (M_MMAP_THRESHOLD, MAPPED_BLOCK_BYTES))
    ]
    return all(results)
