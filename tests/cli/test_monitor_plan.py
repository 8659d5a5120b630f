"""`ragauge monitor plan`: by a stored run or by numbers, in every form."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli


def test_plan_by_a_run_and_by_numbers(cli: Cli, small: Path, tmp_path: Path) -> None:
    """A stored run gives its own mean; numbers give theirs; files are written by their ending."""
    cli("evaluate", small, "-m", "faithfulness", "-q")
    found = json.loads(cli("monitor", "plan", "latest", "--requests", "500", "--json").out)
    shown = json.loads(cli("evaluate", small, "-m", "faithfulness", "-q", "--json").out)
    assert found["mean"] == shown["metrics"]["faithfulness"]["mean"]
    assert [rate["scores"] for rate in found["rates"]] == [5, 10, 25, 50, 100, 250, 500]
    assert found["rates"][0]["cost"] == 0  # the local judge
    page = tmp_path / "plan.html"
    told = cli("monitor", "plan", "--mean", "0.9", "--deviation", "0.2", "-o", page)
    assert page.read_text().startswith("<!doctype html>")
    assert told.code == 0


def test_what_is_refused(cli: Cli) -> None:
    """Without a run and numbers, or with a promise that is none, it says what to write."""
    assert "--mean and --deviation" in cli("monitor", "plan").err
    wrong = cli("monitor", "plan", "--mean", "0.9", "--deviation", "0.2", "--false-alarms", "rarely")
    assert wrong.code == 2
    assert "such as 5% per 30d, got text 'rarely'" in wrong.err
