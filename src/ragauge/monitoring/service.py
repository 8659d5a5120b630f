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
from ragauge.engine.garbage import rare_collection
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.sampling import Sampler
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.store_access import Store, open_store

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ragauge.monitoring.alerts.alert_worker import Watcher
    from ragauge.monitoring.alerts.gauge_alerts import SignalWatcher
    from ragauge.monitoring.intake.file_tail import GrowingFile
    from ragauge.monitoring.intake.receiver import SenderAccess
    from ragauge.monitoring.jobs.daily_job import DailyLook
    from ragauge.monitoring.jobs.scheduler import Scheduler
    from ragauge.monitoring.result_export import GivingBack

# seconds between two looks for traces, responses, …
IDLE, SCORING, WATCHING, TIDYING, LOOKING = 0.5, 2.0, 5.0, 3600.0, 5.0
FEW = 50  # traces in one transaction while senders go first: they wait for its end
SWITCH = 5e-4  # seconds until a thread that computes lets others in: each answer takes several turns
TAILING = 0.5  # seconds between two looks at a file that grows
TROUBLE = 5.0  # seconds until what failed is tried again
LAST = 5.0  # seconds that work which is under way has at the end


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
        watcher: Watcher | None = None,
        timed: Sequence[Scheduler | DailyLook | SignalWatcher | GivingBack] = (),
        tail: Sequence[Path] = (),
    ) -> None:
        from ragauge.monitoring.intake.body_parser import Taking
        from ragauge.monitoring.intake.file_tail import GrowingFile
        from ragauge.monitoring.intake.intake import Intake
        from ragauge.monitoring.intake.intake_priority import GivingWay
        from ragauge.monitoring.traffic.label_decisions import LabelDecisions

        self._store, self._say, self._policy = store, say, policy
        self._sampler, self._watcher = Sampler(store, policy), watcher
        self._intake = Intake(store, self._policy.patience)
        self._behind = set(tail) if policy.dated else set()  # files that were not read to their ends yet
        self._over, self._switch = threading.Event(), sys.getswitchinterval()
        self._settings = ExitStack()  # of the process, put back at the end
        self._way = GivingWay(self._intake.answering, self._over.wait)
        scorer = TrafficScorer(store, policy, say, between=GivingWay(self._intake.answering, self._over.wait).rest)
        taking = Taking(policy.redaction, dated=policy.dated)
        tails = [GrowingFile(store, path, taking, policy.patience, say) for path in tail]
        works: list[tuple[Callable[[], int], float]] = [
            (self._settle, IDLE),
            (scorer.score_free, SCORING),
            (scorer.judge, SCORING),
            (scorer.show, SCORING),
            (LabelDecisions(store, scorer.renew).look, SCORING),
            (self._watch, WATCHING),
            (self._forget, TIDYING),
            *((partial(one.look, store, self._over), LOOKING) for one in timed),
            *((partial(self._read, one), TAILING) for one in tails),
        ]
        self._workers = [
            threading.Thread(target=self._work, args=one, name="ragauge-monitor", daemon=True) for one in works
        ]

    @classmethod
    def of(
        cls,
        store: str,
        policy: Policy,
        say: Callable[[str], None],
        watcher: Watcher | None = None,
        timed: Sequence[Scheduler | DailyLook | SignalWatcher | GivingBack] = (),
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
        from ragauge.monitoring.intake.body_parser import Taking
        from ragauge.monitoring.intake.receiver import Receiver

        taking = Taking(self._policy.redaction, self._policy.signals, dated=self._policy.dated)
        return Receiver(dashboard, access, self._intake, taking)

    def start(self) -> None:
        """Begins to work."""
        gc.collect()
        self._settings.enter_context(rare_collection())
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
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
                worker.join(LAST)
        self._store.close()

    def _read(self, tail: GrowingFile) -> int:
        """Reads a file to its end: what comes after a kill may be older than what was taken before."""
        try:
            return tail.read()
        finally:  # one that cannot be read holds up no other
            self._behind.discard(tail.path)

    def _settle(self) -> int:
        if self._behind:
            return 0
        from ragauge.monitoring.traffic.trace_assembly import AT_A_TIME, settle

        done = limit = AT_A_TIME
        while done == limit and not self._over.is_set():
            began, limit = time.monotonic(), FEW if self._way.gives_way else AT_A_TIME
            done = settle(self._store, self._policy, time.time(), limit, self._sampler)
            self._way.rest(time.monotonic() - began)
        return done

    def _watch(self) -> int:
        return self._watcher.look(self._store, time.time()) if self._watcher is not None else 0

    def _forget(self) -> int:
        now = time.time()
        if self._policy.keep_runs is not None:
            from ragauge.monitoring.erasing import forget_runs

            forget_runs(self._store, now - self._policy.keep_runs)
        return self._store.inbox.forget(now - self._policy.keep_raw, now - self._policy.keep_traces)

    def _work(self, work: Callable[[], int], idle: float) -> None:
        """Does one kind of work until the end; what goes wrong is said once, and tried again."""
        said = ""
        while not self._over.is_set():
            try:
                work()
                said, wait = "", idle
            except Exception as error:  # whatever it is, the next round may do without it
                why = str(error) if isinstance(error, RagaugeError) else f"{type(error).__name__}: {error}"
                if why != said:
                    self._say(f"traces wait: {why}")
                said, wait = why, TROUBLE
            self._over.wait(wait)
