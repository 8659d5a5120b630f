"""Measures retrieval from labels beside pytrec_eval, ir_measures and ranx: time and memory of whole processes.

    .venv/bin/python bench/retrieval.py --work /tmp/retrieval-bench

Under the work folder it makes a run of 6,980 queries x 1,000 documents and labels as sparse as MS MARCO's (seeded, in
Parquet), and a virtual environment with the peers. Each contestant then is a process of its own that goes from the
two Parquet files to the means of the same six metrics, three times; the fastest counts, start of Python and imports
included. Peak memory is what the kernel says of the process (wait4's ru_maxrss).

The peers are used as their documentation shows: pytrec_eval gets dictionaries filled row by row from a pandas table,
ir_measures the table itself, ranx its own Parquet reader. `pytrec_eval, tuned` fills the dictionaries from whole
slices of polars' lists, as fast as Python can, which supposes that the rows of a query stand together. `reading` is a
process that only reads the run with polars: nothing can be much faster. `ragauge` calls the library, `ragauge
retrieval` is the command as typed, with --json. `ragauge, shuffled` reads the same rows in random order, which have to
be sorted. ranx compiles itself with numba: `ranx` finds what an earlier run compiled, `ranx,
first run` does not, as in a fresh container.

The means are compared too. Ours, pytrec_eval's and ir_measures' are equal; ranx breaks ties by the order of the rows.
The exit code is 1 where a floor of FLOORS is missed, or where we take more than MOST_READING times `reading`.
Contestants take turns, so that a busy machine slows them alike; there, processor time tells more than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

PEERS = ("pytrec-eval-terrier", "ir-measures", "ranx", "polars", "pandas<3", "pyarrow")  # ranx: no pandas 3 text
COLD = "ranx, first run"
FLOORS = {"pytrec_eval": 5.0, "ir_measures": 10.0, "ranx": 30.0, COLD: 30.0}  # times our time
MOST_READING = 2.0  # our time in times of `reading`
METRICS = ("recall@5", "precision@5", "mrr", "map", "ndcg@10", "recall@100")

OURS = f"""
import json, sys
from ragauge.evaluation.retrieval.compute import evaluate_retrieval
from ragauge.readers.rankings import read_qrels, read_run
from ragauge.metrics.catalogue import select_metrics
report = evaluate_retrieval(read_qrels(sys.argv[1]), read_run(sys.argv[2]), select_metrics({METRICS!r}))
print(json.dumps([summary.mean for summary in report.summaries]))
"""
COMMAND = f"""
import io, json, sys
from contextlib import redirect_stdout
from ragauge.cli.main import main
sys.argv = ["ragauge", "retrieval", *sys.argv[1:3], "-m", {",".join(METRICS)!r}, "--json"]
with redirect_stdout(io.StringIO()) as out:
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
print(json.dumps([one["mean"] for one in json.loads(out.getvalue())["metrics"].values()]))
"""
READING = """
import sys
import polars as pl
pl.read_parquet(sys.argv[2])
print("[]")
"""
EVALUATE = """
names = {"recall.5,100", "P.5", "recip_rank", "map", "ndcg_cut.10"}
found = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
order = ["recall_5", "P_5", "recip_rank", "map", "ndcg_cut_10", "recall_100"]
print(json.dumps([sum(one[name] for one in found.values()) / len(found) for name in order]))
"""
PYTREC_EVAL = (
    """
import json, sys
import pandas as pd, pytrec_eval
def nested(path, value):
    table, found = pd.read_parquet(path), {}
    for query, doc, number in zip(table["query_id"], table["doc_id"], table[value]):
        found.setdefault(query, {})[doc] = number
    return found
qrels, run = nested(sys.argv[1], "grade"), nested(sys.argv[2], "score")
"""
    + EVALUATE
)
TUNED = (
    """
