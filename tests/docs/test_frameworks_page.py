"""The examples of docs/frameworks.md run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import taken

import ragauge as rg

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
BLOCKS = {block.info.removeprefix("python "): block.text for block in taken("docs/frameworks.md", "python")}


def test_every_framework_has_an_example() -> None:
    """The page has one example each."""
    assert list(BLOCKS) == ["langchain_core", "llama_index.core", "haystack", "ragauge", "ragauge capture"]


@pytest.mark.parametrize("module", [name for name in BLOCKS if " " not in name])
def test_example_runs(module: str, tmp_path: Path) -> None:
    """The object of the example is run on a question and gives one of its documents."""
    pytest.importorskip(module)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(BLOCKS[module], str(PAGE), "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    golden = rg.EvalSet("golden", (rg.Example("q1", "hub weighs", relevant=(rg.Relevant(("hub",)),)),))
    run = rg.run(names["rag"], golden, store=f"sqlite:///{tmp_path / 'store.db'}")
    run.export(tmp_path / "run.jsonl")
    (response,) = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert "error" not in response
    assert [one["doc_id"] for one in response["passages"]] in (["hub"], ["fee"])
    assert ("answer" in response) == (module != "ragauge")  # a vector store does not generate answers


def test_capture_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of capture writes two lines with what it says."""
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS["ragauge capture"], str(PAGE), "exec", dont_inherit=True), {})  # noqa: S102 - our own page
    first, second = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    assert (first["answer"], first["tokens"]) == ("The hub weighs two pounds.", {"input": 12, "output": 5})
    assert (second["query"], second["passages"][0]["text"]) == ("Is it grey?", "The hub is grey.")
