"""What runs beside the dashboard: taking in, and the worker that makes responses of traces."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragauge.core.errors import MissingExtra, RagaugeError
from ragauge.engine.garbage import reduce_garbage_collection
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.sampling import Sampler
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.store_access import Store, open_store

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ragauge.monitoring.alerts.alert_worker import AlertWorker
    from ragauge.monitoring.alerts.gauge_alerts import GaugeWatcher
    from ragauge.monitoring.intake.file_tail import TailedFile
    from ragauge.monitoring.intake.receiver import SenderAccess
    from ragauge.monitoring.jobs.daily_job import DailyJob
    from ragauge.monitoring.jobs.scheduler import Scheduler
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
        from ragauge.monitoring.intake.file_tail import TailedFile
        from ragauge.monitoring.intake.intake import Intake
        from ragauge.monitoring.intake.intake_priority import WorkerPauses
        from ragauge.monitoring.traffic.label_decisions import LabelDecisions

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
