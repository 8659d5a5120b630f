"""Puts what `ragauge demo` prints into the README; tests/api/test_demo.py says whether it is there."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = re.compile(r"(<!-- demo -->\n```text\n).*?(```\n<!-- /demo -->)", re.DOTALL)


def printed() -> str:
    """What the demo prints when it is run in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ragauge", "demo", "--quiet"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + "\n"


def main() -> None:
    """Writes the README."""
    readme = ROOT / "README.md"
    readme.write_text(PLACE.sub(lambda found: found[1] + printed() + found[2], readme.read_text()))


if __name__ == "__main__":
    main()
