"""The page of all metrics is made from their docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import taken

from ragauge.metrics.catalogue import PRESETS, list_aliases, list_classes

ROOT = Path(__file__).resolve().parents[2]
FORMULAS = taken("docs/metrics.md", "text")


def pages(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/metric_pages.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_page_is_fresh() -> None:
    """docs/metrics.md is what the docstrings say; if not, the command that writes it is printed."""
    done = pages("--check")
    assert done.returncode == 0, done.stderr
    assert len(FORMULAS) == len(list_classes())


@pytest.mark.prove
def test_check_notices_a_stale_page(tmp_path: Path) -> None:
    """A page that differs, or is missing, fails the check, and writing it again mends it."""
    page = tmp_path / "metrics.md"
    assert pages("--check", "--page", str(page)).returncode == 1
    assert pages("--page", str(page)).returncode == 0
    assert pages("--check", "--page", str(page)).returncode == 0
    page.write_text(page.read_text().replace("Share of", "Part of", 1))
    stale = pages("--check", "--page", str(page))
    assert stale.returncode == 1
    assert "python tools/metric_pages.py" in stale.stderr
    assert "Part of" in stale.stderr


def test_page_names_every_metric_alias_and_preset() -> None:
    """Every metric has a section, and every alias and preset is on the page."""
    text = (ROOT / "docs/metrics.md").read_text()
    assert not [name for name in list_classes() if f"\n### {name}\n" not in text]
    assert not [alias for alias in list_aliases() if f"`{alias}`" not in text]
    assert not [preset for preset in PRESETS if f"| {preset} |" not in text]
