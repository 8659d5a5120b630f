"""Throughput and memory of an evaluation with the local judge, as a user runs it: one process, one file, one store.

Each example has a question, five passages of the demo corpus and an answer of four sentences, all different, so that
nothing comes from stored evidence. All four local questions are asked (claims and support, reference, passages,
agreement). Printed: answers a second, the peak memory of the whole process tree and of each kind of process, and the
ratio to the first size.

Memory is read twice a second from /proc: the proportional set size (PSS), in which a page that several processes share
counts once in all, and the resident set size (RSS), in which it counts in each. PSS is the honest sum over a tree; it
is lower where other programs on the machine use the same libraries, so both are printed.

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
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "src/ragauge/evaluation/demo/corpus"
CEILING = 1.15  # of the tree's peak at 50,000 examples over that at 1,000
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


class Memory(NamedTuple):
    """Megabytes of a process tree.

    Attributes:
        tree: of all processes together.
        owner: of the command's own process.
        worker: of its largest worker process.
    """

    tree: float = 0.0
    owner: float = 0.0
    worker: float = 0.0

    def peak(self, other: Memory) -> Memory:
        """The larger of each."""
        return Memory(*map(max, self, other))


def memory(pid: int) -> tuple[Memory, Memory]:
    """PSS and RSS of a process and its descendants."""
    found: dict[int, tuple[float, float]] = {}
    waiting = [pid]
    while waiting:
        now = waiting.pop()
        try:
            for task in Path(f"/proc/{now}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
            lines = (line.split() for line in Path(f"/proc/{now}/smaps_rollup").read_text().splitlines()[1:])
            sizes = {words[0]: int(words[1]) / 1024 for words in lines}
            found[now] = sizes["Pss:"], sizes["Rss:"]
        except (OSError, KeyError, ValueError):
            continue  # it has ended meanwhile
    pss, rss = ({one: sizes[at] for one, sizes in found.items()} for at in (0, 1))
    return _memory(pid, pss), _memory(pid, rss)


def _memory(pid: int, sizes: dict[int, float]) -> Memory:
    workers = [size for one, size in sizes.items() if one != pid]
    return Memory(sum(sizes.values()), sizes.get(pid, 0.0), max(workers, default=0.0))


class Measured(NamedTuple):
    """What one size took: answers a second while evaluating and from start to end, and the peaks of PSS and RSS."""

    rate: float
    whole_rate: float
    pss: Memory
    rss: Memory


def run(n: int, folder: Path) -> Measured:
    """Evaluates n examples as a user does, and measures it."""
    path = folder / f"examples-{n}.jsonl"
    write_examples(path, n)
    command = [
        sys.executable,
        "-m",
        "ragauge",
        "evaluate",
        str(path),
        "-m",
        METRICS,
        "--json",
        "--quiet",
        "--store",
        f"sqlite:///{folder}/bench-{n}.db",
    ]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder)
    peaks, ended = [Memory(), Memory()], threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            peaks[:] = [peak.peak(now) for peak, now in zip(peaks, memory(process.pid), strict=True)]

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, _ = process.communicate()
    took = time.perf_counter() - started
    ended.set()
    watcher.join()
    assert process.returncode == 0, f"it ended with {process.returncode}"
    found = json.loads(out)
    assert found["metrics"]["faithfulness"]["scored"] == n, found["metrics"]["faithfulness"]
    return Measured(found["took"]["answers_per_second"], n / took, *peaks)


def main() -> None:
    """Runs the sizes given on the command line and prints a table."""
    sizes = [int(word) for word in sys.argv[1:]] or [1_000, 5_000]
    print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    first = None
    with tempfile.TemporaryDirectory() as name:
        for n in sizes:
            found = run(n, Path(name))
            first = first or found
            print(f"{n:>7,} examples: {found.rate:.1f} answers/s (floor 30), {found.whole_rate:.1f} from start to end")
            for kind, now, then in (("PSS", found.pss, first.pss), ("RSS", found.rss, first.rss)):
                ratio = f"{now.tree / then.tree:.2f}x the first, ceiling {CEILING}"
                print(f"        peak {kind}: tree {now.tree:,.0f} MB ({ratio}),", end=" ")
                print(f"owner {now.owner:,.0f} MB, worker {now.worker:,.0f} MB", flush=True)
    print(f"load after: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
