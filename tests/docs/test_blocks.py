"""Every fenced block of every page runs in a test, or says in a comment above it why not."""

from __future__ import annotations

import ast
import asyncio
import importlib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from inspect import CO_COROUTINE
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import yaml
from tests.docs.pages import PAGES, ROOT, TAKEN, Block, blocks
from tests.loopback.service import FlakyService

import ragauge as rg
from ragauge.cli.main import main
from ragauge.engine.systems import build_system
from ragauge.testsets.add.verb import find_regression_set

TEXTS = {
    "returns": "A hub can be returned within 30 days of delivery. Return shipping is free.",
    "limits": "A hub can be paired with 60 devices. Pairing takes two minutes.",
    "colours": "The hub comes in grey and in white. The white one costs ten euros more.",
}
ASKED = {
    "returns": ("How long can a hub be returned?", "A hub can be returned within 30 days of delivery."),
    "limits": ("How many devices can be paired with a hub?", "60 devices can be paired with a hub."),
    "colours": ("In which colours does the hub come?", "The hub comes in grey and in white."),
}
APP = """
from pathlib import Path

TEXTS = {path.stem: path.read_text() for path in sorted(Path("docs").glob("*.md"))}


def embed(text):
    return [float(len(text)), 1.0]


class Rag:
    def retrieve(self, query):
        return [{"doc_id": name, "text": TEXTS[name]} for name in sorted(TEXTS, key=lambda name: name != "limits")][:2]

    def generate(self, query, passages):
        return passages[0]["text"].split(". ")[0] + "." if passages else "I do not know."
"""
RUNS = {  # the runs that a page speaks of
    "docs/comparing.md": ("main", "k8", "k12", "rerank"),
    "docs/gates.md": ("main", "my-branch"),
}
SYSTEMS = {"docs/frameworks.md": "postgresql://user@host/docs", "docs/reference-rag.md": "reference:docs"}
SAYS_NO = {"ragauge gate": (0, 3, 4)}  # commands whose exit code is a verdict
SERVICE = "https://support.example.com/ask"
TYPED = ("console", "python", "yaml", "json")


def takers() -> list[str]:
    """The modules of the tests that take blocks."""
    files = [path for path in (ROOT / "tests").glob("*/test_*.py") if "tests.docs.pages import" in path.read_text()]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]


for module in takers():
    if module != "tests.docs.test_blocks":
        importlib.import_module(module)
OPEN = [block for page in PAGES for block in blocks(page) if not block.reason and (page, block.line) not in TAKEN]


def test_every_block_runs_or_says_why_not() -> None:
    """A block is run here or taken by another test file; else a comment right above it gives the reason."""
    left = [f"{block.page} line {block.line}" for block in OPEN if block.language not in TYPED]
    assert left == [], "take it in a test (tests/docs/pages.py), or write above it <!-- not run: the reason -->"
    assert len(TAKEN) >= 90


