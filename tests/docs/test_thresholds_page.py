"""docs/thresholds.md shows what `ragauge report --thresholds` prints."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tests.docs.pages import taken

import ragauge as rg
from ragauge.cli.main import main

(SHOWN,) = taken("docs/thresholds.md", "console")
SOLVED = {0: 30, 1: 34, 2: 29, 3: 97, 4: 93}  # words of four in the answer: how many of a hundred answers served
WORDS = ("alpha", "beta", "gamma", "delta")


def test_output_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five hundred responses, a hundred at each score, give the table and the verdict of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    rows = [
        {
            "query_id": f"q{right}-{n}",
            "query": f"Which words, {right} {n}?",
            "reference_answer": " ".join(WORDS),
            "answer": " ".join([*WORDS[:right], *("other", "more", "than", "that")[right:]]),
            "outcome": {"solved": n < solved},
        }
        for right, solved in SOLVED.items()
        for n in range(100)
    ]
    rg.evaluate(rows, metrics="token_f1", judge=None, name="solved")
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", SHOWN.commands[0].split())
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    printed = re.sub(r"\([0-9a-f]{12}\)", "(7a16b1cdaab4)", capsys.readouterr().out)
    shown = SHOWN.text.partition("\n")[2].strip()
    assert [line.rstrip() for line in shown.splitlines()] == [line.rstrip() for line in printed.strip().splitlines()]
