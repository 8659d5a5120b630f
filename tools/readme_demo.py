"""Puts what `ragauge demo` prints into the README; with --check it only says whether it is there."""

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
    """Writes or checks the README."""
    readme = ROOT / "README.md"
    text = readme.read_text()
    fresh = PLACE.sub(lambda found: found[1] + printed() + found[2], text)
    if "--check" not in sys.argv:
        readme.write_text(fresh)
    elif fresh != text:
        sys.exit("the README's demo output is stale: python tools/readme_demo.py")


if __name__ == "__main__":
    main()
