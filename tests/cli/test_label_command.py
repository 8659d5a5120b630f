"""`ragauge label`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli

from ragauge.data.label import guideline_of, label_key

KEY = label_key("support", "Who?", ["Ada did."], "Ada.")


def test_import_says_what_came_in(cli: Cli, tmp_path: Path) -> None:
    """It counts labels and new ones, by guideline; what is wrong is told with the nearest and keeps nothing."""
    (tmp_path / "how.txt").write_text("Read it.")
    rows = [{"key": KEY, "value": "supported", "annotator": name} for name in ("a", "b")]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    typed = ("label", "import", "l.jsonl", "--guideline", "how.txt")
    assert cli(*typed).out.splitlines() == ["2 labels read, 2 new", f"people:{guideline_of('Read it.')} has 2 labels"]
    assert json.loads(cli(*typed, "--json").out)["new"] == 0
    (tmp_path / "bad.jsonl").write_text(json.dumps({"key": KEY, "value": "suported"}) + "\n")
    found = cli("label", "import", "bad.jsonl")
    assert found.code == 2
    assert "bad.jsonl line 1: value must be one of" in found.err
    assert "Nearest: supported" in found.err
    missing = cli("label", "import", "l.jsonl", "--guideline", "nowhere.txt")
    assert (missing.code, "no file of instructions 'nowhere.txt'" in missing.err) == (2, True)
