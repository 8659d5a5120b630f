"""Drift of a day's questions: what decides, and on real questions how often."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.drift import exchanged, share

from ragauge.monitoring.drift.compute import measure_drift

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"


def test_what_decides() -> None:
    """A moved mean and other dimensions are drift, the same texts are not, and too few say nothing."""
    draw = np.random.default_rng(1)
    before = draw.normal(size=(200, 8))
    assert measure_drift("queries", before, draw.normal(0.5, size=(200, 8))).drifted is True
    assert measure_drift("queries", before, draw.normal(size=(200, 8))).drifted is False
    other = measure_drift("documents", before, draw.normal(size=(60, 16)))
    assert (other.drifted, other.reason) == (True, "different embedder: 8 dimensions before, 16 now")
    assert measure_drift("queries", before, before[:49]).drifted is None


@pytest.mark.realdata
@pytest.mark.skipif(not DATA.is_dir(), reason="reads public data, kept beside the repository")
def test_finance_among_biomedical_questions() -> None:
    """Of days of 500 real questions, a fifth of them about finance, all of 5 are seen; so is another embedder."""
    assert share("pubmedqa", "tatqa", 0.2, DATA, 5) == 1
    assert exchanged("pubmedqa", DATA, 2, turned=True) == 1


@pytest.mark.prove
@pytest.mark.realdata
@pytest.mark.skipif(not DATA.is_dir(), reason="reads public data, kept beside the repository")
@pytest.mark.timeout(3600)
def test_all_figures_of_drift() -> None:
    """Resamples, foreign topics and an exchanged embedder are called different as often as promised."""
    command = [sys.executable, str(ROOT / "bench" / "drift.py"), "--check", "--trials", "50", "--data", str(DATA)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
