"""Races of simulated trials beside Optuna's pruners: how often each loses the best, and what it saves.

python bench/races.py [--studies 200] [--seconds 600] [--scores fifths]        needs optuna

24 trials × 200 examples, paired correlation .5, scores in fifths or 0 and 1, in five patterns of true means. Optuna's
pruners see a trial's scores example by example, one trial after the other, as its documentation shows: WilcoxonPruner
with its default p_threshold of 0.1, SuccessiveHalvingPruner on running means. Of trials that tie on top, the mean share
that is lost; intervals of 95 % (Wilson's, wide enough for a share of a study too).
"""

from __future__ import annotations

import argparse
from functools import cache
from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import ndtr
from scipy.stats import binom

from ragauge.stats.families import compare_rivals, plan_checkpoints, spend_alpha

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
    alive, asked, before, stops = np.arange(x.shape[1]), 0, 0, plan_checkpoints(len(x))
    for stop, alpha in zip(stops, spend_alpha([stop / len(x) for stop in stops]), strict=True):
        asked, before = asked + alive.size * (stop - before), stop
        found = compare_rivals(x[:stop, alive], alpha=alpha, span=1.0, draws=1_000, seed=seed)
        alive = alive[[not one.is_beaten for one in found]]
    return set(alive.tolist()), asked


def optunas(x: Scores, pruner: Any, *, means: bool) -> tuple[set[int], int]:
    """Trials that a pruner of Optuna leaves, and questions asked."""
    import optuna

    x = np.rint(5 * x)  # whole numbers, so that equal differences tie; neither pruner minds the scale
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


@cache
def signs(n: int) -> Scores:
    """All 2 ** n choices of which of n differences are positive; shape (2 ** n, n), of 0 and 1."""
    return np.asarray(np.arange(2**n)[:, None] >> np.arange(n) & 1, dtype=float)


def hasten_tests() -> None:
    """Makes scipy's Wilcoxon test, which Optuna calls at each step, say the same sooner.

    Up to 13 differences with ties or zeros are tested by all choices of signs, one after the other: a second a test.
    Here it is one product. What depends on the multiset of differences alone is reckoned once.
    """
    original = stats.wilcoxon

    @cache
    def reckoned(differences: tuple[float, ...]) -> Any:
        d = np.array(differences)
        size = np.abs(d)
        if d.size > 13 or (np.unique(size).size == d.size and size.all()):
            return original(d, alternative="less", zero_method="zsplit")
        ranks, there = stats.rankdata(size), size > 0
        seen, every = ranks[d > 0].sum(), signs(int(there.sum())) @ ranks[there]  # half the ranks of zeros on each
        return SimpleNamespace(pvalue=float((every <= seen + 1e-9).mean()))

    def hastened(differences: Scores, **given: Any) -> Any:
        if given != {"alternative": "less", "zero_method": "zsplit"}:
            raise SystemExit(f"Optuna asks another test than this bench knows: {given}.")
        return reckoned(tuple(np.sort(differences).tolist()))

    stats.wilcoxon = hastened


def study(method: str, x: Scores, seed: int) -> tuple[set[int], int]:
    """One study by one method."""
    import optuna

    if method == "ragauge":
        return ours(x, seed)
    if method == "WilcoxonPruner":
        return optunas(x, optuna.pruners.WilcoxonPruner(), means=False)
    return optunas(x, optuna.pruners.SuccessiveHalvingPruner(), means=True)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Ends of the 95 % interval of a share of n."""
    z = 1.96
    middle, half = share + z * z / (2 * n), z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def main() -> None:
    """Prints a table of each pattern after the last study, or when the time is over."""
    import optuna

    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no study after this")
    parser.add_argument("--scores", choices=("fifths", "binary"), action="append")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    hasten_tests()
    methods, end = ("ragauge", "WilcoxonPruner", "SuccessiveHalving"), monotonic() + given.seconds
    done: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    for seed in range(given.studies):
        for kind in given.scores or ("fifths", "binary"):
            for pattern, means in PATTERNS.items():
                if monotonic() > end:
                    break
                draw = np.random.default_rng(seed)
                x, turn = scores(draw, means, kind), draw.permutation(TRIALS)  # luck depends on who comes first
                best = set(np.flatnonzero(means[turn] == means.max()).tolist())
                for method in methods:
                    left, asked = study(method, x[:, turn], seed)
                    done.setdefault((kind, pattern, method), []).append((len(best - left) / len(best), asked))
    print(f"{'scores':8} {'true means':20} {'method':20} {'studies':>7} {'a best lost':>24} {'saved':>7}")
    for (kind, pattern, method), rows in done.items():
        lost, asked = (float(np.mean(one)) for one in zip(*rows, strict=True))
        low, high = wilson(lost, len(rows))
        told = f"{lost:.3f} ({low:.3f} to {high:.3f})"
        print(f"{kind:8} {pattern:20} {method:20} {len(rows):7} {told:>24} {1 - asked / EXAMPLES / TRIALS:7.2f}")


if __name__ == "__main__":
    main()
