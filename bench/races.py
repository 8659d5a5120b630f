"""Races of simulated trials beside Optuna's pruners: how often each loses the best, and what it saves.

python bench/races.py [--studies 200]        needs optuna

24 trials × 200 examples, paired correlation .5, scores in fifths or 0 and 1, in five patterns of true means. Optuna's
pruners see a trial's scores example by example, one trial after the other, as its documentation shows: WilcoxonPruner
with its default p_threshold of 0.1, SuccessiveHalvingPruner on running means.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import binom

from ragauge.stats.max_t import looks, rivalries, spent

EXAMPLES, TRIALS = 200, 24
PATTERNS = {
    "uniform .40 to .80": np.linspace(0.4, 0.8, TRIALS),
    "best .80, rest .70": np.r_[0.8, np.full(23, 0.7)],
    "best .72, rest .70": np.r_[0.72, np.full(23, 0.7)],
    "three tied at .80": np.r_[np.full(3, 0.8), np.full(21, 0.7)],
    "all tied": np.full(TRIALS, 0.7),
}
Scores = npt.NDArray[np.float64]


def scores(rng: np.random.Generator, means: Scores, kind: str) -> Scores:
    """Shape (examples, trials)."""
    common, own = rng.standard_normal((EXAMPLES, 1)), rng.standard_normal((EXAMPLES, means.size))
    u = ndtr(np.sqrt(0.5) * (common + own))
    if kind == "binary":
        return np.asarray(u > 1 - means, dtype=float)
    steps = np.asarray(binom.cdf(np.arange(5)[:, None], 5, means))
    return np.asarray((u[None] > steps[:, None, :]).sum(axis=0) / 5)


def ours(x: Scores, seed: int) -> tuple[set[int], int]:
    """Trials that are left, and questions asked."""
    alive, asked, before, stops = np.arange(x.shape[1]), 0, 0, looks(len(x))
    for stop, alpha in zip(stops, spent([stop / len(x) for stop in stops]), strict=True):
        asked, before = asked + alive.size * (stop - before), stop
        found = rivalries(x[:stop, alive], alpha=alpha, span=1.0, draws=1_000, seed=seed)
        alive = alive[[not one.beaten for one in found]]
    return set(alive.tolist()), asked


def optunas(x: Scores, pruner: Any, *, means: bool) -> tuple[set[int], int]:
    """Trials that a pruner of Optuna leaves, and questions asked."""
    import optuna

    study = optuna.create_study(direction="maximize", pruner=pruner)
    left, asked = set(), 0
    for n in range(x.shape[1]):
        trial, total = study.ask(), 0.0
        for step in range(len(x)):
            asked, total = asked + 1, total + x[step, n]
            trial.report(total / (step + 1) if means else x[step, n], step)
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            left.add(n)
            study.tell(trial, total / len(x))
    return left, asked


def main() -> None:
    """Prints a table."""
    import optuna

    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=200)
    studies = parser.parse_args().studies
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print(f"{'scores':8} {'true means':20} {'method':20} {'a best lost':>12} {'saved':>7}")
    for kind in ("fifths", "binary"):
        for pattern, means in PATTERNS.items():
            best = set(np.flatnonzero(means == means.max()).tolist())
            order = np.random.default_rng(0)
            lost: dict[str, float] = {}
            asked: dict[str, int] = {}
            for seed in range(studies):
                x = scores(np.random.default_rng(seed), means, kind)
                turn = order.permutation(TRIALS)     # a pruner's luck depends on which trial comes first
                there = {n for n, at in enumerate(turn) if at in best}
                for method in ("ragauge", "WilcoxonPruner", "SuccessiveHalving"):
                    if method == "ragauge":
                        left, cost = ours(x[:, turn], seed)
                    elif method == "WilcoxonPruner":
                        left, cost = optunas(x[:, turn], optuna.pruners.WilcoxonPruner(), means=False)
                    else:
                        left, cost = optunas(x[:, turn], optuna.pruners.SuccessiveHalvingPruner(), means=True)
                    lost[method] = lost.get(method, 0.0) + len(there - left) / len(there)
                    asked[method] = asked.get(method, 0) + cost
            for method, share in lost.items():
                saved = 1 - asked[method] / (studies * EXAMPLES * TRIALS)
                print(f"{kind:8} {pattern:20} {method:20} {share / studies:12.3f} {saved:7.2f}", flush=True)


if __name__ == "__main__":
    main()
