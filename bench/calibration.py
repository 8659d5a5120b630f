"""What 150 labels of one's own do for the local judge, on sources of labelled claims that it was not trained on.

    python bench/calibration.py            # prints the table and writes it into docs/labels.md
    python bench/calibration.py --check    # exit 1 if the page holds other figures, or they miss what is asked for

Of each source some claims are drawn as labels, 20 times over; the judge is calibrated by them as `judge calibrate` does
it, and held against all other claims of the source. Twice: with weights trained without the source, and as
shipped, whose weights saw the labels of the source.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from judge_data import claims
from logistic import auroc, brier
from train_overlap import overlap_table

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import LabeledAnswer, LabeledPart
from ragauge.judges.calibrated.calibration_data import (
    MIN_LABELS,
    TrainingItem,
    TrainingItems,
    build_labeled_odds,
    build_training_items,
)
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local import weights
from ragauge.judges.local.judge import LocalJudge
from ragauge.stats.calibration import calibrate

PAGE = Path(__file__).resolve().parents[1] / "docs/labels.md"
BEGIN = "<!-- calibration, written by bench/calibration.py: begin -->\n"
END = "<!-- calibration: end -->"
DRAWS = 20
LABELS, SHARE = 150, 0.6  # claims drawn, and the most of a small source
WORSE = 0.005  # by which the mean Brier score may lie above the base's anywhere
ASKED = {"Stanford-GenSearch": (0.150, 0.875), "ExpertQA": (0.245, 0.64)}  # Brier at most, AUROC at least
HEADS = "base | source | labels | Brier | of the base | AUROC | of the base | told, cross-fitted | draws that stay"


class Drawn(NamedTuple):
    """One draw: Brier score and AUROC on the rest after and before, the Brier score that was told, and the choice."""

    brier: float
    base_brier: float
    auroc: float
    base_auroc: float
    told: float
    stays: bool


class Row(NamedTuple):
    """One source: which weights, how many labels, and the means over all draws."""

    base: str
    source: str
    labels: int
    mean: Drawn
    stays: int

    def text(self) -> str:
        """A line of the table."""
        m = self.mean
        return (
            f"{self.base} | {self.source} | {self.labels} | {m.brier:.3f} | {m.base_brier:.3f} | {m.auroc:.3f} | "
            f"{m.base_auroc:.3f} | {m.told:.3f} | {self.stays} of {DRAWS}"
        )


def without_vectors(asks: Sequence[Ask]) -> list[Reply]:
    """A claim alone needs none."""
    return [Reply("failed") for _ in asks]


def items_of(rows: Sequence[LabeledAnswer]) -> list[TrainingItem]:
    """The claims as the base judges them now."""
    judge = LocalJudge()
    facts = [answer_asks(judge.ask(VerifyAnswer(row.query, row.passages, row.answer)), without_vectors) for row in rows]
    known = [one if isinstance(one, AnswerFacts) else None for one in facts]
    return list(build_training_items(rows, known).items)


def draw(items: Sequence[TrainingItem], seed: int) -> Drawn:
    """Calibrates by some of the items and looks at the others."""
    shuffled = random.Random(seed).sample(items, len(items))
    n = labels_of(items)
    learned, rest = (TrainingItems(tuple(part)) for part in (shuffled[:n], shuffled[n:]))
    judge = LocalJudge()
    found = calibrate(build_labeled_odds(learned, judge))
    others = build_labeled_odds(TrainingItems((*rest.items, *learned.items)), judge)
    mine = np.arange(others.labels.size) < len(rest.items)
    p, y = others.apply_model(found.model, mine), others.labels[mine]
    told = next(one.brier for one in found.tried if one.name == found.chosen)
    return Drawn(
        brier(y, p), brier(y, others.p[mine]), auroc(y, p), auroc(y, others.p[mine]), told, found.chosen == "as it is"
    )


def labels_of(items: Sequence[TrainingItem]) -> int:
    """How many labels are drawn from a source: 150, of a small one 60 %, but as many as it takes."""
    return max(MIN_LABELS, min(LABELS, int(SHARE * len(items))))


def rows_of(base: str, source: str, rows: Sequence[LabeledAnswer]) -> Row:
    """All draws of one source."""
    items = items_of(rows)
    draws = [draw(items, seed) for seed in range(DRAWS)]
    means = [float(np.mean(column)) for column in zip(*draws, strict=True)]
    return Row(base, source, labels_of(items), Drawn(*means[:5], False), sum(one.stays for one in draws))


def measure() -> list[Row]:
    """Every source with both bases."""
    every = claims()
    by_source: dict[str, list[LabeledAnswer]] = {}
    for n, one in enumerate(every):
        said = ("supported",) if one.supported else ("not_supported",)
        part = LabeledPart(0, len(one.claim), said)
        by_source.setdefault(one.source, []).append(LabeledAnswer(str(n), "", one.passages, one.claim, (part,)))
    found = [rows_of("shipped", source, rows) for source, rows in sorted(by_source.items())]
    scorers = weights.read_weights()["scorers"]
    for source, rows in sorted(by_source.items()):
        others = [one for one in every if one.source != source]
        for mode in ("words", "grams"):
            scorers[f"overlap_{mode}"] = overlap_table(others, mode).final(0.5)
        weights.read_scorer.cache_clear()
        found.append(rows_of("source left out", source, rows))
    return sorted(found, key=lambda row: row.base, reverse=True)


def missed(rows: Sequence[Row]) -> list[str]:
    """Figures that miss what is asked for."""
    out = [
        f"{row.base}, {row.source}: Brier {row.mean.brier:.4f}, the base's {row.mean.base_brier:.4f}"
        for row in rows
        if row.mean.brier > row.mean.base_brier + WORSE
    ]
    for row in rows:
        most, least = ASKED.get(row.source, (1.0, 0.0))
        if row.base == "source left out" and (row.mean.brier > most or row.mean.auroc < least):
            out.append(f"{row.source}: Brier {row.mean.brier:.4f}, asked {most}; AUROC {row.mean.auroc:.4f}, {least}")
    return out


def main() -> None:
    """Measures, prints, and writes or checks."""
    rows = measure()
    table = "\n".join([HEADS, "---|---|" + "|".join(["---:"] * 7), *(row.text() for row in rows)])
    print(table)
    for one in missed(rows):
        print(f"missed: {one}")
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    there, end, after = rest.partition(END)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(f"{before}{begin}\n{table}\n\n{end}{after}", encoding="utf-8")
        return
    if there.strip() != table or missed(rows):
        sys.exit("the page holds other figures, or they miss what is asked for")


if __name__ == "__main__":
    main()
