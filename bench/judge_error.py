"""How far the local judge's means lie from people's on sources not seen before, and whether intervals say so.

Over the labelled sets of the data folder, and over others of which bench/fetched_scales.json keeps the numbers: the
judge's mean over the right and over the wrong texts of every source, by metric, layout and language. Writes them into
the package (src/ragauge/judges/local/judge_error.json, never edited by hand), with how far people's mean lies from the
judge's by band of a score, which is what labels of a user's own bring up to date; and four tables into
docs/local-judge.md. Each source is left out in turn, with all of its family: do the intervals of the others hold
what people say of its systems, all of its gold passages, none of its replaced ones, and mixtures of both? Wider and
narrower intervals show what coverage costs. The last asks whether the interval of a difference holds the true
difference of two simulated systems.

    python bench/judge_error.py                     # about five minutes
    python bench/judge_error.py --check             # fails where the figures are stale, or hold less than 90 %
    python bench/judge_error.py --fetched FOLDER    # judges the other sets again (bench/fetched_sources.py)
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from fetched_sources import fetched
from judge_error_data import SEED, Item, Judged, items
from judge_scales import (
    FEWEST_SOURCES,
    KINDS,
    SAME,
    End,
    Scale,
    end,
    means_left_out,
    rows_by_layout,
    scales_of,
    source_scales,
    trade_off,
)

from ragauge.judges.local.judge import LocalJudge
from ragauge.stats.effects import PooledEffect, pool_effects
from ragauge.stats.intervals import mean_interval
from ragauge.stats.judge_error import JudgeMeanError, widen_difference_interval
from ragauge.stats.weighted import Interval

Array = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "src/ragauge/judges/local/judge_error.json"
FETCHED = ROOT / "bench/fetched_scales.json"
PAGE = ROOT / "docs/local-judge.md"
BEGIN, END = "<!-- judge's error, written by bench/judge_error.py: begin -->", "<!-- judge's error: end -->"

FEWEST = 10  # texts of a label in a source, below which its mean says little
EDGES = (0.3, 0.7, 0.9)  # of the bands of a score
FEWEST_IN_BAND = 5
ASKED = 0.90  # of what the intervals are to hold
TILT = 1 / 3  # two thirds of one system's texts are long and one third of the other's
DIFFERENCES = (-0.1, -0.05, 0.0, 0.05, 0.1)  # true ones between versions of a system that people would compare
CHANGED = (0.1, 0.3, 1.0)  # share of the examples that a version changes
BASES = (0.5, 0.8)  # share that is right before
RUNS, SIZE = 4, 300  # simulated pairs of each kind, examples of each


class Source:
    """What was judged of one source for one metric."""

    def __init__(self, name: str, mine: Sequence[Item]) -> None:
        self.name = name
        self.truth = np.array([item.truth for item in mine])
        self.value = np.array([item.value for item in mine])
        length = np.array([item.length for item in mine])
        self.long = length > np.median(length)

    def ends(self) -> dict[int, End]:
        """By label, where there are enough texts."""
        found = {label: self.value[self.truth == label] for label in (0, 1)}
        return {label: end(values) for label, values in found.items() if values.size >= FEWEST}


def estimate(sources: Sequence[Source], origin: str = "") -> JudgeMeanError | None:
    """The judge's error on a source that is none of these; None for fewer than three."""
    if len(sources) < FEWEST_SOURCES:
        return None
    bands = [_band(sources, low, high) for low, high in zip((-1.0, *EDGES), (*EDGES, 2.0), strict=True)]
    known = [one for one in bands if one is not None]
    if not known:
        return None
    widest = max(one.spread for one in known)  # of a band that too few sources reach
    shifts = tuple(round(one.mean if one is not None else 0.0, 6) for one in bands)
    spreads = tuple(round(one.spread if one is not None else widest, 6) for one in bands)
    near = list(seen_without_difference(sources))
    # each pair both ways round: which of two systems is the new one is chance
    paired = pool_effects(
        [s * one.mean for one in near for s in (1, -1)], [one.variance for one in near for _ in (1, -1)]
    )
    ends = [found for found in (source.ends() for source in sources) if len(found) == 2]
    missed = [(1 - (found[1].mean - found[0].mean)) * one for found in ends for one in DIFFERENCES]
    lost = float(np.sqrt(np.mean(np.square(missed))))
    fewest = min(one.sources for one in known)
    return JudgeMeanError(EDGES, shifts, spreads, round(paired.spread, 6), round(lost, 6), fewest, origin)


