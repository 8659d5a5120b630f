"""How far the local judge's means lie from people's on sources not seen before, and whether intervals say so.

Over the labelled sets of the data folder: how far people's mean lies from the judge's, by source and band of a score.
Writes the estimate for a new source into the package (src/ragauge/judging/local/judge_error.json, never edited by
hand), and two tables into docs/local-judge.md. One leaves each source out in turn: does the interval that the others
give hold the true share, for the source as it is and for mixtures of right and wrong texts? The other asks whether the
interval of a difference holds the true difference of two simulated systems.

    python bench/judge_error.py            # about a minute
    python bench/judge_error.py --check    # fails where the figures are stale, or hold less than 90 %
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from judge_error_data import SEED, Item, items

from ragauge.judging.local.judge import LocalJudge
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.effects import Pooled, pooled
from ragauge.stats.instrument import JudgeMeanError, widened, widened_difference
from ragauge.stats.intervals import mean_interval
from ragauge.stats.weighted import Interval

Array = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "src/ragauge/judging/local/judge_error.json"
PAGE = ROOT / "docs/local-judge.md"
BEGIN, END = "<!-- judge's error, written by bench/judge_error.py: begin -->", "<!-- judge's error: end -->"

FEWEST = 10           # texts of a label in a source, below which its mean says little
SHARES = (0.25, 0.5, 0.75)    # of right texts in a mixture
EDGES = (0.3, 0.7, 0.9)       # of the bands of a score
FEWEST_IN_BAND = 5
FEWEST_SOURCES = 3    # a prediction for one more has k − 2 degrees of freedom
ASKED = 0.90          # of what the intervals are to hold
SAME = "EVOUNA "      # sources that are systems asked the same questions: pairs of them are real pairs
TILT = 1 / 3          # two thirds of one system's texts are long and one third of the other's
DIFFERENCES = (-0.1, -0.05, 0.0, 0.05, 0.1)     # true ones between versions of a system that people would compare
CHANGED = (0.1, 0.3, 1.0)     # share of the examples that a version changes
BASES = (0.5, 0.8)            # share that is right before
RUNS, SIZE = 4, 300           # simulated pairs of each kind, examples of each


class End(NamedTuple):
    """The judge's mean over the texts of one label in one source, and its variance."""

    mean: float
    variance: float


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


def end(values: Array) -> End:
    """A mean and its variance; half a thing of either kind is added, so that values all alike leave some doubt."""
    n = values.size
    return End(float(values.mean()), float((values.var() * n + 0.25) / (n + 1) / n))


def estimate(sources: Sequence[Source], origin: str = "") -> JudgeMeanError | None:
    """The judge's error on a source that is none of these; None for fewer than three."""
    if len(sources) < FEWEST_SOURCES:
        return None
    bands = [_band(sources, low, high) for low, high in zip((-1.0, *EDGES), (*EDGES, 2.0), strict=True)]
    known = [one for one in bands if one is not None]
    if not known:
        return None
    widest = max(one.spread for one in known)     # of a band that too few sources reach
    shifts = tuple(round(one.mean if one is not None else 0.0, 6) for one in bands)
    spreads = tuple(round(one.spread if one is not None else widest, 6) for one in bands)
    near = list(seen_without_difference(sources))
    # each pair both ways round: which of two systems is the new one is chance
    paired = pooled([s * one.mean for one in near for s in (1, -1)], [one.variance for one in near for _ in (1, -1)])
    ends = [found for found in (source.ends() for source in sources) if len(found) == 2]
    missed = [(1 - (found[1].mean - found[0].mean)) * one for found in ends for one in DIFFERENCES]
    lost = float(np.sqrt(np.mean(np.square(missed))))
    fewest = min(one.sources for one in known)
    return JudgeMeanError(EDGES, shifts, spreads, round(paired.spread, 6), round(lost, 6), fewest, origin)


def _band(sources: Sequence[Source], low: float, high: float) -> Pooled | None:
    """How far people's mean lies above the judge's where its score lies in a band; None for too few sources."""
    gaps = [one.truth[mine] - one.value[mine] for one in sources for mine in [(one.value >= low) & (one.value < high)]]
    found = [end(gap) for gap in gaps if gap.size >= FEWEST_IN_BAND]
    if len(found) < FEWEST_SOURCES:
        return None
    return pooled([one.mean for one in found], [one.variance for one in found])


def seen_without_difference(sources: Sequence[Source]) -> Iterator[End]:
    """What the judge makes of two systems that are equally right: one writes longer, or both are real."""
    systems = [source for source in sources if source.name.startswith(SAME)]
    for one, other in combinations(systems, 2):
        yield _gap([(one.value[one.truth == label], other.value[other.truth == label]) for label in (0, 1)], 1.0)
    for one in sources:
        if one not in systems:
            halves = [[one.value[(one.truth == label) & (one.long == long)] for long in (True, False)]
                      for label in (0, 1)]  # fmt: skip
            yield _gap([(longer, shorter) for longer, shorter in halves], TILT)


def _gap(by_label: Sequence[tuple[Array, Array]], part: float) -> End:
    found = [(end(one), end(other), one.size + other.size) for one, other in by_label if one.size and other.size]
    total = sum(n for *_, n in found)
    mean = sum(n * (one.mean - other.mean) for one, other, n in found) / total
    variance = sum(n**2 * (one.variance + other.variance) for one, other, n in found) / total**2
    return End(part * mean, part**2 * variance)


