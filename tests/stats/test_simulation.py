"""The tables of docs/statistics-tables.md are what the simulation gives."""

from __future__ import annotations

import importlib
import subprocess
import sys
from math import comb
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.prove
def test_a_few_cells_are_as_on_the_page() -> None:
    """Coverage at n = 50, of pairs at n = 20, a few tests' false alarms and the power of two are as printed."""
    command = [sys.executable, str(ROOT / "bench" / "simulate_statistics.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("page") == 14  # four kinds of data, three of pairs, five tests, two powers
    assert "missing" not in done.stdout


def test_a_changed_cell_is_told_with_few_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that says what 40 draws give passes; with one digit more in one cell that cell alone differs."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    simulation = importlib.import_module("simulate_statistics")
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "statistics-tables.md").read_text())
    for name, value in {"PAGE": page, "SINGLE": (), "PAIRED": (), "CASES": ()}.items():
        monkeypatch.setattr(simulation, name, value)
    monkeypatch.setattr(importlib.import_module("simulated_tests"), "DRAWS", 40)
    rows = simulation.powers_by_shape((20,), "heavy tails")
    simulation.written("powers by shape", simulation.table(["differences", "test", "20"], rows))
    assert simulation.check() == 0
    page.write_text(page.read_text().replace(f"| t | {rows[1][2]}", f"| t | 9{rows[1][2]}"))
    assert simulation.check() == 1


@pytest.mark.prove
def test_a_wrong_cell_is_found_and_right_ones_are_not(tmp_path: Path) -> None:
    """False alarms of McNemar's test and two powers: the cell that the page is made to say wrongly differs alone."""
    page = (ROOT / "docs" / "statistics-tables.md").read_text()
    cell = "rates, 20 % change | McNemar, mid-p | "
    (tmp_path / "page.md").write_text(page.replace(cell, f"{cell}9"))
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'bench')!r}); import pathlib, simulate_statistics as simulation; "
        f"simulation.PAGE = pathlib.Path({str(tmp_path / 'page.md')!r}); "
        "simulation.SINGLE = simulation.PAIRED = simulation.CHECKED = (); sys.exit(simulation.check())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    differ = [line for line in done.stdout.splitlines() if line.endswith("DIFFERS")]
    assert [line.startswith("rates, 20 % change, n=20, McNemar, mid-p: ") for line in differ] == [True]
    assert done.stdout.count("page") == 3


def test_samples_that_no_useful_test_can_call_unchanged() -> None:
    """The shares on the page of samples with six or more losses and not one gain are those of the multinomial."""
    page = (ROOT / "docs" / "statistics-tables.md").read_text()
    for n, loss, gain in ((50, 0.16, 0.04), (20, 1 / 4, 1 / 12)):  # rare gains; skewed shares
        neither = 1 - loss - gain
        share = sum(comb(n, losses) * loss**losses * neither ** (n - losses) for losses in range(6, n + 1))
        assert f" {share:.1%} ".replace("%", " %") in page
