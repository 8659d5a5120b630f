"""What holds for every test."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None)      # the same draws on every machine
settings.load_profile("fixed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures that tests measured: record_property("figure", "what, and how much")."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            if name == "figure" and report.when == "call":
                terminalreporter.write_line(str(value))
