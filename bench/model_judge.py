"""What a model judge costs and how fast it is, beside ragas 0.4 and deepeval 4 in the same run on the same server.

The server is `tests/loopback/server.py` in a process of its own on this machine: it waits, and then gives each tool a
valid reply. Each tool runs as a script of a user, in a process and an environment of its own. Figures are printed
beside what is asked; the script ends with 1 where one is missed.

calls    200 examples with 5 passages at 100 ms, 64 in flight: faithfulness, answer relevance, context precision and
         context recall. Calls and prompt characters an example, how many of these lie in what the prompts about one
         answer begin with, and seconds from start to end and of the evaluation alone. Then every other metric of the
         same questions: how many further calls.
latency  1,000 examples at 1 s, 64 in flight: seconds from start to end, over calls x latency / 64.
cpu      200 and 1,000 examples at 50 ms: CPU time of the client's process, a further call and what calls do not cost.
memory   1,000 and 20,000 examples: the peak memory (PSS) of the process tree.
cached   1,000 examples again: the same run; the same answers as a new run (evidence is stored); and without that
         evidence (replies are stored). No call is made in any of them.

    python bench/model_judge.py --work /tmp/model-judge                      # all, about ten minutes
    python bench/model_judge.py --work /tmp/model-judge --only cpu,cached
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from judge_examples import write_examples
from local_judge import memory

HERE = Path(__file__).resolve().parent
PEERS = {"ragas": ("ragas==0.4.3", "langchain-community<0.4"), "deepeval": ("deepeval==4.3.1",)}
PARTS = ("calls", "latency", "cpu", "memory", "cached")
METRICS = "faithfulness,answer_relevance,context_precision,context_recall"
IN_FLIGHT = 64
QUESTIONS = {"verify_answer", "verify_reference", "rate_passages"}


class Ran(NamedTuple):
    """One process: seconds from start to end, CPU seconds, megabytes at its peak, and what it printed."""

    seconds: float
    cpu: float
    megabytes: float
    told: dict[str, Any]


class Server(NamedTuple):
    """The server's process and address."""

    process: subprocess.Popen[str]
    url: str

    def counts(self) -> dict[str, float]:
        """What came in since this was last asked."""
        self.process.stdin.write("counts\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextmanager
def served(latency: float) -> Iterator[Server]:
    """A server that waits so many seconds before each answer."""
    command = [sys.executable, str(HERE / "judge_server.py"), "--latency", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process, process.stdout.readline().strip())
        finally:
            process.stdin.close()
            process.wait(30)


def ran(python: Path | str, script: str, *arguments: object, folder: Path, watch: bool = False) -> Ran:
    """Runs a script of this folder to its end; with its peak memory where it is watched."""
    began = time.perf_counter()
    log = folder / f"{Path(script).stem}.log"
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with log.open("w") as errors:
        process = subprocess.Popen(
            [str(python), str(HERE / script), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=environment,
        )
        peak, ended = [0.0], threading.Event()

        def look() -> None:
            while not ended.wait(0.25):
                peak[0] = max(peak[0], memory(process.pid)[0].tree)

        watcher = threading.Thread(target=look, daemon=True)
        if watch:
            watcher.start()
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        ended.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
    took = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"{script} ended with {process.returncode}:\n{log.read_text()[-3_000:]}")
    told = json.loads(out.decode().strip().splitlines()[-1])
    return Ran(took, used.ru_utime + used.ru_stime, peak[0], told)


class Bench:
    """Runs the parts and remembers whether something was missed."""

    def __init__(self, work: Path, folder: Path) -> None:
        self.work, self.folder, self.missed = work, folder, []

    def file(self, n: int, release: str = "") -> Path:
        """The examples, written once."""
        path = self.folder / f"examples-{n}{release}.jsonl"
        if not path.exists():
            write_examples(path, n, release)
        return path

    def ours(self, n: int, server: Server, store: str, *, metrics: str = METRICS, **more: Any) -> Ran:
        """An evaluation of n examples by ragauge."""
        release, ready = more.pop("release", ""), ["ready"] if more.pop("ready", False) else []
        found = ran(
            sys.executable,
            "run_ragauge.py",
            self.file(n, release),
            server.url,
            IN_FLIGHT,
            f"sqlite:///{self.folder}/{store}.db",
            metrics,
            f"bench{release}",
            *ready,
            folder=self.folder,
            **more,
        )
        if metrics == METRICS:
            whole(found, n)
        return found

    def tell(self, what: str, found: float, asked: float, *, least: bool = False, digits: int = 2) -> None:
        """A figure beside what is asked, and their ratio."""
        good = found >= asked if least else found <= asked
        sign = "at least" if least else "at most"
        print(
            f"  {'ok  ' if good else 'MISS'} {what}: {found:,.{digits}f}; asked {sign} {asked:,.{digits}f}"
            f" (ratio {found / asked:.2f})",
            flush=True,
        )
        if not good:
            self.missed.append(what)

    def calls(self) -> None:
        """Calls, characters and seconds of all three tools, and further metrics at no call."""
        n, file = 200, self.file(200)
        with served(0.1) as server:
            server.counts()
            took = {"ragauge": self.ours(n, server, "calls", ready=True)}
            counts = {"ragauge": server.counts()}
            more = further()
            self.ours(n, server, "calls", metrics=more)
            further_calls = server.counts()["calls"]
            for peer in PEERS:
                python = peer_python(self.work, peer)
                took[peer] = ran(python, f"run_{peer}.py", file, server.url, IN_FLIGHT, folder=self.folder)
                counts[peer] = server.counts()
                whole(took[peer], n)
        print(f"calls: {n} examples, 100 ms, {IN_FLIGHT} in flight")
        for tool, one in took.items():
            told = counts[tool]
            print(
                f"  {tool:<9} {told['calls'] / n:.2f} calls and {told['embeddings'] / n:.2f} embeddings an example, "
                f"{told['characters'] / n:,.0f} characters; {one.told['seconds']:.2f} s evaluating, "
                f"{one.seconds:.2f} s from start to end, {1_000 * one.cpu / told['calls']:.1f} ms CPU a call"
            )
        mine = took["ragauge"]
        self.tell("calls an example", counts["ragauge"]["calls"] / n, 3)
        self.tell("characters an example", counts["ragauge"]["characters"] / n, 10_000, digits=0)
        self.tell(
            "characters an example that no cache of prefixes can serve", counts["ragauge"]["fresh"] / n, 6_000, digits=0
        )
        self.tell("share of characters in a common prefix", counts["ragauge"]["shared"], 0.75, least=True)
        self.tell(f"further calls for {more.count(',') + 1} other metrics", further_calls, 0.5, digits=1)
        for peer in PEERS:
            ratio = took[peer].told["seconds"] / mine.told["seconds"]
            self.tell(f"times faster than {peer}, evaluating", ratio, 15, least=True)
            print(f"       from start to end: {took[peer].seconds / mine.seconds:.2f} times")

    def latency(self) -> None:
        """Seconds at 1 s, over the least that is possible."""
        n = 1_000
        with served(1.0) as server:
            found = self.ours(n, server, "latency")
            calls = server.counts()["calls"]
        print(f"latency: {n:,} examples, 1 s, {IN_FLIGHT} in flight, {calls:,} calls")
        self.tell("seconds from start to end", found.seconds, 1.15 * calls / IN_FLIGHT)
        print(f"       {found.seconds / (calls / IN_FLIGHT):.3f} x (calls x latency / {IN_FLIGHT})")

    def cpu(self) -> None:
        """CPU of the client's process: what one more call costs, and what is left without calls."""
        with served(0.05) as server:
            self.ours(200, server, "cpu-first")  # writes bytecode
            server.counts()
            small = self.ours(200, server, "cpu-200")
            few = server.counts()["calls"]
            large = self.ours(1_000, server, "cpu-1000")
            many = server.counts()["calls"]
        slope = (large.cpu - small.cpu) / (many - few)
        print(f"cpu: 200 and 1,000 examples, 50 ms, {few:,} and {many:,} calls, bytecode cached")
        self.tell("ms CPU a call", 1_000 * slope, 4.5)
        self.tell("seconds CPU beside the calls", small.cpu - few * slope, 2.0)
        print(f"       over all: {1_000 * large.cpu / many:.2f} ms a call")

    def memory(self) -> None:
        """Peak memory at 1,000 and at 20,000 examples."""
        with served(0.0) as server:
            small, large = (self.ours(n, server, f"memory-{n}", watch=True) for n in (1_000, 20_000))
        print(f"memory: 20,000 examples in {large.seconds:.0f} s from start to end")
        print(f"       peak PSS of the tree: {small.megabytes:,.0f} MB at 1,000, {large.megabytes:,.0f} MB at 20,000")
        self.tell("peak at 20,000 over that at 1,000", large.megabytes / small.megabytes, 1.15)

    def cached(self) -> None:
        """Seconds of a re-run that makes no call."""
        n = 1_000
        for release in ("", "-again", "-third"):
            self.file(n, release)
        with served(0.0) as server:
            self.ours(n, server, "cached")
            server.counts()
            again = self.ours(n, server, "cached")
            known = self.ours(n, server, "cached", release="-again")
            subprocess.run([sys.executable, "-c", FORGET, str(self.folder / "cached.db")], check=True, cwd=self.folder)
            replies = self.ours(n, server, "cached", release="-third")
            calls = server.counts()["calls"]
        print(f"cached: {n:,} examples, seconds from start to end (of these evaluating)")
        for what, one in (
            ("the same run", again),
            ("a new run, evidence stored", known),
            ("a new run, replies stored", replies),
        ):
            self.tell(f"seconds, {what} ({one.told['seconds']:.2f})", one.seconds, 2 * n / 1_000)
        self.tell("calls", calls, 0.5, digits=1)


FORGET = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    for table in ("run_evidence", "evidence"):
        store.execute(f"DELETE FROM {table}")
"""


def whole(found: Ran, n: int) -> None:
    """Stops where a tool did not score everything: its figures would mean nothing."""
    told = found.told
    short = {name: scored for name, scored in told["scored"].items() if scored < n}
    if told["n"] != n or short:
        raise SystemExit(f"not everything was scored: {told}")


def further() -> str:
    """Every other metric that rests on the same questions alone, comma-separated."""
    from ragauge.metrics.catalogue import list_questions
    from ragauge.metrics.catalogue_entries import list_samples

    main = METRICS.split(",")
    found = dict.fromkeys(
        str(one) for one in list_samples() if list_questions([one]) and set(list_questions([one])) <= QUESTIONS
    )
    return ",".join(name for name in found if name not in main)


def peer_python(work: Path, peer: str) -> Path:
    """The Python of an environment that has a peer; made once."""
    python = work / f"{peer}/bin/python"
    if not python.exists():
        venv.create(work / peer, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[peer]], check=True)
    return python


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts asked for; 1 where a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="folder of the peers' environments, made once")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, comma-separated: {', '.join(PARTS)}")
    asked = parser.parse_args(arguments)
    parts = asked.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    asked.work.mkdir(parents=True, exist_ok=True)
    print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(asked.work.resolve(), Path(name))
        for part in parts:
            getattr(bench, part)()
    print(f"load after: {os.getloadavg()[0]:.2f}; {time.perf_counter() - began:.0f} s in all")
    if bench.missed:
        print(f"missed: {'; '.join(bench.missed)}")
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
