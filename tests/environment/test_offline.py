"""Case 60 and 61: nothing connects anywhere, and an absent extra is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RAGAUGE = Path(sys.executable).with_name("ragauge")
BLOCKED = """
import os, socket

def refused(*words, **more):
    with open(os.environ["TRIED"], "a") as log:
        log.write(f"{words!r}\\n")
    raise OSError("blocked by the test")

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refused
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refused
"""
WITHOUT_PANDAS = "import sys\nsys.modules['pandas'] = None\n"


def offline(tmp_path: Path, *words: str | Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a program whose sockets are blocked from its first line, and that of every process it starts."""
    folder = tmp_path / "site"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(BLOCKED + more)
    environment = os.environ | {"PYTHONPATH": str(folder), "TRIED": str(tmp_path / "tried")}
    environment.pop("RAGAUGE_STORE", None)
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def tried(tmp_path: Path) -> str:
    log = tmp_path / "tried"
    return log.read_text() if log.exists() else ""


def test_the_block_works(tmp_path: Path) -> None:
    """The block sees a connection that is tried."""
    code = "import urllib.request\ntry: urllib.request.urlopen('http://192.0.2.1')\nexcept OSError: pass"
    offline(tmp_path, sys.executable, "-c", code)
    assert tried(tmp_path)


def test_evaluate_tries_no_connection(tmp_path: Path, answers: Path) -> None:
    """Import, every public name, and an evaluation with two worker processes and a report: no connection is tried."""
    code = "import ragauge as rg\nfor name in rg.__all__: getattr(rg, name)"
    offline(tmp_path, sys.executable, "-c", code)
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    many = [{**row, "query_id": f"{row['query_id']}-{n}"} for n in range(30) for row in rows]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many))
    done = offline(tmp_path, RAGAUGE, "evaluate", "many.jsonl", "--workers", "2", "--json", "-o", "card.html")
    assert json.loads(done.stdout)["metrics"]["faithfulness"]["scored"] == 90
    assert tried(tmp_path) == ""


@pytest.mark.slow
def test_demo_tries_no_connection(tmp_path: Path) -> None:
    """The demo runs from what is installed and writes a report a configuration: no connection is tried."""
    shown = json.loads(offline(tmp_path, RAGAUGE, "demo", "-q", "--json").stdout)
    assert set(shown) == {"good", "broken-retrieval", "corrupted-generation"}
    for found in shown.values():
        assert (tmp_path / found["report"]).stat().st_size > 10_000
    recall = {name: found["metrics"]["recall@5"]["mean"] for name, found in shown.items()}
    assert recall["broken-retrieval"] < recall["good"] == recall["corrupted-generation"]
    assert tried(tmp_path) == ""


def test_pages_ask_for_nothing(tmp_path: Path, answers: Path) -> None:
    """A report names no address that a browser would load."""
    offline(tmp_path, RAGAUGE, "evaluate", answers, "-q", "-o", "card.html")
    page = (tmp_path / "card.html").read_text()
    for mark in ("src=\"http", "src='http", "@import", "url(http", "<link", "<script"):
        assert mark not in page, mark


def test_missing_extra_is_named(tmp_path: Path, answers: Path) -> None:
    """Case 61: without pandas, to_pandas names the feature, the package and the pip line; the rest works."""
    code = (
        "import sys, ragauge as rg\n"
        "from ragauge.errors import MissingExtra\n"
        "card = rg.evaluate(sys.argv[1], metrics='recall@5', judge=None)\n"
        "assert card.to_polars().height == 3\n"
        "try: card.to_pandas()\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = offline(tmp_path, sys.executable, "-c", code, answers, more=WITHOUT_PANDAS)
    assert "to_pandas needs pandas" in done.stdout
    assert "pip install 'ragauge[pandas]'" in done.stdout
