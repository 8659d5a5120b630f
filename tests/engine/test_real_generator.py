"""A real small model as the generator of bench/model_rag.py, on questions of three public sets, from end to end.

It takes some minutes and its figures say more of the model than of this package, so it runs where it is asked for:
RAGAUGE_REAL_GENERATOR=1 python -m pytest -s tests/engine/test_real_generator.py. What it prints stands in
docs/reference-rag.md.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.llama_server import absent, serving

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared/data"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.server,
    pytest.mark.prove,
    absent,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not beside the repository"),
    pytest.mark.skipif(os.environ.get("RAGAUGE_REAL_GENERATOR") != "1", reason="only with RAGAUGE_REAL_GENERATOR=1"),
]
N = 60
METRICS = ("recall@5", "faithfulness", "answer_correctness", "refusal_correctness", "token_f1")
Row = dict[str, Any]
RETRIEVAL: Row = {"chunk_tokens": 48, "k": 5}  # short passages: a core reads some hundred tokens a second
Pages = dict[str, tuple[str, str]]  # doc_id -> (title, text)


def drawn(rows: list[Row], n: int) -> list[Row]:
    return random.Random(7).sample(rows, n)


def clapnq() -> tuple[Pages, list[Row]]:
    """Half answerable, half not; all passages of the dev set."""
    pages: Pages = {}
    ids: dict[str, str] = {}
    parts: dict[bool, list[Row]] = {True: [], False: []}
    for answerable, rows in parts.items():
        file = DATA / f"clapnq/clapnq_dev_{'answerable' if answerable else 'unanswerable'}.jsonl"
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            (passage,) = row["passages"]
            doc_id = ids.setdefault(passage["text"], f"c{len(ids)}")
            pages[doc_id] = (passage["title"], passage["text"])
            answers = [found["answer"] for found in row["output"] if found["answer"]]
            labels = {"reference_answer": answers[0], "relevant": [doc_id]} if answerable else {}
            rows.append({"query_id": row["id"], "query": row["input"], "answerable": answerable, **labels})
    return pages, [row for rows in parts.values() for row in drawn(rows, N // 2)]


def pubmedqa() -> tuple[Pages, list[Row]]:
    """A question an abstract."""
    found = json.loads((DATA / "pubmedqa/ori_pqal.json").read_text(encoding="utf-8"))
    rows = [
        {
            "query_id": key,
            "query": row["QUESTION"],
            "reference_answer": row["LONG_ANSWER"],
            "relevant": [key],
            "answerable": True,
        }
        for key, row in found.items()
    ]
    return {key: ("", " ".join(row["CONTEXTS"])) for key, row in found.items()}, drawn(rows, N)


def xquad() -> tuple[Pages, list[Row]]:
    """The English part: several questions a paragraph, answered by a few words of it."""
    pages: Pages = {}
    rows: list[Row] = []
    for article in json.loads((DATA / "xquad/xquad.en.json").read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            doc_id = f"x{len(pages)}"
            pages[doc_id] = ("", paragraph["context"])
            rows += [
                {
                    "query_id": one["id"],
                    "query": one["question"],
                    "reference_answer": one["answers"][0]["text"],
                    "relevant": [doc_id],
                    "answerable": True,
                }
                for one in paragraph["qas"]
            ]
    return pages, drawn(rows, N)


SETS = {"clapnq": clapnq, "pubmedqa": pubmedqa, "xquad": xquad}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as address:
        yield address


def written(folder: Path, pages: Pages, rows: list[Row]) -> None:
    """The passages as a folder of text files, the questions as a file."""
    (folder / "pages").mkdir()
    for doc_id, (title, text) in pages.items():
        head = f"---\ntitle: {json.dumps(title)}\n---\n"
        (folder / "pages" / f"{doc_id}.txt").write_text(head + text, encoding="utf-8")
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def ran(folder: Path, name: str, target: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics that `ragauge run TARGET questions.jsonl --evaluate --json` prints."""
    (folder / f"{name}.yaml").write_text(json.dumps({"system": settings}))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ragauge",
            "run",
            target,
            "questions.jsonl",
            "--system-config",
            f"{name}.yaml",
            "--evaluate",
            "-m",
            ",".join(METRICS),
            "--judge",
            "local",
            "--name",
            name,
            "--concurrency",
            "2",
            "--timeout",
            "120",
            "--store",
            "sqlite:///store.db",
            "--json",
            "--quiet",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["run"]["failed"] == {}, found["run"]
    metrics: dict[str, Any] = found["evaluation"]["metrics"]
    return metrics


def shown(name: str, generator: str, metrics: Mapping[str, Any]) -> str:
    """A row of the table in docs/reference-rag.md."""
    cells = [
        f"{one['mean']:.2f} [{one['ci'][0]:.2f}, {one['ci'][1]:.2f}] ({one['scored']})"
        if one["mean"] is not None
        else f"– ({one['scored']})"
        for one in (metrics[metric] for metric in METRICS)
    ]
    return f"| {name} | {generator} | {' | '.join(cells)} |\n"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", SETS)
def test_a_real_model_answers(name: str, url: str, tmp_path: Path) -> None:
    """Each of 60 questions is answered by the model and evaluated; none fails, and every count adds up."""
    pages, rows = SETS[name]()
    written(tmp_path, pages, rows)
    model = {"documents": "pages", "model": f"openai-chat:smollm2@{url}", "prompt_tokens": 1_000, "max_tokens": 48}
    generators: dict[str, tuple[str, Row]] = {
        "extractive": ("reference:pages", RETRIEVAL),
        "SmolLM2-135M": ("bench.model_rag:ModelRag", {"arguments": RETRIEVAL | model}),
    }
    sys.stdout.write("\n")
    for generator, (target, settings) in generators.items():
        metrics = ran(tmp_path, generator, target, settings)
        sys.stdout.write(shown(name, generator, metrics))
        for metric in METRICS:
            counts = metrics[metric]
            assert sum(counts[status] for status in ("scored", "undefined", "not_applicable", "failed")) == N
            assert counts["failed"] == 0, (metric, counts)
