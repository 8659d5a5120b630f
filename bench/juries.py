"""What juries of recorded judges are worth, beside the published figures of their members.

python bench/juries.py

LLMBar's recorded verdicts of real judges, each pair of answers in both orders: accuracy and consistency beside those
that its authors published. Then a jury of all seven judges of the adversarial pairs (GPTInst), in both orders:
most decide. RAGChecker's two annotators: ordinal alpha of their preferences.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from ragauge.judges.jury.vote_aggregation import decide_majority
from ragauge.labels.grades.verb import check_grades

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
VERDICTS, PREFERENCES = DATA / "llmbar" / "judge_verdicts", DATA / "ragchecker_meta" / "human_labeled_data.json"
PUBLISHED = {  # accuracy and consistency in percent
    "Natural__GPT-4_Vanilla": (95.5, 95.0),
    "Adversarial_GPTInst__GPT-4_Vanilla": (86.4, 94.6),
    "Natural__ChatGPT_Vanilla": (81.5, 71.0),
    "Adversarial_GPTInst__ChatGPT_Vanilla": (26.6, 62.0),
}
ALPHAS = {"correctness": 0.5865, "completeness": 0.6828, "overall": 0.6836}
Votes = dict[int, bool | None]  # place of a voter -> whether it prefers the first answer


def recorded(name: str) -> list[tuple[str, str, str]]:
    """Of each pair: the better answer, and the winner in either order; "" where none was named."""
    rows = json.loads((VERDICTS / f"{name}.result.json").read_text(encoding="utf-8"))
    found = []
    for row in rows:
        said = [str(row["results"][0][f"swap = {order}"]["winner"]) for order in (False, True)]
        first, second = (one if one in ("1", "2") else "" for one in said)
        found.append((str(row["label"]), first, second))
    return found


def alone(name: str) -> tuple[float, float]:
    """A judge's accuracy over both orders, and the share of pairs on which both orders agree, in percent."""
    rows = recorded(name)
    right = mean((first == better) + (second == better) for better, first, second in rows) / 2
    return 100 * right, 100 * mean(first == second for _, first, second in rows)


def adversarial() -> tuple[list[Votes], list[bool]]:
    """The votes of seven judges in both orders on each pair, and whether its first answer is better."""
    paths = sorted(VERDICTS.glob("Adversarial_GPTInst__*"))
    judges = [recorded(path.name.removesuffix(".result.json")) for path in paths]
    truth = [better == "1" for better, _, _ in judges[0]]
    votes: list[Votes] = []
    for n in range(len(truth)):
        said = [one for judge in judges for one in judge[n][1:]]
        votes.append({at: one == "1" for at, one in enumerate(said) if one})
    return votes, truth


def by_majority(votes: Sequence[Votes], truth: Sequence[bool]) -> float:
    """Share of the pairs that most are right on; a tie is half."""
    verdicts = [decide_majority(list(one.values())).yes for one in votes]
    return mean(0.5 if yes is None else float(yes == right) for yes, right in zip(verdicts, truth, strict=True))


def annotators(label: str) -> float:
    """Ordinal alpha of two people's preferences, as `ragauge judge check --grades` gives it."""
    rows = json.loads(PREFERENCES.read_text(encoding="utf-8"))
    table = [{"grades": [rows[n][f"{label}_label"], rows[n + 1][f"{label}_label"]]} for n in range(0, len(rows), 2)]
    return check_grades(table).check.alphas["ordinal"].value or 0.0


def main() -> None:
    """Prints each figure beside what was published or asked for."""
    for name, (accuracy, consistency) in PUBLISHED.items():
        mine = alone(name)
        print(f"{name}: {mine[0]:.1f} / {mine[1]:.1f} (published {accuracy} / {consistency})")
    votes, truth = adversarial()
    print(f"most of 14 votes: {by_majority(votes, truth):.3f} (asked for .72)")
    for label, wanted in ALPHAS.items():
        print(f"RAGChecker, {label}: ordinal alpha {annotators(label):.4f} (asked for {wanted})")


if __name__ == "__main__":
    main()
