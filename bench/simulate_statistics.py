"""How often intervals hold the truth and tests err: seeded simulation, beside SciPy and statsmodels.

    python bench/simulate_statistics.py            all of it, into docs/statistics-tables.md between the markers
    python bench/simulate_statistics.py --check    a few cells again; exit 1 where the page says otherwise

Every cell has 20,000 draws from a generator of its own (SEED, data, n), so that a cell is the same whenever it is
computed and whatever else is. Intervals and tests are the library's own functions, but for Student's t, which is the
tests'; only the bootstrap takes many draws at once, as it takes many metrics. SciPy (and statsmodels, where it is
installed) get the same draws, the first few of them where they are slow. The exit code is 1 where a target is missed
(`missed`).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import exp, inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.stats
from simulated_tests import CASES, FALLS_SHORT, SHIFTED, false_alarms, families, powers, powers_by_shape, stray

from ragauge.stats.bootstrap import resample_means
from ragauge.stats.intervals import mean_interval
from ragauge.stats.mean_difference import paired_interval
from ragauge.stats.weighted import Interval

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.stats.students import clustered_t, student_t

Array = npt.NDArray[np.float64]
Hits = npt.NDArray[np.bool_]
Rows = list[list[str]]

SEED = 20_251_122
SIZES = (20, 50, 200, 2_000)
DRAWS, CHUNK = 20_000, 1_000
RESAMPLES = 1_999
SLOW_DRAWS = 2_000  # for scipy's bootstrap and statsmodels' regression
CHECKED = (
    "normal differences",
    "long-tailed amounts, twice",
    "skewed, bounded",
    "one of twenty a hundred times as wide",
)
INTERVALS_CHECKED = (  # of the others each takes minutes
    "skewed",
    "binary",
    "zero-inflated",
    "clustered rate",
    "shares, 2 of 3 alike",
    "rates, 14 % change",
    "clustered differences",
)
PAGE = Path(__file__).parents[1] / "docs" / "statistics-tables.md"
MARKS = "<!-- {}, written by bench/simulate_statistics.py: {} -->"


@dataclass(frozen=True)
class Data:
    """What is drawn: its true mean, and how the library is told about it."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int, int], Array]
    kind: Any = "mean"
    bounds: tuple[float, float] = (0.0, 1.0)
    cluster: int = 1  # values that share a cluster

    def clusters(self, n: int) -> npt.NDArray[np.intp] | None:
        """Labels of n values; None = all independent."""
        return None if self.cluster == 1 else np.arange(n) // self.cluster


