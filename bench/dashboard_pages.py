"""Measures the pages of `ragauge ui`: the real server over a store of many runs, asked as browsers ask.

    python bench/dashboard_pages.py --work DIR                      # the stores of bench/dashboard_store.py; 1.5 GB
    python bench/dashboard_pages.py --work DIR --runs 100 --requests 500 --long 1000

Every page is asked for by one reader, for some runs all over the store, then by four at once, then many times more
while the server's memory is watched. Printed is the time to the first byte as a reader sees it and the processor time
of the server, which says more on a machine that does other things too; its load is printed. The first opening of a page
is counted apart: what is computed then is kept.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from dashboard_store import make

READY = "The dashboard is at "
MOST_EXAMPLES = 100_000
HEAD = f"{'milliseconds':30}{'median':>8}{'p99':>8}{'CPU':>8}{'first':>8}{'its CPU':>8}{'growth':>8}{'SQL':>5}{'KB':>6}"
LIST = "status=failed&cause=hallucinated&sort=quality&segment.type=multi"


@dataclass
class Server:
    """The dashboard in a process of its own."""

    process: subprocess.Popen[str]
    host: str
    ready: float

    def get(self, path: str) -> tuple[float, bytes]:
        """Seconds to the first byte, and the body."""
        connection = http.client.HTTPConnection(self.host, timeout=120)
        began = time.perf_counter()
        connection.request("GET", path, headers={"accept": "text/html"})
        answer = connection.getresponse()
        seconds, body = time.perf_counter() - began, answer.read()
        connection.close()
        if answer.status != 200:
            sys.exit(f"{path} answered {answer.status}: {body[:500].decode(errors='replace')}")
        return seconds, body

    def used(self) -> float:
        """Processor seconds of the server, of its threads that live."""
        found = 0.0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            found += int((task / "schedstat").read_text().split()[0]) / 1e9
        return found

    def resident(self) -> float:
        """MB in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


@contextmanager
def serving(url: str) -> Iterator[Server]:
    """`ragauge ui` over a store, until the block ends."""
    words = [sys.executable, "-m", "ragauge", "ui", "--store", url, "--port", "0", "--no-open"]
    began = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout or ():
            if READY in line:
                address = urlsplit(line.partition(READY)[2].split()[0])
                yield Server(process, address.netloc, time.perf_counter() - began)
                return
        sys.exit("the server did not start")
    finally:
        process.terminate()
        process.wait()


@dataclass
class Times:
    """What was measured of one page."""

    seconds: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)
    compressed: int = 0
    statements: int = 0

    @property
    def median(self) -> float:
        """Of the seconds."""
        return statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        """The seconds that one of a hundred takes longer than."""
        return sorted(self.seconds)[max(0, round(0.99 * len(self.seconds)) - 1)]


