"""Measures scores kept as rows, as they are, beside scores kept as Arrow chunks in a table of blobs.

    python bench/score_chunks.py --work DIR                       # 50,000 responses x 24 metrics = 1.2 million scores

Both are written in the same process from the same results, a transaction for every 500 responses; responses come in a
random order, as an evaluation brings them. Chunks are compacted at the end: sorted by response, 500 to a chunk. The
median of several turns is printed. Decision 0019 rests on this.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

BATCH_SIZE_RESPONSES = 500
TURNS = 3
SEGMENT_SIZES = (3, 10, 30)  # values of three segment columns: 43
JUDGE = "bench@1"
KILLED_AFTER = 20  # batches that were acknowledged when the writer is killed
SCHEMA = "CREATE TABLE IF NOT EXISTS chunks (chunk_no INTEGER PRIMARY KEY, run_no INTEGER, body BLOB)"


def make_results(n: int, n_metrics: int) -> list[list[Any]]:
    """A row of results a response; ratios, with a reason in one of twenty."""
    import numpy as np

    from ragauge.metrics.base import MetricResult, Ratio

    draw = np.random.default_rng(3)
    parts, wholes = draw.integers(0, 6, (n, n_metrics)).tolist(), draw.integers(1, 6, (n, n_metrics)).tolist()
    return [
        [
            MetricResult("undefined", reason="nothing to divide by")
            if part == 5
            else MetricResult.of(Ratio(min(part, whole), whole))
            for part, whole in zip(*row, strict=True)
        ]
        for row in zip(parts, wholes, strict=True)
    ]


def build_columns(n_metrics: int) -> list[Any]:
    """The columns of the rows: most ask a judge."""
    from ragauge.store.scores import Column

    return [Column(f"recall@{k + 1}", 1, JUDGE if k % 3 else None) for k in range(n_metrics)]


def open_rows(url: str, n: int) -> tuple[Any, str, list[int]]:
    """The store with a run of so many responses: the store, the run's id, numbers of the responses."""
    from ragauge.core.example import Example
    from ragauge.core.response import Response, Run
    from ragauge.store.store_access import open_store

    store = open_store(url)
    pairs = ((Example(f"q{k}", f"Question {k}?"), Response(f"q{k}", answer="Yes.")) for k in range(n))
    run = store.runs.import_run(Run("r", "run", set_name="bench", system="bench"), pairs)
    return store, run.run_id, list(store.runs.load_order(run.run_id).numbers)


def pack_chunk(numbers: Sequence[int], rows: Sequence[Sequence[Any]]) -> bytes:
    """Scores of some responses as one Arrow file, compressed."""
    import polars as pl

    from ragauge.core.score import STATUSES

    flat = [score for row in rows for score in row]
    n_metrics = len(rows[0])
    frame = pl.DataFrame(
        {
            "response_no": pl.Series(numbers, dtype=pl.UInt32).repeat_by(n_metrics).explode(),
            "metric_no": pl.Series(list(range(n_metrics)) * len(rows), dtype=pl.UInt16),
            "status": pl.Series([STATUSES.index(score.status) for score in flat], dtype=pl.UInt8),
            "value": pl.Series([score.value for score in flat], dtype=pl.Float64),
            "numerator": pl.Series([score.numerator for score in flat], dtype=pl.Float64),
            "denominator": pl.Series([score.denominator for score in flat], dtype=pl.Float64),
            "low": pl.Series([score.low if score.low != score.value else None for score in flat], dtype=pl.Float64),
            "high": pl.Series([score.high if score.high != score.value else None for score in flat], dtype=pl.Float64),
            "reason": pl.Series([score.reason or None for score in flat], dtype=pl.Categorical),
        }
    )
    return pack_frame(frame)


def pack_frame(frame: Any) -> bytes:
    """A frame as an Arrow file, compressed."""
    body = io.BytesIO()
    frame.write_ipc(body, compression="zstd")
    return body.getvalue()


def read_chunks(connection: sqlite3.Connection) -> Any:
    """All chunks as one frame; of a score that was written twice, the last."""
    import polars as pl

    bodies = connection.execute("SELECT body FROM chunks ORDER BY chunk_no").fetchall()
    return pl.concat([pl.read_ipc(io.BytesIO(body)) for (body,) in bodies], how="vertical").with_columns(
        pl.col("reason").cast(pl.String)
    )


def compact(connection: sqlite3.Connection) -> None:
    """Sorts the scores by response, 500 to a chunk."""
    import polars as pl

    frame = read_chunks(connection).with_columns(pl.col("reason").cast(pl.Categorical)).sort("response_no", "metric_no")
    with connection:
        connection.execute("DELETE FROM chunks")
        numbers = frame["response_no"].unique(maintain_order=True)
        for start in range(0, len(numbers), BATCH_SIZE_RESPONSES):
            first, last = numbers[start], numbers[min(start + BATCH_SIZE_RESPONSES, len(numbers)) - 1]
            part = frame.filter(pl.col("response_no").is_between(first, last))
            connection.execute("INSERT INTO chunks (run_no, body) VALUES (1, ?)", (pack_frame(part),))