def in_fives(g: np.random.Generator, draws: int, n: int) -> Array:
    """Normal, half of the variance shared by five values of a cluster."""
    return np.repeat(g.normal(3, 1, (draws, n // 5)), 5, axis=1) + g.normal(0, 1, (draws, n))


def rates_in_fives(g: np.random.Generator, draws: int, n: int) -> Array:
    """0/1 scores; every cluster of five has a rate of its own, 0.8 on average."""
    return (g.random((draws, n)) < np.repeat(g.beta(4, 1, (draws, n // 5)), 5, axis=1)).astype(float)


def share_changes(g: np.random.Generator, draws: int, n: int) -> Array:
    """Differences of shares of four claims; two of three examples keep their value, the rest loses a little."""
    base, again = g.binomial(4, 0.8, (draws, n)), g.random((draws, n)) < 1 / 3
    return np.where(again, (g.binomial(4, 0.71, (draws, n)) - base) / 4, 0.0)


def rate_changes(g: np.random.Generator, draws: int, n: int) -> Array:
    """Differences of 0/1 scores: 4 % gained, 10 % lost."""
    u = g.random((draws, n))
    return np.where(u < 0.04, 1.0, np.where(u < 0.14, -1.0, 0.0))


FREE = (-inf, inf)
SINGLE = (
    Data("normal", 3.0, lambda g, draws, n: g.normal(3, 2, (draws, n)), "amount", FREE),
    Data("skewed", 0.9, lambda g, draws, n: g.beta(4.5, 0.5, (draws, n))),
    Data("long tail", exp(0.5), lambda g, draws, n: g.lognormal(0, 1, (draws, n)), "amount", (0.0, inf)),
    Data("binary", 0.9, lambda g, draws, n: (g.random((draws, n)) < 0.9).astype(float), "rate"),
    Data("zero-inflated", 0.1, lambda g, draws, n: np.where(g.random((draws, n)) < 0.8, 0.0, g.random((draws, n)))),
    Data("clustered", 3.0, in_fives, "amount", FREE, cluster=5),
    Data("clustered rate", 0.8, rates_in_fives, "rate", cluster=5),
)
PAIRED = (
    Data("normal differences", 0.3, lambda g, draws, n: g.normal(0.3, 1, (draws, n)), "amount", FREE),
    Data("shares, 2 of 3 alike", -0.03, share_changes),
    Data("rates, 14 % change", -0.06, rate_changes, "rate"),
    Data("clustered differences", 3.0, in_fives, "amount", FREE, cluster=5),
    Data("skewed differences", 1.0, lambda g, draws, n: g.exponential(1, (draws, n)), "amount", FREE),
    Data("long tail differences", exp(0.5), lambda g, draws, n: g.lognormal(0, 1, (draws, n)), "amount", FREE),
)


def chunks(data: Data, n: int, place: int, draws: int) -> Iterator[Array]:
    """The draws of a cell, some at a time."""
    g = np.random.default_rng([SEED, place, n])
    for start in range(0, draws, CHUNK):
        yield data.draw(g, min(CHUNK, draws - start), n)


def held(found: Any, truth: float) -> Hits:
    """Which intervals hold the truth; no interval does not."""
    return np.array([one is not None and one.low <= truth <= one.high for one in found])


def chosen(x: Array, data: Data) -> Hits:
    """The interval that the library chooses."""
    groups = data.clusters(x.shape[1])
    return held((mean_interval(row, kind=data.kind, bounds=data.bounds, clusters=groups) for row in x), data.truth)


def students(x: Array, data: Data) -> Hits:
    """Student's t, over clusters where there are any."""
    groups = data.clusters(x.shape[1])
    if groups is None:
        return held((student_t(row) for row in x), data.truth)
    return held((clustered_t(row, groups) for row in x), data.truth)


def chosen_for_pairs(d: Array, data: Data) -> Hits:
    """The interval that the library chooses for pairs with these differences."""
    groups, found = data.clusters(d.shape[1]), []
    for row in d:
        base = np.zeros(row.size) if data.kind == "amount" else np.where(row < 0, -row, 0.0)
        options: Any = {"kind": data.kind, "bounds": data.bounds, "clusters": groups}
        found.append(paired_interval(row + base, base, **options))
    return held(found, data.truth)


def resampled(x: Array, data: Data, methods: tuple[Any, ...] = ("percentile", "bca")) -> tuple[Hits, ...]:
    """The library's bootstrap, percentile and BCa."""
    found = resample_means(x.T, clusters=data.clusters(x.shape[1]), resamples=RESAMPLES)
    return tuple(held(found.intervals(method), data.truth) for method in methods)


def scipy_t(x: Array, data: Data) -> Hits:
    """SciPy's t interval."""
    with np.errstate(all="ignore"):  # a constant sample has a scale of 0, and no interval
        low, high = scipy.stats.t.interval(0.95, x.shape[1] - 1, loc=x.mean(axis=1), scale=scipy.stats.sem(x, axis=1))
    return np.asarray((low <= data.truth) & (data.truth <= high))


def scipy_wilson(x: Array, data: Data) -> Hits:
    """SciPy's Wilson interval."""
    ends: dict[int, Any] = {}
    for k in np.unique(x.sum(axis=1)).astype(int):
        ends[int(k)] = scipy.stats.binomtest(int(k), x.shape[1]).proportion_ci(0.95, method="wilson")
    return held((Interval(*ends[int(k)], "wilson") for k in x.sum(axis=1)), data.truth)


def scipy_bootstrap(x: Array, data: Data, method: Any) -> Hits:
    """SciPy's bootstrap, vectorised over the draws."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)  # all values alike: no BCa interval
        found = scipy.stats.bootstrap(
            (x,), np.mean, axis=1, method=method, n_resamples=RESAMPLES, batch=100, rng=np.random.default_rng(1)
        ).confidence_interval
    return np.asarray((found.low <= data.truth) & (data.truth <= found.high))


def statsmodels_clustered(x: Array, data: Data) -> Hits | None:
    """The interval of statsmodels' regression on a constant, errors by cluster; None where it is not installed."""
    try:
        from statsmodels.regression.linear_model import OLS  # type: ignore[import-not-found]
    except ImportError:
        return None
    groups, one = data.clusters(x.shape[1]), np.ones(x.shape[1])
    options = {"cov_type": "cluster", "cov_kwds": {"groups": groups}, "use_t": True}
    return np.array([low <= data.truth <= high for low, high in (OLS(r, one).fit(**options).conf_int()[0] for r in x)])


def peers(x: Array, data: Data, n: int, slow: bool) -> dict[str, tuple[str, Hits | None]]:
    """Ours -> the peer's name and its answers; the bootstrap only where it is quick enough."""
    found: dict[str, tuple[str, Hits | None]] = {}
    if data.cluster > 1:
        if slow:
            found["t"] = ("statsmodels", statsmodels_clustered(x, data))
        return found
    found["t"] = ("scipy t", scipy_t(x, data))
    if data.kind == "rate":
        found["chosen"] = ("scipy Wilson", scipy_wilson(x, data))
    if slow and n <= 50:
        for name, method in (("bootstrap", "percentile"), ("bootstrap BCa", "BCa")):
            found[name] = (f"scipy {method}", scipy_bootstrap(x, data, method))
    return found


def coverage_cell(data: Data, n: int, place: int) -> tuple[dict[str, Hits], dict[str, Any]]:
    """Hits of each of our methods, and of its peer on the same draws."""
    ours: dict[str, list[Hits]] = {}
    theirs: dict[str, tuple[str, list[Hits]]] = {}
    for number, x in enumerate(chunks(data, n, place, DRAWS)):
        percentile, bca = resampled(x, data)
        mine = {"chosen": chosen(x, data), "t": students(x, data), "bootstrap": percentile, "bootstrap BCa": bca}
        for name, hits in mine.items():
            ours.setdefault(name, []).append(hits)
        for name, (peer, hits_too) in peers(x, data, n, slow=number * CHUNK < SLOW_DRAWS).items():
            if hits_too is not None:
                theirs.setdefault(name, (peer, []))[1].append(hits_too)
    return (
        {name: np.concatenate(parts) for name, parts in ours.items()},
        {name: (peer, np.concatenate(parts)) for name, (peer, parts) in theirs.items()},
    )


NAMES = {"rate": "Wilson", "mean": "scaled Wilson", "amount": "skew-corrected t"}


def method_name(data: Data) -> str:
    """What the library chooses for such data."""
    name = NAMES[data.kind]
    if data.cluster == 1:
        return name
    return "skew-corrected clustered t" if data.kind == "amount" else f"clustered {name}"


def coverage(place: int) -> Rows:
    """A row for each method on one kind of data: coverage by n, and how far from the peer it is at most."""
    data, rows = SINGLE[place], []
    cells = {n: coverage_cell(data, n, place) for n in SIZES}
    print(f"{data.name} done, {time.process_time():.0f} s", file=sys.stderr)
    for method in ("chosen", "t", "bootstrap", "bootstrap BCa"):
        name = f"**{method_name(data)}**" if method == "chosen" else method
        shown = [f"{100 * ours[method].mean():.1f}" for ours, _ in cells.values()]
        beside, peer = [], "–"
        for ours, theirs in cells.values():
            known = "t" if method == "chosen" and method not in theirs else method
            if known in theirs:
                peer, hits = theirs[known]
                beside.append(100 * (ours[method][: hits.size].mean() - hits.mean()))
        far = f"{max(beside, key=abs):+.1f}" if beside else "–"
        rows.append([data.name, name, *shown, peer, far])
    return rows


def pairs(place: int, sizes: tuple[int, ...] = SIZES) -> Rows:
    """Coverage of the interval that the library chooses for paired differences."""
    names, data = {"rate": "Agresti-Min", "mean": "skew-corrected t", "amount": "skew-corrected t"}, PAIRED[place]
    name = "skew-corrected clustered t" if data.cluster > 1 else names[data.kind]
    cells = [[chosen_for_pairs(d, data) for d in chunks(data, n, 100 + place, DRAWS)] for n in sizes]
    return [[data.name, f"**{name}**", *(f"{100 * np.concatenate(hits).mean():.1f}" for hits in cells)]]


def table(head: list[str], rows: Rows) -> str:
    """In Markdown."""
    return "\n".join([" | ".join(head), "|".join(["---"] * len(head)), *(" | ".join(row) for row in rows)])


def written(name: str, body: str) -> None:
    """Puts the body between its markers."""
    text = PAGE.read_text()
    begin, end = (MARKS.format(name, side) for side in ("begin", "end"))
    before, rest = text.split(begin)
    PAGE.write_text(f"{before}{begin}\n\n{body}\n\n{end}{rest.split(end)[1]}")


def on_page(name: str) -> dict[tuple[str, str], list[str]]:
    """The rows of one of the page's tables, by their first two cells."""
    begin, end = (MARKS.format(name, side) for side in ("begin", "end"))
    rows = [line.split(" | ") for line in PAGE.read_text().split(begin)[1].split(end)[0].splitlines() if " | " in line]
    return {(row[0], row[1]): row[2:] for row in rows}


def check() -> int:
    """Computes a few cells again and holds them against the page; the number that differ."""
    wrong, page = 0, on_page("coverage")
    for place, data in enumerate(SINGLE):
        if data.name not in INTERVALS_CHECKED:
            continue
        hits = np.concatenate([chosen(x, data) for x in chunks(data, 50, place, DRAWS)])
        key = (data.name, f"**{method_name(data)}**")
        now, then = f"{100 * hits.mean():.1f}", page.get(key, ["missing"] * 4)[1]
        wrong += now != then
        print(f"{data.name}, n=50, {method_name(data)}: {now}, page {then}{'' if now == then else '  DIFFERS'}")
    rows = [
        ("pairs", row)
        for place, data in enumerate(PAIRED)
        if data.name in INTERVALS_CHECKED
        for row in pairs(place, (20,))
    ]
    for place, (data, *_) in enumerate(CASES):
        for test in ("McNemar, mid-p", *(["**chosen**"] if data in CHECKED else [])):
            named = "equal means" if data in SHIFTED else "false alarms"
            rows += [(named, row) for row in false_alarms(place, (20,), test)]
    rows += [("powers by shape", row) for row in powers_by_shape((20,), "heavy tails")]
    for named, row in rows:
        then = on_page(named).get((row[0], row[1]), ["missing"])[0]
        wrong += row[2] != then
        print(f"{row[0]}, n=20, {row[1]}: {row[2]}, page {then}{'' if row[2] == then else '  DIFFERS'}")
    return wrong


def missed(covered: Rows, alarms: Rows, power: Rows, many: Rows) -> list[str]:
    """The rows that are not where they should be; what is known to fall short, and stands on the page, apart."""
    found = []
    for data, method, *shares in covered:
        numbers = [float(share) for share in shares[: len(SIZES)]]
        held_to = data == "normal" and method in ("t", "**skew-corrected t**")
        if held_to and not all(94 <= share <= 96 for share in numbers):
            found.append(f"{data}, {method}: {numbers}")
        if data in ("normal", "skewed", "binary", "zero-inflated") and not 94 <= numbers[-1] <= 96:
            found.append(f"{data}, {method}, n = 2,000: {numbers[-1]}")
    found += [said for row in alarms if (said := stray(SIZES, *row))]
    found += [f"power: {row}" for row in power if abs(float(row[3]) - float(row[4])) > 3]
    return found + [f"families: {row}" for row in many if row[1] != "none" and float(row[3]) > 5]


def main() -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="a few cells only; exit 1 where the page differs")
    if parser.parse_args().check:
        raise SystemExit(1 if check() else 0)
    sizes = [f"n = {n:,}" for n in SIZES]
    start = time.perf_counter()
    with ProcessPoolExecutor() as pool:  # a core each: all cells have generators of their own
        asked = [
            [pool.submit(coverage, place) for place in range(len(SINGLE))],
            [pool.submit(false_alarms, place, SIZES) for place in range(len(CASES))],
            [pool.submit(pairs, place) for place in range(len(PAIRED))],
            [pool.submit(powers)],
            [pool.submit(powers_by_shape)],
            [pool.submit(families)],
        ]
        done = ([row for one in rows for row in one.result()] for rows in asked)
        covered, alarms, of_pairs, power, by_shape, many = done
    written("coverage", table(["scores", "method", *sizes, "peer", "most from peer"], covered))
    written("pairs", table(["pairs", "method", *sizes], of_pairs))
    still, shifted = ([row for row in alarms if (row[0] in SHIFTED) is where] for where in (False, True))
    written("false alarms", table(["nothing changed", "test", *sizes], still))
    written("equal means", table(["the mean alone stayed", "test", *sizes], shifted))
    written("powers", table(["effect", "test", "n", "formula %", "simulated %"], power))
    written("powers by shape", table(["differences", "test", *sizes[:3]], by_shape))
    written("families", table(["family", "correction", "measured", "%"], many))
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    short = missed(covered, alarms, power, many)
    print("\n".join(["missed:", *short] if short else ["no target is missed but these, which stand on the page:"]))
    print("\n".join(f"  {data}, {test}: n = {known}" for (data, test), known in FALLS_SHORT.items()))
    raise SystemExit(1 if short else 0)


if __name__ == "__main__":
    main()