def left_out(sources: Sequence[Source]) -> Iterator[tuple[str, float, float, Interval]]:
    """Source, true share, the judge's mean, and the interval from all other sources; first as the source is."""
    for source in sources:
        error, ends = estimate([one for one in sources if one is not source]), source.ends()
        if error is None:
            continue
        for share in (float(source.truth.mean()), *(SHARES if len(ends) == 2 else ())):
            weights = np.zeros(source.value.size)
            for label, part in ((1, share), (0, 1 - share)):
                mine = source.truth == label
                weights[mine] = part / max(1, int(mine.sum()))
            mean = float(weights @ source.value)
            half = normal_quantile(0.95) * float(weights**2 @ (source.value - mean) ** 2) ** 0.5
            sampled = Interval(mean - half, mean + half, "normal")
            yield source.name, share, mean, widened(sampled, mean, error, source.value, weights)


class Tried(NamedTuple):
    """One simulated pair of systems: true difference, its interval, and how wide it is without pairing."""

    true: float
    found: Interval
    alone: float


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


def _pair(
    source: Source, error: JudgeMeanError, kind: tuple[float, float, float], draw: np.random.Generator
) -> Tried:
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
    found = widened_difference(sampled, float(gaps.mean()), error, float(np.mean(gaps != 0)))
    widths = []
    for values in (old, new):
        alone = mean_interval(values, kind="mean", bounds=(0.0, 1.0))
        assert alone is not None
        ends = widened(alone, float(values.mean()), error, values)
        widths.append(ends.high - ends.low)
    return Tried(real, found, float(np.hypot(*widths)))


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
    """The sources of every metric."""
    grouped: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in every:
        grouped[item.metric][item.source].append(item)
    return {name: [Source(one, mine) for one, mine in sorted(of.items())] for name, of in sorted(grouped.items())}


class Measured(NamedTuple):
    """What was found: the file, the page's tables, and the shares that the intervals hold."""

    stored: dict[str, object]
    page: str
    held: float
    held_pairs: float


def measured(every: Mapping[str, Sequence[Source]]) -> Measured:
    """The estimate and both proofs."""
    draw = np.random.default_rng(SEED)
    errors, one, two = {}, [], []
    all_held: list[bool] = []
    pairs_held: list[bool] = []
    for name, sources in every.items():
        error = estimate(sources, f"{len(sources)} labelled public sources")
        if error is None:
            continue
        errors[name] = asdict(error)
        found = list(left_out(sources))
        held = [ends.low <= share <= ends.high for _, share, _, ends in found]
        missed = dict.fromkeys(source for (source, *_), ok in zip(found, held, strict=True) if not ok)
        width = np.mean([ends.high - ends.low for *_, ends in found])
        both = zip(error.shifts, error.spreads, strict=True)
        bands = " | ".join(f"{shift:+.2f} ± {spread:.2f}" for shift, spread in both)
        one.append(
            f"`{name}` | {len(sources)} | {bands} | {sum(held)} of {len(held)} | {width:.2f} | "
            f"{', '.join(missed) or '–'}"
        )
        all_held += held
        row, mine = _paired_row(name, error, list(pairs(sources, draw)))
        two.append(row)
        pairs_held += mine
    one.append(f"**all** | | | | | | {sum(all_held)} of {len(all_held)} ({np.mean(all_held):.1%}) | | ")
    two.append(f"**all** | | | {np.mean(pairs_held):.1%} of {len(pairs_held):,} | | | | ")
    stored = {"judge": LocalJudge().judge_id, "metrics": errors}
    return Measured(stored, _page(one, two), float(np.mean(all_held)), float(np.mean(pairs_held)))


def _paired_row(name: str, error: JudgeMeanError, tried: Sequence[Tried]) -> tuple[str, list[bool]]:
    held = [one.found.low <= one.true <= one.found.high for one in tried]
    wrong = [one.found.low > max(0.0, one.true) or one.found.high < min(0.0, one.true) for one in tried]
    told = [one.found.low > 0 or one.found.high < 0 for one in tried if abs(one.true) > max(DIFFERENCES) - 1e-9]
    width, alone = np.mean([one.found.high - one.found.low for one in tried]), np.mean([one.alone for one in tried])
    row = (
        f"`{name}` | {error.paired:.3f} | {error.lost:.3f} | {np.mean(held):.1%} of {len(held):,} | {width:.2f} | "
        f"{alone:.2f} | {np.mean(told):.0%} | {np.mean(wrong):.1%}"
    )
    return row, held


def _page(one: Sequence[str], two: Sequence[str]) -> str:
    return "\n".join([
        BEGIN, "",
        "metric | sources | score below 0.3 | 0.3 to 0.7 | 0.7 to 0.9 | from 0.9 | true share held, source left out | "
        "mean width | missed in",
        "---|---:|---:|---:|---:|---:|---:|---:|---", *one, "",
        "metric | spread without a difference | spread with one | true difference held | mean width | unpaired | "
        "10 points told | wrong verdicts",
        "---|---:|---:|---:|---:|---:|---:|---:", *two, "",
        END,
    ])     # fmt: skip


def main() -> None:
    """Writes or checks the file and the page."""
    found = measured(by_metric(items()))
    text = json.dumps(found.stored, indent=1) + "\n"
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    fresh = head + found.page + tail
    print(found.page)
    if "--check" in sys.argv:
        stale = [path.name for path, new in ((OUT, text), (PAGE, fresh)) if path.read_text(encoding="utf-8") != new]
        if stale:
            sys.exit(f"{' and '.join(stale)}: not what the data and the code give. Run python bench/judge_error.py.")
    else:
        OUT.write_text(text, encoding="utf-8")
        PAGE.write_text(fresh, encoding="utf-8")
    for share, what in ((found.held, "true shares"), (found.held_pairs, "true differences")):
        if share < ASKED:
            sys.exit(f"the intervals hold {share:.1%} of the {what}, asked are {ASKED:.0%}.")


if __name__ == "__main__":
    main()
