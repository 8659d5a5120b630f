"""What 150 labels of people do for a metric that asks no model: rectified means on real answers of five systems.

    python bench/peoples_scores.py            # prints the table and writes it into docs/labels.md
    python bench/peoples_scores.py --check    # exit 1 if the page holds other figures, or they miss what is asked for

EVOUNA's TriviaQA part: people said of each system's answer whether it is right. `answer_contains` scores all answers,
people's labels of 150 of them are drawn as `label draw` draws, 200 times over, and the summary is made as every report
makes it. A mean over all of people's labels is the truth.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ragauge.engine.people import PeopleScores
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import SCORED, Columns, ResponseIndex
from ragauge.scores.estimation import ScoreSample, compute_mean_interval
from ragauge.scores.label_sample import sample_answers
from ragauge.scores.results.summary import Summary
from ragauge.scores.summarize import summarize_metric
from ragauge.stats.weighted import Interval
from ragauge.verbs.columns import add_people_scores

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "qa_eval_evouna" / "TQ.json"
PAGE = Path(__file__).resolve().parents[1] / "docs/labels.md"
BEGIN = "<!-- people's scores, written by bench/peoples_scores.py: begin -->\n"
END = "<!-- people's scores: end -->"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
METRIC = "answer_contains"
LABELS, DRAWS = 150, 200
HELD, WIDE = 0.93, 0.85  # share of intervals that hold the truth, at least; width over that of labels alone, at most
HEADS = "system | answers | people | judge | holds people's mean | width | labels alone | ratio"


class Answered(NamedTuple):
    """One answer of a system: the question, what is accepted, the answer, and whether people call it right."""

    query: str
    accepted: tuple[str, ...]
    answer: str
    right: bool


class Row(NamedTuple):
    """One system: its answers, the two means, the share of intervals that hold people's, and both mean widths."""

    system: str
    n: int
    people: float
    judged: float
    held: float
    width: float
    alone: float

    @property
    def ratio(self) -> float:
        """The rectified interval's width over that of the labels alone."""
        return self.width / self.alone

    def text(self) -> str:
        """A line of the table."""
        shares = f"{self.people:.3f} | {self.judged:.3f} | {self.held:.1%}".replace("%", " %")
        return f"{self.system} | {self.n:,} | {shares} | {self.width:.3f} | {self.alone:.3f} | {self.ratio:.2f}"


def answered(system: str) -> list[Answered]:
    """A system's answers to the questions that the authors of the set call proper."""
    rows = json.loads(DATA.read_text(encoding="utf-8"))
    return [
        Answered(
            row["question"], tuple(row["golden_answer"].split("/")), row[f"answer_{system}"], row[f"judge_{system}"]
        )
        for row in rows
        if not row["improper"]
    ]


def scored(rows: list[Answered]) -> Columns:
    """The metric's scores of all answers, as the store gives them."""
    n, metric = len(rows), parse_metric(METRIC)
    values = np.array([metric.value(row.answer, row.accepted) for row in rows])
    none, places = np.full(n, np.nan), np.arange(n)
    return Columns(
        places,
        places,
        np.full(n, SCORED),
        values,
        none,
        none,
        values,
        values,
        np.zeros(n, dtype=int),
        None,
        None,
        ("",),
    )


def summaries(rows: list[Answered], draws: int = DRAWS) -> list[Summary]:
    """The metric's summary after each draw of labels; draws go by other names of the questions, as other sets have."""
    n, columns = len(rows), scored(rows)
    index = ResponseIndex(np.arange(n), np.arange(n), np.zeros(n, dtype=int), None, None, tuple(map(str, range(n))))
    found = []
    for turn in range(draws):
        drawn = sample_answers({place: f"{turn} {row.query}" for place, row in enumerate(rows)}, LABELS).drawn
        people = PeopleScores(
            f"score:{METRIC}",
            {METRIC: {place: float(rows[place].right) for place in drawn}},
            drawn=LABELS,
            labelled=frozenset(drawn),
        )
        found.append(summarize_metric(parse_metric(METRIC), add_people_scores(index, METRIC, columns, people)))
    return found


def alone(one: Summary) -> Interval:
    """The interval of the labels of a draw without a judge."""
    if one.rectified is None:
        raise SystemExit(f"{LABELS} labels rectified nothing")
    right = round(one.rectified.classical * one.rectified.n)
    values = np.repeat([1.0, 0.0], [right, one.rectified.n - right])
    interval = compute_mean_interval(ScoreSample.of(parse_metric(METRIC), values))
    if interval is None:
        raise SystemExit("labels alone have no interval")
    return interval


def measure(system: str) -> Row:
    """Coverage and widths over all draws."""
    rows = answered(system)
    truth = float(np.mean([row.right for row in rows]))
    found = summaries(rows)
    rectified = [one.rectified.interval for one in found if one.rectified is not None]
    held = [interval.low <= truth <= interval.high for interval in rectified]
    width, own = (
        float(np.mean([one.high - one.low for one in several]))
        for several in (rectified, [alone(one) for one in found])
    )
    return Row(system, len(rows), truth, found[0].mean or 0.0, float(np.mean(held)), width, own)


def main() -> None:
    """Measures, prints, and writes or checks."""
    rows = [measure(system) for system in SYSTEMS]
    table = "\n".join([HEADS, "---|" + "|".join(["---:"] * 7), *(row.text() for row in rows)])
    print(table)
    missed = [row.system for row in rows if row.held < HELD or row.ratio > WIDE]
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    there, end, after = rest.partition(END)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(f"{before}{begin}\n{table}\n\n{end}{after}", encoding="utf-8")
    elif there.strip() != table or missed:
        sys.exit(f"the page holds other figures, or these miss what is asked for: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
