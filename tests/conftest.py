"""What holds for every test."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from tests.environment.offline import RAGAUGE, offline

# pytest loads readline, which tells every process it starts the width of a terminal that is not there
os.environ.pop("COLUMNS", None)
settings.register_profile("fixed", derandomize=True, deadline=None)      # the same draws on every machine
settings.load_profile("fixed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers files with slow tests are first, so that none waits at the end for what began late."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures that tests measured: record_property("figure", "what, and how much")."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            if name == "figure" and report.when == "call":
                terminalreporter.write_line(str(value))


@pytest.fixture
def own_time() -> Iterator[None]:
    """Collections of cycles while a test takes its time, or that it asks for, leave out all that the session holds."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


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
    found, end = Demonstrated(folder), time.monotonic() + 240
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