import json, sys
import polars as pl, pytrec_eval
def nested(path, value):
    table = pl.read_parquet(path)
    groups = table["query_id"].rle()
    names, lengths = groups.struct.field("value").to_list(), groups.struct.field("len").to_list()
    docs, values = table["doc_id"].to_list(), table[value].to_list()
    found, start = {}, 0
    for name, length in zip(names, lengths):
        found.setdefault(name, {}).update(zip(docs[start:start + length], values[start:start + length]))
        start += length
    return found
qrels, run = nested(sys.argv[1], "grade"), nested(sys.argv[2], "score")
"""
    + EVALUATE
)
IR_MEASURES = """
import json, sys
import ir_measures, pandas as pd
from ir_measures import AP, P, R, RR, nDCG
qrels = pd.read_parquet(sys.argv[1]).rename(columns={"grade": "relevance"})
run = pd.read_parquet(sys.argv[2])
wanted = [R@5, P@5, RR, AP, nDCG@10, R@100]
found = ir_measures.calc_aggregate(wanted, qrels, run)
print(json.dumps([found[one] for one in wanted]))
"""
RANX = """
import json, sys
import pandas as pd
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_df(pd.read_parquet(sys.argv[1]), q_id_col="query_id", doc_id_col="doc_id", score_col="grade")
run = Run.from_parquet(sys.argv[2], q_id_col="query_id", doc_id_col="doc_id", score_col="score")
wanted = ["recall@5", "precision@5", "mrr", "map", "ndcg@10", "recall@100"]
found = evaluate(qrels, run, wanted)
print(json.dumps([float(found[one]) for one in wanted]))
"""


@dataclass(frozen=True)
class Measured:
    """The fastest of a contestant's runs; its processor time and memory are the least of them."""

    seconds: float
    cpu: float
    megabytes: float
    means: list[float]


def make_data(folder: Path, queries: int, depth: int, seed: int) -> None:
    """Writes qrels.parquet, run.parquet (each query's rows together, best first) and shuffled.parquet."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    n = queries * depth
    names = np.sort(rng.choice(1_200_000, queries, replace=False))
    scores = np.sort(rng.gamma(9.0, 1.6, (queries, depth)), axis=1)[:, ::-1].round(4).ravel()
    step = rng.integers(1, 8_000, (queries, depth)).cumsum(axis=1)  # ascending, so no document comes twice
    documents = rng.permuted(step % 8_841_823, axis=1).ravel()
    run = pl.DataFrame({"query_id": np.repeat(names, depth), "doc_id": documents, "score": scores})
    run = run.cast({"query_id": pl.String, "doc_id": pl.String})
    run.write_parquet(folder / "run.parquet")
    run.sample(fraction=1.0, shuffle=True, seed=seed).write_parquet(folder / "shuffled.parquet")
    relevant = 1 + (rng.random(queries) < 0.06)  # 1.06 a query
    query = np.repeat(np.arange(queries), relevant)
    place = np.minimum(rng.exponential(60.0, len(query)).astype(int), depth - 1)
    found = run["doc_id"].gather(query * depth + place)
    missed = rng.random(len(query)) < 0.15
    labels = pl.DataFrame({"query_id": pl.Series(names[query]).cast(pl.String), "doc_id": found})
    labels = labels.with_columns(
        grade=pl.lit(1, pl.Int64),
        doc_id=pl.when(pl.Series(missed)).then(pl.format("missed{}", "doc_id")).otherwise("doc_id"),
    ).unique(["query_id", "doc_id"], maintain_order=True)
    labels.write_parquet(folder / "qrels.parquet")
    print(f"{n:,} results of {queries:,} queries, {labels.height:,} labels; seed {seed}")


def peers_python(folder: Path) -> Path:
    """The Python of an environment that has the peers; made once."""
    python = folder / "peers/bin/python"
    if not python.exists():
        venv.create(folder / "peers", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
    return python


def once(python: str | Path, script: str, files: list[Path], cold: bool = False) -> Measured:
    """One whole process: wall time, peak memory, and the means that it prints; cold: nothing that numba compiled."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryDirectory() as empty:
        settings = {**os.environ, **({"NUMBA_CACHE_DIR": empty} if cold else {})}
        start = time.perf_counter()
        process = subprocess.Popen([str(python), "-c", script, *map(str, files)], stdout=out, env=settings)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"failed with {process.returncode}: {script}")
        out.seek(0)
        means = json.loads(out.read().splitlines()[-1])
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, means)