def test_every_fence_and_reason_belongs_to_a_block() -> None:
    """No fence of a page escapes the search for blocks, indented ones included, and no reason lost its block."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert len(re.findall(r"^ *(```|~~~)", text, re.MULTILINE)) == 2 * len(blocks(page)), page
        reasons = [block.reason for block in blocks(page) if block.reason]
        assert re.findall(r"^ *<!-- not run: (.*) -->", text, re.MULTILINE) == reasons, page


def rows(name: str) -> list[dict[str, Any]]:
    """Twelve answers about the texts; which of them are wrong depends on the name of the run."""
    found = []
    for n in range(12):
        place = list(TEXTS)[(n + (n < 3 + len(name) % 3)) % 3]
        query, answer = ASKED[list(TEXTS)[n % 3]]
        found.append(
            {
                "query_id": f"q{n}",
                "query": query,
                "answer": ASKED[place][1],
                "reference_answer": answer,
                "passages": [{"doc_id": place, "text": TEXTS[place]}],
                "relevant": {list(TEXTS)[n % 3]: 1},
                "segments": {"type": "multi_hop" if n % 2 else "lookup"},
                "latency_ms": 800 + n + len(name),
                "cost": 0.001,
                "tags": ["regression"],
            }
        )
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a system, its documents and an eval set, which the test stands in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    monkeypatch.setenv("SUPPORT_TOKEN", "swordfish-9")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / f"docs/{name}.md").write_text(text)
    lines: dict[str, list[dict[str, Any]]] = {
        "corpus": [{"doc_id": name, "text": text} for name, text in TEXTS.items()],
        "golden": [
            {"query_id": name, "query": query, "reference_answer": answer, "relevant": [name]}
            for name, (query, answer) in ASKED.items()
        ],
        "answers": [{"query_id": name, "query": query, "answer": answer} for name, (query, answer) in ASKED.items()],
        "rated": [
            {"query_id": name, "query": query, "answer": answer, "rating": len(name) % 5 + 1, "minutes": "1.5"}
            for name, (query, answer) in ASKED.items()
        ],
        "log": [
            {
                "messages": [
                    {"role": "user", "content": f"Context:\n{TEXTS[name]}\n\nQuestion: {query}"},
                    {"role": "assistant", "content": answer},
                ]
            }
            for name, (query, answer) in ASKED.items()
        ],
    }
    for name, found in lines.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    (tmp_path / "my_app.py").write_text(APP)
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, max_drop: 3%}\n")
    return tmp_path


@pytest.fixture
def service() -> Iterator[FlakyService]:
    """What stands for a service that a page speaks of."""
    reply = {"data": {"text": "30 days.", "hits": [{"id": "returns", "body": TEXTS["returns"], "similarity": 0.9}]}}
    with FlakyService(respond=lambda _: reply) as serving:
        yield serving
    sys.modules.pop("my_app", None)


@pytest.mark.server
@pytest.mark.parametrize("page", sorted({block.page for block in OPEN}))
def test_blocks_of_the_page_run(
    page: str, folder: Path, service: FlakyService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's commands and Python run in order in one folder, after its files of settings are written there."""
    for name in RUNS.get(page, ()):
        rg.evaluate(rows(name), name=name)
    if page not in RUNS:
        rg.evaluate("answers.jsonl", set="golden.jsonl")
    for block in blocks(page):
        if named := re.match(r"# (\S+\.yaml)\n", block.text):
            (folder / named[1]).write_text(block.text)
    for block in (block for block in OPEN if block.page == page):
        capsys.readouterr()
        if block.language == "console":
            for command in block.commands:
                typed(command.replace(SERVICE, service.url), monkeypatch, capsys)
        elif block.language == "python":
            executed(block)
        elif block.language == "yaml":  # refuses what it does not know
            settings = yaml.safe_load(block.text)
            if page in SYSTEMS:
                build_system(SYSTEMS[page], settings["system"])
            else:
                assert find_regression_set() == settings["ui"]["regression_set"]
        else:
            rg.read_set([json.loads(line) for line in block.text.splitlines()])


def typed(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs a command as it stands on a page; it ends well, prints something and writes the files that it names."""
    words = shlex.split(command, comments=True)
    assert words[0] == "ragauge", command
    monkeypatch.setattr(sys, "argv", words)
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    out, err = capsys.readouterr()
    assert code in SAYS_NO.get(" ".join(words[:2]), (0,)), f"{command}\n{out}\n{err}"
    assert out.strip() or "-o" in words, command
    for before, output in pairwise(words):
        assert before != "-o" or Path(output).is_file(), command


def executed(block: Block) -> None:
    """Runs Python as it stands on a page, `await` outside of a function included."""
    draws = np.random.default_rng(7)
    names: dict[str, Any] = {"base": draws.random((40, 2)), "new": draws.random((40, 2))}
    code = compile(block.text, f"{block.page}:{block.line}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    found = FunctionType(code, names)()
    if code.co_flags & CO_COROUTINE:
        asyncio.run(found)
