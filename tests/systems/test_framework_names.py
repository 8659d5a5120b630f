"""Framework objects named as module:name, and frameworks that are not there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ragauge.core.errors import MissingExtra
from ragauge.systems.system_lookup import find_system

CHAIN = """
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

found = [Document(id="d1", page_content="Two pounds.")]
chain = RunnableLambda(lambda question: {"answer": "Two pounds.", "context": found})
"""
SET = '{"query_id": "q1", "query": "How heavy?", "relevant": {"d1": 1}}\n'


@pytest.mark.parametrize(
    ("module", "extra"),
    [("langchain_core.runnables", "langchain"), ("llama_index.core", "llamaindex"), ("haystack", "haystack")],
)
def test_framework_that_is_not_installed(
    module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 61: an application whose framework is missing is an error with the exact pip line."""
    package = module.split(".", maxsplit=1)[0]
    for name in [one for one in sys.modules if one.split(".", maxsplit=1)[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Missing(package), *sys.meta_path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"app_of_{extra}.py").write_text(f"import {module}\n")
    with pytest.raises(MissingExtra, match=rf"^app_of_{extra}:rag needs {package}.*pip install .*\[{extra}\]'$"):
        find_system(f"app_of_{extra}:rag")


class _Missing:
    """Finds nothing of one package, as where it is not installed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".", maxsplit=1)[0] == self._package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_no_framework_is_imported_for_a_function() -> None:
    """A plain function is made a system without importing any framework."""
    code = (
        "import sys\nfrom ragauge.systems.system_lookup import find_system\nfind_system(lambda question: 'x')\n"
        "print([name for name in ('langchain_core', 'llama_index', 'haystack', 'psycopg') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.prove
def test_chain_on_the_command_line(tmp_path: Path) -> None:
    """`ragauge run my_app:chain golden.jsonl` asks a LangChain chain, and its passages are scored."""
    pytest.importorskip("langchain_core")
    (tmp_path / "my_app.py").write_text(CHAIN)
    (tmp_path / "golden.jsonl").write_text(SET)
    words = [sys.executable, "-m", "ragauge", "run", "my_app:chain", "golden.jsonl", "--evaluate", "-m", "recall@1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"recall@1\W+1\.?0*\W", done.stdout), done.stdout