def best(runs: list[Measured]) -> Measured:
    """The fastest time, the least processor time and the least memory."""
    return Measured(
        seconds=min(one.seconds for one in runs),
        cpu=min(one.cpu for one in runs),
        megabytes=min(one.megabytes for one in runs),
        means=runs[0].means,
    )


def main() -> int:
    """Makes what is missing, runs everyone in turns, prints the table; 1 where a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for the data and the peers' environment")
    parser.add_argument("--queries", type=int, default=6_980)
    parser.add_argument("--depth", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    data = asked.work / f"{asked.queries}x{asked.depth}-{asked.seed}"
    data.mkdir(parents=True, exist_ok=True)
    if not (data / "qrels.parquet").exists():
        make_data(data, asked.queries, asked.depth, asked.seed)
    python = peers_python(asked.work)
    files = [data / "qrels.parquet", data / "run.parquet"]
    contestants: dict[str, tuple[str | Path, str, list[Path]]] = {
        "reading": (sys.executable, READING, files),
        "ragauge": (sys.executable, OURS, files),
        "ragauge retrieval": (sys.executable, COMMAND, files),
        "ragauge, shuffled": (sys.executable, OURS, [files[0], data / "shuffled.parquet"]),
        "pytrec_eval": (python, PYTREC_EVAL, files),
        "pytrec_eval, tuned": (python, TUNED, files),
        "ir_measures": (python, IR_MEASURES, files),
        "ranx": (python, RANX, files),
        COLD: (python, RANX, files),
    }
    runs: dict[str, list[Measured]] = {name: [] for name in contestants}
    for turn in range(asked.repeat):
        for name, (interpreter, script, paths) in contestants.items():
            runs[name].append(once(interpreter, script, paths, name == COLD))
            took = f"{runs[name][-1].seconds:7.2f} s  cpu {runs[name][-1].cpu:7.2f} s"
            print(f"  turn {turn + 1}  {name:<18} {took}  load {os.getloadavg()[0]:.1f}", flush=True)
    return report({name: best(found) for name, found in runs.items()})


def report(found: dict[str, Measured]) -> int:
    """Prints the table; 1 where a floor is missed."""
    ours = found["ragauge"]
    heads = "".join(f"{head:>9}" for head in ("seconds", "ours x", "cpu s", "ours x", "MB", "ours x"))
    print(f"\n{'':<20}{heads}   largest difference of a mean")
    for name, one in found.items():
        apart = max((abs(a - b) for a, b in zip(ours.means, one.means, strict=False)), default=0.0)
        print(
            f"{name:<20}{one.seconds:>9.2f}{one.seconds / ours.seconds:>9.1f}{one.cpu:>9.2f}{one.cpu / ours.cpu:>9.1f}"
            f"{one.megabytes:>9.0f}{one.megabytes / ours.megabytes:>9.1f}   {apart:.1e}"
        )
    print("  ".join(f"{name} {mean:.4f}" for name, mean in zip(METRICS, ours.means, strict=True)))
    missed = [
        f"{name}: {found[name].seconds / ours.seconds:.1f} times, floor {floor:g}"
        for name, floor in FLOORS.items()
        if found[name].seconds < floor * ours.seconds
    ]
    if ours.seconds > MOST_READING * found["reading"].seconds:
        times = ours.seconds / found["reading"].seconds
        missed.append(f"reading: we take {times:.1f} times as long, {MOST_READING:g} at most")
    if ours.megabytes > found["pytrec_eval"].megabytes:
        missed.append("memory: more than pytrec_eval's")
    print("missed: " + "; ".join(missed) if missed else "every floor is held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
