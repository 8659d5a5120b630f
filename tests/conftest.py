"""What holds for every test."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from sqlalchemy import Connection, event
from tests.environment.offline import RAGAUGE, offline

from ragauge.core.messages import name_store

# a core has a test at a time: threads of libraries would wait for each other at work, sixfold the time of a faiss index
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# pytest loads readline, which tells every process it starts the width of a terminal that is not there
os.environ.pop("COLUMNS", None)
# whoever starts the tests in the background has Ctrl-C ignored, and so would have every process that a test starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# the same draws on every machine; `make prove` asks for the long profile
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("long", derandomize=True, deadline=None, max_examples=300)
settings.load_profile("fixed")
gc.disable()  # while tests are collected, whose objects stay


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers files with slow tests are first, so that none waits at the end for what began late."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Collections of cycles leave out the million objects that the session's tests are: an eighth of its time.

    An evaluation asks whether any are left out; to count them would take a tenth of a second of each.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    n = gc.get_freeze_count()
    gc.get_freeze_count = lambda: n


BEGAN = pytest.StashKey[float]()
MOST = 1.0  # processor seconds of a test that is not marked slow


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The store that the commands of one test name is not named by those of later tests."""
    item.stash[BEGAN] = _spent()
    with name_store(""):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Notes what a test took of the processor, its fixtures and processes included, where that is too much."""
    result = yield
    took = _spent() - item.stash[BEGAN]
    if took > MOST and not any(map(item.get_closest_marker, ("slow", "browser", "prove"))):
        item.user_properties.append(("over", took))
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures that tests measured, and the tests that belong to `make prove` or are to become cheaper.

    A test measures with record_property("figure", "what, and how much").
    """
    over = {report.nodeid: dict(report.user_properties).get("over") for report in terminalreporter.getreports("")}
    for took, name in sorted(((took, name) for name, took in over.items() if isinstance(took, float)), reverse=True):
        terminalreporter.write_line(f"{took:.1f} s of the processor, at most {MOST:.0f} without a mark: {name}")
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            if name == "figure" and report.when == "call":
                terminalreporter.write_line(str(value))


@pytest.fixture(scope="session", autouse=True)
def judged_here() -> Iterator[None]:
    """Judges in this process where a test does not say how many: starting others takes longer than what is judged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragauge.engine.execute.count_cores", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def stores_made_quickly() -> Iterator[None]:
    """A session's first store is made by the migrations, each further one by the statements that those executed.

    A store that has tables already is upgraded by the migrations themselves.
    """
    from ragauge.store.migrations import upgrade

    migrated = upgrade._run
    made: list[tuple[str, Any]] = []

    def run(connection: Connection) -> None:
        if upgrade.version_of(connection, "") is not None:
            migrated(connection)
        elif made:
            for statement, values in made:
                connection.exec_driver_sql(statement, values)
        else:
            seen: list[tuple[str, Any]] = []

            def executed(_: Any, __: Any, statement: str, values: Any, *___: Any) -> None:
                if not statement.lstrip().startswith(("SELECT", "PRAGMA")):
                    seen.append((statement, values))

            event.listen(connection, "before_cursor_execute", executed)
            migrated(connection)
            event.remove(connection, "before_cursor_execute", executed)
            made.extend(seen)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upgrade, "_run", run)
        yield


PACE = 0.013  # processor seconds of `_paced` on the machine on which tests set their limits
WORDS = [f"w{n % 977}" for n in range(30_000)]


def _spent() -> float:
    """Processor seconds of this process and of those that it started and that ended."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system


def _paced() -> float:
    """Processor seconds that a fixed piece of work takes at this moment: patterns, counting, sorting."""
    began = _spent()
    text = " ".join(WORDS)
    for _ in range(2):
        sorted(Counter(re.findall(r"\bw(?:\d{1,2}|\d+)\b", text)).items(), key=lambda item: item[::-1])
    return _spent() - began


class OwnTime:
    """Times actions in processor seconds of the machine on which limits were set, however slow this one is now."""

    def within(self, limit: float, action: Callable[[], object], times: int = 3) -> None:
        """Fails where the action takes longer than that limit each of so many times."""
        least = float("inf")
        for _ in range(times):
            least = min(least, self.seconds(action))
            if least < limit:
                return
        pytest.fail(f"it took {least:.3g} s of the processor, at most {limit:.3g} expected")

    @staticmethod
    def seconds(action: Callable[[], object]) -> float:
        """A fixed piece of work, timed before and after, says how slow the machine is."""
        before = _paced()
        began = _spent()
        action()
        took = _spent() - began
        return took * min(1.0, PACE / max(before, _paced()))


@pytest.fixture
def own_time() -> OwnTime:
    """Times what a test does."""
    return OwnTime()


@dataclass(frozen=True)
class Demonstrated:
    """What `ragauge demo` left in its folder; tests read it only."""

    folder: Path

    @property
    def printed(self) -> str:
        """What it printed."""
        return (self.folder / "printed.txt").read_text(encoding="utf-8")

    @property
    def store(self) -> str:
        """The URL of the store that it wrote."""
        return f"sqlite:///{self.folder}/.ragauge/ragauge.db"

    @property
    def paths(self) -> dict[str, Path]:
        """Name of the configuration -> its report."""
        first = self.folder / "demo-report.html"
        others = sorted(self.folder.glob("demo-report-*.html"))
        return {"good": first} | {path.stem.removeprefix("demo-report-"): path for path in others}


@pytest.fixture(scope="session")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Demonstrated:
    """`ragauge demo` as people type it, with sockets blocked: run once, by the first worker that needs it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demonstrated"
    found, end = Demonstrated(folder), time.monotonic() + 540
    try:
        folder.mkdir()
    except FileExistsError:
        while not (folder / "printed.txt").exists():
            assert time.monotonic() < end, "the demo of another worker did not end"
            time.sleep(0.1)
    else:
        text = offline(folder, RAGAUGE, "demo", "--quiet").stdout
        (folder / "being-written.txt").write_text(text, encoding="utf-8")
        (folder / "being-written.txt").rename(folder / "printed.txt")
    return found


@pytest.fixture(autouse=True)
def own_metrics_of_one_test() -> Iterator[None]:
    """Metrics that a test brings, or that a store which it opens knows, are not those of later tests."""
    yield
    if "ragauge.metrics.catalogue" in sys.modules:
        from tests.own_metrics import forget_own

        forget_own()
