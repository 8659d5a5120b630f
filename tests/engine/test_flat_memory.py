"""Memory that does not grow with the number of examples: a whole evaluation, and one process that judges."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

WHOLE = """
import json, resource, sys
import ragauge as rg
from tests.engine.tiny_judge import IDLE

METRICS = "recall@5,mrr,faithfulness,contradicted,context_recall,context_precision,answer_correctness,token_f1"

def rows(n):
    words = "words of a passage " * 60
    for i in range(n):
        passages = [{"doc_id": f"d{i}-{j}", "text": f"number {i + j} {words}"} for j in range(5)]
        yield {"query_id": f"q{i}", "query": f"what is number {i}", "references": [f"it is number {i}"],
               "answer": f"number {i}. and another sentence.", "passages": passages, "relevant": {f"d{i}-9": 1},
               "segments": {"kind": f"k{i % 7}", "user": f"u{i}"}}

with open(sys.argv[1], "w") as file:
    file.writelines(json.dumps(row) + "\\n" for row in rows(int(sys.argv[2])))
card = rg.evaluate(sys.argv[1], metrics=METRICS, judge=IDLE, store=f"sqlite:///{sys.argv[1]}.db", workers=2)
assert card.card.n == card.card.failed_examples == int(sys.argv[2])
own, theirs = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({"owner": own / 1024, "worker": theirs / 1024}))
"""

JUDGING = """
import json, random
from pathlib import Path
from ragauge.core.example import Example
from ragauge.core.response import Passage, Response
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.judge_batch import Work
from ragauge.engine.judges import build_judge
from ragauge.engine.worker import judge_numbers
from ragauge.metrics.catalogue import parse_metric, list_questions
from ragauge.core.response import Run
from ragauge.store.store_access import open_store
import sys

draw = random.Random(7)
WORDS = [f"{one}{two}" for one in ("mar", "lon", "ter", "vis", "cal") for two in ("do", "ran", "pel", "tic", "sum")]

def sentence(i):
    return " ".join(draw.choices(WORDS, k=9)).capitalize() + f" of unit {i} weighs {draw.randint(10, 99)} kg."

def records(n):
    for i in range(n):
        texts = [" ".join(sentence(i) for _ in range(4)) for _ in range(4)]
        answer = " ".join([texts[0].partition(".")[0] + ".", sentence(i), sentence(i)])
        passages = tuple(Passage(f"p{j}", f"d{i}-{j}", text) for j, text in enumerate(texts))
        example = Example(f"q{i}", f"What does unit {i} weigh?", references=(sentence(i),))
        yield example, Response(f"q{i}", passages=passages, answer=answer)

def megabytes():
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return int(rollup.split("Anonymous:")[1].split()[0]) / 1024

names = ("faithfulness", "context_recall", "context_precision", "answer_correctness", "token_f1")
metrics, judge = tuple(parse_metric(name) for name in names), build_judge("local")
work = Work(metrics, tuple(one for one in list_questions(metrics) if judge.answers(one)), judge, EmbedAnswers())
found = []
with open_store(sys.argv[1]) as store:
    n = int(sys.argv[2])
    run = store.runs.import_run(Run("", "r"), records(n))
    numbers = store.runs.load_order(run.run_id).numbers
    for start in range(0, n, 25):
        judge_numbers(numbers[start : start + 25], work, store)
        found.append(megabytes())
print(json.dumps({"filled": found[7], "end": found[-1]}))
"""


def printed(script: str, *arguments: str) -> dict[str, float]:
    """What a script of its own process prints last."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(found)  # noqa: T201 - shown with pytest -s
    return found


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("n", "owner"), [(4_000, 18), pytest.param(8_000, 25, marks=pytest.mark.prove)])
def test_evaluation_is_flat(tmp_path: Path, n: int, owner: float) -> None:
    """Reading, judging and the scorecard of thousands of failed examples take little more memory than of 1,000."""
    small, large = (printed(WHOLE, str(tmp_path / f"{size}.jsonl"), str(size)) for size in (1_000, n))
    assert large["owner"] < small["owner"] + owner  # 3.6 kB an example of 8,000; half of it is noise of the allocator
    assert large["worker"] < small["worker"] + 20  # batches grow to 256 responses, since this judge takes no time


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the kernel does not tell anonymous memory")
@pytest.mark.parametrize("n", [500, pytest.param(1_000, marks=pytest.mark.prove)])
def test_local_judge_fills_its_caches_early(tmp_path: Path, n: int) -> None:
    """A process that judges is as large after 200 answers as after the last: what it remembers is full by then."""
    found = printed(JUDGING, f"sqlite:///{tmp_path}/s.db", str(n))
    assert found["end"] < found["filled"] + 4  # 800 answers of which each leaves 5 kB would fail
