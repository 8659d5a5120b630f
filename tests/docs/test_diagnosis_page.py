"""docs/diagnosis.md says what the code does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.docs.pages import taken

from ragauge.diagnosis.findings.pattern_matches import PATTERNS
from ragauge.scores.indicators import STARTING_POINTS
from ragauge.stats.mean_difference import paired_interval

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/diagnosis.md"
(EXPLAINED,) = taken("docs/diagnosis.md", "text")


def run(*arguments: str, page: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/diagnosis_page.py", *arguments]
    return subprocess.run(command, cwd=page, capture_output=True, text=True, check=False, timeout=120)


def test_page_is_up_to_date() -> None:
    """Starting points, patterns and the explained example are what the code gives; if not, the command is printed."""
    done = run("--check")
    assert done.returncode == 0, done.stderr
    assert EXPLAINED.text.startswith("Generation\n")


def test_page_holds_every_pattern() -> None:
    """Every pattern's sentences, fix, what to leave and what to measure again stand in the page, and every point."""
    text = PAGE.read_text(encoding="utf-8")
    for pattern in PATTERNS:
        for part in (pattern.reading, pattern.changed, pattern.fix, pattern.leave):
            assert part in text
        assert all(f"`{cause}`" in text for cause in pattern.causes)
    for name, point in STARTING_POINTS.items():
        assert f"`{name}` | {point.value:.2f} | {point.source}" in text


def test_stale_page_is_told(tmp_path: Path) -> None:
    """A page whose table was changed by hand fails the check and names the part."""
    for name in ("tools", "tests", "docs"):
        (tmp_path / name).mkdir()
    for name in ("tools/diagnosis_page.py", "tests/building.py"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "docs/diagnosis.md").write_text(PAGE.read_text().replace("| 0.85 | BEE", "| 0.99 | BEE"))
    done = run("--check", page=tmp_path)
    assert done.returncode == 1
    assert "points has changed" in done.stderr
    assert run(page=tmp_path).returncode == 0
    assert (tmp_path / "docs/diagnosis.md").read_text() == PAGE.read_text()


def test_page_names_the_interval_of_a_difference() -> None:
    """The intervals that the page names are those that scores in [0, 1] and scores of 0 and 1 get."""
    shares = paired_interval([0.9, 0.7, 0.81, 0.66, 1.0, 0.55, 0.3], [0.8, 0.75, 0.6, 0.7, 0.93, 0.4, 0.5], kind="mean")
    rates = paired_interval([1, 1, 0, 1, 0, 1, 1], [0, 1, 0, 1, 1, 0, 1], kind="rate")
    assert shares is not None
    assert rates is not None
    assert (shares.method, rates.method) == ("paired skew-corrected t by sign flips", "paired, Agresti-Min")
    (said,) = [part for part in PAGE.read_text(encoding="utf-8").split("\n- ") if part.startswith("The interval is")]
    for word in ("t corrected for skewness", "random signs", "Agresti and Min's"):
        assert word in " ".join(said.split())
