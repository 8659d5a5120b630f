"""How well the correctness metrics agree with people on short accepted answers (EVOUNA, TriviaQA).

Answers of five systems to 1,938 questions, each called right or wrong by people, are evaluated as a user would do it:
examples with accepted answers, responses without passages, the local judge. Of every metric the threshold with the
best balanced accuracy is chosen on one half of the questions and reported on the other, with the difference to
`token_f1` and its 95 % interval: a bootstrap over questions, since five answers to one question are not independent.

    python bench/answer_correctness.py             # every question
    python bench/answer_correctness.py 300         # a seeded sample, in seconds
    python bench/answer_correctness.py --check     # fails unless correctness beats token_f1
    python bench/answer_correctness.py --errors    # where the judge and people differ, in the first half only

Nothing may be tuned on the second half: `--errors` does not show it. A score that is undefined is 0 here.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from judge_data import SYSTEMS, accepted_answers

import ragauge as rg

SEED = 20_240_601
RESAMPLES = 2_000
BASELINE = "token_f1"
JUDGED = ("answer_correctness", "answer_recall", "answer_precision", "answer_grade")
PLAIN = (BASELINE, "answer_contains", "exact_match")
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """One row an answer.

    Attributes:
        question: number of its question.
        system: who answered.
        right: 1 where people called it right.
        tuning: whether its question is in the half that thresholds are chosen on.
        values: metric -> its value; a score that is undefined (the answer claims nothing) is 0.
    """

    question: npt.NDArray[np.int64]
    system: npt.NDArray[np.str_]
    right: Array
    tuning: npt.NDArray[np.bool_]
    values: dict[str, Array]


@dataclass(frozen=True)
class Found:
    """Balanced accuracy of a metric on the second half, and the difference to the baseline with its interval."""

    threshold: float
    accuracy: float
    difference: float
    low: float
    high: float


def measured(sample: int | None = None) -> Table:
    """Evaluates every answer, or those to a seeded sample of the questions, through the public verb."""
    rows = accepted_answers()
    draw = random.Random(SEED)
    numbers = list(range(len(rows)))
    draw.shuffle(numbers)
    tuning = set(numbers[: len(numbers) // 2])
    if sample is not None:
        half = sample // 2
        numbers = numbers[:half] + numbers[len(rows) // 2 :][:half]
    records = [_record(n, rows[n], system) for n in sorted(numbers) for system in SYSTEMS]
    with tempfile.TemporaryDirectory() as folder:
        card = rg.evaluate(records, metrics=[*JUDGED, *PLAIN], judge="local", store=f"sqlite:///{folder}/bench.db")
        scores = card.to_polars().pivot("metric", index="query_id", values="value").fill_null(0.0)
    keys = [key.split("/") for key in scores["query_id"]]
    question = np.asarray([int(n) for n, _ in keys])
    right = np.asarray([float(rows[int(n)].right[system]) for n, system in keys])
    values = {name: scores[name].to_numpy().astype(np.float64) for name in (*JUDGED, *PLAIN)}
    known = np.asarray([int(n) in tuning for n, _ in keys])
    return Table(question, np.asarray([system for _, system in keys]), right, known, values)


def _record(n: int, row: Any, system: str) -> dict[str, Any]:
    return {
        "query_id": f"{n}/{system}",
        "query": row.query,
        "references": list(row.accepted),
        "answer": row.answers[system],
        "cluster": str(n),
    }


def balanced(right: Array, said: npt.NDArray[np.bool_]) -> float:
    """Mean of the shares of right and of wrong answers that are told."""
    return float((said[right == 1].mean() + (~said[right == 0]).mean()) / 2)


def best_threshold(values: Array, right: Array) -> float:
    """The value from which on an answer is called right with the best balanced accuracy; the least of equals."""
    return max((float(t) for t in np.unique(values)), key=lambda t: (balanced(right, values >= t), -t))


def compared(table: Table, metric: str, rows: npt.NDArray[np.bool_]) -> Found:
    """A metric against the baseline on some of the answers."""
    tune, test = rows & table.tuning, rows & ~table.tuning
    right = table.right[test]
    said, thresholds = [], []
    for name in (metric, BASELINE):
        thresholds.append(best_threshold(table.values[name][tune], table.right[tune]))
        said.append(table.values[name][test] >= thresholds[-1])
    accuracy = balanced(right, said[0])
    drawn = _resampled(table.question[test], right, said)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Found(thresholds[0], accuracy, accuracy - balanced(right, said[1]), float(low), float(high))


def _resampled(questions: npt.NDArray[np.int64], right: Array, said: Sequence[npt.NDArray[np.bool_]]) -> Array:
    """The difference of two balanced accuracies over questions drawn with replacement."""
    _, place = np.unique(questions, return_inverse=True)
    n = int(place.max()) + 1
    weights = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(np.float64)

    def total(mask: npt.NDArray[np.bool_]) -> Array:
        return np.asarray(weights @ np.bincount(place[mask], minlength=n), dtype=np.float64)

    yes, no = right == 1, right == 0
    parts = [total(yes & one) / total(yes) + total(no & ~one) / total(no) for one in said]
    return np.asarray((parts[0] - parts[1]) / 2)


def report(table: Table) -> str:
    """The table in Markdown."""
    lines = ["answers of | right | " + " | ".join((*JUDGED, *PLAIN)), "---|---:|" + "---:|" * (len(JUDGED + PLAIN))]
    for system in (*SYSTEMS, "all"):
        rows = table.system == system if system != "all" else np.ones(len(table.right), dtype=bool)
        cells = []
        for metric in (*JUDGED, *PLAIN):
            found = compared(table, metric, rows)
            spread = f" ({found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}])" if metric != BASELINE else ""
            cells.append(f"{found.accuracy:.3f} at {found.threshold:.2f}{spread}")
        lines.append(f"{system} | {table.right[rows & ~table.tuning].mean():.3f} | {' | '.join(cells)}")
    return "\n".join(lines)


def errors(table: Table, metric: str = "answer_recall") -> None:
    """Prints where metric and people differ, in the half that may be looked at."""
    rows = accepted_answers()
    said = table.values[metric] >= best_threshold(table.values[metric][table.tuning], table.right[table.tuning])
    for k in np.flatnonzero(table.tuning & (said != (table.right == 1))):
        row, system = rows[table.question[k]], table.system[k]
        print(f"{'FALSE YES' if said[k] else 'FALSE NO '} | {row.query} | {' / '.join(row.accepted)[:160]}")
        print(f"    {system}: {row.answers[system]!r}  token_f1 {table.values[BASELINE][k]:.2f}")


def worse(table: Table) -> list[str]:
    """The metrics of correctness that agree with people less than the baseline, or may."""
    every = np.ones(len(table.right), dtype=bool)
    named = ("answer_correctness", "answer_recall", "answer_grade")
    found = {metric: compared(table, metric, every) for metric in named}
    return [metric for metric, one in found.items() if one.low < 0]


def main() -> None:
    """Measures, prints, and checks where asked to."""
    started = time.perf_counter()
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    table = measured(numbers[0] if numbers else None)
    if "--errors" in sys.argv[1:]:
        errors(table)
        return
    print(report(table))
    print(
        f"\n{len(table.right):,} answers, {(~table.tuning).sum():,} of them reported on; "
        f"took {time.perf_counter() - started:.0f} s"
    )
    if "--check" in sys.argv[1:] and (wrong := worse(table)):
        sys.exit(f"{', '.join(wrong)}: no better than {BASELINE}, or not surely")


if __name__ == "__main__":
    main()
