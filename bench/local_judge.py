"""Throughput and memory of an evaluation with the local judge, as a user runs it: one process, one file, one store.

Each example has a question, five passages of the demo corpus and an answer of four sentences, all different, so that
nothing comes from stored evidence. All four local questions are asked (claims and support, reference, passages,
agreement). Printed: answers a second, the peak memory of the whole process tree, and the ratio between sizes.

    python bench/local_judge.py                    # 1,000 and 5,000 examples
    python bench/local_judge.py 1000 50000         # the sizes of the claim "memory is flat"

Floors: 30 answers a second on 2 cores; memory flat from 1,000 to 50,000 examples.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "src/ragauge/systems/demo/corpus"
METRICS = "faithfulness,context_recall,context_precision,answer_correctness,recall@5,token_f1"


def write_examples(path: Path, n: int) -> None:
    """A seeded file of n different examples."""
    draw = random.Random(20240601)
    pages = [page.read_text().split("---\n", 2)[2] for page in sorted(CORPUS.glob("*.md"))]
    blocks = [block.replace("\n", " ") for page in pages for block in page.split("\n\n") if len(block) > 120]
    sentences = [part.strip() + "." for block in blocks for part in block.split(". ") if len(part) > 30]
    questions = [json.loads(line)["query"] for line in (CORPUS.parent / "golden.jsonl").read_text().splitlines()]
    with path.open("w") as file:
        for number in range(n):
            passages = [f"Unit {number}. " + " ".join(draw.sample(blocks, 3)) for _ in range(5)]
            answer = " ".join([*draw.sample(sentences, 3), f"Unit {number} weighs {draw.randint(10, 99)} kg."])
            record = {
                "query_id": f"q{number}",
                "query": f"{draw.choice(questions)} (unit {number})",
                "answer": answer,
                "references": [" ".join(draw.sample(sentences, 3))],
                "passages": [{"doc_id": f"d{number}-{place}", "text": text} for place, text in enumerate(passages)],
                "relevant": {f"d{number}-0": 1},
            }
            file.write(json.dumps(record) + "\n")


def tree_megabytes(pid: int) -> float:
    """Resident memory of a process and its descendants, by proportional set size where the kernel tells it."""
    total, waiting = 0.0, [pid]
    while waiting:
        now = waiting.pop()
        try:
            for task in Path(f"/proc/{now}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
            rollup = Path(f"/proc/{now}/smaps_rollup").read_text()
            total += int(rollup.split("Pss:")[1].split()[0]) / 1024
        except (OSError, IndexError, ValueError):
            continue
    return total


def run(n: int, folder: Path) -> tuple[float, float]:
    """Answers a second (start-up included) and peak megabytes for n examples."""
    path = folder / f"examples-{n}.jsonl"
    write_examples(path, n)
    command = [
        sys.executable, "-m", "ragauge", "evaluate", str(path), "-m", METRICS, "--json", "--quiet",
        "--store", f"sqlite:///{folder}/bench-{n}.db",
    ]  # fmt: skip
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder)
    peak, ended = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.5):
            peak = max(peak, tree_megabytes(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, _ = process.communicate()
    took = time.perf_counter() - started
    ended.set()
    watcher.join()
    found = json.loads(out)
    assert process.returncode == 0
    assert found["metrics"]["faithfulness"]["scored"] == n, found["metrics"]["faithfulness"]
    return n / took, peak


def main() -> None:
    """Runs the sizes given on the command line and prints a table."""
    sizes = [int(word) for word in sys.argv[1:]] or [1_000, 5_000]
    print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    first = None
    with tempfile.TemporaryDirectory() as name:
        for n in sizes:
            rate, peak = run(n, Path(name))
            first = first or peak
            print(f"{n:>7,} examples: {rate:6.1f} answers/s (floor 30)", end=", ")
            print(f"peak {peak:,.0f} MB ({peak / first:.2f}x the first)")


if __name__ == "__main__":
    main()
