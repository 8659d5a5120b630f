"""The page about metrics of the user's own: its Python, commands and settings run in order, in one folder."""

from __future__ import annotations

import json
import runpy
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from tests.docs.pages import taken
from typer.testing import CliRunner

from ragauge.cli.main import app
from ragauge.metrics.own import ARGUMENTS, metric

PAGE = "docs/own-metrics.md"
PYTHON, CONSOLE = taken(PAGE, "python"), taken(PAGE, "console")
YAML, TOML = taken(PAGE, "yaml"), taken(PAGE, "toml")
ANSWERS = {
    "returns": "Sorry, a hub can only be returned within 30 days. Thank you.",
    "limits": "SIXTY DEVICES!",
    "colours": "It comes in grey and in white, please choose one of them.",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with answers, which the test stands in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    rows = [
        {"query_id": name, "query": f"What about {name}?", "answer": answer, "contexts": [answer]}
        for name, answer in ANSWERS.items()
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_blocks_of_the_page_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each file of the page is written and, where it is a script, run; commands and settings work after them."""
    for block in PYTHON:
        name = block.text.splitlines()[0].removeprefix("# ")
        (folder / name).write_text(block.text)
        if "rg.evaluate" in block.text:
            runpy.run_path(name, run_name="__main__")
    (folder / "ragauge.yaml").write_text(YAML[0].text)
    shown = capsys.readouterr().out
    assert "polite" in shown
    assert "many_claims:least=1" in shown
    printed = ""
    for command in CONSOLE[0].commands:
        found = CliRunner().invoke(app, shlex.split(command)[1:])
        assert found.exit_code == 0, found.output
        printed += found.output
    for text in ("says_much:least=5", "capital letters", "Share of capital letters."):
        assert text in printed
    sys.modules.pop("manners")
    validated = CliRunner().invoke(app, ["doctor", "ragauge.yaml"])
    assert "shouting must be at most 0.3" in validated.output, validated.output


def test_page_names_every_argument() -> None:
    """Every argument of a function, and of the decorator, has a row; the entry points are of the group that is read."""
    text = Path(__file__).parents[2].joinpath(PAGE).read_text(encoding="utf-8")
    said = set(metric.__kwdefaults__ or ())
    assert [name for name in (*ARGUMENTS, *said) if f"\n`{name}` |" not in text] == []
    assert set(tomllib.loads(TOML[0].text)["project"]["entry-points"]) == {"ragauge.metrics"}
