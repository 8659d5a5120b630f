"""`ragauge show RUN --alignment`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def evaluated(cli: Cli, small: Path) -> None:
    """A run with everything in it."""
    assert cli("evaluate", small, "-q", "--json").code == 0


def test_shows_which_ranks_are_used(cli: Cli, evaluated: None) -> None:
    """The page and its JSON speak of the same answers as the scorecard's JSON."""
    whole = cli("report", "--json").json()
    part = cli("show", "latest", "--alignment", "--json").json()
    assert part["alignment"] == whole["alignment"]
    assert part["alignment"]["answers"] == part["alignment"]["ranks"][0]["n"] > 0
    shown = cli("show", "latest", "--alignment").out
    assert f"{part['alignment']['answers']} answers with claims over passages" in shown
    assert "Use by rank" in shown
    assert "\x1b" not in shown


def test_is_about_a_whole_run(cli: Cli, evaluated: None) -> None:
    """With a query_id the option is refused."""
    refused = cli("show", "latest", "q1", "--alignment")
    assert refused.code == 2
    assert "remove the query_id" in refused.err


def test_needs_an_evaluation(cli: Cli, small: Path) -> None:
    """A run that was judged by nobody says what would be needed."""
    assert cli("evaluate", small, "-q", "--judge", "none", "--json").code == 0
    assert "needs answers with claims" in cli("show", "latest", "--alignment").out
