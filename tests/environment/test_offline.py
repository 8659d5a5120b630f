"""Case 60 and 61: nothing connects anywhere, and an absent extra is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.conftest import Demonstrated
from tests.environment.offline import RAGAUGE, offline, tried

import ragauge as rg

WITHOUT_PANDAS = "import sys\nsys.modules['pandas'] = None\n"


def test_the_block_works(tmp_path: Path) -> None:
    """The block sees a connection that is tried."""
    code = "import urllib.request\ntry: urllib.request.urlopen('http://192.0.2.1')\nexcept OSError: pass"
    offline(tmp_path, sys.executable, "-c", code)
    assert tried(tmp_path)


def test_evaluate_tries_no_connection(tmp_path: Path, answers: Path) -> None:
    """Import, every public name, an evaluation with two worker processes, a report: no connection is tried.

    The report names no address that a browser would load.
    """
    code = "import ragauge as rg\nfor name in rg.__all__: getattr(rg, name)"
    offline(tmp_path, sys.executable, "-c", code)
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    many = [{**row, "query_id": f"{row['query_id']}-{n}"} for n in range(30) for row in rows]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many))
    done = offline(tmp_path, RAGAUGE, "evaluate", "many.jsonl", "--workers", "2", "--json", "-o", "card.html")
    assert json.loads(done.stdout)["metrics"]["faithfulness"]["scored"] == 90
    assert tried(tmp_path) == ""
    page = (tmp_path / "card.html").read_text()
    for mark in ('src="http', "src='http", "@import", "url(http", "<link", "<script"):
        assert mark not in page, mark


@pytest.mark.prove
def test_demo_tries_no_connection(demonstrated: Demonstrated) -> None:
    """The demo runs from what is installed and writes a report a configuration: no connection is tried."""
    assert tried(demonstrated.folder) == ""
    assert set(demonstrated.paths) == {"good", "broken-retrieval", "corrupted-generation"}
    for path in demonstrated.paths.values():
        assert path.stat().st_size > 10_000
    recall = {name: rg.evaluate(name, store=demonstrated.store)["recall@5"].mean for name in demonstrated.paths}
    assert (recall["broken-retrieval"] or 0) < (recall["good"] or 0) == recall["corrupted-generation"]


def test_missing_extra_is_named(tmp_path: Path, answers: Path) -> None:
    """Case 61: without pandas, to_pandas names the feature, the package and the pip line; the rest works."""
    code = (
        "import sys, ragauge as rg\n"
        "from ragauge.core.errors import MissingExtra\n"
        "card = rg.evaluate(sys.argv[1], metrics='recall@5', judge=None)\n"
        "assert card.to_polars().height == 3\n"
        "try: card.to_pandas()\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = offline(tmp_path, sys.executable, "-c", code, answers, more=WITHOUT_PANDAS)
    assert "to_pandas needs pandas" in done.stdout
    assert "[pandas]'" in done.stdout