def pages(url: str, visited: int) -> dict[str, list[str]]:
    """Kind of page -> its addresses, of runs all over the store."""
    import ragauge as rg

    listed = [row.run_id for row in rg.runs(limit=None, store=url)]
    step = max(1, (len(listed) - 1) // visited)
    chosen = [*range(0, len(listed) - 1, step)][:visited]
    newest = rg.runs(limit=1, store=url)[0]
    runs = [listed[at] for at in chosen]
    return {
        "/": ["/"],
        "/runs": ["/runs", f"/runs?after={runs[-1]}" if len(runs) > 9 else "/runs"],
        "/runs sorted": ["/runs?sort=faithfulness", "/runs?metric.faithfulness.lt=0.9&sort=-mrr"],
        "/runs/R": [f"/runs/{run}" for run in runs],
        "/runs/R/examples": [f"/runs/{run}/examples" for run in runs],
        "/runs/R/examples filtered": [f"/runs/{run}/examples?{LIST}" for run in runs],
        "/runs/R/examples by score": [
            f"/runs/{run}/examples?metric.faithfulness.lt=0.5&sort=faithfulness" for run in runs
        ],
        "/runs/R/examples by words": [f"/runs/{run}/examples?q=number+77" for run in runs],
        "/runs/R/examples/Q": [f"/runs/{run}/examples/q{at % 500}?sort=quality" for at, run in enumerate(runs)],
        "/compare": [f"/compare?base={listed[at + 1]}&new={listed[at]}" for at in chosen],
        "/history": ["/history", f"/history?set={newest.set}&metric=faithfulness"],
        "/sets": ["/sets"],
        "/sets/S/V": [f"/sets/{newest.set}/{newest.set_version}"],
        "/glossary": ["/glossary"],
        "/glossary/M": ["/glossary/faithfulness"],
    }


def statements_of(url: str, addresses: dict[str, list[str]]) -> dict[str, int]:
    """Kind of page -> statements of one opening of it after the first."""
    from sqlalchemy import Engine, event
    from starlette.testclient import TestClient

    from ragauge.dashboard.app import create_app
    from ragauge.dashboard.security import Access
    from ragauge.dashboard.site import Site

    counted = [0]

    def executed(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        counted[0] += not statement.startswith(("BEGIN", "PRAGMA"))

    found = {}
    event.listen(Engine, "before_cursor_execute", executed)
    with TestClient(create_app(Site(url, Access())), base_url="http://127.0.0.1:7471") as client:
        for kind, some in addresses.items():
            client.get(some[0])
            counted[0] = 0
            client.get(some[0])
            found[kind] = counted[0]
    event.remove(Engine, "before_cursor_execute", executed)
    return found


def one_reader(server: Server, addresses: dict[str, list[str]], requests: int) -> tuple[dict[str, Times], ...]:
    """The first opening of every page, and then so many in a random order."""
    first, later = ({kind: Times() for kind in addresses} for _ in range(2))
    for kind, some in addresses.items():
        for path in some:
            _timed(server, path, first[kind])
    draw = Random(7)
    turns = [kind for kind in addresses for _ in range(max(1, requests // len(addresses)))]
    draw.shuffle(turns)
    for kind in turns:
        _timed(server, draw.choice(addresses[kind]), later[kind])
    return first, later


def _timed(server: Server, path: str, into: Times) -> None:
    before = server.used()
    seconds, body = server.get(path)
    into.used.append(server.used() - before)
    into.seconds.append(seconds)
    into.compressed = max(into.compressed, len(gzip.compress(body, 6)))


def several(server: Server, addresses: dict[str, list[str]], requests: int, readers: int = 4) -> Times:
    """The same pages by several readers at once."""
    found = Times()

    def read(seed: int) -> None:
        draw = Random(seed)
        for _ in range(requests // readers):
            found.seconds.append(server.get(draw.choice(addresses[draw.choice([*addresses])]))[0])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def large(work: Path) -> Times:
    """The first page of a run of 100,000 examples."""
    url = make(work / f"2-{MOST_EXAMPLES}.db", MOST_EXAMPLES, 2)
    with serving(url) as server:
        path = f"/runs/{pages(url, 1)['/runs/R'][0].rpartition('/')[2]}/examples"
        found = Times()
        server.get(path)
        for _ in range(10):
            _timed(server, path, found)
            _timed(server, f"{path}?sort=quality", found)
    return found


def table(small: dict[str, Times] | None, first: dict[str, Times], later: dict[str, Times]) -> None:
    """A row a page."""
    print(HEAD)
    for kind, one in later.items():
        opened = first[kind]
        cpu, begun = statistics.median(one.used), statistics.median(opened.used)
        growth = f"{cpu / statistics.median(small[kind].used):.2f}" if small is not None else ""
        print(
            f"{kind:30}{one.median * 1e3:8.0f}{one.p99 * 1e3:8.0f}{cpu * 1e3:8.0f}{opened.median * 1e3:8.0f}"
            f"{begun * 1e3:8.0f}{growth:>8}{one.statements:5}{one.compressed / 1024:6.0f}"
        )


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder of the stores, which stay")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--least", type=int, default=10)
    parser.add_argument("--visited", type=int, default=20, help="runs whose pages are asked for")
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--long", type=int, default=5_000, help="requests while memory is watched; 0 = none")
    parser.add_argument("--large", action="store_true", help="a run of 100,000 examples too")
    wanted = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    small: dict[str, Times] | None = None
    for runs in dict.fromkeys((wanted.least, wanted.runs)):
        url = make(wanted.work / f"{runs}-1000.db", 1_000, runs)
        addresses = pages(url, wanted.visited)
        with serving(url) as server:
            print(f"\n{runs:,} runs: ready in {server.ready:.2f} s, {server.resident():.0f} MB")
            requests = wanted.requests if runs == wanted.runs else wanted.requests // 4
            first, later = one_reader(server, addresses, requests)
            for kind, count in statements_of(url, addresses).items():
                later[kind].statements = count
            table(small, first, later)
            small = small or later
            if runs != wanted.runs:
                continue
            found = several(server, addresses, wanted.requests // 4)
            print(f"four readers: median {found.median * 1e3:.0f} ms, p99 {found.p99 * 1e3:.0f} ms")
            _watched(server, addresses, wanted.long)
    if wanted.large:
        found = large(wanted.work)
        print(
            f"list of {MOST_EXAMPLES:,} examples: median {found.median * 1e3:.0f} ms, p99 {found.p99 * 1e3:.0f} ms, "
            f"CPU {statistics.median(found.used) * 1e3:.0f} ms"
        )
    print(f"load after: {os.getloadavg()[0]:.1f}")
    return 0


def _watched(server: Server, addresses: dict[str, list[str]], requests: int) -> None:
    """Memory after a fifth of the requests, and after all."""
    if not requests:
        return
    draw, seen = Random(9), []
    for number in range(1, requests + 1):
        server.get(draw.choice(addresses[draw.choice([*addresses])]))
        if number in (requests // 5, requests):
            seen.append(server.resident())
    print(
        f"memory: {seen[0]:.0f} MB after {requests // 5:,} requests, {seen[1]:.0f} MB after {requests:,} "
        f"({seen[1] / seen[0] - 1:+.1%})"
    )


if __name__ == "__main__":
    sys.exit(main())