def iter_batches(numbers: Sequence[int], rows: Sequence[Any]) -> Iterator[tuple[list[int], list[Any]]]:
    """The responses in a random order, 500 at a time."""
    order = list(range(len(numbers)))
    Random(5).shuffle(order)
    for start in range(0, len(order), BATCH_SIZE_RESPONSES):
        picked = order[start : start + BATCH_SIZE_RESPONSES]
        yield [numbers[k] for k in picked], [rows[k] for k in picked]


def open_chunks(path: Path) -> sqlite3.Connection:
    """A database with the table of chunks, as durable as the store's."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(SCHEMA)
    return connection


def write_rows(store: Any, run_id: str, columns: list[Any], numbers: list[int], rows: list[Any]) -> None:
    """All scores as rows, as an evaluation writes them."""
    for picked, batch in iter_batches(numbers, rows):
        store.scores.write(run_id, columns, zip(picked, batch, strict=True))


def write_chunks(connection: sqlite3.Connection, numbers: list[int], rows: list[Any]) -> None:
    """All scores as chunks."""
    for picked, batch in iter_batches(numbers, rows):
        with connection:
            connection.execute("INSERT INTO chunks (run_no, body) VALUES (1, ?)", (pack_chunk(picked, batch),))


def compute_means_of_rows(columns: dict[str, Any], segments: list[Any]) -> list[tuple[int, float]]:
    """Count and mean of every metric and segment value, from the store's arrays."""
    import numpy as np

    means = []
    for size, codes in zip(SEGMENT_SIZES, segments, strict=True):
        for scores in columns.values():
            valid = ~np.isnan(scores.value)
            cells = codes[scores.query[valid]]
            counts = np.bincount(cells, minlength=size)
            sums = np.bincount(cells, weights=scores.value[valid], minlength=size)
            means += zip(counts.tolist(), (sums / counts).tolist(), strict=True)
    return means


def compute_means_of_frame(frame: Any, index: Any, segments: list[Any]) -> list[tuple[int, float]]:
    """The same from one frame."""
    import polars as pl

    columns = {f"s{k}": codes[index.query] for k, codes in enumerate(segments)}
    table = pl.DataFrame({"response_no": index.number.astype("uint32"), **columns})
    joined = frame.select("response_no", "metric_no", "value").join(table, on="response_no", how="left")
    means = []
    for k in range(len(segments)):
        grouped = joined.group_by("metric_no", f"s{k}").agg(pl.col("value").count().alias("n"), pl.col("value").mean())
        means += grouped.sort("metric_no", f"s{k}").select("n", "value").rows()
    return means


def take_time(work: Callable[[], Any], turns: int = TURNS) -> tuple[float, Any]:
    """Processor seconds of the median turn, with children's, and what the last one gave."""
    times, result = [], None
    for _ in range(turns):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return statistics.median(times), result


