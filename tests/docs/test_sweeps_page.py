"""The sweep that docs/sweeps.md shows prints what it shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import taken

from ragauge.evaluation import demo

(CONFIGURED,) = taken("docs/sweeps.md", "yaml")
(SHOWN,) = taken("docs/sweeps.md", "text")


@pytest.mark.prove
def test_sweep_over_the_demo_prints_what_the_page_shows(tmp_path: Path) -> None:
    """Every line of the page's excerpt stands in what is printed now, in order."""
    here = Path(demo.__file__).parent
    shutil.copytree(here / "corpus", tmp_path / "docs")
    shutil.copy(here / "golden.jsonl", tmp_path)
    (tmp_path / "ragauge.yaml").write_text(CONFIGURED.text)

    def printed(*words: str) -> list[str]:
        asked, wide = [sys.executable, "-m", "ragauge", *words], {**os.environ, "COLUMNS": "110"}
        done = subprocess.run(asked, cwd=tmp_path, env=wide, capture_output=True, check=True)
        return done.stdout.decode().splitlines()

    printed("sweep", "-q")
    lines = iter(printed("study", "show", "sweep-golden", "--cost", "context_tokens"))
    for line in (one.rstrip() for one in SHOWN.text.splitlines() if one.strip() not in ("", "…")):
        assert any(line == now.rstrip() for now in lines), line
