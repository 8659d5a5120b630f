"""Measures what pages are read from, in a store of many runs: a list, a scorecard, one question in all runs.

    python bench/dashboard_store.py --work DIR                 # 10 and 1,000 runs × 1,000 examples × 22 metrics; 1.5 GB
    python bench/dashboard_store.py --work DIR --runs 100

One run is evaluated by a synthetic judge; the others are copies of its rows, so that the store has the size of a real
one. Printed is the CPU time of this process, the median of several turns, with the number of statements. Nothing may
grow by more than half from the smallest store to the largest.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from compare_runs import fill

TURNS = 7
GROWTH = 1.5
COPIED = ("responses", "run_texts", "run_judges", "causes", "summaries", "summary_values")


def make(path: Path, examples: int, runs: int) -> str:
    """A store of so many runs; one that is there is taken as it is."""
    url = f"sqlite:///{path}"
    if path.exists():
        return url
    import ragauge as rg
    from ragauge.evaluation.overview.verb import compare_with_default

    fill(url, examples)
    for name in ("base", "new"):
        compare_with_default(rg.open_run(name, store=url).run, store=url)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    first = connection.execute("SELECT run_no FROM runs WHERE name = 'new'").fetchone()[0]
    for number in range(2, runs):
        _copy(connection, first, first + number - 1, number)
        connection.commit()
    connection.close()
    return url


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _copy(connection: sqlite3.Connection, first: int, run: int, number: int) -> None:
    """One more run with the rows of another; its responses have numbers of their own."""
    least = connection.execute("SELECT min(response_no) FROM responses WHERE run_no = ?", (first,)).fetchone()[0]
    shift = connection.execute("SELECT max(response_no) FROM responses").fetchone()[0] + 1 - least
    values = {"run_no": f"{run}", "run_id": f"'c{number}'", "name": f"'copy {number}'", "content": "randomblob(32)"}
    _insert(connection, "runs", values, first)
    for table in (*COPIED, "scores"):
        _insert(connection, table, {"run_no": f"{run}", "response_no": f"response_no + {shift}"}, first)
    _copy_report(connection, first, run, number)


def _copy_report(connection: sqlite3.Connection, first: int, run: int, number: int) -> None:
    """What the evaluation of the run left of its scorecard; its comparison and history are computed at first view."""
    from ragauge.store.text_codec import pack_text, unpack_text

    renamed = {'"r1"': f'"c{number}"', '"new"': f'"copy {number}"'}
    renamed |= {f"ragauge {verb} new": f"ragauge {verb} 'copy {number}'" for verb in ("evaluate", "show", "label draw")}
    names = _columns(connection, "cards")
    query = f"SELECT {', '.join(names)} FROM cards WHERE run_no = ? AND part IN ('report', 'segments')"  # noqa: S608
    for row in connection.execute(query, (first,)).fetchall():
        values = dict(zip(names, row, strict=True))
        text = unpack_text(values["body"])
        for old, new in renamed.items():
            text = text.replace(old, new)
        values |= {"run_no": run, "body": pack_text(text)}
        connection.execute(f"INSERT INTO cards VALUES ({', '.join('?' * len(values))})", [*values.values()])  # noqa: S608


def _insert(connection: sqlite3.Connection, table: str, values: dict[str, str], first: int) -> None:
    names = _columns(connection, table)
    chosen = ", ".join(values.get(name, name) for name in names)
    connection.execute(f"INSERT INTO {table} SELECT {chosen} FROM {table} WHERE run_no = {first}")  # noqa: S608 - names of columns


def measured(url: str) -> dict[str, tuple[float, int]]:
    """What is asked -> CPU seconds, the median, and statements."""
    from sqlalchemy import Engine, event

    import ragauge as rg

    listed = rg.runs(limit=50, store=url)
    run_id, middle = listed[0].run_id, listed[len(listed) // 2].run_id
    asked: dict[str, Callable[[], object]] = {
        "10 runs": lambda: rg.runs(limit=10, store=url),
        "10 runs by a mean": lambda: rg.runs(limit=10, sort="faithfulness", store=url),
        "10 runs below a mean": lambda: rg.runs(limit=10, filter={"metric.faithfulness.lt": "0.9"}, store=url),
        "scorecard": lambda: rg.open_run(run_id, store=url).scorecard(),
        "scorecard in HTML": lambda: rg.open_run(run_id, store=url).scorecard().to_html(),
        "scorecard of another run": lambda: rg.open_run(middle, store=url).scorecard(),
        "question in 10 runs": lambda: rg.open_run(run_id, store=url).question_in_runs("q0", limit=10),
        "page of examples": lambda: rg.open_run(run_id, store=url).examples(limit=50, sort="faithfulness"),
    }
    if len(listed) == 50:  # more rows than the smallest store has: they have nothing to be held against
        asked["50 runs"] = lambda: rg.runs(limit=50, store=url)
        asked["question in 50 runs"] = lambda: rg.open_run(run_id, store=url).question_in_runs("q0")
    statements = [0]

    def executed(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements[0] += not statement.startswith(("BEGIN", "PRAGMA"))

    event.listen(Engine, "before_cursor_execute", executed)
    found = {}
    for name, ask in asked.items():
        ask()
        times = []
        for _ in range(TURNS):
            statements[0] = 0
            start = time.process_time()
            ask()
            times.append(time.process_time() - start)
        found[name] = statistics.median(times), statements[0]
    event.remove(Engine, "before_cursor_execute", executed)
    return found


def main() -> int:
    """Makes the stores, prints the table; 1 where something grows by more than half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder of the stores, which stay")
    parser.add_argument("--examples", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--least", type=int, default=10)
    wanted = parser.parse_args()
    wanted.work.mkdir(parents=True, exist_ok=True)
    sizes = (wanted.least, wanted.runs)
    tables = [measured(make(wanted.work / f"{runs}-{wanted.examples}.db", wanted.examples, runs)) for runs in sizes]
    print(f"{'':28}{sizes[0]:>8,} runs{sizes[1]:>8,} runs  growth  statements")
    worst = 0.0
    for name, (large, statements) in tables[1].items():
        small = tables[0][name][0] if name in tables[0] else None
        growth = 0.0 if small is None else large / small
        worst = max(worst, growth)
        before = f"{'':13}" if small is None else f"{small:>11.3f} s"
        print(f"{name:28}{before}{large:>11.3f} s{f'{growth:.2f}' if growth else '':>8}{statements:>12}")
    return int(worst > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