def _band(sources: Sequence[Source], low: float, high: float) -> PooledEffect | None:
    """How far people's mean lies above the judge's where its score lies in a band; None for too few sources."""
    gaps = [one.truth[mine] - one.value[mine] for one in sources for mine in [(one.value >= low) & (one.value < high)]]
    found = [end(gap) for gap in gaps if gap.size >= FEWEST_IN_BAND]
    if len(found) < FEWEST_SOURCES:
        return None
    return pool_effects([one.mean for one in found], [one.variance for one in found])


def seen_without_difference(sources: Sequence[Source]) -> Iterator[End]:
    """What the judge makes of two systems that are equally right: one writes longer, or both are real."""
    systems = [source for source in sources if source.name.startswith(SAME)]
    for one, other in combinations(systems, 2):
        yield _gap([(one.value[one.truth == label], other.value[other.truth == label]) for label in (0, 1)], 1.0)
    for one in sources:
        if one not in systems:
            halves = [
                [one.value[(one.truth == label) & (one.long == long)] for long in (True, False)] for label in (0, 1)
            ]
            yield _gap([(longer, shorter) for longer, shorter in halves], TILT)


def _gap(by_label: Sequence[tuple[Array, Array]], part: float) -> End:
    found = [(end(one), end(other), one.size + other.size) for one, other in by_label if one.size and other.size]
    total = sum(n for *_, n in found)
    mean = sum(n * (one.mean - other.mean) for one, other, n in found) / total
    variance = sum(n**2 * (one.variance + other.variance) for one, other, n in found) / total**2
    return End(part * mean, part**2 * variance)


class Tried(NamedTuple):
    """One simulated pair of systems: true difference and its interval."""

    true: float
    found: Interval


def pairs(sources: Sequence[Source], draw: np.random.Generator) -> Iterator[Tried]:
    """Pairs of systems made from the texts of a source, held by the error that the others give."""
    for source in sources:
        error = estimate([one for one in sources if one is not source])
        if error is None or len(source.ends()) < 2:
            continue
        for base in BASES:
            for changed in CHANGED:
                for true in DIFFERENCES:
                    if abs(true) <= changed:
                        yield from (_pair(source, error, (base, changed, true), draw) for _ in range(RUNS))


def _pair(source: Source, error: JudgeMeanError, kind: tuple[float, float, float], draw: np.random.Generator) -> Tried:
    base, share, true = kind
    before = draw.random(SIZE) < base
    moved = draw.random(SIZE) < share
    # of what changed, so many are right afterwards that the whole differs by `true`
    after = np.where(moved, draw.random(SIZE) < np.clip(base + true / share, 0, 1), before)
    real = share * (float(np.clip(base + true / share, 0, 1)) - base)
    old = _texts(source, before, draw.random(SIZE) < 0.5 - TILT / 2, draw)
    new = np.where(moved, _texts(source, after, draw.random(SIZE) < 0.5 + TILT / 2, draw), old)
    gaps = new - old
    sampled = mean_interval(gaps, kind="mean", bounds=(-1.0, 1.0))
    assert sampled is not None
    return Tried(real, widen_difference_interval(sampled, float(gaps.mean()), error, float(np.mean(gaps != 0))))


def _texts(source: Source, right: Marks, long: Marks, draw: np.random.Generator) -> Array:
    """The judge's values of texts drawn at random, each with the label and length asked for where there are such."""
    found = np.empty(right.size)
    for label in (False, True):
        for longer in (False, True):
            mine = source.value[(source.truth == label) & (source.long == longer)]
            pool = mine if mine.size else source.value[source.truth == label]
            places = (right == label) & (long == longer)
            found[places] = draw.choice(pool, int(places.sum()))
    return found


def by_metric(every: Sequence[Item]) -> dict[str, list[Source]]:
    """The English sources of every metric: labels bring their bands up to date, and pairs are simulated of them."""
    grouped: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in every:
        if not item.source.startswith(("XQuAD ", "TAT-QA ", "shipped ")):
            grouped[item.metric][item.source].append(item)
    return {name: [Source(one, mine) for one, mine in sorted(of.items())] for name, of in sorted(grouped.items())}


class Measured(NamedTuple):
    """What was found: the file, the page's tables, and the shares that the intervals hold, by what they are of."""

    stored: dict[str, object]
    page: str
    held: dict[str, float]