def measure(work: Path, n: int, n_metrics: int) -> list[tuple[str, str, str]]:
    """What is measured, of rows and of chunks."""
    import numpy as np
    import polars as pl

    rows, columns = make_results(n, n_metrics), build_columns(n_metrics)
    store, run_id, numbers = open_rows(f"sqlite:///{work / 'rows.db'}", n)
    chunks = open_chunks(work / "chunks.db")
    empty = _measure_size(work / "rows.db", store), _measure_size(work / "chunks.db", chunks)
    by_rows, _ = take_time(lambda: write_rows(store, run_id, columns, numbers, rows), 1)
    by_chunks, _ = take_time(lambda: write_chunks(chunks, numbers, rows), 1)
    loose_read, _ = take_time(lambda: read_chunks(chunks))
    loose_size = _measure_size(work / "chunks.db", chunks)
    compacting, _ = take_time(lambda: compact(chunks), 1)
    chunks.execute("VACUUM")
    sizes = _measure_size(work / "rows.db", store), _measure_size(work / "chunks.db", chunks)
    index = store.runs.index(run_id, store.runs.load_order(run_id).numbers)
    names = [column.metric for column in columns]
    rows_read, arrays = take_time(lambda: store.scores.load_metrics(run_id, JUDGE, names, index))
    frame_read, _ = take_time(lambda: store.scores.load_frame(run_id, JUDGE))
    chunks_read, frame = take_time(lambda: read_chunks(chunks))
    draw = np.random.default_rng(9)
    segments = [draw.integers(0, size, n) for size in SEGMENT_SIZES]
    rows_means, old = take_time(lambda: compute_means_of_rows(arrays, segments))
    chunk_means, new = take_time(lambda: compute_means_of_frame(frame, index, segments))
    if not np.allclose(old, new):
        sys.exit("the means differ")
    planned, _ = take_time(lambda: store.scores.find_complete(run_id, columns))
    planned_chunks, _ = take_time(
        lambda: frame_counts(read_chunks(chunks).select("response_no", "metric_no"), n_metrics)
    )
    one, _ = take_time(lambda: [store.scores.load_for_response(run_id, f"q{k}", 0, JUDGE) for k in range(100)])
    bodies = chunks.execute("SELECT chunk_no FROM chunks").fetchall()

    def look_up(k: int) -> Any:
        (body,) = chunks.execute("SELECT body FROM chunks WHERE chunk_no = ?", bodies[k % len(bodies)]).fetchone()
        return pl.read_ipc(io.BytesIO(body)).filter(pl.col("response_no") == numbers[k]).rows()

    one_chunk, _ = take_time(lambda: [look_up(k) for k in range(100)])
    mb = [(size - start) / 1e6 for size, start in zip(sizes, empty, strict=True)]
    return [
        ("size, MB", f"{mb[0]:.1f}", f"{mb[1]:.1f} ({(loose_size - empty[1]) / 1e6:.1f} before compaction)"),
        ("written", f"{by_rows:.2f} s", f"{by_chunks:.2f} s, compaction {compacting:.2f} s"),
        ("read", f"{rows_read:.2f} s as arrays, {frame_read:.2f} s as a frame",
         f"{chunks_read:.2f} s ({loose_read:.2f} s before compaction)"),
        ("means and counts, 43 segment values", f"{rows_means:.2f} s", f"{chunk_means:.2f} s"),
        ("what is left to score", f"{planned:.2f} s", f"{planned_chunks:.2f} s"),
        ("one response", f"{one * 10:.2f} ms", f"{one_chunk * 10:.2f} ms, where its chunk is known"),
    ]  # fmt: skip


def frame_counts(keys: Any, n_metrics: int) -> set[int]:
    """Numbers of the responses with a score of every metric."""
    import polars as pl

    counts = keys.group_by("response_no").agg(pl.col("metric_no").n_unique())
    return set(counts.filter(pl.col("metric_no") == n_metrics)["response_no"])


def _measure_size(path: Path, owner: Any) -> int:
    """Bytes of a database after a checkpoint."""
    connection = owner if isinstance(owner, sqlite3.Connection) else sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path.stat().st_size


def measure_kill(work: Path, n: int, n_metrics: int) -> tuple[str, str, str]:
    """Writers that are killed: batches that they had acknowledged, and those that are there."""
    kept = []
    for kind in ("rows", "chunks"):
        words = [sys.executable, __file__, "--work", str(work), "--responses", str(n), "--write", kind]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(KILLED_AFTER):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        connection = sqlite3.connect(work / f"killed-{kind}.db")
        if kind == "rows":
            found = connection.execute("SELECT count(*) FROM scores").fetchone()[0]
        else:
            found = read_chunks(connection).height
        kept.append(f"{found // (BATCH_SIZE_RESPONSES * n_metrics)} of {KILLED_AFTER} acknowledged or more, "
                    f"{found % (BATCH_SIZE_RESPONSES * n_metrics)} scores of a broken batch")  # fmt: skip
    return ("batches there after kill -9", *kept)  # type: ignore[return-value]


def write_until_killed(work: Path, kind: str, n: int, n_metrics: int) -> None:
    """Writes batch after batch, a line for each that was committed."""
    rows = make_results(n, n_metrics)
    if kind == "rows":
        store, run_id, numbers = open_rows(f"sqlite:///{work / 'killed-rows.db'}", n)
    else:
        numbers, chunks = list(range(n)), open_chunks(work / "killed-chunks.db")
    for picked, batch in iter_batches(numbers, rows):
        if kind == "rows":
            store.scores.write(run_id, build_columns(n_metrics), zip(picked, batch, strict=True))
        else:
            write_chunks(chunks, picked, batch)
        print("written", flush=True)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder of the databases, emptied of them first")
    parser.add_argument("--responses", type=int, default=50_000)
    parser.add_argument("--metrics", type=int, default=24)
    parser.add_argument("--write", choices=("rows", "chunks"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.write:
        write_until_killed(options.work, options.write, options.responses, options.metrics)
        return 0
    for path in options.work.glob("*.db*"):
        path.unlink()
    print(f"{options.responses * options.metrics:,} scores, load {os.getloadavg()[0]:.1f}")
    table = measure(options.work, options.responses, options.metrics)
    table.append(measure_kill(options.work, min(options.responses, 40 * BATCH_SIZE_RESPONSES), options.metrics))
    for what, by_rows, by_chunks in table:
        print(f"{what:38} | {by_rows:36} | {by_chunks}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
