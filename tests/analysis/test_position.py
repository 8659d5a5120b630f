"""What the order of two answers does to a judge's verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.human_labels import AnswerPair, BetterAnswer, Preference
from ragauge.labels.probe.compute import PositionProbe, run_position_probe

LLMBAR = Path(__file__).resolve().parents[3] / "shared/data/llmbar/judge_verdicts"
OTHER: dict[BetterAnswer | None, BetterAnswer | None] = {0: 0, 1: 2, 2: 1, None: None}


def pair(name: str, better: BetterAnswer | None = None) -> AnswerPair:
    return AnswerPair(name, "Which?", ("this", "that"), better)


def test_case_40_by_hand() -> None:
    """Verdicts that differ between the orders are flips and ties; a pair without both verdicts is in no share."""
    said: dict[str, tuple[Preference, BetterAnswer | None]] = {
        "steady": (Preference(1, 1), 1),  # agrees
        "first": (Preference(1, 2), 1),  # won by being shown first: a flip, a tie, no agreement
        "second": (Preference(2, 1), 2),  # lost by it
        "alike": (Preference(0, 0), 0),  # agrees
        "wavers": (Preference(0, 2), None),  # better when shown first than second
        "cut off": (Preference(None, 1, "length"), 1),
    }
    pairs = [pair(name, better) for name, (_, better) in said.items()]
    found = run_position_probe(pairs, [one for one, _ in said.values()])
    assert (found.n, found.decided) == (6, 5)
    assert (found.position_flip.mean, found.position_flip.n) == (3 / 5, 5)
    assert found.flipped == ("first", "second", "wavers")
    assert found.first_place.mean == 2 / 3
    assert found.ties.mean == 4 / 5
    assert (found.agreement.mean, found.agreement.n) == (2 / 4, 4)
    assert found.undecided == {"cut off": "length"}
    assert found.position_flip.interval is not None
    assert 0 < found.position_flip.interval.low < 0.6 < found.position_flip.interval.high < 1


def test_nothing_to_compare() -> None:
    """Without verdicts there is no share, and never 0."""
    found = run_position_probe([pair("a")], [Preference(None, None, "filtered")])
    assert (found.position_flip.mean, found.position_flip.interval, found.agreement.mean) == (None, None, None)


def test_names_of_the_answers_do_not_matter() -> None:
    """Exchanging the two answers of every pair changes no share but the side that is favoured by nobody."""
    said = [Preference(1, 2), Preference(2, 2), Preference(0, 1), Preference(1, 1)]
    pairs = [pair(str(n), 1) for n in range(4)]
    turned = [Preference(OTHER[one.swapped], OTHER[one.shown]) for one in said]
    others = [pair(str(n), 2) for n in range(4)]

    def shares(found: PositionProbe) -> list[float | None]:
        return [found.position_flip.mean, found.first_place.mean, found.ties.mean, found.agreement.mean]

    assert shares(run_position_probe(pairs, said)) == shares(run_position_probe(others, turned))


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "consistent", "accuracy"),
    [
        ("Natural__GPT-4_Vanilla", 0.95, 0.955),
        ("Natural__ChatGPT_Vanilla", 0.71, 0.815),
        ("Adversarial_GPTInst__GPT-4_Vanilla", 0.946, 0.864),
        ("Adversarial_GPTInst__ChatGPT_Vanilla", 0.62, 0.266),
    ],
)
def test_published_consistency(name: str, consistent: float, accuracy: float) -> None:
    """On LLMBar's recorded verdicts of real judges, consistency and accuracy are the published ones."""
    path = LLMBAR / f"{name}.result.json"
    if not path.exists():
        pytest.skip("its recorded verdicts are public data, kept beside the repository and never in it")
    rows = json.loads(path.read_text())
    words: dict[str, BetterAnswer] = {"1": 1, "2": 2}

    def winner(row: Any, order: bool) -> BetterAnswer:
        return words.get(str(row["results"][0][f"swap = {order}"]["winner"]), 0)

    said = [Preference(winner(row, False), winner(row, True)) for row in rows]
    pairs = [
        AnswerPair(str(n), row["input"], (row["output_1"], row["output_2"]), words[str(row["label"])])
        for n, row in enumerate(rows)
    ]
    found = run_position_probe(pairs, said)
    assert found.position_flip.mean == pytest.approx(1 - consistent, abs=0.0005)
    right = sum((one.shown == p.better) + (one.swapped == p.better) for p, one in zip(pairs, said, strict=True))
    assert right / (2 * len(rows)) == pytest.approx(accuracy, abs=0.0006)
