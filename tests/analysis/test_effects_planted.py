"""A system with planted parameters over texts: each of them is read as what it is."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ragauge.metrics.catalogue import parse_metric
from ragauge.stats.families import find_possible_best
from ragauge.studies.effects import ParameterEffect, compute_effects, find_interactions
from ragauge.studies.sweep.race_runner import find_idle_parameters, find_losers

METRIC, N = parse_metric("token_f1"), 300
SPACE: dict[str, list[Any]] = {
    "model": ["small", "large"],
    "retriever": ["bm25", "hybrid"],
    "k": [1, 5],
    "tone": ["plain", "terse"],
    "shown": [False, True],
}
TRIALS: list[dict[str, Any]] = [dict(zip(SPACE, row, strict=True)) for row in product(*SPACE.values())]
BASE = {name: values[0] for name, values in SPACE.items()}
TEXTS = [  # passages with the answers that stand in them
    ("The hub pairs with sixty devices. It blinks twice when it is full.", "sixty devices"),
    ("A parcel costs 9 euros. Heavy ones are collected at the counter.", "9 euros"),
    ("Users must be 16 years old. Schools may ask for an exception.", "16 years old"),
    ("The north door opens at eight. The guard holds a second key.", "at eight"),
    ("Returns are free for 30 days. Opened packets cost a small fee.", "30 days"),
]


def f1(text: str, wanted: str) -> float:
    """Token F1 by hand."""
    one, other = Counter(text.lower().split()), Counter(wanted.lower().split())
    return 2 * (one & other).total() / (one.total() + other.total())


def asked(seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Scores of all trials on questions drawn from the texts, and which questions want a number.

    Right answers are the gold ones, wrong ones the passage's sentence that comes last. The large model is right 20
    points more often, five passages 20 points beside hybrid alone, terse answers 50 points less where a number is
    wanted.
    """
    rng = np.random.default_rng(seed)
    drawn = [TEXTS[n % len(TEXTS)] for n in rng.choice(N, N, replace=False)]
    wrong = np.array([f1(context.rstrip(".").split(". ")[-1], answer) for context, answer in drawn])
    numeric = np.array([any(letter.isdigit() for letter in answer) for _, answer in drawn])
    latent = 0.5 * rng.random((N, 1)) + 0.5 * rng.random((N, len(TRIALS)))
    plain = latent.reshape(N, -1, 2)[:, :, [0]].repeat(2, axis=2).reshape(N, -1)  # shown is read by nobody
    chance = np.array(
        [
            0.4 + 0.2 * (one["model"] == "large") + 0.2 * (one["k"] == 5 and one["retriever"] == "hybrid")
            for one in TRIALS
        ]
    )
    hurt = 0.5 * np.array([one["tone"] == "terse" for one in TRIALS]) * numeric[:, None]
    right = plain < chance - hurt
    return np.where(right, 1.0, wrong[:, None]), numeric


def read(seed: int) -> dict[str, bool]:
    """Which of the plants were read right."""
    values, numeric = asked(seed)

    def effects(rows: npt.NDArray[np.bool_]) -> dict[str, ParameterEffect]:
        return {one.parameter: one for one in compute_effects(TRIALS, values[rows], METRIC, BASE)}

    everywhere, there, elsewhere = effects(np.full(N, True)), effects(numeric), effects(~numeric)
    together = find_interactions(TRIALS, values, METRIC, BASE)
    names = {str(n): trial for n, trial in enumerate(TRIALS)}
    answers = {name: [str(value) for value in values[:, int(name)]] for name in names}
    stays = find_possible_best(values)
    best = [trial for trial, one in zip(TRIALS, stays, strict=True) if one]
    return {
        "ignored": find_idle_parameters(names, answers) == ["shown"]
        and everywhere["shown"].verdict == "inside the noise",
        "segment": there["tone"].verdict == "matters"
        and (there["tone"].difference or 0) < 0
        and elsewhere["tone"].verdict != "matters",
        "interaction": {("k", 5), ("retriever", "hybrid")} in [{one.first, one.second} for one in together],
        "best value": everywhere["model"].verdict == "matters"
        and (everywhere["model"].difference or 0) > 0
        and all(one["model"] == "large" and one["k"] == 5 and one["retriever"] == "hybrid" for one in best),
    }


def test_plants_are_read_in_own_text() -> None:
    """In five of five seeds an ignored parameter, a hurt segment, an interaction and the best value are read right."""
    for seed in range(5):
        right = read(seed)
        assert all(right.values()), (seed, right)


def test_idle_parameter_hides_no_interaction() -> None:
    """A parameter that changes nothing is not counted among the interactions that p-values are corrected for."""
    values, _ = asked(0)
    rows = [n for n, trial in enumerate(TRIALS) if not trial["shown"]]
    alone = find_interactions([TRIALS[n] for n in rows], values[:, rows], METRIC, BASE, rate=1.1)
    assert [one.p_value for one in find_interactions(TRIALS, values, METRIC, BASE, rate=1.1)] == [
        pytest.approx(one.p_value) for one in alone
    ]


def test_no_trial_falls_because_calls_failed() -> None:
    """Of four trials with equal answers, each with 5 % failed calls, none falls at any look in 50 seeds."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        same = (rng.random(200) < 0.7).astype(float)
        bounds = {}
        for name in "abcd":
            failed = rng.random(200) < 0.05
            bounds[name] = (np.where(failed, 0.0, same), np.where(failed, 1.0, same))
        for look, n in enumerate((30, 45, 68, 101, 152, 200), 1):
            seen = {name: (low[:n], high[:n]) for name, (low, high) in bounds.items()}
            assert find_losers(seen, look, 0.02, span=1.0) == []