def measured(every: Mapping[str, Sequence[Source]], scales: Mapping[str, Sequence[Scale]]) -> Measured:
    """The estimate and all proofs."""
    draw = np.random.default_rng(SEED)
    errors, bands, two = {}, [], []
    pairs_held: list[bool] = []
    for name, sources in every.items():
        error = estimate(sources)
        if error is None:
            continue
        families = len({scale.family for scale in scales[name]})
        origin = f"{len(scales[name])} labelled public sources of {families} families"
        errors[name] = asdict(replace(error, scales=source_scales(scales[name]), origin=origin))
        columns = (f"{shift:+.2f} ± {spread:.2f}" for shift, spread in zip(error.shifts, error.spreads, strict=True))
        bands.append(" | ".join([f"`{name}` | {len(sources)}", *columns]))
        row, mine = _paired_row(name, error, list(pairs(sources, draw)))
        two.append(row)
        pairs_held += mine
    two.append(f"**all** | | | {np.mean(pairs_held):.1%} of {len(pairs_held):,} | | | ")
    tested = means_left_out(scales)
    held = {f"means ({kind})": float(np.mean([one.holds for one in tested if one.kind == kind])) for kind in KINDS}
    held["differences of simulated pairs"] = float(np.mean(pairs_held))
    stored = {"judge": LocalJudge().judge_id, "metrics": errors}
    return Measured(stored, _page(list(rows_by_layout(scales, tested)), list(trade_off(scales)), bands, two), held)


def _paired_row(name: str, error: JudgeMeanError, tried: Sequence[Tried]) -> tuple[str, list[bool]]:
    held = [one.found.low <= one.true <= one.found.high for one in tried]
    wrong = [one.found.low > max(0.0, one.true) or one.found.high < min(0.0, one.true) for one in tried]
    told = [one.found.low > 0 or one.found.high < 0 for one in tried if abs(one.true) > max(DIFFERENCES) - 1e-9]
    width = np.mean([one.found.high - one.found.low for one in tried])
    row = (
        f"`{name}` | {error.paired:.3f} | {error.lost:.3f} | {np.mean(held):.1%} of {len(held):,} | {width:.2f} | "
        f"{np.mean(told):.0%} | {np.mean(wrong):.1%}"
    )
    return row, held


def _page(rows: Sequence[str], trade: Sequence[str], bands: Sequence[str], two: Sequence[str]) -> str:
    kinds = "what people say | gold | replaced | mixtures"
    return "\n".join(
        [
            BEGIN,
            "",
            "metric | layout | language | sources | mean of right texts | of wrong ones | "
            f"held, median width: {kinds} | missed in",
            "---|---|---|---:|---:|---:|---:|---:|---:|---:|---",
            *rows,
            "",
            f"spread | likely | held, median width: {kinds}",
            "---:|---:|---:|---:|---:|---:",
            *trade,
            "",
            "metric | sources | score below 0.3 | 0.3 to 0.7 | 0.7 to 0.9 | from 0.9",
            "---|---:|---:|---:|---:|---:",
            *bands,
            "",
            "metric | spread without a difference | spread with one | true difference held | mean width | "
            "10 points told | wrong verdicts",
            "---|---:|---:|---:|---:|---:|---:",
            *two,
            "",
            END,
        ]
    )


def _dumped(stored: Mapping[str, object]) -> str:
    """As JSON, one scale a line."""
    text = json.dumps(stored, indent=1)
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def all_scales(every: Sequence[Item], folder: Path | None) -> dict[str, list[Scale]]:
    """By metric, those of the data folder and of the other sets, which are judged again where a folder is given."""
    if folder is not None:
        judged = Judged()
        fresh = scales_of(item for case in fetched(folder) for item in judged.items(case))
        FETCHED.write_text(_dumped({"judge": LocalJudge().judge_id, "scales": fresh}), encoding="utf-8")
    kept = json.loads(FETCHED.read_text(encoding="utf-8"))
    if kept["judge"] != LocalJudge().judge_id:
        print(f"{FETCHED.name} is of another judge, {kept['judge']}: run with --fetched FOLDER.", file=sys.stderr)
    scales = scales_of(every)
    for name, stored in kept["scales"].items():
        scales[name] += [Scale(*of[:-2], *(None if one is None else End(*one) for one in of[-2:])) for of in stored]
    return scales


def main() -> None:
    """Writes or checks the file and the page."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--fetched", type=Path)
    options = arguments.parse_args()
    every = items()
    found = measured(by_metric(every), all_scales(every, options.fetched))
    text = _dumped(found.stored)
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    fresh = head + found.page + tail
    print(found.page)
    if options.check:
        stale = [path.name for path, new in ((OUT, text), (PAGE, fresh)) if path.read_text(encoding="utf-8") != new]
        if stale:
            sys.exit(f"{' and '.join(stale)}: not what the data and the code give. Run python bench/judge_error.py.")
    else:
        OUT.write_text(text, encoding="utf-8")
        PAGE.write_text(fresh, encoding="utf-8")
    for what, share in found.held.items():
        if share < ASKED:
            sys.exit(f"the intervals hold {share:.1%} of the {what}, asked are {ASKED:.0%}.")


if __name__ == "__main__":
    main()
